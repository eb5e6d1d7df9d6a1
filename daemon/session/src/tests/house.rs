//! A session with nothing real but the engine: the model plays a cassette, the disk waits for leave.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use contract::{CallContext, Family, Outcome, Preview, Spawn, SpawnError, Tool, ToolSet, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::{CallStatus, Display};
use proto::params::session::{AttachParams, PromptParams, When};
use proto::record::{ChildExited, ChildKind, ChildSpawned, PromptQueued, Rules, SessionCreated};
use proto::state::{ApprovalMode, OnAsk};
use proto::{CallId, Failure, Pid, PromptId, Record, SessionId, SessionOptions};
use serde_json::{Map, Value};
use store::home::Home;
use store::log::{Index, LogFile, Syncer};
use tokio::sync::oneshot;

use crate::actor::handle::{Attach, SessionHandle};
use crate::assembly::setup::{Assembly, Layered, Setup};
use crate::request::keys::Keys;
use crate::supervisor::build::{self as making, Parts};
use crate::supervisor::load::{self, Ground};
use crate::{Follow, Following};

/// A disk whose syncs wait for leave.
#[derive(Default)]
pub struct Gate {
    leave: Mutex<(u64, bool)>,
    changed: Condvar,
    fails: Mutex<bool>,
}

impl Gate {
    /// Lets every sync through from now on.
    pub fn open(&self) {
        self.leave.lock().unwrap().1 = true;
        self.changed.notify_all();
    }

    /// Holds syncs from now on.
    pub fn close(&self) {
        self.leave.lock().unwrap().1 = false;
    }

    /// Lets syncs fail from now on.
    pub fn break_down(&self) {
        *self.fails.lock().unwrap() = true;
        self.open();
    }

    /// How many syncs have begun.
    pub fn begun(&self) -> u64 {
        self.leave.lock().unwrap().0
    }
}

impl Syncer for Gate {
    fn sync(&self, _: &File) -> io::Result<()> {
        let mut leave = self.leave.lock().unwrap();
        leave.0 += 1;
        while !leave.1 {
            leave = self.changed.wait(leave).unwrap();
        }
        drop(leave);
        if *self.fails.lock().unwrap() {
            Err(io::Error::other("the disk is gone"))
        } else {
            Ok(())
        }
    }
}

/// A tool that changes things, and counts its runs.
pub struct Marker {
    pub spec: ToolSpec,
    pub runs: Arc<Mutex<Vec<String>>>,
    pub leave: Arc<tokio::sync::Semaphore>,
    pub seen_env: Arc<Mutex<Vec<(String, String)>>>,
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

/// What would stop processes, and tells what it was asked to.
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

/// An assembly whose model plays a cassette.
pub struct Scripted {
    pub cassette: String,
    /// The configured approval mode.
    pub approval_mode: ApprovalMode,
    pub stops: Arc<Stops>,
    pub runs: Arc<Mutex<Vec<String>>>,
    /// What the runs of `mark` wait for: as many permits as runs may end.
    pub leave: Arc<tokio::sync::Semaphore>,
    /// The environment that calls saw.
    pub seen_env: Arc<Mutex<Vec<(String, String)>>>,
}

impl Scripted {
    pub fn new(cassette: &str) -> Self {
        Self {
            cassette: cassette.to_owned(),
            approval_mode: ApprovalMode::Ask,
            stops: Arc::default(),
            runs: Arc::default(),
            leave: Arc::new(tokio::sync::Semaphore::new(1_000)),
            seen_env: Arc::default(),
        }
    }

    pub fn setup(&self) -> Setup {
        let cassette = replay::Cassette::parse(&self.cassette).unwrap();
        let (codec, provider) = replay::open(cassette.stalls_for(Duration::from_secs(3_600)));
        let marker = Marker {
            spec: ToolSpec::new(
                "mark",
                "Marks.",
                serde_json::json!({"type": "object"}),
                Family::Bash,
            ),
            runs: Arc::clone(&self.runs),
            leave: Arc::clone(&self.leave),
            seen_env: Arc::clone(&self.seen_env),
        };
        Setup {
            pinned: Vec::new(),
            provider_name: "script".into(),
            provider_kind: "replay".into(),
            model: "m".into(),
            context_window: 0,
            codec,
            provider,
            key_variable: None,
            secret_variables: vec!["VENDOR_KEY".into()],
            pass: Vec::new(),
            own_key: None,
            tools: ToolSet::new(vec![Arc::new(marker)]),
            layers: vec![Layered {
                layer: policy::Layer::User,
                origin: "config.toml".to_owned(),
                rules: Rules::default(),
                trusted: true,
            }],
            options: SessionOptions {
                approval_mode: Some(self.approval_mode),
                ..SessionOptions::default()
            },
            limits: turn::Limits::default(),
            allow_write: Vec::new(),
            deny_read: Vec::new(),
            confine: crate::SandboxSettings {
                demand: crate::SandboxDemand::Off,
                ..crate::SandboxSettings::default()
            },
            recover: None,
            trusted: true,
            workspace_root: None,
            notices: Vec::new(),
            unusable: None,
            price: None,
            repair: false,
            efforts: Vec::new(),
            temperature: true,
            effort: None,
            fallback: None,
        }
    }
}

impl Assembly for Scripted {
    fn create(&self, _: &Path, _: Option<&str>) -> Result<Setup, Failure> {
        Ok(self.setup())
    }

    fn resume(&self, _: &SessionCreated) -> Setup {
        self.setup()
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::clone(&self.stops) as Arc<dyn Spawn>
    }

    fn tool_memory(&self, _: Arc<workspace::Workspace>) -> Arc<dyn contract::ToolMemory> {
        Arc::new(())
    }

    fn masked(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn user_home(&self) -> PathBuf {
        PathBuf::from("/nonexistent")
    }
}

/// A session whose disk is held.
pub struct House {
    pub handle: SessionHandle,
    pub gate: Arc<Gate>,
    pub runs: Arc<Mutex<Vec<String>>>,
    pub script: Arc<Scripted>,
    /// Answered when the first records are on disk.
    pub born: oneshot::Receiver<Result<(), Failure>>,
    /// What its tools would tell it of commands in the background.
    pub shells: Arc<dyn contract::tool::Shells>,
    ground: Ground,
    life: tokio::task::JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl Drop for House {
    fn drop(&mut self) {
        // A blocked sync would keep the runtime's threads for ever.
        self.gate.open();
    }
}

impl House {
    /// The session's directory.
    pub fn dir(&self) -> PathBuf {
        self.ground.home.session_dir(self.handle.id())
    }

    /// Ends the actor as a crash would, and loads the session from its log. `script`: as it is configured by then.
    pub async fn crash(&mut self, script: Scripted, policy: Option<turn::RecoverPolicy>) {
        self.life.abort();
        let _ = (&mut self.life).await;
        self.load(script, policy).await;
    }

    /// Ends the actor in peace.
    pub async fn shutdown(&mut self) {
        self.handle.shutdown().await;
        let _ = (&mut self.life).await;
    }

    /// Loads the session, which no actor has.
    pub async fn load(&mut self, script: Scripted, policy: Option<turn::RecoverPolicy>) {
        let script = Arc::new(script);
        self.runs = Arc::clone(&script.runs);
        self.ground.assembly = Arc::clone(&script) as Arc<dyn Assembly>;
        let mut read = load::read(&self.ground, self.handle.id());
        // A job of the life before may still be at the log.
        let due = tokio::time::Instant::now() + Duration::from_secs(10);
        while read.is_err() && tokio::time::Instant::now() < due {
            tokio::time::sleep(Duration::from_millis(1)).await;
            read = load::read(&self.ground, self.handle.id());
        }
        let read = read.unwrap();
        let created = read.facts.created.clone().unwrap();
        let parts = Parts {
            env: created.env.clone(),
            created,
            file: read.file,
            index: read.index,
            facts: read.facts,
            prefix: read.prefix,
            setup: script.setup(),
            keys: Arc::new(Keys::default()),
            marked: true,
            read_only: read.read_only,
            missed: read.missed,
            elements: read.elements,
            known: read.known,
        };
        let (mut actor, inbox, handle) = making::build(&self.ground, parts).unwrap();
        actor.recover(policy, None);
        self.script = script;
        self.shells = Arc::clone(&actor.calls.bench().shells);
        self.handle = handle;
        self.life = tokio::spawn(actor.run(inbox));
    }

    /// The records of the log, as they are now on disk.
    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        store::log::read(&self.dir(), &mut |raw| records.push(raw.record().unwrap())).unwrap();
        records
    }
}

/// A session with this script and first prompt. The disk is held until `gate.open()`.
pub fn begin(cassette: &str, prompt: &str) -> House {
    begin_with(Scripted::new(cassette), prompt, |_, _| {})
}

/// As `begin`, with something else said at its creation.
pub fn begin_with(
    script: Scripted,
    prompt: &str,
    tweak: impl FnOnce(&mut SessionCreated, &mut BTreeMap<String, String>),
) -> House {
    let dir = tempfile::tempdir().unwrap();
    let home = Arc::new(Home::open(&dir.path().join("home")).unwrap());
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let catalog = store::catalog::Catalog::open(&home).unwrap().catalog;
    let feed = crate::journal::catalog_feed::CatalogFeed::start(Arc::new(catalog)).unwrap();
    let script = Arc::new(script);
    let ground = Ground {
        home: Arc::clone(&home),
        assembly: Arc::clone(&script) as Arc<dyn Assembly>,
        catalog: feed,
        pids: Arc::new(store::pids::Pids::open(&home).unwrap()),
        supervisor: std::sync::Weak::new(),
        ledger: Arc::new(crate::request::budget::Ledger::new(
            Arc::clone(&script) as Arc<dyn Assembly>,
            std::sync::Weak::<crate::Supervisor>::new(),
        )),
    };
    let setup = script.setup();
    let session = SessionId::new();
    let gate = Arc::new(Gate::default());
    let file = LogFile::create(&home.session_dir(session))
        .unwrap()
        .with_syncer(Arc::clone(&gate) as Arc<dyn Syncer>);
    let (mut created, mut env) = (created(session, &project), BTreeMap::new());
    tweak(&mut created, &mut env);
    let prefix = crate::context::prefix::render(setup.codec.as_ref(), &setup);
    let parts = Parts {
        created: created.clone(),
        file,
        index: Index::new(),
        facts: turn::Facts::default(),
        prefix,
        setup,
        keys: Arc::new(Keys::default()),
        env,
        marked: false,
        read_only: None,
        missed: None,
        elements: Vec::new(),
        known: Vec::new(),
    };
    let (mut actor, inbox, handle) = making::build(&ground, parts).unwrap();
    let (reply, born) = oneshot::channel();
    let prompt = PromptQueued {
        on_ask: None,
        prompt_id: PromptId::new(),
        text: prompt.into(),
        steer: false,
        by: "test".into(),
        request_id: None,
    };
    actor.bear(created, Vec::new(), Some(prompt), reply);
    let shells = Arc::clone(&actor.calls.bench().shells);
    let life = tokio::spawn(actor.run(inbox));
    House {
        handle,
        gate,
        runs: Arc::clone(&script.runs),
        script,
        born,
        shells,
        ground,
        life,
        _dir: dir,
    }
}

fn created(session: SessionId, project: &Path) -> SessionCreated {
    let place = project.to_string_lossy().into_owned();
    SessionCreated {
        origin: None,
        session,
        pid: Pid(1),
        ppid: Pid(0),
        epoch: 1,
        cwd: place.clone(),
        root: place,
        provider_kind: "replay".into(),
        context_window: 0,
        prefix_sha256: String::new(),
        tools: proto::record::SessionTools::default(),
        env: BTreeMap::new(),
        env_names: Vec::new(),
        env_held: Vec::new(),
        request_id: None,
        version: "test".into(),
        options: SessionOptions {
            model: Some("script/m".into()),
            on_ask: Some(OnAsk::Allow),
            ..SessionOptions::default()
        },
    }
}

/// A prompt.
pub fn prompt(text: &str) -> PromptParams {
    PromptParams {
        on_ask: None,
        session: String::new(),
        text: text.into(),
        when: When::Queue,
        credentials: BTreeMap::new(),
        env: BTreeMap::new(),
        request_id: None,
    }
}

/// A command that was left in the background.
pub fn a_child() -> ChildSpawned {
    ChildSpawned {
        pid: Pid(7),
        kind: ChildKind::Shell,
        call: CallId("c".into()),
        command: "sleep 1000".into(),
    }
}

/// Its end, by TERM.
pub fn gone() -> ChildExited {
    ChildExited {
        pid: Pid(7),
        code: None,
        signal: Some(15),
        cause: None,
    }
}

/// How somebody attaches who sees everything from now on, with a snapshot first.
pub fn watching(interactive: bool) -> Attach {
    Attach {
        name: "watcher".into(),
        role: proto::hello::Role::Watch,
        interactive,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: None,
            epoch: None,
            ephemeral: true,
            backlog: None,
        },
    }
}

/// The next event, as JSON.
pub async fn next(follow: &mut Follow) -> Value {
    let next = tokio::time::timeout(Duration::from_secs(60), follow.next()).await;
    match next.expect("no event came") {
        Following::Event { text, .. } => serde_json::from_str(&text).unwrap(),
        Following::Ended(failure) => panic!("the subscription ended: {failure:?}"),
    }
}

/// The data of the next event of this kind.
pub async fn next_of(follow: &mut Follow, kind: &str) -> Value {
    loop {
        let mut event = next(follow).await;
        if event["kind"] == kind {
            return event["data"].take();
        }
    }
}

/// Waits for a condition, with a bound.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let due = tokio::time::Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(
            tokio::time::Instant::now() < due,
            "this did not happen: {what}"
        );
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
