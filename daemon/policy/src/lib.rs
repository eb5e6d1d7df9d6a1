//! What a tool call may do: rules, postures and what is always asked, as one pure function.
//!
//! Two steps: [`subjects`] says which paths and which command a call is about; whoever can look at the disk
//! resolves them; then [`decide`] judges. No I/O, no clock, no state: the same input gives the same answer,
//! and what is not understood is never allowed.

mod budget;
mod call;
mod command;
mod context;
mod dangers;
mod decide;
mod files;
mod git;
mod grants;
mod options;
mod pathrules;
mod programs;
mod protected;
mod readers;
mod rule;
mod ruleset;
mod sed;
mod shell;
mod textrules;
mod unattended;
mod variables;

pub use call::{Access, Call, Subject, Subjects, subjects};
pub use context::{Context, ResolvedPath, Sandbox};
pub use decide::decide;
pub use rule::{List, RuleProblem};
pub use ruleset::{Layer, RuleSet};
pub use shell::{Analysis, Reason, Word, analyse};
pub use unattended::{Unattended, unasked, unattended};

#[cfg(test)]
mod tests;
