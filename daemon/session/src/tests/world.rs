//! A whole home with a supervisor: the model plays a cassette and remembers its requests, the disk can be broken.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use contract::provider::{Part, Provider, ProviderError, Request};
use contract::{ExternalChanges, MemorySnapshot, Spawn, Tool, ToolMemory, ToolSet};
use futures::stream::BoxStream;
use proto::params::session::{CreateParams, Until};
use proto::record::SessionCreated;
use proto::state::{ApprovalMode, Kind, OnAsk};
use proto::{Failure, SessionId, SessionOptions};
use store::home::Home;
use store::log::Syncer;

use super::fixtures::{self, Marker, Stops, prompt, supervise};
use super::keys::MemoryKeeper;
use crate::assembly::setup::{Assembly, Effort, ModelSetup, Setup};
use crate::{Client, KeyKeeper, ProfileChoice, ResidencyLimits, SessionHandle, Supervisor};

/// A disk that refuses on demand.
#[derive(Default)]
pub struct Disk {
    pub full: AtomicBool,
    pub sync_fails: AtomicBool,
    /// Syncs do not come back.
    pub sync_hangs: AtomicBool,
}

impl Syncer for Disk {
    fn write(&self, mut file: &File, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.full.load(Ordering::SeqCst) {
            // Half of it still fits, as on a real one.
            let part = &parts[0][..parts[0].len() / 2];
            if !part.is_empty() {
                file.write_all(part)?;
            }
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_vectored(parts)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let due = std::time::Instant::now() + std::time::Duration::from_secs(20);
        // Not for ever: a test that fails must come to its end.
        while self.sync_hangs.load(Ordering::SeqCst) && std::time::Instant::now() < due {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        if self.sync_fails.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk is gone"));
        }
        file.sync_data()
    }
}

/// Passes requests on, and keeps their bodies.
struct Listening {
    inner: Arc<dyn Provider>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Provider for Listening {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let body = String::from_utf8(request.body.to_vec()).unwrap();
        self.sent.lock().unwrap().push(body);
        self.inner.stream(request)
    }
}

/// What there is outside the sessions.
pub struct Outside {
    pub keeper: Arc<MemoryKeeper>,
    cassette: String,
    pub sent: Arc<Mutex<Vec<String>>>,
    pub runs: Arc<Mutex<Vec<String>>>,
    pub provider_gone: AtomicBool,
    /// A session whose config does not answer.
    pub hangs: Mutex<Option<SessionId>>,
    /// Asks before everything, as it is configured.
    pub strict: AtomicBool,
    pub max_steps: u64,
    /// What new sessions read of the marker.
    pub tool_description: Mutex<String>,
    /// The system prompt of new sessions.
    pub system_prompt: Mutex<String>,
    /// Tools of this build beside the marker.
    pub tools: Mutex<Vec<Arc<dyn Tool>>>,
    /// What the tools of all sessions remember.
    pub memory: Arc<Notebook>,
    disk: Arc<Disk>,
}

/// What tools remember here.
#[derive(Default)]
pub struct Notebook {
    /// Files that others have changed, until they are reported.
    pub changed: Mutex<Option<String>>,
    /// How often the session has accepted changes as its own.
    pub accepted: AtomicUsize,
    /// What a session gets back after an eviction.
    pub restored: Mutex<Vec<String>>,
}

impl ToolMemory for Notebook {
    fn snapshot(&self) -> Option<MemorySnapshot> {
        Some(Box::new("a word".to_owned()))
    }

    fn restore(&self, snapshot: MemorySnapshot) {
        let word = *snapshot.downcast::<String>().unwrap();
        self.restored.lock().unwrap().push(word);
    }

    fn describe_external_changes(&self) -> Option<ExternalChanges> {
        let text = self.changed.lock().unwrap().take()?;
        Some(ExternalChanges {
            text,
            files: Vec::new(),
        })
    }

    fn has_external_changes(&self) -> bool {
        self.changed.lock().unwrap().is_some()
    }

    fn accept_changes(&self) {
        self.accepted.fetch_add(1, Ordering::SeqCst);
    }
}

impl Outside {
    fn tools_with(&self, marker: Marker) -> ToolSet {
        let more = self.tools.lock().unwrap().clone();
        let marker: Arc<dyn Tool> = Arc::new(marker);
        match more.is_empty() {
            true => ToolSet::new(vec![marker]),
            false => tools::session_tools(more.into_iter().chain([marker]).collect()),
        }
    }

    fn setup(&self) -> Setup {
        let cassette = replay::Cassette::parse(&self.cassette).unwrap();
        let (codec, inner) = replay::open(cassette);
        let provider = Arc::new(Listening {
            inner,
            sent: Arc::clone(&self.sent),
        });
        let mut marker = Marker::new(&self.runs);
        marker.spec.description = self.tool_description.lock().unwrap().as_str().into();
        let tools = self.tools_with(marker);
        let mut profile = fixtures::profile(codec, provider, tools);
        profile.system_prompt = self.system_prompt.lock().unwrap().as_str().into();
        profile.model.context_window = 1000;
        profile.model.key_variable = Some("VENDOR_KEY".into());
        Setup {
            secret_variables: vec!["VENDOR_KEY".into()],
            options: SessionOptions {
                approval_mode: Some(if self.strict.load(Ordering::SeqCst) {
                    ApprovalMode::Ask
                } else {
                    ApprovalMode::Yolo
                }),
                max_steps: Some(self.max_steps),
                ..SessionOptions::default()
            },
            unusable: self
                .provider_gone
                .load(Ordering::SeqCst)
                .then(|| "its provider is not configured any more".into()),
            ..fixtures::setup(profile)
        }
    }
}

impl Assembly for Outside {
    fn create(
        &self,
        _: &Path,
        _: Option<&str>,
        _: Effort<'_>,
        _: &[&str],
    ) -> Result<Setup, Failure> {
        Ok(self.setup())
    }

    fn resume(&self, created: &SessionCreated) -> Setup {
        let due = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let hangs = || *self.hangs.lock().unwrap() == Some(created.session);
        // Not for ever: a test that fails must come to its end.
        while hangs() && std::time::Instant::now() < due {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        self.setup()
    }

    fn switch(&self, _: &Path, model: &str, _: Effort<'_>) -> Result<ModelSetup, Failure> {
        let mut switched = self.setup().profile.model;
        switched.name = model.rsplit('/').next().unwrap().to_owned();
        Ok(switched)
    }

    fn key_keeper(&self) -> Arc<dyn KeyKeeper> {
        Arc::clone(&self.keeper) as Arc<dyn KeyKeeper>
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::new(Stops::default())
    }

    fn syncer(&self) -> Arc<dyn Syncer> {
        Arc::clone(&self.disk) as Arc<dyn Syncer>
    }

    fn tool_memory(&self, _: Arc<workspace::Workspace>) -> Arc<dyn ToolMemory> {
        Arc::clone(&self.memory) as Arc<dyn ToolMemory>
    }

    fn masked(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn user_home(&self) -> PathBuf {
        PathBuf::from("/nonexistent")
    }
}

/// A home, its project, and the supervisor of this life.
pub struct World {
    pub outside: Arc<Outside>,
    pub disk: Arc<Disk>,
    pub supervisor: Arc<Supervisor>,
    pub residency_limits: ResidencyLimits,
    pub home: Arc<Home>,
    pub project: PathBuf,
    _dir: tempfile::TempDir,
}

impl World {
    pub fn new(cassette: &str) -> Self {
        Self::with(cassette, 0, ResidencyLimits::default())
    }

    pub fn with(cassette: &str, max_steps: u64, residency_limits: ResidencyLimits) -> Self {
        Self::at(
            tempfile::tempdir().unwrap(),
            cassette,
            max_steps,
            residency_limits,
        )
    }

    /// In a directory of the caller's choice.
    pub fn at(
        dir: tempfile::TempDir,
        cassette: &str,
        max_steps: u64,
        residency_limits: ResidencyLimits,
    ) -> Self {
        let project = dir.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let disk = Arc::new(Disk::default());
        let outside = Arc::new(Outside {
            keeper: Arc::default(),
            disk: Arc::clone(&disk),
            cassette: cassette.to_owned(),
            sent: Arc::default(),
            runs: Arc::default(),
            provider_gone: AtomicBool::new(false),
            tool_description: Mutex::new("Marks.".into()),
            system_prompt: Mutex::new(crate::SYSTEM_PROMPT.into()),
            hangs: Mutex::default(),
            strict: AtomicBool::new(false),
            tools: Mutex::default(),
            memory: Arc::default(),
            max_steps,
        });
        let home = Arc::new(Home::open(&dir.path().join("home")).unwrap());
        let supervisor = supervise(&home, outside.clone(), residency_limits);
        Self {
            outside,
            disk,
            supervisor,
            residency_limits,
            home,
            project,
            _dir: dir,
        }
    }

    /// A new life of the daemon.
    pub fn supervise(&self) -> Arc<Supervisor> {
        supervise(&self.home, self.outside.clone(), self.residency_limits)
    }

    /// The daemon stops and starts again.
    pub async fn restart(&mut self) {
        self.supervisor.shutdown().await;
        self.supervisor = self.supervise();
        self.supervisor.recover().await;
    }

    /// Parameters of a session with this first prompt.
    pub fn create_params(&self, prompt: &str, kind: Kind) -> CreateParams {
        CreateParams {
            session: SessionId::new(),
            cwd: self.project.to_string_lossy().into_owned(),
            prompt: Some(prompt.into()),
            options: SessionOptions {
                kind: Some(kind),
                on_ask: Some(OnAsk::Allow),
                ..SessionOptions::default()
            },
            env: BTreeMap::from([
                ("PATH".to_owned(), "/bin".to_owned()),
                (
                    "PROJECT_WORD".to_owned(),
                    "a value of the client".to_owned(),
                ),
            ]),
            credentials: BTreeMap::from([("VENDOR_KEY".to_owned(), "a key".to_owned())]),
            ..CreateParams::default()
        }
    }

    pub async fn create(&self, request: CreateParams) -> Result<SessionHandle, Failure> {
        self.create_as(request, &ProfileChoice::default()).await
    }

    pub async fn create_as(
        &self,
        request: CreateParams,
        profile: &ProfileChoice,
    ) -> Result<SessionHandle, Failure> {
        let client = Client {
            name: "test".into(),
        };
        let made = self.supervisor.create(request, &client, profile).await?;
        self.supervisor.find(&made.pid.to_string()).await
    }

    /// A session that has come to rest after its first prompt; nobody holds it.
    pub async fn begin(&self, prompt: &str) -> String {
        let handle = self
            .create(self.create_params(prompt, Kind::Interactive))
            .await
            .unwrap();
        handle.wait(Until::Turn).await.unwrap();
        handle.pid().to_string()
    }

    /// Prompts and waits for the turn's end.
    pub async fn prompt(&self, session: &str, text: &str) -> Result<(), Failure> {
        let handle = self.supervisor.find(session).await?;
        handle.prompt(prompt(text), "test".into()).await?;
        // The session may have a new life by now.
        let handle = self.supervisor.find(session).await?;
        handle.wait(Until::Turn).await.map(drop)
    }

    pub fn sent(&self) -> Vec<String> {
        self.outside.sent.lock().unwrap().clone()
    }
}
