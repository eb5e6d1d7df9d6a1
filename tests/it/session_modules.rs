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

/// The names and types of a struct's fields.
fn fields(body: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = body.lines().filter_map(|line| line.split_once(": "));
    fields.map(|(name, kind)| (name.trim(), kind.trim_end_matches(',')))
}

/// The names of types in a type, without those in an `Arc`: they cannot be written.
fn types_in(kind: &str) -> impl Iterator<Item = &str> {
    let owned = kind.split("Arc<").next().unwrap_or_default();
    let words = owned.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.starts_with(char::is_uppercase))
}

/// Whether a struct changes itself: it has a method with `&mut self`. One that does not is passed on as a whole.
fn changes_itself(code: &str, name: &str) -> bool {
    let head = format!("impl {name} {{");
    code.split(&head)
        .skip(1)
        .filter_map(|rest| rest.split_once("\n}"))
        .any(|(block, _)| block.contains("&mut self"))
}

/// The structs of a module that are its state: the one that the actor holds, and those inside of it.
fn state<'a>(files: &'a [(PathBuf, String)], root: &'a str) -> BTreeMap<&'a str, &'a Path> {
    let (mut found, mut left) = (BTreeMap::new(), vec![root]);
    while let Some(name) = left.pop() {
        let defined = files
            .iter()
            .find_map(|(path, code)| Some((path.as_path(), body_of(code, name)?)));
        if let Some((path, body)) = defined
            && found.insert(name, path).is_none()
        {
            left.extend(fields(body).flat_map(|(_, kind)| types_in(kind)));
        }
    }
    found
}

#[test]
fn only_its_own_module_writes_a_modules_state() {
    let modules = modules();
    let actor = modules["actor"]
        .iter()
        .find_map(|(_, code)| body_of(code, "Actor"))
        .expect("the actor is a struct");
    let parts: Vec<_> = fields(actor).collect();
    assert!(parts.len() <= 16, "the actor has {} fields", parts.len());
    let (mut open, mut checked) = (Vec::new(), BTreeSet::new());
    for (module, files) in modules.iter().filter(|(module, _)| *module != "actor") {
        for root in parts.iter().map(|(_, kind)| *kind) {
            for (name, path) in state(files, root) {
                checked.insert((module, name));
                let code = files.iter().find(|(file, _)| file == path);
                let code = code.map_or("", |(_, code)| code);
                let body = body_of(code, name).unwrap_or_default();
                let public = body
                    .lines()
                    .find(|line| line.trim_start().starts_with("pub"));
                if let Some(field) = public
                    && (name == root || changes_itself(code, name))
                {
                    open.push(format!("{}: {name}: {}", path.display(), field.trim()));
                }
            }
        }
    }
    assert!(open.is_empty(), "other modules can write: {open:#?}");
    assert!(
        checked.len() >= 15,
        "only {} structs are state: the search is broken",
        checked.len()
    );
}

#[test]
fn no_module_hands_out_its_state_to_be_written() {
    let modules = modules();
    let mut open = Vec::new();
    for (path, code) in modules.values().flatten() {
        // A signature ends where its body begins.
        let signatures = code.split("pub ").chain(code.split("pub(")).skip(1);
        for signature in signatures {
            let signature = signature.split(['{', ';']).next().unwrap_or_default();
            let Some((head, answer)) = signature.rsplit_once("->") else {
                continue;
            };
            let hands_out = answer.contains("&mut ") || answer.contains("MutexGuard");
            if head.contains("fn ") && hands_out {
                open.push(format!("{}: {}", path.display(), signature.trim()));
            }
        }
    }
    assert!(open.is_empty(), "these hand out state: {open:#?}");
}
