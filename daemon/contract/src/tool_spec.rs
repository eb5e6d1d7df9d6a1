//! What the rest of the program knows about a tool without looking at its name.

use std::sync::Arc;

use proto::item::ToolKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as a model reads of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDeclaration {
    pub name: Arc<str>,
    pub description: Arc<str>,
    /// JSON Schema of the arguments.
    pub schema: Arc<Value>,
}

/// Whether a tool of this name is of an MCP server.
#[must_use]
pub fn is_server_tool(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// Everything about a tool that its calls do not change: what the model reads, what policy judges by, what clients show.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: Arc<str>,
    /// Other names of the tool, for permission rules and hooks.
    pub aliases: Vec<String>,
    /// Its name in another product whose hooks run here, for hooks that were written for that.
    pub foreign_name: Option<String>,
    /// The prose that the model reads.
    pub description: Arc<str>,
    /// JSON Schema of the arguments, keys sorted.
    pub schema: Arc<Value>,
    pub family: Family,
    /// For titles and icons.
    pub kind: ToolKind,
    /// Whether no call of it ever changes anything. For a tool with a command, policy decides call by call.
    pub read_only: bool,
    /// It is not in the prefix: the model finds it by `tool_search` and calls it through `tool_call`.
    pub deferred: bool,
    /// Its description names the deferred tools: it finds them.
    pub finds_deferred: bool,
    /// Only a person answers a question about a call of it: no rule and no approval mode.
    pub person_only: bool,
    /// Sessions that may only read may call it too: the user has said so of its MCP server.
    pub in_read_only_sessions: bool,
    /// Another definition of it was approved than the one that it has now: no rule and no approval mode lets it run.
    pub definition_changed: bool,
    /// Of a folder that a call names it shows and changes nothing below.
    pub shallow: bool,
    /// Arguments that policy and checkpoints look at. The others are the tool's own matter.
    pub arguments: Vec<(String, ArgumentUse)>,
}

impl ToolSpec {
    /// A tool that policy and clients know nothing more of. One of the family `Read` is read-only.
    #[must_use]
    pub fn new(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        schema: Value,
        family: Family,
    ) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            foreign_name: None,
            description: description.into(),
            schema: Arc::new(schema),
            family,
            kind: ToolKind::Other,
            read_only: family == Family::Read,
            deferred: false,
            finds_deferred: false,
            person_only: false,
            in_read_only_sessions: false,
            definition_changed: false,
            shallow: false,
            arguments: Vec::new(),
        }
    }

    /// Sets what its arguments stand for.
    #[must_use]
    pub fn with_arguments(mut self, arguments: &[(&str, ArgumentUse)]) -> Self {
        let own = |(name, stands_for): &(&str, ArgumentUse)| ((*name).to_owned(), *stands_for);
        self.arguments = arguments.iter().map(own).collect();
        self
    }

    /// Sets its other names: that in the other product, and those that rules and hooks may use as well.
    #[must_use]
    pub fn with_names(mut self, foreign_name: Option<&str>, aliases: &[&str]) -> Self {
        self.foreign_name = foreign_name.map(str::to_owned);
        self.aliases = aliases.iter().copied().map(str::to_owned).collect();
        self
    }

    /// What a model reads of it.
    #[must_use]
    pub fn declaration(&self) -> ToolDeclaration {
        ToolDeclaration {
            name: Arc::clone(&self.name),
            description: Arc::clone(&self.description),
            schema: Arc::clone(&self.schema),
        }
    }

    /// All names that rules and hooks may use for it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let others = self.foreign_name.iter().chain(&self.aliases);
        std::iter::once(&*self.name).chain(others.map(String::as_str))
    }
}

/// What an argument of a call stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentUse {
    /// A command line.
    Command,
    /// The path of something that is read.
    Read,
    /// The path of something that is searched; without it, the directory that the call starts from.
    Search,
    /// The path of something whose content is read and changed, moved or deleted.
    Edit,
    /// The path of something that is created or replaced, without its content being read.
    Create,
    /// A glob pattern, which may lead out of the path that is searched.
    Pattern,
    /// An address on the web.
    Url,
}

/// What a permission rule calls the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Returns content of files.
    Read,
    /// Changes files.
    Edit,
    /// Runs commands.
    Bash,
    /// Fetches pages from the web.
    WebFetch,
    /// Searches the web.
    WebSearch,
    /// Starts agents.
    Task,
    /// Reads and writes what is remembered beyond a session.
    Memory,
    /// Changes nothing but what the session itself shows: its list of what is to be done, a question, another tool's
    /// description.
    Session,
}
