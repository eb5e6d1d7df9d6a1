use proptest::prelude::*;
use proto::item::{ToolMessage, UserMessage};
use proto::record::SessionRewound;
use proto::{CallId, ItemId, Stamp};
use store::format::{Envelope, encode};

use super::*;

fn line(text: &str) -> Vec<u8> {
    let body = Body::Tool(ToolMessage {
        item: ItemId("i".into()),
        call: CallId("c".into()),
        tool: "bash".into(),
        status: proto::item::CallStatus::Ok,
        text: text.into(),
    });
    let line = encode(&Envelope {
        seq: Seq(7),
        at: Stamp(0),
        turn: Some(1),
        durable: Seq(6),
        kind: body.kind(),
        data: &body.to_json().unwrap(),
        own: None,
        fragment: None,
    });
    line.bytes[..line.bytes.len() - 1].to_vec()
}

fn found(text: &str, words: &str) -> Option<String> {
    let words = SearchWords::of(words).unwrap();
    let line = line(text);
    assert_eq!(kind_of(&line), Some(&b"message.tool"[..]));
    let may = words.may_stand_in(&line, &mut Vec::new());
    let found = words.find(text);
    assert!(
        may || found.is_none(),
        "the look at the bytes hides `{text}`"
    );
    found
}

#[test]
fn all_words_must_stand_there_in_any_order_and_case() {
    let text = "The Übung of the\n\ttests ÄNDERT nothing.";
    assert_eq!(
        found(text, "nothing übung").as_deref(),
        Some("The Übung of the tests ÄNDERT nothing.")
    );
    assert!(found(text, "TESTS ändert").is_some());
    assert!(found(text, "tests something").is_none());
    assert!(found("say \"stop\\now\"", "\"STOP\\now\"").is_some());
    assert!(found("数据库 の 検索", "の 数据").is_some());
    assert!(found("5 \u{212a}elvin", "kelvin").is_some());
}

#[test]
fn a_place_is_one_short_line_without_control_characters() {
    let text = format!(
        "{}needle\u{1b}[31m{}",
        "before \u{7}".repeat(50),
        " after".repeat(100)
    );
    let found = found(&text, "NEEDLE").unwrap();
    assert!(found.starts_with('…') && found.ends_with('…'), "{found}");
    assert!(found.contains("needle"), "{found}");
    assert!(found.chars().count() <= SNIPPET);
    assert!(!found.chars().any(char::is_control));
}

#[test]
fn what_a_rewind_has_hidden_is_not_found() {
    let words = SearchWords::of("word").unwrap();
    let mut log = Log::default();
    let user = |seq, voice| Record {
        seq: Seq(seq),
        at: Stamp(0),
        turn: Some(1),
        body: Body::User(UserMessage {
            item: ItemId("i".into()),
            prompt_id: None,
            text: "a word".into(),
            context: None,
            voice,
        }),
    };
    for seq in [2, 5] {
        assert!(log.take(&user(seq, Voice::Prompt), &words));
    }
    assert!(!log.take(&user(6, Voice::Daemon), &words));
    let rewound = Body::SessionRewound(SessionRewound {
        to_turn: 1,
        what: proto::params::history::What::Conversation,
        undoes: None,
        shown: Some(vec![(Seq(1), Seq(3))]),
        files: Vec::new(),
        by: "ann".into(),
        request_id: None,
    });
    log.take(
        &Record {
            body: rewound,
            ..user(8, Voice::Prompt)
        },
        &words,
    );
    assert!(log.take(&user(9, Voice::Prompt), &words));
    let shown: Vec<_> = log
        .found
        .iter()
        .map(|found| log.view.shows(found.seq))
        .collect();
    assert_eq!(shown, [true, false, true]);
}

#[test]
fn nothing_to_search_for_is_said() {
    assert_eq!(
        SearchWords::of(" \n").err().map(|failure| failure.name),
        Some(ErrorName::InvalidParams)
    );
}

proptest! {
    #[test]
    fn the_look_at_the_bytes_hides_nothing(text in any::<String>(), word in any::<String>(), from in 0usize..20, len in 1usize..6) {
        let part: String = text.chars().skip(from).take(len).collect();
        for word in [word, part.to_uppercase(), part] {
            if SearchWords::of(&word).is_ok() {
                let place = found(&text, &word);
                prop_assert!(place.is_none_or(|place| place.chars().count() <= SNIPPET));
            }
        }
    }
}
