//! `update_goal`: the model reports about the session's goal.
//!
//! Only checks the report: the session decides what becomes of it.

use contract::{CallAction, Family, Outcome, ToolSpec, first_line};
use proto::item::ToolKind;
use proto::record::{GoalReport, ReportStatus};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "Report on the goal of this session, before a turn ends; only where a message names a `<goal>`. `complete`: all of it is done, and `evidence` says what shows that (commands and their results); it is checked. `blocked`: nothing more can be done without the user; `summary` says why, in the same words each time. `continue`: work is left; `next` is the next step.";

/// Bytes of each text.
const TEXT_MAX: usize = 8 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    status: Status,
    /// What was done, or what is in the way
    summary: String,
    evidence: Option<String>,
    next: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Continue,
    Complete,
    Blocked,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("reason", "summary"),
        ("next_action", "next"),
        ("next_step", "next"),
    ];

    fn check(&self) -> Result<(), Outcome> {
        if self.summary.trim().is_empty() {
            return Err(Outcome::refused(
                "`summary` is empty; say what was done, or what is in the way",
            ));
        }
        let texts = [
            Some(&self.summary),
            self.evidence.as_ref(),
            self.next.as_ref(),
        ];
        if texts
            .into_iter()
            .flatten()
            .any(|text| text.len() > TEXT_MAX)
        {
            return Err(Outcome::refused(format!(
                "a text has more than {TEXT_MAX} bytes; say it shorter"
            )));
        }
        Ok(())
    }
}

pub(crate) struct UpdateGoal;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Goal,
        read_only: true,
        ..arguments::spec::<Args>("update_goal", DESCRIPTION, Family::Session)
    }
}

impl TypedTool for UpdateGoal {
    type Args = Args;

    fn preview(args: Args) -> String {
        let status = match args.status {
            Status::Continue => "continue",
            Status::Complete => "complete",
            Status::Blocked => "blocked",
        };
        format!("{status}: {}", first_line(args.summary.trim()))
    }

    fn action(args: Args) -> CallAction {
        let trimmed = |text: Option<String>| {
            let text = text.map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        CallAction::ReportGoal(GoalReport {
            status: match args.status {
                Status::Continue => ReportStatus::Continue,
                Status::Complete => ReportStatus::Complete,
                Status::Blocked => ReportStatus::Blocked,
            },
            summary: args.summary.trim().to_owned(),
            evidence: trimmed(args.evidence),
            next: trimmed(args.next),
        })
    }
}

#[cfg(test)]
mod tests;
