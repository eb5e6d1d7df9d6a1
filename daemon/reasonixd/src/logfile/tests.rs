//! The log is turned over by size, and only so many files are kept.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn a_full_file_is_turned_over_and_five_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reasonixd.log");
    let log = Rotating(Mutex::new(Current::open(&path).unwrap()));
    let block = vec![b'x'; usize::try_from(SIZE_MAX).unwrap()];
    for _ in 0..8 {
        log.make_writer().write_all(b"a line\n").unwrap();
        log.make_writer().write_all(&block).unwrap();
    }
    let mut names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "reasonixd.log",
            "reasonixd.log.1",
            "reasonixd.log.2",
            "reasonixd.log.3",
            "reasonixd.log.4",
            "reasonixd.log.5"
        ]
    );
    for name in names {
        let meta = fs::metadata(dir.path().join(name)).unwrap();
        assert!(meta.len() <= SIZE_MAX);
        assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_full_disk_costs_lines_and_is_reported_when_it_has_room_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reasonixd.log");
    let mut current = Current::open(&path).unwrap();
    let well = std::mem::replace(
        &mut current.file,
        File::options().write(true).open("/dev/full").unwrap(),
    );
    let log = Rotating(Mutex::new(current));
    for _ in 0..3 {
        // Lines are written from everywhere: an error there would be a panic or a loop.
        assert_eq!(log.make_writer().write(b"a line\n").unwrap(), 7);
    }
    log.0.lock().unwrap().file = well;
    log.make_writer().write_all(b"another\n").unwrap();
    log.make_writer().write_all(b"one more\n").unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "3 lines of this log could not be written\nanother\none more\n"
    );
}

#[test]
fn events_about_servers_are_bounded_and_those_left_out_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reasonixd.log");
    let mut current = Current::open(&path).unwrap();
    let start = Instant::now();
    for _ in 0..20_000 {
        current.take_bounded(0, "received notification\n", start);
    }
    current.take_bounded(1, "of another crate\n", start);
    current.take_bounded(0, &format!("{}\n", "ä".repeat(100_000)), start + EVENTS_IN);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 100 + 3);
    assert_eq!(lines[100], "of another crate");
    assert!(lines[101].starts_with("19900 lines of `rmcp` were left out"));
    assert!(lines[102].len() < 5_000 && lines[102].ends_with('…'));
}

#[test]
fn sdk_of_servers_says_no_more_than_warnings_at_any_level() {
    for wanted in ["info", "debug", "trace", "info,rmcp=trace"] {
        let filter = filter(wanted).unwrap().to_string();
        let of_sdk: Vec<_> = filter
            .split(',')
            .filter(|part| part.contains("rmcp"))
            .collect();
        assert!(
            of_sdk.iter().all(|part| part.ends_with("=warn")),
            "{filter}"
        );
        assert!(!of_sdk.is_empty());
    }
}
