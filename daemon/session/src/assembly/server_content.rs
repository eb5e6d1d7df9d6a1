//! What MCP servers have for prompts beside tools: prompts that are commands, and resources that references attach.

use std::path::Path;

/// A prompt of a server, as a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPrompt {
    /// Without the slash: `mcp__server__prompt`.
    pub name: String,
    pub description: String,
    pub argument_hint: Option<String>,
    /// The name of its server.
    pub server: String,
}

/// Asks servers for content, for the sessions of a directory. Errors are texts for the user.
pub trait ServerContent: Send + Sync {
    /// The prompts of all servers of a directory, as they were listed last. Starts nothing. Blocks: reads files.
    fn prompts(&self, cwd: &Path) -> Vec<ServerPrompt>;

    /// The text of a prompt. Blocks until the server answers or its time is up.
    ///
    /// # Errors
    /// There is no such prompt, an argument is missing, or the server does not work.
    fn prompt(&self, cwd: &Path, name: &str, arguments: &str) -> Result<String, String>;

    /// The text of a resource of a server; for other content, a note on it. `None`: no server has this name. Blocks as
    /// [`ServerContent::prompt`].
    fn resource(&self, cwd: &Path, server: &str, uri: &str) -> Option<Result<String, String>>;
}

/// There are no servers.
pub struct NoServers;

impl ServerContent for NoServers {
    fn prompts(&self, _cwd: &Path) -> Vec<ServerPrompt> {
        Vec::new()
    }

    fn prompt(&self, _cwd: &Path, name: &str, _arguments: &str) -> Result<String, String> {
        Err(format!("There is no command `/{name}`."))
    }

    fn resource(&self, _cwd: &Path, _server: &str, _uri: &str) -> Option<Result<String, String>> {
        None
    }
}
