//! What was said and done, as entries in order: a fold over the events of a session.

use proto::Event;
use proto::item::{CallStatus, Display, Finish};
use proto::outcome::TurnEnded;
use proto::params::question::Reply;
use proto::record::{ApprovalResolved, ChildExited, SessionRewound};
use proto::{CallId, ItemId, Seq};

use crate::model::Tone;
use crate::render::markdown::Markdown;

/// The transcript of the session that is followed.
#[derive(Debug, Default)]
pub struct Transcript {
    /// In order. Only the newest ones change still ([`Entry::settled`]).
    pub entries: Vec<Entry>,
    /// Another one whenever the entries begin anew.
    pub generation: u64,
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
        item: Option<ItemId>,
        text: String,
        done: bool,
    },
    /// Words of the model. `finish`: `None` while they grow.
    Answer {
        item: Option<ItemId>,
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
    /// Questions of the model with their answers.
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
    /// The end of a turn.
    Ended(Box<TurnEnded>),
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
#[derive(Debug)]
pub struct Tool {
    pub call: CallId,
    pub tool: String,
    /// The command, or the path.
    pub subject: String,
    /// What it prints while it runs: the end of it, at most 16 KiB.
    pub output: String,
    /// `None` while it runs.
    pub done: Option<Done>,
}

/// How a call ended.
#[derive(Debug)]
pub struct Done {
    pub status: CallStatus,
    pub duration_ms: u64,
    pub display: Display,
    /// The file that holds all of an output that was cut.
    pub spill: Option<String>,
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

impl Transcript {
    /// Takes an event. One that this build cannot read adds nothing.
    pub fn fold(&mut self, event: &Event) {
        let _ = event;
    }

    /// A line of ours.
    pub fn say(&mut self, tone: Tone, words: impl Into<String>) {
        let words = words.into();
        self.push(What::Notice { tone, words });
    }

    /// Something between two parts.
    pub fn divide(&mut self, words: impl Into<String>) {
        let words = words.into();
        self.push(What::Divider { words });
    }

    /// Forgets everything: another session follows.
    pub fn reset(&mut self) {
        self.entries.clear();
        self.generation += 1;
    }

    fn push(&mut self, what: What) {
        let id = self.entries.last().map_or(0, |last| last.id + 1);
        self.entries.push(Entry {
            id,
            seq: None,
            turn: None,
            what,
        });
    }
}
