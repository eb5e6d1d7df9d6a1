//! A tool that a model may call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use proto::item::{CallStatus, Display, Finish};
use proto::params::elicitation::Elicitation;
use proto::params::interaction::Question;
use proto::record::{
    AgentStarted, Changed, ChildExited, ChildSpawned, GoalReport, KnownFile, Quarantined,
    ReportedFile, SkillUse, Todo,
};
use proto::{CallId, Pid, SessionId};
use serde_json::{Map, Value};

use crate::agents::{AgentTask, Agents};
use crate::history::PastMessages;
use crate::image::OutcomeImage;
use crate::memory::ToolMemory;
use crate::sandbox_spec::SandboxSpec;
use crate::spawn::Spawn;
use crate::tool_set::ToolSet;
use crate::tool_spec::ToolSpec;

/// A path of a call that is no argument of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// As the model wrote it.
    pub path: String,
    /// Whether it is changed, and not only read.
    pub edit: bool,
}

/// What a call leads to. The session carries out everything but `Run` itself.
#[derive(Clone, Debug, PartialEq)]
pub enum CallAction {
    /// The tool runs.
    Run,
    /// The user answers questions. The answers are the call's result.
    AskUser(Vec<Question>),
    /// The user approves a plan (Markdown) or rejects it. The answer is the call's result.
    PresentPlan(String),
    /// The session's todo list becomes this one.
    UpdateTodos(Vec<Todo>),
    /// The model reports about the session's goal. The daemon's answer is the call's result.
    ReportGoal(GoalReport),
    /// Another tool is called. That call is judged, shown and run in place of this one.
    CallTool {
        tool: String,
        arguments: Map<String, Value>,
    },
}

impl CallAction {
    /// The tool that is called in place of this one, and its arguments.
    #[must_use]
    pub fn named_call(&self) -> Option<(&str, &Map<String, Value>)> {
        match self {
            Self::CallTool { tool, arguments } => Some((tool, arguments)),
            Self::Run
            | Self::AskUser(_)
            | Self::PresentPlan(_)
            | Self::UpdateTodos(_)
            | Self::ReportGoal(_) => None,
        }
    }
}

/// What a person is shown before a call runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub display: Display,
}

/// What a call came to, in two texts: for the model and for the person.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub status: CallStatus,
    /// For the model. Within the tool's limit.
    pub text: String,
    /// For the person.
    pub display: Display,
    /// For the model, with the text, which names them. Their bytes are here until the session has stored them.
    pub images: Vec<OutcomeImage>,
    /// The file that holds all of an output that was cut.
    pub spill: Option<PathBuf>,
    /// What the call has left at the paths that it changed, absolute.
    pub changed: Vec<Changed>,
    /// Files that the model knows by it, absolute.
    pub known: Vec<KnownFile>,
    /// Files that others changed, as `text` tells the model.
    pub reported: Vec<ReportedFile>,
    /// Why the sandbox seems to have stopped it, as a text for users. It may work unsandboxed.
    pub blocked: Option<String>,
    /// Protected names that its command made, and that were moved away.
    pub quarantined: Vec<Quarantined>,
    /// The skill that it loaded, in force from here on.
    pub skill: Option<SkillUse>,
    /// The sub-agent that it left in the background.
    pub agent: Option<AgentStarted>,
}

impl Outcome {
    /// A failure that the model reads: what went wrong and what to do next.
    #[must_use]
    pub fn failed(text: impl Into<String>) -> Self {
        Self::with_status(CallStatus::Failed, text)
    }

    /// Arguments that cannot be taken.
    #[must_use]
    pub fn refused(text: impl Into<String>) -> Self {
        Self::with_status(CallStatus::Refused, text)
    }

    /// An outcome whose words are the same for model and person.
    #[must_use]
    pub fn with_status(status: CallStatus, text: impl Into<String>) -> Self {
        let text = text.into();
        let line = text.lines().next().unwrap_or_default().to_owned();
        Self {
            status,
            text,
            display: Display::Line { text: line },
            images: Vec::new(),
            spill: None,
            changed: Vec::new(),
            known: Vec::new(),
            reported: Vec::new(),
            blocked: None,
            quarantined: Vec::new(),
            skill: None,
            agent: None,
        }
    }
}

/// What a call may use. Cheap to clone.
#[derive(Clone)]
pub struct CallContext {
    pub session: Pid,
    pub session_id: SessionId,
    pub call: CallId,
    /// The session's working directory, absolute.
    pub cwd: PathBuf,
    /// The session's environment for commands, without secrets.
    pub env: Arc<Vec<(String, String)>>,
    /// A private directory of the session for outputs that were cut (0700).
    pub spill_dir: PathBuf,
    pub spawn: Arc<dyn Spawn>,
    /// What the tools of this session remember from call to call (which files were read, at which state).
    pub memory: Arc<dyn ToolMemory>,
    /// All tools of this session.
    pub tools: ToolSet,
    pub progress: Arc<dyn Progress>,
    pub questions: Arc<dyn Questions>,
    pub cancel: Arc<dyn Cancel>,
    pub shells: Arc<dyn Shells>,
    pub skills: Arc<dyn SkillLibrary>,
    /// What was said in other sessions, and earlier in this one.
    pub history: Arc<dyn PastMessages>,
    pub agents: Arc<dyn Agents>,
    /// What its commands may touch. `None`: nothing but the user's rights holds them.
    pub sandbox: Option<Arc<SandboxSpec>>,
    /// The `PATH` of its commands, if not that of the session: outside the sandbox programs are not looked for where the
    /// session may write.
    pub path: Option<String>,
}

/// The session's side of commands in the background: their numbers, and the word that they came and went.
pub trait Shells: Send + Sync {
    /// A number that no session and no other command ever has.
    fn number(&self) -> BoxFuture<'static, Result<Pid, String>>;
    /// One runs. On its way to the log; whoever watches the session sees it.
    fn spawned(&self, child: ChildSpawned);
    /// It has ended, and nothing of it is left.
    fn exited(&self, child: ChildExited);
    /// Protected names came while a command of the session ran, in the background or not, and were moved away.
    fn quarantined(&self, items: Vec<Quarantined>);
}

/// Name of the tool that reads facts from earlier sessions.
pub const MEMORY_TOOL: &str = "memory";

/// Name of the tool that loads skills. Only sessions that list skills have it.
pub const SKILL_TOOL: &str = "skill";

/// The skills that a session's model may load.
pub trait SkillLibrary: Send + Sync {
    /// Loads a skill. Blocks.
    ///
    /// # Errors
    /// An outcome that says why not.
    fn load(&self, name: &str, arguments: &str) -> Result<SkillLoad, Outcome>;
}

/// What loading a skill leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum SkillLoad {
    /// Its instructions are the text of the outcome.
    Inline(Box<Outcome>),
    /// A sub-agent works by it.
    Subagent(AgentTask),
}

/// A call that runs the check commands of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckCall {
    pub tool: String,
    /// As JSON text.
    pub arguments: String,
}

/// Runs the shell commands that users give a session.
pub trait UserShell: Send + Sync {
    /// The call of the model's tool for commands that runs all these commands, each from this directory, until one fails.
    /// It is judged and sandboxed as any other. `None`: nothing here runs such calls.
    fn check_call(&self, _commands: &[String], _cwd: &Path) -> Option<CheckCall> {
        None
    }

    /// Runs a line of shell with the user's rights, from the session's directory and with its environment. `number`: its
    /// own in the process table. Ends soon after cancellation, with status `interrupted`.
    fn run(&self, line: String, number: Pid, context: CallContext) -> BoxFuture<'static, Outcome>;
}

/// Where a running tool shows what it prints.
pub trait Progress: Send + Sync {
    /// Never blocks; what comes too fast may be merged or dropped.
    fn output(&self, text: &str);
}

/// Asks the user what a running call needs to know.
pub trait Questions: Send + Sync {
    /// Resolves with the answer. If no user can be asked now, that is [`ElicitationAnswer::Cancel`]. Dropping it
    /// withdraws the question. A call asks one question at a time.
    fn ask(&self, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer>;

    /// Has the session's model answer a text of a server, once the user has approved `shown`. The session pays for it.
    /// Otherwise as [`Questions::ask`].
    fn sample(
        &self,
        shown: Elicitation,
        request: SamplingRequest,
    ) -> BoxFuture<'static, SamplingAnswer>;
}

/// Of calls that ask nobody.
impl Questions for () {
    fn ask(&self, _question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(async { ElicitationAnswer::Cancel })
    }

    fn sample(
        &self,
        _shown: Elicitation,
        _request: SamplingRequest,
    ) -> BoxFuture<'static, SamplingAnswer> {
        Box::pin(async { SamplingAnswer::Declined })
    }
}

/// A text of an MCP server that the session's model is to answer, without tools and without the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingRequest {
    /// The system prompt; may be empty.
    pub system: String,
    /// In their order; the last one is the user's.
    pub messages: Vec<SamplingMessage>,
    /// In hundredths. `None`: the provider's default.
    pub temperature: Option<u32>,
    /// The longest answer that the server takes.
    pub max_tokens: u64,
}

/// A message of such a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingMessage {
    pub role: SamplingRole,
    pub text: String,
}

/// Who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingRole {
    User,
    Assistant,
}

/// The outcome of such a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SamplingAnswer {
    Answered {
        text: String,
        /// As its provider names it.
        model: String,
        finish: Finish,
    },
    /// The user has not approved it, or cannot be asked.
    Declined,
    /// No answer came: why.
    Failed(String),
}

/// The answer to a question of an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    /// The values by the names of their fields. They fit the fields.
    Accept(Map<String, Value>),
    Decline,
    /// The question was closed without a decision.
    Cancel,
}

/// Asks a running tool to stop.
pub trait Cancel: Send + Sync {
    fn is_cancelled(&self) -> bool;
    /// Resolves when the call is to stop.
    fn cancelled(&self) -> BoxFuture<'static, ()>;
    /// Once it is to stop: milliseconds from TERM to KILL for processes it has started.
    fn grace_ms(&self) -> u64 {
        2_000
    }
    /// Once it is to stop: who stops it.
    fn stopped_by(&self) -> StoppedBy {
        StoppedBy::User
    }
}

/// Who stops a running call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StoppedBy {
    #[default]
    User,
    /// The time limit of its turn.
    TimeLimit,
    /// Its session ends.
    Session,
    /// The daemon stops, or hands its sessions over.
    Daemon,
}

/// A tool.
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// Checks the arguments and gives them their canonical names (aliases replaced). Called before policy,
    /// so that policy, preview and run see the same.
    ///
    /// # Errors
    /// An outcome (`refused`) that names the known keys and what is wrong.
    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome>;

    /// What a person should see before a yes. May read files; changes nothing. `arguments` have been parsed.
    ///
    /// # Errors
    /// An outcome where it is already clear that the call must fail.
    fn preview(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<Preview, Outcome>;

    /// Binds a call to the places that policy judged, absolute and free of links, in the order of the paths in the
    /// call: if a path leads elsewhere when it runs, it must do nothing. Called for every call that may run, after
    /// `preview`.
    fn bind(&self, _places: &[PathBuf], _context: &CallContext) {}

    /// Paths of a call that are no arguments of their own: those in a patch. `arguments` have been parsed.
    fn touches(&self, _arguments: &Map<String, Value>) -> Vec<Touch> {
        Vec::new()
    }

    /// What a call leads to. `arguments` have been parsed.
    ///
    /// # Errors
    /// An outcome (`refused`) where the arguments do not allow it.
    fn action(&self, _arguments: &Map<String, Value>) -> Result<CallAction, Outcome> {
        Ok(CallAction::Run)
    }

    /// Where relative paths of a call start, where that is not the session's directory.
    fn cwd(&self, _context: &CallContext) -> Option<PathBuf> {
        None
    }

    /// The variables that a call gets otherwise than the session has them: earlier calls have left them so. `None`:
    /// unset.
    fn altered(&self, _context: &CallContext) -> BTreeMap<String, Option<String>> {
        BTreeMap::new()
    }

    /// This session, which has the tool, is loaded: what the tool keeps for one session alone is this one's.
    fn note_session(&self, _session: Pid) {}

    /// This session has exited: what the tool keeps for it alone ends, and starts again when a call needs it.
    fn session_exited(&self, _session: Pid) {}

    /// Does it. `arguments` have been parsed. Never panics on what the model wrote. Ends soon after cancellation,
    /// with status `interrupted`. Called only where `action` is `Run`; a tool that has no such call leaves it out.
    fn run(
        &self,
        _arguments: Map<String, Value>,
        _context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let text = format!(
            "`{}` does not run, a bug in Reasonix; go on without it",
            self.spec().name
        );
        Box::pin(async { Outcome::failed(text) })
    }

    /// The tool, if its calls do nothing but work on files.
    fn as_file_worker(&self) -> Option<&dyn FileWorker> {
        None
    }
}

/// A tool whose calls do nothing but work on files: a thread that may block does one from beginning to end.
pub trait FileWorker: Send + Sync {
    /// Does it, as [`Tool::run`]. Blocks.
    fn run_blocking(&self, arguments: Map<String, Value>, context: &CallContext) -> Outcome;

    /// Whether a call that was bound to these places changes nothing, and takes no longer than to judge another one. Looks
    /// at them; blocks.
    fn is_quick(&self, _places: &[PathBuf]) -> bool {
        false
    }
}
