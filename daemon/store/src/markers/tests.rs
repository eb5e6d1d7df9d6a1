use std::fs;

use super::*;

#[test]
fn a_session_is_marked_until_it_is_unmarked() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    let (one, two) = (SessionId::new(), SessionId::new());
    for session in [two, one, one] {
        mark(&home, session).expect("it can be marked");
    }
    let mut both = [one, two];
    both.sort();
    assert_eq!(list(&home).expect("it can be read"), both);
    for session in [one, one] {
        unmark(&home, session).expect("it can be unmarked");
    }
    assert_eq!(list(&home).expect("it can be read"), [two]);
    assert_eq!([one, two].map(|one| is_marked(&home, one)), [false, true]);
}

#[test]
fn other_files_are_no_markers() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    fs::write(home.open_markers().join(".nfs0001"), "").expect("it is ours");
    assert!(list(&home).expect("it can be read").is_empty());
}

#[test]
fn a_marker_that_cannot_be_made_is_an_error() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    fs::remove_dir(home.open_markers()).expect("it is empty");
    mark(&home, SessionId::new()).expect_err("there is no directory for it");
}

#[test]
fn an_ephemeral_session_has_a_marker_of_its_own() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    let session = SessionId::new();
    mark_ephemeral(&home, session).expect("it can be marked");
    assert_eq!(list_ephemeral(&home).expect("it can be read"), [session]);
    assert!(!is_marked(&home, session), "it may be at rest");
    for _ in 0..2 {
        unmark_ephemeral(&home, session).expect("it can be unmarked");
    }
    assert!(list_ephemeral(&home).expect("it can be read").is_empty());
}
