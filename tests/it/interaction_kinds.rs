//! A kind of interaction is known to few files: its types, what its answers mean, how it is shown, and what opens it.
//!
//! Reads the sources; runs nothing.

use std::path::{Path, PathBuf};

/// The files that name kinds. Another one asks a form, the facts, or the kind's own words.
const KNOW_KINDS: [&str; 7] = [
    "proto/src/params/interaction.rs",
    "proto/client/src/form/kinds.rs",
    "proto/client/src/form/approval.rs",
    "daemon/turn/src/facts/interactions.rs",
    // These open interactions.
    "daemon/turn/src/calls.rs",
    "daemon/turn/src/calls/interactions.rs",
    // Says which call was asked about; other kinds are about none.
    "daemon/session/src/history/steps.rs",
];

/// The product files below a folder.
pub fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
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

#[test]
fn only_a_few_files_name_kinds_of_interactions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["client-cli", "client-tui", "proto", "daemon"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 400, "only {} files", files.len());
    let mut know = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("read a file");
        let names = [
            "InteractionRequest::",
            "InteractionAnswer::",
            "InteractionKind::",
        ];
        if names.iter().any(|name| text.contains(name)) {
            let path = file.strip_prefix(&root).expect("a path below the root");
            know.push(path.to_string_lossy().into_owned());
        }
    }
    know.sort();
    let mut wanted = KNOW_KINDS;
    wanted.sort_unstable();
    assert_eq!(
        know, wanted,
        "what depends on a kind belongs into one of the files on the right"
    );
}
