//! The built-in tools.
//!
//! A tool is `NAME.rs`, and its lines in this file. Its `ToolSpec` says everything that policy, session and clients have
//! to know of it. Tools reach files only through `workspace`, processes
//! only through the context's spawner. The session calls them through `contract::Tool`; the assembly takes a set of them
//! from [`BuiltIn`] and creates a [`Memory`] for each session.

mod arguments;
mod capture;
mod clean;
mod command;
mod fact_tool;
mod file_tool;
mod files;
mod filter;
mod lasting;
mod memory;
mod registry;
mod run;
mod shells;
mod transfer;
mod truncate;
mod typed_tool;
mod user_shell;

mod apply_patch;
mod ask;
mod bash;
mod bash_output;
mod copy_file;
mod delete_file;
mod edit_file;
mod exit_plan_mode;
mod forget;
mod glob;
mod grep;
mod history;
mod kill_shell;
mod ls;
mod make_dir;
mod move_file;
mod multi_edit;
mod read_file;
mod recall_facts;
mod remember;
mod session_send;
mod skill;
mod task;
mod todo_write;
mod tool_call;
mod tool_search;
mod update_goal;
mod write_file;

#[cfg(test)]
mod path_cases;
#[cfg(test)]
mod scene;

pub use memory::Memory;
pub use registry::{BuiltIn, Options, restricted, session_tools};
pub use user_shell::BuiltInShell;

use std::sync::Arc;

use contract::Tool;
use fact_tool::tool as facts;
use file_tool::tool as file;
use typed_tool::tool as typed;

/// The tools that are the same for all sessions, one a line. `bash` has options: see `registry`.
fn fixed_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        typed::<ask::Ask>(ask::spec()),
        typed::<bash_output::BashOutput>(bash_output::spec()),
        typed::<exit_plan_mode::ExitPlanMode>(exit_plan_mode::spec()),
        typed::<history::History>(history::spec()),
        typed::<kill_shell::KillShell>(kill_shell::spec()),
        typed::<session_send::SessionSend>(session_send::spec()),
        typed::<skill::Skill>(skill::spec()),
        typed::<task::Task>(task::spec()),
        typed::<todo_write::TodoWrite>(todo_write::spec()),
        typed::<update_goal::UpdateGoal>(update_goal::spec()),
        facts::<forget::Forget>(forget::spec()),
        facts::<recall_facts::RecallFacts>(recall_facts::spec()),
        facts::<remember::Remember>(remember::spec()),
        file::<apply_patch::ApplyPatch>(),
        file::<copy_file::CopyFile>(),
        file::<delete_file::DeleteFile>(),
        file::<edit_file::EditFile>(),
        file::<glob::Glob>(),
        file::<grep::Grep>(),
        file::<ls::Ls>(),
        file::<make_dir::MakeDir>(),
        file::<move_file::MoveFile>(),
        file::<multi_edit::MultiEdit>(),
        file::<read_file::ReadFile>(),
        file::<write_file::WriteFile>(),
    ]
}
