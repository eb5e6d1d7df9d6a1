use proptest::prelude::*;
use proto::{Event, Pid, Stamp};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;

fn event(seq: u64, kind: &str, data: &Value) -> DecodedEvent {
    Event {
        seq: Some(Seq(seq)),
        session: Pid(3),
        at: Stamp(0),
        turn: None,
        kind: kind.to_owned(),
        data: to_raw_value(data).unwrap(),
    }
    .into()
}

/// A log from short words: `u` a prompt, `s` steering, `a` an answer, `c` an answer of calls only, `f` a turn's end
/// that failed, `.` something else.
fn log(script: &str) -> Vec<DecodedEvent> {
    let record = |(index, word): (usize, char)| {
        let seq = index as u64 + 1;
        let text = format!("{word}{seq}");
        let user = |voice: &str| json!({"item": "m1.1", "text": text, "voice": voice});
        match word {
            'u' => event(seq, "message.user", &user("prompt")),
            's' => event(seq, "message.user", &user("steer")),
            'a' => event(
                seq,
                "message.assistant",
                &json!({"item": "m1.2", "text": text, "finish": "stop"}),
            ),
            'c' => event(
                seq,
                "message.assistant",
                &json!({"item": "m1.2", "text": "", "finish": "stop"}),
            ),
            'f' => event(seq, "turn.ended", &failed()),
            _ => event(seq, "notice", &json!({"level": "info", "text": text})),
        }
    };
    script.chars().enumerate().map(record).collect()
}

fn failed() -> Value {
    let usage = proto::outcome::UsageTotals::default();
    json!({"outcome": "failed", "text": "", "usage": usage, "steps": 1, "tool_calls": 0, "duration_ms": 1})
}

fn rewound(seq: u64, shown: &Value) -> DecodedEvent {
    event(
        seq,
        "session.rewound",
        &json!({"to_turn": 1, "what": "both", "shown": shown, "by": "ann"}),
    )
}

fn exchange(prompt: &str, answer: &str) -> Option<Exchange> {
    Some(Exchange {
        prompt: prompt.to_owned(),
        attached: Vec::new(),
        warnings: Vec::new(),
        answer: answer.to_owned(),
        ended: None,
    })
}

#[test]
fn the_last_prompt_and_the_last_words_to_it_are_found() {
    let found = |script: &str| PartialExchange::default().take(&log(script));
    assert_eq!(found("ua.uaca."), exchange("u4", "a7"));
    assert_eq!(found("uau.c"), exchange("u3", ""), "no answer yet");
    assert_eq!(
        found("uasac"),
        exchange("u1", "a4"),
        "steering is not a prompt"
    );
    assert_eq!(found("..."), None);
}

#[test]
fn outcome_of_an_earlier_turn_is_not_that_of_the_last_prompt() {
    let ended = |script: &str| PartialExchange::default().take(&log(script)).unwrap().ended;
    assert_eq!(ended("uafu"), None, "the turn before has failed");
    let end = ended("uauf").unwrap();
    assert_eq!(end.outcome, proto::outcome::OutcomeKind::Failed);
}

#[test]
fn last_exchange_excludes_messages_hidden_by_a_rewind() {
    let mut events = log("uauaua");
    events.push(rewound(7, &json!([[1, 4]])));
    assert_eq!(
        PartialExchange::default().take(&events),
        exchange("u3", "a4")
    );
    // Files only: the conversation is unchanged.
    let mut code = log("uaua");
    code.push(rewound(5, &Value::Null));
    assert_eq!(PartialExchange::default().take(&code), exchange("u3", "a4"));
    // And taken back.
    events.push(rewound(8, &json!([[1, 6]])));
    assert_eq!(
        PartialExchange::default().take(&events),
        exchange("u5", "a6")
    );
}

#[test]
fn reading_backwards_skips_records_hidden_by_a_rewind() {
    let mut found = PartialExchange::default();
    assert_eq!(found.take(&[rewound(1000, &json!([[1, 40]]))]), None);
    assert_eq!(found.before(1000), 40);
    assert_eq!(found.before(30), 29);
    assert_eq!(found.before(1), 0);
}

proptest! {
    #[test]
    fn last_exchange_is_the_same_when_the_log_is_read_in_windows(script in "[usac.]{0,40}", size in 1_usize..9) {
        let events = log(&script);
        let whole = PartialExchange::default().take(&events);
        let mut found = PartialExchange::default();
        let mut end = events.len();
        let mut pieces = None;
        while end > 0 && pieces.is_none() {
            let begin = end.saturating_sub(size);
            pieces = found.take(&events[begin..end]);
            end = usize::try_from(found.before(begin as u64 + 1)).unwrap();
        }
        prop_assert_eq!(pieces, whole);
    }
}
