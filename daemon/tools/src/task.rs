//! `task`: has a sub-agent do a piece of work, and returns its last answer.
//!
//! Only hands it on: the session runs the sub-agent. Which agents there are is added to the description when a session's
//! prefix is made.

use contract::{AgentTask, CallContext, Family, Outcome, ToolSpec, first_line};
use proto::item::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::truncate::{self, TextPieces};
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "Have an agent do a piece of work in its own context; only its last answer comes back. It knows nothing of this conversation: put all it needs into `prompt`. Several calls in one answer run side by side. Agents:";

/// Tokens of an agent's answer.
const TOKENS_MAX: usize = 16_000;
/// The agent that does whatever none is named for.
const DEFAULT: &str = "general";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Default: general
    #[serde(default)]
    agent: Option<String>,
    /// 3 to 6 words for the user
    description: String,
    prompt: String,
    /// Return at once; the answer comes later as a message
    #[serde(default)]
    background: bool,
}

impl Args {
    fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or(DEFAULT)
    }
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("subagent_type", "agent"),
        ("agent_type", "agent"),
        ("subagent", "agent"),
        ("task", "prompt"),
        ("run_in_background", "background"),
    ];

    fn check(&self) -> Result<(), Outcome> {
        if self.prompt.trim().is_empty() {
            let text = "`prompt` is empty; say what the agent is to do";
            return Err(Outcome::refused(text));
        }
        Ok(())
    }
}

pub(crate) struct Task;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Agent,
        // It changes nothing itself: each call of the sub-agent is judged as one of its own session.
        read_only: true,
        ..arguments::spec::<Args>("task", DESCRIPTION, Family::Task)
            .with_names(Some("Task"), &["Agent"])
    }
}

impl TypedTool for Task {
    type Args = Args;

    fn preview(args: Args) -> String {
        format!("{}: {}", args.agent(), first_line(&args.description))
    }

    async fn run(args: Args, context: CallContext) -> Result<Outcome, Outcome> {
        let task = AgentTask {
            agent: args.agent().to_owned(),
            description: first_line(&args.description),
            prompt: args.prompt,
            skill: None,
            background: args.background,
        };
        Ok(run_agent(task, context).await)
    }
}

/// Runs a sub-agent for a call. Its answer is cut to what a call may say.
pub(crate) async fn run_agent(task: AgentTask, context: CallContext) -> Outcome {
    let CallContext {
        agents,
        call,
        progress,
        cancel,
        ..
    } = context;
    let outcome = agents.run(call, task, progress, cancel).await;
    let text = truncate::cut(TextPieces::whole(&outcome.text), TOKENS_MAX, "");
    Outcome {
        text: text.text,
        ..outcome
    }
}
