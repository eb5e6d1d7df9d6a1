//! How a conversation becomes a vendor's bytes: once for each message, then only copied.
//!
//! Pure. One implementation per provider kind. Called by `session` when a record is appended (render)
//! and when a request is sent (assemble).

use std::path::Path;

use proto::item::Item;
use proto::record::KnownFile;
use serde::{Deserialize, Serialize};

use crate::memory::KnownState;
use crate::request_buffer::RequestBuffer;
use crate::tool_spec::ToolDeclaration;

/// The frozen head of every request of a session: system prompt and tool schemas, as exact wire bytes.
/// Kept in the first record of the log, and rendered again only for another model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefix {
    pub model: String,
    /// The system prompt on the wire, in the form of this kind (for `openai`: the whole first message).
    pub system: String,
    /// The tool schemas on the wire: comma-joined, without the surrounding brackets.
    pub tools: String,
    /// Parameters that the provider's entry adds to each request: comma-joined members, or empty.
    #[serde(default)]
    pub extra: String,
}

/// What a prefix says, in no provider's form. Frozen in the first record of the log beside the rendered prefix, so that a
/// change of model renders the same text for the other one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixText {
    /// The system prompt.
    pub system: String,
    /// Instruction files, in their order. Rendered at the end of the system prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<InstructionText>,
    /// Skills that the model may load, in their order. Rendered after the instruction files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillText>,
    /// A line for each fact from earlier sessions. Rendered behind the instruction files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<String>,
    /// The session has no tool that reads one of these facts whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_memory_tool: bool,
    /// What the session's creator adds to the system prompt, after the blocks above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appended: Option<String>,
    /// Examples for the model, at the very end of the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<String>,
    /// The tools that the model may call, sorted by name.
    pub tools: Vec<ToolDeclaration>,
    /// Names of all tools of the session, those that `tool_search` finds included, if a reload has changed them. Absent: those
    /// that the session was created with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_names: Option<Vec<String>>,
}

/// An instruction file, as it was when the prefix was frozen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionText {
    /// Path from the workspace root, or absolute for a file elsewhere.
    pub name: String,
    pub text: String,
    /// The file at the state that this text was read from. `partial`: the text is only its start. `None`: that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<KnownFile>,
}

impl InstructionText {
    /// The file as the model knows it by this text.
    #[must_use]
    pub fn known(&self) -> Option<KnownState> {
        let file = self.file.clone()?;
        let content = (!file.partial).then(|| self.text.as_bytes().into());
        Some(KnownState {
            file,
            left: None,
            reported: None,
            content,
        })
    }

    /// Whether all of the file is in the text.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.file.as_ref().is_some_and(|file| !file.partial)
    }

    /// Whether it is in the workspace, so that the project's authors wrote it.
    #[must_use]
    pub fn is_of_project(&self) -> bool {
        Path::new(&self.name).is_relative()
    }
}

/// A skill, as the model reads of it before it loads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillText {
    pub name: String,
    /// One line, of limited length.
    pub description: String,
}

/// The wire bytes of one message (or of one block, where a kind groups several in a message).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    pub role: FragmentRole,
    pub bytes: &'a [u8],
}

/// Whose message a fragment belongs to; grouping needs no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentRole {
    User,
    Assistant,
    Tool,
}

impl FragmentRole {
    /// The role of a neutral item.
    #[must_use]
    pub fn of(item: &Item) -> Self {
        match item {
            Item::User(_) => Self::User,
            Item::Assistant(_) => Self::Assistant,
            Item::Tool(_) => Self::Tool,
        }
    }
}

/// Whether the model may call tools in this request. The tools stay in the prefix either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    /// One last answer in words: "without tools".
    None,
}

/// What one request is put together from.
#[derive(Debug)]
pub struct Asked<'a> {
    pub prefix: &'a Prefix,
    pub fragments: &'a [Fragment<'a>],
    pub tool_choice: ToolChoice,
    /// The root session's id: groups requests that share a prefix in the provider's cache.
    pub cache_key: &'a str,
}

/// The kind of the thought that holds a vendor's own compaction of a conversation.
pub const COMPACTION: &str = "compaction";

/// How a vendor compacts a conversation itself. Its compaction is data that stands in later requests in place of the
/// messages that it summarises. Only the vendor can read it, or it is signed.
pub trait ServerCompaction {
    /// A request that has the vendor compact all messages. `demand`: the prompt for the summary, if the user said what it
    /// should keep. `None`: the entry does not turn it on, or the vendor takes no such prompt.
    fn request(&self, asked: &Asked<'_>, demand: Option<&str>) -> Option<RequestBuffer>;

    /// The fragment of a compaction, from the data of its thought. `None`: it is no compaction.
    fn fragment(&self, data: &str) -> Option<String>;

    /// The summary in a compaction. `None`: only the vendor can read it.
    fn text(&self, data: &str) -> Option<String>;

    /// Whether a fragment is a compaction.
    fn is_compaction(&self, fragment: &[u8]) -> bool;

    /// Whether a request may have one compaction only.
    fn is_single(&self) -> bool;

    /// Whether signed reasoning is refused in kept answers, because other messages stand before them than did.
    fn binds_reasoning(&self) -> bool;
}

/// Renders and assembles for one provider kind.
pub trait Codec: Send + Sync {
    /// Renders system prompt and tools: once at the start of a session, and again when it changes its model. Tools come
    /// sorted by name.
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix;

    /// Renders one item once. Never holds a raw newline. `None` where this kind sends nothing for it. An image of a
    /// result is rendered as its [`crate::image::placeholder`].
    fn render(&self, item: &Item) -> Option<String>;

    /// Whether the model is sent images of results. Otherwise it is sent a note.
    fn sends_images(&self) -> bool {
        false
    }

    /// Copies prefix and fragments into a request body. Parses and renders nothing.
    fn assemble(&self, asked: &Asked<'_>) -> RequestBuffer;

    /// How the vendor compacts conversations itself. `None`: this kind of vendor does not.
    fn server_compaction(&self) -> Option<&dyn ServerCompaction> {
        None
    }

    /// The member of a request that asks for an answer in JSON; empty: this kind has none, and is asked in words.
    fn json_mode(&self) -> &'static str {
        ""
    }

    /// The member of a request that sets the temperature, in hundredths; `None`: this kind has none, or what the entry
    /// says already rules it out.
    fn temperature(&self, hundredths: u32) -> Option<String> {
        let _ = hundredths;
        None
    }

    /// The members `extra` of a prefix, with an answer of at most so many tokens of text. `None`: this kind has no member
    /// for it that every server takes.
    fn with_output_limit(&self, extra: &str, tokens: u64) -> Option<String> {
        let _ = (extra, tokens);
        None
    }

    /// Milliseconds that the vendor keeps in its cache what was used last; 0: not known.
    fn cache_ttl_ms(&self) -> u64 {
        0
    }
}
