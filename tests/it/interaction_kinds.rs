//! A kind of interaction is known to one file of the clients: neither the CLI nor the TUI names one.
//!
//! Reads the sources; runs nothing.

use std::path::{Path, PathBuf};

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
            "tests" | "tests.rs" | "scene.rs" | "fixtures.rs"
        );
        if path.is_dir() && !is_test {
            sources(&path, files);
        } else if name.ends_with(".rs") && !is_test {
            files.push(path);
        }
    }
}

#[test]
fn clients_name_no_kind_of_interaction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["client-cli/src", "client-tui/src"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 100, "only {} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("read a file");
        for name in ["InteractionRequest::", "InteractionAnswer::"] {
            assert!(
                !text.contains(name),
                "{} names `{name}…`: what depends on a kind belongs into `client::form::kinds`",
                file.display()
            );
        }
    }
}
