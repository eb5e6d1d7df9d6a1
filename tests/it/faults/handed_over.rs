//! A hand-over from one daemon to the next, while clients come a thousand times a second.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::json;
use testkit::RaiseOnDrop;
use testkit::model::{Answer, Model, Request, Script};
use tests::raw::hello_params;
use tests::wait::pace;
use tests::{House, Raw, until};

/// Longer than a hand-over leaves nobody at the socket, on a busy machine.
const GAP_MAX: Duration = Duration::from_secs(5);

/// Says hello over and over; how often it was answered, and the longest time between two answers.
fn knock(house: &House, stop: &AtomicBool, answered: &AtomicU64) -> Duration {
    let (mut last, mut gap) = (Instant::now(), Duration::ZERO);
    while !stop.load(Ordering::SeqCst) {
        pace(Instant::now() + Duration::from_millis(1));
        let hello = Raw::connect(&house.socket())
            .ok()
            .and_then(|mut raw| raw.try_call("daemon.hello", &hello_params("knocks", Role::Watch)));
        if let Some(Ok(_)) = hello {
            answered.fetch_add(1, Ordering::SeqCst);
            gap = gap.max(last.elapsed());
            last = Instant::now();
        }
    }
    gap
}

#[test]
fn f48_clients_that_come_during_a_hand_over_find_a_daemon_and_work_goes_on() {
    let model = Model::start(Script::by(|request: &Request| match request.answered() {
        round @ 0..=5 => Answer::call(
            "bash",
            json!({"command": format!("sleep 0.3; echo {round}")}),
        ),
        _ => Answer::text("Done."),
    }));
    let house = House::new();
    house.provider(&model.entry("model", None));
    house.daemon();
    let ran = house.reasonix(&["run", "--detach", "--on-ask", "allow", "work"]);
    let _ = ran.expect_code(0);
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let gaps = std::thread::scope(|scope| {
        let end = RaiseOnDrop(&stop);
        let knocking: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| knock(&house, &stop, &answered)))
            .collect();
        let coming = scope.spawn(|| {
            // Each of them waits out whatever is between two daemons, and starts none beside them.
            while !stop.load(Ordering::SeqCst) {
                let _ = house.reasonix(&["ls"]).expect_code(0);
            }
        });
        for _ in 0..2 {
            let before = house.daemon_pid();
            let _ = house.reasonix(&["daemon", "restart"]).expect_code(0);
            let after = house.wait_for_daemon();
            assert_ne!(before, Some(after), "it is another daemon");
            let until_now = answered.load(Ordering::SeqCst);
            until("more answers", || {
                (answered.load(Ordering::SeqCst) > until_now + 20).then_some(())
            });
        }
        drop(end);
        coming.join().expect("all came through");
        let gaps = knocking.into_iter().map(|one| one.join().expect("answers"));
        gaps.collect::<Vec<_>>()
    });
    assert!(gaps.iter().all(|gap| *gap < GAP_MAX), "{gaps:?}");
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    let log = house.log(proto::Pid(1));
    let log = log.check();
    assert_eq!((log.count("turn.started"), log.count("turn.ended")), (1, 1));
    assert_eq!(log.count("tool.started"), 6, "{:?}", log.kinds());
    model.assert_strict();
}
