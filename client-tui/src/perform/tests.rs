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
