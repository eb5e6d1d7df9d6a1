use std::io::{Error, ErrorKind};

use super::*;

#[test]
fn a_file_that_is_there_is_said_to_stay_as_it_is() {
    let file = Path::new("/proj/a\u{1b}[2J.md");
    let there = Error::from(ErrorKind::AlreadyExists);
    let trouble = unwritten(file, &there, Language::English);
    assert_eq!(
        trouble.what,
        "not exported: /proj/a.md is there already, and stays as it is"
    );
    assert_eq!(trouble.hint, "give another name");
    let denied = Error::from(ErrorKind::PermissionDenied);
    let trouble = unwritten(file, &denied, Language::English);
    assert_eq!(trouble.what, "/proj/a.md: permission denied");
}

#[test]
fn a_file_that_is_there_is_not_made_again() {
    let dir = std::env::temp_dir().join(format!("rx-export-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("out.md");
    create_new(&file).unwrap().write_all(b"mine").unwrap();
    let again = create_new(&file).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    std::fs::remove_dir_all(&dir).unwrap();
}
