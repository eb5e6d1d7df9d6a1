//! The daemon in bad company: signals, limits, junk that it was started with, homes of other builds, and a life that ends
//! by itself.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::{Duration, Instant};

use proto::hello::Role;
use rustix::process::Signal;
use serde_json::json;
use tests::program::run;
use tests::{House, Raw, processes, skip, until};

fn all_gone(house: &House) {
    until("the daemon and its parent to go", || {
        house.processes().is_empty().then_some(())
    });
}

/// D1.5: an idle limit of two seconds.
#[test]
fn a_daemon_that_nobody_needs_goes_and_the_next_client_starts_one() {
    let house = House::new();
    house.settings("[daemon]\nidle_exit_minutes = 0.034\n");
    house.daemon();
    let mut client = house.raw_as(Role::Watch);
    // It outlives its limit, because somebody is there.
    until("it to be older than its limit", || {
        let status = client.call("daemon.status", &json!({})).expect("status");
        (status["uptime_s"].as_u64() > Some(4)).then_some(())
    });
    drop(client);
    all_gone(&house);
    let _ = house.reasonix(&["ls"]).expect_code(0);
}

#[test]
fn daemon_ignores_unrelated_signals_and_ends_also_on_a_second_sigterm() {
    let house = House::new();
    house.daemon();
    let pid = house.daemon_pid().expect("a daemon");
    for signal in [
        Signal::PIPE,
        Signal::HUP,
        Signal::USR1,
        Signal::USR2,
        Signal::XFSZ,
    ] {
        processes::send(pid, signal);
        assert_eq!(house.daemon_pid(), Some(pid), "{signal:?}");
    }
    processes::send(pid, Signal::TERM);
    if processes::runs(pid) {
        processes::send(pid, Signal::TERM);
    }
    all_gone(&house);
}

/// A stop that was acknowledged holds, also where the daemon is killed over it.
#[test]
fn a_stop_is_not_undone_by_a_crash_in_the_middle() {
    for _ in 0..10 {
        let house = House::new();
        house.daemon();
        let pid = house.daemon_pid().expect("a daemon");
        let mut raw = house.raw_as(Role::Drive);
        raw.call("daemon.shutdown", &json!({"mode": "now"}))
            .expect("acknowledged");
        if processes::runs(pid) {
            processes::send(pid, Signal::KILL);
        }
        all_gone(&house);
    }
}

/// F26. `prlimit` is of util-linux.
#[test]
fn daemon_out_of_descriptors_waits_and_recovers() {
    let house = House::new();
    assert!(house.daemon_under(&["prlimit", "--nofile=40:40"]));
    let mut good = house.raw_as(Role::Watch);
    let crowd: Vec<_> = (0..60)
        .filter_map(|_| Raw::connect(&house.socket()).ok())
        .collect();
    until("the log to mention it", || {
        let status = good.call("daemon.status", &json!({})).expect("status");
        status["problems"]
            .to_string()
            .contains("cannot be accepted")
            .then_some(())
    });
    drop(crowd);
    until("a connection", || house.daemon_pid());
    let count = house.daemon_log().matches("could not be accepted").count();
    assert!(count <= 3, "logged {count} times");
}

/// F54.
#[test]
fn daemon_ignores_inherited_umask_and_descriptors() {
    if skip::unless_root("counting the daemon's descriptors") {
        return;
    }
    let house = House::new();
    let daemon = tests::house::daemon_program();
    let script = "umask 0777; for n in $(seq 10 200); do eval \"exec $n</etc/passwd\"; done; exec 0<&- 1>&- 2>&-; exec \"$0\" serve";
    let mut command = Command::new("bash");
    command.args(["-c", script]).arg(&daemon).env_clear();
    command
        .env("REASONIX_HOME", house.home())
        .env("REASONIX_SOCKET", house.socket())
        .env("LANG", "C")
        .env("PATH", "/usr/bin:/bin");
    house.adopt(command.spawn().expect("start it"));
    let pid = house.wait_for_daemon();
    let open = processes::descriptors(pid);
    assert!(open < 60, "{open} descriptors are open");
    let mode = |name: &str| {
        let meta = std::fs::metadata(house.home().join(name)).expect(name);
        meta.mode() & 0o777
    };
    for (name, expected) in [
        ("run", 0o700),
        ("logs", 0o700),
        ("format", 0o600),
        ("reasonix.db", 0o600),
    ] {
        assert_eq!(mode(name), expected, "{name}");
    }
}

/// F52.
#[test]
fn an_older_build_leaves_a_newer_ones_home_alone() {
    let house = House::new();
    std::fs::write(house.home().join("format"), "99\n").expect("write");
    let refused = run(&mut house.command(&["ls"]));
    assert_ne!(refused.code(), Some(0));
    assert!(refused.err.contains("newer build"), "{refused:?}");
    assert!(!house.home().join("reasonix.db").exists());
}

/// F23.
#[test]
fn a_home_that_was_deleted_ends_its_daemon_and_stays_deleted() {
    let house = House::new();
    house.daemon();
    let begun = Instant::now();
    std::fs::remove_dir_all(house.home()).expect("remove it");
    all_gone(&house);
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(!house.home().exists());
}
