//! What a file says of an agent: its keys, read and checked.

use std::collections::BTreeMap;

use proto::params::command::CommandSource;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{AgentDefinition, claude};
use crate::front_matter::{Described, Document, split};

/// Letters of a name.
const NAME_MAX: usize = 64;
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

/// Names of configured servers. A definition cannot bring a server: it would run what nobody has approved.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ServerNames {
    Names(Names),
    Other(IgnoredAny),
}

/// Why a file cannot be used: a line of it, and a text for the user.
pub(super) type DefinitionError = (u64, String);

/// A file that was read.
pub(super) struct Parsed {
    pub agent: AgentDefinition,
    /// What has no effect, with its line.
    pub warnings: Vec<(u64, String)>,
}

/// Reads a file. The error has its line.
pub(super) fn parse(stem: &str, text: &str) -> Result<Parsed, DefinitionError> {
    let document = split(text).map_err(|error| (error.line, error.reason))?;
    read_document(stem, document)
}

/// Reads a definition in either form. `stem`: its name if it has none.
pub(super) fn read_document(
    stem: &str,
    mut document: Document<'_>,
) -> Result<Parsed, DefinitionError> {
    let keys = Keys(document.keys());
    keys.check()?;
    let fields: Fields = document
        .described_fields()
        .map_err(|error| (error.line, error.reason))?;
    let worktree = wants_worktree(fields.isolation.as_deref())
        .map_err(|reason| (keys.line_of(&["isolation"]), reason))?;
    let mcp_servers = server_names(fields.mcp_servers)
        .map_err(|reason| (keys.line_of(&["mcp_servers", "mcpServers"]), reason))?;
    let max_steps = steps(fields.max_steps, &keys, &document)?;
    let read_only = reads_only(fields.read_only, &keys, &document)?;
    let name = fields.name.unwrap_or_else(|| stem.to_owned());
    let name = name.trim().to_owned();
    check_name(&name).map_err(|reason| (keys.line_of(&["name"]), reason))?;
    let description = printable(&fields.description.unwrap_or_default());
    if description.is_empty() {
        let line = keys.line_of(&["description"]);
        return Err((line, "it has no description".to_owned()));
    }
    let fallback = fields.fallback.map(|name| name.trim().to_owned());
    let body = document.body.trim().to_owned();
    if body.is_empty() {
        return Err((1, "it says nothing to the model".to_owned()));
    }
    let mut warnings = Vec::new();
    let tools_line = keys.line_of(&["tools"]);
    let tools = given_tools(fields.tools, tools_line, &mut warnings)?;
    let without = fields.disallowed_tools.map(Names::read).unwrap_or_default();
    let without_line = keys.line_of(&["disallowedTools", "disallowed_tools"]);
    let without = claude::widened(without, without_line, &mut warnings);
    if let Some(hooks) = &fields.hooks {
        let line = keys.line_of(&["hooks"]);
        claude::check_hooks(hooks).map_err(|reason| (line, reason))?;
        warnings.push((line, claude::HOOKS_WITHOUT_EFFECT.to_owned()));
    }
    let mode = fields
        .permission_mode
        .map(|mode| mode.value(|text| Some(text.to_owned())));
    let (plans, warning) = claude::permission_mode(mode);
    warnings.extend(warning.map(|text| (keys.line_of(&["permissionMode"]), text)));
    warnings.extend(without_effect(&document, &keys, fields.models.as_ref()));
    warnings.sort();
    Ok(Parsed {
        agent: AgentDefinition {
            name,
            description,
            tools,
            without,
            model: model(fields.model, fields.models, &keys)?,
            effort: fields.effort,
            max_steps,
            read_only: read_only || plans,
            worktree,
            mcp_servers,
            fallback: fallback.filter(|name| !name.is_empty()),
            fallback_line: keys.line_of(&["fallback"]),
            source: CommandSource::default(),
            file: None,
            tools_line,
            body,
            hidden_by: None,
        },
        warnings,
    })
}

/// The keys of a file, with their lines.
struct Keys(Vec<(u64, String)>);

impl Keys {
    /// The line of the first of these; the first line if there is none of them.
    fn line_of(&self, names: &[&str]) -> u64 {
        let mut found = self.0.iter().filter(|(_, key)| names.contains(&&**key));
        found.next().map_or(1, |(line, _)| *line)
    }

    /// Whether the file promises nothing that this build does not hold.
    fn check(&self) -> Result<(), DefinitionError> {
        let refused = self.0.iter().find(|(_, key)| REFUSED.contains(&&**key));
        match refused {
            Some((line, key)) => Err((*line, format!("the key `{key}` is not supported"))),
            None => Ok(()),
        }
    }

    /// Of a value that is of another kind. `names`: the spellings of its key.
    fn wrong(
        &self,
        document: &Document<'_>,
        names: &[&str],
        kind: &str,
        example: &str,
    ) -> DefinitionError {
        let written = names.iter().find(|name| document.line_of(name).is_some());
        let name = written.or(names.first()).copied().unwrap_or_default();
        let reason = format!("`{name}` must be {kind}: write, for example, `{name}: {example}`");
        (self.line_of(names), reason)
    }
}

/// The number of steps.
fn steps(
    written: Option<Written<u64>>,
    keys: &Keys,
    document: &Document<'_>,
) -> Result<Option<u64>, DefinitionError> {
    let steps = written.map(|written| {
        let number = written.value(|text| text.parse().ok());
        number.ok_or_else(|| keys.wrong(document, &STEPS, "a whole number from 0", "20"))
    });
    steps.transpose()
}

/// Whether it only reads.
fn reads_only(
    written: Option<Written<bool>>,
    keys: &Keys,
    document: &Document<'_>,
) -> Result<bool, DefinitionError> {
    let flag = written.map(|written| {
        let flag = written.value(parse_flag);
        flag.ok_or_else(|| keys.wrong(document, &["read_only"], "`true` or `false`", "true"))
    });
    Ok(flag.transpose()?.unwrap_or(false))
}

/// The tools that it gets, whole. `None`: those of the parent.
fn given_tools(
    written: Option<Names>,
    line: u64,
    warnings: &mut Vec<(u64, String)>,
) -> Result<Option<Vec<String>>, DefinitionError> {
    // `*` is what it gets without the key.
    let tools = written.map(Names::read);
    let tools = tools.filter(|names| !names.iter().any(|name| name == "*"));
    let tools = tools.map(|names| claude::whole_tools(names, line, warnings));
    if tools.as_ref().is_some_and(Vec::is_empty) {
        let reason = "it names no whole tool under `tools`: name one, or leave the key out";
        return Err((line, reason.to_owned()));
    }
    Ok(tools)
}

/// Its model, in either form. `None`: that of the parent.
fn model(
    model: Option<String>,
    models: Option<Models>,
    keys: &Keys,
) -> Result<Option<String>, DefinitionError> {
    if model.is_some() && models.is_some() {
        let reason = "it has `model` and `models`: give one of them".to_owned();
        return Err((keys.line_of(&["models"]), reason));
    }
    let model = model.or(models.and_then(Models::reference));
    let model = model.map(|model| model.trim().to_owned());
    Ok(model.filter(|model| !is_parents_model(model)))
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
    keys: &Keys,
    models: Option<&Models>,
) -> Vec<(u64, String)> {
    let known = |key: &str| {
        KEYS.contains(&key)
            || OTHER_KEYS.contains(&key)
            || ["permissionMode", "hooks"].contains(&key)
    };
    let no_effect = |key: &str| format!("the key `{key}` has no effect");
    let unknown = keys.0.iter().filter(|(_, key)| !known(key));
    let mut found: Vec<_> = unknown.map(|(line, key)| (*line, no_effect(key))).collect();
    let other = models.into_iter().flat_map(|models| models.other.keys());
    let lines = document.keys_below("models");
    let line_below = |key: &str| {
        let written = lines.iter().find(|(_, written)| written == key);
        // In braces they are all on its line.
        let written = written.or_else(|| keys.0.iter().find(|(_, key)| key == "models"));
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
