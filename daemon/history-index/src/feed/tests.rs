use std::os::unix::fs::{FileExt, PermissionsExt};

use super::*;
use crate::fixture::IndexFixture;

/// Two sessions with a message each.
fn past() -> IndexFixture {
    let past = IndexFixture::new();
    for pid in [1, 2] {
        let mut session = past.session(pid, "/a");
        session.user(&format!("needle {pid}"));
        session.save();
    }
    past
}

#[test]
fn what_comes_later_is_found_and_what_is_not_durable_is_not() {
    let past = past();
    let mut session = past.session(3, "/a");
    past.settle();
    session.user("needle durable");
    session.save();
    past.feed.written(session.session, Seq(session.seq));
    session.user("needle behind");
    session.save();
    assert_eq!(past.found("needle").len(), 3);
    past.feed.written(session.session, Seq(session.seq));
    assert_eq!(past.found("needle").len(), 4);
}

#[test]
fn a_removed_session_disappears_also_if_nobody_said_so() {
    let mut past = past();
    assert_eq!(past.found("needle").len(), 2);
    let ids = past.home.session_ids().unwrap();
    std::fs::remove_dir_all(past.home.session_dir(ids[0])).unwrap();
    past.feed.removed(ids[0]);
    assert_eq!(past.found("needle").len(), 1);
    std::fs::remove_dir_all(past.home.session_dir(ids[1])).unwrap();
    past.restart();
    past.settle();
    let index = database::open(&past.home).unwrap();
    let rows = |table: &str| {
        index
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap()
    };
    assert_eq!((rows("session"), rows("message")), (0, 0));
}

/// How many files of the index have this text.
fn files_with(past: &IndexFixture, text: &str) -> usize {
    let files = ["", "-wal", "-shm"].map(|suffix| {
        let mut path = past.home.history().into_os_string();
        path.push(suffix);
        std::fs::read(path).unwrap_or_default()
    });
    let has = |bytes: &&Vec<u8>| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    files.iter().filter(has).count()
}

#[test]
fn words_of_a_removed_session_are_in_no_file_of_the_index() {
    let past = past();
    let mut session = past.session(3, "/a");
    session.user("needle xylophonquark");
    session.save_and_notify(&past);
    assert_eq!(past.found("xylophonquark").len(), 1);
    assert!(files_with(&past, "xylophonquark") > 0);
    std::fs::remove_dir_all(past.home.session_dir(session.session)).unwrap();
    past.feed.removed(session.session);
    assert_eq!(past.found("needle").len(), 2);
    assert_eq!(files_with(&past, "xylophonquark"), 0);
}

#[test]
fn an_index_that_somebody_deletes_is_made_again_at_the_next_search() {
    let past = past();
    assert_eq!(past.found("needle").len(), 2);
    database::remove(&past.home).unwrap();
    assert_eq!(past.found("needle").len(), 2);
    let mut session = past.session(3, "/a");
    session.user("needle later");
    session.save();
    past.feed.written(session.session, Seq(session.seq));
    assert_eq!(past.found("needle").len(), 3);
}

#[test]
fn ephemeral_sessions_never_come_in() {
    let past = past();
    let mut session = past.session(3, "/a");
    store::markers::mark_ephemeral(&past.home, session.session).unwrap();
    session.user("needle secret");
    session.save_and_notify(&past);
    assert_eq!(past.found("needle").len(), 2);
}

#[test]
fn a_missing_or_damaged_index_is_made_again_with_the_same_answers() {
    let mut past = past();
    let before = past.search("needle");
    assert_eq!(before.hits.len(), 2);
    let path = past.home.history();
    let mode = path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    for damage in 0..4 {
        past.restart();
        match damage {
            0 => database::remove(&past.home).unwrap(),
            1 => {
                database::remove(&past.home).unwrap();
                std::fs::write(&path, "no database").unwrap();
            }
            2 => {
                database::remove(&past.home).unwrap();
                let other = Connection::open(&path).unwrap();
                other.execute_batch("CREATE TABLE session (x)").unwrap();
            }
            _ => {
                let index = Connection::open(&path).unwrap();
                index
                    .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                    .unwrap();
                drop(index);
                let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
                for page in 1..file.metadata().unwrap().len() / 4096 {
                    file.write_all_at(&[0xff; 200], page * 4096).unwrap();
                }
            }
        }
        assert_eq!(past.search("needle"), before, "damage {damage}");
    }
}

#[test]
fn a_damaged_or_foreign_log_hides_no_other() {
    let past = past();
    let ids = past.home.session_ids().unwrap();
    let log = past.home.session_dir(ids[0]).join(store::log::LOG_NAME);
    std::fs::write(&log, "\u{0}no log\n".repeat(3)).unwrap();
    let foreign = past.session(3, "/a");
    let text = std::fs::read_to_string(
        past.home
            .session_dir(foreign.session)
            .join(store::log::LOG_NAME),
    )
    .unwrap();
    let mut other = past.session(4, "/a");
    other.user("needle of a log without its beginning");
    other.save();
    let path = past
        .home
        .session_dir(other.session)
        .join(store::log::LOG_NAME);
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, whole.lines().skip(1).collect::<Vec<_>>().join("\n")).unwrap();
    assert!(!text.is_empty());
    assert_eq!(past.found("needle").len(), 1);
    past.feed.written(ids[0], Seq(9));
    assert_eq!(past.found("needle").len(), 1);
}

#[test]
fn a_log_that_was_cut_is_read_again() {
    let past = past();
    let mut session = past.session(3, "/a");
    session.user("needle stays");
    session.save();
    let path = past
        .home
        .session_dir(session.session)
        .join(store::log::LOG_NAME);
    let stays = std::fs::read(&path).unwrap();
    let (seq, at) = (session.seq, session.at);
    session.user("needle lost");
    session.save_and_notify(&past);
    assert_eq!(past.found("needle").len(), 4);
    std::fs::write(&path, stays).unwrap();
    (session.seq, session.at) = (seq, at);
    session.user("needle instead");
    session.save_and_notify(&past);
    let found = past.found("needle");
    assert!(
        found.contains(&"needle instead".to_owned()) && !found.contains(&"needle lost".to_owned()),
        "{found:?}"
    );
}
