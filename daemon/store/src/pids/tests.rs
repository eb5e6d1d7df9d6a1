use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use proto::{Seq, SessionId, Stamp};
use tempfile::TempDir;

use super::*;
use crate::format::{Envelope, encode};
use crate::log::LogFile;

fn home() -> (TempDir, Home) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    (dir, home)
}

fn pids(home: &Home) -> PidCounter {
    PidCounter::open(home).expect("it can be opened")
}

fn next(pids: &PidCounter) -> u64 {
    pids.next().expect("it can be written").0
}

fn session_with_pid(home: &Home, pid: u64) {
    let log = LogFile::create(&home.session_dir(SessionId::new())).expect("it can be created");
    let line = encode(&Envelope {
        seq: Seq(1),
        at: Stamp(0),
        turn: None,
        durable: Seq(0),
        kind: "session.created",
        data: &format!(r#"{{"pid":{pid},"ppid":0}}"#),
        own: None,
        fragment: None,
    });
    log.append(&[line.bytes]).expect("it can be written");
}

#[test]
fn pids_count_from_one_and_the_file_is_a_block_ahead() {
    let (_dir, home) = home();
    let pids = pids(&home);
    assert!(!pids.rebuilt());
    assert_eq!(next(&pids), 1);
    assert_eq!(
        fs::read_to_string(home.pid_next()).expect("it is there"),
        "17\n"
    );
    let more: Vec<u64> = (0..16).map(|_| next(&pids)).collect();
    assert_eq!(more, (2..=17).collect::<Vec<_>>());
    assert_eq!(
        fs::read_to_string(home.pid_next()).expect("it is there"),
        "33\n"
    );
}

#[test]
fn a_restart_skips_the_rest_of_a_block_but_repeats_nothing() {
    let (_dir, home) = home();
    assert_eq!(next(&pids(&home)), 1);
    assert_eq!(next(&pids(&home)), 17);
}

#[test]
fn returned_pids_are_assigned_after_the_next_start() {
    let (_dir, home) = home();
    let counter = pids(&home);
    counter.put_back().expect("there is nothing to write");
    assert!(!home.pid_next().exists());
    assert_eq!(next(&counter), 1);
    counter.put_back().expect("it can be written");
    assert_eq!(next(&pids(&home)), 2);
    // One late pid.
    let late = pids(&home);
    late.put_back().expect("there is nothing to write");
    assert_eq!(next(&late), 18);
    assert_eq!(next(&pids(&home)), 34);
}

#[test]
fn opening_the_counter_uses_no_pid() {
    let (_dir, home) = home();
    next(&pids(&home));
    for _ in 0..3 {
        pids(&home);
    }
    assert_eq!(next(&pids(&home)), 17);
}

#[test]
fn a_lost_or_corrupt_counter_starts_above_every_session() {
    let (_dir, home) = home();
    session_with_pid(&home, 3);
    session_with_pid(&home, 40);
    fs::create_dir(home.session_dir(SessionId::new())).expect("it is ours");
    for corrupt in [
        None,
        Some("0\n"),
        Some(""),
        Some("5"),
        Some("+5\n"),
        Some("9\n9\n"),
        Some("99999999999999999999\n"),
    ] {
        match corrupt {
            Some(text) => fs::write(home.pid_next(), text).expect("it is ours"),
            None => assert!(!home.pid_next().exists()),
        }
        let pids = pids(&home);
        assert!(pids.rebuilt(), "{corrupt:?}");
        assert!(next(&pids) > 40, "{corrupt:?}");
    }
    fs::write(home.pid_next(), b"\xff\xfe\n").expect("it is ours");
    assert!(next(&pids(&home)) > 40);
}

#[test]
fn an_unreadable_first_record_does_not_stop_the_others_from_counting() {
    let (_dir, home) = home();
    session_with_pid(&home, 7);
    let broken = home.session_dir(SessionId::new());
    fs::create_dir(&broken).expect("it is ours");
    fs::write(broken.join(log::LOG_NAME), "{\"seq\":1}\n").expect("it is ours");
    assert!(next(&pids(&home)) > 7);
}

#[test]
fn known_pids_raise_the_counter_durably() {
    let (_dir, home) = home();
    let counter = pids(&home);
    assert_eq!(next(&counter), 1);
    counter.raise_above(Pid(5));
    assert_eq!(next(&counter), 6);
    counter.raise_above(Pid(2));
    assert_eq!(next(&counter), 7);
    counter.raise_above(Pid(1000));
    assert_eq!(next(&counter), 1001);
    drop(counter);
    assert_eq!(next(&pids(&home)), 1017);
}

#[test]
fn a_counter_that_cannot_be_written_hands_out_nothing() {
    let (_dir, home) = home();
    let counter = pids(&home);
    fs::create_dir(home.pid_next()).expect("it is ours");
    counter.next().expect_err("a directory cannot be replaced");
    fs::remove_dir(home.pid_next()).expect("it is empty");
    assert_eq!(next(&counter), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn no_pid_is_handed_out_twice(lives in prop::collection::vec((0..40_usize, 0..60_u64, 0..3_usize), 1..6)) {
        let (_dir, home) = home();
        let mut seen = BTreeSet::new();
        for (count, raised, late) in lives {
            let pids = pids(&home);
            pids.raise_above(Pid(raised));
            for _ in 0..count {
                let pid = next(&pids);
                prop_assert!(pid > raised && seen.insert(pid));
            }
            // One life in three ends without putting its pids back.
            if late > 0 {
                pids.put_back().expect("it can be written");
                for _ in 1..late {
                    prop_assert!(seen.insert(next(&pids)));
                }
            }
        }
    }
}
