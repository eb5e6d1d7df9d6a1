//! Logs that are sound, torn and damaged, and the bounds.

use std::fs;

use proto::{Seq, Stamp};
use store::format::{Envelope, encode};

use super::*;

const ALL: Duration = Duration::from_secs(60);

fn bounds() -> Bounds {
    Bounds {
        logs: LOGS_MAX,
        time: ALL,
        size: SIZE_MAX,
    }
}

fn house() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().expect("a directory");
    let home = Home::open(&dir.path().join("home")).expect("a home");
    (dir, home)
}

/// A log of three records, changed so many seconds after the first one of the test.
fn log(home: &Home, at: u64) -> (SessionId, std::path::PathBuf) {
    let session = SessionId::new();
    let dir = home.session_dir(session);
    fs::create_dir(&dir).expect("a directory");
    let path = dir.join("log.jsonl");
    let lines = (1..=3_u64).flat_map(|number| {
        let line = encode(&Envelope {
            seq: Seq(number),
            at: Stamp(1_795_283_603_512),
            turn: None,
            durable: Seq(number - 1),
            kind: "notice",
            data: "{\"level\":\"info\",\"text\":\"x\"}",
            own: None,
            fragment: None,
        });
        line.bytes.to_vec()
    });
    fs::write(&path, lines.collect::<Vec<u8>>()).expect("write");
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + at);
    let file = fs::File::options().write(true).open(&path).expect("open");
    file.set_modified(changed).expect("its time");
    (session, path)
}

fn spoil(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("read");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("write");
}

#[test]
fn a_damaged_log_is_named_and_a_torn_one_is_not() {
    let (_dir, home) = house();
    let _sound = log(&home, 1);
    let (_, torn) = log(&home, 2);
    let bytes = fs::read(&torn).expect("read");
    fs::write(&torn, &bytes[..bytes.len() - 5]).expect("cut");
    let (damaged, path) = log(&home, 3);
    spoil(&path, 20);
    let (empty, path) = log(&home, 4);
    fs::remove_file(path).expect("remove");
    let found = look(&home, &HashMap::new(), &bounds()).expect("read");
    assert_eq!((found.sound, found.left_out), (2, 0));
    let mut named: Vec<_> = found.damaged.iter().map(|(session, _)| *session).collect();
    named.sort();
    let mut expected = vec![damaged, empty];
    expected.sort();
    assert_eq!(named, expected);
    let checks = checks_of(&found);
    assert_eq!(checks.len(), 3);
    assert!(
        checks
            .iter()
            .any(|check| check.text.contains(&damaged.to_string()))
    );
}

#[test]
fn the_newest_are_read_and_what_was_left_out_is_said() {
    let (_dir, home) = house();
    for at in 0..5 {
        let _ = log(&home, at);
    }
    let (newest, path) = log(&home, 100);
    spoil(&path, 20);
    let file = fs::File::options().write(true).open(&path).expect("open");
    file.set_modified(SystemTime::now()).expect("its time");
    let found = look(
        &home,
        &HashMap::new(),
        &Bounds {
            logs: 2,
            ..bounds()
        },
    )
    .expect("read");
    assert_eq!((found.sound, found.left_out), (1, 4));
    assert_eq!(
        found.damaged.first().map(|(session, _)| *session),
        Some(newest)
    );
    let sentence = checks_of(&found).pop().expect("a sentence").text;
    assert!(sentence.contains("4 older"), "{sentence}");
    let found = look(
        &home,
        &HashMap::new(),
        &Bounds {
            time: Duration::ZERO,
            ..bounds()
        },
    )
    .expect("read");
    assert_eq!((found.sound, found.left_out), (0, 6), "no time at all");
    let found = look(
        &home,
        &HashMap::new(),
        &Bounds {
            size: 10,
            ..bounds()
        },
    )
    .expect("read");
    assert_eq!((found.sound, found.left_out), (0, 6), "all are too large");
}

#[test]
fn a_log_that_ends_before_what_the_catalog_knows_is_named() {
    let (_dir, home) = house();
    let (whole, _) = log(&home, 1);
    let (cut, _) = log(&home, 2);
    let known = HashMap::from([(whole, Seq(3)), (cut, Seq(5))]);
    let found = look(&home, &known, &bounds()).expect("read");
    assert_eq!((found.sound, found.damaged.len()), (1, 0));
    let checks = checks_of(&found);
    let text = &checks.first().expect("a sentence").text;
    assert!(
        text.contains(&cut.to_string()) && text.contains("ends at record 3, but record 5"),
        "{text}"
    );
}
