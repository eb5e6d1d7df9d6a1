//! `skill`: loads the instructions of a skill that the prefix lists.
//!
//! One that runs as a sub-agent is run, and the result is its answer. The session finds and reads skills: which there
//! are, and what they limit, is its matter.

use std::sync::Arc;

use contract::tool::SkillLoad;
use contract::{CallContext, Family, Outcome, ToolSpec};
use proto::item::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::task::run_agent;
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "Load the instructions of a skill from the list of skills.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    name: String,
    #[serde(default)]
    arguments: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("skill", "name"),
        ("skill_name", "name"),
        ("command", "name"),
        ("args", "arguments"),
    ];
}

pub(crate) struct Skill;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Tools,
        read_only: true,
        ..arguments::spec::<Args>(contract::SKILL_TOOL, DESCRIPTION, Family::Session)
            .with_names(Some("Skill"), &[])
    }
}

impl TypedTool for Skill {
    type Args = Args;

    fn preview(args: Args) -> String {
        format!("skill {}", args.name)
    }

    async fn run(args: Args, context: CallContext) -> Result<Outcome, Outcome> {
        let skills = Arc::clone(&context.skills);
        let load = move || skills.load(args.name.trim_start_matches('/'), &args.arguments);
        let loaded = tokio::task::spawn_blocking(load).await;
        let unread = |_| Err(Outcome::failed("the skill could not be read"));
        match loaded.unwrap_or_else(unread)? {
            SkillLoad::Inline(outcome) => Ok(*outcome),
            SkillLoad::Subagent(task) => Ok(run_agent(task, context).await),
        }
    }
}
