//! What was said and done, as entries in order: a fold over the events of a session.
//!
//! An entry that is settled never changes and never goes; a live one may grow, or go as long as no block of it is whole.
//! So whatever is printed of it stays true.

mod fold;
mod streams;
mod tail;
mod thought;

use proto::Event;
use proto::hook::HookFinished;
use proto::item::{CallStatus, Display, Finish};
use proto::live::Live;
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::question::Reply;
use proto::record::{ApprovalResolved, Changed, ChildExited, Origin, SessionRewound};
use proto::{CallId, Pid, Seq};

use crate::model::Tone;
use crate::render::markdown::Markdown;

pub use tail::printed;
pub use thought::Thought;

/// The transcript of the session that is followed.
#[derive(Debug, Default)]
pub struct Transcript {
    /// In order. Only the newest ones change still ([`Entry::settled`]).
    pub entries: Vec<Entry>,
    /// Another one whenever the entries begin anew.
    pub generation: u64,
    /// The id of the next entry.
    next: u64,
    /// The newest record that was taken: older ones are replayed, and say nothing new.
    newest: Seq,
    streams: streams::Streams,
    known: fold::Known,
}

/// Where an event stands.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    seq: Option<Seq>,
    turn: Option<u64>,
}

/// Something that was said or done.
#[derive(Debug)]
pub struct Entry {
    /// Never used again within a generation.
    pub id: u64,
    /// The record that it is of; `None` while it is live, and for lines of ours.
    pub seq: Option<Seq>,
    pub turn: Option<u64>,
    pub what: What,
}

/// What it is.
#[derive(Debug)]
pub enum What {
    /// A person's prompt. `steer`: said into a running turn.
    User {
        text: String,
        steer: bool,
    },
    /// Reasoning that the model showed. `done`: no more of it comes.
    Reasoning {
        thought: Thought,
        done: bool,
    },
    /// Words of the model. `finish`: `None` while they grow.
    Answer {
        markdown: Markdown,
        finish: Option<Finish>,
    },
    Tool(Box<Tool>),
    /// How a question about a call was answered.
    Resolved {
        tool: String,
        subject: String,
        resolved: ApprovalResolved,
    },
    /// Questions of the model with their answers. `by`: empty where nobody was there.
    Answered {
        asked: Vec<String>,
        replies: Vec<Reply>,
        by: String,
    },
    /// A command in the background came or went.
    Child {
        pid: proto::Pid,
        command: String,
        exited: Option<ChildExited>,
    },
    Rewound(Box<SessionRewound>),
    /// The end of a turn, where there is something to say of it. Calls whose denial was told are not in it.
    Ended(Box<TurnEnded>),
    /// Something else of the session.
    Told(Box<Told>),
    /// A line of the daemon's or ours.
    Notice {
        tone: Tone,
        words: String,
    },
    /// Something between two parts: another session begins, the connection was lost and is there again.
    Divider {
        words: String,
    },
}

/// A call.
#[derive(Clone, Debug)]
pub struct Tool {
    pub call: CallId,
    pub tool: String,
    /// The command, or the path.
    pub subject: String,
    /// It runs once more, outside the sandbox that had stopped it.
    pub outside: bool,
    /// What it prints while it runs: the end of it, at most 16 KiB.
    pub output: String,
    /// `None` while it runs.
    pub done: Option<Done>,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub struct Done {
    pub status: CallStatus,
    pub duration_ms: u64,
    pub display: Display,
    /// The file that holds all of an output that was cut.
    pub spill: Option<String>,
    /// Why the sandbox stopped it, where a person may let it run once more.
    pub blocked: Option<String>,
    /// What a command has changed, or why that is not known.
    pub changed: Vec<Changed>,
}

impl Entry {
    /// Whether it will never change again.
    #[must_use]
    pub fn settled(&self) -> bool {
        match &self.what {
            What::Reasoning { done, .. } => *done,
            What::Answer { finish, .. } => finish.is_some(),
            What::Tool(tool) => tool.done.is_some(),
            _ => true,
        }
    }
}

/// What is told of a session in a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Created {
        pid: Pid,
        /// `provider/model`.
        model: String,
        cwd: String,
        origin: Option<Origin>,
    },
    /// A new attempt takes the place of the answer that stands above.
    StartsAgain,
    /// The stream of an answer broke; it may be finished yet.
    BrokeOff,
    /// Earlier bytes of the conversation change with the next request.
    CacheReset {
        reason: String,
    },
    /// A message stays word for word in every compaction, or no longer.
    Pinned(String),
    /// What was extracted from the reasoning of an answer, a line an entry.
    ReasoningExtracted(String),
    /// So many samples of a request have come.
    Samples {
        is_in: u64,
        of: u64,
    },
    Paused {
        by: Option<String>,
    },
    Resumed {
        by: Option<String>,
    },
    /// It waits for a key.
    Credentials {
        cause: String,
    },
    Exited {
        outcome: OutcomeKind,
        reason: Option<Reason>,
    },
    Reopened {
        by: String,
    },
    /// The daemon hands over to the next one.
    Suspended,
    /// The log cannot be written.
    ReadOnly {
        reason: String,
    },
    /// A hook warned, blocked or failed.
    Hook(Box<HookFinished>),
    /// What commands change in this turn cannot be taken back.
    Unkept {
        why: String,
    },
    /// A prompt that waits has other words: `text` is how it begins now, `which` how it began; empty where that is not
    /// known.
    PromptEdited {
        by: String,
        which: String,
        text: String,
    },
    /// A prompt that waits has another place, from 1.
    /// A rule that was allowed in the session was taken back.
    Revoked {
        by: String,
        rule: String,
    },
    PromptMoved {
        by: String,
        which: String,
        place: u64,
    },
    /// A prompt that waited was taken back.
    PromptDropped {
        which: String,
    },
}

impl Transcript {
    /// Takes an event. One that this build cannot read adds nothing.
    pub fn fold(&mut self, event: &Event) {
        let at = At {
            seq: event.seq,
            turn: event.turn,
        };
        let Some(seq) = event.seq else {
            if let Some(Ok(live)) = Live::decode(&event.kind, event.data.get()) {
                self.live(live, at);
            }
            return;
        };
        if seq <= self.newest {
            return;
        }
        self.newest = seq;
        if let Ok(body) = event.body() {
            self.record(body, at);
        }
    }

    /// A line of ours.
    pub fn say(&mut self, tone: Tone, words: impl Into<String>) {
        let words = words.into();
        self.push(At::default(), What::Notice { tone, words });
    }

    /// Something between two parts.
    pub fn divide(&mut self, words: impl Into<String>) {
        let words = words.into();
        self.push(At::default(), What::Divider { words });
    }

    /// Forgets everything: another session follows.
    pub fn reset(&mut self) {
        *self = Self {
            generation: self.generation + 1,
            ..Self::default()
        };
    }

    /// A new entry at the end. Returns its id.
    fn push(&mut self, at: At, what: What) -> u64 {
        let index = self.entries.len();
        self.insert(index, at, what)
    }

    fn insert(&mut self, index: usize, at: At, what: What) -> u64 {
        let id = self.next;
        self.next += 1;
        let entry = Entry {
            id,
            seq: at.seq,
            turn: at.turn,
            what,
        };
        self.entries.insert(index.min(self.entries.len()), entry);
        id
    }

    fn tell(&mut self, at: At, told: Told) {
        self.push(at, What::Told(Box::new(told)));
    }

    /// Where an entry that is live, or was a moment ago, stands: near the end.
    fn index(&self, id: u64) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.id == id)
    }

    fn find(&mut self, id: u64) -> Option<&mut Entry> {
        let index = self.index(id)?;
        self.entries.get_mut(index)
    }
}

#[cfg(test)]
pub(crate) mod tests;
