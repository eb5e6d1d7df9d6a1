//! The assembly: the only file that names every crate. Settings become setups for sessions here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use broker::{Brokered, Brokers};
use contract::tool::Cancel;
use contract::{Codec, Family, MEMORY_TOOL, Spawn, Tool, ToolMemory, ToolSet, ToolSpec, UserShell};
use knowledge::memory::FactStores;
use proto::record::SessionCreated;
use proto::{ErrorName, Failure};
use session::{
    AgentModels, Assembly, DirectoryPolicy, Effort, Guards, KeyKeeper, ModelSetup, PersistedRules,
    PresetOptions, Profile, ServerContent, Setup, ToolsNow,
};
use store::home::Home;
use turn::Limits;
use workspace::Workspace;

use crate::credentials::{FallbackKeys, Store};
use crate::key_keeper::ParentKeyKeeper;
use crate::server_content::PoolContent;
use crate::server_sandbox::rule_layers;
use crate::settings::kept::PermissionFiles;
use crate::settings::{
    self, Loaded, Project, ProviderEntry, Settings, effort, facts, presets, shipped,
};

mod model_choice;
mod prompt_files;
mod provider;

pub use model_choice::default_model;
use model_choice::{fallback, no_provider, with_ignored_entries};
pub use prompt_files::unusable_prompt_files;
use prompt_files::{examples, system_prompt};
pub use provider::check;
use provider::{OpenedProvider, account, gone, means, open, silent};

/// Puts sessions together.
pub struct Wire {
    pub home: Arc<Home>,
    pub user_home: PathBuf,
    pub procs: Arc<procs::Procs>,
    /// Directories that no tool touches: the home, and the socket's if that is elsewhere.
    pub masked: Vec<PathBuf>,
    /// Where sessions have their temporary directories. `None`: it could not be made.
    pub temp: Option<PathBuf>,
    /// The rules that are always allowed, by workspace.
    pub kept: Arc<PermissionFiles>,
    /// Where keys outlive a crash.
    pub key_keeper: Arc<ParentKeyKeeper>,
    /// Where requests of all sessions wait for their turn.
    pub brokers: Arc<Brokers>,
    /// The MCP servers of all sessions.
    pub mcp: Arc<mcp::Pool>,
    /// The built-in tools, shared by all sessions.
    pub tools: tools::BuiltIn,
    /// The tools that settings may name.
    pub known_tools: ToolSet,
    /// What days and projects may use, as it was read last.
    pub bounds: settings::KnownBounds,
    /// The prohibitions, as they were read last.
    pub guards: settings::KnownGuards,
}

impl Wire {
    /// A provider, through the broker of its key. A cassette has no vendor to be asked to wait by.
    fn open(
        &self,
        entry: &ProviderEntry,
        model: &str,
        settings: &Settings,
    ) -> Result<OpenedProvider, Failure> {
        let (codec, provider) = open(entry, model, settings, &means(&self.procs))?;
        if entry.kind == "replay" {
            return Ok((codec, provider));
        }
        let brokers = Arc::clone(&self.brokers);
        let brokered = Brokered::new(provider, brokers, account(entry, settings));
        Ok((codec, Arc::new(brokered)))
    }

    /// The settings of this directory.
    fn load(&self, cwd: &Path) -> Loaded {
        settings::load(
            self.home.root(),
            Some(cwd),
            &self.user_home,
            &self.known_tools,
        )
    }

    /// The keys that sessions with these settings get.
    fn fallback_keys(&self, loaded: &Loaded) -> FallbackKeys {
        let store = Store::open(self.home.root(), loaded.settings.credentials_store);
        FallbackKeys::open(&store, loaded.env_keys.clone())
    }

    /// The model that `wanted` names, with the effort that `effort` works out.
    fn find(
        &self,
        loaded: &Loaded,
        wanted: &str,
        effort: impl FnOnce(&ProviderEntry, &str) -> Result<Option<String>, Failure>,
    ) -> Result<(ProviderEntry, ModelSetup), Failure> {
        let (mut entry, model) = shipped::find_any(&loaded.settings.providers, wanted)
            .map_err(|failure| with_ignored_entries(failure, loaded))?;
        entry.effort = effort(&entry, &model)?;
        let opened = self.open(&entry, &model, &loaded.settings)?;
        let model = self.model(loaded, &entry, model, opened);
        Ok((entry, model))
    }

    /// The built-in tools as these settings have them, and those of MCP servers.
    fn tools(&self, settings: &Settings, more: Vec<Arc<dyn Tool>>) -> ToolSet {
        let options = tools::Options {
            bash_timeout_ms: settings.bash_timeout_ms,
        };
        self.tools.set_with(options, more)
    }

    /// The tools of the MCP servers that count in a directory. Blocks for a moment if asked to wait.
    fn server_tools(
        &self,
        loaded: &Loaded,
        cwd: &Path,
        first: mcp::FirstListing,
    ) -> mcp::SessionTools {
        let choice = tools_choice(&loaded.settings, first);
        self.mcp.session_tools(&loaded.servers.servers, cwd, choice)
    }

    /// A model as this entry and the settings have it.
    fn model(
        &self,
        loaded: &Loaded,
        entry: &ProviderEntry,
        model: String,
        (codec, provider): OpenedProvider,
    ) -> ModelSetup {
        let settings = &loaded.settings;
        let own = self.fallback_keys(loaded);
        let facts = facts::of(entry, &model);
        let key = entry.api_key_env.as_deref();
        ModelSetup {
            provider_name: entry.name.clone(),
            provider_kind: entry.kind.clone(),
            name: model,
            context_window: facts.context_window,
            limits: limits(settings, &facts, &*codec),
            codec,
            provider,
            key_variable: entry.api_key_env.clone(),
            own_key: key.and_then(|variable| own.key(variable)),
            price: facts.price,
            repair: entry.repairs_calls(),
            efforts: facts.efforts,
            temperature: !facts.refuses_temperature,
            effort: entry.effort.clone(),
            // Its problem becomes a notice of the session.
            fallback: fallback(settings).unwrap_or_default(),
        }
    }

    /// A session with this model.
    fn setup(
        &self,
        loaded: Loaded,
        model: ModelSetup,
        (cwd, first): (&Path, mcp::FirstListing),
    ) -> Setup {
        let own = self.fallback_keys(&loaded);
        let server_tools = self.server_tools(&loaded, cwd, first);
        let settings = loaded.settings;
        let trusted = loaded
            .project
            .as_ref()
            .is_none_or(|project| project.config_trusted);
        let rules = rule_layers(&self.home, &settings, loaded.project.as_ref());
        let mut notices = loaded.problems;
        notices.extend(server_tools.notices);
        notices.extend(loaded.project.as_ref().and_then(trust_notice));
        let system_prompt = system_prompt(&settings, &mut notices);
        let examples = examples(&settings, &mut notices);
        if let Err(failure) = fallback(&settings) {
            notices.push(format!(
                "No fallback model: {} {}",
                failure.message, failure.hint
            ));
        }
        Setup {
            profile: Profile {
                system_prompt: system_prompt.into(),
                append_system_prompt: None,
                examples,
                tools: self.tools(&settings, server_tools.tools),
                pinned: settings.pinned,
                agents: String::new(),
                rules,
                model,
            },
            secret_variables: secret_variables(settings.providers, &own),
            pass: settings.pass,
            options: settings.options,
            enabled_tools: settings.enabled_tools,
            allow_write: settings.allow_write,
            deny_read: settings.deny_read,
            confine: settings.confine,
            skills: settings.skills,
            memory: settings.memory,
            recover: settings.recover,
            trusted,
            workspace_root: settings.workspace_root,
            // They quote files, and they are in the session's log.
            notices: notices
                .iter()
                .map(|notice| contract::scrub(notice))
                .collect(),
            unusable: None,
        }
    }
}

/// What an untrusted project does not get. `None`: it is trusted.
fn trust_notice(project: &Project) -> Option<String> {
    let notice = || {
        format!(
            "`{}` is not trusted; these settings have no effect until it is: {}",
            project.file.display(),
            project.without_effect().join(" · ")
        )
    };
    (!project.trusted).then(notice)
}

/// The variables that hold keys: commands do not get them.
fn secret_variables(providers: Vec<ProviderEntry>, own: &FallbackKeys) -> Vec<String> {
    let entries = providers.into_iter().chain(shipped::all());
    let variables = entries.filter_map(|entry| entry.api_key_env);
    variables.chain(own.stored()).collect()
}

/// The limits of a session that asks this model.
fn limits(settings: &Settings, facts: &facts::Facts, codec: &dyn Codec) -> Limits {
    let cache = &facts.cache;
    Limits {
        retry_base_ms: settings.retry_base_ms,
        retry_cap_ms: settings.retry_cap_ms,
        retry_tries: settings.retry_tries,
        retry_total_ms: settings.retry_total_ms,
        compact_percent: settings.compact_percent,
        cache_block: cache.block_tokens.unwrap_or(Limits::default().cache_block),
        cache_ttl_ms: match cache.ttl_seconds {
            Some(seconds) => seconds.saturating_mul(1_000),
            None => codec.cache_ttl_ms(),
        },
        restarts: settings.restarts,
        ..Limits::default()
    }
}

/// How a session gets the tools of MCP servers.
fn tools_choice(settings: &Settings, first: mcp::FirstListing) -> mcp::ToolsChoice {
    mcp::ToolsChoice {
        policy: settings.mcp_read_only,
        deferred_above: settings.mcp_deferred_above,
        first,
    }
}

/// A reason as a sentence.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!(
        "{}{}.",
        first.unwrap_or_default(),
        letters.as_str().trim_end_matches('.')
    )
}

impl Assembly for Wire {
    fn create(
        &self,
        cwd: &Path,
        model: Option<&str>,
        effort: Effort<'_>,
        brought: &[&str],
    ) -> Result<Setup, Failure> {
        let loaded = self.load(cwd);
        let own = self.fallback_keys(&loaded);
        let has_key = |variable: &str| brought.contains(&variable) || own.has(variable);
        let chosen = model.or(loaded.settings.default_model.as_deref());
        let is_chosen = chosen.is_some_and(|chosen| !chosen.is_empty());
        let wanted = model.map(str::to_owned);
        let wanted = wanted
            .or_else(|| default_model(&loaded, &has_key))
            .ok_or_else(|| no_provider(&loaded, &self.home))?;
        let resolve = |entry: &_, model: &_| effort::resolve(entry, model, effort);
        let (entry, model) = self.find(&loaded, &wanted, resolve)?;
        let unasked = !is_chosen && entry.origin == shipped::ORIGIN;
        let mut setup = self.setup(loaded, model, (cwd, mcp::FirstListing::Wait));
        if !setup.memory.enabled {
            let specs = setup.profile.tools.specs();
            // Looking up earlier conversations is another matter.
            let is_of_facts = |spec: &ToolSpec| {
                spec.family == Family::Memory && (!spec.read_only || *spec.name == *MEMORY_TOOL)
            };
            let others = specs.filter(|spec| !is_of_facts(spec));
            let names: Vec<String> = others.map(|spec| spec.name.to_string()).collect();
            setup.profile.tools = tools::restricted(&setup.profile.tools, &names);
        }
        if unasked && let Some(variable) = &entry.api_key_env {
            setup.notices.push(format!(
                "No provider is configured: using `{}`, because its key {variable} is set. Choose another one with `reasonix setup`.",
                entry.name
            ));
        }
        Ok(setup)
    }

    fn resume(&self, created: &SessionCreated) -> Setup {
        let place = (Path::new(&created.cwd), mcp::FirstListing::Skip);
        let mut loaded = self.load(place.0);
        let own = created.agent.as_ref().map(|agent| &agent.mcp_servers);
        if let Some(own) = own.filter(|own| !own.is_empty()) {
            // Those that ran for it alone run for it alone again.
            let servers = &mut loaded.servers.servers;
            servers.retain(|server| own.contains(&server.name));
            for server in servers {
                *server = server.for_one_session();
            }
        }
        let mut entries = loaded.settings.providers.clone();
        entries.extend(shipped::besides(&entries));
        let (name, kind) = (created.options.provider(), &created.provider_kind);
        let entry = entries
            .into_iter()
            .find(|entry| entry.name == name)
            .and_then(|entry| shipped::of_kind(entry, kind))
            .ok_or_else(|| {
                let text = format!("its provider `{name}` (kind `{kind}`) is no longer configured");
                Failure::new(ErrorName::InvalidConfig, text, "")
            });
        let opened = entry.and_then(|mut entry| {
            // As the log says, whatever the entry says by now.
            entry.effort.clone_from(&created.options.effort);
            let opened = self.open(&entry, created.options.model_name(), &loaded.settings)?;
            Ok((opened, entry))
        });
        let model = created.options.model_name().to_owned();
        match opened {
            Ok((opened, entry)) => {
                let model = self.model(&loaded, &entry, model, opened);
                self.setup(loaded, model, place)
            }
            Err(failure) => {
                let model = self.model(&loaded, &gone(created), model, silent());
                Setup {
                    unusable: Some(failure.message),
                    ..self.setup(loaded, model, place)
                }
            }
        }
    }

    fn mount_servers(
        &self,
        cwd: &Path,
        names: &[String],
        cancel: &dyn Cancel,
    ) -> Result<Vec<Arc<dyn Tool>>, Failure> {
        let loaded = self.load(cwd);
        let configured = |name: &String| {
            let mut servers = loaded.servers.servers.iter();
            let found = servers.find(|server| server.name == *name && server.enabled);
            found.cloned().ok_or_else(|| {
                let text = format!("No MCP server `{name}` is configured and enabled here.");
                let hint = "`reasonix mcp list` shows those that there are.";
                Failure::new(ErrorName::NotFound, text, hint)
            })
        };
        let servers: Vec<_> = names.iter().map(configured).collect::<Result<_, _>>()?;
        let choice = tools_choice(&loaded.settings, mcp::FirstListing::Wait);
        let mounted = self.mcp.mount(&servers, cwd, choice, cancel).map_err(|reason| {
            let hint = "Repair it (`reasonix mcp test NAME`, `reasonix mcp logs NAME`), or leave it out of `mcp_servers`.";
            Failure::new(ErrorName::InvalidConfig, contract::scrub(&sentence(&reason)), hint)
        })?;
        Ok(mounted.tools)
    }

    fn restricted(&self, tools: &ToolSet, names: &[String]) -> ToolSet {
        tools::restricted(tools, names)
    }

    fn is_server_tool(&self, spec: &ToolSpec) -> bool {
        mcp::name::is_server_tool(&spec.name)
    }

    fn tools_now(&self, cwd: &Path) -> Option<ToolsNow> {
        let loaded = self.load(cwd);
        let found = self.server_tools(&loaded, cwd, mcp::FirstListing::Wait);
        let problems = found.notices.iter();
        Some(ToolsNow {
            tools: self.tools(&loaded.settings, found.tools),
            pinned: loaded.settings.pinned,
            problems: problems.map(|notice| contract::scrub(notice)).collect(),
        })
    }

    fn server_content(&self) -> Arc<dyn ServerContent> {
        Arc::new(PoolContent {
            pool: Arc::clone(&self.mcp),
            home: Arc::clone(&self.home),
            user_home: self.user_home.clone(),
            known_tools: self.known_tools.clone(),
        })
    }

    fn switch(&self, cwd: &Path, model: &str, effort: Effort<'_>) -> Result<ModelSetup, Failure> {
        let loaded = self.load(cwd);
        let resolve = |entry: &_, model: &_| effort::resolve(entry, model, effort);
        self.find(&loaded, model, resolve).map(|(_, model)| model)
    }

    fn preset(&self, cwd: &Path, name: &str, now: Option<&str>) -> Result<PresetOptions, Failure> {
        let loaded = self.load(cwd);
        let settings = &loaded.settings;
        let mut bundle = presets::bundle(settings, name)?;
        let named = |wanted: &str| {
            let found = shipped::find_any(&settings.providers, wanted).ok();
            found.map(|(entry, model)| format!("{}/{model}", entry.name))
        };
        let fast = presets::fast_model(settings).and_then(named);
        // Who leaves `fast` leaves its model.
        if bundle.model.is_none() && fast.is_some() && fast.as_deref() == now {
            let own = self.fallback_keys(&loaded);
            bundle.model = default_model(&loaded, &|variable| own.has(variable));
        }
        Ok(bundle)
    }

    fn aide(&self, cwd: &Path, model: &str) -> Result<ModelSetup, Failure> {
        let loaded = self.load(cwd);
        let wanted = loaded.settings.fast_model.as_deref().unwrap_or(model);
        let least = |entry: &ProviderEntry, model: &_| {
            Ok(entry.least_effort(&facts::of(entry, model).efforts))
        };
        self.find(&loaded, wanted, least).map(|(_, model)| model)
    }

    fn compaction_model(&self, cwd: &Path) -> Result<Option<ModelSetup>, Failure> {
        let loaded = self.load(cwd);
        let Some(wanted) = loaded.settings.compaction_model.as_deref() else {
            return Ok(None);
        };
        let least = |entry: &ProviderEntry, model: &_| {
            Ok(entry.least_effort(&facts::of(entry, model).efforts))
        };
        self.find(&loaded, wanted, least)
            .map(|(_, model)| Some(model))
    }

    fn context_window(&self, cwd: &Path, model: &str) -> u64 {
        let loaded = self.load(cwd);
        let found = shipped::find_any(&loaded.settings.providers, model);
        found.map_or(0, |(entry, model)| facts::of(&entry, &model).context_window)
    }

    fn agent_models(&self, cwd: &Path) -> AgentModels {
        self.load(cwd).settings.agent_models
    }

    fn reviewer(&self, cwd: &Path) -> session::ReviewerSettings {
        self.load(cwd).settings.reviewer
    }

    fn planner_max_steps(&self, cwd: &Path) -> u64 {
        self.load(cwd).settings.planner_max_steps
    }

    fn hooks(&self, cwd: &Path) -> hooks::Hooks {
        self.load(cwd).hooks
    }

    fn terms(&self, cwd: &Path) -> DirectoryPolicy {
        let loaded = self.load(cwd);
        let choice = tools_choice(&loaded.settings, mcp::FirstListing::Skip);
        let servers = &loaded.servers.servers;
        let server_tools = self.mcp.known_tools(servers, cwd, choice);
        let settings = loaded.settings;
        let project = loaded.project.as_ref();
        let trusted = project.is_none_or(|project| project.config_trusted);
        DirectoryPolicy {
            layers: rule_layers(&self.home, &settings, project),
            approval_mode: settings.options.approval_mode.unwrap_or_default(),
            trusted,
            tools: self.tools(&settings, server_tools),
            workspace_root: settings.workspace_root,
            allow_write: settings.allow_write,
            deny_read: settings.deny_read,
            confine: settings.confine,
            skills: settings.skills,
            problems: loaded.problems,
        }
    }

    fn budgets(&self, cwd: &Path) -> session::SharedBudgets {
        let load = || self.load(cwd);
        self.bounds.of(self.home.root(), cwd, &self.user_home, load)
    }

    fn version(&self) -> &'static str {
        crate::version::version()
    }

    fn goals(&self, cwd: &Path) -> session::GoalSettings {
        self.load(cwd).settings.goals
    }

    fn guards(&self, cwd: &Path) -> Option<Arc<Guards>> {
        let load = || self.load(cwd);
        let pick = |loaded: Loaded| {
            let trusted = loaded.project.as_ref();
            Arc::new(Guards {
                layers: rule_layers(&self.home, &loaded.settings, trusted),
                allow_write: loaded.settings.allow_write,
                deny_read: loaded.settings.deny_read,
                confine: loaded.settings.confine,
                incomplete: loaded.rules_lost,
            })
        };
        let (home, user_home) = (self.home.root(), &self.user_home);
        Some(self.guards.read(home, cwd, user_home, load, pick))
    }

    fn kept_rules(&self, root: &Path) -> Arc<dyn PersistedRules> {
        self.kept.of(root)
    }

    fn key_keeper(&self) -> Arc<dyn KeyKeeper> {
        Arc::clone(&self.key_keeper) as Arc<dyn KeyKeeper>
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::clone(&self.procs) as Arc<dyn Spawn>
    }

    fn user_shell(&self) -> Option<Arc<dyn UserShell>> {
        Some(Arc::new(tools::BuiltInShell))
    }

    fn tool_memory(&self, workspace: Arc<Workspace>) -> Arc<dyn ToolMemory> {
        let project = self.home.project_memory(workspace.root());
        let facts = FactStores::new(self.home.memory(), project);
        tools::Memory::with_facts(workspace, facts)
    }

    fn masked(&self) -> Vec<PathBuf> {
        self.masked.clone()
    }

    fn temp(&self) -> Option<PathBuf> {
        self.temp.clone()
    }

    fn user_home(&self) -> PathBuf {
        self.user_home.clone()
    }
}
