//! The values in force, and their meaning: settings as the daemon uses them, each a field and the line that fills it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::ToolSet;
use proto::SessionOptions;
use proto::budget::Budget;
use proto::params::config;
use proto::record::Rules;
use proto::state::ApprovalMode;
use serde_json::Value;
use session::{
    AgentModels, MemorySettings, ReviewerSettings, SandboxDemand, SandboxSettings, SkillSettings,
};
use toml_edit::Document;
use turn::{RecoverPolicy, RestartLimits};

use super::presets::Preset;
use super::providers::ProviderEntry;
use super::schema::{self, KEYS};
use super::{caches, rules, value};
use crate::credentials::StoreChoice;

/// Values in force for one working directory.
#[derive(Clone, Debug)]
pub struct Settings {
    pub default_model: Option<String>,
    /// Options of a new session that its client does not give.
    pub options: SessionOptions,
    /// Instead of the shipped system prompt.
    pub system_prompt: Option<String>,
    /// Holds the system prompt; comes before `system_prompt`.
    pub system_prompt_file: Option<PathBuf>,
    /// Language of the model's reasoning, as the setting names it.
    pub reasoning_language: Option<String>,
    /// Holds examples for the model.
    pub examples_file: Option<PathBuf>,
    /// Tools of new sessions; empty: all.
    pub enabled_tools: Vec<String>,
    /// Per cent of the model's window; 0: never.
    pub compact_percent: u8,
    pub user_rules: Rules,
    pub project_rules: Rules,
    /// The file of `project_rules`, also if it cannot be read.
    pub project_file: Option<PathBuf>,
    /// Absolute, and not `/`; as `allow_write`.
    pub workspace_root: Option<PathBuf>,
    pub allow_write: Vec<PathBuf>,
    pub deny_read: Vec<String>,
    /// How commands are held.
    pub confine: SandboxSettings,
    /// Where skills are, beside the project's and the user's, and which are not wanted.
    pub skills: SkillSettings,
    /// Whether and how sessions use facts of earlier ones.
    pub memory: MemorySettings,
    /// The sandbox backends of commands. Fixed from the daemon's start to its end.
    pub layers: procs::BackendChoice,
    /// Bytes of memory of one command. `None`: the usual limit.
    pub memory_limit: Option<u64>,
    pub bash_timeout_ms: u64,
    pub recover: Option<RecoverPolicy>,
    /// What read-only sessions may call of MCP servers.
    pub mcp_read_only: mcp::ReadOnlyPolicy,
    /// More tools of MCP servers than this are deferred.
    pub mcp_deferred_above: usize,
    /// Of goals.
    pub goals: session::GoalSettings,
    /// How often sessions go on by their restart policy.
    pub restarts: RestartLimits,
    /// Days without activity after which a session may be pruned; 0: never.
    pub keep_days: u64,
    pub log: String,
    pub life: DaemonTimeouts,
    pub connect_ms: u64,
    pub first_byte_ms: u64,
    pub idle_ms: u64,
    /// Bytes of an answer's content.
    pub answer_max: usize,
    pub retry_tries: u32,
    pub retry_base_ms: u64,
    pub retry_cap_ms: u64,
    pub retry_total_ms: u64,
    /// Deferred tools that are in the prefix all the same.
    pub pinned: Vec<String>,
    /// Variables that commands get although they are named like a secret.
    pub pass: Vec<String>,
    /// Where keys are kept.
    pub credentials_store: StoreChoice,
    pub providers: Vec<ProviderEntry>,
    /// So long a request may wait for its turn.
    pub queue_ms: u64,
    pub budget: Budgets,
    /// Who answers for the rest of a turn where the session's model is down.
    pub fallback_model: Option<String>,
    /// The model for cheap requests; `None`: the session's own model.
    pub fast_model: Option<String>,
    /// Who writes summaries; `None`: the session's own model.
    pub compaction_model: Option<String>,
    /// Who looks at calls before the user is asked.
    pub reviewer: ReviewerSettings,
    /// Requests of a planner for one plan; 0: no limit.
    pub planner_max_steps: u64,
    /// Who works as a sub-agent.
    pub agent_models: AgentModels,
    /// What the config says of presets.
    pub presets: BTreeMap<String, Preset>,
}

/// What may be used, by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// All sessions of the home, in a day.
    pub day: Budget,
    /// All sessions of a project, in a day.
    pub project: Budget,
}

/// How the daemon lives. It counts from the daemon's start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaemonTimeouts {
    /// The daemon goes when nobody has needed it for this long; `None`: never.
    pub idle_exit: Option<Duration>,
    /// A client has this long to say hello.
    pub hello: Duration,
    /// A client that takes nothing for this long while data waits is let go.
    pub client_stuck: Duration,
    /// A session that does nothing and has nobody attached leaves memory after this long; `None`: never.
    pub evict: Option<Duration>,
}

/// A value that a file sets.
pub(super) struct SetValue {
    pub value: Value,
    pub origin: String,
}

/// What files set; for all else defaults count.
pub(super) struct Values {
    /// By key; rules of the two layers are kept apart.
    pub set: BTreeMap<String, SetValue>,
    pub project_rules: BTreeMap<String, SetValue>,
    pub user_home: PathBuf,
    /// The tools that settings may name.
    pub tools: ToolSet,
    pub presets: BTreeMap<String, Preset>,
}

impl Values {
    pub fn new(user_home: &Path, tools: &ToolSet) -> Self {
        Self {
            set: BTreeMap::new(),
            project_rules: BTreeMap::new(),
            user_home: user_home.to_path_buf(),
            tools: tools.clone(),
            presets: BTreeMap::new(),
        }
    }

    /// For the values of a file in this directory.
    pub fn context<'a>(&'a self, directory: &'a Path) -> value::ValueContext<'a> {
        value::ValueContext {
            directory,
            user_home: &self.user_home,
            tools: &self.tools,
        }
    }

    /// The settings, with the providers of all files.
    pub fn settings(&self, providers: Vec<ProviderEntry>) -> Settings {
        Settings {
            default_model: self.text("default_model"),
            options: self.options(),
            system_prompt: self
                .text("agent.system_prompt")
                .filter(|prompt| !prompt.trim().is_empty()),
            system_prompt_file: self.text("agent.system_prompt_file").map(PathBuf::from),
            reasoning_language: self.text("agent.reasoning_language"),
            examples_file: self.text("agent.examples_file").map(PathBuf::from),
            enabled_tools: self.texts("tools.enabled"),
            compact_percent: self.percent("agent.compact_ratio"),
            user_rules: rules_of(&self.set),
            project_rules: rules_of(&self.project_rules),
            project_file: None,
            workspace_root: self.text("sandbox.workspace_root").map(PathBuf::from),
            allow_write: self.paths("sandbox.allow_write"),
            deny_read: self.texts("sandbox.deny_read"),
            confine: self.confine(),
            skills: SkillSettings {
                paths: self.paths("skills.paths"),
                excluded_paths: self.paths("skills.excluded_paths"),
                disabled: self.texts("skills.disabled"),
            },
            memory: MemorySettings {
                enabled: self.is_on("memory.enabled"),
                recall: self.is_on("memory.recall"),
            },
            layers: self.layers(),
            memory_limit: match self.number("sandbox.memory_limit_mb") {
                0 => None,
                megabytes => Some(megabytes.saturating_mul(1024 * 1024)),
            },
            bash_timeout_ms: self.seconds_in_ms("tools.bash_timeout_seconds"),
            recover: self.recover(),
            mcp_read_only: self.mcp_read_only(),
            mcp_deferred_above: usize::try_from(self.number("mcp.deferred_above"))
                .unwrap_or(usize::MAX),
            goals: session::GoalSettings {
                max_turns: self.number("goal.max_turns"),
                check: self.texts("goal.check"),
            },
            restarts: self.restarts(),
            keep_days: self.number("sessions.keep_days"),
            credentials_store: self.credentials_store(),
            log: self.text("daemon.log").unwrap_or_default(),
            life: self.life(),
            connect_ms: self.seconds_in_ms("network.connect_seconds"),
            first_byte_ms: self.seconds_in_ms("network.first_byte_seconds"),
            idle_ms: self.seconds_in_ms("network.idle_seconds"),
            answer_max: usize::try_from(self.number("network.answer_max_mb") << 20)
                .unwrap_or(usize::MAX),
            retry_tries: u32::try_from(self.number("internal.retry_tries")).unwrap_or(u32::MAX),
            retry_base_ms: self.number("internal.retry_base_ms"),
            retry_cap_ms: self.seconds_in_ms("internal.retry_cap_seconds"),
            retry_total_ms: self.seconds_in_ms("internal.retry_total_seconds"),
            pass: self.texts("tools.shell.pass"),
            pinned: self.texts("tools.pinned"),
            providers,
            queue_ms: self.seconds_in_ms("internal.queue_seconds"),
            budget: Budgets {
                day: self.budget("budget.day"),
                project: self.budget("budget.project"),
            },
            fast_model: self.model("agent.fast_model"),
            compaction_model: self.model("agent.compaction_model"),
            reviewer: ReviewerSettings {
                reviews: self.text("permissions.reviewer").as_deref() == Some("agent"),
                allows: self.is_on("permissions.reviewer_allows"),
            },
            planner_max_steps: self.number("agent.planner_max_steps"),
            agent_models: AgentModels {
                of_all: self.model("agent.subagent_model"),
                by_name: self.text_table("agent.subagent_models"),
            },
            presets: self.presets.clone(),
            fallback_model: self.model("agent.fallback_model"),
        }
    }

    fn layers(&self) -> procs::BackendChoice {
        match self.text("sandbox.layer").as_deref() {
            Some("bubblewrap") => procs::BackendChoice::Bubblewrap,
            Some("direct") => procs::BackendChoice::Direct,
            Some("landlock") => procs::BackendChoice::Landlock,
            _ => procs::BackendChoice::Auto,
        }
    }

    fn recover(&self) -> Option<RecoverPolicy> {
        match self.text("daemon.recover").as_deref() {
            Some("continue") => Some(RecoverPolicy::Continue),
            Some("idle") => Some(RecoverPolicy::Idle),
            _ => None,
        }
    }

    fn mcp_read_only(&self) -> mcp::ReadOnlyPolicy {
        match self.text("mcp.read_only_policy").as_deref() {
            Some("read_only") => mcp::ReadOnlyPolicy::ReadOnly,
            Some("allow") => mcp::ReadOnlyPolicy::Allow,
            _ => mcp::ReadOnlyPolicy::Disabled,
        }
    }

    fn restarts(&self) -> RestartLimits {
        let max_restarts = self.number("supervision.max_restarts");
        RestartLimits {
            max_restarts: u32::try_from(max_restarts).unwrap_or(u32::MAX),
            window_ms: self.seconds_in_ms("supervision.window_seconds"),
            base_ms: self.number("internal.restart_base_ms"),
            ..RestartLimits::default()
        }
    }

    fn credentials_store(&self) -> StoreChoice {
        match self.text("credentials_store").as_deref() {
            Some("file") => StoreChoice::File,
            Some("keyring") => StoreChoice::Keyring,
            _ => StoreChoice::Auto,
        }
    }

    /// Options of new sessions.
    fn options(&self) -> SessionOptions {
        let approval_mode = self.text("permissions.mode");
        SessionOptions {
            approval_mode: approval_mode.as_deref().and_then(ApprovalMode::named),
            max_steps: Some(self.number("agent.max_steps")),
            planner_model: self.model("agent.planner_model"),
            auto_plan: self.is_on("agent.auto_plan").then_some(true),
            extract_reasoning: self.is_on("reasoning.extract").then_some(true),
            budget: Some(self.budget("budget.session")),
            ..SessionOptions::default()
        }
    }

    /// The limits of a node. Without those that it cannot have.
    fn budget(&self, table: &str) -> Budget {
        let minutes = self.minutes(&format!("{table}.minutes"));
        let ms = minutes.map_or(0, |minutes| minutes.as_millis());
        let budget = Budget {
            cost_micros: Some(self.micros(&format!("{table}.usd"))),
            tokens: Some(self.number(&format!("{table}.tokens"))),
            steps: Some(self.number(&format!("{table}.steps"))),
            ms: Some(u64::try_from(ms).unwrap_or(u64::MAX)),
        };
        budget.without_zeros()
    }

    /// Dollars in millionths. Less than one counts as one: it is meant as a limit.
    fn micros(&self, name: &str) -> u64 {
        let dollars = self.get(name).and_then(|value| value.as_f64());
        let micros = dollars.unwrap_or(0.0) * 1_000_000.0;
        // From 0 to a million dollars, as the schema has it.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let micros = micros.ceil().max(0.0) as u64;
        micros
    }

    /// Whether a limit is lower than the one that is set, where 0 is none.
    pub fn is_lower(&self, name: &str, limit: f64) -> bool {
        let set = self.get(name).and_then(|value| value.as_f64());
        let set = set.filter(|set| *set > 0.0).unwrap_or(f64::INFINITY);
        limit > 0.0 && limit < set
    }

    fn confine(&self) -> SandboxSettings {
        SandboxSettings {
            demand: match self.text("sandbox.bash").as_deref() {
                Some("off") => SandboxDemand::Off,
                Some("warn") => SandboxDemand::Warn,
                _ => SandboxDemand::Enforce,
            },
            network: self.is_on("sandbox.network"),
            caches: match self.is_on("sandbox.caches") {
                true => caches::of(&self.user_home),
                false => Vec::new(),
            },
            sockets: self
                .texts("sandbox.sockets")
                .into_iter()
                .map(PathBuf::from)
                .collect(),
            accept_partial: self.is_on("sandbox.accept_partial"),
        }
    }

    fn life(&self) -> DaemonTimeouts {
        DaemonTimeouts {
            idle_exit: self.minutes("daemon.idle_exit_minutes"),
            hello: Duration::from_secs(self.number("internal.hello_seconds")),
            client_stuck: Duration::from_secs(self.number("internal.client_stuck_seconds")),
            evict: self.minutes("internal.evict_minutes"),
        }
    }

    /// Each value in force, with its source.
    pub fn listed(&self) -> Vec<config::Value> {
        let own = KEYS.iter().filter_map(|key| {
            let set = self.set.get(key.name);
            let origin = set.map_or_else(|| "default".to_owned(), |set| set.origin.clone());
            Some(config::Value {
                key: key.name.to_owned(),
                value: self.get(key.name)?,
                origin,
            })
        });
        let projects = self.project_rules.iter().map(|(key, set)| config::Value {
            key: key.clone(),
            value: set.value.clone(),
            origin: set.origin.clone(),
        });
        own.chain(projects).collect()
    }

    /// The value in force: the set one, else the default.
    pub fn get(&self, name: &str) -> Option<Value> {
        if let Some(set) = self.set.get(name) {
            return Some(set.value.clone());
        }
        let key = schema::readable().find(|key| key.name == name)?;
        let document = Document::parse(format!("value = {}", key.default)).ok()?;
        let context = self.context(Path::new("/"));
        value::of(key.kind, document.get("value")?, &context, &mut Vec::new()).ok()
    }

    fn is_on(&self, name: &str) -> bool {
        self.get(name).and_then(|value| value.as_bool()) == Some(true)
    }

    fn number(&self, name: &str) -> u64 {
        let value = self.get(name);
        value.and_then(|value| value.as_u64()).unwrap_or(0)
    }

    fn seconds_in_ms(&self, name: &str) -> u64 {
        self.number(name) * 1000
    }

    /// A part of 1 as per cent.
    fn percent(&self, name: &str) -> u8 {
        let part = self.get(name).and_then(|value| value.as_f64());
        let part = part.unwrap_or(0.0);
        // From 0 to 1, as the schema has it.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let percent = (part.clamp(0.0, 1.0) * 100.0).round() as u8;
        percent
    }

    /// `None`: without end.
    fn minutes(&self, name: &str) -> Option<Duration> {
        let minutes = self.get(name).and_then(|value| value.as_f64());
        minutes
            .filter(|minutes| *minutes > 0.0)
            .and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok())
    }

    fn text(&self, name: &str) -> Option<String> {
        let value = self.get(name);
        value.and_then(|value| value.as_str().map(str::to_owned))
    }

    /// An empty one means that no model is set.
    fn model(&self, name: &str) -> Option<String> {
        self.text(name).filter(|model| !model.is_empty())
    }

    fn text_table(&self, name: &str) -> BTreeMap<String, String> {
        let value = self.get(name);
        let table = value.as_ref().and_then(Value::as_object);
        let texts = table.into_iter().flatten();
        texts
            .filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())))
            .collect()
    }

    fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.texts(name).into_iter().map(PathBuf::from).collect()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let value = self.get(name);
        let texts = value.as_ref().and_then(Value::as_array);
        texts
            .map(|texts| texts.iter().filter_map(Value::as_str).map(str::to_owned))
            .map(Iterator::collect)
            .unwrap_or_default()
    }
}

/// The rules of one layer.
fn rules_of(set: &BTreeMap<String, SetValue>) -> Rules {
    let of = |name: &str| {
        let set = set.get(name);
        set.map(|set| rules::texts(&set.value)).unwrap_or_default()
    };
    Rules {
        allow: of("permissions.allow"),
        ask: of("permissions.ask"),
        deny: of("permissions.deny"),
    }
}
