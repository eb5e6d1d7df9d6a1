//! Decides what a tool call may do: rules, approval modes and built-in questions, as one pure function.
//!
//! It works in two steps. [`subjects`] says which paths and which command a call is about, and the caller resolves the
//! paths on disk. Then [`decide`] judges the call. No I/O, no clock, no state: equal input gives equal answers, and a
//! call that is not understood is never allowed.

mod awk;
mod budget;
mod call;
pub mod cases;
mod command;
mod context;
mod dangers;
mod decide;
mod escape;
mod examples;
mod explain;
mod files;
mod git;
mod gitconfig;
mod goal_checks;
mod grants;
mod home;
mod names;
mod options;
mod own_programs;
mod pathrules;
mod programs;
mod protected;
mod readers;
mod rule;
mod ruleset;
mod sed;
mod shell;
mod skill_limits;
mod started;
mod tables;
mod textrules;
mod unattended;
mod variables;
mod wildcards;
mod work_tree;

pub use call::{Access, Call, Subject, Subjects, subjects};
pub use context::{Context, ResolvedPath};
pub use decide::{decide, explain};
pub use escape::{escape, put_back, stays_inside};
pub use examples::Examples;
pub use explain::{ExplainedPart, Explanation};
pub use gitconfig::{
    GitConfigProblem, GitSetting, git_config, git_hook_programs, git_hooks_path, git_hooks_paths,
    git_includes, git_programs, git_reader_hooks,
};
pub use goal_checks::{covered, may_be_covered, with_command};
pub use home::in_home;
pub use own_programs::with_own_program;
pub use rule::{List, RuleProblem};
pub use ruleset::{Layer, RuleSet};
pub use shell::{
    Assignment, Doubt, NestingStep, Part, Redirection, Script, Span, Value, Word, read,
};
pub use skill_limits::under_skills;
pub use started::{Setting, StartedKind, StartedProgram, started_programs};
pub use unattended::{Unattended, unasked, unattended};
pub use work_tree::added_work_tree;

#[cfg(any(test, fuzzing))]
pub mod fuzz;
#[cfg(test)]
extern crate self as policy;
#[cfg(test)]
mod tests;
