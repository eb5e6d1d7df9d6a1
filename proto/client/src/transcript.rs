//! The conversation and actions of a session, as entries in order: the one fold over its events that all clients show.
//!
//! Pure. An entry that is settled never changes and never goes. A live one may grow, or go as long as nothing of it can be
//! printed: so printed text stays true. Texts of models and tools are cleaned where a client prints them.

mod calls;
mod fold;
mod known;
mod streams;
mod tail;
mod thought;
pub mod words;

use std::collections::HashSet;

use proto::hook::HookFinished;
use proto::item::{Attachment, CallStatus, Display, Finish};
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::interaction::Interaction;
use proto::record::{
    CallReviewed, Changed, ChildExited, GoalChanged, GoalContinued, GoalEnded, InteractionResolved,
    Origin, ReasoningExtracted, SessionGaveUp, SessionRestarted, SessionRewound, Todo,
};
use proto::reset::{CacheReset, Pinned};
use proto::state::Mode;
use proto::{CallId, InteractionId, Pid, PromptId, Seq, UntypedText};

use crate::event::{Content, DecodedEvent};
use crate::form::Asked;

pub use tail::printed;
pub use thought::Thought;

/// The text of an answer as a client keeps it while it grows.
pub trait AnswerText: Default {
    /// More of it, cleaned.
    fn push(&mut self, text: &str);

    /// No more comes.
    fn finish(&mut self);

    /// All of it.
    fn text(&self) -> &str;

    /// Whether some of it may be printed, so that it cannot be taken back.
    fn is_printed(&self) -> bool;

    /// Whether a client that keeps answers so shows an entry. One that it does not show is not kept.
    fn shows(kind: &EntryKind<Self>) -> bool;
}

/// For a client that prints every piece as it comes.
impl AnswerText for String {
    fn push(&mut self, text: &str) {
        self.push_str(text);
    }

    fn finish(&mut self) {}

    fn text(&self) -> &str {
        self
    }

    fn is_printed(&self) -> bool {
        !self.is_empty()
    }

    fn shows(_: &EntryKind<Self>) -> bool {
        true
    }
}

/// The transcript of a session.
#[derive(Debug, Default)]
pub struct Transcript<T> {
    /// In order. Only the newest ones change still ([`Entry::settled`]).
    pub entries: Vec<Entry<T>>,
    /// Changes whenever the entries start again from nothing.
    pub generation: u64,
    /// The id of the next entry.
    next: u64,
    /// The newest record that was taken: older ones are replayed, and say nothing new.
    newest: Seq,
    /// What the event that is being taken has changed.
    changes: Vec<Change>,
    streams: streams::Streams,
    known: known::FoldState,
}

/// What an event has changed, by the ids of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    New(u64),
    /// An answer has grown: this many bytes of it were there before.
    TextGrowth(u64, usize),
    /// Answers that grew do not grow any more; they may be finished yet.
    Stopped,
    /// An answer, a thought or a call is finished.
    Settled(u64),
}

/// The position of an event.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    seq: Option<Seq>,
    turn: Option<u64>,
}

/// Something that was said or done.
#[derive(Debug)]
pub struct Entry<T> {
    /// Never used again within a generation.
    pub id: u64,
    /// The record that it is of; `None` while it is live, if no record finished it, and for lines of a client's own.
    pub seq: Option<Seq>,
    pub turn: Option<u64>,
    pub kind: EntryKind<T>,
}

/// The kind of entry, with its content.
#[derive(Debug)]
pub enum EntryKind<T> {
    /// A user's prompt. `steer`: said into a running turn. `from`: the session that sent it, if no user did.
    User {
        text: String,
        /// The parts of it that nobody typed.
        untyped: Vec<UntypedText>,
        steer: bool,
        from: Option<Pid>,
        /// What was attached, because the prompt refers to it.
        attached: Vec<Attachment>,
    },
    /// Reasoning that the model showed. `done`: no more of it comes.
    Reasoning {
        thought: Thought,
        done: bool,
    },
    /// Words of the model. `finish`: `None` while they grow. `plan`: they are a plan, which is put to a person.
    Answer {
        text: T,
        finish: Option<Finish>,
        plan: Option<InteractionId>,
    },
    Tool(Box<ToolRun>),
    /// An approval or questions that the user is asked. A plan is words of the model.
    Interaction(Box<Interaction>),
    /// How an interaction was settled.
    Resolved {
        asked: Asked,
        resolved: Box<InteractionResolved>,
    },
    /// The list of things to do, if it has changed.
    Todos(Vec<Todo>),
    /// A command came or went. `command`: empty if its start was not seen. `background`: it outlives its call.
    Child {
        pid: Pid,
        command: String,
        background: bool,
        exited: Option<ChildExited>,
    },
    Rewound(Box<SessionRewound>),
    /// The end of a turn, its duration without waits for the user. `explained`: calls whose denial was shown above with its reason.
    Ended {
        ended: Box<TurnEnded>,
        explained: HashSet<CallId>,
    },
    /// Something else of the session, reported in a line.
    Status(Box<Status>),
    /// A line of the daemon's, or of a client's own.
    Notice {
        tone: Tone,
        words: String,
    },
    /// Something between two parts: another session begins, the connection was lost and is there again.
    Divider {
        words: String,
    },
}

/// How good or bad the reported event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tone {
    Info,
    Good,
    Warning,
    Error,
}

/// A call.
#[derive(Clone, Debug)]
pub struct ToolRun {
    pub call: CallId,
    /// The tool that really runs, which another may have called.
    pub tool: String,
    /// The command, or the path.
    pub subject: String,
    /// It runs once more, outside the sandbox that had stopped it.
    pub outside: bool,
    /// A user runs it, not the model: the client that asked for it.
    pub by_user: Option<String>,
    /// It was seen to start.
    pub started: bool,
    /// Its output while it runs: the last part, at most 16 KiB.
    pub output: String,
    /// `None` while it runs.
    pub outcome: Option<ToolOutcome>,
}

impl ToolRun {
    /// Bytes of output of a call that has ended, where the event had its end alone.
    #[must_use]
    pub fn cut_output(&self) -> Option<u64> {
        let outcome = self.outcome.as_ref().filter(|done| done.spill.is_some())?;
        match &outcome.display {
            Display::Command {
                output_lines,
                output_bytes,
                tail,
                ..
            } => (tail.lines().count() as u64)
                .lt(output_lines)
                .then_some(*output_bytes),
            Display::Line { .. } | Display::Diff { .. } => None,
        }
    }

    /// Takes all of the output in place of its end. False: the entry has no output.
    pub fn take_output(&mut self, whole: &str) -> bool {
        let display = self.outcome.as_mut().map(|done| &mut done.display);
        let Some(Display::Command { tail, .. }) = display else {
            return false;
        };
        whole.clone_into(tail);
        true
    }
}

/// How a call ended.
#[derive(Clone, Debug)]
pub struct ToolOutcome {
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

impl<T> Entry<T> {
    /// Whether it will never change again.
    #[must_use]
    pub fn settled(&self) -> bool {
        match &self.kind {
            EntryKind::Reasoning { done, .. } => *done,
            EntryKind::Answer { finish, .. } => finish.is_some(),
            EntryKind::Tool(tool) => tool.outcome.is_some(),
            _ => true,
        }
    }
}

/// An event of a session that is reported in a line ([`words::status`]).
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    Created {
        pid: Pid,
        /// `provider/model`.
        model: String,
        cwd: String,
        /// Instruction files of the prefix.
        instructions: Vec<String>,
        origin: Option<Origin>,
    },
    /// The answer above does not count. `attempt`: a new attempt takes its place; else another text does.
    StartsAgain {
        attempt: bool,
    },
    /// The stream of an answer broke; it may be finished yet.
    BrokeOff,
    /// Earlier bytes of the conversation change with the next request.
    CacheReset(CacheReset),
    Pinned(Pinned),
    ReasoningExtracted(ReasoningExtracted),
    /// The planner works on the prompt.
    Planning {
        /// As the options of the session name it.
        model: String,
    },
    /// The planner has made a plan for the model.
    Planned {
        pid: Option<Pid>,
        plan: String,
        duration_ms: u64,
    },
    /// So many samples of a request have come.
    Samples {
        is_in: u64,
        of: u64,
    },
    /// This client has so many events to catch up with.
    Behind(u64),
    Paused {
        by: Option<String>,
    },
    Resumed {
        by: Option<String>,
    },
    Mode {
        mode: Mode,
        by: Option<String>,
    },
    /// The session may write in a further directory.
    AddedDir {
        dir: String,
    },
    OnlyReads {
        only: bool,
        by: Option<String>,
    },
    GoalStarted {
        by: String,
        text: String,
        /// The directory of its notes, if it is long research.
        research: Option<String>,
    },
    GoalChanged(GoalChanged),
    GoalContinued(GoalContinued),
    GoalEnded(GoalEnded),
    /// The session goes on by its restart policy.
    Restarted(SessionRestarted),
    /// It does not go on, although it has such a policy.
    GaveUp(SessionGaveUp),
    /// A second model has looked at a call that the user would be asked about.
    Reviewed(CallReviewed),
    /// A rule that was allowed in the session was taken back.
    Revoked {
        by: String,
        rule: String,
    },
    /// It waits for the next try of a request.
    Retry {
        in_ms: Option<u64>,
        cause: String,
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
    Hook(HookFinished),
    /// What commands change in this turn cannot be taken back.
    Unkept {
        why: String,
    },
    /// A prompt that waits has other words. `which`: how it began; empty if that is not known.
    PromptEdited {
        by: String,
        which: String,
        text: String,
    },
    /// A prompt that waits is sent into the running turn, with the words that it had.
    PromptSteers {
        which: String,
    },
    /// A prompt that waits has another place, from 1.
    PromptMoved {
        by: String,
        which: String,
        place: u64,
    },
    /// A prompt that waited was taken back.
    PromptDropped {
        which: String,
    },
    Joined {
        name: String,
    },
    Left {
        name: String,
    },
}

impl<T: AnswerText> Transcript<T> {
    /// Takes an event, and returns the changes. One that this build cannot read changes nothing.
    pub fn fold(&mut self, event: &DecodedEvent) -> Vec<Change> {
        let at = At {
            seq: event.seq,
            turn: event.turn,
        };
        match &event.content {
            Content::Live(live) => self.live(live, at),
            Content::Durable(body) if at.seq > Some(self.newest) => {
                self.newest = at.seq.unwrap_or_default();
                self.known.waits.fold(body, event.at);
                self.record(body, at);
            }
            Content::Durable(_) | Content::UnknownLive => {}
        }
        std::mem::take(&mut self.changes)
    }

    /// A line of the client's own.
    pub fn say(&mut self, tone: Tone, words: impl Into<String>) {
        let words = words.into();
        self.push(At::default(), EntryKind::Notice { tone, words });
    }

    /// The next removal or move of this queued prompt gets no entry: this client asked for it, and shows it elsewhere.
    pub fn expect_queue_change(&mut self, prompt: PromptId) {
        self.known.quiet.insert(prompt);
    }

    /// It has failed: what becomes of the prompt gets its entry.
    pub fn forget_queue_change(&mut self, prompt: PromptId) {
        self.known.quiet.remove(&prompt);
    }

    /// Something between two parts.
    pub fn divide(&mut self, words: impl Into<String>) {
        let words = words.into();
        self.push(At::default(), EntryKind::Divider { words });
    }

    /// Forgets everything: another session follows.
    pub fn reset(&mut self) {
        *self = Self {
            generation: self.generation + 1,
            ..Self::default()
        };
    }

    /// The entry with this id.
    #[must_use]
    pub fn entry(&self, id: u64) -> Option<&Entry<T>> {
        self.entries.get(self.index(id)?)
    }

    /// What the model has set out to do.
    #[must_use]
    pub fn todos(&self) -> &[Todo] {
        &self.known.todos
    }

    /// A new entry at the end, if it is shown. Returns its id.
    fn push(&mut self, at: At, kind: EntryKind<T>) -> u64 {
        let index = self.entries.len();
        self.insert(index, at, kind)
    }

    fn insert(&mut self, index: usize, at: At, kind: EntryKind<T>) -> u64 {
        let id = self.next;
        self.next += 1;
        if T::shows(&kind) {
            let entry = Entry {
                id,
                seq: at.seq,
                turn: at.turn,
                kind,
            };
            self.entries.insert(index.min(self.entries.len()), entry);
            self.changes.push(Change::New(id));
        }
        id
    }

    fn tell(&mut self, at: At, status: Status) {
        self.push(at, EntryKind::Status(Box::new(status)));
    }

    /// The index of an entry that is live, or was a moment ago: near the end.
    fn index(&self, id: u64) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.id == id)
    }

    fn find(&mut self, id: u64) -> Option<&mut Entry<T>> {
        let index = self.index(id)?;
        self.entries.get_mut(index)
    }
}
