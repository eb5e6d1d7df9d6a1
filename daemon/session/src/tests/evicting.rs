//! Sessions that rest leave memory, and come back as they were.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::FutureExt;
use proto::RequestId;
use proto::hello::Role;
use proto::params::session::{
    AttachParams, InspectOutput, InspectParams, InspectPart, Signal, Until,
};
use proto::state::{Kind, State};

use super::fixtures::prompt;
use super::house::until;
use super::world::World;
use crate::supervisor::slots::Left;
use crate::{Attach, ResidencyLimits};

const TALK: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}
{"text":"Again."}
{"text":"And again."}"#;

/// As if everybody had been away for long.
fn later() -> Instant {
    Instant::now() + Duration::from_secs(3_600)
}

fn attach() -> Attach {
    Attach {
        name: "watcher".into(),
        role: Role::Watch,
        interactive: false,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: None,
            epoch: None,
            ephemeral: false,
            backlog: None,
        },
    }
}

/// Evicts until the session has left: lists may learn of its rest a moment later.
async fn evict(world: &World) {
    let due = Instant::now() + Duration::from_secs(10);
    while world.supervisor.slots.len() > 0 {
        assert!(Instant::now() < due, "it does not leave");
        world.supervisor.evict_idle(later()).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn evicted_session_continues_its_conversation_after_a_reload() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    let before = world.supervisor.summary(&session).await.unwrap();
    evict(&world).await;
    assert_eq!(world.supervisor.slots.len(), 0);
    let listed = world.supervisor.summary(&session).await.unwrap();
    assert_eq!(listed, before, "lists know it as it was");
    assert!(
        world.supervisor.handles().is_empty(),
        "listing loads nothing"
    );

    world.prompt(&session, "again").await.unwrap();
    evict(&world).await;
    world.restart().await;
    world.prompt(&session, "and again").await.unwrap();
    let sent = world.sent();
    assert_eq!(sent.len(), 4);
    for pair in sent.windows(2) {
        let messages = |body: &str| body.rsplit_once("],\"tool_choice\"").unwrap().0.to_owned();
        assert!(
            pair[1].starts_with(&messages(&pair[0])),
            "{}\n{}",
            pair[0],
            pair[1]
        );
    }
    let log = store::log::read(&world.home.session_dir(before.session), &mut |_| {});
    assert_eq!(log.unwrap().invalid, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn environment_and_signal_ids_survive_an_eviction() {
    let world = World::new(TALK);
    let request = world.create_params("mark it", Kind::Interactive);
    let handle = world.create(request).await.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let session = handle.pid().to_string();
    let id = Some(RequestId::new());
    handle.signal(Signal::Int, id, "ann".into()).await.unwrap();
    drop(handle);
    evict(&world).await;

    let params = InspectParams {
        session: session.clone(),
        part: InspectPart::Env,
    };
    let InspectOutput::Env {
        shown,
        hidden,
        lost,
        ..
    } = world.supervisor.inspect(&params).await.unwrap()
    else {
        panic!("another part")
    };
    assert_eq!(shown.get("PATH").map(String::as_str), Some("/bin"));
    assert_eq!(hidden, ["PROJECT_WORD", "VENDOR_KEY"]);
    assert_eq!(lost, Vec::<String>::new());
    // The same signal again is the same signal: it hits no turn of the new life.
    let handle = world.supervisor.find(&session).await.unwrap();
    handle.prompt(prompt("again"), "test".into()).await.unwrap();
    assert!(
        !handle
            .signal(Signal::Int, id, "ann".into())
            .await
            .unwrap()
            .delivered
    );
    let ended = handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(ended.outcome, proto::outcome::OutcomeKind::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_memory_survives_an_eviction() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    evict(&world).await;
    world.prompt(&session, "again").await.unwrap();
    assert_eq!(*world.outside.memory.restored.lock().unwrap(), ["a word"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_waited_for_or_working_session_is_not_evicted() {
    let world = World::new("{\"text\":\"a slow answer\",\"delay_ms\":300}");
    let handle = world
        .create(world.create_params("go", Kind::Interactive))
        .await
        .unwrap();
    let session = handle.pid().to_string();
    drop(handle);
    assert_eq!(world.supervisor.evict_idle(later()).await, 0, "it works");
    let handle = world.supervisor.find(&session).await.unwrap();
    let waiting = tokio::spawn(async move { handle.wait(Until::Exit).await });
    let handle = world.supervisor.find(&session).await.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    drop(handle);
    assert_eq!(
        world.supervisor.evict_idle(later()).await,
        0,
        "somebody waits"
    );
    let handle = world.supervisor.find(&session).await.unwrap();
    let (_, follow) = handle.attach(attach()).await.unwrap();
    drop(handle);
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(
        world.supervisor.evict_idle(later()).await,
        0,
        "somebody is attached"
    );
    assert_eq!(
        world.supervisor.evict_idle(Instant::now()).await,
        0,
        "it rests for a moment only"
    );
    drop(follow);
    evict(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_requested_during_eviction_stays_usable() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    for round in 0..50 {
        let supervisor = std::sync::Arc::clone(&world.supervisor);
        let evicting = tokio::spawn(async move { supervisor.evict_idle(later()).await });
        let comers = (0..4).map(|_| {
            let (supervisor, session) = (std::sync::Arc::clone(&world.supervisor), session.clone());
            tokio::spawn(async move {
                let handle = supervisor.find(&session).await?;
                handle.wait(Until::Turn).await.map(|_| handle.summary().seq)
            })
        });
        for comer in futures::future::join_all(comers).await {
            let seq = comer
                .unwrap()
                .unwrap_or_else(|failure| panic!("{round}: {failure}"));
            assert!(seq.0 > 5);
        }
        evicting.await.unwrap();
    }
    let read_only = world.supervisor.summary(&session).await.unwrap().read_only;
    assert_eq!(read_only, None);
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_short_sessions_leave_nothing_behind() {
    let world = World::with(
        "{\"text\":\"Done.\"}",
        0,
        ResidencyLimits {
            idle: Duration::from_secs(3_600),
            idle_max: 8,
        },
    );
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let (mut fds, mut alive) = (0, 0);
    for number in 0..1_000 {
        let handle = world
            .create(world.create_params("go", Kind::Headless))
            .await
            .unwrap();
        handle.wait(Until::Exit).await.unwrap();
        drop(handle);
        if number == 100 {
            (fds, alive) = (descriptors(), tasks());
        }
        assert!(
            world.supervisor.handles().len() <= 40,
            "{number}: {} are loaded",
            world.supervisor.handles().len()
        );
    }
    until("only as many stay as may", || {
        let (supervisor, now) = (&world.supervisor, Instant::now());
        futures::FutureExt::now_or_never(supervisor.evict_idle(now));
        supervisor.handles().len() <= 8
    })
    .await;
    // Other tests of this process have descriptors of their own; hundreds of sessions would have many more.
    assert!(descriptors() < fds + 300, "{fds} became {}", descriptors());
    assert!(tasks() < alive + 100, "{alive} became {}", tasks());
    evict(&world).await;
    assert_eq!(world.supervisor.counts().await.unwrap().stored, 1_000);
}

/// Takes a session out of memory that in the end stays, when it gets leave to say so.
fn begin_to_part(
    world: &World,
    says: &std::sync::Arc<tokio::sync::Notify>,
) -> crate::supervisor::slots::End {
    let leave = |handle: crate::SessionHandle| {
        let says = std::sync::Arc::clone(says);
        async move {
            says.notified().await;
            Left::Stays(handle)
        }
        .boxed()
    };
    let all = |alone: Vec<crate::SessionHandle>| alone.iter().map(|one| one.id()).collect();
    let mut leaving = world.supervisor.slots.part(all, leave);
    leaving.pop().expect("nobody holds it").1
}

#[tokio::test(flavor = "multi_thread")]
async fn session_that_refuses_eviction_during_shutdown_still_ends() {
    let world = World::new(TALK);
    world.begin("mark it").await;
    let says = std::sync::Arc::default();
    let end = begin_to_part(&world, &says);
    let supervisor = std::sync::Arc::clone(&world.supervisor);
    let stopping = tokio::spawn(async move { supervisor.shutdown().await });
    until("no more work is taken", || {
        world.supervisor.refuse_when_closing().is_err()
    })
    .await;
    says.notify_one();
    stopping.await.unwrap();
    let Left::Stays(handle) = end.await else {
        panic!("it left")
    };
    let refused = handle.prompt(prompt("more"), "test".into()).await;
    assert_eq!(refused.unwrap_err().name, proto::ErrorName::ShuttingDown);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_that_refuses_eviction_does_not_replace_a_newer_one() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    let says = std::sync::Arc::default();
    let end = begin_to_part(&world, &says);
    says.notify_one();
    let Left::Stays(old) = end.clone().await else {
        panic!("it left")
    };
    // Before the one that asked it puts it back, it is wanted again, and then has to go.
    let there = world.supervisor.find(&session).await.unwrap();
    let gone = || async { Left::Gone }.boxed();
    let retired = world.supervisor.slots.retire(&there, gone);
    assert!(retired.is_some());
    world.supervisor.slots.stay(&old, &end);
    assert!(world.supervisor.slots.loaded(old.id()).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn session_loaded_during_shutdown_is_closed_and_refuses_prompts() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    let handle = world.supervisor.find(&session).await.unwrap();
    // As one whose load has begun before, and ends after the others were stopped.
    let unseen = || async { Left::Gone }.boxed();
    assert!(world.supervisor.slots.retire(&handle, unseen).is_some());
    world.supervisor.shutdown().await;
    let late = world.supervisor.unless_closing(handle.clone()).await;
    assert_eq!(late.err().unwrap().name, proto::ErrorName::ShuttingDown);
    let refused = handle.prompt(prompt("more"), "test".into()).await;
    assert_eq!(refused.unwrap_err().name, proto::ErrorName::ShuttingDown);
}

#[tokio::test(flavor = "multi_thread")]
async fn load_cancelled_by_its_client_loses_no_session_state() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    evict(&world).await;
    let id = world.supervisor.find_id(&session).await.unwrap();
    // Looked at once, so that it has begun; then the client is gone.
    assert!(world.supervisor.load(id).now_or_never().is_none());
    let params = InspectParams {
        session,
        part: InspectPart::Env,
    };
    let InspectOutput::Env { hidden, lost, .. } = world.supervisor.inspect(&params).await.unwrap()
    else {
        panic!("another part")
    };
    assert_eq!(hidden, ["PROJECT_WORD", "VENDOR_KEY"]);
    assert_eq!(lost, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_session_keeps_its_summary_after_eviction() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    let handle = world.supervisor.find(&session).await.unwrap();
    let paused = handle.signal(Signal::Pause, None, "ann".into()).await;
    assert!(paused.unwrap().delivered);
    handle.prompt(prompt("later"), "ann".into()).await.unwrap();
    let before = handle.summary();
    assert_eq!(before.queued, 1);
    drop(handle);
    evict(&world).await;
    assert_eq!(world.supervisor.summary(&session).await.unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_prompt_does_not_keep_an_exited_session_in_memory() {
    let mut world =
        World::new("{\"text\":\"a slow answer\",\"delay_ms\":2000}\n{\"text\":\"Again.\"}");
    let handle = world
        .create(world.create_params("go", Kind::Interactive))
        .await;
    let handle = handle.unwrap();
    let session = handle.pid().to_string();
    handle.prompt(prompt("later"), "ann".into()).await.unwrap();
    handle
        .signal(Signal::Term, None, "ann".into())
        .await
        .unwrap();
    handle.wait(Until::Exit).await.unwrap();
    let before = handle.summary();
    assert_eq!((before.state, before.queued), (State::Exited, 1));
    drop(handle);
    evict(&world).await;
    assert_eq!(world.supervisor.summary(&session).await.unwrap(), before);
    let markers = || store::markers::list(&world.home).unwrap();
    assert!(
        markers().is_empty(),
        "nor is it looked at by the next start"
    );
    // Neither looking at it nor another life of the daemon sets it going.
    let handle = world.supervisor.find(&session).await.unwrap();
    assert_eq!(handle.summary().queued, 1);
    drop(handle);
    world.restart().await;
    let handle = world.supervisor.find(&session).await.unwrap();
    assert_eq!(handle.summary().state, State::Exited);
    drop(handle);
    // Whoever says more finds both in their order.
    world.prompt(&session, "now").await.unwrap();
    let handle = world.supervisor.find(&session).await.unwrap();
    until("both turns", || handle.summary().queued == 0).await;
    assert_eq!(handle.summary().turns, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn looser_approval_mode_is_reported_once_per_daemon_run() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    world.outside.strict.store(true, Ordering::SeqCst);
    world.restart().await;
    for text in ["again", "and again"] {
        world.prompt(&session, text).await.unwrap();
        evict(&world).await;
    }
    let id = world.supervisor.find_id(&session).await.unwrap();
    let mut reported = 0;
    let count = &mut |raw: &store::format::RawRecord<'_>| {
        reported += usize::from(raw.data.get().contains("keeps its approval mode"));
    };
    store::log::read(&world.home.session_dir(id), count).unwrap();
    assert_eq!(reported, 1);
}
