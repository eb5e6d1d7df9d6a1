//! The end of sessions: deleted one by one, or because they are old; and their remains.

use std::fs;
use std::time::Duration;

use proto::hello::Role;
use proto::params::history::{
    AroundParams, DeleteParams, ExportFormat, ExportParams, ForkParams, SearchParams, StatsParams,
};
use proto::params::session::{AttachParams, Signal, Until};
use proto::{ErrorName, SessionId, Stamp};

use super::fixtures::prompt;
use super::world::World;
use crate::{Attach, Following, KeyKeeper};

const TALK: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}
{"text":"Second."}
{"text":"Third."}"#;

fn confirmed(session: &str) -> DeleteParams {
    DeleteParams {
        session: session.into(),
        confirm: true,
    }
}

async fn requests(world: &World) -> u64 {
    let all = StatsParams::default();
    world
        .supervisor
        .stats(all)
        .await
        .unwrap()
        .total
        .usage
        .requests
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_session_also_deletes_its_stored_keys() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    let id: SessionId = world.supervisor.find_id(&session).await.unwrap();
    let kept = |world: &World| world.outside.keeper.restore(Some(id)).len();
    assert_eq!(kept(&world), 1);
    // Not loaded since: its keys are with the keeper alone.
    world.restart().await;
    world.supervisor.delete(&confirmed(&session)).await.unwrap();
    assert_eq!(kept(&world), 0);
}

/// A moment so many days from now.
fn in_days(days: i64) -> Stamp {
    Stamp(Stamp::now().0 + days * 24 * 60 * 60 * 1000)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_session_is_gone_and_its_usage_stays() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    let other = world.begin("mark it").await;
    let before = requests(&world).await;
    assert_eq!(before, 4);
    let asked = DeleteParams {
        confirm: false,
        ..confirmed(&session)
    };
    let refused = world.supervisor.delete(&asked).await.unwrap_err();
    assert_eq!(refused.name, ErrorName::ConfirmNeeded);
    assert_eq!(refused.details["turns"], 1);
    assert!(refused.details["bytes"].as_u64().unwrap() > 100);
    let gone = world.supervisor.delete(&confirmed(&session)).await.unwrap();
    assert_eq!(gone.pid.to_string(), session);
    assert!(gone.bytes > 100);
    assert!(!world.home.session_dir(gone.session).exists());
    for _ in 0..2 {
        let again = world
            .supervisor
            .delete(&confirmed(&session))
            .await
            .unwrap_err();
        assert_eq!(again.name, ErrorName::NotFound);
        assert_eq!(requests(&world).await, before);
        world.restart().await;
    }
    let stats = world
        .supervisor
        .stats(StatsParams::default())
        .await
        .unwrap();
    let keys: Vec<_> = stats.sessions.iter().map(|row| row.key.clone()).collect();
    assert_eq!(keys.len(), 2);
    assert!(keys.contains(&"deleted".to_owned()) && keys.contains(&other));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_works_or_waits_is_not_deleted() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    let handle = world.supervisor.find(&session).await.unwrap();
    handle
        .signal(Signal::Pause, None, "ann".into())
        .await
        .unwrap();
    handle.prompt(prompt("more"), "ann".into()).await.unwrap();
    let refused = world
        .supervisor
        .delete(&confirmed(&session))
        .await
        .unwrap_err();
    assert_eq!(refused.name, ErrorName::Busy);
    assert!(refused.hint.contains("reasonix kill"), "{}", refused.hint);
    handle
        .signal(Signal::Resume, None, "ann".into())
        .await
        .unwrap();
    handle.wait(Until::Turn).await.unwrap();
    world.supervisor.delete(&confirmed(&session)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_client_is_notified_of_the_deletion() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    let handle = world.supervisor.find(&session).await.unwrap();
    let attach = Attach {
        name: "watcher".into(),
        role: Role::Watch,
        interactive: true,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: None,
            epoch: None,
            ephemeral: true,
            backlog: None,
        },
    };
    let (_, mut follow) = handle.attach(attach).await.unwrap();
    world.supervisor.delete(&confirmed(&session)).await.unwrap();
    let ends = async {
        loop {
            if let Following::Ended(why) = follow.next().await {
                return why;
            }
        }
    };
    let why = tokio::time::timeout(Duration::from_secs(10), ends)
        .await
        .unwrap();
    assert_eq!(why, None);
    let again = world.supervisor.find(&session).await;
    assert_eq!(
        again.err().map(|failure| failure.name),
        Some(ErrorName::NotFound)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_outlives_its_origin() {
    let world = World::new(TALK);
    let origin = world.begin("mark it").await;
    let fork = ForkParams {
        kind: None,
        ephemeral: false,
        session: origin.clone(),
        fork: SessionId::new(),
        at_turn: None,
        name: None,
    };
    let made = world.supervisor.fork(fork.clone()).await.unwrap();
    world.supervisor.delete(&confirmed(&origin)).await.unwrap();
    world.prompt(&made.pid.to_string(), "go on").await.unwrap();
    assert_eq!(world.supervisor.fork(fork).await.unwrap(), made);
    assert_eq!(requests(&world).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_over_a_deletion_leaves_the_session_or_nothing() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    let id = world.supervisor.find_id(&session).await.unwrap();
    world.supervisor.shutdown().await;
    // Before the moment that counts: in the usage ledger already, and still there.
    crate::supervisor::stats::close_books(&world.home, id).unwrap();
    world.restart().await;
    assert_eq!(requests(&world).await, 2);
    world.supervisor.shutdown().await;
    // After it: the catalog does not know yet, and the files are still there.
    store::session_dirs::unpublish(&world.home, id)
        .unwrap()
        .unwrap();
    world.restart().await;
    world.supervisor.fill().await.unwrap();
    assert_eq!(requests(&world).await, 2);
    let gone = world.supervisor.find(&session).await;
    assert_eq!(
        gone.err().map(|failure| failure.name),
        Some(ErrorName::NotFound)
    );
    let due = std::time::Instant::now() + Duration::from_secs(10);
    while fs::read_dir(world.home.sessions()).unwrap().count() > 0 {
        assert!(
            std::time::Instant::now() < due,
            "the remains are not removed"
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_sessions_are_pruned_and_those_in_use_stay() {
    let mut world = World::new(TALK);
    let (old, paused) = (world.begin("mark it").await, world.begin("mark it").await);
    let handle = world.supervisor.find(&paused).await.unwrap();
    handle
        .signal(Signal::Pause, None, "ann".into())
        .await
        .unwrap();
    drop(handle);
    // As a daemon finds them that has not loaded them.
    world.restart().await;
    let prune = async |days, dry| {
        world
            .supervisor
            .prune(days, dry, in_days(10))
            .await
            .unwrap()
    };
    let none = prune(11, false).await;
    assert_eq!((none.sessions.len(), none.kept), (0, 0));
    let would = prune(9, true).await;
    let pids = |pruned: &proto::params::history::PruneOutput| -> Vec<String> {
        pruned
            .sessions
            .iter()
            .map(|gone| gone.pid.to_string())
            .collect()
    };
    assert_eq!((pids(&would), would.kept), (vec![old.clone()], 1));
    assert!(would.bytes > 100);
    let did = prune(9, false).await;
    assert_eq!((pids(&did), did.bytes), (vec![old.clone()], would.bytes));
    let left = world.supervisor.summary(&old).await;
    assert_eq!(
        left.err().map(|failure| failure.name),
        Some(ErrorName::NotFound)
    );
    assert_eq!(requests(&world).await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_covers_all_sessions_and_skips_one_with_a_damaged_log() {
    let world = World::new(TALK);
    let one = world.begin("look at the Needle").await;
    let other = world.begin("a needle here too").await;
    world.prompt(&one, "no such word").await.unwrap();
    let look = async |query: &str, limit| {
        let params = SearchParams {
            query: query.into(),
            limit,
            ..SearchParams::default()
        };
        world.supervisor.search(params).await.unwrap()
    };
    let found = look("NEEDLE", 0).await;
    let mut pids: Vec<_> = found.hits.iter().map(|hit| hit.pid.to_string()).collect();
    pids.sort();
    assert_eq!(
        (pids, found.complete),
        (vec![one.clone(), other.clone()], true)
    );
    assert_eq!(
        (found.hits[0].role.as_str(), found.hits[0].turn),
        ("user", Some(1))
    );
    let few = look("needle", 1).await;
    assert_eq!((few.hits.len(), few.matches, few.complete), (1, 2, false));
    assert_eq!(look("needle here", 0).await.hits[0].pid.to_string(), other);
    let around = world.supervisor.around(AroundParams {
        session: other.clone(),
        seq: look("needle here", 0).await.hits[0].seq,
        before: None,
        after: Some(1),
    });
    let around = around.await.unwrap();
    assert_eq!(around.messages[0].text, "a needle here too");
    assert_eq!((around.messages.len(), around.earlier), (2, false));
    // One with a damaged log hides no other.
    let id = world.supervisor.find_id(&other).await.unwrap();
    world.supervisor.shutdown().await;
    fs::write(
        world.home.session_dir(id).join("log.jsonl"),
        "\u{0}no log\n".repeat(3),
    )
    .unwrap();
    assert_eq!(look("needle", 0).await.hits.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_comes_in_pieces_that_fit_together() {
    let long = "word ".repeat(150_000);
    let world = World::new(&format!(
        "{{\"text\":\"{long}\"}}\n{{\"text\":\"Second.\"}}"
    ));
    let session = world.begin("say much").await;
    for format in [ExportFormat::Markdown, ExportFormat::Jsonl] {
        let (mut text, mut offset, mut pieces) = (String::new(), 0, 0);
        loop {
            let params = ExportParams {
                session: session.clone(),
                format,
                offset,
            };
            let piece = world.supervisor.export(&params).await.unwrap();
            text.push_str(&piece.text);
            pieces += 1;
            let Some(next) = piece.next else {
                assert_eq!(piece.total, text.len() as u64);
                break;
            };
            offset = next;
        }
        assert!(pieces > 1 && text.contains(long.trim()));
        if format == ExportFormat::Jsonl {
            for (line, seq) in text.lines().zip(1..) {
                let event: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(event["seq"], seq);
                assert_eq!(event["session"].to_string(), session);
                assert!(event.get("own").is_none() && event.get("fragment").is_none());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loaded_session_whose_last_line_is_damaged_or_gone_is_not_exported() {
    let world = World::new(TALK);
    let session = world.begin("say it").await;
    let id = world.supervisor.find(&session).await.unwrap().id();
    let log = world.home.session_dir(id).join("log.jsonl");
    let whole = std::fs::read(&log).unwrap();
    let mut damaged = whole.clone();
    // In the middle of the last line.
    let end = whole.len() - 1;
    let start = whole[..end]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    damaged[(start + end) / 2] ^= 1;
    for (bytes, why) in [
        (&damaged[..], ""),
        (&whole[..start], "records that were on disk are missing"),
    ] {
        std::fs::write(&log, bytes).unwrap();
        for format in [ExportFormat::Markdown, ExportFormat::Jsonl] {
            let params = ExportParams {
                session: session.clone(),
                format,
                offset: 0,
            };
            let failure = world.supervisor.export(&params).await.unwrap_err();
            let text = &failure.message;
            assert!(
                text.contains("is damaged after record") && text.contains(why),
                "{text}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logged_requests_are_counted_once_even_after_a_catalog_rebuild() {
    let world = World::new(TALK);
    let session = world.begin("mark it").await;
    for wanted in [2, 3, 4] {
        for _ in 0..2 {
            assert_eq!(requests(&world).await, wanted);
        }
        if wanted < 4 {
            world.prompt(&session, "more").await.unwrap();
        }
    }
    world.supervisor.rebuild().await.unwrap();
    assert_eq!(requests(&world).await, 4);
    let elsewhere = StatsParams {
        cwd: Some("/elsewhere".into()),
        ..StatsParams::default()
    };
    let none = world.supervisor.stats(elsewhere).await.unwrap();
    assert_eq!((none.total.usage.requests, none.days.len()), (0, 0));
    let days = world
        .supervisor
        .stats(StatsParams::default())
        .await
        .unwrap()
        .days;
    assert_eq!(days.len(), 1);
    assert_eq!(days[0].key, Stamp::now().to_string()[..10]);
}
