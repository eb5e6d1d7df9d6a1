//! Every built-in tool, by name.

use std::sync::Arc;

use contract::Tool;

use crate::bash::Bash;
use crate::bash_output::BashOutput;
use crate::edit_file::EditFile;
use crate::grep::Grep;
use crate::kill_shell::KillShell;
use crate::read_file::ReadFile;
use crate::write_file::WriteFile;

/// What can be set about the tools.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Milliseconds that a command may take where the call names no limit; 0: no limit.
    pub bash_timeout_ms: u64,
}

impl Default for Options {
    /// Two minutes for a command (contract, chapter 40).
    fn default() -> Self {
        Self {
            bash_timeout_ms: 120_000,
        }
    }
}

/// The built-in tools, sorted by name.
#[must_use]
pub fn builtin(options: Options) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Bash::new(options.bash_timeout_ms)),
        Arc::new(BashOutput::new()),
        Arc::new(EditFile::new()),
        Arc::new(Grep::new()),
        Arc::new(KillShell::new()),
        Arc::new(ReadFile::new()),
        Arc::new(WriteFile::new()),
    ];
    tools.sort_by_key(|tool| tool.spec().name);
    tools
}

#[cfg(test)]
mod tests;
