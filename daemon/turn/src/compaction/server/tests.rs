//! What stands for a provider's compaction, and what follows it.

use proto::Seq;
use proto::item::{AssistantMessage, Finish};
use proto::reset::{Piece, Trigger};

use super::*;
use crate::compaction::CompactionPlan;
use crate::compaction::{EditedFile, RestatedState, TokenRatio, plan};

fn message(seq: u64, item: Item, bytes: u64) -> ConversationMessage {
    ConversationMessage {
        piece: Piece::Run(Seq(seq), Seq(seq)),
        item,
        bytes,
        follows: true,
    }
}

fn user(seq: u64, text: &str) -> ConversationMessage {
    let Item::User(message_of) = said(ItemId(format!("m{seq}")), text.to_owned()) else {
        unreachable!();
    };
    let item = Item::User(UserMessage {
        voice: Voice::Prompt,
        ..message_of
    });
    message(seq, item, text.len() as u64)
}

fn answer(seq: u64, text: &str) -> ConversationMessage {
    let item = Item::Assistant(AssistantMessage {
        item: ItemId(format!("m{seq}")),
        text: text.to_owned(),
        reasoning: String::new(),
        calls: Vec::new(),
        thoughts: Vec::new(),
        finish: Finish::Stop,
    });
    message(seq, item, text.len() as u64)
}

fn conversation() -> Vec<ConversationMessage> {
    let mut messages = Vec::new();
    for round in 0..4 {
        messages.push(user(round * 2, &format!("FACT-{round}")));
        let words = "words ".repeat(2_000);
        messages.push(answer(round * 2 + 1, &format!("ANSWER-{round} {words}")));
    }
    messages
}

fn terms(restated: RestatedState) -> CompactionTerms {
    CompactionTerms {
        trigger: Trigger::Manual,
        instructed: false,
        window: 100_000,
        context: 0,
        measure: TokenRatio {
            bytes: 4,
            tokens: 1,
        },
        prefix_bytes: 0,
        pins: BTreeSet::new(),
        number: 3,
        summary: None,
        mechanical: false,
        restated,
    }
}

#[test]
fn a_stand_in_has_the_newest_and_a_list_and_is_bounded() {
    let messages = conversation();
    let fold = [1, 3, 5];
    let text = stand_in(&messages, &fold);
    assert!(text.starts_with(OPAQUE), "{text}");
    for folded in ["ANSWER-0", "ANSWER-1", "ANSWER-2"] {
        assert_eq!(text.matches(folded).count(), 1, "{folded}: {text}");
    }
    assert!(!text.contains("FACT-") && !text.contains("ANSWER-3"));
    let folded: u64 = fold.iter().map(|at| messages[*at].bytes).sum();
    assert!(text.len() as u64 <= folded / STAND_IN_SHARE + 500);
    assert_eq!(stand_in(&[], &[]), OPAQUE);
}

#[test]
fn the_state_of_the_work_stands_where_the_summary_stood() {
    let restated = RestatedState {
        files: vec![EditedFile {
            path: "src/a.rs".to_owned(),
            lines: vec![(3, 9)],
        }],
        ..RestatedState::default()
    };
    for (restated, states) in [(restated, 1), (RestatedState::default(), 0)] {
        let messages = conversation();
        let terms = CompactionTerms {
            summary: Some("It went on.".to_owned()),
            ..terms(restated)
        };
        let CompactionPlan::Done { parts, .. } = plan(&messages, &terms) else {
            panic!("there is much to fold");
        };
        let before = parts.len();
        let (item, parts) = lead(parts, "It went on.", &terms);
        let Item::User(summary) = item else {
            panic!("a message of words: {item:?}");
        };
        assert!(is_summary(&summary) && summary.text.contains("It went on."));
        assert!(!summary.text.contains("src/a.rs"));
        let new: Vec<_> = parts
            .iter()
            .filter_map(|part| match part {
                BasePart::New(Item::User(message)) => Some(message),
                _ => None,
            })
            .collect();
        assert_eq!((new.len(), parts.len()), (states, before - 1 + states));
        assert!(new.iter().all(|state| !is_summary(state)
            && state.text.starts_with("<state>")
            && state.text.contains("src/a.rs:3-9")));
    }
}
