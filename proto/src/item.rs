//! What a conversation is made of, in no vendor's words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::ReportedFile;
use crate::words::words;
use crate::{CallId, ItemId, Pid, PromptId};

/// One item of a conversation. The system prompt is not an item; it is part of the frozen prefix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Item {
    /// What a person (or something in a person's place) said.
    User(UserMessage),
    /// What the model said, with the calls it wants made.
    Assistant(AssistantMessage),
    /// What one call came to.
    Tool(ToolMessage),
}

/// `message.user`: a prompt as the model gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserMessage {
    pub item: ItemId,
    /// Id of the prompt; absent for messages of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<PromptId>,
    pub text: String,
    /// Environment of the day (directory, branch, date), put before the text of the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Who speaks: the user, steering in mid-turn, another session, or the daemon (a reminder, a demand to sum up).
    #[serde(default)]
    pub voice: Voice,
    /// The session that sent it; with `voice` `session` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Pid>,
    /// What its references (`@path`) led to. For display: the contents are in `context`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attachment>,
    /// Files that others changed, as `context` tells the model. They are not reported again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<ReportedFile>,
}

/// Something that was attached to a prompt, because the prompt refers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// Path, with the lines of a part (`src/a.rs:10-40`); `server:uri` of a resource.
    pub name: String,
    pub kind: AttachmentKind,
    /// Number of lines of a file, or of entries of a directory, that are attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Bytes that are attached; of a binary file, the content of which is not sent, its size.
    pub bytes: u64,
    /// Estimated number of tokens.
    pub tokens: u64,
    /// Only a part is attached, because of a limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// What an attachment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    File,
    /// A file that is only named, with its size.
    Binary,
    /// A list of its entries.
    Directory,
    /// A resource of an MCP server.
    Resource,
    /// An instruction file that is new since the session started.
    Instructions,
}

/// Who speaks in a user message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    #[default]
    Prompt,
    Steer,
    /// Another session of the same tree: a message of it, or the result of a sub-agent.
    Session,
    Daemon,
}

impl Voice {
    /// Whether it is a user who speaks.
    #[must_use]
    pub fn is_user(self) -> bool {
        match self {
            Self::Prompt | Self::Steer => true,
            Self::Session | Self::Daemon => false,
        }
    }
}

/// `message.assistant`: one answer of the model, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantMessage {
    pub item: ItemId,
    pub text: String,
    /// Reasoning shown by the provider; sent back only if the provider requires it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Data that the provider requires back unchanged with this message, in order. Not for display.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<Thought>,
    pub finish: Finish,
}

/// A vendor's own record of its reasoning, signed or encrypted: only it can read it, and it refuses a changed one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thought {
    /// Kind of provider that it belongs to. All others omit it.
    pub kind: String,
    /// Raw JSON text of the arguments, unchanged; repaired if it was cut off.
    pub data: String,
    /// Position: number of bytes of the message text before it.
    #[serde(default)]
    pub text_at: u64,
    /// Position: number of calls of the message before it.
    #[serde(default)]
    pub calls_at: u64,
}

/// One tool call as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    /// Raw JSON text of the arguments, unchanged; repaired if it was cut off.
    pub arguments: String,
    /// Whether the answer was cut off inside this call: it must not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// It was found in the text or reasoning of the answer, undeclared. It needs approval before it changes anything,
    /// because it may be a quotation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found: bool,
}

impl ToolCall {
    /// Subject of the call, from its arguments, for calls that failed before they were judged. All arguments, if none
    /// has a usual name.
    #[must_use]
    pub fn subject(&self) -> String {
        let arguments =
            serde_json::from_str::<serde_json::Value>(&self.arguments).unwrap_or_default();
        ["command", "path", "from", "pattern", "query"]
            .iter()
            .find_map(|name| arguments.get(name)?.as_str())
            .unwrap_or(self.arguments.trim())
            .to_owned()
    }
}

impl ToolCall {
    /// What a search is for, and where if that is not the whole directory: `"total" in src`. `None`: it is no search by
    /// a pattern.
    #[must_use]
    pub fn search(&self) -> Option<String> {
        let arguments = serde_json::from_str::<serde_json::Value>(&self.arguments).ok()?;
        let text = |name: &str| arguments.get(name)?.as_str();
        let pattern = match self.name.to_ascii_lowercase().as_str() {
            "grep" | "search_content" => format!("\"{}\"", text("pattern")?),
            "glob" => text("pattern")?.to_owned(),
            _ => return None,
        };
        match text("path").filter(|path| !matches!(*path, "" | "." | "./")) {
            Some(path) => Some(format!("{pattern} in {path}")),
            None => Some(pattern),
        }
    }
}

/// Maximum characters of the arguments of an MCP tool in the line of its call.
const SERVER_ARGUMENTS_MAX: usize = 120;

/// Begins the names of MCP tools.
const SERVER_TOOL: &str = "mcp__";

impl ToolCall {
    /// The arguments of a call of an MCP tool, also of one that is called through another tool, shortened to a line.
    /// `None`: it is another tool, or has none.
    #[must_use]
    pub fn server_arguments(&self) -> Option<String> {
        let inner = self.inner_arguments();
        let arguments = match &inner {
            Some(inner) => inner.as_str(),
            None if self.name.starts_with(SERVER_TOOL) => self.arguments.trim(),
            None => return None,
        };
        if matches!(arguments, "" | "{}") {
            return None;
        }
        let mut line: String = arguments.chars().take(SERVER_ARGUMENTS_MAX).collect();
        if line.len() < arguments.len() {
            line.push('…');
        }
        Some(line)
    }

    /// The arguments within those of a call that names an MCP tool in its arguments: one text, and one object.
    fn inner_arguments(&self) -> Option<String> {
        use serde_json::{Map, Value};
        if self.name.starts_with(SERVER_TOOL) || !self.arguments.contains(SERVER_TOOL) {
            return None;
        }
        let arguments: Map<String, Value> = serde_json::from_str(&self.arguments).ok()?;
        let is_tool = |value: &Value| {
            let name = value.as_str();
            name.is_some_and(|name| name.starts_with(SERVER_TOOL))
        };
        if arguments.len() > 2 || !arguments.values().any(is_tool) {
            return None;
        }
        let inner = arguments.values().find(|value| value.is_object());
        Some(inner.map(Value::to_string).unwrap_or_default())
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model had said all it wanted.
    Stop,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The vendor paused a long answer: the model goes on when it is asked again.
    Paused,
    /// The output limit was reached.
    Length,
    /// The vendor's filter cut it.
    ContentFilter,
    /// We stopped listening (interrupt, crash, broken stream without further retries).
    Interrupted,
}

/// `message.tool`: the result of one call, as the model gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolMessage {
    pub item: ItemId,
    pub call: CallId,
    pub tool: String,
    pub status: CallStatus,
    pub text: String,
    /// Images that the model is shown with the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// An image that a tool returned. Its bytes are in the blob of this hash, beside the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// SHA-256 of its bytes, as 64 lower-case hexadecimal digits.
    pub sha256: String,
    pub format: ImageFormat,
    pub bytes: u64,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

impl Image {
    /// What people and models read in its place: `image 640x480 png`.
    #[must_use]
    pub fn label(&self) -> String {
        format!(
            "image {}x{} {}",
            self.width,
            self.height,
            self.format.as_str()
        )
    }
}

words! {
    /// How the bytes of an image are encoded.
    ImageFormat {
        Png = "png",
        Jpeg = "jpeg",
        Gif = "gif",
        Webp = "webp",
    }
}

impl ImageFormat {
    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

words! {
    /// How a call ended.
    CallStatus {
        /// It succeeded.
        Ok = "ok",
        /// It failed, and the tool reported why; also a command with an exit code other than 0.
        Failed = "failed",
        /// A rule or the user denied it. It never ran.
        Denied = "denied",
        /// It was stopped before or while it ran.
        Interrupted = "interrupted",
        /// The daemon died while it ran; its effects are unknown.
        Unknown = "unknown",
        /// It never ran: invalid arguments, an unknown tool, or an answer that was cut off.
        Refused = "refused",
    }
}

/// What a tool does, for titles and icons: clients do not look at names of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Runs a command.
    Command,
    /// Shows new output of a background command. The same call again is a new question.
    CommandOutput,
    /// Stops a background command.
    CommandStop,
    /// Reads a file.
    Read,
    /// Lists a directory.
    List,
    /// Looks for files or for text in them.
    Search,
    /// Creates or replaces a file.
    Write,
    /// Changes parts of a file.
    Edit,
    /// Changes several files at once.
    Patch,
    Delete,
    Move,
    Copy,
    CreateDirectory,
    /// Writes the to-do list.
    Todo,
    /// Reports about the session's goal.
    Goal,
    /// Asks a person.
    Ask,
    /// Proposes a plan.
    Plan,
    /// Has a sub-agent do it.
    Agent,
    /// Finds and calls other tools.
    Tools,
    /// Anything else, and any kind that a reader does not know.
    #[default]
    #[serde(other)]
    Other,
}

impl ToolKind {
    /// Whether a call of it may change files, or have other effects on the machine.
    #[must_use]
    pub fn may_change(self) -> bool {
        matches!(
            self,
            Self::Command
                | Self::Write
                | Self::Edit
                | Self::Patch
                | Self::Delete
                | Self::Move
                | Self::Copy
                | Self::CreateDirectory
        )
    }
}

impl ToolKind {
    /// Whether nothing is known of it. Such a kind is left out of records.
    #[must_use]
    pub fn is_other(&self) -> bool {
        *self == Self::Other
    }
}

/// The outcome as shown to the user, in addition to the text for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Display {
    /// One line says it all.
    Line { text: String },
    /// A change of a file, as unified diff.
    Diff {
        path: String,
        diff: String,
        added: u64,
        removed: u64,
    },
    /// A command that ran.
    Command {
        exit_code: Option<i32>,
        signal: Option<i32>,
        /// Bytes that came on standard output and standard error together.
        output_bytes: u64,
        /// Lines of it, as a person reads it.
        #[serde(default)]
        output_lines: u64,
        /// The first lines of an output of which `tail` is not all.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        head: String,
        /// The end of the output, at most 4,000 characters; `session.output` has all of it.
        tail: String,
        /// The sandbox stopped something.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sandbox_stopped: bool,
        /// Why Reasonix ended it: its limit of time, output or memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped: Option<String>,
    },
}

#[cfg(test)]
mod tests;
