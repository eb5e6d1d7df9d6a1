//! All sessions of a home: created, loaded, recovered, evicted, listed. Owns the sessions in memory, and the kept state of
//! those that were evicted.

pub(crate) mod agents;
pub(crate) mod build;
pub(crate) mod commands;
mod create;
pub(crate) mod delete;
mod ephemeral;
pub(crate) mod eviction;
pub(crate) mod export;
pub(crate) mod fork;
mod instructions;
pub(crate) mod listing;
pub(crate) mod load;
mod memory;
pub(crate) mod model_switch;
mod past_messages;
pub(crate) mod permissions;
mod prefixes;
pub(crate) mod prune;
pub(crate) mod reload;
mod reopen;
pub(crate) mod search;
mod skills;
pub(crate) mod slots;
pub(crate) mod stats;
mod symbols;
mod unrecovered;
pub(crate) mod views;
mod workspaces;
pub(crate) mod worktrees;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures::StreamExt;
use history_index::HistoryFeed;
use proto::params::session::SessionSummary;
use proto::state::State;
use proto::{ErrorName, Failure, Pid, RequestId, SessionId};
use store::catalog::Catalog;
use store::home::Home;
use store::pids::PidCounter;
use tokio::sync::{OnceCell, watch};

use crate::actor::departure::{UnloadedSessions, UnloadedState};
use crate::actor::handle::SessionHandle;
use crate::actor::{Actor, Inbox};
use crate::assembly::setup::Assembly;
use crate::journal::catalog_feed::CatalogFeed;
use crate::request::budget::Ledger;
use crate::request::keys::Keys;
use crate::supervisor::agents::{AgentPlaces, WatchedAgents};
use crate::supervisor::eviction::ResidencyLimits;
use crate::supervisor::export::Exported;
use crate::supervisor::load::{Before, RestoredActor, SessionServices};
use crate::supervisor::slots::Slots;
use crate::tasks::{self, blocking, shutting_down};
use crate::viewers::attendance::Attendance;
use crate::viewers::list_changes::ListChanges;
use crate::viewers::queue_bytes::AllQueues;

/// How long a log and its directory may take to answer.
const READING_MAX: Duration = Duration::from_secs(60);
/// Sessions that are recovered side by side: one whose disk hangs does not delay the others (I34).
const RECOVERED_AT_ONCE: usize = 8;
/// How long after it was read a session in a turn knows at the latest whether it lacks a key.
const KEYS_KNOWN_AFTER: Duration = Duration::from_secs(5);
/// An actor that died sooner than this is not brought back by itself.
const LIFE_MIN: Duration = Duration::from_secs(10);

/// A client, as far as a session is notified of it.
#[derive(Clone, Debug)]
pub struct Client {
    pub name: String,
}

/// All sessions of a home.
pub struct Supervisor {
    pub(crate) me: Weak<Self>,
    pub(crate) services: SessionServices,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) slots: Slots,
    /// What those need that have left memory.
    pub(crate) kept: UnloadedSessions,
    pub(crate) residency_limits: ResidencyLimits,
    /// The export that was written last.
    pub(crate) exported: Exported,
    /// A look for idle sessions is about to begin.
    pub(crate) sweeping: AtomicBool,
    closing: AtomicBool,
    /// Sessions with unfinished work are read, or have not yet found out whether they lack a key.
    recovering: AtomicBool,
    /// The catalog was read through: the first question to it waits for that.
    pub(crate) checked: OnceCell<()>,
    /// Whether the catalog has every session: answers about stored ones wait for it.
    pub(crate) filled: watch::Sender<bool>,
    /// Those that are tried again.
    unrecovered: unrecovered::Unrecovered,
    /// Keys that came with hellos, for sessions that are loaded later.
    offered: Arc<Keys>,
    /// How many sub-agents of each session run.
    pub(crate) places: Arc<AgentPlaces>,
    /// The sub-agents in the background whose results are still to come.
    pub(crate) watched_agents: WatchedAgents,
    /// Worktrees are made and ended one at a time: git's commands on them fail while another makes one, and several tasks
    /// may notice the end of one session.
    pub(crate) worktree_turn: tokio::sync::Semaphore,
    /// Distinguishes the worktrees of this process from those that an earlier one left.
    pub(crate) instance: RequestId,
}

impl Supervisor {
    /// Takes over the sessions of a home. `recover` has to be called when clients are let in, or before.
    ///
    /// # Errors
    /// The system gives no thread for the catalog.
    pub fn new(
        home: Arc<Home>,
        catalog: Arc<Catalog>,
        pids: Arc<PidCounter>,
        assembly: Arc<dyn Assembly>,
    ) -> std::io::Result<Arc<Self>> {
        Self::with(home, catalog, pids, assembly, ResidencyLimits::default())
    }

    /// As `new`, with other bounds on what stays in memory.
    ///
    /// # Errors
    /// As `new`.
    pub fn with(
        home: Arc<Home>,
        catalog: Arc<Catalog>,
        pids: Arc<PidCounter>,
        assembly: Arc<dyn Assembly>,
        residency_limits: ResidencyLimits,
    ) -> std::io::Result<Arc<Self>> {
        let feed = CatalogFeed::start(Arc::clone(&catalog))?;
        // Before clients are let in: what they are asked for depends on it.
        let has_unfinished = store::markers::list(&home).is_ok_and(|marked| !marked.is_empty());
        let offered = Arc::new(Keys::restored(None, assembly.key_keeper()));
        Ok(Arc::new_cyclic(|me| Self {
            me: me.clone(),
            services: SessionServices {
                history: HistoryFeed::new(Arc::clone(&home)),
                home,
                ledger: Arc::new(Ledger::new(Arc::clone(&assembly), me.clone())),
                assembly,
                catalog: feed,
                pids,
                supervisor: me.clone(),
                texts: Arc::default(),
                queues: AllQueues::default(),
                changes: ListChanges::default(),
                attendance: Attendance::default(),
            },
            catalog,
            slots: Slots::default(),
            kept: UnloadedSessions::default(),
            residency_limits,
            exported: Exported::default(),
            sweeping: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            recovering: AtomicBool::new(has_unfinished),
            checked: OnceCell::new(),
            filled: watch::Sender::new(true),
            unrecovered: unrecovered::Unrecovered::default(),
            offered,
            places: Arc::default(),
            watched_agents: WatchedAgents::default(),
            worktree_turn: tokio::sync::Semaphore::new(1),
            instance: RequestId::new(),
        }))
    }

    /// Loads the sessions that have unfinished work, and lets them go on or end their turn.
    /// A session that cannot be loaded is reported in the log, keeps its marker, and is tried again.
    pub async fn recover(&self) {
        self.sweep_by_time();
        self.index_history_later();
        let there = self.sweep_gone().await;
        self.sweep_uncreated(there).await;
        self.sweep_ephemeral_at_start().await;
        self.discard_left_worktrees().await;
        let home = Arc::clone(&self.services.home);
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
        let bring_back = async |session| match self.load(session).await {
            Ok(handle) => {
                tracing::info!(%session, pid = %handle.pid(), "recovered");
                // Keys that came while it was read.
                handle.fill_keys(Arc::clone(&self.offered)).await;
            }
            Err(failure) => {
                tracing::error!(%session, %failure, "not recovered");
                self.unmark_what_is_gone(session).await;
                if !matches!(self.is_marked(session).await, Ok(false)) {
                    self.recover_later(session, &failure);
                }
            }
        };
        futures::stream::iter(marked)
            .for_each_concurrent(RECOVERED_AT_ONCE, bring_back)
            .await;
        self.recovered_soon();
        self.end_lost_agents().await;
        self.watch_background_agents().await;
        self.settle_left_worktrees().await;
    }

    /// The sessions are read: soon each of them knows whether it lacks a key.
    fn recovered_soon(&self) {
        let me = self.me.clone();
        tasks::spawn(async move {
            tokio::time::sleep(KEYS_KNOWN_AFTER).await;
            if let Some(supervisor) = me.upgrade() {
                supervisor.recovering.store(false, Ordering::Relaxed);
            }
        });
    }

    /// A marker of a session that has no directory would be looked at in vain at every start.
    async fn unmark_what_is_gone(&self, session: SessionId) {
        let home = Arc::clone(&self.services.home);
        let unmarked = blocking(move || match home.session_dir(session).try_exists() {
            Ok(false) => store::markers::unmark(&home, session),
            Ok(true) | Err(_) => Ok(()),
        });
        if let Ok(Err(error)) = unmarked.await {
            tracing::error!(%session, %error, "the marker of a session that is gone stays");
        }
    }

    /// All loaded sessions.
    #[must_use]
    pub fn handles(&self) -> Vec<SessionHandle> {
        self.slots.handles()
    }

    pub(crate) async fn load(&self, session: SessionId) -> Result<SessionHandle, Failure> {
        self.refuse_when_closing()?;
        if let Some(handle) = self.slots.loaded(session) {
            return Ok(handle);
        }
        let Some(me) = self.me.upgrade() else {
            return Err(shutting_down());
        };
        // In a task of its own: half a load, because a client went away, would leave the log locked for a while and
        // lose the state kept from the life before.
        let loading = tasks::shielded(async move {
            let slot = me.slots.claim(session);
            let load = async || match slot.before().await {
                Some(handle) => Ok(handle),
                None => me.read_in(session).await,
            };
            let loaded = slot.cell.get_or_try_init(load).await.cloned();
            drop(slot);
            me.unless_closing(loaded?).await
        });
        loading.await?
    }

    /// A session that has just come into memory, unless the daemon is stopping: then it ends like all the others, who
    /// were stopped before it could be seen. Called when the claim on its slot is given back: under the same lock the
    /// others are looked up, so one of the two sees the other.
    pub(crate) async fn unless_closing(
        &self,
        handle: SessionHandle,
    ) -> Result<SessionHandle, Failure> {
        if let Err(refusal) = self.refuse_when_closing() {
            handle.shutdown().await;
            return Err(refusal);
        }
        Ok(handle)
    }

    pub(crate) async fn read_in(&self, session: SessionId) -> Result<SessionHandle, Failure> {
        let services = self.services.clone();
        let kept = self.kept.take(session);
        let from = match &kept {
            Some(kept) => Before {
                keys: Arc::clone(&kept.keys),
                env: kept.env.clone(),
            },
            None => Before {
                keys: Arc::new(Keys::restored(
                    Some(session),
                    services.assembly.key_keeper(),
                )),
                env: BTreeMap::new(),
            },
        };
        from.keys.fill_from(&self.offered);
        let catalog = Arc::clone(&self.catalog);
        let read = blocking(move || {
            let known = catalog.get(session).inspect_err(
                |error| tracing::warn!(%session, %error, "the catalog cannot be read"),
            );
            let known = known.ok().flatten().map(|summary| summary.seq);
            load::revive(&services, session, from, known)
        });
        let read = match tokio::time::timeout(READING_MAX, read).await {
            Ok(read) => read.and_then(|read| read),
            Err(_) => Err(Failure::new(
                ErrorName::Storage,
                format!("The log or the directory of session {session} does not answer."),
                "Check the disk that holds them, then try again.",
            )
            .retryable()),
        };
        // Not loaded only to be stopped: a suspended session stays suspended for the next daemon.
        let read = read.and_then(|revived| self.refuse_when_closing().map(|()| revived));
        let RestoredActor {
            mut actor,
            inbox,
            handle,
            recover,
            repairs,
            shortened,
        } = match read {
            Ok(revived) => revived,
            Err(failure) => {
                self.keep(session, kept);
                return Err(self.deleted(session).await.unwrap_or(failure));
            }
        };
        let word = kept.as_ref().and_then(|kept| kept.word.clone());
        match kept {
            Some(kept) => actor.take_over(kept),
            // The first time that this daemon loads it. Nobody waits: the findings come as a message.
            None => tasks::spawn_blocking(actor.leftovers()),
        }
        let notices = word.into_iter().chain(repairs).collect();
        actor.recover(recover, shortened, notices);
        self.house(&handle, actor, inbox);
        Ok(handle)
    }

    /// The failure of a request for a session that has no directory: it was deleted, and the catalog may not know yet.
    async fn deleted(&self, session: SessionId) -> Option<Failure> {
        let dir = self.services.home.session_dir(session);
        let gone = blocking(move || matches!(dir.try_exists(), Ok(false)));
        gone.await.ok().filter(|gone| *gone)?;
        Some(Failure::new(
            ErrorName::NotFound,
            format!("Session {session} no longer exists."),
            "List sessions with `reasonix ls`.",
        ))
    }

    /// What an earlier life left waits for the next one that comes to be.
    fn keep(&self, session: SessionId, kept: Option<UnloadedState>) {
        if let Some(kept) = kept {
            self.kept.put(session, kept);
        }
    }

    /// Lets an actor live, and clears up after it. One that dies of a bug takes nobody with it: its processes end with
    /// it, and its session is read from its log again.
    pub(crate) fn house(&self, handle: &SessionHandle, actor: Actor, inbox: Inbox) {
        let (me, session, started) = (self.me.clone(), handle.id(), Instant::now());
        let (seen, shared) = (handle.shared.seen.clone(), Arc::downgrade(&handle.shared));
        let tending = futures::future::join(
            reopen::tend(me.clone(), session, seen.clone()),
            worktrees::tend(me.clone(), session, seen),
        );
        let mut life = tasks::spawn(Box::new(actor).run(inbox));
        self.sweep_when_crowded();
        tasks::spawn(async move {
            let ended = tokio::select! {
                ended = &mut life => ended,
                // Its end is only heard here: nothing that it has begun is dropped with it.
                ((), ()) = tending => life.await,
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
            if started.elapsed() > LIFE_MIN
                && let Err(failure) = supervisor.load(session).await
            {
                tracing::error!(%session, %failure, "the session could not be read again");
            }
        });
    }

    pub(crate) fn refuse_when_closing(&self) -> Result<(), Failure> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(shutting_down());
        }
        Ok(())
    }

    /// The variables whose keys sessions wait for; while they are recovered also those that they may wait for in a
    /// moment: whoever connects first may be the only one who has a key.
    #[must_use]
    pub fn wanted_keys(&self) -> BTreeSet<String> {
        let soon = self.recovering.load(Ordering::Relaxed);
        let handles = self.handles().into_iter();
        handles
            .filter_map(|handle| handle.wanted_key(soon))
            .collect()
    }

    /// Whether sessions with unfinished work are not all read yet, so that nobody knows which keys they need.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        self.recovering.load(Ordering::Relaxed)
    }

    /// Offers keys to all sessions, and to those that are loaded later.
    pub async fn offer(&self, credentials: BTreeMap<String, String>) {
        if credentials.is_empty() {
            return;
        }
        self.offered.put(credentials.clone());
        for handle in self.handles() {
            handle.credentials(credentials.clone()).await;
        }
    }

    /// Says to the session that owns it that somebody is about to end this command in the background.
    pub async fn child_killed(&self, session: Pid, child: Pid, by: String) {
        let loaded = self
            .handles()
            .into_iter()
            .find(|handle| handle.pid() == session);
        if let Some(handle) = loaded {
            // One that has just left memory has no commands any more.
            let _ = handle.child_killed(child, by).await;
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

    /// Takes no more work, stops running work, writes what is pending.
    pub async fn shutdown(&self) {
        self.closing.store(true, Ordering::Relaxed);
        let ends = self.slots.everybody().into_iter().map(|who| async move {
            if let Some(handle) = who.await {
                handle.shutdown().await;
            }
        });
        futures::future::join_all(ends).await;
        self.services.catalog.flush().await;
        let pids = Arc::clone(&self.services.pids);
        if let Ok(Err(error)) = blocking(move || pids.put_back()).await {
            tracing::warn!(%error, "some pids are skipped");
        }
    }

    /// Takes no more work, and puts every session to sleep before its next step: the next daemon goes on with them.
    /// Those that do not get there within `patience` are stopped as by `shutdown`. Writes what there is.
    pub async fn hand_over(&self, patience: Duration) {
        self.closing.store(true, Ordering::Relaxed);
        let leaving = self.slots.everybody().into_iter().map(|who| async move {
            let Some(handle) = who.await else { return };
            let waited = tokio::time::timeout(patience, handle.suspend(false)).await;
            if waited.is_err() {
                tracing::info!(session = %handle.id(), "not at a safe point in time: what runs is cut off");
                handle.suspend(true).await;
            }
            handle.shutdown().await;
        });
        futures::future::join_all(leaving).await;
        self.services.catalog.flush().await;
    }
}

/// A failure of the disk or the store.
fn storage(reason: String) -> Failure {
    Failure::new(
        ErrorName::Storage,
        reason,
        "Check whether the disk is full, read-only or missing; `reasonix doctor` shows problems of the store.",
    )
}
