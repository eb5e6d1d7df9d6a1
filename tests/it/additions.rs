//! What an addition touches: a kind of interaction, an event and a command are known to few files, as
//! `docs/extending.md` counts them.
//!
//! Reads the sources; runs nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proto::Body;

/// The files that name kinds of interactions. Another one asks a form, the facts, or the kind's own words.
const KNOW_KINDS: [&str; 10] = [
    "proto/src/params/interaction.rs",
    "proto/client/src/form/kinds.rs",
    "proto/client/src/form/approval.rs",
    "proto/client/src/form/elicitation.rs",
    "proto/client/src/form/lines.rs",
    "daemon/turn/src/facts/interactions.rs",
    // These open interactions.
    "daemon/turn/src/calls.rs",
    "daemon/turn/src/calls/interactions.rs",
    "daemon/turn/src/calls/elicitation.rs",
    // Says which call was asked about; other kinds are about none.
    "daemon/session/src/history/steps.rs",
];

/// The product files below a folder.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("read a folder") {
        let path = entry.expect("read an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        // What tests are made of.
        let is_test = matches!(
            name.as_str(),
            "tests" | "tests.rs" | "testkit" | "fuzz.rs" | "scene.rs" | "fixtures.rs"
        );
        if path.is_dir() && !is_test {
            sources(&path, files);
        } else if name.ends_with(".rs") && !is_test {
            files.push(path);
        }
    }
}

/// The paths and texts of all product files.
fn product() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["client-cli", "client-tui", "proto", "daemon"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 400, "only {} files", files.len());
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("read a file");
        let path = file.strip_prefix(&root).expect("a path below the root");
        (path.to_string_lossy().into_owned(), text)
    };
    files.into_iter().map(read).collect()
}

/// Only the files of `wanted` are what `is` says.
fn only(wanted: &[&str], is: impl Fn(&str) -> bool, hint: &str) {
    let files = product().into_iter();
    let found = files.filter(|(_, text)| is(text)).map(|(path, _)| path);
    let wanted: BTreeSet<_> = wanted.iter().map(|path| (*path).to_owned()).collect();
    assert_eq!(found.collect::<BTreeSet<_>>(), wanted, "{hint}");
}

#[test]
fn only_a_few_files_name_kinds_of_interactions() {
    let names = [
        "InteractionRequest::",
        "InteractionAnswer::",
        "InteractionKind::",
    ];
    only(
        &KNOW_KINDS,
        |text| names.iter().any(|name| text.contains(name)),
        "what depends on a kind belongs into one of the files on the right",
    );
}

#[test]
fn only_three_files_name_most_events() {
    let folds = [
        "daemon/turn/src/facts.rs",
        // These two have a default for a new one.
        "proto/client/src/trace.rs",
        "proto/client/src/transcript/fold.rs",
    ];
    let names_most = |text: &str| {
        let named = text.split("Body::").skip(1).map(|rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric());
            &rest[..end.unwrap_or(rest.len())]
        });
        named.collect::<BTreeSet<_>>().len() * 3 > Body::KINDS.len() * 2
    };
    only(
        &folds,
        names_most,
        "a list of events belongs into a table in `proto`",
    );
}

#[test]
fn a_command_is_its_file_and_the_table() {
    let table = "client-cli/src/commands/mod.rs";
    let product = product();
    let text = |path: &str| &product.iter().find(|(at, _)| at == path).expect(path).1;
    let (_, rows) = text(table).split_once("\ncommands! {").expect("the table");
    let rows = rows.lines().take_while(|line| *line != "}");
    let rows = rows.filter_map(|line| {
        let (_, module) = line.strip_suffix(';')?.split_once(" = ")?;
        module.split(['(', ',']).next()
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.len() > 40, "only {} commands", rows.len());
    for module in rows {
        let own = format!("client-cli/src/commands/{module}.rs");
        assert!(text(&own).contains("pub async fn run("), "{own}");
        assert!(text(&own).contains("pub struct Args"), "{own}");
    }
}
