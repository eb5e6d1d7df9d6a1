//! All sessions of a home: which are loaded, how one is loaded, recovered, put away. Making one is `birth`, finding and
//! listing are `listing`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use proto::params::session::SessionSummary;
use proto::state::State;
use proto::{ErrorName, Failure, SessionId};
use store::catalog::Catalog;
use store::home::Home;
use store::pids::Pids;
use tokio::sync::watch;

use crate::actor::{Actor, Inbox};
use crate::catalog::CatalogFeed;
use crate::evict::Residence;
use crate::handle::SessionHandle;
use crate::heal;
use crate::load::{self, Ground, Parts, Read};
use crate::parting::{Cloakroom, Kept};
use crate::setup::Assembly;
use crate::slots::Slots;

/// How long a log and its directory may take to answer.
const READING_MAX: Duration = Duration::from_secs(60);
/// An actor that died sooner than this is not brought back by itself.
const LIFE_MIN: Duration = Duration::from_secs(10);

/// A client, as far as a session is told of it.
#[derive(Clone, Debug)]
pub struct Client {
    pub name: String,
}

/// All sessions of a home.
pub struct Supervisor {
    pub(crate) me: Weak<Self>,
    pub(crate) ground: Ground,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Slots,
    /// What those need that have left memory.
    pub(crate) kept: Cloakroom,
    pub(crate) residence: Residence,
    /// A look for idle sessions is about to begin.
    pub(crate) sweeping: AtomicBool,
    closing: AtomicBool,
    /// Whether the catalog has every session: answers about stored ones wait for it.
    pub(crate) filled: watch::Sender<bool>,
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
        Self::with(home, catalog, pids, assembly, Residence::default())
    }

    /// As `new`, with other bounds on what stays in memory.
    ///
    /// # Errors
    /// As `new`.
    pub fn with(
        home: Arc<Home>,
        catalog: Arc<Catalog>,
        pids: Arc<Pids>,
        assembly: Arc<dyn Assembly>,
        residence: Residence,
    ) -> std::io::Result<Arc<Self>> {
        let feed = CatalogFeed::start(Arc::clone(&catalog))?;
        Ok(Arc::new_cyclic(|me| Self {
            me: me.clone(),
            ground: Ground {
                home,
                assembly,
                catalog: feed,
                pids,
                supervisor: me.clone(),
            },
            catalog,
            slots: Slots::default(),
            kept: Cloakroom::default(),
            residence,
            sweeping: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            filled: watch::Sender::new(true),
            offered: Mutex::new(BTreeMap::new()),
        }))
    }

    /// Loads the sessions that have unfinished work, and lets them go on or end their turn.
    /// A session that cannot be loaded is told about in the log and keeps its marker.
    pub async fn recover(&self) {
        self.sweep_by_time();
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

    /// All loaded sessions.
    #[must_use]
    pub fn handles(&self) -> Vec<SessionHandle> {
        self.slots.handles()
    }

    pub(crate) async fn load(
        &self,
        session: SessionId,
        marked: bool,
    ) -> Result<SessionHandle, Failure> {
        self.refuse_when_closing()?;
        let slot = self.slots.claim(session);
        let load = async || match slot.before().await {
            Some(handle) => Ok(handle),
            None => self.read_in(session, marked).await,
        };
        slot.cell.get_or_try_init(load).await.cloned()
    }

    async fn read_in(&self, session: SessionId, marked: bool) -> Result<SessionHandle, Failure> {
        let ground = self.ground.clone();
        let kept = self.kept.take(session);
        let keys = kept
            .as_ref()
            .map_or_else(Arc::default, |kept| Arc::clone(&kept.keys));
        let lost = kept
            .as_ref()
            .map(|kept| kept.env.clone())
            .unwrap_or_default();
        let marked = marked || kept.as_ref().is_some_and(|kept| kept.marked);
        keys.fill(
            self.offered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        );
        let read = blocking(move || {
            let Read {
                file,
                index,
                facts,
                prefix,
                repair,
                read_only,
                missed,
            } = load::read(&ground, session)?;
            let Some(created) = facts.created.clone() else {
                return Err(Failure::new(
                    ErrorName::Storage,
                    "The log has no first record.",
                    "",
                ));
            };
            let setup = ground.assembly.resume(&created);
            let recover = setup.recover;
            let mut env = created.env.clone();
            env.extend(lost);
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
                missed,
            };
            let (actor, inbox, handle) = load::build(&ground, parts)?;
            Ok((actor, inbox, handle, recover, repair))
        });
        let Ok(read) = tokio::time::timeout(READING_MAX, read).await else {
            self.keep(session, kept);
            return Err(Failure::new(
                ErrorName::Storage,
                format!("The log or the directory of session {session} does not answer."),
                "Look at the disk that they stand on, and try again.",
            )
            .retryable());
        };
        let (mut actor, inbox, handle, recover, repair) = match read.and_then(|read| read) {
            Ok(read) => read,
            Err(failure) => {
                self.keep(session, kept);
                return Err(failure);
            }
        };
        let word = kept.as_ref().and_then(|kept| kept.word.clone());
        if let Some(kept) = kept {
            actor.take_over(kept);
        }
        let words: Vec<_> = word.into_iter().chain(repair).collect();
        actor.recover(recover, (!words.is_empty()).then(|| words.join(" ")));
        self.house(&handle, actor, inbox);
        Ok(handle)
    }

    /// What an earlier life left waits for the next one that comes to be.
    fn keep(&self, session: SessionId, kept: Option<Kept>) {
        if let Some(kept) = kept {
            self.kept.put(session, kept);
        }
    }

    /// Lets an actor live, and clears up after it. One that dies of a bug takes nobody with it: its processes end with
    /// it, and its session is read from its log again.
    pub(crate) fn house(&self, handle: &SessionHandle, actor: Actor, inbox: Inbox) {
        let (me, session, born) = (self.me.clone(), handle.id(), Instant::now());
        let (seen, shared) = (handle.shared.seen.clone(), Arc::downgrade(&handle.shared));
        let mut life = tokio::spawn(actor.run(inbox));
        self.sweep_when_crowded();
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = &mut life => ended,
                // Its end is only heard here: nothing that it has begun is dropped with it.
                () = heal::tend(me.clone(), session, seen) => life.await,
            };
            let Err(error) = ended else { return };
            tracing::error!(%session, %error, "a session's actor died of a bug; the session is read from its log again");
            let Some(supervisor) = me.upgrade() else {
                return;
            };
            supervisor.slots.remove(session, |loaded| {
                std::ptr::eq(Arc::as_ptr(&loaded.shared), shared.as_ptr())
            });
            // One that dies at once would die again: it waits until somebody asks for it.
            if born.elapsed() > LIFE_MIN
                && let Err(failure) = supervisor.load(session, true).await
            {
                tracing::error!(%session, %failure, "the session could not be read again");
            }
        });
    }

    pub(crate) fn refuse_when_closing(&self) -> Result<(), Failure> {
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
        // What cannot be written does not go on, whatever its last state says.
        let works = |summary: &SessionSummary| {
            summary.read_only.is_none() && matches!(summary.state, State::Running | State::Waiting)
        };
        self.handles().iter().any(|handle| works(&handle.summary()))
    }

    /// Takes no more work, stops what runs, writes what there is.
    pub async fn shutdown(&self) {
        self.closing.store(true, Ordering::Relaxed);
        let handles = self.handles();
        futures::future::join_all(handles.iter().map(SessionHandle::shutdown)).await;
        self.slots.left().await;
        self.ground.catalog.flush().await;
    }
}

impl Supervisor {
    /// Takes no more work, and puts every session to sleep before its next step: the next daemon goes on with them.
    /// Those that do not get there within `patience` are stopped as by `shutdown`. Writes what there is.
    pub async fn hand_over(&self, patience: Duration) {
        self.closing.store(true, Ordering::Relaxed);
        let handles = self.handles();
        let leaving = handles.iter().map(|handle| async move {
            if tokio::time::timeout(patience, handle.suspend()).await.is_err() {
                tracing::warn!(session = %handle.id(), "not suspended in time; its turn is stopped");
            }
            handle.shutdown().await;
        });
        futures::future::join_all(leaving).await;
        self.ground.catalog.flush().await;
    }
}

/// Runs what blocks on a thread that may.
pub(crate) async fn blocking<T: Send + 'static>(
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
