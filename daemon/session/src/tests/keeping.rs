//! The shown part of an answer is kept beside the log until the log has the answer.

use std::sync::Arc;

use proto::item::Finish;
use proto::live::{Delta, Live, Partial};
use proto::params::session::Until;
use proto::state::WaitingFor;
use proto::{Body, ItemId, Pid, Seq, Stamp};
use serde_json::Value;
use store::sidecar::{self, Sidecar};
use turn::RecoverPolicy;

use super::house::{House, Scripted, begin, next_of, until, watching};
use crate::viewers::fanout::Fanout;

/// 18 characters, three each 400 ms.
const SLOW: &str =
    r#"{"text":"abcdefghijklmnopqr","reasoning":"hm","chunk_bytes":3,"delay_ms":400}"#;

fn kept(house: &House) -> Option<Value> {
    let content = sidecar::get(&house.dir(), Sidecar::Partial)?;
    Some(serde_json::from_slice(&content).expect("the file is whole: it is put in place"))
}

fn kept_text(house: &House) -> String {
    let kept = kept(house);
    let text = kept.as_ref().and_then(|kept| kept["text"].as_str());
    text.unwrap_or_default().to_owned()
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_while_it_grows_and_dropped_when_the_log_has_it() {
    let mut house = begin(SLOW, "first");
    house.gate.open();
    let (_, mut follow) = house.handle.attach(watching(true)).await.unwrap();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    until("something is kept", || kept(&house).is_some()).await;
    let first = kept(&house).unwrap();
    assert_eq!(first["item"], "m1.2");
    assert_eq!(first["reasoning"], "hm");
    let early = kept_text(&house);
    until("more is kept", || kept_text(&house).len() > early.len()).await;
    let late = kept_text(&house);
    assert!("abcdefghijklmnopqr".starts_with(&late), "{late}");
    let mut seen = String::new();
    while seen.len() < late.len() {
        seen += next_of(&mut follow, "delta.text").await["text"]
            .as_str()
            .unwrap();
    }
    assert!(seen.starts_with(&late), "kept: {late}, seen: {seen}");
    house.handle.wait(Until::Turn).await.unwrap();
    until("it is dropped", || kept(&house).is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_at_once_touches_no_side_file() {
    let mut house = begin(r#"{"text":"at once"}"#, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
    house.shutdown().await;
    let names: Vec<_> = std::fs::read_dir(house.dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        !names.iter().any(|name| name == "partial.json"),
        "{names:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn partial_answer_shown_before_a_crash_is_logged_after_the_restart() {
    for policy in [RecoverPolicy::Idle, RecoverPolicy::Continue] {
        let mut house = begin(SLOW, "first");
        house.gate.open();
        (&mut house.created_on_disk).await.unwrap().unwrap();
        until("something is kept", || kept_text(&house).len() > 3).await;
        house.crash(Scripted::new(SLOW), Some(policy)).await;
        let text = kept_text(&house);
        until("the log has it, and the file is gone", || {
            kept(&house).is_none()
        })
        .await;
        let records = house.records();
        let cut_off = records.iter().find_map(|record| match &record.body {
            Body::Assistant(message) if message.finish == Finish::Interrupted => Some(message),
            _ => None,
        });
        let cut_off = cut_off.expect("an interrupted answer");
        assert_eq!(cut_off.item, ItemId("m1.2".into()));
        assert!("abcdefghijklmnopqr".starts_with(&cut_off.text));
        assert!(cut_off.text.len() > 3 && cut_off.text.len() >= text.len());
        house.handle.wait(Until::Turn).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn partial_answer_of_a_failed_attempt_is_discarded() {
    let broken = SLOW.replace("\"delay_ms\":400", "\"delay_ms\":400,\"fault\":\"cut\"");
    let mut house = begin(&broken, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    until("something is kept", || !kept_text(&house).is_empty()).await;
    until("it waits for its next try", || {
        house.handle.summary().waiting_for == Some(WaitingFor::Retry)
    })
    .await;
    until("nothing of it counts", || kept(&house).is_none()).await;
    house
        .crash(Scripted::new(SLOW), Some(RecoverPolicy::Continue))
        .await;
    house.handle.wait(Until::Turn).await.unwrap();
    let answers: Vec<_> = house
        .records()
        .into_iter()
        .filter_map(|record| match record.body {
            Body::Assistant(message) => Some((message.text, message.finish)),
            _ => None,
        })
        .collect();
    assert_eq!(answers, [("abcdefghijklmnopqr".to_owned(), Finish::Stop)]);
}

#[tokio::test(start_paused = true)]
async fn unreadable_sidecar_files_are_ignored_after_a_crash() {
    let mut house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    sidecar::put(&house.dir(), Sidecar::Partial, b"{\"item\":\"m").unwrap();
    sidecar::put(&house.dir(), Sidecar::Seen, b"\0").unwrap();
    house
        .crash(Scripted::new(""), Some(RecoverPolicy::Continue))
        .await;
    until("it is cleared away", || {
        sidecar::get(&house.dir(), Sidecar::Partial).is_none()
    })
    .await;
    assert_eq!(house.handle.summary().turns, 1);
}

#[test]
fn only_released_text_of_the_current_attempt_counts_as_seen() {
    let mut fanout = Fanout::new(Pid(1), crate::viewers::queue_bytes::AllQueues::default());
    let item = ItemId("m1.2".into());
    let delta = |offset, text: &str| Delta {
        item: item.clone(),
        call: None,
        offset,
        text: text.into(),
    };
    let at = Stamp(0);
    fanout.live(Seq(5), at, None, &Live::Text(delta(0, "abc")));
    fanout.live(Seq(5), at, None, &Live::Reasoning(delta(0, "hm")));
    fanout.release(Seq(4));
    assert_eq!(fanout.seen_of(&item), (0, 0), "held back for the disk");
    fanout.release(Seq(5));
    assert_eq!(fanout.seen_of(&item), (3, 2));
    let superseded = Partial {
        item: item.clone(),
        superseded: true,
    };
    fanout.live(Seq(5), at, None, &Live::Partial(superseded));
    fanout.live(Seq(6), at, None, &Live::Text(delta(0, "x")));
    fanout.release(Seq(5));
    assert_eq!(
        fanout.seen_of(&item),
        (0, 0),
        "another try counts from nothing"
    );
    fanout.release(Seq(6));
    assert_eq!(fanout.seen_of(&item), (1, 0));
    assert_eq!(fanout.seen_of(&ItemId("m1.3".into())), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn sidecar_ends_with_the_newest_value() {
    let dir = tempfile::tempdir().unwrap();
    let mut file =
        crate::journal::sidecar::SidecarFile::new(dir.path().to_path_buf(), Sidecar::Seen);
    let newest = |number: u64| number.to_string().into_bytes();
    for number in 0..1_000 {
        file.put(newest(number));
    }
    file.rest().await;
    assert_eq!(sidecar::get(dir.path(), Sidecar::Seen), Some(newest(999)));
    file.put(newest(1_000));
    file.remove();
    file.rest().await;
    assert_eq!(sidecar::get(dir.path(), Sidecar::Seen), None);
    // A directory that is gone fails nobody.
    let path = Arc::new(dir.path().to_path_buf());
    drop(dir);
    file.put(newest(1));
    file.rest().await;
    assert!(!path.exists());
}
