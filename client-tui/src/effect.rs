//! What the interface wants done: calls of the daemon, and things of the terminal. `update` makes them, `perform` does
//! them, and what became of them comes back as an [`Answer`].

use std::path::PathBuf;

use client::DecodedEvent;
use client::prompt::Prompt;
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
    OneParams, PromptParams, QueuedPrompt, ReorderParams, ResumeParams, SessionSummary, SetParams,
    ShellParams, Signal, SignalParams, UnqueueParams,
};
use proto::params::{command, goal, history, hook, mcp, memory, process, rules, skill, symbol};
use proto::{CallId, Pid, PromptId, Seq};

/// An effect to perform.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Calls the daemon.
    Call(Call),
    /// Follows another session: pid, id or name. The previous one is no longer followed.
    Follow {
        follow: u64,
        session: String,
    },
    /// Stops following the session.
    Unfollow,
    /// Ends the interface.
    Leave(ExitReport),
    /// Gives the terminal back and stops the process, as the shell's job control does.
    Suspend,
    /// Redraw the whole screen: its contents are unknown.
    Redraw,
    /// The transcript's look has changed: print its visible part again.
    Reprint,
    Bell,
    /// Sets the title of the terminal's window. Cleaned by the sender.
    Title(String),
    /// Send a terminal notification (OSC 9) if the window is unfocused.
    Notify(String),
    /// Puts text on the clipboard.
    Copy(String),
    /// Opens the user's editor with this text; the result is [`Answer::Edited`].
    Edit(String),
    /// Opens the user's editor with the text of a fact; the result is [`Answer::FactEdited`].
    EditFact(Box<memory::FactOutput>),
    /// Reads a directory for the menu of files; the result is [`Answer::Directory`].
    Directory(PathBuf),
    /// Reads all paths below a directory, for the same menu; the result is [`Answer::Tree`].
    Tree(PathBuf),
    /// Offers this process's keys to a session that lost its own.
    OfferKeys,
}

/// A call of the daemon.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Creates a session, with its first prompt.
    Create(Box<CreateParams>),
    /// The keys and lost variables of this process are added where `renew` says so. `takeover`: it is a headless run's
    /// session, which becomes a person's first.
    /// `following`: where it belongs in the queue, if it was taken out of it ([`crate::model::composer::Composer::following`]).
    Prompt {
        params: PromptParams,
        renew: bool,
        takeover: bool,
        following: Vec<PromptId>,
    },
    /// Runs a shell command of the user.
    Shell(ShellParams),
    /// Stops the turn. Queued prompts are taken back first, so that stopping does not send them.
    Interrupt {
        session: String,
        queue: Vec<QueuedPrompt>,
    },
    Signal(SignalParams),
    ResumeWork(ResumeParams),
    Set(Box<SetParams>),
    /// Answers an interaction.
    Answer(AnswerParams),
    /// `edit`: its text goes back into the composer. `following`: the prompts that waited behind it.
    Unqueue {
        params: UnqueueParams,
        edit: Option<Prompt>,
        following: Vec<PromptId>,
    },
    EditQueued(EditParams),
    Reorder(ReorderParams),
    Sessions(ListParams),
    /// Finds the session that a text names, to go to it.
    Find(String),
    /// Models available to sessions of this directory.
    Models(ProviderListParams),
    Processes(process::ListParams),
    /// All open questions, of all sessions.
    Waiting,
    KillProcess(Pid),
    /// `undo`: to undo the newest turn's changes to files.
    Checkpoints {
        session: String,
        undo: bool,
    },
    Compact(CompactParams),
    StartGoal(goal::StartParams),
    ChangeGoal(goal::ChangeParams),
    StopGoal(goal::StopParams),
    GoalStatus(OneParams),
    Reload(ReloadParams),
    Pin(PinParams),
    Rewind(RewindParams),
    Fork(ForkParams),
    Inspect(InspectParams),
    Stats(StatsParams),
    /// For the menu.
    Commands(command::ListParams),
    /// For the menu of files: definitions in source files.
    Symbols(symbol::ListParams),
    /// For the menu of files: resources of MCP servers.
    Resources(mcp::ListParams),
    /// For the list of custom commands.
    CustomCommands(command::ListParams),
    Memory(memory::ListParams),
    /// Reads a fact to edit it.
    ReadFact(memory::ReadParams),
    WriteFact(memory::WriteParams),
    ForgetFact(memory::ForgetParams),
    RestoreFact(memory::RestoreParams),
    Skills(skill::ListParams),
    Search(history::SearchParams),
    /// Prompts of earlier sessions, for the composer's history.
    Prompts(history::PromptsParams),
    Hooks(hook::ListParams),
    ReloadHooks(hook::ReloadParams),
    /// The MCP servers of a directory.
    Servers(mcp::ListParams),
    RestartServer(mcp::RestartParams),
    Delete(DeleteParams),
    /// `unasked`: the user did not ask, so only report if something is held back.
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
    /// Reads durable events from before the ones on the screen.
    Earlier {
        session: String,
        before: Seq,
    },
    /// Reads the whole output of a call.
    Output {
        session: String,
        call: CallId,
    },
}

/// The answer to an effect.
#[derive(Debug)]
pub enum Answer {
    /// A call failed.
    Failed {
        call: Call,
        trouble: ErrorReport,
    },
    /// A call succeeded whose result arrives as an event, or that has none.
    Done(Call),
    /// Options were changed: the session as it is now.
    Set {
        params: Box<SetParams>,
        summary: Box<SessionSummary>,
    },
    /// A prompt that was taken out of the queue waits again, at its end.
    QueuedAgain {
        prompt: PromptId,
        following: Vec<PromptId>,
    },
    /// A signal that the session has no use for: a pause of a paused one, …
    NotDelivered(Signal),
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
        taken_back: Vec<Prompt>,
    },
    Sessions(ListOutput),
    /// A session with this name exists.
    Found(Box<SessionSummary>),
    /// `keys`: names of the key variables that this process has.
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
    Symbols(symbol::ListOutput),
    Resources(mcp::ResourcesOutput),
    CustomCommands(command::ListOutput),
    Memory(memory::ListOutput),
    Fact(Box<memory::FactOutput>),
    Skills(skill::ListOutput),
    Prompts(history::PromptsOutput),
    Hits(history::SearchOutput),
    /// `reloaded`: read from disk again.
    Hooks {
        reloaded: bool,
        output: hook::ListOutput,
    },
    Servers(mcp::ListOutput),
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
    Goal(Box<goal::StatusOutput>),
    /// Path of the written file and its size in bytes.
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
    Edited(Result<String, ErrorReport>),
    FactEdited {
        /// As it was.
        fact: Box<memory::FactOutput>,
        text: Result<String, ErrorReport>,
    },
    /// The names in a directory; names of directories end with a slash.
    Directory {
        directory: PathBuf,
        names: Vec<String>,
    },
    /// The paths below a directory. Names of directories end with a slash.
    Tree {
        root: PathBuf,
        paths: Vec<String>,
    },
    Copied {
        characters: usize,
        result: Result<Copied, ErrorReport>,
    },
}

/// How a text was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The terminal was asked to copy it; its success is unknown.
    Terminal,
    /// Too long for the terminal: written to this file.
    File(PathBuf),
}

/// A failure, with a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReport {
    pub what: String,
    /// What the user can do about it; may be empty.
    pub hint: String,
    /// The daemon's name for the failure, if it gave one.
    pub name: Option<proto::ErrorName>,
}

impl ErrorReport {
    /// A failure of the client itself.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: hint.into(),
            name: None,
        }
    }
}

impl From<client::CallError> for ErrorReport {
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
pub struct ExitReport {
    /// The exit code.
    pub code: u8,
    /// Lines to print below the transcript after the terminal is restored.
    pub words: Vec<String>,
}
