//! The short form of the soak: everything at once for some seconds, with one death of the daemon.

use std::time::Duration;

use tests::soak::{Plan, run};

#[test]
fn soak_run_leaves_valid_logs_and_no_process() {
    let mut lines = Vec::new();
    let plan = Plan {
        time: Duration::from_secs(6),
        seed: 7,
        every: Duration::from_secs(1),
        ..Plan::default()
    };
    let report = run(&plan, |line| lines.push(line.to_owned()));
    assert_eq!(report.deaths, 1, "{lines:#?}");
    assert!(report.visits > 0, "{lines:#?}");
    assert!(
        report.turns > 0 && report.requests > 30 && report.sessions >= 30,
        "{lines:#?}"
    );
}
