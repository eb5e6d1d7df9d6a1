//! Invariants of every compaction plan, for any conversation.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proto::item::{
    AssistantMessage, CallStatus, Finish, ToolCall, ToolMessage, UserMessage, Voice,
};
use proto::{CallId, ItemId, Seq};

use super::sketch::seq_of;
use super::verbatim::{id, is_from_user};
use super::*;
use crate::compaction::shorten::{saved as saved_by, shorten};
use crate::compaction::{RestatedState, excerpt};

/// In these tests one token is four wire bytes.
const MEASURE: TokenRatio = TokenRatio {
    bytes: 4,
    tokens: 1,
};

/// Builds a conversation.
#[derive(Default)]
struct Talk {
    messages: Vec<ConversationMessage>,
    calls: usize,
}

impl Talk {
    fn add(&mut self, item: Item, bytes: usize) {
        let seq = Seq(self.messages.len() as u64 * 2 + 1);
        self.messages.push(ConversationMessage {
            piece: Piece::Run(seq, seq),
            item,
            bytes: bytes as u64,
            follows: true,
        });
    }

    fn next(&self) -> ItemId {
        ItemId(format!("m{}.1", self.messages.len()))
    }

    fn user(&mut self, voice: Voice, text: String) {
        let bytes = text.len();
        let item = Item::User(UserMessage {
            item: self.next(),
            prompt_id: None,
            text,
            context: None,
            voice,
            from: None,
            attached: Vec::new(),
            reported: Vec::new(),
        });
        self.add(item, bytes);
    }

    fn says(&mut self, text: String, results: &[usize]) {
        let calls = results.iter().zip(self.calls..);
        let calls: Vec<_> = calls.map(|(_, call)| CallId(format!("c{call}"))).collect();
        self.calls += results.len();
        let bytes = text.len() + 40;
        let item = Item::Assistant(AssistantMessage {
            item: self.next(),
            text,
            reasoning: String::new(),
            calls: calls
                .iter()
                .map(|id| ToolCall {
                    id: id.clone(),
                    name: "read".into(),
                    arguments: "{}".into(),
                    cut: false,
                    found: false,
                })
                .collect(),
            thoughts: Vec::new(),
            finish: Finish::Stop,
        });
        self.add(item, bytes);
        for (length, call) in results.iter().zip(calls) {
            let item = Item::Tool(ToolMessage {
                item: self.next(),
                call,
                tool: "read".into(),
                status: CallStatus::Ok,
                text: "r".repeat(*length),
                images: Vec::new(),
            });
            self.add(item, *length);
        }
    }
}

/// A part of a conversation.
#[derive(Clone, Debug)]
enum Bit {
    User(usize),
    Steer(usize),
    Daemon,
    Words(usize),
    Calls(Vec<usize>),
    Summary(usize),
}

fn bit() -> impl Strategy<Value = Bit> {
    prop_oneof![
        3 => (1_usize..30_000).prop_map(Bit::User),
        1 => (1_usize..2_000).prop_map(Bit::Steer),
        1 => Just(Bit::Daemon),
        3 => (1_usize..10_000).prop_map(Bit::Words),
        6 => prop::collection::vec(0_usize..20_000, 1..4).prop_map(Bit::Calls),
        1 => (1_usize..4_000).prop_map(Bit::Summary),
    ]
}

fn talk(bits: &[Bit]) -> Vec<ConversationMessage> {
    let mut talk = Talk::default();
    for bit in bits {
        match bit {
            Bit::User(length) => talk.user(Voice::Prompt, "u".repeat(*length)),
            Bit::Steer(length) => talk.user(Voice::Steer, "s".repeat(*length)),
            Bit::Daemon => talk.user(Voice::Daemon, "go on".into()),
            Bit::Words(length) => talk.says("w".repeat(*length), &[]),
            Bit::Calls(results) => talk.says(String::new(), results),
            Bit::Summary(length) => {
                let text = summary::wrapped(&"d".repeat(*length), &RestatedState::default(), false);
                talk.user(Voice::Daemon, text);
            }
        }
    }
    talk.messages
}

fn terms(trigger: Trigger, window: u64) -> CompactionTerms {
    CompactionTerms {
        trigger,
        instructed: false,
        window,
        context: 0,
        measure: MEASURE,
        prefix_bytes: 4_000,
        pins: BTreeSet::new(),
        number: 1,
        summary: Some("what was before".into()),
        mechanical: false,
        restated: RestatedState::default(),
    }
}

fn trigger() -> impl Strategy<Value = Trigger> {
    prop_oneof![
        Just(Trigger::Auto),
        Just(Trigger::Manual),
        Just(Trigger::TooLong)
    ]
}

fn item(part: &BasePart, messages: &[ConversationMessage]) -> Item {
    match part {
        BasePart::New(item) => item.clone(),
        BasePart::Keep(piece) => {
            let all = messages.iter().find(|message| message.piece == *piece);
            all.expect("only what was there is kept").item.clone()
        }
    }
}

/// The messages after a plan is applied.
fn items(parts: &[BasePart], messages: &[ConversationMessage]) -> Vec<Item> {
    parts.iter().map(|part| item(part, messages)).collect()
}

/// Checks that each call has exactly one result before the next message (I2).
fn is_valid(items: &[Item]) -> bool {
    let mut open: Vec<CallId> = Vec::new();
    for item in items {
        match item {
            Item::Tool(tool) if open.first() == Some(&tool.call) => {
                open.remove(0);
            }
            Item::Tool(_) => return false,
            _ if !open.is_empty() => return false,
            Item::Assistant(answer) => {
                open = answer.calls.iter().map(|call| call.id.clone()).collect();
            }
            Item::User(_) => {}
        }
    }
    open.is_empty()
}

fn has_summary(message: &ConversationMessage) -> bool {
    matches!(&message.item, Item::User(user) if summary::is_summary(user))
}

/// Messages that stay unchanged whatever they take: pinned ones, and the newest summaries that fit into half of what is
/// left beside pins.
fn fixed<'a>(
    messages: &'a [ConversationMessage],
    window: u64,
    pins: &BTreeSet<ItemId>,
) -> Vec<&'a ConversationMessage> {
    let mut room = left(messages, window, pins).map_or(u64::MAX, |left| left * 50 / 100);
    let mut is_open = true;
    let mut found: Vec<_> = messages
        .iter()
        .rev()
        .filter(|message| {
            if is_pinned(id(message), pins) {
                return true;
            }
            if !has_summary(message) {
                return false;
            }
            match room.checked_sub(MEASURE.tokens(message.bytes)) {
                Some(left) if is_open => {
                    room = left;
                    true
                }
                _ => {
                    is_open = false;
                    false
                }
            }
        })
        .collect();
    found.reverse();
    found
}

/// Whether a message must stay unchanged if all that the user wrote has room.
fn is_short_user_message(message: &ConversationMessage, window: u64) -> bool {
    let limit = 4_000.min(window / 8);
    is_from_user(&message.item) && MEASURE.tokens(message.bytes) <= limit
}

/// What a compacted context has left beside the new summary and pins. `None`: as much as it wants. The prefix takes 1,000
/// tokens.
fn left(messages: &[ConversationMessage], window: u64, pins: &BTreeSet<ItemId>) -> Option<u64> {
    if window >= 32_000 {
        return None;
    }
    let room = (window * 80 / 100).saturating_sub(1_000);
    let lands = (window * 60).max(100_000 + room * 50) / 100;
    let summary = 1_500.min(window / 10).min(room / 4);
    // Pinned results stay with their answer.
    let pinned = units(messages).into_iter().filter_map(|unit| {
        let members = &messages[unit];
        let has_pin = members.iter().any(|member| is_pinned(id(member), pins));
        has_pin.then(|| members.iter().map(|member| member.bytes).sum::<u64>())
    });
    let pinned: u64 = pinned.map(|bytes| MEASURE.tokens(bytes)).sum();
    Some(lands.saturating_sub(1_000 + summary + pinned))
}

/// The room of all user messages that stay.
fn user_room(messages: &[ConversationMessage], window: u64, pins: &BTreeSet<ItemId>) -> u64 {
    let Some(left) = left(messages, window, pins) else {
        return u64::MAX;
    };
    let earlier = fixed(messages, window, pins).into_iter();
    let earlier = earlier.filter(|message| has_summary(message) && !is_pinned(id(message), pins));
    let earlier: u64 = earlier.map(|message| MEASURE.tokens(message.bytes)).sum();
    (left * 75 / 100).saturating_sub(earlier)
}

/// What a compaction must free at least, in hundredths of tokens. The prefix takes 1,000.
fn least(window: u64, whole: u64) -> u64 {
    let room = (window * 80 / 100).saturating_sub(1_000);
    (whole * 25).min(room * 50)
}

/// The messages as input for the next compaction.
fn found_next(
    parts: &[BasePart],
    messages: &[ConversationMessage],
    reset: u64,
) -> Vec<ConversationMessage> {
    let mut element = 0;
    let mut found = Vec::new();
    for part in parts {
        match part {
            BasePart::Keep(piece) => {
                let message = messages.iter().find(|message| message.piece == *piece);
                found.push(message.expect("it was there").clone());
            }
            BasePart::New(item) => {
                let bytes = match item {
                    Item::User(user) => user.text.len(),
                    Item::Tool(tool) => tool.text.len(),
                    Item::Assistant(answer) => answer.text.len(),
                };
                found.push(ConversationMessage {
                    piece: Piece::Element {
                        reset: Seq(reset),
                        element,
                    },
                    item: item.clone(),
                    bytes: bytes as u64,
                    follows: false,
                });
                element += 1;
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_keeps_its_promises(
        bits in prop::collection::vec(bit(), 0..40),
        trigger in trigger(),
        window in prop_oneof![Just(0_u64), 1_500_u64..12_000, 8_000_u64..120_000],
        instructed in any::<bool>(),
        pinned in prop::collection::vec(0_usize..40, 0..3),
    ) {
        let messages = talk(&bits);
        let mut terms = CompactionTerms { instructed, ..terms(trigger, window) };
        terms.pins = pinned.iter().map(|at| ItemId(format!("m{at}"))).collect();
        let before = terms.before(&messages);
        let window = if window == 0 { before * 5 / 4 } else { window };
        let CompactionPlan::Done { parts, done } = plan(&messages, &terms) else {
            return Ok(());
        };
        let after = items(&parts, &messages);
        prop_assert!(is_valid(&after), "I2");
        // Messages that must stay do stay, in their order.
        let kept: Vec<_> = parts.iter().filter_map(|part| match part {
            BasePart::Keep(piece) => Some(piece.clone()),
            BasePart::New(_) => None,
        }).collect();
        let mut places = messages.iter().map(|message| &message.piece);
        prop_assert!(kept.iter().all(|piece| places.any(|other| other == piece)), "in order");
        let is_kept = |message: &ConversationMessage| kept.contains(&message.piece);
        let fixed = fixed(&messages, window, &terms.pins);
        for message in &fixed {
            prop_assert!(is_kept(message), "{:?} stays", id(message));
        }
        let spoken: Vec<_> = messages
            .iter()
            .filter(|message| is_short_user_message(message, window) && !fixed.contains(message))
            .collect();
        let tokens = |message: &&&ConversationMessage| MEASURE.tokens(message.bytes);
        if spoken.iter().map(|message| tokens(&message)).sum::<u64>() <= user_room(&messages, window, &terms.pins) {
            prop_assert!(spoken.iter().all(|message| is_kept(message)), "there is room for all");
        }
        // Of those behind the first the newest stay.
        let mut later = spoken.iter().skip(1).skip_while(|message| !is_kept(message));
        prop_assert!(later.all(|message| is_kept(message)), "the newest stay");
        prop_assert_eq!(done.kept, kept.len() as u64);
        prop_assert_eq!(done.kept + done.shortened + done.folded, messages.len() as u64);
        prop_assert_eq!(done.tokens_before, before);
        // The newest message stays, and after the summary come only complete units.
        prop_assert_eq!(kept.last(), messages.last().map(|message| &message.piece));
        let summaries = after.iter().filter(|item| matches!(item, Item::User(user) if user.item.0 == "d1"));
        prop_assert_eq!(summaries.count(), usize::from(done.folded > 0));
        let place = after.iter().position(|item| matches!(item, Item::User(user) if user.item.0 == "d1"));
        if let Some(next) = place.and_then(|place| after.get(place + 1)) {
            prop_assert!(!matches!(next, Item::Tool(_)), "the tail begins with a message of its own");
        }
        if done.folded == 0 {
            prop_assert!(done.shortened > 0 && !instructed, "nothing folded, nothing shortened");
            prop_assert!(done.tokens_after * 100 <= window * SHORTENED_TO);
            let of = if trigger == Trigger::Manual { before.min(window) } else { window };
            prop_assert!((before - done.tokens_after) * 100 >= least(window, of));
            prop_assert!(done.summary.is_empty() && done.archive.is_empty());
        } else {
            prop_assert!(matches!(after.first(), Some(Item::User(_))), "a person speaks first");
            prop_assert_eq!(done.shortened, 0);
            prop_assert!(!done.summary.is_empty());
        }
        if trigger != Trigger::Manual {
            let room = (window * 80 / 100).saturating_sub(1_000);
            let most = (window * 60).max(100_000 + room * 50);
            let is_over = trigger == Trigger::TooLong || before * 100 >= window * 95;
            prop_assert!(done.tokens_after * 100 < most || is_over);
            // It is not compacted again at once.
            prop_assert!(done.tokens_after < window * 80 / 100);
        }
        if trigger == Trigger::Auto && before * 100 < window * 95 {
            prop_assert!((before - done.tokens_after) * 100 >= least(window, window));
        }
        // The reported size matches the remaining messages.
        let left: u64 = found_next(&parts, &messages, 1).iter().map(|message| message.bytes).sum();
        let left = MEASURE.tokens(terms.prefix_bytes + left);
        prop_assert!(left.abs_diff(done.tokens_after) <= 100 * (1 + done.shortened), "{left} {}", done.tokens_after);
        // The archive contains exactly the folded messages.
        let among = |seq: Seq| done.archive.iter().any(|(first, last)| (*first..=*last).contains(&seq));
        for message in &messages {
            let gone = !kept.contains(&message.piece);
            let seq = seq_of(&message.piece).expect("a record");
            prop_assert_eq!(done.folded > 0 && gone, among(seq));
        }
    }

    /// The plan before the summary is written folds the same messages as the one after, however long the summary is.
    #[test]
    fn summary_covers_exactly_the_folded_messages(
        bits in prop::collection::vec(bit(), 0..30),
        trigger in trigger(),
        window in 1_500_u64..120_000,
        tenths in 1_u64..40,
    ) {
        let messages = talk(&bits);
        let asks = CompactionTerms { summary: None, ..terms(trigger, window) };
        if let CompactionPlan::Ask { fold } = plan(&messages, &asks) {
            let room = window * 80 / 100 - 1_000;
            let limit = 1_500.min(window / 10).min(room / 4);
            let text = "d".repeat(usize::try_from(limit * 4 * tenths / 10 + 1).expect("small"));
            let written = CompactionTerms { summary: Some(text), ..asks };
            match plan(&messages, &written) {
                CompactionPlan::Done { done, .. } => prop_assert_eq!(done.folded, fold.len() as u64),
                // The summary is longer than the messages that it replaces.
                CompactionPlan::Nothing(NothingToCompact::TooLittle) => prop_assert_eq!(trigger, Trigger::Manual),
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
    }

    /// An excerpt fits, contains complete units, and includes the newest of the messages to fold.
    #[test]
    fn excerpt_fits_and_keeps_units_together(
        bits in prop::collection::vec(bit(), 1..30),
        window in prop_oneof![Just(0_u64), 8_000_u64..120_000],
    ) {
        let messages = talk(&bits);
        let asks = CompactionTerms { summary: None, ..terms(Trigger::TooLong, window) };
        let fold = match plan(&messages, &asks) {
            CompactionPlan::Ask { fold } => fold,
            _ => return Ok(()),
        };
        let room = asks.excerpt_room(&messages);
        let Some(excerpt) = excerpt(&messages, &fold, room) else {
            return Ok(());
        };
        let shown = &messages[excerpt.shown.clone()];
        let items: Vec<_> = shown.iter().map(|message| message.item.clone()).collect();
        prop_assert!(is_valid(&items));
        prop_assert!(!matches!(items[0], Item::Tool(_)));
        let bytes: u64 = shown.iter().map(|message| match &message.item {
            Item::Tool(tool) => message.bytes.min(shorten(tool, None).map_or(message.bytes, |short| short.text.len() as u64)),
            _ => message.bytes,
        }).sum();
        prop_assert!(bytes <= room);
        let last = *fold.last().expect("something goes");
        prop_assert!(excerpt.shown.contains(&last));
        for at in fold {
            prop_assert_eq!(excerpt.shown.contains(&at), !excerpt.left_out.contains(&at));
        }
    }

    /// User facts and earlier summaries are still there verbatim after five compactions in a row.
    #[test]
    fn five_compactions_keep_what_people_said(talks in prop::collection::vec(prop::collection::vec(bit(), 3..15), 5)) {
        let mut planted = Vec::new();
        let mut messages: Vec<ConversationMessage> = Vec::new();
        for (number, bits) in (1_u64..).zip(&talks) {
            let fact = format!("the port is {number}");
            let mut talk = Talk { messages: Vec::new(), calls: 1_000 * usize::try_from(number).expect("small") };
            talk.user(Voice::Prompt, fact.clone());
            let mut more = talk.messages;
            more.extend(self::talk(bits));
            let mut last = Talk { messages: Vec::new(), calls: 0 };
            last.says("done".into(), &[]);
            more.extend(last.messages);
            // Calls are renumbered in each part, so that their ids stay unique.
            for (at, mut message) in more.into_iter().enumerate() {
                rename(&mut message.item, number);
                let seq = Seq(number * 10_000 + at as u64);
                message.piece = Piece::Run(seq, seq);
                messages.push(message);
            }
            planted.push(fact);
            let summary = format!("summary {number}");
            let terms = CompactionTerms { number, summary: Some(summary.clone()), instructed: true, ..terms(Trigger::Manual, 50_000) };
            let CompactionPlan::Done { parts, done } = plan(&messages, &terms) else {
                continue;
            };
            if done.folded > 0 {
                planted.push(summary);
            }
            messages = found_next(&parts, &messages, number);
            let all: Vec<_> = messages.iter().map(|message| message.item.clone()).collect();
            prop_assert!(is_valid(&all), "I2");
            for fact in &planted {
                let said = messages.iter().any(|message| matches!(&message.item, Item::User(user) if user.text.contains(fact)));
                prop_assert!(said, "{fact} is gone");
            }
        }
    }
}

fn rename(item: &mut Item, number: u64) {
    match item {
        Item::Assistant(answer) => {
            for call in &mut answer.calls {
                call.id = CallId(format!("{}_{number}", call.id));
            }
        }
        Item::Tool(tool) => tool.call = CallId(format!("{}_{number}", tool.call)),
        Item::User(_) => {}
    }
}

/// A long turn: a prompt, steps that read, and a final answer.
fn long(steps: usize, bytes: usize) -> Vec<ConversationMessage> {
    let mut talk = Talk::default();
    talk.user(Voice::Prompt, "fix it".into());
    for _ in 0..steps {
        talk.says("I look.".into(), &[bytes]);
    }
    talk.messages
}

#[test]
fn shortened_results_are_enough_where_they_land_well() {
    // 80 results of 4,000 bytes: 80,000 tokens of 100,000.
    let messages = long(80, 4_000);
    let CompactionPlan::Done { parts, done } = plan(&messages, &terms(Trigger::Auto, 100_000))
    else {
        panic!("it is worth it");
    };
    assert_eq!((done.folded, done.summary.as_str()), (0, ""));
    assert!(done.shortened > 50, "{done:?}");
    let cut = parts.iter().find_map(|part| match part {
        BasePart::New(Item::Tool(tool)) => Some(tool.text.as_str()),
        _ => None,
    });
    let cut = cut.expect("some are cut");
    assert!(cut.contains("2500 characters were left out"), "{cut}");
    assert!(cut.contains("record 5 of this session's log"), "{cut}");
    // With instructions from the user, a summary is required.
    let instructed = CompactionTerms {
        instructed: true,
        summary: None,
        ..terms(Trigger::Auto, 100_000)
    };
    assert!(matches!(
        plan(&messages, &instructed),
        CompactionPlan::Ask { .. }
    ));
}

#[test]
fn small_gains_are_left_alone_unless_a_person_asks() {
    let mut messages = long(20, 1_500);
    let mut tail = Talk::default();
    tail.user(Voice::Prompt, "u".repeat(12_000));
    tail.user(Voice::Prompt, "u".repeat(12_000));
    messages.extend(tail.messages);
    for (at, message) in messages.iter_mut().enumerate() {
        message.piece = Piece::Run(Seq(at as u64 + 1), Seq(at as u64 + 1));
    }
    let auto = terms(Trigger::Auto, 100_000);
    assert_eq!(
        plan(&messages, &auto),
        CompactionPlan::Nothing(NothingToCompact::TooLittle)
    );
    let CompactionPlan::Done { done, .. } = plan(&messages, &terms(Trigger::Manual, 30_000)) else {
        panic!("by hand it is done at any fill");
    };
    assert!(done.folded > 0);
}

/// The plan of a conversation with a small local model. The prefix takes `prefix` tokens.
fn small(window: u64, prefix: u64, trigger: Trigger, summary: Option<&str>) -> CompactionPlan {
    let mut talk = Talk::default();
    // Until the window is full to four fifths.
    while (prefix * 4 + talk.messages.iter().map(|m| m.bytes).sum::<u64>()) < window * 4 * 82 / 100
    {
        talk.user(Voice::Prompt, "u".repeat(100));
        talk.says("w".repeat(900), &[]);
    }
    talk.user(Voice::Prompt, "u".repeat(100));
    let terms = CompactionTerms {
        prefix_bytes: prefix * 4,
        summary: summary.map(str::to_owned),
        ..terms(trigger, window)
    };
    plan(&talk.messages, &terms)
}

#[test]
fn small_windows_are_compacted_too() {
    for (window, prefix) in [
        (3_072, 1_640),
        (4_096, 1_640),
        (8_192, 1_640),
        (8_192, 4_000),
    ] {
        for trigger in [Trigger::Auto, Trigger::TooLong] {
            let asks = small(window, prefix, trigger, None);
            assert!(
                matches!(asks, CompactionPlan::Ask { .. }),
                "{window}: {asks:?}"
            );
            // A small model may write too much.
            let long = "A line of the summary.\n".repeat(600);
            for written in ["Short.", &long] {
                let done = small(window, prefix, trigger, Some(written));
                let CompactionPlan::Done { done, .. } = done else {
                    panic!("{window}: {done:?}");
                };
                assert!(done.tokens_after < window * 80 / 100, "{window}: {done:?}");
                assert_eq!(
                    done.summary.contains("was cut off to save room"),
                    written.len() > 100
                );
            }
        }
    }
}

/// A conversation that goes on and on: its summaries never fill the window.
#[test]
fn small_windows_are_compacted_any_number_of_times() {
    for window in [8_000_u64, 16_000, 31_000] {
        let mut messages: Vec<ConversationMessage> = Vec::new();
        for number in 1..=40_u64 {
            let full = usize::try_from(window * 80 / 100).expect("small");
            let before = |messages: &[ConversationMessage]| {
                usize::try_from(terms(Trigger::Auto, window).before(messages)).expect("small")
            };
            let mut at = 0_u64;
            while before(&messages) < full {
                let mut talk = Talk {
                    messages: Vec::new(),
                    calls: usize::try_from(number * 1_000 + at).expect("small"),
                };
                talk.user(Voice::Prompt, format!("go on with part {number}"));
                talk.says("It is done.".repeat(40), &[800]);
                for mut message in talk.messages {
                    let seq = Seq(number * 10_000 + at);
                    message.piece = Piece::Run(seq, seq);
                    messages.push(message);
                    at += 1;
                }
            }
            let limit = usize::try_from(window / 10 * 4).expect("small");
            let text = format!("summary {number}. {}", "x".repeat(limit.min(6_000) - 20));
            let terms = CompactionTerms {
                number,
                summary: Some(text),
                ..terms(Trigger::Auto, window)
            };
            let planned = plan(&messages, &terms);
            let CompactionPlan::Done { parts, done } = planned else {
                panic!("window {window}, compaction {number}: {planned:?}");
            };
            assert!(done.tokens_after * 100 < window * 60, "{done:?}");
            messages = found_next(&parts, &messages, number);
            let newest = messages.iter().any(|message| {
                matches!(&message.item, Item::User(user) if user.text.contains(&format!("summary {number}.")))
            });
            assert!(newest, "the newest summary is there");
        }
    }
}

/// A newest prompt that takes a quarter of a small window: the rest is folded all the same once the request does not fit.
#[test]
fn what_does_not_fit_is_compacted_also_if_the_newest_message_is_large() {
    let mut conversation = Talk::default();
    for _ in 0..3 {
        conversation.user(Voice::Prompt, "u".repeat(7_600));
        conversation.says("It is done.".into(), &[]);
    }
    conversation.user(Voice::Prompt, "u".repeat(7_600));
    for trigger in [Trigger::Auto, Trigger::TooLong] {
        let terms = CompactionTerms {
            prefix_bytes: 11_600,
            ..terms(trigger, 8_000)
        };
        let planned = plan(&conversation.messages, &terms);
        let CompactionPlan::Done { done, .. } = planned else {
            panic!("{trigger:?}: {planned:?}");
        };
        assert!(done.tokens_after < 6_400, "{done:?}");
    }
}

#[test]
fn large_windows_have_the_limits_of_a_large_conversation() {
    for window in [32_000, 128_000, 1_000_000] {
        let terms = terms(Trigger::Auto, window);
        assert_eq!(terms.user_limit(), 4_000);
        assert_eq!(terms.summary_limit(), 1_500);
        assert_eq!(terms.summary_words(&[]), 1_200);
        assert_eq!(terms.lands_under_percent(), window * 60);
        assert_eq!(terms.frees_percent(window), window * 25);
    }
    let demand = |words| summary::demand("", &[], &[], words);
    assert!(demand(1_200).contains("in at most 1,200 words"));
    assert!(demand(240).contains("in at most 240 words"));
}

#[test]
fn a_full_context_names_what_helps() {
    let full = |window, prefix| match small(window, prefix, Trigger::Auto, None) {
        CompactionPlan::Full(full) => full,
        other => panic!("{other:?}"),
    };
    assert!(full(2_048, 1_640).is_prefix);
    // Answers that a manual compaction folds, before messages that are pinned.
    let mut talk = Talk::default();
    talk.says("w".repeat(8_000), &[]);
    for _ in 0..30 {
        talk.user(Voice::Prompt, "u".repeat(800));
    }
    let pins: BTreeSet<_> = (1..=30).map(|at| ItemId(format!("m{at}"))).collect();
    let pinned = |trigger, summary: Option<&str>| CompactionTerms {
        pins: pins.clone(),
        summary: summary.map(str::to_owned),
        ..terms(trigger, 8_192)
    };
    let auto = plan(&talk.messages, &pinned(Trigger::Auto, Some("before")));
    let CompactionPlan::Full(full) = auto else {
        panic!("what is pinned stays");
    };
    assert!(
        full.folds_manually && full.has_pins && !full.is_prefix,
        "{full:?}"
    );
    assert!(matches!(
        plan(&talk.messages, &pinned(Trigger::Manual, None)),
        CompactionPlan::Ask { .. }
    ));
    let only_pinned = plan(&talk.messages[1..], &pinned(Trigger::Auto, Some("before")));
    let CompactionPlan::Full(full) = only_pinned else {
        panic!("what is pinned stays");
    };
    assert!(!full.folds_manually, "{full:?}");
}

/// Messages of the user alone, of this many tokens each.
fn only_user(count: usize, tokens: usize) -> Vec<ConversationMessage> {
    let mut talk = Talk::default();
    for _ in 0..count {
        talk.user(Voice::Prompt, "u".repeat(tokens * 4));
    }
    talk.messages
}

#[test]
fn messages_of_the_user_alone_are_folded_where_they_fill_the_window() {
    for (window, count, tokens) in [
        (4_096, 8, 400),
        (8_192, 30, 200),
        (8_192, 7, 1_000),
        (31_000, 8, 3_500),
    ] {
        let messages = only_user(count, tokens);
        for trigger in [Trigger::Auto, Trigger::TooLong, Trigger::Manual] {
            let done = plan(&messages, &terms(trigger, window));
            let CompactionPlan::Done { parts, done } = done else {
                panic!("{window}, {trigger:?}: {done:?}");
            };
            assert!(done.tokens_after * 100 < window * 60 + 100_000, "{done:?}");
            // The first says what the work is.
            assert_eq!(parts[0], BasePart::Keep(messages[0].piece.clone()));
        }
    }
}

#[test]
fn messages_of_the_user_alone_can_be_folded_by_hand_if_the_window_is_unknown() {
    for (count, tokens) in [(10, 500), (40, 60), (12, 2_000)] {
        let messages = only_user(count, tokens);
        let asks = CompactionTerms {
            summary: None,
            ..terms(Trigger::Manual, 0)
        };
        let asked = plan(&messages, &asks);
        assert!(
            matches!(asked, CompactionPlan::Ask { .. }),
            "{count}: {asked:?}"
        );
    }
}

#[test]
fn too_large_pinned_messages_report_a_full_context() {
    let mut talk = Talk::default();
    for _ in 0..20 {
        talk.user(Voice::Prompt, "u".repeat(15_000));
        talk.says("w".repeat(2_000), &[]);
    }
    let auto = plan(&talk.messages, &terms(Trigger::Auto, 100_000));
    assert!(
        matches!(auto, CompactionPlan::Full(full) if full.kept > 60_000 && !full.is_prefix),
        "{auto:?}"
    );
}

#[test]
fn one_giant_result_in_the_newest_unit_does_not_end_the_turn() {
    let mut talk = Talk::default();
    talk.user(Voice::Prompt, "fix it".into());
    talk.says(String::new(), &[340_000]);
    let auto = plan(&talk.messages, &terms(Trigger::Auto, 100_000));
    assert_eq!(
        auto,
        CompactionPlan::Nothing(NothingToCompact::NothingToFold)
    );
    // If the provider refused the request, it cannot be shortened further.
    let refused = plan(&talk.messages, &terms(Trigger::TooLong, 100_000));
    assert!(matches!(refused, CompactionPlan::Full(_)), "{refused:?}");
    // Once the message is older, it is folded.
    talk.says("That is long.".into(), &[]);
    let later = plan(&talk.messages, &terms(Trigger::Auto, 100_000));
    assert!(matches!(later, CompactionPlan::Done { .. }), "{later:?}");
}

#[test]
fn unknown_window_is_assumed_slightly_larger_than_the_conversation() {
    let messages = long(30, 8_000);
    let refused = plan(&messages, &terms(Trigger::TooLong, 0));
    let CompactionPlan::Done { done, .. } = refused else {
        panic!("it is tried: {refused:?}");
    };
    assert!(
        done.tokens_after * 100 < done.tokens_before * 75,
        "{done:?}"
    );
}

#[test]
fn restated_plan_counts_as_tokens() {
    let messages = long(30, 1_900);
    let mut with_plan = terms(Trigger::Manual, 100_000);
    let CompactionPlan::Done { done: without, .. } = plan(&messages, &with_plan) else {
        panic!("by hand");
    };
    with_plan.restated.plan = Some("p".repeat(8_000));
    let CompactionPlan::Done { done: with, .. } = plan(&messages, &with_plan) else {
        panic!("by hand");
    };
    assert!(with.summary.contains("## The approved plan"));
    assert!(with.tokens_after >= without.tokens_after + 2_000);
}

#[test]
fn without_the_model_a_list_is_made() {
    let mut talk = Talk::default();
    talk.user(
        Voice::Prompt,
        format!("Fix the door\n{}", "u".repeat(20_000)),
    );
    talk.says("I look at it.".into(), &[10, 10]);
    talk.says("Done.".into(), &[]);
    let fold: Vec<usize> = (0..talk.messages.len()).collect();
    let list = summary::mechanical(&talk.messages, &fold);
    for said in ["Fix the door", "read: 2 times", "I look at it.", "Done."] {
        assert!(list.contains(said), "{said}: {list}");
    }
    let earlier = summary::wrapped("The port is 7.", &RestatedState::default(), false);
    talk.user(Voice::Daemon, earlier);
    let list = summary::mechanical(&talk.messages, &[talk.messages.len() - 1]);
    assert_eq!(list, "\n## An earlier summary\nThe port is 7.\n");
}

#[test]
fn manual_compaction_shortens_long_results_in_a_nearly_empty_context() {
    let mut conversation = Talk::default();
    conversation.user(Voice::Prompt, "look".into());
    for _ in 0..4 {
        conversation.says(String::new(), &[14_000]);
    }
    conversation.says("It is so.".into(), &[]);
    let manual = terms(Trigger::Manual, 128_000);
    let CompactionPlan::Done { done, .. } = plan(&conversation.messages, &manual) else {
        panic!("they are long");
    };
    assert_eq!((done.shortened, done.folded), (4, 0));
}

#[test]
fn messages_shorter_than_a_summary_are_not_folded() {
    let messages = talk(&[
        Bit::User(40),
        Bit::Words(300),
        Bit::User(40),
        Bit::Words(300),
    ]);
    let manual = CompactionTerms {
        summary: None,
        instructed: true,
        ..terms(Trigger::Manual, 1_000)
    };
    assert_eq!(
        plan(&messages, &manual),
        CompactionPlan::Nothing(NothingToCompact::TooLittle)
    );
}

#[test]
fn an_image_counts_by_its_pixels_and_is_left_out_of_a_shortened_result() {
    let image = proto::item::Image {
        sha256: "ab".repeat(32),
        format: proto::item::ImageFormat::Png,
        bytes: 2_000_000,
        width: 1_500,
        height: 1_000,
    };
    let long = ToolMessage {
        item: ItemId::from("m1.3"),
        call: CallId::from("c1"),
        tool: "shoot".to_owned(),
        status: CallStatus::Ok,
        text: "[image 1500x1000 png]".to_owned(),
        images: vec![image],
    };
    let short = shorten(&long, None).expect("it has an image");
    assert_eq!(short.images, []);
    assert!(
        short
            .text
            .starts_with("[image 1500x1000 png]\n[The image was left out here")
    );
    let added = (short.text.len() - long.text.len()) as u64;
    assert_eq!(saved_by(&long, &short), 1_600 * 4 - added);
    assert_eq!(shorten(&short, None), None);
}
