use std::fs;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("home")).unwrap();
    (dir, home)
}

#[test]
fn a_session_is_there_only_once_it_is_published() {
    let (_dir, home) = home();
    let session = SessionId::new();
    fs::create_dir(unborn_dir(&home, session)).unwrap();
    fs::write(unborn_dir(&home, session).join("log.jsonl"), "x").unwrap();
    assert_eq!(home.session_ids().unwrap(), []);
    assert_eq!(leftovers(&home).unwrap(), [unborn_dir(&home, session)]);
    publish(&home, session).unwrap();
    assert_eq!(home.session_ids().unwrap(), [session]);
    assert!(leftovers(&home).unwrap().is_empty());
}

#[test]
fn what_is_set_aside_is_no_session_and_is_swept() {
    let (_dir, home) = home();
    let session = SessionId::new();
    for _ in 0..2 {
        // The second time one of the same id has not been swept yet.
        fs::create_dir(home.session_dir(session)).unwrap();
        fs::write(home.session_dir(session).join("log.jsonl"), "x").unwrap();
        let aside = set_aside(&home, session).unwrap().unwrap();
        assert_eq!(home.session_ids().unwrap(), []);
        assert_eq!(leftovers(&home).unwrap(), [aside]);
    }
    assert_eq!(set_aside(&home, session).unwrap(), None);
    for left in sweep(&home).unwrap() {
        // One of the same id may come before it is cleared.
        assert!(!left.to_string_lossy().contains(&session.to_string()));
        clear(&left).unwrap();
    }
    assert!(leftovers(&home).unwrap().is_empty());
}

#[test]
fn bytes_are_those_of_all_that_is_below() {
    let (_dir, home) = home();
    let dir = home.session_dir(SessionId::new());
    fs::create_dir_all(dir.join("blobs")).unwrap();
    fs::write(dir.join("blobs").join("b"), vec![1; 200_000]).unwrap();
    fs::write(dir.join("log.jsonl"), "four").unwrap();
    assert_eq!(bytes(&dir), 200_004);
    assert_eq!(bytes(&dir.join("nothing")), 0);
}
