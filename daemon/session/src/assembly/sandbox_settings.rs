//! What the settings say of the sandbox around commands.

use std::path::PathBuf;

/// How commands are to be sandboxed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    pub demand: SandboxDemand,
    /// Whether commands reach the network.
    pub network: bool,
    /// Directories of toolchains beside the workspace that commands may write in.
    pub caches: Vec<PathBuf>,
    /// Unix sockets, and directories with such, that commands may reach.
    pub sockets: Vec<PathBuf>,
    /// Whether a partial sandbox is enough for commands that nobody can be asked about.
    pub accept_partial: bool,
}

/// What to do if a sandbox cannot be set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxDemand {
    /// Ask the user before each command.
    #[default]
    Enforce,
    /// Run commands with the user's rights, as the rules say.
    Warn,
    /// Use no sandbox at all.
    Off,
}
