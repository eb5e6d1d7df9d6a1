//! A reference model of the conversation that tracks turns, not runs of records: the messages that a request must have.

use std::collections::{BTreeMap, HashMap};

use proto::item::{Finish, Voice};
use proto::params::history::What;
use proto::record::{Purpose, SessionRewound, Todo, Usage};
use proto::reset::{CacheReset, Compaction, Piece};
use proto::state::Mode;
use proto::{Body, CallId, Record, Seq};

use crate::{Facts, words};

/// A message of a request: a record, or an element of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageRef {
    Record(Seq),
    Element(Seq, u32),
}

#[derive(Clone, Debug, Default)]
pub struct ShownConversation {
    /// The messages and todo lists of each turn, including hidden ones.
    turns: BTreeMap<u64, Vec<Record>>,
    /// The shown turns, oldest first.
    pub visible: Vec<u64>,
    rewinds: Vec<Rewind>,
    /// Pieces that replace messages, oldest first.
    bases: Vec<ConversationBase>,
    /// The contents of the elements of resets. They are not in the log; the test that builds them adds them here.
    pub elements: HashMap<(Seq, u32), Body>,
    now: RewoundCounts,
    /// The counts before each turn.
    before_turns: BTreeMap<u64, RewoundCounts>,
    /// The newest compaction, until a turn that started after it has ended.
    newest: Option<(Seq, Compaction)>,
    /// A rewind has changed the conversation, and its cache reset is missing. It is the next record, unless the daemon
    /// died between the two.
    reset_due: bool,
    cut_off: bool,
    /// Number of resets: between two of them requests extend each other.
    pub resets: u64,
}

#[derive(Clone, Debug)]
struct Rewind {
    seq: Seq,
    before: Vec<u64>,
    bases: Vec<ConversationBase>,
    now: RewoundCounts,
    undoing: bool,
    undone: bool,
}

/// Counts that a rewind restores and that are in no message.
#[derive(Clone, Debug, Default)]
struct RewoundCounts {
    /// Number of written summaries.
    summaries: u64,
    tokens: u64,
}

#[derive(Clone, Debug)]
struct ConversationBase {
    seq: Seq,
    messages: Vec<MessageRef>,
    /// The turns that it was built from.
    turns: Vec<u64>,
}

impl ShownConversation {
    pub fn take(&mut self, record: &Record) {
        if self.reset_due && !self.cut_off {
            let reset = matches!(record.body, Body::CacheReset(_));
            assert!(reset, "{:?} follows instead of the reset", record.body);
        }
        match &record.body {
            Body::TurnStarted(_) => {
                let turn = record.turn.expect("a turn has a number");
                self.before_turns.insert(turn, self.now.clone());
                self.visible.push(turn);
            }
            Body::TurnEnded(_) => {
                let newest = self.newest.take();
                let began = self.began(record.turn.expect("a turn has a number"));
                self.newest = newest.filter(|(seq, _)| *seq > began);
            }
            Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::TodoUpdated(_) => {
                let turn = record.turn.expect("it is in a turn");
                self.turns.entry(turn).or_default().push(record.clone());
            }
            Body::Usage(usage) => self.used(usage, record),
            Body::SessionRewound(rewound) => self.rewound(rewound, record),
            Body::CacheReset(reset) => self.reset(reset, record),
            _ => {}
        }
    }

    /// A summary may be requested between turns, an answer only in a turn.
    fn used(&mut self, usage: &Usage, record: &Record) {
        match usage.purpose {
            Purpose::Summary => self.now.summaries += 1,
            // Side requests, which end at any time.
            Purpose::Extraction | Purpose::Sample | Purpose::Server | Purpose::Review => {}
            Purpose::Answer => {
                assert!(record.turn.is_some(), "it is in a turn");
                if usage.reported {
                    self.now.tokens = usage.prompt_tokens + usage.output_tokens;
                }
            }
        }
    }

    fn reset(&mut self, reset: &CacheReset, record: &Record) {
        let reported = std::mem::take(&mut self.reset_due);
        let does = reset.base.is_some() || reset.undoes.is_some() || reset.wire.is_some();
        assert_ne!(
            reported, does,
            "a reset belongs to a rewind, or changes something"
        );
        self.resets += 1;
        if let Some(undone) = reset.undoes {
            let (newest, done) = self.newest.take().expect("there is one to undo");
            assert_eq!(newest, undone, "the newest compaction is undone");
            let place = self.bases.iter().position(|base| base.seq == undone);
            let place = place.expect("only an existing base is removed");
            // Later bases were built from it.
            self.bases.truncate(place);
            self.now.tokens = self.now.tokens.max(done.tokens_before);
        }
        if let Some(pieces) = &reset.base {
            let before = self.messages();
            let messages = self.places(pieces, record.seq);
            for place in &messages {
                let own = matches!(place, MessageRef::Element(reset, _) if *reset == record.seq);
                assert!(own || before.contains(place), "{place:?} was not there");
            }
            self.bases.push(ConversationBase {
                seq: record.seq,
                messages,
                turns: self.visible.clone(),
            });
        }
        if let Some(done) = &reset.compaction {
            self.now.tokens = done.tokens_after;
            self.newest = Some((record.seq, done.clone()));
        }
    }

    /// The messages of these pieces. `own`: the reset that names them.
    pub fn places(&self, pieces: &[Piece], own: Seq) -> Vec<MessageRef> {
        let mut places = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Element { reset, element } => {
                    let reset = if reset.0 == 0 { own } else { *reset };
                    places.push(MessageRef::Element(reset, *element));
                }
                Piece::Run(first, last) => {
                    let all = self.turns.values().flatten();
                    let messages = all.filter(|record| is_message(&record.body));
                    let among = messages.filter(|record| (*first..=*last).contains(&record.seq));
                    places.extend(among.map(|record| MessageRef::Record(record.seq)));
                }
            }
        }
        places
    }

    fn began(&self, turn: u64) -> Seq {
        let said = self.turns.get(&turn).and_then(|said| said.first());
        said.map_or(Seq(u64::MAX), |record| record.seq)
    }

    fn rewound(&mut self, rewound: &SessionRewound, record: &Record) {
        let before = self.visible.clone();
        let mut moment = None;
        let mut bases = None;
        let undone = rewound.undoes.map(|seq| {
            let newest = self
                .rewinds
                .iter_mut()
                .rfind(|rewind| !rewind.undoing && !rewind.undone);
            let rewind = newest.expect("only an existing rewind is undone");
            assert_eq!(rewind.seq, seq, "the newest rewind is undone first");
            rewind.undone = true;
            moment = Some(rewind.now.clone());
            bases = Some(rewind.bases.clone());
            rewind.before.clone()
        });
        self.rewinds.push(Rewind {
            seq: record.seq,
            before: before.clone(),
            bases: self.bases.clone(),
            now: self.now.clone(),
            undoing: undone.is_some(),
            undone: false,
        });
        let Some(shown) = &rewound.shown else {
            assert_eq!(
                rewound.what,
                What::Code,
                "a rewind of files keeps the conversation"
            );
            return;
        };
        (self.reset_due, self.cut_off) = (true, false);
        match undone {
            Some(before) => self.visible = before,
            None => self.visible.retain(|turn| *turn <= rewound.to_turn),
        }
        let hidden = before.iter().find(|turn| !self.visible.contains(turn));
        let then = hidden.map(|turn| self.before_turns[turn].clone());
        self.now = moment.or(then).unwrap_or_else(|| self.now.clone());
        let visible = &self.visible;
        match bases {
            Some(bases) => self.bases = bases,
            None => {
                let left =
                    |base: &ConversationBase| base.turns.iter().all(|turn| visible.contains(turn));
                self.bases.retain(left);
            }
        }
        let newest = self.visible.last().copied().unwrap_or_default();
        assert_eq!(newest, rewound.to_turn, "the newest turn is named");
        for (turn, said) in &self.turns {
            for record in said {
                let among = |(first, last): &(Seq, Seq)| (*first..=*last).contains(&record.seq);
                assert_eq!(
                    shown.iter().filter(|run| among(run)).count(),
                    usize::from(self.visible.contains(turn)),
                    "turns are hidden and shown whole: {} of turn {turn}",
                    record.seq
                );
            }
        }
    }

    fn said(&self) -> impl Iterator<Item = &Record> {
        let turns = self.visible.iter();
        turns.filter_map(|turn| self.turns.get(turn)).flatten()
    }

    /// The messages of the conversation, in their order, including folded ones.
    fn originals(&self) -> Vec<Seq> {
        let messages = self.said().filter(|record| is_message(&record.body));
        messages.map(|record| record.seq).collect()
    }

    /// The messages of a request, in their order.
    pub fn messages(&self) -> Vec<MessageRef> {
        let base = self.bases.last();
        let since = base.map_or(Seq(0), |base| base.seq);
        let later = self.originals().into_iter().filter(|seq| *seq > since);
        let base = base.map(|base| base.messages.clone()).unwrap_or_default();
        base.into_iter()
            .chain(later.map(MessageRef::Record))
            .collect()
    }

    /// The contents of a message.
    pub fn body_of(&self, place: MessageRef) -> &Body {
        match place {
            MessageRef::Element(reset, element) => &self.elements[&(reset, element)],
            MessageRef::Record(seq) => {
                let mut all = self.turns.values().flatten();
                let record = all.find(|record| record.seq == seq);
                &record.expect("the message exists").body
            }
        }
    }

    /// The record of the newest compaction that can be undone.
    pub fn undoable(&self) -> Option<Seq> {
        let (seq, _) = self.newest.as_ref()?;
        let exists = self.bases.iter().any(|base| base.seq == *seq);
        exists.then_some(*seq)
    }

    /// Checks that the strictest provider accepts it: each call has exactly one result before the next message (I2).
    pub fn assert_valid(&self) {
        assert!(!self.reset_due, "a rewind is a cache reset");
        let mut unanswered: Vec<CallId> = Vec::new();
        for place in self.messages() {
            match self.body_of(place) {
                Body::User(_) => assert_eq!(unanswered, [], "I2: a user message before a result"),
                Body::Assistant(message) => {
                    assert_eq!(unanswered, [], "I2: an answer before a result");
                    unanswered = message.calls.iter().map(|call| call.id.clone()).collect();
                }
                Body::Tool(message) => {
                    assert_eq!(unanswered.first(), Some(&message.call), "I2: a result");
                    unanswered.remove(0);
                }
                other => panic!("{other:?} is not a message"),
            }
        }
        assert_eq!(unanswered, [], "I2: a call without its result");
    }

    /// Checks that the newest notice of permissions matches the session's.
    pub fn assert_permissions_reported(&self, mode: Mode, read_only: bool) {
        let mut reported = (Mode::Normal, false);
        for place in self.messages() {
            match self.body_of(place) {
                Body::User(message) if message.voice == Voice::Daemon => {
                    if let Some(words) = words::parse_reported_permissions(&message.text) {
                        reported = (words.mode, words.read_only);
                    }
                }
                Body::Tool(message) if message.text.contains(") approved the plan.") => {
                    reported.0 = Mode::Normal;
                }
                _ => {}
            }
        }
        assert_eq!(reported, (mode, read_only), "the newest notice");
    }

    /// Checks that the facts agree with this model, which counts in another way.
    pub fn agrees_with(&self, facts: &Facts) {
        let runs = facts.shown_upto(facts.seq);
        let in_runs = |seq: &Seq| runs.iter().any(|(first, last)| first <= seq && seq <= last);
        let all = self.turns.values().flatten();
        let messages = all.filter(|record| is_message(&record.body));
        let kept: Vec<Seq> = messages.map(|record| record.seq).collect();
        let kept: Vec<Seq> = kept.into_iter().filter(in_runs).collect();
        assert_eq!(kept, self.originals(), "the shown messages");
        let pieces = facts.pieces_upto(facts.seq);
        assert_eq!(
            self.places(&pieces, facts.seq),
            self.messages(),
            "the messages of a request"
        );
        let marks: Vec<_> = facts.marks.iter().map(|mark| mark.turn).collect();
        assert_eq!(marks, self.visible, "the turns that a rewind can target");
        let (mut answered, mut spoken) = (self.now.summaries, 0);
        let mut todos: Vec<Todo> = Vec::new();
        for record in self.said() {
            match &record.body {
                Body::User(_) => spoken += 1,
                Body::Assistant(said) => {
                    answered += u64::from(said.finish != Finish::Interrupted);
                }
                Body::TodoUpdated(updated) => todos.clone_from(&updated.todos),
                _ => {}
            }
        }
        assert_eq!(facts.answered, answered, "answers of the conversation");
        assert_eq!(facts.spoken, spoken, "words of the conversation");
        assert_eq!(facts.context_tokens, self.now.tokens, "its size");
        assert_eq!(facts.todos, todos, "the todo list");
        let undo = self
            .rewinds
            .iter()
            .rfind(|rewind| !rewind.undoing && !rewind.undone);
        assert_eq!(
            facts.undoable().map(|rewind| rewind.seq),
            undo.map(|rewind| rewind.seq),
            "the rewind that can be undone"
        );
        assert_eq!(
            facts.undoable_compaction().map(|undoable| undoable.seq),
            self.undoable(),
            "the compaction that can be undone"
        );
    }

    /// The daemon died: the next record is lost.
    pub fn cut_off(&mut self) {
        self.cut_off = true;
    }
}

fn is_message(body: &Body) -> bool {
    matches!(body, Body::User(_) | Body::Assistant(_) | Body::Tool(_))
}
