//! The queue follows the records.

use proto::RequestId;
use proto::item::UserMessage;
use proto::record::{PromptEdited, PromptMoved, PromptQueued, PromptUnqueued};

use super::*;

fn id(number: u8) -> PromptId {
    format!("00000000-0000-7000-8000-0000000000{number:02}")
        .parse()
        .unwrap()
}

fn queued(number: u8) -> Body {
    Body::PromptQueued(PromptQueued {
        untyped: Vec::new(),
        from: None,
        added: None,
        references: None,
        on_ask: None,
        prompt_id: id(number),
        text: number.to_string(),
        steer: false,
        by: "x".into(),
        request_id: Some(RequestId::new()),
    })
}

fn texts(queue: &Queue) -> Vec<&str> {
    let texts = queue.waiting().iter().map(|queued| queued.text.as_str());
    texts.collect()
}

#[test]
fn prompts_come_change_move_and_go() {
    let mut queue = Queue::default();
    for number in 1..=4 {
        queue.fold(Seq(number.into()), &queued(number));
    }
    let by = || "y".to_owned();
    let moved = |number, position| {
        Body::PromptMoved(PromptMoved {
            prompt_id: id(number),
            position,
            by: by(),
            request_id: None,
        })
    };
    queue.fold(Seq(5), &moved(4, 0));
    queue.fold(Seq(6), &moved(1, 99));
    assert_eq!(texts(&queue), ["4", "2", "3", "1"]);
    let edited = PromptEdited {
        untyped: Vec::new(),
        references: None,
        prompt_id: id(2),
        text: "two".into(),
        steer: true,
        by: by(),
        request_id: None,
    };
    queue.fold(Seq(7), &Body::PromptEdited(edited));
    queue.fold(
        Seq(8),
        &Body::PromptUnqueued(PromptUnqueued { prompt_id: id(3) }),
    );
    let user: UserMessage = serde_json::from_value(
        serde_json::json!({"item": "m1.1", "prompt_id": id(4), "text": "4"}),
    )
    .unwrap();
    queue.fold(Seq(9), &Body::User(user));
    assert_eq!(texts(&queue), ["two", "1"]);
    assert!(queue.waiting()[0].steer);
}

#[test]
fn queue_ignores_events_that_its_snapshot_includes() {
    let mut queue = Queue::new(Seq(9), Vec::new());
    queue.fold(Seq(9), &queued(1));
    assert!(texts(&queue).is_empty());
    queue.fold(Seq(10), &queued(2));
    assert_eq!(texts(&queue), ["2"]);
}
