use std::fs;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("home")).unwrap();
    (dir, home)
}

fn entry(session: SessionId, at: &str, requests: u64) -> LedgerEntry {
    LedgerEntry {
        at: quarter_start(at.parse().unwrap()),
        session,
        pid: Pid(3),
        cwd: "/w/a \"b\"".into(),
        model: "vendor/m".into(),
        purpose: Purpose::Answer,
        turns: 1,
        root: String::new(),
        usage: UsageTotals {
            requests,
            prompt_tokens: u64::MAX,
            ..UsageTotals::default()
        },
    }
}

#[test]
fn entries_of_all_months_are_read() {
    let (_dir, home) = home();
    let session = SessionId::new();
    let all = [
        entry(session, "2026-10-31T23:59:59.999Z", 1),
        entry(session, "2026-11-01T00:00:00.000Z", 2),
    ];
    append(&home, &all).unwrap();
    assert_eq!(read(&home).unwrap(), all);
    assert!(home.usage().join("2026-10.jsonl").exists());
    assert!(home.usage().join("2026-11.jsonl").exists());
}

#[test]
fn an_entry_written_twice_counts_once_with_its_later_value() {
    let (_dir, home) = home();
    let session = SessionId::new();
    let (first, later) = (
        entry(session, "2026-11-01T00:00:00.000Z", 2),
        entry(session, "2026-11-01T00:14:00.000Z", 5),
    );
    append(&home, &[first]).unwrap();
    append(&home, std::slice::from_ref(&later)).unwrap();
    assert_eq!(read(&home).unwrap(), [later]);
}

#[test]
fn a_torn_line_affects_no_other_line() {
    let (_dir, home) = home();
    let (one, other) = (
        entry(SessionId::new(), "2026-11-01T00:00:00.000Z", 2),
        entry(SessionId::new(), "2026-11-01T00:00:00.000Z", 3),
    );
    append(&home, std::slice::from_ref(&one)).unwrap();
    let path = home.usage().join("2026-11.jsonl");
    let mut torn = fs::read(&path).unwrap();
    torn.extend_from_slice(b"{\"at\":\"2026-11-0\xff");
    fs::write(&path, torn).unwrap();
    append(&home, std::slice::from_ref(&other)).unwrap();
    let read = read(&home).unwrap();
    assert_eq!(read.len(), 2);
    assert!(read.contains(&one) && read.contains(&other));
}
