//! Skills: instructions for a kind of task that a model loads on its own, or a prompt of the form `/name arguments`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `skill.list`: one of both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SkillListParams")]
pub struct ListParams {
    /// As a new session in this directory would have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Those of this session (pid, id or name).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `skill.list`: the skills as the files are now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SkillListOutput")]
pub struct ListOutput {
    /// Sorted by name.
    pub skills: Vec<SkillInfo>,
    /// Files that are left out, in sentences.
    pub problems: Vec<String>,
}

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillInfo {
    pub name: String,
    pub description: String,
    pub source: SkillSource,
    /// Its `SKILL.md`.
    pub file: String,
    /// File of the skill that counts instead of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<String>,
    /// Whether a custom command has this name: `/name` then runs the command, and only the model can load the skill.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_command: bool,
    /// False: it comes from a project that is not trusted. It is only text: it permits nothing.
    pub trusted: bool,
    /// Whether its name and description are offered to the model.
    pub offered: bool,
    /// The only tools that may be called while it is in force. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    pub run_as: RunAs,
    /// The model that it asks for. It is not used: a skill runs with the model of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it cannot be used at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// Whose skill it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillSource {
    Project,
    User,
    /// From a directory of the setting `skills.paths`.
    Configured,
}

impl SkillSource {
    /// As on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Configured => "configured",
        }
    }
}

/// How a skill runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunAs {
    /// In the session, as instructions for the rest of the turn.
    #[default]
    Inline,
    /// As a sub-agent, whose answer comes back.
    Subagent,
}
