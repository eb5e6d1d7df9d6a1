//! Memory: facts that outlive sessions, as files of the user and of projects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a fact is about.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FactType {
    /// The user: role, preferences, knowledge.
    User,
    /// How the user wants work to be done.
    Feedback,
    /// The project: decisions, goals, people.
    #[default]
    Project,
    /// Where something is found.
    Reference,
}

impl FactType {
    /// As on the wire and in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }

    /// All, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// The type of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    /// The store that facts of this type are saved in.
    #[must_use]
    pub fn scope(self) -> FactScope {
        match self {
            Self::User | Self::Feedback => FactScope::User,
            Self::Project | Self::Reference => FactScope::Project,
        }
    }
}

/// Where a fact is kept.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FactScope {
    /// In every project.
    User,
    /// In one project.
    Project,
}

impl FactScope {
    /// As on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// One fact, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactInfo {
    pub name: String,
    pub description: String,
    #[serde(rename = "type")]
    pub fact_type: FactType,
    pub scope: FactScope,
    /// RFC 3339. Absent: the file does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// RFC 3339. Absent: the file does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// The id of the session that saved it. Absent: the user did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The last day on which it holds, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The fact that contradicts and replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Whether it has expired or was superseded: it is not in the prefix of new sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// The number of the archived version. Absent: it is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<u64>,
    pub file: String,
}

/// Parameters of `memory.list`: a directory or a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryListParams")]
pub struct ListParams {
    /// The user's facts and those of the project of this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Those that this session (pid, id or name) reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// List archived versions too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// Answer of `memory.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryListOutput")]
pub struct ListOutput {
    /// Active ones first, sorted by scope and name.
    pub facts: Vec<FactInfo>,
    /// Files that are left out, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Parameters of `memory.read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryReadParams")]
pub struct ReadParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub name: String,
}

/// A fact with its text: answer of `memory.read`, `memory.write`, `memory.forget` and `memory.restore`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryFactOutput")]
pub struct FactOutput {
    pub fact: FactInfo,
    /// Markdown.
    pub content: String,
}

/// Parameters of `memory.search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemorySearchParams")]
pub struct SearchParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub query: String,
    /// At most 50; absent: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Parameters of `memory.write`: the user's own act, which asks nobody. What an existing fact was before goes to the
/// archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryWriteParams")]
pub struct WriteParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub name: String,
    pub description: String,
    #[serde(default, rename = "type")]
    pub fact_type: FactType,
    /// Markdown.
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Fail if there is a fact of this name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create: bool,
}

/// Characters of a description that is made of a text.
const DESCRIPTION: usize = 80;

impl WriteParams {
    /// A new fact, described by the start of its text. The caller says where it belongs.
    #[must_use]
    pub fn new_fact(name: String, content: String) -> Self {
        let start = content.lines().next().unwrap_or_default();
        Self {
            name,
            description: start.chars().take(DESCRIPTION).collect(),
            content,
            create: true,
            ..Self::default()
        }
    }

    /// A known fact with this text. The caller says where it belongs.
    #[must_use]
    pub fn changed(fact: FactInfo, content: String) -> Self {
        Self {
            name: fact.name,
            description: fact.description,
            fact_type: fact.fact_type,
            content,
            expires: fact.expires,
            superseded_by: fact.superseded_by,
            ..Self::default()
        }
    }
}

/// Parameters of `memory.forget`: the fact goes to the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryForgetParams")]
pub struct ForgetParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub name: String,
}

/// Parameters of `memory.restore`: an archived version becomes active again; what is active goes to the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemoryRestoreParams")]
pub struct RestoreParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub name: String,
    /// The version; absent: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}
