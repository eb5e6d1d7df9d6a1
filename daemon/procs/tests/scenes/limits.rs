//! Limits of a command that takes all resources.
//!
//! A fork bomb runs only if something limits it. Otherwise the test reports that it was skipped.

use std::io::{Read as _, Write as _};

use procs::{Mechanism, ProcessLimit};

use super::*;

/// A bomb that leaves its sessions and groups, as a malicious one would.
const BOMBS: [(&str, &str); 2] = [
    ("plain", ":(){ :|:& };: ; sleep 1000"),
    (
        "sessions of their own",
        "export B='setsid bash -c \"$B\" & setsid bash -c \"$B\" & wait'; eval \"$B\"; sleep 1000",
    ),
];

/// The limit on the bombs below, or `None` if they must not run.
async fn bound(procs: &Procs) -> Option<ProcessLimit> {
    finish(procs.spawn(SESSION, sh("true")).await.unwrap()).await;
    let mechanism = procs.mechanism();
    let bound = match mechanism {
        Mechanism::Namespace { bound, .. } => bound,
        // The limit applies to all processes of the user: other tests would be affected.
        Mechanism::Looking | Mechanism::Sweep { .. } | Mechanism::Group { .. } => None,
    };
    // The other ways have none anywhere.
    if BACKEND == BackendChoice::Auto {
        let lack = format!("a limit on a fork bomb ({mechanism})");
        testkit::skip::unless(bound.is_some(), &lack);
    }
    bound
}

fn bounded(tasks: u32) -> Arc<Procs> {
    let mut options = options();
    options.limits.tasks = Some(tasks);
    Procs::start(options).unwrap()
}

/// Median and 95th percentile of these durations.
fn spread(mut took: Vec<Duration>) -> (Duration, Duration) {
    took.sort();
    (took[took.len() / 2], took[took.len() * 19 / 20])
}

async fn starts(procs: &Procs, goes: usize) -> (Duration, Duration) {
    let mut took = Vec::new();
    for _ in 0..goes {
        let begun = Instant::now();
        finish(procs.spawn(Pid(2), command(&["true"])).await.unwrap()).await;
        took.push(begun.elapsed());
    }
    spread(took)
}

/// Round trips over a socket to another thread, as between a client and the daemon.
fn trips(goes: usize) -> (Duration, Duration) {
    let (mut ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        while theirs.read_exact(&mut byte).is_ok() {
            theirs.write_all(&byte).unwrap();
        }
    });
    let mut took = Vec::new();
    for _ in 0..goes {
        let begun = Instant::now();
        ours.write_all(b"x").unwrap();
        ours.read_exact(&mut [0]).unwrap();
        took.push(begun.elapsed());
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(ours);
    echo.join().unwrap();
    spread(took)
}

#[tokio::test]
async fn a_fork_bomb_is_bound_and_gone_soon_after_its_stop() {
    /// Enough to be noticed if nothing limited it, and reached quickly.
    const TASKS: u32 = 1024;
    let procs = bounded(TASKS);
    if bound(&procs).await.is_none() {
        return;
    }
    let idle = (starts(&procs, 40).await, trips(200));
    say(&format!("idle: start {:?}, trip {:?}", idle.0, idle.1));
    for (name, bomb) in BOMBS {
        let mark = format!("bomb-{name}-{HOST}-{}", std::process::id());
        let mut asked = command(&["bash", "-c", bomb]);
        asked.env.push(("MARK".to_owned(), mark.clone()));
        let child = procs.spawn(SESSION, asked).await.unwrap();
        until("it has grown", || marked(&mark).len() > TASKS as usize / 2).await;
        let busy = (starts(&procs, 40).await, trips(200));
        say(&format!("{name}: start {:?}, trip {:?}", busy.0, busy.1));
        // A loose bound, because the machine does other work too.
        assert!(busy.0.0 < idle.0.0 * 4 + Duration::from_millis(200));
        assert!(busy.1.0 < idle.1.0 * 4 + Duration::from_millis(5));
        let living = marked(&mark).len();
        // The first ids of a namespace are assigned only once, in addition.
        assert!(living <= TASKS as usize + 300, "{living}");
        let begun = Instant::now();
        child.control.stop(500);
        // Its many messages about failed forks are read to the end.
        finish(child).await;
        let took = begun.elapsed();
        say(&format!("{name}: {living} lived, gone after {took:?}"));
        assert_eq!(marked(&mark), [0_u32; 0]);
        assert!(took < Duration::from_secs(3), "{took:?}");
    }
}

#[tokio::test]
async fn command_beyond_the_number_that_may_run_waits_for_the_end_of_another() {
    let procs = Procs::start(ProcsOptions {
        commands_max: 1,
        ..options()
    })
    .unwrap();
    let mut first = procs
        .spawn(SESSION, sh("echo ready; while :; do sleep 0.05; done"))
        .await
        .unwrap();
    line(&mut first).await;
    let second = tokio::spawn(procs.spawn(SESSION, sh("echo second")));
    let stopped = tokio::spawn(procs.spawn(Pid(8), sh("echo never")));
    until("both wait", || {
        procs
            .table()
            .iter()
            .filter(|child| child.os_pid.is_none())
            .count()
            == 2
    })
    .await;
    // The daemon's own processes wait for nobody.
    let own = procs.spawn(Pid(0), sh("echo own")).await.unwrap();
    assert_eq!(finish(own).await.out, "own\n");
    // A stop ends the wait.
    procs.stop_session(Pid(8), 1000);
    let refused = stopped.await.unwrap();
    assert!(refused.is_err_and(|error| error.to_string().contains("stopped before it ran")));
    first.control.stop(1000);
    finish(first).await;
    let second = second.await.unwrap().unwrap();
    assert_eq!(finish(second).await.out, "second\n");
    assert_eq!(procs.count(), 0);
}
