use std::fs;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("home")).unwrap();
    (dir, home)
}

#[test]
fn a_session_exists_only_after_it_is_published() {
    let (_dir, home) = home();
    let session = SessionId::new();
    fs::create_dir(staging_dir(&home, session)).unwrap();
    fs::write(staging_dir(&home, session).join("log.jsonl"), "x").unwrap();
    assert_eq!(home.session_ids().unwrap(), []);
    assert_eq!(leftovers(&home).unwrap(), [staging_dir(&home, session)]);
    publish(&home, session).unwrap();
    assert_eq!(home.session_ids().unwrap(), [session]);
    assert!(leftovers(&home).unwrap().is_empty());
}

#[test]
fn an_unpublished_session_is_not_listed_and_is_swept() {
    let (_dir, home) = home();
    let session = SessionId::new();
    for _ in 0..2 {
        // The second time, a directory with the same id has not been swept yet.
        fs::create_dir(home.session_dir(session)).unwrap();
        fs::write(home.session_dir(session).join("log.jsonl"), "x").unwrap();
        let move_away = unpublish(&home, session).unwrap().unwrap();
        assert_eq!(home.session_ids().unwrap(), []);
        assert_eq!(leftovers(&home).unwrap(), [move_away]);
    }
    assert_eq!(unpublish(&home, session).unwrap(), None);
    for left in sweep(&home).unwrap() {
        // A session with the same id may be created before this is removed.
        assert!(!left.to_string_lossy().contains(&session.to_string()));
        remove_dir(&left).unwrap();
    }
    assert!(leftovers(&home).unwrap().is_empty());
}

#[test]
fn the_size_includes_all_files_of_the_tree() {
    let (_dir, home) = home();
    let dir = home.session_dir(SessionId::new());
    fs::create_dir_all(dir.join("blobs")).unwrap();
    fs::write(dir.join("blobs").join("b"), vec![1; 200_000]).unwrap();
    fs::write(dir.join("log.jsonl"), "four").unwrap();
    assert_eq!(dir_bytes(&dir), 200_004);
    assert_eq!(dir_bytes(&dir.join("nothing")), 0);
}
