use std::fs;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("home")).unwrap();
    (dir, home)
}

fn left_in(home: &Home) -> Vec<PathBuf> {
    let mut left = Vec::new();
    each_name(&home.sessions(), |name| {
        if is_leftover(name) {
            left.push(home.sessions().join(OsStr::from_bytes(name)));
        }
    })
    .unwrap();
    left
}

#[test]
fn a_session_exists_only_after_it_is_published() {
    let (_dir, home) = home();
    let session = SessionId::new();
    fs::create_dir(staging_dir(&home, session)).unwrap();
    fs::write(staging_dir(&home, session).join("log.jsonl"), "x").unwrap();
    assert_eq!(home.session_ids().unwrap(), []);
    assert_eq!(left_in(&home), [staging_dir(&home, session)]);
    publish(&home, session).unwrap();
    assert_eq!(home.session_ids().unwrap(), [session]);
    assert!(left_in(&home).is_empty());
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
        assert_eq!(left_in(&home), [move_away]);
    }
    assert_eq!(unpublish(&home, session).unwrap(), None);
    for left in sweep(&home).unwrap().leftovers {
        // A session with the same id may be created before this is removed.
        assert!(!left.to_string_lossy().contains(&session.to_string()));
        remove_dir(&left).unwrap();
    }
    assert!(left_in(&home).is_empty());
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

/// A line of a log.
fn line(seq: u64) -> Vec<u8> {
    let line = crate::format::encode(&crate::format::Envelope {
        seq: proto::Seq(seq),
        at: proto::Stamp(1_795_283_603_512),
        turn: None,
        durable: proto::Seq(0),
        kind: "notice",
        data: r#"{"level":"info","text":"here"}"#,
        own: None,
        fragment: None,
    });
    line.bytes.to_vec()
}

#[test]
fn what_a_crash_left_of_a_session_without_records_is_removed() {
    let (_dir, home) = home();
    let (whole, second) = (line(1), line(2));
    let half = whole[..whole.len() / 2].to_vec();
    let damaged = [b"not a record\n".as_slice(), &second].concat();
    // What is in the directory, and whether it is a session.
    let cases: [(Option<Vec<u8>>, bool); 6] = [
        (None, false),
        (Some(Vec::new()), false),
        (Some(half), false),
        (Some(b"not a record\n".to_vec()), true),
        (Some(whole.clone()), true),
        (Some(damaged), true),
    ];
    let mut made = Vec::new();
    for (content, is_session) in cases {
        let session = SessionId::new();
        fs::create_dir(home.session_dir(session)).unwrap();
        if let Some(content) = content {
            fs::write(home.session_dir(session).join("log.jsonl"), content).unwrap();
        }
        markers::mark(&home, session).unwrap();
        assert_eq!(was_created(&home, session).unwrap(), is_session);
        made.push((session, is_session));
    }
    // Files that outlived their log, and a session that the catalog knows.
    let (lost, known) = (SessionId::new(), SessionId::new());
    for session in [lost, known] {
        fs::create_dir(home.session_dir(session)).unwrap();
    }
    fs::write(home.session_dir(lost).join("seen.json"), "{}").unwrap();
    made.extend([(lost, true), (known, true)]);
    markers::mark(&home, lost).unwrap();
    markers::mark(&home, known).unwrap();
    let there = sweep(&home).unwrap().sessions.into_iter();
    sweep_uncreated(&home, there.filter(|session| *session != known));
    for (session, stays) in made {
        assert_eq!(home.session_dir(session).exists(), stays);
        assert_eq!(markers::is_marked(&home, session), stays);
    }
    assert!(!was_created(&home, SessionId::new()).unwrap());
}
