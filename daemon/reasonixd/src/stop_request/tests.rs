//! For which daemon a request holds, and how long.

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().expect("a directory");
    let home = Home::open(&dir.path().join("home")).expect("a home");
    (dir, home)
}

#[test]
fn a_stop_holds_for_the_next_daemon_of_the_same_parent_once() {
    let (_dir, home) = home();
    let take = || take_as(&home, &Parent::ours());
    assert_eq!(take(), None);
    for mode in [
        ShutdownMode::Idle,
        ShutdownMode::HandOver,
        ShutdownMode::Now,
    ] {
        store(&home, mode).expect("store");
        assert_eq!(take(), Some(mode));
        assert_eq!(take(), None, "it holds once");
    }
}

#[test]
fn stop_request_is_discarded_unless_the_daemon_was_restarted() {
    let (_dir, home) = home();
    store(&home, ShutdownMode::Now).expect("store");
    assert_eq!(take(&home, false), None);
    assert!(!path(&home).exists(), "it is void");
    store(&home, ShutdownMode::Now).expect("store");
    assert_eq!(take(&home, true), Some(ShutdownMode::Now));
}

#[test]
fn stop_request_applies_to_its_parent_only_and_expires() {
    let parent = Parent {
        pid: 7,
        started: Some(1_000),
    };
    let reused = Parent {
        pid: 7,
        started: Some(2_000),
    };
    let at = Duration::from_secs(100);
    let request = |mode| StopRequest {
        mode,
        parent: parent.clone(),
        at_ms: millis(at),
    };
    let now = request(ShutdownMode::Now);
    assert!(still_holds(&now, &parent, at + FRESH));
    assert!(
        !still_holds(&now, &reused, at),
        "the number of another process"
    );
    assert!(!still_holds(&now, &parent, at + FRESH * 2), "it is void");
    assert!(
        !still_holds(&now, &parent, at - Duration::from_secs(1)),
        "asked before the machine was restarted"
    );
    let idle = request(ShutdownMode::Idle);
    assert!(still_holds(
        &idle,
        &parent,
        at + Duration::from_secs(86_400)
    ));
    assert!(!still_holds(&idle, &reused, at));
}

#[test]
fn a_malformed_request_is_ignored_and_removed() {
    let (_dir, home) = home();
    for text in [
        "",
        "nonsense",
        "{\"mode\": \"tomorrow\"}",
        "{\"mode\": \"now\"}",
    ] {
        fs::write(path(&home), text).expect("write");
        assert_eq!(take_as(&home, &Parent::ours()), None, "{text}");
        assert!(!path(&home).exists());
    }
}

#[test]
fn a_process_has_a_time_at_which_it_was_started() {
    let own = i32::try_from(std::process::id()).expect("a number");
    assert_eq!(started(own).is_some(), cfg!(target_os = "linux"));
    assert_eq!(started(own), started(own));
}
