//! A session with nothing real but the engine: the model plays a cassette, the disk waits for leave.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use contract::{CallContext, Family, Outcome, Preview, Spawn, SpawnError, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::{CallStatus, Display};
use proto::record::{PromptQueued, Rules, SessionCreated};
use proto::state::{Kind, OnAsk, Posture};
use proto::{Failure, Pid, PromptId, SessionId};
use serde_json::{Map, Value};
use store::home::Home;
use store::log::{Index, LogFile, Syncer};
use tokio::sync::oneshot;

use crate::handle::SessionHandle;
use crate::keys::Keys;
use crate::load::{self, Ground, Parts};
use crate::setup::{Assembly, Layered, Setup};

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
    spec: ToolSpec,
    pub runs: Arc<Mutex<Vec<String>>>,
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

    fn run(&self, arguments: Map<String, Value>, _: CallContext) -> BoxFuture<'static, Outcome> {
        let runs = Arc::clone(&self.runs);
        async move {
            let name = arguments
                .get("command")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            runs.lock().unwrap().push(name);
            Outcome::with_status(CallStatus::Ok, "marked")
        }
        .boxed()
    }
}

struct NoProcesses;

impl Spawn for NoProcesses {
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
}

struct Nothing;

impl Assembly for Nothing {
    fn create(&self, _: &Path, _: Option<&str>) -> Result<Setup, Failure> {
        unreachable!("these scenes build their sessions themselves")
    }

    fn resume(&self, _: &SessionCreated) -> Setup {
        unreachable!("these scenes build their sessions themselves")
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::new(NoProcesses)
    }

    fn memory(&self, _: Arc<workspace::Workspace>) -> Arc<dyn Any + Send + Sync> {
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
    /// Answered when the first records are on disk.
    pub born: oneshot::Receiver<Result<(), Failure>>,
    _dir: tempfile::TempDir,
}

impl Drop for House {
    fn drop(&mut self) {
        // A blocked sync would keep the runtime's threads for ever.
        self.gate.open();
    }
}

/// A session with this script and first prompt. The disk is held until `gate.open()`.
pub fn begin(cassette: &str, prompt: &str) -> House {
    let dir = tempfile::tempdir().unwrap();
    let home = Arc::new(Home::open(&dir.path().join("home")).unwrap());
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let catalog = store::catalog::Catalog::open(&home).unwrap().catalog;
    let feed = crate::catalog::CatalogFeed::start(Arc::new(catalog)).unwrap();
    let ground = Ground {
        home: Arc::clone(&home),
        assembly: Arc::new(Nothing),
        catalog: feed,
    };
    let (codec, provider) = replay::open(replay::Cassette::parse(cassette).unwrap());
    let runs = Arc::new(Mutex::new(Vec::new()));
    let marker = Marker {
        spec: ToolSpec {
            name: "mark",
            description: "Marks.",
            schema: serde_json::json!({"type": "object"}),
            family: Family::Bash,
            read_only: false,
        },
        runs: Arc::clone(&runs),
    };
    let setup = Setup {
        provider_name: "script".into(),
        provider_kind: "replay".into(),
        model: "m".into(),
        context_window: 0,
        codec,
        provider,
        key_variable: None,
        secret_variables: Vec::new(),
        own_key: None,
        tools: vec![Arc::new(marker)],
        layers: vec![Layered {
            layer: policy::Layer::User,
            rules: Rules::default(),
            trusted: true,
        }],
        posture: Posture::Ask,
        max_steps: 0,
        limits: turn::Limits::default(),
        allow_write: Vec::new(),
        deny_read: Vec::new(),
        recover: None,
        trusted: true,
        workspace_root: None,
        notices: Vec::new(),
        unusable: None,
    };
    let session = SessionId::new();
    let gate = Arc::new(Gate::default());
    let file = LogFile::create(&home.session_dir(session))
        .unwrap()
        .with_syncer(Arc::clone(&gate) as Arc<dyn Syncer>);
    let created = created(session, &project);
    let prefix = crate::prefix::render(setup.codec.as_ref(), "m", &setup.tools);
    let parts = Parts {
        created: created.clone(),
        file,
        index: Index::new(),
        facts: turn::Facts::default(),
        prefix,
        setup,
        keys: Arc::new(Keys::default()),
        env: BTreeMap::new(),
        marked: false,
        read_only: None,
    };
    let (mut actor, inbox, handle) = load::build(&ground, parts).unwrap();
    let (reply, born) = oneshot::channel();
    let prompt = PromptQueued {
        prompt_id: PromptId::new(),
        text: prompt.into(),
        steer: false,
        by: "test".into(),
        request_id: None,
    };
    actor.bear(created, Vec::new(), Some(prompt), reply);
    tokio::spawn(actor.run(inbox));
    House {
        handle,
        gate,
        runs,
        born,
        _dir: dir,
    }
}

fn created(session: SessionId, project: &Path) -> SessionCreated {
    let place = project.to_string_lossy().into_owned();
    SessionCreated {
        session,
        pid: Pid(1),
        ppid: Pid(0),
        epoch: 1,
        cwd: place.clone(),
        root: place,
        provider: "script".into(),
        provider_kind: "replay".into(),
        model: "m".into(),
        context_window: 0,
        prefix_sha256: String::new(),
        kind: Kind::Interactive,
        posture: Posture::Ask,
        on_ask: OnAsk::Allow,
        name: None,
        labels: Vec::new(),
        max_steps: 0,
        timeout_ms: 0,
        rules: Rules::default(),
        env: BTreeMap::new(),
        env_names: Vec::new(),
        request_id: None,
        version: "test".into(),
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
