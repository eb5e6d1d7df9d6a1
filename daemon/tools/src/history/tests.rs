use std::sync::Arc;
use std::sync::Mutex;

use contract::history::PastMessages;
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::CallStatus;
use proto::params::history::{HistoryMessage, IndexingProgress};
use proto::{Pid, SessionId};
use serde_json::json;

use super::*;
use crate::scene::Scene;

/// Answers, and remembers what it was asked for.
#[derive(Default)]
struct Past {
    found: SearchOutput,
    asked: Mutex<Vec<SearchParams>>,
}

impl PastMessages for Past {
    fn search(&self, params: SearchParams) -> BoxFuture<'static, Result<SearchOutput, Failure>> {
        self.asked.lock().unwrap().push(params);
        let found = self.found.clone();
        async { Ok(found) }.boxed()
    }

    fn around(&self, params: AroundParams) -> BoxFuture<'static, Result<AroundOutput, Failure>> {
        let message = |seq: u64| HistoryMessage {
            seq: Seq(seq),
            turn: Some(1),
            at: Stamp(0),
            role: MessageRole::User,
            text: "long ".repeat(10_000),
            cut: 0,
        };
        async move {
            Ok(AroundOutput {
                session: SessionId::new(),
                pid: Pid(3),
                name: None,
                cwd: "/w".into(),
                messages: (0..params.before.unwrap() + 1 + params.after.unwrap())
                    .map(message)
                    .collect(),
                earlier: true,
                later: false,
                indexing: None,
            })
        }
        .boxed()
    }
}

fn hit() -> Hit {
    Hit {
        session: SessionId::new(),
        pid: Pid(3),
        name: None,
        cwd: "/w".into(),
        seq: Seq(7),
        turn: Some(1),
        at: Stamp(0),
        role: MessageRole::User,
        text: "the red fox".into(),
        marks: vec![(4, 7)],
    }
}

async fn run(past: &Arc<Past>, arguments: serde_json::Value) -> Outcome {
    let mut scene = Scene::new();
    scene.context.history = Arc::clone(past) as Arc<dyn PastMessages>;
    let tool = crate::typed_tool::tool::<History>(spec());
    let arguments = match tool.parse(arguments.as_object().unwrap()) {
        Ok(arguments) => arguments,
        Err(refused) => return refused,
    };
    tool.run(arguments, scene.context.clone()).await
}

#[tokio::test]
async fn hits_are_lines_with_their_place_and_marks() {
    let past = Arc::new(Past {
        found: SearchOutput {
            hits: vec![hit()],
            matches: 4,
            ..SearchOutput::default()
        },
        ..Past::default()
    });
    let done = run(
        &past,
        json!({"query": "red", "role": "user", "since": "2026-01-01"}),
    )
    .await;
    assert_eq!(
        done.text,
        "session 3 seq 7 1970-01-01 user: the **red** fox\n4 messages match; these are the best."
    );
    let asked = past.asked.lock().unwrap()[0].clone();
    assert_eq!(
        (asked.scope, asked.role, asked.limit),
        (SearchScope::Project, Some(MessageRole::User), LIMIT)
    );
    assert!(asked.since.is_some());
}

#[tokio::test]
async fn no_hits_and_an_unfinished_index_say_how_to_go_on() {
    let past = Arc::new(Past::default());
    let none = run(&past, json!({"query": "red"})).await;
    assert!(
        none.text.contains("rarer words") && none.text.contains("`global`"),
        "{}",
        none.text
    );
    let past = Arc::new(Past {
        found: SearchOutput {
            indexing: Some(IndexingProgress { sessions: 1, of: 9 }),
            ..SearchOutput::default()
        },
        ..Past::default()
    });
    let building = run(&past, json!({"query": "red"})).await;
    assert!(
        building.text.contains("1 of 9 sessions") && !building.text.contains("No message"),
        "{}",
        building.text
    );
}

#[tokio::test]
async fn a_window_is_bounded() {
    let past = Arc::new(Past::default());
    let done = run(
        &past,
        json!({"session": "3", "seq": 7, "before": 99, "after": 99}),
    )
    .await;
    assert_eq!(done.status, CallStatus::Ok);
    assert!(
        done.text.chars().count() < WINDOW_MAX + 2_000,
        "{}",
        done.text.len()
    );
    assert_eq!(done.text.matches("--- seq").count(), 21);
    assert!(done.text.contains("more characters"));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let past = Arc::new(Past::default());
    for wrong in [
        json!({}),
        json!({"session": "3"}),
        json!({"query": "x", "seq": 3, "session": "3"}),
        json!({"query": "x", "scope": "universe"}),
        json!({"query": "x", "since": "soon"}),
    ] {
        let refused = run(&past, wrong.clone()).await;
        assert_eq!(refused.status, CallStatus::Refused, "{wrong}");
    }
    assert!(past.asked.lock().unwrap().is_empty());
}
