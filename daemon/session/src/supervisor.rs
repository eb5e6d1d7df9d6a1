//! All sessions of a home: made, found, loaded, put away.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use proto::params::approval::Approval;
use proto::params::session::{
    CreateOutput, CreateParams, ListOutput, ListParams, ReadOutput, ReadParams, SessionSummary,
};
use proto::record::{PromptQueued, SessionCreated};
use proto::state::{Kind, OnAsk, State};
use proto::{ApprovalId, ErrorName, Event, Failure, Pid, PromptId, Seq, SessionId};
use store::catalog::{Catalog, CatalogError, Found};
use store::home::Home;
use store::log::LogFile;
use store::pids::Pids;
use tokio::sync::OnceCell;

use crate::catalog::CatalogFeed;
use crate::handle::SessionHandle;
use crate::keys::Keys;
use crate::load::{self, Ground, Parts, Read};
use crate::setup::Assembly;
use crate::{follow, opening, prefix, summary};

/// Names of variables whose values may stand in the log: what commands need to find programs and to print well.
const LOGGED: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "EDITOR",
    "TERM",
    "COLORTERM",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// A client, as far as a session is told of it.
#[derive(Clone, Debug)]
pub struct Client {
    pub name: String,
}

/// A session that is loaded, or being loaded: others wait for the same load.
type Slot = Arc<OnceCell<SessionHandle>>;

/// All sessions of a home.
pub struct Supervisor {
    ground: Ground,
    catalog: Arc<Catalog>,
    pids: Arc<Pids>,
    loaded: Mutex<HashMap<SessionId, Slot>>,
    closing: AtomicBool,
    /// Keys that came with hellos, for sessions that are loaded later.
    offered: Mutex<BTreeMap<String, String>>,
}

impl Supervisor {
    /// Takes over the sessions of a home. `recover` has to be called before clients are let in.
    ///
    /// # Errors
    /// The system gives no thread for the catalog.
    pub fn new(
        home: Arc<Home>,
        catalog: Arc<Catalog>,
        pids: Arc<Pids>,
        assembly: Arc<dyn Assembly>,
    ) -> std::io::Result<Arc<Self>> {
        let feed = CatalogFeed::start(Arc::clone(&catalog))?;
        Ok(Arc::new(Self {
            ground: Ground {
                home,
                assembly,
                catalog: feed,
            },
            catalog,
            pids,
            loaded: Mutex::new(HashMap::new()),
            closing: AtomicBool::new(false),
            offered: Mutex::new(BTreeMap::new()),
        }))
    }

    /// Loads the sessions that have unfinished work, and lets them go on or end their turn.
    /// A session that cannot be loaded is told about in the log and keeps its marker.
    pub async fn recover(&self) {
        let home = Arc::clone(&self.ground.home);
        let marked = blocking(move || store::markers::list(&home)).await;
        let marked = match marked {
            Ok(Ok(marked)) => marked,
            Ok(Err(error)) => {
                return tracing::error!(%error, "the markers of unfinished sessions cannot be read");
            }
            Err(failure) => {
                return tracing::error!(%failure, "the markers of unfinished sessions cannot be read");
            }
        };
        for session in marked {
            match self.load(session, true).await {
                Ok(handle) => tracing::info!(%session, pid = %handle.pid(), "recovered"),
                Err(failure) => tracing::error!(%session, %failure, "not recovered"),
            }
        }
    }

    /// Makes a session, with its first prompt in the same commit. A repeat answers with the same session.
    ///
    /// # Errors
    /// `invalid_config`, `not_found` (model), `invalid_params`, `storage`, `shutting_down`.
    pub async fn create(
        &self,
        params: CreateParams,
        client: &Client,
    ) -> Result<CreateOutput, Failure> {
        self.refuse_when_closing()?;
        let (slot, known) = self.slot(params.session);
        if known || self.ground.home.session_dir(params.session).exists() {
            return self.created_before(&params).await;
        }
        let mut prompt_id = None;
        let made = slot
            .get_or_try_init(async || {
                let (handle, prompt) = self.bear(&params, client).await?;
                prompt_id = prompt;
                Ok::<_, Failure>(handle)
            })
            .await;
        match made {
            Ok(handle) => {
                let summary = handle.summary();
                Ok(CreateOutput {
                    session: handle.id(),
                    pid: handle.pid(),
                    model: summary.model,
                    prompt_id,
                })
            }
            Err(failure) => {
                self.forget(params.session);
                Err(failure)
            }
        }
    }

    /// The answer to a repeated create.
    async fn created_before(&self, params: &CreateParams) -> Result<CreateOutput, Failure> {
        let handle = self.load(params.session, false).await?;
        let summary = handle.summary();
        if summary.cwd != params.cwd {
            return Err(Failure::new(
                ErrorName::RequestIdReused,
                "A session with this id exists, in another directory.",
                "Make a new id for each session.",
            ));
        }
        let first = self
            .read(&ReadParams {
                session: handle.pid().to_string(),
                from_seq: Seq(1),
                limit: 8,
            })
            .await?;
        let prompt_id = first.events.iter().find_map(|event| match event.body() {
            Ok(proto::Body::PromptQueued(prompt)) => Some(prompt.prompt_id),
            _ => None,
        });
        Ok(CreateOutput {
            session: handle.id(),
            pid: handle.pid(),
            model: summary.model,
            prompt_id,
        })
    }

    async fn bear(
        &self,
        params: &CreateParams,
        client: &Client,
    ) -> Result<(SessionHandle, Option<PromptId>), Failure> {
        let cwd = PathBuf::from(&params.cwd);
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                format!("`{}` is no directory that exists.", params.cwd),
                "Give the absolute path of the directory to work in.",
            ));
        }
        if params
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.trim().is_empty())
        {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "The prompt is empty.",
                "Say what you want done.",
            ));
        }
        let setup = self.ground.assembly.create(&cwd, params.model.as_deref())?;
        let prefix = prefix::render(setup.codec.as_ref(), &setup.model, &setup.tools);
        let keys = Arc::new(Keys::default());
        keys.put(params.credentials.clone());
        let (pids, home, session) = (
            Arc::clone(&self.pids),
            Arc::clone(&self.ground.home),
            params.session,
        );
        let (pid, file) = blocking(move || {
            let pid = pids.next().map_err(|error| store::reason(&error))?;
            let file = LogFile::create(&home.session_dir(session))
                .map_err(|error| store::reason(&error))?;
            Ok::<_, String>((pid, file))
        })
        .await?
        .map_err(|reason| {
            Failure::new(
                ErrorName::Storage,
                reason,
                "Look at the disk: is it full, or read-only?",
            )
        })?;
        let created = self.first_record(params, &setup, &prefix, pid, &cwd);
        let notices = setup.notices.clone();
        let parts = Parts {
            created: created.clone(),
            file,
            index: store::log::Index::new(),
            facts: turn::Facts::default(),
            prefix,
            setup,
            keys,
            env: params.env.clone(),
            marked: false,
            read_only: None,
        };
        let (mut actor, inbox, handle) = load::build(&self.ground, parts).inspect_err(|_| {
            // Nobody was told of it: an empty directory would only be in the way.
            let dir = self.ground.home.session_dir(session);
            if let Err(error) = std::fs::remove_dir_all(&dir) {
                tracing::warn!(%error, dir = %dir.display(), "the directory of a session that was not made stays");
            }
        })?;
        let prompt = params.prompt.as_ref().map(|text| PromptQueued {
            prompt_id: PromptId::new(),
            text: text.clone(),
            steer: false,
            by: client.name.clone(),
            request_id: params.request_id,
        });
        let prompt_id = prompt.as_ref().map(|prompt| prompt.prompt_id);
        let (born, on_disk) = tokio::sync::oneshot::channel();
        actor.bear(created, notices, prompt, born);
        tokio::spawn(actor.run(inbox));
        match on_disk.await {
            Ok(written) => written?,
            Err(_) => {
                return Err(Failure::new(
                    ErrorName::Internal,
                    "The session ended before it began.",
                    "",
                ));
            }
        }
        Ok((handle, prompt_id))
    }

    fn first_record(
        &self,
        params: &CreateParams,
        setup: &crate::setup::Setup,
        prefix: &contract::Prefix,
        pid: Pid,
        cwd: &Path,
    ) -> SessionCreated {
        let user_home = self.ground.assembly.user_home();
        let root = setup
            .workspace_root
            .clone()
            .unwrap_or_else(|| opening::root_of(cwd, &user_home));
        let logged = |name: &str| LOGGED.contains(&name) || name.starts_with("LC_");
        let (env, others): (BTreeMap<_, _>, BTreeMap<_, _>) = params
            .env
            .clone()
            .into_iter()
            .partition(|(name, _)| logged(name));
        let on_ask = params.on_ask.unwrap_or(match params.kind {
            Kind::Headless => OnAsk::Sandboxed,
            Kind::Interactive => OnAsk::Wait,
        });
        SessionCreated {
            session: params.session,
            pid,
            ppid: Pid(0),
            epoch: 1,
            cwd: params.cwd.clone(),
            root: root.to_string_lossy().into_owned(),
            provider: setup.provider_name.clone(),
            provider_kind: setup.provider_kind.clone(),
            model: setup.model.clone(),
            context_window: setup.context_window,
            prefix_sha256: prefix::hash(prefix),
            kind: params.kind,
            posture: params.posture.unwrap_or(setup.posture),
            on_ask,
            name: params.name.clone(),
            labels: params.labels.clone(),
            max_steps: params.max_steps.unwrap_or(setup.max_steps),
            timeout_ms: params.timeout_ms.unwrap_or(0),
            rules: params.rules.clone(),
            env,
            env_names: others
                .into_keys()
                .chain(params.credentials.keys().cloned())
                .collect(),
            request_id: params.request_id,
            version: proto::VERSION.to_owned(),
        }
    }

    /// The session that a text names: a pid, a UUID, a unique prefix of at least 4 characters, or a name.
    ///
    /// # Errors
    /// `not_found` with near names, `ambiguous` with those that fit.
    pub async fn find(&self, text: &str) -> Result<SessionHandle, Failure> {
        let id = self.find_id(text).await?;
        self.load(id, false).await
    }

    async fn find_id(&self, text: &str) -> Result<SessionId, Failure> {
        // A loaded session may be younger than the catalog.
        if let Some(handle) = self.find_loaded(text) {
            return Ok(handle.id());
        }
        let (catalog, wanted) = (Arc::clone(&self.catalog), text.to_owned());
        self.ground.catalog.flush().await;
        match blocking(move || catalog.find(&wanted)).await? {
            Ok(Found::One(summary)) => Ok(summary.session),
            Ok(Found::Many(names)) => Err(Failure::new(
                ErrorName::Ambiguous,
                format!("`{text}` fits several sessions: {}.", names.join(", ")),
                "Give more of the id, or the pid.",
            )
            .with("candidates", names)),
            Ok(Found::None(nearest)) => {
                let hint = match nearest.first() {
                    Some(near) => {
                        format!("Did you mean `{near}`? `reasonix ls` lists the sessions.")
                    }
                    None => "`reasonix ls` lists the sessions.".to_owned(),
                };
                Err(Failure::new(
                    ErrorName::NotFound,
                    format!("There is no session `{text}`."),
                    hint,
                )
                .with("nearest", nearest))
            }
            Err(error @ CatalogError::BadName { .. }) => Err(Failure::new(
                ErrorName::NotFound,
                error.to_string(),
                "A session is named by its pid, its id, at least 4 characters of it, or its name.",
            )),
            Err(error) => Err(index_failure(&error)),
        }
    }

    fn find_loaded(&self, text: &str) -> Option<SessionHandle> {
        let handles = self.handles();
        let by_pid = text.parse::<u64>().ok();
        let by_id = text.parse::<SessionId>().ok();
        handles
            .into_iter()
            .find(|handle| by_pid == Some(handle.pid().0) || by_id == Some(handle.id()))
    }

    /// All loaded sessions.
    #[must_use]
    pub fn handles(&self) -> Vec<SessionHandle> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded
            .values()
            .filter_map(|slot| slot.get().cloned())
            .collect()
    }

    fn slot(&self, session: SessionId) -> (Slot, bool) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loaded.contains_key(&session);
        (Arc::clone(loaded.entry(session).or_default()), known)
    }

    fn forget(&self, session: SessionId) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded
            .get(&session)
            .is_some_and(|slot| slot.get().is_none())
        {
            loaded.remove(&session);
        }
    }

    async fn load(&self, session: SessionId, marked: bool) -> Result<SessionHandle, Failure> {
        self.refuse_when_closing()?;
        let (slot, _) = self.slot(session);
        let loaded = slot
            .get_or_try_init(|| self.read_in(session, marked))
            .await
            .cloned();
        if loaded.is_err() {
            self.forget(session);
        }
        loaded
    }

    async fn read_in(&self, session: SessionId, marked: bool) -> Result<SessionHandle, Failure> {
        let home = Arc::clone(&self.ground.home);
        let Read {
            file,
            index,
            facts,
            prefix,
            repair,
            read_only,
        } = blocking(move || load::read(&home, session)).await??;
        let Some(created) = facts.created.clone() else {
            return Err(Failure::new(
                ErrorName::Storage,
                "The log has no first record.",
                "",
            ));
        };
        let setup = self.ground.assembly.resume(&created);
        let keys = Arc::new(Keys::default());
        keys.put(
            self.offered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        );
        let recover = setup.recover;
        let env = created.env.clone();
        let parts = Parts {
            created,
            file,
            index,
            facts,
            prefix,
            setup,
            keys,
            env,
            marked,
            read_only,
        };
        let (mut actor, inbox, handle) = load::build(&self.ground, parts)?;
        actor.recover(recover, repair);
        tokio::spawn(actor.run(inbox));
        Ok(handle)
    }

    fn refuse_when_closing(&self) -> Result<(), Failure> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(Failure::new(
                ErrorName::ShuttingDown,
                "The daemon is stopping.",
                "Start it again, and repeat this.",
            )
            .retryable());
        }
        Ok(())
    }

    /// A session in short, without loading it.
    ///
    /// # Errors
    /// As `find`.
    pub async fn summary(&self, text: &str) -> Result<SessionSummary, Failure> {
        let id = self.find_id(text).await?;
        if let Some(handle) = self.handles().into_iter().find(|handle| handle.id() == id) {
            return Ok(handle.summary());
        }
        let catalog = Arc::clone(&self.catalog);
        let found = blocking(move || catalog.get(id))
            .await?
            .map_err(|error| index_failure(&error))?;
        match found {
            Some(summary) => Ok(summary),
            None => Ok(self.load(id, false).await?.summary()),
        }
    }

    /// A page of stored sessions, newest first.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub async fn list(&self, params: ListParams) -> Result<ListOutput, Failure> {
        self.ground.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let mut page = blocking(move || catalog.list(&params))
            .await?
            .map_err(|error| index_failure(&error))?;
        self.freshen(&mut page.sessions);
        Ok(page)
    }

    /// What runs, by pid; `all`: also what has exited.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub async fn processes(
        &self,
        params: proto::params::process::ListParams,
    ) -> Result<Vec<SessionSummary>, Failure> {
        self.ground.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let all = params.all;
        let mut found = blocking(move || catalog.processes(&params))
            .await?
            .map_err(|error| index_failure(&error))?;
        self.freshen(&mut found);
        found.retain(|summary| all || summary.state != State::Exited);
        Ok(found)
    }

    /// Loaded sessions know more than the catalog.
    fn freshen(&self, summaries: &mut [SessionSummary]) {
        let fresh: HashMap<_, _> = self
            .handles()
            .into_iter()
            .map(|handle| (handle.id(), handle.summary()))
            .collect();
        for summary in summaries {
            if let Some(fresh) = fresh.get(&summary.session) {
                summary.clone_from(fresh);
            }
        }
    }

    /// Open questions, oldest first. Sessions with questions are always loaded.
    #[must_use]
    pub fn approvals(&self) -> Vec<Approval> {
        let mut open: Vec<_> = self
            .handles()
            .iter()
            .flat_map(SessionHandle::pending)
            .collect();
        open.sort_by_key(|approval| approval.asked_at);
        open
    }

    /// The session that a question belongs to.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn of_approval(&self, id: &ApprovalId) -> Result<SessionHandle, Failure> {
        let pid = id.0.split_once('.').map_or("", |(pid, _)| pid);
        match pid.parse::<u64>() {
            Ok(_) => self.find(pid).await,
            Err(_) => Err(Failure::new(
                ErrorName::NotFound,
                format!("There is no approval `{id}`."),
                "`reasonix inbox` lists what waits; ids look like `3.1`.",
            )),
        }
    }

    /// A page of durable events.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn read(&self, params: &ReadParams) -> Result<ReadOutput, Failure> {
        let handle = self.find(&params.session).await?;
        let limit = if params.limit == 0 {
            200
        } else {
            params.limit.min(10_000)
        };
        let epoch = handle.epoch();
        let lines = handle.lines(params.from_seq).await?;
        let Some((file, offset, len, pid)) = lines else {
            return Ok(ReadOutput {
                events: Vec::new(),
                next: None,
                epoch,
            });
        };
        let published = follow::read_lines(file, offset, len, pid).await?;
        let durable = handle.summary().seq;
        let mut events = Vec::new();
        for event in published
            .iter()
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
        {
            let event: Event = serde_json::from_str(&event.text).map_err(|error| {
                Failure::new(
                    ErrorName::Storage,
                    format!("an event is not readable: {error}"),
                    "",
                )
            })?;
            events.push(event);
        }
        let next = events
            .last()
            .and_then(|event| event.seq)
            .map(Seq::next)
            .filter(|next| *next <= durable);
        Ok(ReadOutput {
            events,
            next,
            epoch,
        })
    }

    /// Offers keys to all sessions, and to those that are loaded later.
    pub async fn offer(&self, credentials: BTreeMap<String, String>) {
        if credentials.is_empty() {
            return;
        }
        self.offered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(credentials.clone());
        for handle in self.handles() {
            handle.credentials(credentials.clone()).await;
        }
    }

    /// Whether any session has something to do without a person.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.handles()
            .iter()
            .any(|handle| matches!(handle.summary().state, State::Running | State::Waiting))
    }

    /// How many sessions there are.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub async fn counts(&self) -> Result<proto::params::daemon::SessionCounts, Failure> {
        self.ground.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let stored = blocking(move || catalog.count())
            .await?
            .map_err(|error| index_failure(&error))?;
        let loaded = self.handles();
        let of = |state| {
            loaded
                .iter()
                .filter(|handle| handle.summary().state == state)
                .count() as u64
        };
        Ok(proto::params::daemon::SessionCounts {
            stored,
            loaded: loaded.len() as u64,
            running: of(State::Running),
            waiting: of(State::Waiting),
        })
    }

    /// Throws the catalog away and makes it again from the logs. Answers with the number of sessions, and those that
    /// could not be read.
    ///
    /// # Errors
    /// The catalog cannot be written.
    pub async fn rebuild(&self) -> Result<(u64, Vec<String>), Failure> {
        let catalog = Arc::clone(&self.catalog);
        blocking(move || catalog.clear())
            .await?
            .map_err(|error| index_failure(&error))?;
        self.fill().await
    }

    /// Takes every session into the catalog that has a log and is not in it.
    ///
    /// # Errors
    /// The catalog cannot be written.
    pub async fn fill(&self) -> Result<(u64, Vec<String>), Failure> {
        let live: HashMap<_, _> = self
            .handles()
            .into_iter()
            .map(|handle| (handle.id(), handle.summary()))
            .collect();
        let (catalog, home) = (Arc::clone(&self.catalog), Arc::clone(&self.ground.home));
        let filled = blocking(move || {
            let known: std::collections::HashSet<_> = catalog.ids()?.into_iter().collect();
            let (mut summaries, mut failed) = (Vec::new(), Vec::new());
            for session in home
                .session_ids()?
                .into_iter()
                .filter(|session| !known.contains(session))
            {
                match live
                    .get(&session)
                    .cloned()
                    .map_or_else(|| read_summary(&home, session), Ok)
                {
                    Ok(summary) => summaries.push(summary),
                    Err(reason) => failed.push(format!("{session}: {reason}")),
                }
            }
            catalog.put_all(&summaries)?;
            catalog.mark_filled()?;
            Ok::<_, CatalogError>((summaries.len() as u64, failed))
        });
        filled.await?.map_err(|error| index_failure(&error))
    }

    /// Takes no more work, stops what runs, writes what there is.
    pub async fn shutdown(&self) {
        self.closing.store(true, Ordering::Relaxed);
        let handles = self.handles();
        futures::future::join_all(handles.iter().map(SessionHandle::shutdown)).await;
        self.ground.catalog.flush().await;
    }
}

/// Reads a log only to list it.
fn read_summary(home: &Home, session: SessionId) -> Result<SessionSummary, String> {
    let mut facts = turn::Facts::default();
    let scan = store::log::read(&home.session_dir(session), &mut |raw| {
        if let Ok(record) = raw.record() {
            facts.apply(&record);
        }
    });
    scan.map_err(|error| store::reason(&error))?;
    summary::of(&facts, 0, None).ok_or_else(|| "it has no first record".to_owned())
}

fn index_failure(error: &CatalogError) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!(
            "The catalog of sessions cannot be used: {}",
            store::reason(error)
        ),
        "Run `reasonix doctor --rebuild-index`: it is made again from the logs.",
    )
}

/// Runs what blocks on a thread that may.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Failure::new(
            ErrorName::Internal,
            format!("the daemon has a bug: {error}"),
            "",
        )
    })
}
