//! The check commands of a goal: one line runs them all, and rules are tried against each as the user wrote it.
//!
//! Called by the session, which judges the line first: whatever denies it, or asks about it by a rule, holds.

use contract::{ArgumentUse, Basis, Decision, ToolSpec};
use proto::record::Verdict;
use serde_json::{Map, Value};

/// Whether a decision about the line asks only because no rule allows it, or because the line is not understood.
#[must_use]
pub fn may_be_covered(line: &Decision) -> bool {
    line.verdict == Verdict::Ask && matches!(line.basis, Basis::Fallback | Basis::NotAnalysed)
}

/// The decision about the line, if each of its commands is allowed. `first`: that about the first of them.
#[must_use]
pub fn covered(line: Decision, first: Decision) -> Decision {
    Decision {
        verdict: Verdict::Allow,
        rule: first.rule,
        basis: first.basis,
        layer: first.layer,
        scopes: Vec::new(),
        ..line
    }
}

/// The arguments of a call of this tool with another command.
#[must_use]
pub fn with_command(
    tool: &ToolSpec,
    arguments: &Map<String, Value>,
    command: &str,
) -> Map<String, Value> {
    let mut changed = arguments.clone();
    for (name, stands_for) in &tool.arguments {
        if *stands_for == ArgumentUse::Command {
            changed.insert(name.to_string(), command.into());
        }
    }
    changed
}
