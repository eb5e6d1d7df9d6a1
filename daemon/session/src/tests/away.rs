//! While you were away: the summary is the same whether it was kept while running or made from the log.

use proptest::prelude::*;
use proto::item::{CallStatus, Display};
use proto::live::Away;
use proto::outcome::{OutcomeKind, TurnEnded, UsageTotals};
use proto::params::session::Until;
use proto::record::{Level, Notice, ToolFinished, Usage};
use proto::{Body, CallId, Record, Seq, Stamp};
use store::sidecar::{self, Sidecar};

use super::fixtures::prompt;
use super::house::{House, Scripted, begin, next_of, until, watching};
use crate::viewers::absence::{Absence, AwayEvent, AwaySummary, Left};
use crate::{Follow, SessionHandle};

fn ended(outcome: OutcomeKind) -> Body {
    Body::TurnEnded(TurnEnded {
        outcome,
        reason: None,
        text: String::new(),
        error: None,
        usage: UsageTotals::default(),
        tree_usage: None,
        steps: 0,
        tool_calls: 0,
        duration_ms: 0,
        denied: Vec::new(),
        hooks: false,
        supervised: false,
    })
}

fn finished(display: Display) -> Body {
    Body::ToolFinished(ToolFinished {
        changed: Vec::new(),
        known: Vec::new(),
        reported: Vec::new(),
        skill: None,
        agent: None,
        call: CallId("c".into()),
        tool: "t".into(),
        status: CallStatus::Ok,
        duration_ms: 1,
        display,
        spill: None,
    })
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        prop_oneof![
            Just(OutcomeKind::Completed),
            Just(OutcomeKind::Failed),
            Just(OutcomeKind::Interrupted)
        ]
        .prop_map(ended),
        (0..150_u32).prop_map(|file| finished(Display::Diff {
            path: format!("f{file}"),
            diff: String::new(),
            added: 1,
            removed: 0,
        })),
        Just(finished(Display::Command {
            exit_code: Some(0),
            signal: None,
            output_bytes: 0,
            output_lines: 1,
            head: String::new(),
            tail: String::new(),
            sandbox_stopped: false,
            stopped: None,
        })),
        Just(finished(Display::Line { text: "x".into() })),
        (0..100_u64, proptest::option::of(0..9_u64)).prop_map(|(tokens, cost)| {
            Body::Usage(Usage {
                prompt_tokens: tokens,
                cost_micros: cost,
                ..usage()
            })
        }),
        Just(Body::Notice(Notice {
            level: Level::Info,
            text: String::new(),
        })),
    ]
}

fn usage() -> Usage {
    serde_json::from_value(serde_json::json!({
        "step": 1, "item": "m1.2", "attempt": 1, "reported": true, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 3,
        "reasoning_tokens": 1, "cost_micros": null, "request_bytes": 0, "first_token_ms": 0, "duration_ms": 0,
    }))
    .unwrap()
}

proptest! {
    #[test]
    fn a_summary_is_the_same_from_life_and_from_the_log(
        steps in prop::collection::vec((body(), 0..4_u64, prop::bool::weighted(0.05)), 1..200),
    ) {
        let (mut absence, mut records, mut durable, mut left) =
            (Absence::default(), Vec::new(), Seq(0), None);
        for (number, (body, lag, leaves)) in (1..).zip(steps) {
            let record = Record { seq: Seq(number), at: Stamp(0), turn: None, body };
            absence.appended(&record);
            records.push(record);
            // The disk lags by some records, and never goes back.
            durable = durable.max(Seq(number.saturating_sub(lag)));
            absence.settled(durable);
            if leaves {
                absence.returned();
                prop_assert_eq!(absence.send(true), None, "somebody is there");
                let now = Left { since: Stamp(7), seq: durable };
                absence.left(now);
                left = Some(now);
            }
        }
        absence.settled(Seq(records.len() as u64));
        let from_log = left.map(|left| {
            let left = Left::read(&left.to_json()).unwrap();
            let mut summary = AwaySummary::new(left);
            records.iter().filter_map(AwayEvent::of).for_each(|bit| summary.apply(&bit));
            summary
        });
        let from_log = Absence::new(from_log);
        prop_assert_eq!(absence.send(true), from_log.send(true));
        prop_assert_eq!(absence.send(false), from_log.send(false));
        if let Some(away) = absence.send(true) {
            let mut files = away.files.clone();
            files.sort();
            files.dedup();
            prop_assert!(files.len() == away.files.len() && files.len() <= 100);
        }
    }
}

async fn come(handle: &SessionHandle, interactive: bool) -> (Option<Away>, Follow) {
    let (_, mut follow) = handle.attach(watching(interactive)).await.unwrap();
    let mut snapshot = next_of(&mut follow, "snapshot").await;
    let away = snapshot.get_mut("away").map(serde_json::Value::take);
    (
        away.map(|away| serde_json::from_value(away).unwrap()),
        follow,
    )
}

async fn work(house: &House, text: &str) {
    house
        .handle
        .prompt(prompt(text), "test".into())
        .await
        .unwrap();
    house.handle.wait(Until::Turn).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn returning_user_gets_an_away_summary_even_after_a_crash() {
    let script =
        "{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"three\"}\n{\"text\":\"four\"}";
    let mut house = begin(script, "first");
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    let (away, person) = come(&house.handle, true).await;
    assert_eq!(away, None, "nobody ever left");
    work(&house, "second").await;
    let left = house.handle.summary().seq;
    drop(person);
    until("they have left", || house.handle.summary().attached == 0).await;
    let (away, follow) = come(&house.handle, true).await;
    assert_eq!(away, None, "nothing happened");
    drop(follow);
    until("they have left", || house.handle.summary().attached == 0).await;

    work(&house, "third").await;
    let (away, machine) = come(&house.handle, false).await;
    let away = away.unwrap();
    assert_eq!((away.turns, away.seq), (1, left));
    assert_eq!(away.outcome, Some(OutcomeKind::Completed));
    drop(machine);
    until("the file is written", || {
        sidecar::get(&house.dir(), Sidecar::Seen).is_some_and(|seen| {
            Left::read(&seen).is_some_and(|seen| seen.seq == left && seen.since == away.since)
        })
    })
    .await;
    house.crash(Scripted::new(script), None).await;
    let (again, person) = come(&house.handle, true).await;
    assert_eq!(again.as_ref(), Some(&away), "from the log it is the same");
    let (other, _second) = come(&house.handle, true).await;
    assert_eq!(other, None, "somebody is there already");
    drop(person);
    work(&house, "fourth").await;
    let (none, _) = come(&house.handle, true).await;
    assert_eq!(none, None, "the second person is still there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_a_person_saw_end_is_not_told_after_a_crash() {
    let script = "{\"text\":\"one\"}\n{\"text\":\"two\"}";
    let mut house = begin(script, "first");
    house.gate.open();
    let (_, _person) = come(&house.handle, true).await;
    house.handle.wait(Until::Turn).await.unwrap();
    work(&house, "second").await;
    let ended = house.records().into_iter().rev();
    let ended = ended.filter(|record| matches!(record.body, Body::TurnEnded(_)));
    let ended = ended.map(|record| record.seq).next().unwrap();
    until("it is noted", || {
        let seen = sidecar::get(&house.dir(), Sidecar::Seen).and_then(|seen| Left::read(&seen));
        seen.is_some_and(|seen| seen.seq >= ended)
    })
    .await;
    house.crash(Scripted::new(script), None).await;
    assert_eq!(come(&house.handle, true).await.0, None);
}
