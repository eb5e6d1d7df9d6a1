//! Views of sessions that ran agree with what happened.

use proto::params::session::{
    EventParams, InspectOutput, InspectParams, InspectPart, StepParams, StepPart, StepsParams,
};
use proto::record::Rules;
use proto::state::Kind;
use proto::{ErrorName, Seq};

use super::*;
use crate::ResidencyLimits;
use crate::tests::world::World;

const TALK: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"I mark again.","tool_calls":[{"name":"mark","arguments":{"command":"two"}}]}
{"text":"In short: marked."}
{"text":"Again."}"#;

fn of(session: &str, n: u64, part: StepPart) -> StepParams {
    StepParams {
        session: session.into(),
        n,
        part,
        offset: 0,
    }
}

fn steps(session: &str) -> StepsParams {
    StepsParams {
        session: session.into(),
        turn: None,
        after: 0,
        limit: 0,
    }
}

#[test]
fn pieces_join_to_the_text_and_are_cut_between_characters() {
    for text in [
        String::new(),
        "€".repeat(400_000),
        format!("a{}", "€".repeat(PIECE)),
    ] {
        let (mut whole, mut at, mut pieces) = (String::new(), Some(0), 0);
        while let Some(offset) = at {
            let piece = piece(&text, offset).expect("it starts there");
            assert!(piece.text.len() <= PIECE);
            assert_eq!(piece.total, text.len() as u64);
            whole.push_str(&piece.text);
            at = piece.next;
            pieces += 1;
        }
        assert_eq!(whole, text);
        assert_eq!(pieces, text.len().div_ceil(PIECE - 2).max(1));
    }
    for offset in [1, 7, u64::MAX] {
        let refused = piece("€€", offset).expect_err("no piece starts there");
        assert_eq!(refused.name, ErrorName::InvalidParams);
    }
    assert_eq!(piece("€€", 6).expect("the end").text, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_made_again_byte_for_byte() {
    // Two steps a turn: the third answer has to sum up, without tools.
    let mut world = World::with(TALK, 2, ResidencyLimits::default());
    let session = world.begin("mark it").await;
    world.prompt(&session, "again").await.unwrap();
    let sent = world.sent();
    assert_eq!(sent.len(), 4);
    assert!(sent[2].ends_with(r#""tool_choice":"none"}"#));
    for life in 0..2 {
        for (n, body) in (1..).zip(&sent) {
            let piece = world
                .supervisor
                .step(&of(&session, n, StepPart::Sent))
                .await;
            assert_eq!(piece.unwrap().text, *body, "life {life}, step {n}");
        }
        world.restart().await;
    }
    let refused = world
        .supervisor
        .step(&of(&session, 5, StepPart::Sent))
        .await;
    assert_eq!(refused.unwrap_err().name, ErrorName::NotFound);
    let refused = world.supervisor.step(&of(&session, 0, StepPart::Got)).await;
    assert_eq!(refused.unwrap_err().name, ErrorName::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_told_without_loading_the_session() {
    let mut world = World::new(TALK);
    let session = world.begin("mark it").await;
    let live = world.supervisor.steps(&steps(&session)).await.unwrap();
    world.restart().await;
    let reported = world.supervisor.steps(&steps(&session)).await.unwrap();
    assert_eq!(reported, live);
    let texts: Vec<_> = reported
        .steps
        .iter()
        .map(|step| step.text.as_str())
        .collect();
    assert_eq!(texts, ["I mark.", "I mark again.", "In short: marked."]);
    assert_eq!(reported.steps[0].calls[0].subject, "one");
    let bytes: Vec<_> = reported
        .steps
        .iter()
        .map(|step| step.request_bytes)
        .collect();
    let sent: Vec<_> = world.sent().iter().map(|body| body.len() as u64).collect();
    assert_eq!(bytes, sent);

    let got = world.supervisor.step(&of(&session, 1, StepPart::Got)).await;
    let got = got.unwrap().text;
    let lines: Vec<serde_json::Value> = got
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["text"], "I mark.");
    assert_eq!(
        (&lines[1]["tool"], &lines[1]["text"]),
        (&"mark".into(), &"marked".into())
    );
    assert!(
        world.supervisor.handles().is_empty(),
        "looking loads nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_event_is_had_in_pieces() {
    let world = World::new(TALK);
    let words = "€".repeat(300_000);
    let session = world.begin(&words).await;
    let read = |seq, offset| EventParams {
        session: session.clone(),
        seq: Seq(seq),
        offset,
    };
    // The first records are the session, then its first prompt.
    let (mut whole, mut at) = (String::new(), Some(0));
    while let Some(offset) = at {
        let piece = world.supervisor.event(&read(2, offset)).await.unwrap();
        assert!(piece.text.len() <= PIECE);
        whole.push_str(&piece.text);
        at = piece.next;
    }
    let data: serde_json::Value = serde_json::from_str(&whole).expect("it is JSON");
    assert_eq!(data["text"], words);
    for unknown in [0, 9_999] {
        let refused = world.supervisor.event(&read(unknown, 0)).await;
        assert_eq!(refused.unwrap_err().name, ErrorName::NotFound);
    }
    let refused = world.supervisor.event(&read(2, u64::MAX)).await;
    assert_eq!(refused.unwrap_err().name, ErrorName::InvalidParams);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_part_of_a_session_can_be_looked_at() {
    let mut world = World::new(TALK);
    let mut request = world.create_params("mark it", Kind::Interactive);
    request.options.labels = Some(vec!["red".into()]);
    request.options.rules = Some(Rules {
        deny: vec!["Bash(rm:*)".into()],
        ..Rules::default()
    });
    let handle = world.create(request).await.unwrap();
    handle
        .wait(proto::params::session::Until::Turn)
        .await
        .unwrap();
    let session = handle.pid().to_string();
    drop(handle);
    let part = |part| InspectParams {
        session: session.clone(),
        part,
    };
    let status = world.supervisor.inspect(&part(InspectPart::Status)).await;
    let InspectOutput::Status {
        summary,
        queue,
        settings,
        clients,
    } = status.unwrap()
    else {
        panic!("another part")
    };
    assert_eq!(summary.pid.to_string(), session);
    assert!(queue.is_empty() && clients.is_empty());
    let setting = |name: &str| settings.get(name).map(String::as_str);
    assert_eq!(setting("labels"), Some(r#"["red"]"#));
    assert_eq!(setting("approval_mode"), Some(r#""yolo""#));
    assert_eq!(setting("deny"), Some(r#"["Bash(rm:*)"]"#));
    assert_eq!(setting("max_steps"), Some("0"));
    // As it is by itself: not a setting in force.
    assert_eq!((setting("effort"), setting("samples")), (None, None));

    let context = world.supervisor.inspect(&part(InspectPart::Context)).await;
    let InspectOutput::Context {
        window,
        prefix_bytes,
        messages,
        message_bytes,
        ..
    } = context.unwrap()
    else {
        panic!("another part")
    };
    assert_eq!((window, messages), (1_000, 6));
    let request = world.sent().last().expect("it was asked").len() as u64;
    assert!(prefix_bytes > 100 && message_bytes > 100 && message_bytes < request + 1_000);

    let env = world
        .supervisor
        .inspect(&part(InspectPart::Env))
        .await
        .unwrap();
    let InspectOutput::Env { hidden, lost, .. } = env else {
        panic!("another part")
    };
    assert_eq!(hidden, ["PROJECT_WORD", "VENDOR_KEY"]);
    assert!(lost.is_empty());
    world.restart().await;
    let env = world
        .supervisor
        .inspect(&part(InspectPart::Env))
        .await
        .unwrap();
    let InspectOutput::Env {
        shown,
        hidden,
        lost,
        ..
    } = env
    else {
        panic!("another part")
    };
    assert_eq!(shown.get("PATH").map(String::as_str), Some("/bin"));
    assert_eq!(hidden, ["VENDOR_KEY"], "somebody keeps keys");
    assert_eq!(lost, ["PROJECT_WORD"], "it was in memory only");

    for other in [InspectPart::Files, InspectPart::Children] {
        match world.supervisor.inspect(&part(other)).await.unwrap() {
            InspectOutput::Files { changed } => assert!(changed.is_empty()),
            InspectOutput::Children { children } => assert!(children.is_empty()),
            output => panic!("another part: {output:?}"),
        }
    }
}
