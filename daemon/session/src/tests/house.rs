//! A session with nothing real but the engine: the model plays a cassette, the disk waits for leave.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use contract::{Spawn, ToolSet};
use proto::params::session::AttachParams;
use proto::record::{ChildExited, ChildKind, ChildSpawned, PromptQueued, SessionCreated};
use proto::state::{ApprovalMode, OnAsk};
use proto::{CallId, Failure, Pid, PromptId, Record, SessionId, SessionOptions};
use serde_json::Value;
use store::home::Home;
use store::log::{LogFile, Syncer};
use tokio::sync::oneshot;

use super::fixtures::{self, Marker, Stops};
use crate::actor::handle::{Attach, SessionHandle};
use crate::actor::start::FirstNotices;
use crate::assembly::setup::{Assembly, Effort, Setup};
use crate::context::prefix::FrozenPrefix;
use crate::request::keys::Keys;
use crate::supervisor::build::{Parts, build};
use crate::supervisor::load::{self, SessionServices};
use crate::{Follow, Following};

/// A disk whose syncs wait for leave.
#[derive(Default)]
pub struct Gate {
    leave: Mutex<Leave>,
    changed: Condvar,
    fails: Mutex<bool>,
}

#[derive(Default)]
struct Leave {
    /// How many syncs have begun.
    begun: u64,
    /// Every sync has leave.
    open: bool,
    /// How many have leave while it is closed.
    single: u64,
}

impl Gate {
    /// Lets every sync through from now on.
    pub fn open(&self) {
        self.leave.lock().unwrap().open = true;
        self.changed.notify_all();
    }

    /// Lets one sync through.
    pub fn let_one(&self) {
        self.leave.lock().unwrap().single += 1;
        self.changed.notify_all();
    }

    /// Holds syncs from now on.
    pub fn close(&self) {
        self.leave.lock().unwrap().open = false;
    }

    /// Lets syncs fail from now on.
    pub fn break_down(&self) {
        *self.fails.lock().unwrap() = true;
        self.open();
    }

    /// How many syncs have begun.
    pub fn begun(&self) -> u64 {
        self.leave.lock().unwrap().begun
    }
}

impl Syncer for Gate {
    fn sync(&self, _: &File) -> io::Result<()> {
        let mut leave = self.leave.lock().unwrap();
        leave.begun += 1;
        while !leave.open && leave.single == 0 {
            leave = self.changed.wait(leave).unwrap();
        }
        if !leave.open {
            leave.single -= 1;
        }
        drop(leave);
        if *self.fails.lock().unwrap() {
            Err(io::Error::other("the disk is gone"))
        } else {
            Ok(())
        }
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
            leave: Arc::clone(&self.leave),
            seen_env: Arc::clone(&self.seen_env),
            ..Marker::new(&self.runs)
        };
        Setup {
            secret_variables: vec!["VENDOR_KEY".into()],
            options: SessionOptions {
                approval_mode: Some(self.approval_mode),
                ..SessionOptions::default()
            },
            ..fixtures::setup(fixtures::profile(
                codec,
                provider,
                ToolSet::new(vec![Arc::new(marker)]),
            ))
        }
    }
}

impl Assembly for Scripted {
    fn create(
        &self,
        _: &Path,
        _: Option<&str>,
        _: Effort<'_>,
        _: &[&str],
    ) -> Result<Setup, Failure> {
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
    pub created_on_disk: oneshot::Receiver<Result<(), Failure>>,
    /// What its tools would report of commands in the background.
    pub shells: Arc<dyn contract::tool::Shells>,
    ground: SessionServices,
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
        let log = read.unwrap();
        let created = log.facts.created.clone().unwrap();
        let parts = Parts {
            env: created.env.clone(),
            created,
            log,
            setup: script.setup(),
            keys: Arc::new(Keys::default()),
            marked: true,
        };
        let (mut actor, inbox, handle) = build(&self.ground, parts).unwrap();
        actor.recover(policy, None, Vec::new());
        self.script = script;
        self.shells = Arc::clone(&actor.calls.call_environment().shells);
        self.handle = handle;
        self.life = tokio::spawn(Box::new(actor).run(inbox));
    }

    /// The records of the log, as they are now on disk.
    pub fn records(&self) -> Vec<Record> {
        fixtures::records(&self.dir())
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
    let ground = SessionServices {
        home: Arc::clone(&home),
        assembly: Arc::clone(&script) as Arc<dyn Assembly>,
        catalog: feed,
        history: history_index::HistoryFeed::new(Arc::clone(&home)),
        pids: Arc::new(store::pids::PidCounter::open(&home).unwrap()),
        supervisor: std::sync::Weak::new(),
        ledger: Arc::new(crate::request::budget::Ledger::new(
            Arc::clone(&script) as Arc<dyn Assembly>,
            std::sync::Weak::<crate::Supervisor>::new(),
        )),
        texts: Arc::default(),
        queues: crate::viewers::queue_bytes::AllQueues::default(),
        changes: crate::viewers::list_changes::ListChanges::default(),
        attendance: crate::viewers::attendance::Attendance::default(),
    };
    let setup = script.setup();
    let session = SessionId::new();
    let gate = Arc::new(Gate::default());
    let file = LogFile::create(&home.session_dir(session))
        .unwrap()
        .with_syncer(Arc::clone(&gate) as Arc<dyn Syncer>);
    let (mut created, mut env) = (created(session, &project), BTreeMap::new());
    tweak(&mut created, &mut env);
    let prefix = FrozenPrefix::of(&setup.profile, Vec::new(), Vec::new(), Vec::new());
    let parts = Parts {
        created: created.clone(),
        log: load::SessionLog::new(file, prefix),
        setup,
        keys: Arc::new(Keys::default()),
        env,
        marked: false,
    };
    let (mut actor, inbox, handle) = build(&ground, parts).unwrap();
    let (reply, created_on_disk) = oneshot::channel();
    let prompt = PromptQueued {
        untyped: Vec::new(),
        from: None,
        added: None,
        references: None,
        on_ask: None,
        prompt_id: PromptId::new(),
        text: prompt.into(),
        steer: false,
        by: "test".into(),
        request_id: None,
    };
    actor.write_first_records(created, FirstNotices::default(), None, Some(prompt), reply);
    let shells = Arc::clone(&actor.calls.call_environment().shells);
    let life = tokio::spawn(Box::new(actor).run(inbox));
    House {
        handle,
        gate,
        runs: Arc::clone(&script.runs),
        script,
        created_on_disk,
        shells,
        ground,
        life,
        _dir: dir,
    }
}

pub fn created(session: SessionId, project: &Path) -> SessionCreated {
    let place = project.to_string_lossy().into_owned();
    SessionCreated {
        origin: None,
        agent: None,
        session,
        pid: Pid(1),
        ppid: Pid(0),
        epoch: 1,
        cwd: place.clone(),
        root: place,
        provider_kind: "replay".into(),
        context_window: 0,
        prefix_sha256: String::new(),
        instructions: Vec::new(),
        add_dirs: Vec::new(),
        tools: Vec::new(),
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

/// A command that was left in the background.
pub fn a_child() -> ChildSpawned {
    ChildSpawned {
        pid: Pid(7),
        kind: ChildKind::Shell,
        call: CallId("c".into()),
        command: "sleep 1000".into(),
        user: None,
    }
}

/// Its end, by TERM.
pub fn gone() -> ChildExited {
    ChildExited {
        pid: Pid(7),
        code: None,
        signal: Some(15),
        cause: None,
        result: None,
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
    let due = tokio::time::Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(
            tokio::time::Instant::now() < due,
            "this did not happen: {what}"
        );
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
