//! Logs that end before a record that had been saved: cut at the border of a line, or restored from a backup.

use std::path::PathBuf;

use proto::hello::Role;
use proto::params::session::AttachParams;
use proto::{Body, ErrorName, Seq};

use super::fixtures;
use super::house::until;
use super::world::World;
use crate::{Attach, SessionHandle};

const TALK: &str = r#"{"text":"One."}
{"text":"Two."}
{"text":"Three."}
{"text":"Four."}"#;

/// The log of the only session.
fn log(world: &World) -> PathBuf {
    let session = world.home.session_ids().unwrap().remove(0);
    world.home.session_dir(session).join("log.jsonl")
}

/// Removes whole lines from the end.
fn cut(log: &std::path::Path, lines: usize) -> u64 {
    let bytes = std::fs::read(log).unwrap();
    let all: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let left = all.len() - lines;
    std::fs::write(log, all[..left].concat()).unwrap();
    left as u64
}

/// A client that had seen so much, in this epoch.
async fn follow(handle: &SessionHandle, after: u64, epoch: u64) -> Result<(), ErrorName> {
    let attach = Attach {
        name: "watcher".into(),
        role: Role::Watch,
        interactive: false,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: Some(Seq(after)),
            epoch: Some(epoch),
            ephemeral: false,
            backlog: None,
        },
    };
    let attached = handle.attach(attach).await;
    attached.map(drop).map_err(|failure| failure.name)
}

/// Stops the daemon, changes the log, starts it, and returns the session.
async fn with_log(world: &mut World, session: &str, change: impl FnOnce()) -> SessionHandle {
    world.supervisor.shutdown().await;
    change();
    world.supervisor = world.supervise();
    world.supervisor.recover().await;
    world.supervisor.find(session).await.unwrap()
}

/// What the log says of losses.
fn losses(world: &World) -> Vec<u64> {
    let records = fixtures::records(log(world).parent().unwrap());
    let known = records.iter().filter_map(|record| match &record.body {
        Body::SessionShortened(shortened) => Some(shortened.known.0),
        _ => None,
    });
    known.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_cut_at_a_line_is_noticed_and_old_cursors_are_refused() {
    let mut world = World::new(TALK);
    let session = world.begin("one").await;
    world.prompt(&session, "two").await.unwrap();
    let path = log(&world);
    let mut left = 0;
    let handle = with_log(&mut world, &session, || left = cut(&path, 3)).await;
    // Within the remaining log, so that only the epoch shows the loss.
    assert_eq!(follow(&handle, 2, 1).await, Err(ErrorName::CursorStale));
    let epoch = handle.epoch();
    assert!(epoch > 1);
    assert_eq!(follow(&handle, 2, epoch).await, Ok(()));
    until("the session to say so", || {
        let records = fixtures::records(path.parent().unwrap());
        records.iter().any(
            |record| matches!(&record.body, Body::Notice(notice) if notice.text.contains("backup")),
        )
    })
    .await;
    assert_eq!(losses(&world), [left + 3]);

    // It goes on, and nothing more is said in its next lives, in which the epoch stays.
    world.prompt(&session, "three").await.unwrap();
    let handle = with_log(&mut world, &session, || ()).await;
    assert_eq!(handle.epoch(), epoch);
    assert_eq!(follow(&handle, 2, 1).await, Err(ErrorName::CursorStale));
    assert_eq!(losses(&world).len(), 1);

    // The same cut again leads to another epoch.
    let handle = with_log(&mut world, &session, || {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        cut(&path, lines - usize::try_from(left).unwrap());
    })
    .await;
    assert!(handle.epoch() > epoch);
    assert_eq!(follow(&handle, 2, epoch).await, Err(ErrorName::CursorStale));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_restored_from_a_backup_is_noticed_also_after_a_rebuild_of_the_index() {
    let mut world = World::new(TALK);
    let session = world.begin("one").await;
    let path = log(&world);
    let backup = std::fs::read(&path).unwrap();
    world.prompt(&session, "two").await.unwrap();
    let known = world.supervisor.summary(&session).await.unwrap().seq;
    world.supervisor.shutdown().await;
    std::fs::write(&path, backup).unwrap();
    world.supervisor = world.supervise();
    world.supervisor.rebuild().await.unwrap();
    let handle = world.supervisor.find(&session).await.unwrap();
    assert_eq!(follow(&handle, 2, 1).await, Err(ErrorName::CursorStale));
    until("the loss in the log", || losses(&world) == [known.0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_whole_keeps_its_epoch() {
    let mut world = World::new(TALK);
    let session = world.begin("one").await;
    for _ in 0..2 {
        let handle = with_log(&mut world, &session, || ()).await;
        assert_eq!(follow(&handle, 2, 1).await, Ok(()));
    }
    assert!(losses(&world).is_empty());
}
