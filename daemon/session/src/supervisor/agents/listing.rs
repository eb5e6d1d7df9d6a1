//! Which agents there are in a session or a directory.

use std::path::Path;
use std::sync::Arc;

use contract::ToolSet;
use knowledge::{AgentDefinition, agent_directories, find_agents};
use proto::Failure;
use proto::params::agent::{AgentDirectory, AgentInfo, AgentIsolation, ListOutput};
use workspace::Workspace;

use crate::calls::permissions::{PermissionScope, open, root_of};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

impl Supervisor {
    /// The agents, as the files are now.
    ///
    /// # Errors
    /// No such session; the log of it cannot be opened. The directory cannot be read.
    pub async fn agents(&self, asked: &PermissionScope) -> Result<ListOutput, Failure> {
        match asked {
            PermissionScope::Session(session) => {
                let standing = self.find(session).await?.standing().await?;
                let call_environment = Arc::clone(&standing.call_environment);
                blocking(move || {
                    let workspace = &call_environment.workspace;
                    let user_dir = &call_environment.user_agents;
                    output(workspace, user_dir, &call_environment.tools)
                })
                .await
            }
            PermissionScope::Directory(cwd) => {
                let (services, cwd) = (self.services.clone(), cwd.clone());
                blocking(move || {
                    let assembly = &services.assembly;
                    let terms = assembly.terms(&cwd);
                    let root = root_of(&terms, &cwd, &assembly.user_home());
                    let user_dir = services.home.agents();
                    let readable = vec![user_dir.clone()];
                    let workspace = open(&terms, &**assembly, &cwd, &root, readable)?;
                    Ok(output(&workspace, &user_dir, &terms.tools))
                })
                .await?
            }
        }
    }
}

/// Blocks.
fn output(workspace: &Workspace, user_dir: &Path, tools: &ToolSet) -> ListOutput {
    let found = find_agents(workspace, user_dir);
    let directories = agent_directories(workspace, user_dir).into_iter();
    let directories = directories.map(|(path, source)| AgentDirectory {
        path: path.to_string_lossy().into_owned(),
        source,
    });
    let directories = directories.collect();
    let mut problems = found.problems;
    let info = |agent: AgentDefinition| {
        problems.extend(unknown_tools(&agent, tools));
        AgentInfo {
            name: agent.name,
            description: agent.description,
            tools: agent.tools,
            disallowed_tools: agent.without,
            model: agent.model,
            effort: agent.effort,
            max_steps: agent.max_steps,
            read_only: agent.read_only,
            isolation: match agent.worktree {
                true => AgentIsolation::Worktree,
                false => AgentIsolation::None,
            },
            mcp_servers: agent.mcp_servers,
            fallback: agent.fallback,
            source: agent.source,
            file: agent.file,
            hidden_by: agent.hidden_by,
        }
    };
    let agents = found.agents.into_iter().map(info).collect();
    ListOutput {
        agents,
        problems,
        directories,
    }
}

/// What is to be said of tools that an agent names and that there are not.
fn unknown_tools(agent: &AgentDefinition, tools: &ToolSet) -> Option<String> {
    let is_known = |name: &&String| {
        let mut known = tools.specs().flat_map(|spec| spec.names());
        known.any(|known| known.eq_ignore_ascii_case(name))
    };
    let named = agent.tools.iter().flatten();
    let unknown: Vec<_> = named
        .filter(|name| !is_known(name))
        .map(|name| format!("`{name}`"))
        .collect();
    let file = agent.file.as_ref().filter(|_| !unknown.is_empty())?;
    let (line, names) = (agent.tools_line, unknown.join(", "));
    Some(format!("`{file}:{line}`: there is no tool {names} here."))
}
