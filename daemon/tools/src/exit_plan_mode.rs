//! `exit_plan_mode`: a plan that a person is to approve.
//!
//! Here it is only checked: the session puts it, and the answer is the call's result.

use contract::{CallAction, CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};

/// Bytes of a plan: a person has to read it.
const PLAN_MAX: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    plan: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
}

pub(crate) struct ExitPlanMode {
    spec: ToolSpec,
}

impl ExitPlanMode {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                kind: ToolKind::Plan,
                read_only: true,
                person_only: true,
                ..arguments::spec::<Args>(
                    "exit_plan_mode",
                    include_str!("exit_plan_mode.md"),
                    Family::Session,
                )
            },
        }
    }
}

impl Tool for ExitPlanMode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        let arguments = arguments::canonical::<Args>(&self.spec.schema, arguments)?;
        plan(arguments.clone())?;
        Ok(arguments)
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let plan = plan(arguments.clone())?;
        let text = plan.lines().next().unwrap_or_default().to_owned();
        Ok(Preview {
            display: Display::Line { text },
        })
    }

    fn action(&self, arguments: &Map<String, Value>) -> Result<CallAction, Outcome> {
        plan(arguments.clone()).map(CallAction::PresentPlan)
    }
}

/// The plan, checked.
fn plan(arguments: Map<String, Value>) -> Result<String, Outcome> {
    let Args { plan } = arguments::typed(arguments)?;
    let plan = plan.trim();
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
    Ok(plan.to_owned())
}

#[cfg(test)]
mod tests;
