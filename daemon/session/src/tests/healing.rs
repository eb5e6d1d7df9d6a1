//! A session whose disk, directory or provider was gone goes on without a restart.

use std::sync::atomic::Ordering;
use std::time::Duration;

use proto::hello::Role;
use proto::params::session::{AttachParams, Until};
use proto::state::Kind;
use proto::{ErrorName, Seq};

use super::fixtures::prompt;
use super::house::until;
use super::world::World;
use crate::{Attach, Following};

const TALK: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}
{"text":"Again."}
{"text":"And again."}
{"text":"Still here."}"#;

fn attach(after: u64) -> Attach {
    Attach {
        name: "watcher".into(),
        role: Role::Watch,
        interactive: false,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: Some(Seq(after)),
            epoch: Some(1),
            ephemeral: false,
            backlog: None,
        },
    }
}

fn names(world: &World, session: proto::SessionId) -> Vec<String> {
    let entries = std::fs::read_dir(world.home.session_dir(session)).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

/// Lets the disk fail under a prompt, repairs it, and prompts again: once by each kind of failure.
async fn heals(break_it: impl Fn(&World, bool), copied: bool) {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    let handle = world.supervisor.find(&session).await.unwrap();
    let id = handle.id();
    let before = handle.summary().seq;
    let (_, mut follow) = handle.attach(attach(0)).await.unwrap();

    break_it(&world, true);
    let refused = handle
        .prompt(prompt("lost"), "test".into())
        .await
        .unwrap_err();
    assert_eq!(refused.name, ErrorName::Storage);
    assert!(
        refused.hint.contains("continues once its log is writable"),
        "{}",
        refused.hint
    );
    let mut seen = Seq(0);
    let ended = loop {
        match follow.next().await {
            Following::Event { seq, .. } => seen = seq.unwrap_or(seen),
            Following::Ended(failure) => break failure,
        }
    };
    assert_eq!(ended.unwrap().name, ErrorName::Storage);
    assert_eq!(seen, before, "nobody sees an unacknowledged record");
    // It is still broken: reading goes on, and new work is refused with the reason.
    let refused = world.prompt(&session, "lost too").await.unwrap_err();
    assert_eq!(refused.name, ErrorName::Storage);
    let (_, mut reader) = world
        .supervisor
        .find(&session)
        .await
        .unwrap()
        .attach(attach(0))
        .await
        .unwrap();
    assert!(matches!(
        reader.next().await,
        Following::Event {
            seq: Some(Seq(1)),
            ..
        }
    ));

    break_it(&world, false);
    // Clients ask as often as they like; an attempt is made once a second.
    let due = tokio::time::Instant::now() + Duration::from_secs(10);
    while let Err(refused) = world.prompt(&session, "go on").await {
        assert_eq!(refused.name, ErrorName::Storage, "{refused}");
        assert!(tokio::time::Instant::now() < due, "{refused}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let handle = world.supervisor.find(&session).await.unwrap();
    assert_eq!(handle.summary().read_only, None);
    assert_eq!(
        names(&world, id)
            .iter()
            .any(|name| name.contains(".failed-")),
        copied
    );

    // Who attaches again with its cursor misses nothing, and sees nothing that was refused.
    let (_, mut follow) = handle.attach(attach(seen.0)).await.unwrap();
    let end = handle.summary().seq;
    let mut reported = String::new();
    while seen < end {
        let Following::Event { seq, text } = follow.next().await else {
            panic!("the subscription ended")
        };
        if let Some(seq) = seq {
            assert_eq!(seq, seen.next());
            seen = seq;
            reported.push_str(&text);
        }
    }
    assert!(
        reported.contains("is writable again"),
        "users are notified: {reported}"
    );
    assert!(
        reported.contains("go on") && !reported.contains("lost"),
        "{reported}"
    );
    let scan = store::log::read(&world.home.session_dir(id), &mut |_| {}).unwrap();
    assert_eq!((scan.invalid, scan.last), (None, end));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_waited_for() {
    let full = |world: &World, broken| world.disk.full.store(broken, Ordering::SeqCst);
    heals(full, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_session_on_a_full_disk_is_refused_with_the_place_that_is_full() {
    let world = World::new(r#"{"text":"One."}"#);
    world.disk.full.store(true, Ordering::SeqCst);
    let params = world.create_params("first", Kind::Headless);
    let refused = world.create(params).await.map(drop).unwrap_err();
    assert_eq!(refused.name, proto::ErrorName::Storage);
    let home = world.home.root().display();
    assert_eq!(
        (refused.message, refused.hint.as_str()),
        (
            format!("There is no space left on the disk of `{home}`."),
            "Free some space there, then try again."
        )
    );
    world.disk.full.store(false, Ordering::SeqCst);
    world.begin("again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failed_sync_the_log_goes_on_in_a_new_file() {
    let fails = |world: &World, broken| world.disk.sync_fails.store(broken, Ordering::SeqCst);
    heals(fails, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headless_run_goes_on_by_itself_when_the_disk_is_back() {
    let world = World::new(
        r#"{"text":"I mark.","delay_ms":300,"tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}"#,
    );
    let handle = world
        .create(world.create_params("mark it", Kind::Headless))
        .await
        .unwrap();
    let session = handle.pid().to_string();
    world.disk.sync_fails.store(true, Ordering::SeqCst);
    until("the disk fails under it", || {
        handle.summary().read_only.is_some()
    })
    .await;
    assert!(
        world.outside.runs.lock().unwrap().is_empty(),
        "nothing starts that is not on disk"
    );
    world.disk.sync_fails.store(false, Ordering::SeqCst);
    // Nobody asks for it: it comes back by itself.
    drop(handle);
    until("it is back", || {
        world
            .supervisor
            .handles()
            .first()
            .is_some_and(|handle| handle.summary().read_only.is_none())
    })
    .await;
    let handle = world.supervisor.find(&session).await.unwrap();
    let done = handle.wait(Until::Exit).await.unwrap();
    assert_eq!(done.exit_code, 0, "{done:?}");
    assert_eq!(*world.outside.runs.lock().unwrap(), ["one"], "it ran once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_could_not_be_made_leaves_nothing() {
    let world = World::new(TALK);
    world.disk.sync_fails.store(true, Ordering::SeqCst);
    let request = world.create_params("mark it", Kind::Interactive);
    let Err(refused) = world.create(request.clone()).await else {
        panic!("it was acknowledged")
    };
    assert_eq!(refused.name, ErrorName::Storage);
    assert!(!world.home.session_dir(request.session).exists());
    world.disk.sync_fails.store(false, Ordering::SeqCst);
    let handle = world.create(request).await.unwrap();
    handle.wait(Until::Turn).await.unwrap();
    assert_eq!(handle.summary().read_only, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_could_not_be_opened_for_writing_is_tried_again() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    world.disk.sync_fails.store(true, Ordering::SeqCst);
    world.restart().await;
    let refused = world.prompt(&session, "lost").await.unwrap_err();
    assert_eq!(refused.name, ErrorName::Storage);
    world.disk.sync_fails.store(false, Ordering::SeqCst);
    // Nobody has to ask for it.
    until("it is back", || {
        let loaded = world.supervisor.handles();
        loaded
            .first()
            .is_some_and(|handle| handle.summary().read_only.is_none())
    })
    .await;
    world.prompt(&session, "again").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_deleted_is_not_made_again() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    let handle = world.supervisor.find(&session).await.unwrap();
    let dir = world.home.session_dir(handle.id());
    std::fs::remove_dir_all(&dir).unwrap();
    for _ in 0..2 {
        let refused = world.prompt(&session, "again").await.unwrap_err();
        assert_eq!(refused.name, ErrorName::Storage, "{refused}");
        assert!(refused.message.contains("was deleted"), "{refused}");
        assert!(refused.hint.contains("doctor"), "{}", refused.hint);
    }
    assert!(!dir.join(store::log::LOG_NAME).exists());
}

/// Prompts until it is taken: a session looks again at most once a second.
async fn accepted(world: &World, session: &str, text: &str) {
    let due = std::time::Instant::now() + Duration::from_secs(20);
    while let Err(refused) = world.prompt(session, text).await {
        assert!(std::time::Instant::now() < due, "{refused}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_and_a_provider_that_are_back_are_seen_at_the_next_prompt() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    // A name that leads nowhere: nothing can be resolved against it.
    std::fs::remove_dir(&world.project).unwrap();
    std::os::unix::fs::symlink(&world.project, &world.project).unwrap();
    world.restart().await;
    let refused = world.prompt(&session, "again").await.unwrap_err();
    assert_eq!(refused.name, ErrorName::Storage);
    assert!(
        refused.hint.contains("Create the directory again"),
        "{}",
        refused.hint
    );
    std::fs::remove_file(&world.project).unwrap();
    std::fs::create_dir(&world.project).unwrap();
    accepted(&world, &session, "again").await;

    world.outside.provider_gone.store(true, Ordering::SeqCst);
    world.restart().await;
    let refused = world.prompt(&session, "and again").await.unwrap_err();
    assert_eq!(refused.name, ErrorName::InvalidConfig);
    world.outside.provider_gone.store(false, Ordering::SeqCst);
    accepted(&world, &session, "and again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_hangs_at_the_start_keeps_no_other_from_coming_back() {
    let mut world = World::new(TALK);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let session = world.begin("mark it").await;
        let id = world.supervisor.find_id(&session).await.unwrap();
        store::markers::mark(&world.home, id).unwrap();
        ids.push(id);
    }
    ids.sort();
    world.supervisor.shutdown().await;
    for id in &ids {
        store::markers::mark(&world.home, *id).unwrap();
    }
    // The one that is taken first.
    *world.outside.hangs.lock().unwrap() = Some(ids[0]);
    world.supervisor = world.supervise();
    let supervisor = std::sync::Arc::clone(&world.supervisor);
    let recovering = tokio::spawn(async move { supervisor.recover().await });
    until("the other is back", || {
        world.supervisor.slots.loaded(ids[1]).is_some()
    })
    .await;
    assert!(!recovering.is_finished());
    *world.outside.hangs.lock().unwrap() = None;
    recovering.await.unwrap();
    assert!(world.supervisor.slots.loaded(ids[0]).is_some());
}
