//! Facts of the house: what the documents say of the code is so, and the rules that hold everywhere hold everywhere.
//!
//! Reads the repository's own files and the beginnings of its programs; runs nothing. `cargo test -p tests --test it house -- --nocapture`
//! also prints how large the crates are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// This file contains the forbidden words.
const OWN: &str = "tests/it/house.rs";

/// A text file of the repository.
struct Source {
    /// From the root, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Tests and test support.
    fn is_test(&self) -> bool {
        let path = Path::new(&self.path);
        path.starts_with("daemon/testkit")
            || path.ends_with("tests.rs")
            || path.components().any(|part| part.as_os_str() == "tests")
    }

    /// Lines that are no comments, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self
            .text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize()
        .expect("the repository is where it was built")
}

/// Every text file of the repository: no build output, nothing hidden but the CI's.
fn sources() -> Vec<Source> {
    let root = root();
    let (mut sources, mut waiting) = (Vec::new(), vec![root.clone()]);
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).expect("read a directory of the repository") {
            let entry = entry.expect("read an entry of the repository");
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().expect("the kind of an entry");
            if kind.is_dir() && name != "target" && (!name.starts_with('.') || name == ".ci") {
                waiting.push(entry.path());
            } else if kind.is_file()
                && let Ok(text) = std::fs::read_to_string(entry.path())
            {
                let path = entry
                    .path()
                    .strip_prefix(&root)
                    .expect("below the root")
                    .to_string_lossy()
                    .into_owned();
                sources.push(Source { path, text });
            }
        }
    }
    sources.sort_by(|one, two| one.path.cmp(&two.path));
    assert!(
        sources.len() > 100,
        "only {} files were found: the search is broken",
        sources.len()
    );
    sources
}

/// The members of the workspace: the crate's name and its directory.
fn members() -> BTreeMap<String, String> {
    let manifests = sources()
        .into_iter()
        .filter(|source| source.path.ends_with("/Cargo.toml"))
        // A workspace of its own is none of them.
        .filter(|source| !source.text.lines().any(|line| line == "[workspace]"));
    let members = manifests.map(|manifest| {
        let name = manifest
            .text
            .lines()
            .find_map(|line| line.strip_prefix("name = "))
            .expect("a crate has a name");
        (
            name.trim_matches('"').to_owned(),
            manifest.path.trim_end_matches("/Cargo.toml").to_owned(),
        )
    });
    members.collect()
}

/// Reports all violations at once.
fn none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn paths_that_documents_name_exist() {
    let root = root();
    let mut missing = Vec::new();
    let sources = sources();
    let documents = sources.iter().filter(|source| source.path.ends_with(".md"));
    let documents =
        documents.filter(|source| source.path.starts_with("docs/") || !source.path.contains('/'));
    let mut named = 0;
    for document in documents {
        let directory = root
            .join(&document.path)
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default();
        let mut fenced = false;
        for (index, line) in document.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            if fenced {
                continue;
            }
            let spans = line
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|span| is_path(span))
                .map(|span| root.join(span));
            let links = line
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next());
            let links = links
                .filter_map(|link| link.split('#').next())
                .filter(|link| !link.is_empty());
            let links = links
                .filter(|link| !link.contains("://"))
                .map(|link| directory.join(link));
            for path in spans.chain(links) {
                named += 1;
                if !path.exists() {
                    missing.push(format!(
                        "{}:{}: {}",
                        document.path,
                        index + 1,
                        path.display()
                    ));
                }
            }
        }
    }
    none(&missing, "documents name what does not exist");
    assert!(
        named > 50,
        "only {named} paths were found in the documents: the search is broken"
    );
}

/// A span of code that can only be meant as a path of this repository.
fn is_path(span: &str) -> bool {
    const TOPS: [&str; 7] = [
        "proto/",
        "daemon/",
        "client-cli/",
        "client-tui/",
        "tests/",
        "docs/",
        ".ci/",
    ];
    TOPS.iter().any(|top| span.starts_with(top))
        && !span.contains(|letter: char| " *<>{}…$()".contains(letter))
}

#[test]
fn the_drawing_of_the_crates_is_cargos() {
    let members = members();
    let architecture =
        std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("docs/ARCHITECTURE.md");
    let (_, drawing) = architecture
        .split_once("```crates\n")
        .expect("ARCHITECTURE.md has a block `crates`");
    let (drawing, _) = drawing.split_once("```").expect("the block `crates` ends");
    let mut drawn = BTreeMap::new();
    for line in drawing.lines().filter(|line| !line.trim().is_empty()) {
        let (name, uses) = line.split_once('→').unwrap_or((line, ""));
        let uses: BTreeSet<_> = uses.split_whitespace().map(str::to_owned).collect();
        drawn.insert(name.trim().to_owned(), uses);
    }
    let mut real = BTreeMap::new();
    for (name, directory) in &members {
        let manifest = std::fs::read_to_string(root().join(directory).join("Cargo.toml"))
            .expect("a crate's manifest");
        let (_, dependencies) = manifest.split_once("[dependencies]\n").unwrap_or(("", ""));
        let dependencies = dependencies
            .lines()
            .take_while(|line| !line.starts_with('['));
        let names = dependencies.filter_map(|line| line.split(['.', ' ', '=']).next());
        let uses: BTreeSet<_> = names
            .filter(|name| members.contains_key(*name))
            .map(str::to_owned)
            .collect();
        real.insert(name.clone(), uses);
    }
    assert_eq!(
        drawn, real,
        "left: the drawing in ARCHITECTURE.md; right: the manifests"
    );
}

#[test]
fn tests_that_documents_name_exist() {
    let sources = sources();
    let text = |path: &str| {
        let found = sources.iter().find(|source| source.path == path);
        found.unwrap_or_else(|| panic!("{path}")).text.as_str()
    };
    for (document, text) in [
        ("invariants.md", text("docs/invariants.md")),
        ("faults.md", text("docs/faults.md")),
        ("features.md", text("docs/features.md")),
    ] {
        let spans = text.split('`').skip(1).step_by(2);
        let names: Vec<_> = spans
            .filter(|span| span.contains('_') && !span.contains(['.', '/', ':', ' ']))
            .collect();
        let missing: Vec<_> = names
            .iter()
            .filter(|name| {
                !sources
                    .iter()
                    .any(|source| source.is_rust() && source.text.contains(&format!("fn {name}(")))
            })
            .map(|name| format!("{document}: {name}"))
            .collect();
        none(
            &missing,
            "documents name tests or functions that do not exist",
        );
        assert!(
            names.len() > 20,
            "{document}: only {} tests are named: the search is broken",
            names.len()
        );
    }
}

/// How many capabilities there are of each kind, by the beginning of their ids.
const CAPABILITIES: [(&str, u32); 15] = [
    ("R", 35),
    ("X", 15),
    ("D1.", 20),
    ("D2.", 29),
    ("D3.", 15),
    ("D4.", 20),
    ("D5.", 25),
    ("D6.", 21),
    ("D7.", 24),
    ("D8.", 10),
    ("D9.", 25),
    ("D10.", 10),
    ("D11.", 15),
    ("D12.", 19),
    ("D13.", 22),
];

/// Kinds whose capabilities are listed as soon as they hold, after the others.
const WANTED_TOO: [(&str, u32); 1] = [("W", 16)];

/// The name of a kind and how many capabilities it has.
fn kind_of(kind: usize) -> (&'static str, u32) {
    let mut kinds = CAPABILITIES.into_iter().chain(WANTED_TOO);
    kinds.nth(kind).expect("a kind")
}

/// An id of a capability as the number of its kind and its own.
fn capability(id: &str) -> Option<(usize, u32)> {
    let own = id.rfind(|letter: char| !letter.is_ascii_digit())? + 1;
    let (kind, own) = id.split_at_checked(own)?;
    let mut kinds = CAPABILITIES.into_iter().chain(WANTED_TOO);
    let kind = kinds.position(|(name, _)| name == kind)?;
    Some((kind, own.parse().ok()?))
}

#[test]
fn every_capability_is_listed_once_and_in_order() {
    let text = std::fs::read_to_string(root().join("docs/features.md")).expect("docs/features.md");
    let (tables, rest) = text
        .split_once("\n## Not begun\n")
        .expect("features.md lists the capabilities that are not begun");
    let mut all = Vec::new();
    for table in tables.split("\n## ").skip(1) {
        let rows = table.lines().filter_map(|line| line.strip_prefix("| "));
        let ids = rows.filter_map(|row| row.split(" |").next()).skip(1);
        let ids: Vec<_> = ids
            .map(|id| capability(id).unwrap_or_else(|| panic!("`{id}` is not an id")))
            .collect();
        assert!(ids.is_sorted(), "a table of features.md is out of order");
        all.extend(ids);
    }
    for word in rest.split(|letter: char| letter.is_whitespace() || "(),;".contains(letter)) {
        let (first, last) = word.split_once('–').unwrap_or((word, word));
        let (Some((kind, first)), Some((same, last))) = (capability(first), capability(last))
        else {
            continue;
        };
        assert!(kind == same && first <= last, "`{word}` is not a range");
        all.extend((first..=last).map(|own| (kind, own)));
    }
    all.sort_unstable();
    let kinds = CAPABILITIES.iter().enumerate();
    let wanted: Vec<_> = kinds
        .flat_map(|(kind, (_, count))| (1..=*count).map(move |own| (kind, own)))
        .collect();
    let named = |(kind, own): &(usize, u32)| format!("{}{own}", kind_of(*kind).0);
    let twice = all.windows(2).filter(|pair| pair[0] == pair[1]);
    let wrong = twice.map(|pair| format!("{} is listed twice", named(&pair[0])));
    let missing = wanted.iter().filter(|id| !all.contains(id));
    let wrong = wrong.chain(missing.map(|id| format!("{} is missing", named(id))));
    let is_known = |(kind, own): &(usize, u32)| (1..=kind_of(*kind).1).contains(own);
    let strange = all.iter().filter(|id| !is_known(id));
    let wrong = wrong.chain(strange.map(|id| format!("{} is none", named(id))));
    none(&wrong.collect::<Vec<_>>(), "features.md");
}

#[test]
fn every_test_waits_for_conditions_and_never_for_time() {
    let sources = sources();
    let tests = sources
        .iter()
        .filter(|source| source.path.starts_with("tests/it/") && source.path != OWN);
    let found: Vec<_> = tests
        .flat_map(|source| {
            source
                .code()
                .map(move |(number, line)| (source, number, line))
        })
        .filter(|(_, _, line)| {
            [" sleep(", ":sleep(", "(sleep("]
                .iter()
                .any(|call| line.contains(call))
        })
        .map(|(source, number, line)| format!("{}:{number}: {}", source.path, line.trim()))
        .collect();
    none(&found, "tests sleep");
}

#[test]
fn no_vendor_is_named_in_the_engine() {
    const VENDORS: [&str; 12] = [
        "deepseek",
        "openai",
        "anthropic",
        "claude",
        "gemini",
        "mistral",
        "openrouter",
        "ollama",
        "qwen",
        "moonshot",
        "kimi",
        "zhipu",
    ];
    const HOMES: [&str; 12] = [
        // The instruction file, the commands, the skills and the agents of that product are read too.
        "daemon/knowledge/src/instructions.rs",
        "daemon/knowledge/src/commands.rs",
        "daemon/knowledge/src/agents",
        "daemon/knowledge/src/skills.rs",
        "daemon/knowledge/src/skill_rendering.rs",
        "client-cli/src/messages/help/",
        // Its permission rules are not read, and the user gets a notice.
        "client-cli/src/unread_rules.rs",
        // The names that tools have in another agent, whose hooks run here: no model's vendor is meant.
        "daemon/hooks/",
        "daemon/providers/",
        // Files of the same agent that it runs commands from.
        "proto/src/startup.rs",
        "daemon/replay/",
        "daemon/reasonixd/src/settings/",
    ];
    let sources = sources();
    let engine = sources
        .iter()
        .filter(|source| source.is_rust() && !source.is_test());
    let engine = engine.filter(|source| !HOMES.iter().any(|home| source.path.starts_with(home)));
    let found: Vec<_> = engine
        .flat_map(|source| {
            source
                .code()
                .map(move |(number, line)| (source, number, line))
        })
        .filter(|(_, _, line)| {
            VENDORS
                .iter()
                .any(|vendor| line.to_lowercase().contains(vendor))
        })
        .map(|(source, number, line)| format!("{}:{number}: {}", source.path, line.trim()))
        .collect();
    none(&found, "vendors belong into providers, replay and settings");
}

#[test]
fn unsafe_code_is_only_in_the_sandbox_crate() {
    /// The one crate that may; its own lints want a reason at each place.
    const HOME: &str = "daemon/sandbox";
    let sources = sources();
    let rust = sources.iter().filter(|source| {
        source.is_rust() && source.path != OWN && !source.path.starts_with(&format!("{HOME}/"))
    });
    let mut found: Vec<_> = rust
        .flat_map(|source| {
            source
                .code()
                .map(move |(number, line)| (source, number, line))
        })
        .filter(|(_, _, line)| {
            line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| word == "unsafe")
        })
        .map(|(source, number, line)| format!("{}:{number}: {}", source.path, line.trim()))
        .collect();
    for (name, directory) in members() {
        let manifest = std::fs::read_to_string(root().join(&directory).join("Cargo.toml"))
            .expect("a crate's manifest");
        let bound = if Path::new(&directory).ends_with(HOME) {
            manifest.contains("undocumented_unsafe_blocks = \"deny\"")
        } else {
            manifest.contains("[lints]\nworkspace = true")
        };
        if !bound {
            found.push(format!(
                "{directory}/Cargo.toml: crate `{name}` does not take the workspace's lints"
            ));
        }
    }
    none(&found, "unsafe code");
}

/// Decision 60.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn client_has_fixed_addresses_and_the_daemon_random_ones() {
    // `e_type` of the ELF header (System V ABI): 2 is ET_EXEC, 3 is ET_DYN.
    let elf_type = |program: &Path| std::fs::read(program).expect("a program")[16..18].to_vec();
    assert_eq!(elf_type(&tests::house::client_program()), [2, 0]);
    assert_eq!(elf_type(&tests::house::daemon_program()), [3, 0]);
}

/// Decision 61.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn addresses_of_functions_are_read_only_when_a_program_runs() {
    // Segments of the ELF format (`<elf.h>`): what is read-only once the loader is done, and its instructions.
    const RELRO: u32 = 0x6474_e552;
    const DYNAMIC: u32 = 2;
    // `DT_FLAGS` with `DF_BIND_NOW`: the loader is done before the program runs.
    const BIND_NOW: [u64; 2] = [30, 8];
    for program in [
        tests::house::client_program(),
        tests::house::daemon_program(),
    ] {
        let bytes = std::fs::read(&program).expect("a program");
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let (first, count) = (number(32) as usize, number(56) as u16);
        let segments: Vec<_> = (0..usize::from(count))
            .map(|index| first + index * 56)
            .map(|at| (number(at) as u32, number(at + 8), number(at + 32)))
            .collect();
        let is_relro = |(kind, _, len): &(u32, u64, u64)| *kind == RELRO && *len > 0;
        assert!(segments.iter().any(is_relro), "{}", program.display());
        let dynamic = segments.iter().find(|(kind, ..)| *kind == DYNAMIC);
        let (_, at, len) = dynamic.expect("a dynamic program");
        let mut entries = (*at..at + len).step_by(16).map(|at| {
            let at = at as usize;
            [number(at), number(at + 8)]
        });
        assert!(
            entries.any(|[tag, value]| tag == BIND_NOW[0] && value & BIND_NOW[1] != 0),
            "{}",
            program.display()
        );
    }
}

#[test]
fn nothing_points_at_one_machine() {
    const HOSTS: [&str; 5] = [
        "crates.io",
        "registry.npmjs",
        "pypi.org",
        "proxy.golang",
        "rsproxy",
    ];
    const CRATES: &str = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;
    let root = root();
    let here = root.to_string_lossy();
    // A checkout at the top of the file system has a name that may be a word.
    let here = (root.components().count() > 2).then(|| here.as_ref());
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| source.path != OWN) {
        for (index, line) in source.text.lines().enumerate() {
            let own_place = here.is_some_and(|here| line.contains(here));
            let home = [
                concat!("/ro", "ot/."),
                concat!("/Us", "ers/"),
                concat!("/home/", "runner"),
            ]
            .iter()
            .any(|place| line.contains(place));
            let host = HOSTS.iter().any(|host| line.contains(host)) && line != CRATES;
            if own_place || home || host {
                found.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
        if source.path == "Cargo.lock" {
            let strange = source
                .text
                .lines()
                .filter(|line| line.starts_with("source = ") && *line != CRATES);
            found.extend(strange.map(|line| format!("Cargo.lock: {line}")));
        }
    }
    none(&found, "paths of one machine, or hosts of registries");
}

#[test]
fn every_file_says_what_it_is_about() {
    let sources = sources();
    let rust = sources
        .iter()
        .filter(|source| source.is_rust() && !source.path.ends_with("tests.rs"));
    let silent: Vec<_> = rust
        .filter(|source| !source.text.starts_with("//!"))
        .map(|source| source.path.clone())
        .collect();
    none(&silent, "files without `//!` at their head");
}

#[test]
#[allow(
    clippy::print_stdout,
    reason = "the test prints a report; the test harness shows it on demand"
)]
fn report() {
    let sources = sources();
    let rust: Vec<_> = sources.iter().filter(|source| source.is_rust()).collect();
    let lines = |source: &Source| source.text.lines().count();
    println!("\n{:<14} {:>7} {:>7}", "crate", "code", "tests");
    let mut sum = (0, 0);
    for (name, directory) in members() {
        let below = format!("{directory}/");
        // `proto/client` is inside `proto`.
        let own = |source: &&&Source| {
            source.path.starts_with(&below)
                && !(name == "proto" && source.path.starts_with("proto/client/"))
        };
        let count = |test: bool| {
            let counts = |source: &&Source| source.is_test() == test || name == "tests";
            rust.iter()
                .filter(own)
                .filter(|source| counts(source))
                .map(|source| lines(source))
                .sum::<usize>()
        };
        let (code, tests) = if name == "tests" {
            (0, count(true))
        } else {
            (count(false), count(true))
        };
        sum = (sum.0 + code, sum.1 + tests);
        println!("{name:<14} {code:>7} {tests:>7}");
    }
    println!(
        "{:<14} {:>7} {:>7}\n\nthe longest files",
        "all", sum.0, sum.1
    );
    let mut longest: Vec<_> = rust
        .iter()
        .map(|source| (lines(source), &source.path))
        .collect();
    longest.sort_by(|one, two| two.cmp(one));
    for (count, path) in longest.iter().take(10) {
        println!("{count:>6}  {path}");
    }
    assert!(
        sum.0 > 1_000,
        "only {} lines were counted: the count is broken",
        sum.0
    );
}
