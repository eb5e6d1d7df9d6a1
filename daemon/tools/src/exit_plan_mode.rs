//! `exit_plan_mode`: a plan for the user to approve.
//!
//! Only checks it: the session presents it, and the answer is the result of the call.

use contract::{CallAction, Family, Outcome, ToolSpec};
use proto::item::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "In plan mode: hand in the plan, in Markdown, once you know what is to be done: the steps, the files, how it will be verified. The user approves it, and you carry it out, or says what is missing.";

/// The longest plan, in bytes: a person has to read it.
const PLAN_MAX: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    plan: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    fn check(&self) -> Result<(), Outcome> {
        let plan = self.plan.trim();
        if plan.is_empty() {
            return Err(Outcome::refused(
                "the plan is empty; write what is to be done, in Markdown",
            ));
        }
        if plan.len() > PLAN_MAX {
            return Err(Outcome::refused(format!(
                "the plan has {} bytes; a person reads at most {PLAN_MAX}: say it shorter",
                plan.len()
            )));
        }
        Ok(())
    }
}

pub(crate) struct ExitPlanMode;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Plan,
        read_only: true,
        person_only: true,
        ..arguments::spec::<Args>("exit_plan_mode", DESCRIPTION, Family::Session)
    }
}

impl TypedTool for ExitPlanMode {
    type Args = Args;

    fn preview(args: Args) -> String {
        let first = args.plan.trim().lines().next();
        first.unwrap_or_default().to_owned()
    }

    fn action(args: Args) -> CallAction {
        CallAction::PresentPlan(args.plan.trim().to_owned())
    }
}

#[cfg(test)]
mod tests;
