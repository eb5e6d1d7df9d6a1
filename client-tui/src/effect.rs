//! What the interface wants done: calls of the daemon, and things of the terminal. `update` makes them, `perform` does
//! them, and what became of them comes back as an [`Answer`].

use std::path::PathBuf;

use client::DecodedEvent;
use proto::params::compact::{CompactOutput, CompactParams, PinParams};
use proto::params::config::{
    ProviderListOutput, ProviderListParams, TrustGetParams, TrustOutput, TrustSetParams,
};
use proto::params::history::{
    CheckpointsOutput, DeleteOutput, DeleteParams, ForkOutput, ForkParams, RewindOutput,
    RewindParams, StatsOutput, StatsParams,
};
use proto::params::interaction::{AnswerParams, Interaction};
use proto::params::reload::{ReloadOutput, ReloadParams};
use proto::params::session::{
    CreateOutput, CreateParams, EditParams, InspectOutput, InspectParams, ListOutput, ListParams,
    PromptParams, QueuedPrompt, ReorderParams, SessionSummary, SetParams, ShellParams,
    SignalParams, UnqueueParams,
};
use proto::params::{command, goal, history, hook, memory, process, rules};
use proto::{CallId, Pid, Seq};

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Calls the daemon.
    Call(Call),
    /// Follows another session from now on: pid, id or name. What was followed is let go.
    Follow {
        follow: u64,
        session: String,
    },
    /// Lets go of the session that is followed; nothing is.
    Unfollow,
    /// Ends the interface.
    Leave(Leave),
    /// Gives the terminal back and stops the process, as the shell's job control does.
    Suspend,
    /// The screen may show anything: draw all of it anew.
    Redraw,
    /// What the transcript looks like has changed: what is on the screen of it is printed again.
    Reprint,
    Bell,
    /// The title of the terminal's window. Cleaned by who sets it.
    Title(String),
    /// A notification of the terminal (OSC 9), where nobody looks.
    Notify(String),
    /// Puts text on the clipboard.
    Copy(String),
    /// Opens the person's editor with this text; comes back as [`Answer::Edited`].
    Edit(String),
    /// Reads a directory for the menu of files; comes back as [`Answer::Directory`].
    Directory(PathBuf),
    /// Reads the names of all that is below a directory, for the same menu; comes back as [`Answer::Tree`].
    Tree(PathBuf),
    /// Offers this process's keys to a session that lost its own.
    OfferKeys,
}

/// A call of the daemon.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Makes a session, with its first prompt.
    Create(Box<CreateParams>),
    /// The keys and lost variables of this process are added where `renew` says so. `takeover`: it is a headless run's
    /// session, which becomes a person's first.
    Prompt {
        params: PromptParams,
        renew: bool,
        takeover: bool,
    },
    /// Runs a shell command of the user.
    Shell(ShellParams),
    /// Stops the turn. Prompts that wait are taken back first, so that the stop does not send them.
    Interrupt {
        session: String,
        queue: Vec<QueuedPrompt>,
    },
    Signal(SignalParams),
    Set(Box<SetParams>),
    /// Answers what waits for the user.
    Answer(AnswerParams),
    /// `edit`: its words are written again when it is taken back.
    Unqueue {
        params: UnqueueParams,
        edit: Option<String>,
    },
    EditQueued(EditParams),
    Reorder(ReorderParams),
    Sessions(ListParams),
    /// The session that a text names, to go to it.
    Find(String),
    /// The models that sessions of this directory can have.
    Models(ProviderListParams),
    Processes(process::ListParams),
    /// All open questions, of all sessions.
    Waiting,
    KillProcess(Pid),
    /// `undo`: to take back what the newest turn did to files.
    Checkpoints {
        session: String,
        undo: bool,
    },
    Compact(CompactParams),
    StartGoal(goal::StartParams),
    StopGoal(goal::StopParams),
    Reload(ReloadParams),
    Pin(PinParams),
    Rewind(RewindParams),
    Fork(ForkParams),
    Inspect(InspectParams),
    Stats(StatsParams),
    /// For the menu.
    Commands(command::ListParams),
    Memory(memory::ListParams),
    Hooks(hook::ListParams),
    ReloadHooks(hook::ReloadParams),
    Delete(DeleteParams),
    /// `unasked`: nobody wants to know, so only what is held back is told.
    Trust {
        params: TrustGetParams,
        unasked: bool,
    },
    SetTrust(TrustSetParams),
    /// The rules in force, all pages of them.
    Rules(rules::ListParams),
    Revoke(rules::RevokeParams),
    /// Writes a session to a file that must not exist.
    Export {
        session: String,
        file: PathBuf,
        format: history::ExportFormat,
    },
    /// Reads the last events of a session, for a preview.
    Preview {
        session: String,
    },
    /// Reads durable events before what is shown, for reading back.
    Earlier {
        session: String,
        before: Seq,
    },
    /// Reads all that a call printed.
    Output {
        session: String,
        call: CallId,
    },
}

/// What became of an effect.
#[derive(Debug)]
pub enum Answer {
    /// A call failed.
    Failed {
        call: Call,
        trouble: Trouble,
    },
    /// A call succeeded, which an event shows, or which needs no values.
    Done(Call),
    Created(CreateOutput),
    Reloaded(ReloadOutput),
    Compacted {
        params: CompactParams,
        output: CompactOutput,
    },
    /// `Interrupt`: whether anything ran, and the prompts that were taken back.
    Interrupted {
        session: String,
        ran: bool,
        taken_back: Vec<String>,
    },
    Sessions(ListOutput),
    /// There is a session that is called so.
    Found(Box<SessionSummary>),
    /// `keys`: variables of keys that this process has.
    Models {
        list: ProviderListOutput,
        keys: Vec<String>,
    },
    Processes(process::ListOutput),
    Waiting(Vec<Interaction>),
    Checkpoints {
        undo: bool,
        output: CheckpointsOutput,
    },
    Rewound {
        params: RewindParams,
        output: RewindOutput,
    },
    Forked(ForkOutput),
    Inspected(Box<InspectOutput>),
    Stats {
        params: StatsParams,
        output: Box<StatsOutput>,
    },
    Commands(command::ListOutput),
    Memory(memory::ListOutput),
    /// `reloaded`: they were read again.
    Hooks {
        reloaded: bool,
        output: hook::ListOutput,
    },
    Deleted(DeleteOutput),
    Trust {
        params: TrustGetParams,
        unasked: bool,
        output: TrustOutput,
    },
    Rules(rules::ListOutput),
    Revoked {
        rule: String,
        output: rules::RevokeOutput,
    },
    /// Where it was written, and how many bytes.
    Exported {
        file: PathBuf,
        bytes: u64,
    },
    Preview {
        session: String,
        events: Vec<DecodedEvent>,
    },
    Earlier {
        session: String,
        events: Vec<DecodedEvent>,
    },
    Output {
        session: String,
        call: CallId,
        text: String,
    },
    Edited(Result<String, Trouble>),
    /// What a directory holds: names, those of directories with a slash at the end.
    Directory {
        directory: PathBuf,
        names: Vec<String>,
    },
    /// The paths of what is below a directory, those of directories with a slash at the end.
    Tree {
        root: PathBuf,
        paths: Vec<String>,
    },
    Copied {
        characters: usize,
        result: Result<Copied, Trouble>,
    },
}

/// How a text came to the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The terminal was asked to; whether it did is not known.
    Terminal,
    /// It is too long for a terminal: it was written here.
    File(PathBuf),
}

/// Why something did not work, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub what: String,
    /// What to do about it; empty where there is nothing.
    pub hint: String,
    /// The daemon's name of the failure, where it said one.
    pub name: Option<proto::ErrorName>,
}

impl Trouble {
    /// One of our own.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: hint.into(),
            name: None,
        }
    }
}

impl From<client::CallError> for Trouble {
    fn from(error: client::CallError) -> Self {
        let failure = error.failure();
        let answered = failure.and_then(client::hint::answered_before);
        Self {
            hint: match answered {
                Some(_) => String::new(),
                None => client::hint::of(&error),
            },
            name: failure.map(|failure| failure.name),
            what: answered.unwrap_or_else(|| error.to_string()),
        }
    }
}

/// How the interface ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    /// For the program that started us.
    pub code: u8,
    /// What is reported below the transcript, when the terminal is as it was.
    pub words: Vec<String>,
}
