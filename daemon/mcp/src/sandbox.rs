//! The sandbox of a server whose entry asks for one: what the daemon, which knows the settings, is asked for.

use std::path::Path;
use std::sync::Arc;

use contract::SandboxSpec;

/// How a program is started in its sandbox.
pub struct SandboxedStart {
    pub sandbox: Arc<SandboxSpec>,
    /// The environment that it has there.
    pub env: Vec<(String, String)>,
}

/// Makes sandboxes for servers.
pub trait Sandboxes: Send + Sync {
    /// The sandbox of a program that works in `cwd`: that of the commands of a session there, with `temp` as its temporary
    /// directory, which exists. `env`: what it would have outside. Blocks.
    ///
    /// # Errors
    /// Nothing would restrict it as the settings say: why, as a text for the user.
    fn sandbox(
        &self,
        cwd: &Path,
        temp: &Path,
        env: Vec<(String, String)>,
    ) -> Result<SandboxedStart, String>;

    /// The settings that the sandbox of a program in `cwd` is made from: another text for other settings. Blocks.
    fn terms(&self, cwd: &Path) -> String;
}
