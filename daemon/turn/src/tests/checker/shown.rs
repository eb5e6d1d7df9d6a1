//! The conversation as somebody keeps it who writes down turns, not runs of records: what a request must show.

use std::collections::BTreeMap;

use proto::item::{Finish, Voice};
use proto::params::history::What;
use proto::record::{Purpose, SessionRewound, Todo};
use proto::state::Mode;
use proto::{Body, CallId, Record, Seq};

use crate::{Facts, words};

#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// What each turn has said and noted, hidden ones too.
    turns: BTreeMap<u64, Vec<Record>>,
    /// The turns that are shown, oldest first.
    pub visible: Vec<u64>,
    rewinds: Vec<Rewind>,
    /// A rewind has changed the conversation, and the cache reset that belongs to it is not there yet. It stands directly
    /// behind, unless the daemon died between the two.
    reset_due: bool,
    cut_off: bool,
    /// Resets so far: between two of them requests extend each other.
    pub resets: u64,
}

#[derive(Clone, Debug)]
struct Rewind {
    seq: Seq,
    before: Vec<u64>,
    undoing: bool,
    undone: bool,
}

impl Shown {
    pub fn take(&mut self, record: &Record) {
        if self.reset_due && !self.cut_off {
            let reset = matches!(record.body, Body::CacheReset(_));
            assert!(reset, "{:?} follows in its place", record.body);
        }
        match &record.body {
            Body::TurnStarted(_) => self.visible.extend(record.turn),
            // The digest of a compaction may be asked for at rest.
            Body::Usage(usage) if usage.purpose == Purpose::Digest => {
                if let Some(turn) = record.turn {
                    self.turns.entry(turn).or_default().push(record.clone());
                }
            }
            Body::User(_)
            | Body::Assistant(_)
            | Body::Tool(_)
            | Body::TodoUpdated(_)
            | Body::Usage(_) => {
                let turn = record.turn.expect("it stands in a turn");
                self.turns.entry(turn).or_default().push(record.clone());
            }
            Body::SessionRewound(rewound) => self.rewound(rewound, record),
            Body::CacheReset(reset) if reset.reason.starts_with("compaction") => {
                self.resets += 1;
            }
            Body::CacheReset(_) => {
                assert!(self.reset_due, "nothing else is a cache reset");
                self.reset_due = false;
                self.resets += 1;
            }
            _ => {}
        }
    }

    fn rewound(&mut self, rewound: &SessionRewound, record: &Record) {
        let before = self.visible.clone();
        let undone = rewound.undoes.map(|seq| {
            let newest = self
                .rewinds
                .iter_mut()
                .rfind(|rewind| !rewind.undoing && !rewind.undone);
            let rewind = newest.expect("only what was done is taken back");
            assert_eq!(rewind.seq, seq, "the newest rewind is taken back first");
            rewind.undone = true;
            rewind.before.clone()
        });
        self.rewinds.push(Rewind {
            seq: record.seq,
            before,
            undoing: undone.is_some(),
            undone: false,
        });
        let Some(shown) = &rewound.shown else {
            assert_eq!(rewound.what, What::Code, "files alone leave it as it is");
            return;
        };
        (self.reset_due, self.cut_off) = (true, false);
        match undone {
            Some(before) => self.visible = before,
            None => self.visible.retain(|turn| *turn <= rewound.to_turn),
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

    /// The messages of the conversation, in their order.
    pub fn messages(&self) -> Vec<Seq> {
        let messages = self.said().filter(|record| is_message(&record.body));
        messages.map(|record| record.seq).collect()
    }

    /// The strictest provider takes it: each call has its one result before anything else is said (I2).
    pub fn is_valid(&self) {
        assert!(!self.reset_due, "a rewind is a cache reset");
        let mut unanswered: Vec<CallId> = Vec::new();
        for record in self.said() {
            match &record.body {
                Body::User(_) => assert_eq!(unanswered, [], "I2: words before a result"),
                Body::Assistant(message) => {
                    assert_eq!(unanswered, [], "I2: an answer before a result");
                    unanswered = message.calls.iter().map(|call| call.id.clone()).collect();
                }
                Body::Tool(message) => {
                    assert_eq!(unanswered.first(), Some(&message.call), "I2: a result");
                    unanswered.remove(0);
                }
                _ => {}
            }
        }
    }

    /// The model has been told last what the session may do now.
    pub fn tells(&self, mode: Mode, read_only: bool) {
        let mut told = (Mode::Normal, false);
        for record in self.said() {
            match &record.body {
                Body::User(message) if message.voice == Voice::Daemon => {
                    if let Some(words) = words::told_by(&message.text) {
                        told = (words.mode, words.read_only);
                    }
                }
                Body::Tool(message) if message.text.contains(") approved the plan.") => {
                    told.0 = Mode::Normal;
                }
                _ => {}
            }
        }
        assert_eq!(told, (mode, read_only), "what the model was told last");
    }

    /// What the facts count is what is shown, though nothing here is counted as they do.
    pub fn agrees_with(&self, facts: &Facts) {
        let runs = facts.shown_upto(facts.seq);
        let in_runs = |seq: &Seq| runs.iter().any(|(first, last)| first <= seq && seq <= last);
        let all = self.turns.values().flatten();
        let messages = all.filter(|record| is_message(&record.body));
        let kept: Vec<Seq> = messages.map(|record| record.seq).collect();
        let kept: Vec<Seq> = kept.into_iter().filter(in_runs).collect();
        assert_eq!(kept, self.messages(), "what a request would show");
        let marks: Vec<_> = facts.marks.iter().map(|mark| mark.turn).collect();
        assert_eq!(marks, self.visible, "the turns that can be gone back to");
        let (mut answered, mut spoken, mut tokens) = (0, 0, 0);
        let mut todos: Vec<Todo> = Vec::new();
        for record in self.said() {
            match &record.body {
                Body::User(_) => spoken += 1,
                Body::Assistant(said) => {
                    answered += u64::from(said.finish != Finish::Interrupted);
                }
                Body::Usage(usage) if usage.reported => {
                    tokens = usage.prompt_tokens + usage.output_tokens;
                }
                Body::TodoUpdated(updated) => todos.clone_from(&updated.todos),
                _ => {}
            }
        }
        assert_eq!(facts.answered, answered, "answers of the conversation");
        assert_eq!(facts.spoken, spoken, "words of the conversation");
        assert_eq!(facts.context_tokens, tokens, "its size");
        assert_eq!(facts.todos, todos, "what it has set out to do");
        let undo = self
            .rewinds
            .iter()
            .rfind(|rewind| !rewind.undoing && !rewind.undone);
        assert_eq!(
            facts.undoable().map(|rewind| rewind.seq),
            undo.map(|rewind| rewind.seq),
            "what can be taken back"
        );
    }

    /// The daemon died: what was to follow is lost.
    pub fn cut_off(&mut self) {
        self.cut_off = true;
    }
}

fn is_message(body: &Body) -> bool {
    matches!(body, Body::User(_) | Body::Assistant(_) | Body::Tool(_))
}
