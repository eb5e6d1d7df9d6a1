//! Definitions of sub-agents: Markdown files whose front matter says what the agent is for and may use, and whose body
//! is its system prompt. Or directories with `agent.yaml`, which has the same keys, and `instructions.md`, the system
//! prompt.
//!
//! Names of tools are as they are written: the session knows which tools there are.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use proto::params::command::CommandSource;
use workspace::Workspace;

use crate::definition_files::{DefinitionFiles, Root};
use crate::front_matter::Document;

mod claude;
mod fallbacks;
mod fields;

pub use fields::is_parents_model;
use fields::{DefinitionError, Parsed, parse, read_document};

/// Directories of a project that hold agents. The first that has a name counts.
const PROJECT_DIRS: [&str; 2] = [".reasonix/agents", ".claude/agents"];
/// The directory of the user's agents for all tools that know this form, from the user's home.
const SHARED_DIR: &str = ".claude/agents";
/// Levels of directories below one of those.
const DEPTH_MAX: usize = 8;
/// The names of a definition in YAML, in a directory of its own.
const YAML_FILES: [&str; 2] = ["agent.yaml", "agent.yml"];
/// The system prompt beside it.
const INSTRUCTIONS: &str = "instructions.md";
/// Bytes of all definitions in a prefix.
const LIST_BYTES_MAX: usize = 4_000;
/// Letters of a description in a prefix.
const LISTED_MAX: usize = 160;
/// Agents that come with the program.
const BUILT_IN: [(&str, &str); 4] = [
    ("explore", include_str!("agents/explore.md")),
    ("general", include_str!("agents/general.md")),
    ("plan", include_str!("agents/plan.md")),
    ("review", include_str!("agents/review.md")),
];
/// The planner, which is no agent that a model can start.
const PLANNER: &str = include_str!("agents/planner.md");
/// An agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDefinition {
    pub name: String,
    pub description: String,
    /// As they are written. `None`: those of the parent.
    pub tools: Option<Vec<String>>,
    /// Tools that it does not get, as they are written.
    pub without: Vec<String>,
    /// `None`: that of the parent.
    pub model: Option<String>,
    pub effort: Option<String>,
    /// Steps of its turn.
    pub max_steps: Option<u64>,
    /// Every call that changes something is refused.
    pub read_only: bool,
    /// It works in a git worktree of its own.
    pub worktree: bool,
    /// MCP servers that are started for it alone, by name. Empty: it uses those of the parent.
    pub mcp_servers: Vec<String>,
    /// The agent that works on the same task if this one fails.
    pub fallback: Option<String>,
    /// The line of that in the file.
    pub fallback_line: u64,
    pub source: AgentSource,
    /// From the workspace root, or absolute. `None`: it comes with the program.
    pub file: Option<String>,
    /// The line of its tools in the file.
    pub tools_line: u64,
    /// Its system prompt.
    pub body: String,
    /// Another agent of this name counts: its file.
    pub hidden_by: Option<String>,
}

/// Whose agent it is.
pub type AgentSource = CommandSource;

/// The agents that can be used in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDefinitions {
    /// Sorted by name; of the same name the one that counts first.
    pub agents: Vec<AgentDefinition>,
    /// Files that are left out, and keys that have no effect, with their lines. In words for the user.
    pub problems: Vec<String>,
}

impl AgentDefinitions {
    /// The agent of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&AgentDefinition> {
        self.counting().find(|agent| agent.name == name)
    }

    /// Those that no other of the same name hides.
    pub fn counting(&self) -> impl Iterator<Item = &AgentDefinition> {
        let agents = self.agents.iter();
        agents.filter(|agent| agent.hidden_by.is_none())
    }

    /// What the model reads of them: a line each.
    #[must_use]
    pub fn listed(&self) -> String {
        let mut list = String::new();
        let mut left_out = 0_usize;
        for agent in self.counting() {
            let first = agent.description.lines().next().unwrap_or_default();
            let said: String = first.chars().take(LISTED_MAX).collect();
            let line = format!("\n{}: {said}", agent.name);
            if list.len() + line.len() > LIST_BYTES_MAX {
                left_out += 1;
            } else {
                list.push_str(&line);
            }
        }
        if left_out > 0 {
            list.push_str(&format!("\nand {left_out} more"));
        }
        list
    }
}

/// The directories that definitions are read from, in order.
#[must_use]
pub fn agent_directories(workspace: &Workspace, user_dir: &Path) -> Vec<(PathBuf, AgentSource)> {
    let project = PROJECT_DIRS.map(|dir| workspace.root().join(dir));
    let user = [user_dir.to_owned(), workspace.user_home().join(SHARED_DIR)];
    project
        .into_iter()
        .map(|path| (path, CommandSource::Project))
        .chain(user.into_iter().map(|path| (path, CommandSource::User)))
        .collect()
}

/// Finds the agents of the project, of the user, and of the program. Blocks.
///
/// `user_dir`: the user's agents for Reasonix alone. A file that cannot be used hides nothing.
#[must_use]
pub fn find_agents(workspace: &Workspace, user_dir: &Path) -> AgentDefinitions {
    let mut files = DefinitionFiles::new(workspace);
    let mut agents = Vec::new();
    for (path, source) in agent_directories(workspace, user_dir) {
        let root = Root {
            path,
            is_project: source == CommandSource::Project,
        };
        let found = files.walk(&root, DEPTH_MAX);
        let is_yaml = |file: &&PathBuf| is_named(file, &YAML_FILES);
        let in_yaml: HashSet<_> = found
            .iter()
            .filter(is_yaml)
            .filter_map(|file| file.parent())
            .collect();
        for file in &found {
            let is_text = file.parent().is_some_and(|dir| in_yaml.contains(dir));
            agents.extend(match is_named(file, &YAML_FILES) {
                true => read_yaml_agent(&mut files, &root, file, source),
                // What is beside a definition in YAML belongs to it.
                false if is_text => None,
                false => read_agent(&mut files, &root, file, source),
            });
        }
    }
    agents.extend(BUILT_IN.iter().filter_map(|(name, text)| {
        let parsed = parse(name, text).ok()?;
        Some(AgentDefinition {
            source: CommandSource::BuiltIn,
            ..parsed.agent
        })
    }));
    hide(&mut agents);
    files.problems.extend(fallbacks::settle(&mut agents));
    AgentDefinitions {
        agents,
        problems: files.problems,
    }
}

/// The definition of the planner.
#[must_use]
pub fn planner_definition() -> AgentDefinition {
    let parsed = parse("planner", PLANNER).map(|parsed| parsed.agent);
    // A test reads it.
    AgentDefinition {
        source: CommandSource::BuiltIn,
        ..parsed.unwrap_or_default()
    }
}

fn is_named(file: &Path, names: &[&str]) -> bool {
    file.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| names.contains(&name))
}

/// Sorts by name, and notes which agents do not count.
fn hide(agents: &mut [AgentDefinition]) {
    // Stable: of the same name the first stays first.
    agents.sort_by(|one, other| one.name.cmp(&other.name));
    let mut counting: Option<(String, String)> = None;
    for agent in agents {
        match &counting {
            Some((name, file)) if *name == agent.name => agent.hidden_by = Some(file.clone()),
            _ => {
                let file = agent.file.clone().unwrap_or_default();
                counting = Some((agent.name.clone(), file));
                agent.hidden_by = None;
            }
        }
    }
}

fn read_agent(
    files: &mut DefinitionFiles<'_>,
    root: &Root,
    file: &Path,
    source: AgentSource,
) -> Option<AgentDefinition> {
    if file.extension()? != "md" {
        return None;
    }
    let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) else {
        files.report(file, None, "its name is not valid UTF-8");
        return None;
    };
    let text = files.read(file, root)?;
    let parsed = parse(stem, &text);
    taken(files, file, source, parsed)
}

/// Reads `agent.yaml` and the `instructions.md` beside it. Its default name is that of the directory.
fn read_yaml_agent(
    files: &mut DefinitionFiles<'_>,
    root: &Root,
    file: &Path,
    source: AgentSource,
) -> Option<AgentDefinition> {
    let directory = file.parent()?;
    let stem = directory.file_name()?.to_string_lossy().into_owned();
    let yaml = files.read(file, root)?;
    let instructions = directory.join(INSTRUCTIONS);
    if instructions.symlink_metadata().is_err() {
        let reason = format!("there is no `{INSTRUCTIONS}` beside it");
        files.report(file, None, &reason);
        return None;
    }
    let body = files.read(&instructions, root)?;
    let parsed = read_document(&stem, Document::of_files(&yaml, &body));
    taken(files, file, source, parsed)
}

/// The agent of a file, with what is to be said of the file.
fn taken(
    files: &mut DefinitionFiles<'_>,
    file: &Path,
    source: AgentSource,
    parsed: Result<Parsed, DefinitionError>,
) -> Option<AgentDefinition> {
    match parsed {
        Ok(parsed) => {
            for (line, warning) in parsed.warnings {
                files.warn(file, line, &warning);
            }
            Some(AgentDefinition {
                source,
                file: Some(files.name_of(file)),
                ..parsed.agent
            })
        }
        Err((line, reason)) => {
            files.report(file, Some(line), &reason);
            None
        }
    }
}

#[cfg(test)]
mod tests;
