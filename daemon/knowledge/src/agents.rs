//! Definitions of sub-agents: Markdown files whose front matter says what the agent is for and may use, and whose body
//! is its system prompt. Or directories with `agent.yaml`, which has the same keys, and `instructions.md`, the system
//! prompt.
//!
//! Names of tools are as they are written: the session knows which tools there are.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use proto::params::command::CommandSource;
use serde::Deserialize;
use serde::de::IgnoredAny;
use workspace::Workspace;

use crate::definition_files::{DefinitionFiles, Root};
use crate::front_matter::{Described, Document, split};

mod claude;
mod fallbacks;

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
/// Letters of a name.
const NAME_MAX: usize = 64;
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
/// Keys that are understood.
const KEYS: [&str; 12] = [
    "name",
    "description",
    "tools",
    "disallowedTools",
    "model",
    "models",
    "effort",
    "max_steps",
    "read_only",
    "isolation",
    "mcp_servers",
    "fallback",
];
/// Other spellings of those, and of what only decorates.
const OTHER_KEYS: [&str; 5] = [
    "disallowed_tools",
    "maxTurns",
    "max_turns",
    "color",
    "mcpServers",
];
/// Keys that promise a limit which this build does not hold: a file with one is left out.
const REFUSED: [&str; 1] = ["budget"];
/// The spellings of the number of steps.
const STEPS: [&str; 3] = ["max_steps", "maxTurns", "max_turns"];
/// Model names that mean the parent's model. So does every `claude-…` name without a provider.
const PARENTS_MODEL: [&str; 4] = ["inherit", "sonnet", "opus", "haiku"];

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

/// What the front matter says, as it is written.
#[derive(Debug, Default, Deserialize)]
struct Fields {
    name: Option<String>,
    description: Option<String>,
    tools: Option<Names>,
    #[serde(alias = "disallowedTools")]
    disallowed_tools: Option<Names>,
    model: Option<String>,
    models: Option<Models>,
    effort: Option<String>,
    #[serde(alias = "maxTurns", alias = "max_turns")]
    max_steps: Option<Written<u64>>,
    read_only: Option<Written<bool>>,
    isolation: Option<String>,
    #[serde(alias = "mcpServers")]
    mcp_servers: Option<ServerNames>,
    fallback: Option<String>,
    #[serde(rename = "permissionMode")]
    permission_mode: Option<Written<String>>,
    hooks: Option<claude::Hooks>,
}

/// The model in the form of `agent.yaml`: a provider and the model of it that is preferred.
#[derive(Debug, Default, Deserialize)]
struct Models {
    provider: Option<String>,
    preferred: Option<String>,
    /// Keys that have no effect.
    #[serde(flatten)]
    other: BTreeMap<String, IgnoredAny>,
}

impl Models {
    /// The reference to a model. `None`: that of the parent.
    fn reference(self) -> Option<String> {
        match (self.provider, self.preferred) {
            (Some(provider), Some(model)) => Some(format!("{}/{}", provider.trim(), model.trim())),
            (one, other) => one.or(other),
        }
    }
}

/// A value as it is written, so that a wrong one is reported in our words and not in the parser's.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Value(T),
    Text(String),
    Other(IgnoredAny),
}

impl<T> Written<T> {
    /// `None`: it is no such value.
    fn value(self, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Text(text) => parse(text.trim()),
            Self::Other(IgnoredAny) => None,
        }
    }
}

/// A yes or a no in the words of YAML.
fn parse_flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Names in a list, or with commas between them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    Text(String),
    List(Vec<String>),
}

impl Names {
    fn read(self) -> Vec<String> {
        let names = match self {
            Self::Text(text) => text.split(',').map(str::to_owned).collect(),
            Self::List(names) => names,
        };
        let names = names.into_iter().map(|name| name.trim().to_owned());
        names.filter(|name| !name.is_empty()).collect()
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

/// Names of configured servers. A definition cannot bring a server: it would run what nobody has approved.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ServerNames {
    Names(Names),
    Other(IgnoredAny),
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
    parsed: Result<Parsed, (u64, String)>,
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

/// A file that was read.
struct Parsed {
    agent: AgentDefinition,
    /// What has no effect, with its line.
    warnings: Vec<(u64, String)>,
}

/// Reads a file. The error has its line.
fn parse(stem: &str, text: &str) -> Result<Parsed, (u64, String)> {
    let document = split(text).map_err(|error| (error.line, error.reason))?;
    read_document(stem, document)
}

/// Reads a definition in either form. `stem`: its name if it has none.
fn read_document(stem: &str, mut document: Document<'_>) -> Result<Parsed, (u64, String)> {
    let keys: Vec<(u64, String)> = document.keys();
    let line_of = |name: &[&str]| {
        let mut found = keys.iter().filter(|(_, key)| name.contains(&key.as_str()));
        found.next().map_or(1, |(line, _)| *line)
    };
    if let Some((line, key)) = keys.iter().find(|(_, key)| REFUSED.contains(&&**key)) {
        return Err((*line, format!("the key `{key}` is not supported")));
    }
    let fields: Fields = document
        .described_fields()
        .map_err(|error| (error.line, error.reason))?;
    let worktree = wants_worktree(fields.isolation.as_deref())
        .map_err(|reason| (line_of(&["isolation"]), reason))?;
    let mcp_servers = server_names(fields.mcp_servers)
        .map_err(|reason| (line_of(&["mcp_servers", "mcpServers"]), reason))?;
    let wrong = |names: &[&str], kind: &str, example: &str| {
        let written = names.iter().find(|name| document.line_of(name).is_some());
        let name = written.or(names.first()).copied().unwrap_or_default();
        let reason = format!("`{name}` must be {kind}: write, for example, `{name}: {example}`");
        (line_of(names), reason)
    };
    let max_steps = fields.max_steps.map(|written| {
        let number = written.value(|text| text.parse().ok());
        number.ok_or_else(|| wrong(&STEPS, "a whole number from 0", "20"))
    });
    let max_steps = max_steps.transpose()?;
    let read_only = fields.read_only.map(|written| {
        let flag = written.value(parse_flag);
        flag.ok_or_else(|| wrong(&["read_only"], "`true` or `false`", "true"))
    });
    let read_only = read_only.transpose()?.unwrap_or(false);
    let name = fields.name.unwrap_or_else(|| stem.to_owned());
    let name = name.trim().to_owned();
    check_name(&name).map_err(|reason| (line_of(&["name"]), reason))?;
    let description = printable(&fields.description.unwrap_or_default());
    if description.is_empty() {
        return Err((
            line_of(&["description"]),
            "it has no description".to_owned(),
        ));
    }
    let fallback = fields.fallback.map(|name| name.trim().to_owned());
    let fallback_line = line_of(&["fallback"]);
    let body = document.body.trim().to_owned();
    if body.is_empty() {
        return Err((1, "it says nothing to the model".to_owned()));
    }
    let tools_line = line_of(&["tools"]);
    let mut warnings = Vec::new();
    // `*` is what it gets without the key.
    let tools = fields.tools.map(Names::read);
    let tools = tools.filter(|names| !names.iter().any(|name| name == "*"));
    let tools = tools.map(|names| claude::whole_tools(names, tools_line, &mut warnings));
    if tools.as_ref().is_some_and(Vec::is_empty) {
        let reason = "it names no whole tool under `tools`: name one, or leave the key out";
        return Err((tools_line, reason.to_owned()));
    }
    let without = fields.disallowed_tools.map(Names::read).unwrap_or_default();
    let without_line = line_of(&["disallowedTools", "disallowed_tools"]);
    let without = claude::widened(without, without_line, &mut warnings);
    if let Some(hooks) = &fields.hooks {
        let line = line_of(&["hooks"]);
        claude::check_hooks(hooks).map_err(|reason| (line, reason))?;
        warnings.push((line, claude::HOOKS_WITHOUT_EFFECT.to_owned()));
    }
    let mode = fields
        .permission_mode
        .map(|mode| mode.value(|text| Some(text.to_owned())));
    let (plans, warning) = claude::permission_mode(mode);
    warnings.extend(warning.map(|text| (line_of(&["permissionMode"]), text)));
    let read_only = read_only || plans;
    warnings.extend(without_effect(&document, &keys, fields.models.as_ref()));
    warnings.sort();
    if fields.model.is_some() && fields.models.is_some() {
        let reason = "it has `model` and `models`: give one of them".to_owned();
        return Err((line_of(&["models"]), reason));
    }
    let model = fields.model.or(fields.models.and_then(Models::reference));
    let model = model.map(|model| model.trim().to_owned());
    Ok(Parsed {
        agent: AgentDefinition {
            name,
            description,
            tools,
            without,
            model: model.filter(|model| !is_parents_model(model)),
            effort: fields.effort,
            max_steps,
            read_only,
            worktree,
            mcp_servers,
            fallback: fallback.filter(|name| !name.is_empty()),
            fallback_line,
            source: CommandSource::default(),
            file: None,
            tools_line,
            body,
            hidden_by: None,
        },
        warnings,
    })
}

/// Whether it works in a git worktree of its own.
fn wants_worktree(isolation: Option<&str>) -> Result<bool, String> {
    match isolation {
        None | Some("none") => Ok(false),
        Some("worktree") => Ok(true),
        Some(other) => Err(format!(
            "`isolation: {other}` is not known: write `worktree` or `none`"
        )),
    }
}

/// The configured servers that it brings.
fn server_names(written: Option<ServerNames>) -> Result<Vec<String>, String> {
    match written {
        None => Ok(Vec::new()),
        Some(ServerNames::Names(names)) => Ok(names.read()),
        Some(ServerNames::Other(IgnoredAny)) => Err("`mcp_servers` must be a list of names of configured servers: write, for example, `mcp_servers: [github]`".to_owned()),
    }
}

/// The keys that have no effect here, with their lines.
fn without_effect(
    document: &Document<'_>,
    keys: &[(u64, String)],
    models: Option<&Models>,
) -> Vec<(u64, String)> {
    let known = |key: &str| {
        KEYS.contains(&key)
            || OTHER_KEYS.contains(&key)
            || ["permissionMode", "hooks"].contains(&key)
    };
    let no_effect = |key: &str| format!("the key `{key}` has no effect");
    let unknown = keys.iter().filter(|(_, key)| !known(key));
    let mut found: Vec<_> = unknown.map(|(line, key)| (*line, no_effect(key))).collect();
    let other = models.into_iter().flat_map(|models| models.other.keys());
    let lines = document.keys_below("models");
    let line_below = |key: &str| {
        let written = lines.iter().find(|(_, written)| written == key);
        // In braces they are all on its line.
        let written = written.or_else(|| keys.iter().find(|(_, key)| key == "models"));
        written.map_or(1, |(line, _)| *line)
    };
    found.extend(other.map(|key| (line_below(key), no_effect(&format!("models.{key}")))));
    found
}

impl Described for Fields {
    fn describe(&mut self, description: String) {
        self.description = Some(description);
    }
}

/// Whether a file that names this model means that of the session which starts the agent.
#[must_use]
pub fn is_parents_model(model: &str) -> bool {
    PARENTS_MODEL.contains(&model)
        || model.is_empty()
        || (model.starts_with("claude-") && !model.contains('/'))
}

fn check_name(name: &str) -> Result<(), String> {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.chars().count() > NAME_MAX || !name.chars().all(fits) {
        return Err(format!(
            "an agent's name has 1 to {NAME_MAX} letters, digits, `-` and `_`"
        ));
    }
    Ok(())
}

/// On one line, without control characters.
fn printable(text: &str) -> String {
    let spaced = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let spaced: String = spaced.collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
