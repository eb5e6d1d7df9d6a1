//! A thousand short sessions in one daemon: nothing grows with their number. Not its descriptors, not its threads, not
//! its memory beyond a bound, not the files in the temporary directory, not the loaded sessions.

use std::fs;
use std::time::Instant;

use proto::hello::Role;
use proto::methods::{DaemonStatus, SessionCreate, SessionWait};
use proto::params::Empty;
use proto::params::session::{Until, WaitParams};
use proto::state::{Kind, OnAsk};
use serde_json::json;
use testkit::Script;
use tests::{House, processes, skip, soon, until};

const SESSIONS: usize = 1_000;
/// Sessions at once.
const AT_ONCE: usize = 25;

/// What a process holds.
#[derive(Clone, Copy, Debug)]
pub struct DaemonResources {
    pub descriptors: usize,
    pub threads: usize,
    memory: u64,
    pub children: usize,
}

pub fn held(pid: u32, memory: u64) -> DaemonResources {
    let children = processes::all()
        .iter()
        .filter(|process| process.ppid == pid)
        .count();
    DaemonResources {
        descriptors: processes::descriptors(pid),
        threads: processes::threads(pid),
        memory,
        children,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_short_sessions_leak_nothing() {
    if skip::unless_root("counting the daemon's descriptors") {
        return;
    }
    let script = Script::new()
        .calls("read_file", &json!({"path": "notes.txt"}))
        .says("Read.");
    let house = House::playing(&script);
    // An hundredth of a minute: finished sessions are evicted while others start.
    house.settings("[internal]\nevict_minutes = 0.01");
    house.files("//- notes.txt\nsome notes\n");
    let temporary = house.root().join("tmp");
    fs::create_dir(&temporary).expect("a directory");
    house.daemon_with(&[("TMPDIR", temporary.as_os_str())]);
    let daemon = house.daemon_pid().expect("a daemon");
    let client = house.client("driver", Role::Drive).await;
    let status = async || {
        client
            .call::<DaemonStatus>(&Empty {})
            .await
            .expect("a status")
    };
    let mut early = None;
    for round in 0..SESSIONS / AT_ONCE {
        let sessions = (0..AT_ONCE).map(|number| {
            let (client, mut params) = (client.clone(), house.create(&format!("{round}.{number}")));
            (params.options.kind, params.options.on_ask) =
                (Some(Kind::Headless), Some(OnAsk::Allow));
            async move {
                let created = client.call::<SessionCreate>(&params).await.expect("create");
                let wait = WaitParams {
                    session: created.pid.to_string(),
                    until: Until::Exit,
                    timeout_ms: None,
                };
                let waited = client.call::<SessionWait>(&wait).await.expect("wait");
                assert_eq!(waited.exit_code, 0);
            }
        });
        soon("a round of sessions", futures::future::join_all(sessions)).await;
        // The first rounds warm it up.
        if round == 3 {
            early = Some(held(daemon, status().await.memory_bytes));
        }
    }
    let early = early.expect("rounds");
    // Loaded sessions are evicted after a while.
    let (begun, mut loaded) = (Instant::now(), Vec::new());
    while loaded.last() != Some(&0) && begun.elapsed() < tests::BOUND {
        loaded.push(status().await.sessions.loaded);
        loaded.dedup();
        tests::wait::step().await;
    }
    assert_eq!(
        loaded.last(),
        Some(&0),
        "sessions that are done go from memory: {loaded:?}"
    );
    // Threads for what blocks end when they were idle for some seconds.
    let late = until("the threads of the rush to end", || {
        let late = held(daemon, 0);
        (late.threads <= early.threads).then_some(late)
    });
    let memory = status().await.memory_bytes;
    assert_eq!(status().await.sessions.stored, SESSIONS as u64);
    assert!(
        late.descriptors <= early.descriptors + 8,
        "descriptors: {early:?} {late:?}"
    );
    assert!(
        late.children <= early.children,
        "children: {early:?} {late:?}"
    );
    assert!(
        memory <= early.memory + 48_000_000,
        "memory: {early:?} {memory}"
    );
    let open: Vec<_> = fs::read_dir(house.home().join("open"))
        .expect("the markers")
        .flatten()
        .collect();
    assert!(open.is_empty(), "markers: {open:?}");
    let entries = |dir: &std::path::Path| -> Vec<_> {
        let entries = fs::read_dir(dir).expect("a directory").flatten();
        entries.map(|entry| entry.path()).collect()
    };
    // The daemon has one of its own, in which each session has one.
    let own = entries(&temporary);
    assert_eq!(own.len(), 1, "temporary files: {own:?}");
    let files = until("the sessions' files to go", || {
        let files: Vec<_> = own.iter().flat_map(|dir| entries(dir)).collect();
        files.is_empty().then_some(files)
    });
    assert!(files.is_empty(), "temporary files: {files:?}");
    // One that is long gone from memory is there when it is wanted.
    let _ = house
        .reasonix(&["run", "-s", "1", "once more"])
        .expect_code(0);
    assert_eq!(house.log(proto::Pid(1)).check().count("turn.ended"), 2);
}
