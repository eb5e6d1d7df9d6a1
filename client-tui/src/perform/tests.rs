use std::io::{Error, ErrorKind};

use super::*;

#[test]
fn a_file_that_is_there_is_said_to_stay_as_it_is() {
    let file = Path::new("/proj/a\u{1b}[2J.md");
    let there = Error::from(ErrorKind::AlreadyExists);
    let trouble = unwritten(file, &there, Language::English);
    assert_eq!(trouble.what, "not exported: /proj/a.md already exists");
    assert_eq!(trouble.hint, "choose another file name");
    let denied = Error::from(ErrorKind::PermissionDenied);
    let trouble = unwritten(file, &denied, Language::English);
    assert_eq!(trouble.what, "/proj/a.md: permission denied");
}

#[test]
fn the_paths_below_a_directory_are_those_that_git_does_not_ignore() {
    let place = tempfile::tempdir().unwrap();
    for file in [
        "src/ui/widget.rs",
        "target/debug/x",
        "node_modules/m/index.js",
        "a.md",
        ".env",
    ] {
        let path = place.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    std::fs::write(place.path().join(".gitignore"), "target\n").unwrap();
    let paths = super::tree(place.path());
    assert_eq!(paths, ["a.md", "src/", "src/ui/", "src/ui/widget.rs"]);
    assert!(super::tree(&place.path().join("absent")).is_empty());
}
