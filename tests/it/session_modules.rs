//! The modules of crate `session`: each owns a part of a session's state, and calls go in one direction.
//!
//! Reads the sources; runs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .expect("the repository is where it was built")
}

/// The code of each module: its files without tests and comments, by the module's name.
fn modules() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let source = repository().join("daemon/session/src");
    let mut modules = BTreeMap::new();
    for entry in std::fs::read_dir(&source).expect("read the crate's folder") {
        let path = entry.expect("read an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && name != "tests" {
            let mut files = Vec::new();
            collect(&path, &mut files);
            modules.insert(name, files);
        }
    }
    assert!(
        modules.len() > 5,
        "only {} modules: the search is broken",
        modules.len()
    );
    modules
}

fn collect(directory: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(directory).expect("read a module") {
        let path = entry.expect("read an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && name != "tests" {
            collect(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).expect("read a file");
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            files.push((path, code.collect::<Vec<_>>().join("\n")));
        }
    }
}

/// The modules that each module uses.
fn uses(modules: &BTreeMap<String, Vec<(PathBuf, String)>>) -> BTreeMap<String, BTreeSet<String>> {
    let of_module = |(name, files): (&String, &Vec<(PathBuf, String)>)| {
        let mut used = BTreeSet::new();
        for (path, code) in files {
            assert!(
                !code.contains("use crate::{"),
                "{}: one `use crate::…` a line, so that this test can read it",
                path.display()
            );
            for rest in code.split("crate::").skip(1) {
                let head: String = rest
                    .chars()
                    .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                    .collect();
                if head != *name && modules.contains_key(&head) {
                    used.insert(head);
                }
            }
        }
        (name.clone(), used)
    };
    modules.iter().map(of_module).collect()
}

#[test]
fn the_listed_session_modules_match_the_code() {
    let architecture = std::fs::read_to_string(repository().join("docs/ARCHITECTURE.md"))
        .expect("docs/ARCHITECTURE.md");
    let (_, drawing) = architecture
        .split_once("```modules\n")
        .expect("ARCHITECTURE.md has a block `modules`");
    let (drawing, _) = drawing.split_once("```").expect("the block `modules` ends");
    let line = |line: &str| {
        let (name, uses) = line.split_once('→').unwrap_or((line, ""));
        let uses = uses.split_whitespace().map(str::to_owned).collect();
        (name.trim().to_owned(), uses)
    };
    let drawn: BTreeMap<String, BTreeSet<String>> = drawing.lines().map(line).collect();
    assert_eq!(
        drawn,
        uses(&modules()),
        "left: the drawing in ARCHITECTURE.md; right: the `use` lines"
    );
}

#[test]
fn session_modules_form_no_cycle() {
    let mut left = uses(&modules());
    while let Some(leaf) = left
        .iter()
        .find(|(_, used)| used.iter().all(|module| !left.contains_key(module)))
        .map(|(name, _)| name.clone())
    {
        left.remove(&leaf);
    }
    assert!(left.is_empty(), "these modules form a cycle: {left:?}");
}

/// The body of a struct, if this code defines it.
fn body_of<'a>(code: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = code.split_once(&format!("struct {name} {{"))?;
    let (body, _) = rest.split_once("\n}")?;
    Some(body)
}

#[test]
fn only_its_own_module_writes_a_modules_state() {
    let modules = modules();
    let actor = modules["actor"]
        .iter()
        .find_map(|(_, code)| body_of(code, "Actor"))
        .expect("the actor is a struct");
    let fields: Vec<_> = actor
        .lines()
        .filter_map(|line| line.split_once(": "))
        .collect();
    assert!(fields.len() <= 16, "the actor has {} fields", fields.len());
    let mut checked = 0;
    for (field, kind) in fields {
        let kind = kind.trim_end_matches(',');
        let owners = modules.iter().filter(|(module, _)| *module != "actor");
        for (path, code) in owners.flat_map(|(_, files)| files) {
            let Some(body) = body_of(code, kind) else {
                continue;
            };
            checked += 1;
            let open = body
                .lines()
                .find(|line| line.trim_start().starts_with("pub"));
            assert!(
                open.is_none(),
                "{}: {}, the actor's `{}`, has a field that other modules can write: {}",
                path.display(),
                kind,
                field.trim(),
                open.unwrap_or_default().trim()
            );
        }
    }
    assert!(
        checked >= 5,
        "only {checked} modules have state: the search is broken"
    );
}
