//! The requests that other parts of the daemon may make of a session. Cheap to clone; the session outlives all of them.
//!
//! Requests with a file in `commands` are there, beside what the actor does for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use proto::hello::Role;
use proto::params::Empty;
use proto::params::forecast::Forecast;
use proto::params::hook::ListOutput;
use proto::params::interaction::{AnswerParams, Interaction};
use proto::params::session::{
    AttachOutput, AttachParams, InspectOutput, InspectPart, SessionSummary, Until, WaitOutput,
};
use proto::record::SessionSet;
use proto::state::{State, WaitingFor};
use proto::{ErrorName, Failure, Pid, Seq, SessionId};
use tokio::sync::{mpsc, oneshot, watch};

use crate::actor::Actor;
use crate::actor::commands::follow::Follow;
use crate::actor::commands::interactions::PendingAnswer;
use crate::actor::inbox::{Command, Page, Reply};
use crate::calls::external_changes::Notes;
use crate::calls::instructions::InstructionWatch;
use crate::journal::Closed;
use crate::request::blocks::RequestComposition;
use crate::request::in_flight::Material;
use crate::request::keys::Keys;
use crate::tasks;
use crate::viewers::fanout::{Follower, Join, Joined, Start};

mod prompts;

/// How long a client waits for an attempt to reopen a session. The attempt goes on without the client.
const REOPEN_WAIT: Duration = Duration::from_secs(5);

/// Brings closed sessions back.
pub(crate) trait Reopen: Send + Sync {
    /// The new life of a closed session. `None`: it stays closed.
    fn reopen(self: Arc<Self>, old: SessionHandle) -> BoxFuture<'static, Option<SessionHandle>>;
}

/// A loaded session.
#[derive(Clone)]
pub struct SessionHandle {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub id: SessionId,
    pub pid: Pid,
    pub epoch: u64,
    pub commands: mpsc::Sender<Command>,
    /// The state after the newest durable record.
    pub seen: watch::Receiver<PublishedState>,
    pub activity: Arc<Activity>,
    /// Brings the session back if it is closed.
    pub reopen: Weak<dyn Reopen>,
    /// When it was last tried to bring it back.
    pub tried: tokio::sync::Mutex<Option<Instant>>,
    pub notes: Notes,
    pub instructions: Arc<InstructionWatch>,
    /// Whether facts that fit a prompt come with it.
    pub recalls: bool,
}

/// When anything happened in a session.
pub(crate) struct Activity(Mutex<Instant>);

impl Default for Activity {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Activity {
    pub fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State of a session that is known without asking its actor.
#[derive(Clone, Debug)]
pub struct PublishedState {
    pub summary: SessionSummary,
    /// Interactions that wait for the user.
    pub interactions: Vec<Interaction>,
    /// A turn is open, whether anything goes on in it or not.
    pub(crate) in_turn: bool,
    /// The variable that holds the key of its provider.
    pub(crate) key_variable: Option<String>,
    /// Why the session is read-only, if it is.
    pub(crate) closed: Option<Closed>,
}

/// Who attaches, and how.
pub struct Attach {
    pub name: String,
    pub role: Role,
    pub interactive: bool,
    pub params: AttachParams,
}

impl SessionHandle {
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.shared.id
    }

    #[must_use]
    pub fn pid(&self) -> Pid {
        self.shared.pid
    }

    /// The newest durable record.
    pub(crate) fn newest(&self) -> Seq {
        self.shared.seen.borrow().summary.seq
    }

    /// The session in short, as of its newest durable record.
    #[must_use]
    pub fn summary(&self) -> SessionSummary {
        self.shared.seen.borrow().summary.clone()
    }

    /// Whether the session has work left, also if that waits for the user or for the end of a pause.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        let seen = self.shared.seen.borrow();
        let summary = &seen.summary;
        // What cannot be written does not go on, whatever its last state says.
        let moves = summary.read_only.is_none();
        let open = seen.in_turn || matches!(summary.state, State::Running | State::Waiting);
        let waits = summary.queued > 0 || summary.goal.is_some();
        moves && (open || waits && summary.state != State::Exited)
    }

    /// The variable whose key it waits for, if it waits for one. `soon`: also if it is in a turn, and may find out that
    /// it has none.
    #[must_use]
    pub(crate) fn wanted_key(&self, soon: bool) -> Option<String> {
        let seen = self.shared.seen.borrow();
        let waits = seen.summary.waiting_for == Some(WaitingFor::Credentials);
        let key_variable = seen.key_variable.clone();
        key_variable.filter(|_| waits || soon && seen.in_turn)
    }

    /// Interactions of the session that wait for the user.
    #[must_use]
    pub fn interactions(&self) -> Vec<Interaction> {
        self.shared.seen.borrow().interactions.clone()
    }

    /// Has the actor change something. If the session is closed and can be repaired now, in its new life.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        command: impl FnOnce(&mut Actor, Reply<T>) + Send + 'static,
    ) -> Result<T, Failure> {
        self.reopened().await.ask(command).await
    }

    /// Has the actor do something that a closed session can do too.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        command: impl FnOnce(&mut Actor, Reply<T>) + Send + 'static,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let command = Box::new(|actor: &mut Actor| command(actor, reply));
        match self.send(command).await {
            true => answer.await.map_err(|_| gone())?,
            false => Err(gone()),
        }
    }

    /// Looks something up in the actor.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Actor) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        // The caller may be gone.
        self.ask(|actor, reply| drop(reply.send(Ok(look(actor)))))
            .await
    }

    /// This session; if it is closed and can be repaired now, its new life.
    async fn reopened(&self) -> Self {
        if self.closed().is_none_or(|closed| !closed.is_repairable()) {
            return self.clone();
        }
        let Some(reopen) = self.shared.reopen.upgrade() else {
            return self.clone();
        };
        // In a task of its own: half a repair would be worse than none.
        let attempt = tasks::shielded(reopen.reopen(self.clone()));
        match tokio::time::timeout(REOPEN_WAIT, attempt).await {
            Ok(Ok(Some(handle))) => handle,
            Ok(Ok(None) | Err(_)) | Err(_) => self.clone(),
        }
    }

    /// Why the session is read-only, if it is.
    pub(crate) fn closed(&self) -> Option<Closed> {
        self.shared.seen.borrow().closed.clone()
    }

    /// Puts a command into the session's queue. False: it is not there any more.
    pub(crate) async fn send(&self, command: Command) -> bool {
        self.shared.commands.send(command).await.is_ok()
    }

    /// Whether this is the same life of the same session.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// What a request up to this record is made from.
    pub(crate) async fn makeup(&self) -> Result<RequestComposition, Failure> {
        self.read(|actor| actor.makeup()).await?
    }

    pub(crate) async fn material(&self, upto: Seq) -> Result<Material, Failure> {
        self.read(move |actor| actor.material(upto)).await?
    }

    /// A part of the session's setup.
    pub(crate) async fn inspect(&self, part: InspectPart) -> Result<InspectOutput, Failure> {
        self.read(move |actor| actor.inspect(part)).await?
    }

    /// The hooks that it uses, and how each went last.
    ///
    /// # Errors
    /// The session has left memory.
    pub async fn hooks(&self) -> Result<ListOutput, Failure> {
        self.read(|actor| actor.hooks.list()).await
    }

    /// Has it read its hooks again: they apply from the next event on.
    ///
    /// # Errors
    /// The session has left memory.
    pub async fn reload_hooks(&self) -> Result<ListOutput, Failure> {
        self.ask(|actor, reply| actor.reload_hooks(reply)).await
    }

    /// Whether facts that fit a prompt come with it.
    pub(crate) fn recalls(&self) -> bool {
        self.shared.recalls
    }

    /// The cost of the next prompt in the present state.
    ///
    /// # Errors
    /// `shutting_down`.
    pub async fn forecast(&self) -> Result<Forecast, Failure> {
        self.read(|actor| actor.forecast()).await
    }

    /// Changes settings. Answers when that is on disk.
    ///
    /// # Errors
    /// `storage`, `request_id_reused`; `invalid_params` for a name or label that cannot be one.
    pub async fn set(&self, set: SessionSet) -> Result<SessionSummary, Failure> {
        self.set_with_notice(set, None).await
    }

    /// The same, with a word to people about it.
    ///
    /// # Errors
    /// As `set`.
    pub async fn set_with_notice(
        &self,
        set: SessionSet,
        notice: Option<String>,
    ) -> Result<SessionSummary, Failure> {
        self.change(|actor, reply| actor.set(set, notice, reply))
            .await
    }

    /// Says that somebody is about to end this command in the background, so that its log can say who it was.
    pub(crate) async fn child_killed(&self, pid: Pid, by: String) -> Result<Empty, Failure> {
        self.read(move |actor| actor.child_killed(pid, &by)).await?;
        Ok(Empty {})
    }

    /// Ends an interactive session.
    ///
    /// # Errors
    /// `busy` while a turn runs.
    pub async fn close(&self) -> Result<Empty, Failure> {
        self.change(|actor, reply| actor.close(reply)).await
    }

    /// Waits. Dropping the future gives up.
    ///
    /// # Errors
    /// The session has left memory.
    pub async fn wait(&self, until: Until) -> Result<WaitOutput, Failure> {
        self.ask(move |actor, reply| actor.wait(until, reply)).await
    }

    /// Answers an interaction that waits for the user.
    ///
    /// # Errors
    /// `not_found`, `stale`, `already_resolved`, `invalid_params`, `storage`.
    pub async fn answer(&self, params: AnswerParams, by: String) -> Result<Empty, Failure> {
        self.change(|actor, reply| actor.answer(PendingAnswer { params, by, reply }))
            .await
    }

    /// Offers keys that a client has.
    pub async fn credentials(&self, credentials: BTreeMap<String, String>) {
        // A session that has just left memory needs none.
        let command = Box::new(|actor: &mut Actor| actor.offer_keys(credentials));
        let _ = self.send(command).await;
    }

    /// Gives it those of these keys that it lacks.
    pub(crate) async fn fill_keys(&self, offered: Arc<Keys>) {
        // A session that has just left memory needs none.
        let command = Box::new(move |actor: &mut Actor| {
            actor.requests.keys().fill_from(&offered);
            actor.use_new_key();
        });
        let _ = self.send(command).await;
    }

    /// Follows the session.
    ///
    /// # Errors
    /// `cursor_stale`.
    pub async fn attach(&self, attach: Attach) -> Result<(AttachOutput, Follow), Failure> {
        let Attach {
            name,
            role,
            interactive,
            params,
        } = attach;
        let start = match params.after_seq {
            Some(after) => Start::At {
                next: after.next(),
                epoch: params.epoch,
            },
            None => Start::Snapshot {
                backlog: params.backlog.unwrap_or(0),
            },
        };
        let follower = Follower {
            name,
            role,
            interactive,
        };
        let follow = Follow::begin(self.clone(), follower, params.ephemeral, start).await?;
        let output = AttachOutput {
            session: self.shared.id,
            pid: self.shared.pid,
            epoch: self.shared.epoch,
            seq: self.summary().seq,
        };
        Ok((output, follow))
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.shared.epoch
    }

    /// Where the lines from this record on are in the log: a page of whole lines. `None`: there are none.
    pub(crate) async fn lines(&self, from: Seq) -> Result<Option<Page>, Failure> {
        self.read(move |actor| actor.lines(from)).await
    }

    pub(crate) async fn join(&self, join: Join) -> Result<Joined, Failure> {
        self.ask(|actor, reply| actor.wants_in(join, reply)).await
    }

    /// Puts the session to sleep before its next step (`now`: at once, whatever runs), and takes no more work. Resolves
    /// when that is on disk, or the session cannot be written, or has left memory.
    pub async fn suspend(&self, now: bool) {
        let (reply, done) = oneshot::channel();
        if self
            .send(Box::new(move |actor| actor.begin_suspend(now, reply)))
            .await
        {
            // An actor that is gone sleeps too.
            let _ = done.await;
        }
    }

    /// Stops running work, writes what is pending, and ends the actor.
    pub(crate) async fn shutdown(&self) {
        let (reply, done) = oneshot::channel();
        if self
            .send(Box::new(|actor| actor.begin_shutdown(reply)))
            .await
        {
            let _ = done.await;
        }
    }
}

fn gone() -> Failure {
    Failure::new(
        ErrorName::ShuttingDown,
        "The session is being unloaded.",
        "Try again.",
    )
    .retryable()
}
