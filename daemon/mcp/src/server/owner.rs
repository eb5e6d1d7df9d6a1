//! The task of a server: it starts it, lists its tools, and starts it again when it fails.
//!
//! Holds the server weakly: when nobody else holds it, the task ends, and the process with it.

use std::future::pending;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, sleep_until, timeout};

use super::{Inner, Server};
use crate::client::{Connect, ConnectError, ConnectRequest, Connection};
use crate::listing::Listing;
use crate::listing_pause::ListingPause;
use crate::state::{NextStep, Restarts, ServerState, next_wait};

/// How long a listing may take once the server has answered.
const LISTING: Duration = Duration::from_secs(30);
/// How long a server that did not answer is waited for.
pub(super) const PROBE: Duration = Duration::from_secs(10);

/// The task, with what it starts the server with.
pub(super) struct Owner {
    pub server: Weak<Server>,
    pub wake: Arc<Notify>,
    pub restart: Arc<Notify>,
    pub probe_wanted: Arc<Notify>,
    pub connect: Arc<dyn Connect>,
    pub request: ConnectRequest,
    pub listings: PathBuf,
}

/// A life of a server. Its end closes the connection, which calls in flight hold too.
struct Life(Arc<dyn Connection>);

impl Drop for Life {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What a server that is ready has done.
enum News {
    /// Its address does not answer, for this cause, or does again.
    Reach(Option<String>),
    /// It is time to look whether it answers again.
    ProbeDue,
    /// A call or a user wants to know whether it answers.
    ProbeWanted,
    ListChanged,
}

/// A server that does not answer.
struct Absence {
    cause: String,
    /// It is connected, and silent.
    is_silent: bool,
    wait: Duration,
    /// When it is asked again.
    next: Instant,
}

impl Absence {
    fn new(cause: String) -> Self {
        let wait = next_wait(None);
        let next = Instant::now() + wait;
        Self {
            cause,
            is_silent: false,
            wait,
            next,
        }
    }

    fn silent() -> Self {
        Self {
            is_silent: true,
            ..Self::new(no_answer())
        }
    }

    fn wait_longer(&mut self) {
        self.wait = next_wait(Some(self.wait));
        self.next = Instant::now() + self.wait;
    }
}

/// Why a server that runs does not work.
pub(super) fn no_answer() -> String {
    let seconds = PROBE.as_secs();
    format!("it is connected, but did not answer a `ping` within {seconds} s")
}

/// The state of a server that is started now.
pub(super) fn starting() -> ServerState {
    ServerState::Starting {
        since: Instant::now(),
    }
}

/// Resolves then. `None`: never.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time.into()).await,
        None => pending().await,
    }
}

/// Why a life of a server is over.
enum LifeEnd {
    Failed(String),
    NeedsLogin,
    /// Its sandbox cannot be made.
    NoSandbox(String),
    /// A user asked for a restart, or has logged in or out.
    Restart,
    /// The session that it is for has exited.
    Rested,
    /// It may not run any more: why.
    Withdrawn(String),
}

/// What a server is after a life with this end, and when it starts again. `None`: it is restarted at once. `ran`: how long
/// it was ready.
fn after(
    server: &Server,
    end: LifeEnd,
    restarts: &mut Restarts,
    ran: Option<Duration>,
) -> Option<(ServerState, NextStep)> {
    let state = match end {
        LifeEnd::Restart => {
            restarts.forget();
            return None;
        }
        LifeEnd::Failed(reason) => return Some(restarts.failed(reason, ran)),
        LifeEnd::Rested => {
            server.log.note("stopped: its session has exited");
            ServerState::Resting
        }
        LifeEnd::NeedsLogin => {
            let name = &server.config.name;
            let reason = format!("it needs a login: run `reasonix mcp login {name}`");
            ServerState::NeedsLogin { reason }
        }
        // Another try would find the same machine and settings.
        LifeEnd::NoSandbox(reason) => ServerState::Failed { reason },
        LifeEnd::Withdrawn(reason) => {
            server.log.note(&format!("stopped: {reason}"));
            ServerState::Withdrawn { reason }
        }
    };
    Some((state, NextStep::WaitUntilWanted))
}

/// Notes that a user wants another life at once.
fn restart(inner: &mut Inner) {
    inner.connection = None;
    // One that was withdrawn is not known to start.
    let is_withdrawn = matches!(inner.state, ServerState::Withdrawn { .. });
    if !is_withdrawn && !inner.resting {
        inner.state = starting();
    }
}

impl Owner {
    /// Runs until nobody holds the server, or it is ended.
    pub(super) async fn run(self, mut ended: watch::Receiver<bool>) {
        // Both arms may be dropped at any point: what lives holds its process, which ends with it.
        tokio::select! {
            () = self.lives() => {}
            _ = ended.wait_for(|ended| *ended) => {}
        }
        if let Some(server) = self.server.upgrade() {
            server.change(|inner| {
                inner.connection = None;
                inner.state = ServerState::Disabled {
                    reason: "it was stopped".to_owned(),
                };
            });
        }
    }

    /// One life after the other, until nobody holds the server.
    async fn lives(&self) {
        let mut restarts = Restarts::default();
        loop {
            let Some((end, ran)) = self.next_life().await else {
                return;
            };
            let Some(server) = self.server.upgrade() else {
                return;
            };
            let Some((state, next)) = after(&server, end, &mut restarts, ran) else {
                server.change(restart);
                continue;
            };
            tracing::info!(server = %server.config.name, state = state.word(), reason = ?state.reason(), "an MCP server does not run");
            server.change(|inner| {
                inner.connection = None;
                inner.state = state;
                inner.failed_once = true;
            });
            drop(server);
            if self.wait(next).await {
                restarts.forget();
            }
            let Some(server) = self.server.upgrade() else {
                return;
            };
            server.change(|inner| {
                inner.state = match inner.resting {
                    true => ServerState::Resting,
                    false => starting(),
                }
            });
        }
    }

    /// A life, if it may have one: its end, and how long it was ready. `None`: nobody holds the server any more.
    async fn next_life(&self) -> Option<(LifeEnd, Option<Duration>)> {
        let mut ready_since = None;
        let end = match self.refusal().await? {
            Some(reason) => LifeEnd::Withdrawn(reason),
            None if self.is_resting() => LifeEnd::Rested,
            None => {
                self.note_admitted();
                self.live(&mut ready_since).await?
            }
        };
        Some((end, ready_since.map(|since| since.elapsed())))
    }

    /// Why it may not run. `None`: nobody holds the server any more.
    async fn refusal(&self) -> Option<Option<String>> {
        Some(self.server.upgrade()?.refusal().await)
    }

    fn is_resting(&self) -> bool {
        let server = self.server.upgrade();
        server.is_some_and(|server| server.is_resting())
    }

    /// It may run: one that was withdrawn starts again.
    fn note_admitted(&self) {
        if let Some(server) = self.server.upgrade()
            && matches!(server.state(), ServerState::Withdrawn { .. })
        {
            server.change(|inner| inner.state = starting());
        }
    }

    /// Waits before the next start. Returns whether a user asked for it.
    async fn wait(&self, next: NextStep) -> bool {
        let waited = async {
            match next {
                NextStep::StartAfter(wait) => sleep(wait).await,
                NextStep::WaitUntilWanted => self.wake.notified().await,
            }
        };
        tokio::select! {
            () = waited => false,
            () = self.restart.notified() => true,
        }
    }

    /// One life, from its start to its end. `None`: nobody holds the server any more.
    async fn live(&self, ready_since: &mut Option<Instant>) -> Option<LifeEnd> {
        let limit = self.request.config.startup_timeout;
        let connecting = timeout(limit, self.connect.connect(self.request.clone()));
        let connected = tokio::select! {
            connected = connecting => connected,
            () = self.restart.notified() => return Some(LifeEnd::Restart),
        };
        let late = || format!("it did not answer within {} s", limit.as_secs());
        let connection = match connected {
            Ok(Ok(connection)) => connection,
            Ok(Err(ConnectError::NeedsLogin)) => return Some(LifeEnd::NeedsLogin),
            Ok(Err(ConnectError::NoSandbox(reason))) => return Some(LifeEnd::NoSandbox(reason)),
            Ok(Err(ConnectError::Failed(reason))) => return Some(LifeEnd::Failed(reason)),
            Err(_) => return Some(LifeEnd::Failed(late())),
        };
        let _life = Life(Arc::clone(&connection));
        match self.list(&connection).await? {
            Ok(()) => {}
            Err(ConnectError::NeedsLogin) => return Some(LifeEnd::NeedsLogin),
            Err(ConnectError::NoSandbox(reason) | ConnectError::Failed(reason)) => {
                return Some(LifeEnd::Failed(reason));
            }
        }
        *ready_since = Some(Instant::now());
        self.server.upgrade()?.change(|inner| {
            inner.state = ServerState::Ready;
            inner.failed_once = false;
            inner.connection = Some(Arc::clone(&connection));
        });
        self.keep(&connection).await
    }

    /// Keeps a server that is ready: notices what it does until its life is over.
    async fn keep(&self, connection: &Arc<dyn Connection>) -> Option<LifeEnd> {
        let mut pause = ListingPause::default();
        let mut absence: Option<Absence> = None;
        loop {
            let unreachable = absence.as_ref().filter(|absence| !absence.is_silent);
            let cause = unreachable.map(|absence| &*absence.cause);
            let probe = absence.as_ref().map(|absence| absence.next);
            // Each arm is cancel-safe: a notification that is not taken stays.
            let news = tokio::select! {
                end = self.end_of(connection) => return Some(end),
                cause = connection.reach_changed(cause) => News::Reach(cause),
                () = until(probe) => News::ProbeDue,
                () = self.probe_wanted.notified() => News::ProbeWanted,
                () = connection.list_changed() => News::ListChanged,
            };
            let doing = async {
                match news {
                    News::Reach(cause) => {
                        let found = cause.map(Absence::new);
                        self.note_reach(connection, &mut absence, found).await?;
                    }
                    News::ProbeDue => {
                        let found = self.probe(connection, &mut absence).await;
                        if let Some(absence) = &mut absence {
                            absence.wait_longer();
                        }
                        return found;
                    }
                    News::ProbeWanted => return self.probe(connection, &mut absence).await,
                    News::ListChanged => {
                        sleep(pause.wait(Instant::now())).await;
                        self.list_again(connection).await?;
                    }
                }
                Some(ControlFlow::Continue(()))
            };
            tokio::select! {
                end = self.end_of(connection) => return Some(end),
                found = doing => if let ControlFlow::Break(end) = found? {
                    return Some(end);
                },
            }
        }
    }

    /// Resolves when the life of this connection is over.
    async fn end_of(&self, connection: &Arc<dyn Connection>) -> LifeEnd {
        tokio::select! {
            reason = connection.closed() => LifeEnd::Failed(reason),
            () = self.restart.notified() => LifeEnd::Restart,
        }
    }

    /// Asks whether it answers; a life whose login is refused is over. `None`: nobody holds the server any more.
    async fn probe(
        &self,
        connection: &Arc<dyn Connection>,
        absence: &mut Option<Absence>,
    ) -> Option<ControlFlow<LifeEnd>> {
        let answered = timeout(PROBE, connection.ping()).await;
        match (answered, &mut *absence) {
            (Ok(Ok(())), Some(known)) if known.is_silent => {
                self.note_reach(connection, absence, None).await?;
            }
            (Ok(Err(ConnectError::NeedsLogin)), _) => {
                return Some(ControlFlow::Break(LifeEnd::NeedsLogin));
            }
            (Err(_), None) => {
                let silent = Some(Absence::silent());
                self.note_reach(connection, absence, silent).await?;
            }
            // What else failed is seen by `reach_changed`.
            (Ok(_) | Err(_), _) => {}
        }
        Some(ControlFlow::Continue(()))
    }

    /// It does not answer any more, or for another cause, or does again. `None`: nobody holds the server any more.
    async fn note_reach(
        &self,
        connection: &Arc<dyn Connection>,
        absence: &mut Option<Absence>,
        found: Option<Absence>,
    ) -> Option<()> {
        let state = match found {
            Some(found) => {
                let reason = found.cause.clone();
                match absence {
                    Some(known) => {
                        known.cause = found.cause;
                        known.is_silent = found.is_silent;
                    }
                    None => *absence = Some(found),
                }
                ServerState::Unreachable { reason }
            }
            None => {
                *absence = None;
                // It may be another one by now.
                self.list_again(connection).await?;
                ServerState::Ready
            }
        };
        let server = self.server.upgrade()?;
        server.log.note(&match &state {
            ServerState::Unreachable { reason } => reason.clone(),
            _ => "it answers again".to_owned(),
        });
        server.change(|inner| {
            if let ServerState::Ready | ServerState::Unreachable { .. } = inner.state {
                inner.state = state;
            }
        });
        Some(())
    }

    /// Lists the tools of a server that is ready. `None`: nobody holds the server any more.
    async fn list_again(&self, connection: &Arc<dyn Connection>) -> Option<()> {
        if let Err(reason) = self.list(connection).await? {
            tracing::info!(?reason, "the tools of an MCP server cannot be listed again");
        }
        Some(())
    }

    /// Lists the tools and keeps them. `None`: nobody holds the server any more.
    async fn list(&self, connection: &Arc<dyn Connection>) -> Option<Result<(), ConnectError>> {
        let listed = tokio::select! {
            listed = timeout(LISTING, connection.list_tools()) => listed,
            reason = connection.closed() => return Some(Err(reason.into())),
        };
        let raw = match listed {
            Ok(Ok(raw)) => raw,
            Ok(Err(ConnectError::Failed(reason))) => {
                return Some(Err(format!("it does not list its tools: {reason}").into()));
            }
            Ok(Err(error)) => return Some(Err(error)),
            Err(_) => return Some(Err("it does not list its tools in time".to_owned().into())),
        };
        let prompts = tokio::select! {
            listed = timeout(LISTING, connection.list_prompts()) => listed,
            reason = connection.closed() => return Some(Err(reason.into())),
        };
        let late = || Err("it does not answer in time".to_owned());
        let prompts = prompts.unwrap_or_else(|_| late());
        let server = self.server.upgrade()?;
        let name = &server.config.name;
        // Its tools are of use all the same.
        let prompts = prompts.unwrap_or_else(|reason| {
            server
                .log
                .note(&format!("its prompts are not listed: {reason}"));
            Vec::new()
        });
        let hash = &server.config_hash;
        let listing = Listing::new(name, hash, &raw.tools)
            .with_malformed(name, &raw.malformed)
            .with_prompts(name, &prompts)
            .with_bounded_problems(name);
        let listing = match connection.has_resources() {
            true => listing.with_resources(name, hash),
            false => listing,
        };
        for problem in &listing.problems {
            server.log.note(problem);
        }
        if server.listing().as_deref() != Some(&listing)
            && let Err(error) = listing.store(&self.listings, &server.config_hash)
        {
            tracing::warn!(%error, "the listing of an MCP server is not kept");
        }
        server.change(|inner| inner.listing = Some(Arc::new(listing)));
        Some(Ok(()))
    }
}
