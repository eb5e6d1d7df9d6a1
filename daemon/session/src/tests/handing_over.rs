//! A hand-over: turns sleep before their next step, and the next daemon goes on with them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use proto::hello::Role;
use proto::outcome::OutcomeKind;
use proto::params::session::{CreateParams, PromptParams, Until, When};
use proto::state::{Kind, OnAsk};
use proto::{Body, ErrorName, SessionId, SessionOptions};
use store::home::Home;

use super::fixtures::prompt;
use super::house::{Scripted, a_child, begin_with, gone, until, watching};
use crate::{Client, ProfileChoice, SessionHandle, Supervisor};

const MARKS: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}"#;

struct Daemon {
    home: Arc<Home>,
    supervisor: Arc<Supervisor>,
    script: Arc<Scripted>,
}

/// A daemon over this home.
fn daemon(dir: &Path) -> Daemon {
    daemon_that_plays(dir, MARKS)
}

fn daemon_that_plays(dir: &Path, cassette: &str) -> Daemon {
    let home = Arc::new(Home::open(&dir.join("home")).unwrap());
    let catalog = Arc::new(store::catalog::Catalog::open(&home).unwrap().catalog);
    let pids = Arc::new(store::pids::PidCounter::open(&home).unwrap());
    let script = Arc::new(Scripted::new(cassette));
    let assembly = Arc::clone(&script) as Arc<dyn crate::Assembly>;
    let supervisor = Supervisor::new(Arc::clone(&home), catalog, pids, assembly).unwrap();
    Daemon {
        home,
        supervisor,
        script,
    }
}

fn request(dir: &Path) -> CreateParams {
    CreateParams {
        session: SessionId::new(),
        cwd: dir.to_string_lossy().into_owned(),
        prompt: Some("mark it".into()),
        options: SessionOptions {
            on_ask: Some(OnAsk::Allow),
            ..SessionOptions::default()
        },
        ..CreateParams::default()
    }
}

fn client() -> Client {
    Client {
        name: "test".into(),
    }
}

/// Waits until a session in mid-turn takes no more work because it is handed over.
async fn takes_nothing(handle: &SessionHandle) {
    let now = || PromptParams {
        when: When::Now,
        ..prompt("more")
    };
    for _ in 0..10_000 {
        // Refused either way: the turn runs.
        match handle.prompt(now(), "test".into()).await.unwrap_err().name {
            ErrorName::ShuttingDown => return,
            name => assert_eq!(name, ErrorName::Busy),
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("the session takes work although it is handed over");
}

/// A daemon with one session whose call runs until it gets leave.
async fn with_a_running_call(dir: &Path) -> (Daemon, SessionId) {
    let daemon = daemon(dir);
    daemon.script.leave.forget_permits(1_000);
    let made = daemon
        .supervisor
        .create(request(dir), &client(), &ProfileChoice::default())
        .await
        .unwrap();
    until("the call runs", || {
        !daemon.script.runs.lock().unwrap().is_empty()
    })
    .await;
    (daemon, made.session)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_sleeps_behind_its_running_call_and_goes_on_in_the_next_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let (old, session) = with_a_running_call(dir.path()).await;
    let handle = old.supervisor.find(&session.to_string()).await.unwrap();
    let supervisor = Arc::clone(&old.supervisor);
    let leaving = tokio::spawn(async move { supervisor.hand_over(Duration::from_secs(30)).await });
    takes_nothing(&handle).await;
    let other = old
        .supervisor
        .create(request(dir.path()), &client(), &ProfileChoice::default())
        .await;
    assert_eq!(other.unwrap_err().name, ErrorName::ShuttingDown);
    assert!(!leaving.is_finished(), "it went before the call had ended");
    old.script.leave.add_permits(1_000);
    leaving.await.unwrap();
    let refused = handle.prompt(prompt("more"), "test".into()).await;
    assert_eq!(refused.unwrap_err().name, ErrorName::ShuttingDown);
    assert!(store::markers::list(&old.home).unwrap().contains(&session));
    assert_eq!(*old.script.runs.lock().unwrap(), ["one"]);
    drop(handle);
    drop(old.supervisor);

    let new = daemon(dir.path());
    new.supervisor.recover().await;
    let handle = new.supervisor.find(&session.to_string()).await.unwrap();
    let ended = handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(ended.outcome, OutcomeKind::Completed);
    assert_eq!(ended.text, "Marked.");
    assert!(new.script.runs.lock().unwrap().is_empty(), "it ran again");
    new.supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_suspended_when_that_is_on_disk_and_takes_nothing_meanwhile() {
    let script = Scripted::new(MARKS);
    script.leave.forget_permits(1_000);
    let mut house = begin_with(script, "mark it", |_, _| {});
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    until("the call runs", || !house.runs.lock().unwrap().is_empty()).await;
    let handle = house.handle.clone();
    let suspending = tokio::spawn(async move { handle.suspend(false).await });
    takes_nothing(&house.handle).await;
    assert!(!suspending.is_finished(), "a call still runs");
    house.gate.close();
    let begun = house.gate.begun();
    house.script.leave.add_permits(1_000);
    until("its end is on its way to the disk", || {
        house.gate.begun() > begun
    })
    .await;
    assert!(!suspending.is_finished(), "it was not on disk");
    house.gate.open();
    tokio::time::timeout(Duration::from_secs(10), suspending)
        .await
        .unwrap()
        .unwrap();
    let records = house.records();
    assert!(
        records
            .iter()
            .any(|record| matches!(record.body, Body::SessionSuspended(_)))
    );
    assert_eq!(house.handle.summary().seq, records.last().unwrap().seq);
    house.shutdown().await;
    assert_eq!(
        house.records().len(),
        records.len(),
        "its turn was not ended"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_does_not_sleep_in_time_is_cut_off_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (old, session) = with_a_running_call(dir.path()).await;
    let handle = old.supervisor.find(&session.to_string()).await.unwrap();
    let leaving = old.supervisor.hand_over(Duration::from_millis(50));
    tokio::time::timeout(Duration::from_secs(30), leaving)
        .await
        .unwrap();
    drop(handle);
    drop(old.supervisor);
    let new = daemon(dir.path());
    new.supervisor.recover().await;
    let handle = new.supervisor.find(&session.to_string()).await.unwrap();
    let ended = handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(ended.outcome, OutcomeKind::Completed);
    assert_eq!(ended.text, "Marked.");
    assert!(new.script.runs.lock().unwrap().is_empty(), "it ran again");
    new.supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_cut_off_by_a_hand_over_is_continued_by_the_next_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let slow = r#"{"text":"one two three four five six seven","chunk_bytes":4,"delay_ms":300}"#;
    let old = daemon_that_plays(dir.path(), slow);
    let made = old
        .supervisor
        .create(request(dir.path()), &client(), &ProfileChoice::default())
        .await;
    let session = made.unwrap().session;
    let partial = old.home.session_dir(session).join("partial.json");
    until("some of it is kept", || partial.exists()).await;
    let leaving = old.supervisor.hand_over(Duration::from_millis(1));
    tokio::time::timeout(Duration::from_secs(30), leaving)
        .await
        .unwrap();
    drop(old.supervisor);

    let new = daemon_that_plays(dir.path(), r#"{"text":" and the rest"}"#);
    new.supervisor.recover().await;
    let handle = new.supervisor.find(&session.to_string()).await.unwrap();
    let ended = handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(ended.outcome, OutcomeKind::Completed);
    let kept = ended.text.strip_suffix(" and the rest").unwrap();
    assert!(kept.starts_with("one "), "{kept}");
    new.supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_at_rest_is_handed_over_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let old = daemon(dir.path());
    let made = old
        .supervisor
        .create(request(dir.path()), &client(), &ProfileChoice::default())
        .await
        .unwrap();
    let handle = old
        .supervisor
        .find(&made.session.to_string())
        .await
        .unwrap();
    handle.wait(Until::Turn).await.unwrap();
    let leaving = old.supervisor.hand_over(Duration::from_secs(3_600));
    tokio::time::timeout(Duration::from_secs(30), leaving)
        .await
        .unwrap();
    assert!(
        store::markers::list(&old.home).unwrap().is_empty(),
        "nothing is left to do"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_stays_open_when_clients_go_because_the_daemon_does() {
    let script = format!("{}\n{MARKS}", r#"{"text":"one"}"#);
    let mut house = begin_with(Scripted::new(&script), "first", |created, _| {
        created.options.kind = Some(Kind::Headless);
        created.options.on_ask = Some(OnAsk::Sandboxed);
    });
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    let mut attach = watching(true);
    attach.role = Role::Approve;
    let (_, follow) = house.handle.attach(attach).await.unwrap();
    house
        .handle
        .prompt(prompt("mark it"), "ann".into())
        .await
        .unwrap();
    until("it asks", || !house.handle.interactions().is_empty()).await;
    // A command in the background that takes its time keeps the session while the clients go.
    house.shells.spawned(a_child());
    until("the child is shown", || {
        house.handle.summary().children == 1
    })
    .await;
    let stops = || house.script.stops.0.lock().unwrap().len();
    let (handle, before) = (house.handle.clone(), stops());
    let leaving = tokio::spawn(async move { handle.shutdown().await });
    until("it is stopped", || stops() > before).await;
    drop(follow);
    until("the client is gone", || {
        house.handle.summary().attached == 0
    })
    .await;
    house.shells.exited(gone());
    leaving.await.unwrap();
    assert_eq!(house.handle.interactions().len(), 1);
    let records = house.records();
    assert!(
        !records
            .iter()
            .any(|record| matches!(record.body, Body::InteractionResolved(_)))
    );
}
