//! What the daemon's assembly gives a session: a model, tools, rules, limits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::tool::Cancel;
use contract::{Codec, Provider, Secret, Spawn, Tool, ToolMemory, ToolSet, ToolSpec, UserShell};
use proto::item::ToolKind;
use proto::params::profile::ProfileParams;
use proto::record::{Rules, SessionCreated};
use proto::state::ApprovalMode;
use proto::{ErrorName, Failure, SessionOptions};
use turn::{Limits, RecoverPolicy};

use crate::assembly::agent_models::AgentModels;
use crate::assembly::environment_filter::EnvironmentFilter;
use crate::assembly::goals::GoalSettings;
use crate::assembly::guards::Guards;
use crate::assembly::key_keeper::{KeyKeeper, NoKeeper};
use crate::assembly::memory_settings::MemorySettings;
use crate::assembly::persisted_rules::{self as kept, PersistedRules};
use crate::assembly::reviewer_settings::ReviewerSettings;
use crate::assembly::sandbox_settings::SandboxSettings;
use crate::assembly::server_content::{NoServers, ServerContent};
use crate::assembly::shared_budgets::SharedBudgets;
use crate::assembly::skill_settings::SkillSettings;

/// Bytes that a session's creator may add to the system prompt.
const APPENDED_BYTES_MAX: usize = 32 * 1024;

/// Rules of one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLayer {
    pub layer: policy::Layer,
    pub rules: Rules,
    /// The file that contains them, for people.
    pub origin: String,
    /// Whether the layer may loosen. Deny and ask rules count either way.
    pub trusted: bool,
}

/// A model that requests can go to, and its known properties.
#[derive(Clone)]
pub struct ModelSetup {
    pub provider_name: String,
    pub provider_kind: String,
    /// As its provider names it.
    pub name: String,
    /// Tokens; 0: not known.
    pub context_window: u64,
    pub codec: Arc<dyn Codec>,
    pub provider: Arc<dyn Provider>,
    /// The variable that holds the provider's key, if it needs one.
    pub key_variable: Option<String>,
    /// The daemon's own key for it (its environment, or the credential store).
    pub own_key: Option<Secret>,
    pub limits: Limits,
    /// What requests cost; `None`: not known.
    pub price: Option<catalog::Price>,
    /// Whether malformed calls of the model are repaired.
    pub repair: bool,
    /// Its reasoning efforts, the lowest first. Empty: not known.
    pub efforts: Vec<String>,
    /// Whether requests may name a temperature.
    pub temperature: bool,
    /// The reasoning effort; `None`: the provider's default.
    pub effort: Option<String>,
    /// Who answers for the rest of a turn if this model is down.
    pub fallback: Option<turn::Fallback>,
}

impl ModelSetup {
    /// `provider/model`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider_name, self.name)
    }
}

/// What the model of a session is given to read and may do. A child session can differ from its parent in all of it.
#[derive(Clone)]
pub struct Profile {
    pub system_prompt: Arc<str>,
    /// Appended after the instruction files.
    pub append_system_prompt: Option<String>,
    /// Examples for the model, at its very end.
    pub examples: Option<String>,
    pub tools: ToolSet,
    /// Deferred tools that are declared in the prefix all the same.
    pub pinned: Vec<String>,
    /// The sub-agents that the model can start, a line each. The session puts them in.
    pub agents: String,
    /// Permission rules.
    pub rules: Vec<RuleLayer>,
    pub model: ModelSetup,
}

/// What the creator of a session chooses of its [`Profile`]; the rest is as the config says. Rules and model are chosen by the
/// session's options. All of it is in the session's log, and stays for the session's life.
#[derive(Clone, Debug, Default)]
pub struct ProfileChoice {
    pub system_prompt: Option<Arc<str>>,
    /// Added to the system prompt, after the instruction files.
    pub append_system_prompt: Option<String>,
    /// Names of the tools. `None`: all that the config gives.
    pub tools: Option<Vec<String>>,
    /// Deferred tools among them that are declared in the prefix all the same, beside those of the config.
    pub pinned: Vec<String>,
}

impl From<&ProfileParams> for ProfileChoice {
    fn from(params: &ProfileParams) -> Self {
        Self {
            system_prompt: None,
            append_system_prompt: params.append_system_prompt.clone(),
            tools: params.tools.clone(),
            pinned: Vec::new(),
        }
    }
}

impl ProfileChoice {
    /// The same choice; where it says nothing of tools, those of the config that are there.
    pub(crate) fn or_enabled(&self, enabled: &[String], tools: &ToolSet) -> Self {
        if self.tools.is_some() || enabled.is_empty() {
            return self.clone();
        }
        let there = enabled.iter().filter(|name| tools.get(name).is_some());
        Self {
            tools: Some(there.cloned().collect()),
            ..self.clone()
        }
    }

    /// The same choice with the tool that reports on a goal: a session may get a goal later, and its prefix stays.
    pub(crate) fn with_goal_tool(&self, tools: &ToolSet) -> Self {
        let with_goal = |names: &Vec<String>| {
            let goal = tools.names_of(ToolKind::Goal).map(str::to_owned);
            names.iter().cloned().chain(goal).collect()
        };
        Self {
            tools: self.tools.as_ref().map(with_goal),
            ..self.clone()
        }
    }

    /// Puts the chosen options into a profile.
    ///
    /// # Errors
    /// `invalid_params`: there is no such tool.
    pub(crate) fn apply(
        &self,
        profile: &mut Profile,
        assembly: &dyn Assembly,
    ) -> Result<(), Failure> {
        if let Some(system_prompt) = &self.system_prompt {
            profile.system_prompt = Arc::clone(system_prompt);
        }
        let appended = self.append_system_prompt.as_deref().map(str::trim);
        let appended = appended.filter(|text| !text.is_empty());
        if let Some(text) = appended.filter(|text| text.len() > APPENDED_BYTES_MAX) {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                format!(
                    "The addition to the system prompt has {} bytes.",
                    text.len()
                ),
                format!("Use at most {APPENDED_BYTES_MAX}, or put the text into AGENTS.md."),
            ));
        }
        profile.append_system_prompt = appended.map(str::to_owned);
        profile.pinned.extend(self.pinned.iter().cloned());
        let Some(names) = &self.tools else {
            return Ok(());
        };
        if let Some(name) = names.iter().find(|name| profile.tools.get(name).is_none()) {
            let known: Vec<_> = profile.tools.names().collect();
            return Err(Failure::new(
                ErrorName::InvalidParams,
                format!("Unknown tool `{name}`."),
                format!("The tools are: {}.", known.join(", ")),
            ));
        }
        profile.tools = assembly.restricted(&profile.tools, names);
        Ok(())
    }
}

/// The tools that a new session would get.
pub struct ToolsNow {
    pub tools: ToolSet,
    /// Deferred tools that are declared in the prefix all the same.
    pub pinned: Vec<String>,
    /// Servers and tools that are left out, and why.
    pub problems: Vec<String>,
}

/// Everything that a session needs from the configuration and the machine.
#[derive(Clone)]
pub struct Setup {
    pub profile: Profile,
    /// The variables that hold the keys of all configured providers: no command ever sees them, however they are named.
    pub secret_variables: Vec<String>,
    /// Names, with `*`, of variables that commands get although they are named like a secret or a loader's variable.
    pub pass: Vec<String>,
    /// Options of a new session that its client does not give.
    pub options: SessionOptions,
    /// Names of the tools of a session whose creator chooses none; empty: all.
    pub enabled_tools: Vec<String>,
    /// Directories beside the root that tools may write in.
    pub allow_write: Vec<PathBuf>,
    /// Globs of what no tool reads.
    pub deny_read: Vec<String>,
    /// How commands are held.
    pub confine: SandboxSettings,
    /// Where skills are, beside the project's and the user's.
    pub skills: SkillSettings,
    /// Whether and how the session uses facts of earlier sessions.
    pub memory: MemorySettings,
    /// What a session does that was in mid-turn; `None`: go on if headless, wait if interactive.
    pub recover: Option<RecoverPolicy>,
    /// Whether the user trusts the project's config.
    pub trusted: bool,
    pub workspace_root: Option<PathBuf>,
    /// What the user should know about this configuration.
    pub notices: Vec<String>,
    /// Why the session can be read but not be worked in: its provider is gone, for instance.
    pub unusable: Option<String>,
}

/// The options that a preset contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PresetOptions {
    /// `None`: the session's own.
    pub model: Option<String>,
    pub pace: EffortChoice,
    /// Samples of each request.
    pub samples: u32,
}

/// How hard a model is to think, before it is known which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffortChoice {
    /// In its own words; empty: as it does by itself.
    Word(String),
    Lowest,
    /// `high`, else the one below the highest.
    High,
    Highest,
}

impl Default for EffortChoice {
    fn default() -> Self {
        Self::Word(String::new())
    }
}

impl EffortChoice {
    /// In the words of a model that knows these, the lowest first. Empty: as it does by itself.
    #[must_use]
    pub fn of(&self, efforts: &[String]) -> String {
        let found = match self {
            Self::Word(word) => Some(word),
            Self::Lowest => efforts.first(),
            Self::High => efforts
                .iter()
                .find(|effort| *effort == "high")
                .or_else(|| efforts.iter().rev().nth(1))
                .or(efforts.last()),
            Self::Highest => efforts.last(),
        };
        found.cloned().unwrap_or_default()
    }
}

/// How hard a model is to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort<'a> {
    /// As its entry says.
    Configured,
    /// So, and refused where the model does not know it; nothing or an empty word: as it does by itself.
    Exactly(Option<&'a str>),
    /// As the model before it did, where this one knows that; else as its entry says.
    Before(&'a str),
}

/// What judging depends on in a directory, outside any session: the rules of its files, and their surroundings.
#[derive(Clone, Default)]
pub struct DirectoryPolicy {
    pub layers: Vec<RuleLayer>,
    pub approval_mode: ApprovalMode,
    pub trusted: bool,
    pub tools: ToolSet,
    pub workspace_root: Option<PathBuf>,
    pub allow_write: Vec<PathBuf>,
    pub deny_read: Vec<String>,
    pub confine: SandboxSettings,
    pub skills: SkillSettings,
    /// Rules that are not understood, and what else is wrong with the files.
    pub problems: Vec<String>,
}

impl Setup {
    /// What commands do not get of an environment.
    pub(crate) fn environment_filter(&self) -> EnvironmentFilter<'_> {
        EnvironmentFilter {
            keys: &self.secret_variables,
            pass: &self.pass,
        }
    }
}

/// Makes setups: implemented by the daemon's assembly from its settings.
pub trait Assembly: Send + Sync {
    /// For a new session, with the default profile. `brought`: the variables for which the client brings a key. They can
    /// decide which provider is used.
    ///
    /// # Errors
    /// No such model, no usable provider, an effort that the model does not know, a config that this needs is wrong.
    fn create(
        &self,
        cwd: &Path,
        model: Option<&str>,
        effort: Effort<'_>,
        brought: &[&str],
    ) -> Result<Setup, Failure>;

    /// For a session of the log: provider and model are those it was created with. If they are not configured any
    /// more, the setup is `unusable`: the session can still be read.
    fn resume(&self, created: &SessionCreated) -> Setup;

    /// The tools of a session that starts in this directory now, for one that takes up those of MCP servers. `None`: there
    /// are no servers here. Blocks.
    fn tools_now(&self, cwd: &Path) -> Option<ToolsNow> {
        let _ = cwd;
        None
    }

    /// Starts MCP servers for one session in this directory alone, and waits until they are ready. Blocks.
    ///
    /// # Errors
    /// There is no such server, one of them did not get ready, or it was cancelled: then none of them runs.
    fn mount_servers(
        &self,
        cwd: &Path,
        names: &[String],
        cancel: &dyn Cancel,
    ) -> Result<Vec<Arc<dyn Tool>>, Failure> {
        let (_, _, _) = (cwd, names, cancel);
        Ok(Vec::new())
    }

    /// The tools of a set that have these names. The one that finds deferred tools names only those that are left.
    fn restricted(&self, tools: &ToolSet, names: &[String]) -> ToolSet {
        tools.restricted_to(names)
    }

    /// Whether a tool is one of an MCP server.
    fn is_server_tool(&self, spec: &ToolSpec) -> bool {
        let _ = spec;
        false
    }

    /// Prompts and resources of MCP servers.
    fn server_content(&self) -> Arc<dyn ServerContent> {
        Arc::new(NoServers)
    }

    /// Another model for a session in this directory, as `provider/model`.
    ///
    /// # Errors
    /// No such model, no usable provider, an effort that it lacks.
    fn switch(&self, cwd: &Path, model: &str, effort: Effort<'_>) -> Result<ModelSetup, Failure> {
        let _ = (cwd, effort);
        Err(Failure::new(
            ErrorName::InvalidConfig,
            format!("Unknown model `{model}`."),
            "",
        ))
    }

    /// The options of a preset in this directory. `now`: the model that the session asks, as `provider/model`. Blocks:
    /// reads files.
    ///
    /// # Errors
    /// `not_found`, with those that there are.
    fn preset(&self, cwd: &Path, name: &str, now: Option<&str>) -> Result<PresetOptions, Failure> {
        let (_, _) = (cwd, now);
        Err(Failure::new(
            ErrorName::NotFound,
            format!("Unknown preset `{name}`."),
            "",
        ))
    }

    /// Who is asked beside the conversation of a session that asks `model`: the cheap one of the config, else the same,
    /// thinking as little as it can.
    ///
    /// # Errors
    /// As [`Assembly::switch`].
    fn aide(&self, cwd: &Path, model: &str) -> Result<ModelSetup, Failure> {
        self.switch(cwd, model, Effort::Configured)
    }

    /// The model that writes the summaries of compactions in this directory, thinking as little as it can. `None`: the
    /// session's own does. Blocks: reads files.
    ///
    /// # Errors
    /// The config names one that cannot be used.
    fn compaction_model(&self, cwd: &Path) -> Result<Option<ModelSetup>, Failure> {
        let _ = cwd;
        Ok(None)
    }

    /// The context window of a model (`provider/model`), in tokens; 0: unknown. Blocks: reads files.
    fn context_window(&self, cwd: &Path, model: &str) -> u64 {
        let _ = (cwd, model);
        0
    }

    /// The models of sub-agents of a session that works in this directory. Blocks: reads files.
    fn agent_models(&self, cwd: &Path) -> AgentModels {
        let _ = cwd;
        AgentModels::default()
    }

    /// Whether a second model looks at calls that would be put to the user. Blocks: reads files.
    fn reviewer(&self, cwd: &Path) -> ReviewerSettings {
        let _ = cwd;
        ReviewerSettings::default()
    }

    /// How many requests a planner may make for one plan; 0: no limit. Blocks: reads files.
    fn planner_max_steps(&self, cwd: &Path) -> u64 {
        let _ = cwd;
        0
    }

    /// The hooks of a session that works in this directory. Blocks: reads files.
    fn hooks(&self, cwd: &Path) -> hooks::Hooks {
        let _ = cwd;
        hooks::Hooks::default()
    }

    /// The rules of a directory.
    fn terms(&self, cwd: &Path) -> DirectoryPolicy {
        let _ = cwd;
        DirectoryPolicy::default()
    }

    /// What the settings forbid in this directory now, for sessions that run. Nothing: they do not change. Blocks: reads
    /// files.
    fn guards(&self, cwd: &Path) -> Option<Arc<Guards>> {
        let _ = cwd;
        None
    }

    /// The version of the program, for the first records of sessions.
    fn version(&self) -> &'static str {
        proto::VERSION
    }

    /// What a day, and the project of this directory in it, may use: as the files say now. Blocks: reads files.
    fn budgets(&self, cwd: &Path) -> SharedBudgets {
        let _ = cwd;
        SharedBudgets::default()
    }

    /// The settings of goals in this directory, as the files say now. Blocks: reads files.
    fn goals(&self, cwd: &Path) -> GoalSettings {
        let _ = cwd;
        GoalSettings::default()
    }

    /// The rules that users always allow in the workspace with this root.
    fn kept_rules(&self, root: &Path) -> Arc<dyn PersistedRules> {
        let _ = root;
        Arc::new(kept::Nothing)
    }

    /// Where keys outlive a crash of the daemon.
    fn key_keeper(&self) -> Arc<dyn KeyKeeper> {
        Arc::new(NoKeeper)
    }

    /// The one way to start a process.
    fn spawn(&self) -> Arc<dyn Spawn>;

    /// Runs the commands of users. `None`: nothing here does.
    fn user_shell(&self) -> Option<Arc<dyn UserShell>> {
        None
    }

    /// How logs get to the disk. A seam: tests lose bytes that were not synced.
    fn syncer(&self) -> Arc<dyn store::log::Syncer> {
        Arc::new(store::log::KernelSyncer)
    }

    /// Creates the memory of one session's tools.
    fn tool_memory(&self, workspace: Arc<workspace::Workspace>) -> Arc<dyn ToolMemory>;

    /// Paths that no tool touches: the home, the socket's directory.
    fn masked(&self) -> Vec<PathBuf>;

    /// The daemon's own directory for temporary files: each session has a subdirectory in it. `None`: there is none.
    fn temp(&self) -> Option<PathBuf> {
        None
    }

    /// What no tool of any session touches: [`Assembly::masked`], and [`Assembly::temp`] but for the session's own.
    fn closed(&self) -> Vec<PathBuf> {
        let mut closed = self.masked();
        closed.extend(self.temp());
        closed
    }

    /// The home of the person, for `~`.
    fn user_home(&self) -> PathBuf;
}
