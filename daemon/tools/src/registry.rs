//! Every built-in tool, by name.

use std::sync::{Arc, LazyLock};

use contract::Tool;

use crate::apply_patch::ApplyPatch;
use crate::ask::Ask;
use crate::bash::Bash;
use crate::bash_output::BashOutput;
use crate::copy_file::CopyFile;
use crate::delete_file::DeleteFile;
use crate::edit_file::EditFile;
use crate::exit_plan_mode::ExitPlanMode;
use crate::file_tool;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::kill_shell::KillShell;
use crate::ls::Ls;
use crate::make_dir::MakeDir;
use crate::move_file::MoveFile;
use crate::multi_edit::MultiEdit;
use crate::read_file::ReadFile;
use crate::todo_write::TodoWrite;
use crate::tool_call::ToolCall;
use crate::tool_search::ToolSearch;
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

/// The built-in tools, sorted by name. But for what is set they are the same for all sessions: their schemas are made once.
#[must_use]
pub fn builtin(options: Options) -> Vec<Arc<dyn Tool>> {
    static SHARED: LazyLock<Vec<Arc<dyn Tool>>> = LazyLock::new(|| all(Options::default()));
    let bash: Arc<dyn Tool> = Arc::new(Bash::new(options.bash_timeout_ms));
    let as_set = |tool: &Arc<dyn Tool>| match tool.spec().name == bash.spec().name {
        true => Arc::clone(&bash),
        false => Arc::clone(tool),
    };
    SHARED.iter().map(as_set).collect()
}

fn all(options: Options) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        file_tool::tool::<ApplyPatch>(),
        file_tool::tool::<CopyFile>(),
        file_tool::tool::<DeleteFile>(),
        file_tool::tool::<Glob>(),
        file_tool::tool::<Ls>(),
        file_tool::tool::<MakeDir>(),
        file_tool::tool::<MoveFile>(),
        file_tool::tool::<MultiEdit>(),
        Arc::new(Ask::new()),
        Arc::new(Bash::new(options.bash_timeout_ms)),
        Arc::new(BashOutput::new()),
        file_tool::tool::<EditFile>(),
        Arc::new(ExitPlanMode::new()),
        file_tool::tool::<Grep>(),
        Arc::new(KillShell::new()),
        file_tool::tool::<ReadFile>(),
        Arc::new(TodoWrite::new()),
        file_tool::tool::<WriteFile>(),
    ];
    tools.sort_by_key(|tool| tool.spec().name);
    let specs = tools.iter().map(|tool| tool.spec());
    let deferred = specs.clone().filter(|spec| spec.deferred).cloned();
    let (deferred, names) = (deferred.collect(), specs.map(|spec| spec.name).collect());
    tools.push(Arc::new(ToolSearch::new(deferred)));
    tools.push(Arc::new(ToolCall::new(names)));
    tools.sort_by_key(|tool| tool.spec().name);
    tools
}

#[cfg(test)]
mod tests;
