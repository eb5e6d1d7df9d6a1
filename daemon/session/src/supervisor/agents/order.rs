//! What a sub-agent is created with: by its definition, the call's task and what it inherits from its parent.

use contract::{AgentTask, Outcome, ToolSet, ToolSpec};
use knowledge::AgentDefinition;
use proto::params::profile::ProfileParams;
use proto::params::session::CreateParams;
use proto::state::Kind;
use proto::{SessionId, SessionOptions};

use crate::actor::commands::agents::AgentTerms;
use crate::assembly::agent_models::AgentModels;
use crate::assembly::setup::ProfileChoice;
use crate::supervisor::agents::{DEPTH_MAX, starts_agents};

/// What a sub-agent is created with.
pub(super) struct Order {
    pub params: CreateParams,
    /// It gets a git worktree of its own.
    pub worktree: bool,
    /// MCP servers that run for it alone.
    pub mcp_servers: Vec<String>,
    pub profile: ProfileChoice,
}

/// Puts a sub-agent together from its definition and what it inherits.
pub(super) fn order(
    agent: &AgentDefinition,
    terms: &AgentTerms,
    models: &AgentModels,
    session: SessionId,
    depth: u32,
    task: &AgentTask,
) -> Result<Order, Outcome> {
    let tools = tools_of(agent, &terms.call_environment.tools, depth);
    if tools.is_empty() {
        return Err(no_tool(agent));
    }
    let pinned = agent.tools.as_ref().map(|_| tools.clone());
    // Below the checkout, the agent would write where it is to be kept away from.
    let is_apart = |dir: &String| {
        !agent.worktree || !std::path::Path::new(dir).starts_with(&terms.created.root)
    };
    let add_dirs = terms.created.add_dirs.iter().filter(|dir| is_apart(dir));
    Ok(Order {
        worktree: agent.worktree,
        mcp_servers: agent.mcp_servers.clone(),
        params: CreateParams {
            session,
            cwd: terms.created.cwd.clone(),
            env: terms.env.clone(),
            env_held: terms.env_held.clone(),
            prompt: Some(task.prompt.clone()),
            profile: ProfileParams {
                add_dirs: add_dirs.cloned().collect(),
                ..ProfileParams::default()
            },
            options: options_of(agent, &terms.options, models, task),
            ..CreateParams::default()
        },
        profile: ProfileChoice {
            system_prompt: Some(agent.body.as_str().into()),
            append_system_prompt: None,
            tools: Some(tools),
            pinned: pinned.unwrap_or_default(),
        },
    })
}

/// The options of a sub-agent. `own`: those of its parent.
fn options_of(
    agent: &AgentDefinition,
    own: &SessionOptions,
    models: &AgentModels,
    task: &AgentTask,
) -> SessionOptions {
    let skill = task.skill.as_ref();
    let asked = skill.and_then(|skill| skill.model.as_deref());
    let asked = asked.filter(|model| !knowledge::is_parents_model(model));
    let file = asked.or(agent.model.as_deref());
    let name = skill.map_or(&agent.name, |skill| &skill.used.name);
    let model = models.model_of(name, file);
    // The effort of one model says nothing of another's.
    let effort = match (&agent.effort, &model) {
        (Some(effort), _) => Some(effort.clone()),
        (None, Some(_)) => None,
        (None, None) => own.effort.clone(),
    };
    SessionOptions {
        // It goes on by itself after the daemon's end.
        kind: match task.background {
            true => Some(Kind::Headless),
            false => own.kind,
        },
        model: model.or_else(|| own.model.clone()),
        effort,
        max_steps: agent.max_steps.or(own.max_steps),
        read_only: Some(agent.read_only || own.read_only == Some(true)),
        ..own.clone()
    }
}

/// In words for the model.
fn no_tool(agent: &AgentDefinition) -> Outcome {
    let named = agent.tools.clone().unwrap_or_default().join(", ");
    Outcome::failed(match named.is_empty() {
        true => format!(
            "The agent `{}` gets no tool: its file takes all tools of this session away.",
            agent.name
        ),
        false => format!(
            "The agent `{}` has none of the tools that its file names here: {named}.",
            agent.name
        ),
    })
}

/// The tools of a sub-agent: those of the parent that its definition names.
fn tools_of(agent: &AgentDefinition, tools: &ToolSet, depth: u32) -> Vec<String> {
    let is_named = |spec: &ToolSpec, names: &[String]| {
        let mut own = spec.names();
        own.any(|own| names.iter().any(|name| name.eq_ignore_ascii_case(own)))
    };
    let may_start = depth < DEPTH_MAX;
    let specs = tools.specs().filter(|spec| {
        (may_start || !starts_agents(spec))
            && !is_named(spec, &agent.without)
            && agent
                .tools
                .as_ref()
                .is_none_or(|names| is_named(spec, names))
    });
    specs.map(|spec| spec.name.to_string()).collect()
}
