//! Who is let in, and when the decision falls.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

const LIMIT: Option<Duration> = Some(Duration::from_secs(2));

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn open_connection_keeps_the_daemon_and_idle_time_starts_after_it() {
    let gate = Gate::new();
    let guest = gate.enter();
    gate.look(at(0), LIMIT, || false);
    gate.look(at(100), LIMIT, || false);
    assert_eq!(gate.shutdown_reason(), None);
    drop(guest);
    gate.look(at(101), LIMIT, || false);
    gate.look(at(102), LIMIT, || true);
    gate.look(at(104), LIMIT, || false);
    assert_eq!(
        gate.shutdown_reason(),
        None,
        "there was work at the look before"
    );
    gate.look(at(106), LIMIT, || false);
    assert_eq!(gate.shutdown_reason(), Some(ShutdownReason::Unused));
}

#[test]
fn unused_daemon_that_ends_refuses_clients_and_work() {
    let gate = Gate::new();
    gate.look(at(0), LIMIT, || false);
    gate.look(at(9), LIMIT, || false);
    assert_eq!(gate.shutdown_reason(), Some(ShutdownReason::Unused));
    // A connection that was accepted just after: its hello is refused as retryable.
    let _guest = gate.enter();
    for role in [Role::Watch, Role::Approve, Role::Drive] {
        let refused = gate.greet(role).expect_err("no hello");
        assert_eq!(refused.name, ErrorName::ShuttingDown);
        assert!(refused.retryable);
    }
    assert_eq!(
        gate.work().err().map(|failure| failure.name),
        Some(ErrorName::ShuttingDown)
    );
}

#[test]
fn shutdown_reason_is_replaced_only_by_a_more_urgent_one() {
    let gate = Gate::new();
    for (ask, holds) in [
        (ShutdownReason::WhenIdle, ShutdownReason::WhenIdle),
        (ShutdownReason::HandOver, ShutdownReason::HandOver),
        (ShutdownReason::WhenIdle, ShutdownReason::HandOver),
        (ShutdownReason::Now, ShutdownReason::Now),
        (ShutdownReason::HandOver, ShutdownReason::Now),
    ] {
        gate.ask(ask);
        assert_eq!(gate.shutdown_reason(), Some(holds));
    }
}

#[test]
fn gate_admits_clients_and_work_by_the_shutdown_reason() {
    let names = |leave: Option<ShutdownReason>| {
        let gate = Gate::new();
        if let Some(leave) = leave {
            gate.ask(leave);
        }
        let name = |result: Result<(), Failure>| result.err().map(|failure| failure.name);
        (
            name(gate.greet(Role::Watch)),
            name(gate.greet(Role::Drive)),
            name(gate.work().map(drop)),
            name(gate.change()),
        )
    };
    let no = Some(ErrorName::ShuttingDown);
    let lost = Some(ErrorName::Storage);
    assert_eq!(names(None), (None, None, None, None));
    assert_eq!(
        names(Some(ShutdownReason::WhenIdle)),
        (None, None, no, None)
    );
    assert_eq!(names(Some(ShutdownReason::HandOver)), (None, no, no, None));
    assert_eq!(names(Some(ShutdownReason::Now)), (None, no, no, None));
    assert_eq!(names(Some(ShutdownReason::Unused)), (no, no, no, None));
    assert_eq!(
        names(Some(ShutdownReason::HomeGone)),
        (None, no, lost, lost)
    );
}

/// Whoever is let in is let in before the decision: many threads that want work, and one that wants to go.
#[test]
fn no_work_is_let_in_by_a_daemon_that_goes() {
    for _ in 0..50 {
        let gate = Gate::new();
        let inside = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let Ok(guest) = gate.work() else { return };
                        inside.fetch_add(1, Ordering::SeqCst);
                        assert_ne!(
                            gate.shutdown_reason(),
                            Some(ShutdownReason::Unused),
                            "it goes with a guest inside"
                        );
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(guest);
                    }
                });
            }
            scope.spawn(|| {
                let mut time = 0;
                while gate.shutdown_reason().is_none() {
                    time += 1;
                    gate.look(at(time), Some(Duration::ZERO), || false);
                }
                assert_eq!(
                    inside.load(Ordering::SeqCst),
                    0,
                    "nobody is inside when it goes"
                );
            });
        });
    }
}
