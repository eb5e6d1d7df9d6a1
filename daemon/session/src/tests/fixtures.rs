//! What all harnesses put in the place of the world outside: a configuration, a tool, processes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use contract::provider::Provider;
use contract::{
    CallContext, Codec, Family, Outcome, Preview, Spawn, SpawnError, Tool, ToolSet, ToolSpec,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::{CallStatus, Display};
use proto::params::session::{PromptParams, When};
use proto::record::Rules;
use proto::{Pid, Record, SessionOptions};
use serde_json::{Map, Value};
use store::home::Home;
use tokio::sync::Semaphore;

use crate::assembly::setup::{Assembly, ModelSetup, Profile, RuleLayer, Setup};
use crate::{ResidencyLimits, SYSTEM_PROMPT, SandboxDemand, SandboxSettings, Supervisor};

/// A session with this profile, and nothing else set.
pub fn setup(profile: Profile) -> Setup {
    Setup {
        profile,
        secret_variables: Vec::new(),
        pass: Vec::new(),
        options: SessionOptions::default(),
        enabled_tools: Vec::new(),
        allow_write: Vec::new(),
        deny_read: Vec::new(),
        confine: SandboxSettings {
            demand: SandboxDemand::Off,
            ..SandboxSettings::default()
        },
        skills: crate::SkillSettings::default(),
        memory: crate::MemorySettings::default(),
        recover: None,
        trusted: true,
        workspace_root: None,
        notices: Vec::new(),
        unusable: None,
    }
}

/// These tools, and a model of which nothing is known.
pub fn profile(codec: Arc<dyn Codec>, provider: Arc<dyn Provider>, tools: ToolSet) -> Profile {
    Profile {
        system_prompt: SYSTEM_PROMPT.into(),
        append_system_prompt: None,
        examples: None,
        tools,
        pinned: Vec::new(),
        agents: String::new(),
        rules: vec![RuleLayer {
            layer: policy::Layer::User,
            origin: "config.toml".to_owned(),
            rules: Rules::default(),
            trusted: true,
        }],
        model: ModelSetup {
            provider_name: "script".into(),
            provider_kind: "replay".into(),
            name: "m".into(),
            context_window: 0,
            codec,
            provider,
            key_variable: None,
            own_key: None,
            limits: turn::Limits::default(),
            price: None,
            repair: false,
            efforts: Vec::new(),
            temperature: true,
            effort: None,
            fallback: None,
        },
    }
}

/// A tool that changes things, and counts its runs.
pub struct Marker {
    pub spec: ToolSpec,
    pub runs: Arc<Mutex<Vec<String>>>,
    pub leave: Arc<Semaphore>,
    pub seen_env: Arc<Mutex<Vec<(String, String)>>>,
}

impl Marker {
    pub fn new(runs: &Arc<Mutex<Vec<String>>>) -> Self {
        let schema = serde_json::json!({"type": "object"});
        Self {
            spec: ToolSpec::new("mark", "Marks.", schema, Family::Bash),
            runs: Arc::clone(runs),
            leave: Arc::new(Semaphore::new(1_000)),
            seen_env: Arc::default(),
        }
    }
}

impl Tool for Marker {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        Ok(arguments.clone())
    }

    fn preview(&self, _: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        Ok(Preview {
            display: Display::Line {
                text: "a mark".into(),
            },
        })
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let (runs, leave) = (Arc::clone(&self.runs), Arc::clone(&self.leave));
        self.seen_env.lock().unwrap().clone_from(&context.env);
        async move {
            let name = arguments
                .get("command")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            runs.lock().unwrap().push(name);
            leave.acquire().await.unwrap().forget();
            Outcome::with_status(CallStatus::Ok, "marked")
        }
        .boxed()
    }
}

/// A fake that stops no processes, and records the requests to stop them.
#[derive(Default)]
pub struct Stops(pub Mutex<Vec<u64>>);

impl Spawn for Stops {
    fn spawn(
        &self,
        _: Pid,
        command: contract::Command,
    ) -> BoxFuture<'static, Result<contract::Child, SpawnError>> {
        async move {
            Err(SpawnError::Start {
                program: command.title,
                reason: "not here".into(),
            })
        }
        .boxed()
    }

    fn running(&self, _: Pid) -> Vec<proto::params::process::ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, grace_ms: u64) {
        self.0.lock().unwrap().push(grace_ms);
    }
}

/// A prompt.
pub fn prompt(text: &str) -> PromptParams {
    PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: String::new(),
        text: text.into(),
        when: When::Queue,
        credentials: BTreeMap::new(),
        env: BTreeMap::new(),
        request_id: None,
    }
}

/// The records of a log, as they are now on disk.
pub fn records(dir: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    store::log::read(dir, &mut |raw| records.push(raw.record().unwrap())).unwrap();
    records
}

/// A life of the daemon.
pub fn supervise(
    home: &Arc<Home>,
    assembly: Arc<dyn Assembly>,
    residency_limits: ResidencyLimits,
) -> Arc<Supervisor> {
    let catalog = Arc::new(store::catalog::Catalog::open(home).unwrap().catalog);
    let pids = Arc::new(store::pids::PidCounter::open(home).unwrap());
    Supervisor::with(Arc::clone(home), catalog, pids, assembly, residency_limits).unwrap()
}
