//! Following a session: every durable event once and in order, whatever happens to connections.
//!
//! Events wait in a bounded queue a subscription. When it is full, nothing more is taken; once the reader has read
//! those events, it attaches again after the last event it saw. So a slow reader costs bounded memory, never an event.

mod outage;
mod queue;

use std::sync::Arc;
use std::time::Duration;

use proto::live::{Live, Snapshot, Sync};
use proto::methods::{SessionAttach, SessionDetach};
use proto::params::session::{AttachOutput, AttachParams, DetachParams};
use proto::{ErrorName, Event, Failure, Seq};
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::call::{CallError, Client};
use crate::connect::Connection;
use crate::event::DecodedEvent;
use crate::lost::{DaemonFacts, LossCause};
use crate::whole::{self, Fetched, Pieces, WHOLE_MAX};

use outage::Outage;
pub(crate) use queue::Routes;
use queue::{Queue, QueueItem};

/// How long a daemon that is on its way out may take to close the connection.
const LEAVING_MAX: Duration = Duration::from_secs(20);

/// A subscription that has held so long is a good one: its end is a first one, whatever came before.
const SETTLED: Duration = Duration::from_secs(10);

/// How often a daemon may end a subscription with a failure before anything durable has come.
const ENDS_MAX: u32 = 4;

/// How often the connection may break while one event is fetched, beyond the retries of a call.
const BREAKS_MAX: u32 = 8;

/// Where following starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowFrom {
    /// With a snapshot, and the last so many durable events after it.
    Snapshot { backlog: u64 },
    /// With every durable event after this one.
    After(Seq),
}

/// What a follower sees.
#[derive(Debug)]
pub enum FollowEvent {
    Event(Box<DecodedEvent>),
    /// The connection was lost, and is there again. Durable events continue without a gap; deltas may have been
    /// missed, and the `sync` that follows says how far messages in progress have come.
    ///
    /// Where a `snapshot` follows it, the log is not the one that was followed any more (it was repaired or restored):
    /// earlier knowledge of the session is invalid, and the snapshot replaces it.
    Reconnected,
}

/// The same for who wants to know, besides, why nothing comes.
#[derive(Debug)]
pub enum FollowUpdate {
    FollowEvent(FollowEvent),
    /// The connection was lost: it is being made again, which may take a while. `stopped`: its home shows that the
    /// daemon was asked to stop, or to hand over to the next one.
    Lost {
        stopped: bool,
    },
    /// The session's log cannot be written, and nothing comes until it can. Only if the caller waits for that
    /// ([`Follow::wait_while_unwritable`]).
    Unwritable(Box<Failure>),
}

/// A session that is being followed.
pub struct Follow {
    client: Client,
    session: String,
    from: FollowFrom,
    ephemeral: bool,
    attached: AttachOutput,
    epoch: Option<u64>,
    /// The newest durable event that was handed out or is part of the snapshot.
    last: Option<Seq>,
    /// The last gap that made us attach again: the same one twice is an error.
    gap: Option<Seq>,
    route: Option<Route>,
    /// The daemon of the newest route.
    daemon: DaemonFacts,
    /// The connection was lost since the last event; one mark reports it.
    lost: bool,
    /// The loss has not been reported yet.
    parted: bool,
    /// How long a log that cannot be written is waited for.
    patience: Duration,
    /// It cannot be written, or could not a moment ago.
    outage: Option<Outage>,
    /// How often the daemon has ended the subscription since something durable came.
    ends: u32,
    /// Something that shows where we are has come since we attached.
    came: bool,
    /// When we attached last.
    since: Instant,
    backoff: Backoff,
    /// An event that came without its data, and the fetched part of the data. It is returned before all others.
    held: Option<(Event, Pieces)>,
}

impl Client {
    /// Follows a session. `ephemeral`: also events without a `seq`.
    ///
    /// # Errors
    /// There is no such session, or no daemon.
    pub async fn follow(
        &self,
        session: &str,
        from: FollowFrom,
        ephemeral: bool,
    ) -> Result<Follow, CallError> {
        let (route, attached) = attach(self, session, from, None, ephemeral).await?;
        let last = match from {
            FollowFrom::After(seq) => Some(seq),
            FollowFrom::Snapshot { .. } => None,
        };
        Ok(Follow {
            client: self.clone(),
            // The id for ever: a name may change while we follow.
            session: attached.session.to_string(),
            from,
            ephemeral,
            epoch: Some(attached.epoch),
            attached,
            last,
            gap: None,
            daemon: route.connection.known,
            route: Some(route),
            lost: false,
            parted: false,
            patience: Duration::ZERO,
            outage: None,
            ends: 0,
            came: false,
            since: Instant::now(),
            backoff: Backoff::default(),
            held: None,
        })
    }
}

impl Follow {
    /// What the daemon said when we attached last.
    #[must_use]
    pub fn attached(&self) -> &AttachOutput {
        &self.attached
    }

    /// The newest durable event that was handed out, or that the snapshot includes.
    #[must_use]
    pub fn last(&self) -> Option<Seq> {
        self.last
    }

    /// Waits so long for a log that cannot be written, instead of failing at once: a disk may be full for a while.
    pub fn wait_while_unwritable(&mut self, most: Duration) {
        self.patience = most;
    }

    /// The next event. Cancel-safe: an event is either returned or still there.
    ///
    /// An event that is too large for a frame is fetched, and comes whole and in its place. If that cannot be (it
    /// is larger than [`WHOLE_MAX`], the daemon does not know how) it comes as the daemon sent it.
    ///
    /// # Errors
    /// The daemon did not come back, or the session is gone.
    pub async fn next(&mut self) -> Result<FollowEvent, CallError> {
        loop {
            if let FollowUpdate::FollowEvent(followed) = self.heard().await? {
                return Ok(followed);
            }
        }
    }

    /// The next event, or why none comes. Cancel-safe, as [`Follow::next`].
    ///
    /// # Errors
    /// As [`Follow::next`].
    pub async fn heard(&mut self) -> Result<FollowUpdate, CallError> {
        loop {
            if let Some(event) = self.fetched().await? {
                return Ok(FollowUpdate::FollowEvent(FollowEvent::Event(Box::new(
                    event,
                ))));
            }
            let Some(route) = &self.route else {
                if std::mem::take(&mut self.parted) {
                    let fate = self.daemon.fate(&self.client.options().paths);
                    let stopped = fate == LossCause::Stopped;
                    return Ok(FollowUpdate::Lost { stopped });
                }
                if let Some(failure) = self.outage.as_mut().and_then(Outage::untold) {
                    return Ok(FollowUpdate::Unwritable(failure));
                }
                self.written().await?;
                match self.attach_again().await {
                    Err(CallError::Failure(failure))
                        if failure.name == ErrorName::Storage && !self.patience.is_zero() =>
                    {
                        self.unwritable(failure)?;
                        continue;
                    }
                    attached => attached?,
                }
                if std::mem::take(&mut self.lost) {
                    return Ok(FollowUpdate::FollowEvent(FollowEvent::Reconnected));
                }
                continue;
            };
            match route.queue.next().await {
                QueueItem::Event(event) => {
                    if let Some(event) = self.take(event)? {
                        return Ok(FollowUpdate::FollowEvent(FollowEvent::Event(Box::new(
                            event,
                        ))));
                    }
                }
                QueueItem::Full => self.route = None,
                QueueItem::Lost => {
                    self.route = None;
                    self.lost = true;
                    self.parted = true;
                }
                QueueItem::Ended(failure) => self.ended(failure)?,
            }
        }
    }

    /// The event that is held, whole or, if that cannot be, as it came. Each piece is kept when it is there, so
    /// that a call that is dropped in the middle loses nothing.
    async fn fetched(&mut self) -> Result<Option<DecodedEvent>, CallError> {
        let Some((event, pieces)) = &mut self.held else {
            return Ok(None);
        };
        let seq = event.seq.unwrap_or_default();
        let mut broken = 0;
        loop {
            let offset = pieces.offset();
            let fetched = match self.client.piece(&self.session, seq, offset).await {
                Ok(piece) => pieces.take(&piece),
                Err(CallError::Connect(error)) => return Err(error.into()),
                Err(CallError::Lost { .. }) if broken < BREAKS_MAX => {
                    broken += 1;
                    self.backoff.pause().await;
                    continue;
                }
                Err(_) => Fetched::Broken,
            };
            let filled = match fetched {
                Fetched::Part => continue,
                Fetched::Whole => pieces.fill(event),
                Fetched::Broken => None,
            };
            self.backoff.reset();
            let held = self.held.take();
            return Ok(held.map(|(came, _)| filled.unwrap_or(came).into()));
        }
    }

    /// Takes an event from the queue and decodes it. `None`: it came before, one before it is missing, or its data is to
    /// be fetched first.
    fn take(&mut self, event: Event) -> Result<Option<DecodedEvent>, CallError> {
        let Some(seq) = event.seq else {
            let event = DecodedEvent::from(event);
            let through = match event.live() {
                Some(Live::Sync(sync)) => self.synced(sync)?,
                Some(Live::Snapshot(snapshot)) => {
                    self.snapped(snapshot);
                    true
                }
                _ => true,
            };
            return Ok(through.then_some(event));
        };
        if !self.admit(seq)? {
            return Ok(None);
        }
        match whole::oversized(&event) {
            Some(bytes) if bytes <= WHOLE_MAX => {
                self.held = Some((event, Pieces::default()));
                Ok(None)
            }
            _ => Ok(Some(event.into())),
        }
    }

    /// Lets a durable event through once, and notices a missing one.
    fn admit(&mut self, seq: Seq) -> Result<bool, CallError> {
        match self.last {
            Some(last) if seq <= last => Ok(false),
            Some(last) if seq > last.next() => {
                self.missing(last.next())?;
                Ok(false)
            }
            _ => {
                self.last = Some(seq);
                self.gap = None;
                self.ends = 0;
                self.came = true;
                self.backoff.reset();
                Ok(true)
            }
        }
    }

    /// A snapshot without anything from before it says where we are: should the connection break now, we go on there.
    fn snapped(&mut self, snapshot: &Snapshot) {
        if self.from == (FollowFrom::Snapshot { backlog: 0 }) && self.last.is_none() {
            self.last = Some(snapshot.seq);
        }
    }

    /// Takes note of where a `sync` says we are. False: we are not there, and attach again.
    fn synced(&mut self, sync: &Sync) -> Result<bool, CallError> {
        self.came = true;
        let known = self.epoch.replace(sync.epoch);
        match self.last {
            Some(last) if sync.seq > last => {
                self.missing(last.next())?;
                Ok(false)
            }
            // A log that ends before what we have seen of it, or counts from the start again, is another one: its next events would
            // be taken for old ones.
            Some(last) if sync.seq < last || known.is_some_and(|known| known != sync.epoch) => {
                self.restart_from_snapshot();
                self.route = None;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => {
                self.last = Some(sync.seq);
                Ok(true)
            }
        }
    }

    fn missing(&mut self, seq: Seq) -> Result<(), CallError> {
        if self.gap == Some(seq) {
            return Err(CallError::Gap { seq });
        }
        self.gap = Some(seq);
        self.route = None;
        Ok(())
    }

    /// What we know of the log's numbers does not hold. The state as it is now does.
    fn restart_from_snapshot(&mut self) {
        self.last = None;
        self.gap = None;
        self.epoch = None;
        self.from = FollowFrom::Snapshot { backlog: 0 };
        self.lost = true;
    }

    /// The daemon has ended the subscription: attach again, unless that has shown to lead nowhere.
    fn ended(&mut self, failure: Option<Failure>) -> Result<(), CallError> {
        if self.since.elapsed() >= SETTLED {
            self.ends = 0;
            self.outage = None;
        }
        self.ends += 1;
        // A log that cannot be written brings nothing more, however often one attaches.
        let dead = failure
            .as_ref()
            .is_some_and(|failure| failure.name == ErrorName::Storage);
        if dead
            && !self.patience.is_zero()
            && let Some(failure) = failure
        {
            return self.unwritable(Box::new(failure));
        }
        let useless = self.ends > 1 && !self.came;
        if dead || useless || (failure.is_some() && self.ends >= ENDS_MAX) {
            return Err(failure.unwrap_or_else(ended_again).into());
        }
        self.route = None;
        self.lost = true;
        // Without a reason: the daemon goes, and the connection with it.
        self.parted = failure.is_none();
        Ok(())
    }

    /// The log cannot be written, which is waited for.
    fn unwritable(&mut self, failure: Box<Failure>) -> Result<(), CallError> {
        self.route = None;
        self.lost = true;
        match &mut self.outage {
            Some(outage) => outage.goes_on(self.patience),
            None => {
                self.outage = Some(Outage::new(failure));
                Ok(())
            }
        }
    }

    /// Waits until the log can be written, as far as the daemon says.
    async fn written(&mut self) -> Result<(), CallError> {
        while let Some(outage) = &mut self.outage
            && let Some(due) = outage.due()
        {
            tokio::time::sleep_until(due).await;
            let closed = match self.client.session(&self.session).await {
                Ok(summary) => summary.read_only.is_some(),
                Err(CallError::Failure(failure)) if failure.name == ErrorName::Storage => true,
                Err(error) => return Err(error),
            };
            if closed {
                outage.goes_on(self.patience)?;
            } else {
                outage.ends();
            }
        }
        Ok(())
    }

    /// Attaches under a new name, so that what still comes under the old one is nobody's.
    async fn attach_again(&mut self) -> Result<(), CallError> {
        if self.since.elapsed() >= SETTLED {
            self.backoff.reset();
        }
        self.backoff.pause().await;
        let due = Instant::now() + LEAVING_MAX;
        let (route, attached) = loop {
            let from = self.last.map_or(self.from, FollowFrom::After);
            let epoch = self.last.and(self.epoch);
            let result = attach(&self.client, &self.session, from, epoch, self.ephemeral).await;
            match result {
                Err(CallError::Failure(failure))
                    if failure.name == ErrorName::CursorStale && self.last.is_some() =>
                {
                    self.restart_from_snapshot();
                }
                // It is leaving: the next daemon has the session.
                Err(CallError::Failure(failure))
                    if failure.name == ErrorName::ShuttingDown && Instant::now() < due =>
                {
                    self.lost = true;
                    self.backoff.pause().await;
                }
                other => break other?,
            }
        };
        self.epoch = Some(attached.epoch);
        self.attached = attached;
        self.daemon = route.connection.known;
        self.route = Some(route);
        self.came = false;
        self.since = Instant::now();
        Ok(())
    }
}

/// Attaches, with the queue in place before the first event can come. Repeated where the connection breaks: it
/// changes nothing.
async fn attach(
    client: &Client,
    session: &str,
    from: FollowFrom,
    epoch: Option<u64>,
    ephemeral: bool,
) -> Result<(Route, AttachOutput), CallError> {
    let mut tries = 0;
    let mut backoff = Backoff::default();
    loop {
        backoff.pause().await;
        let connection = client.connection().await?;
        let name = uuid::Uuid::new_v4().simple().to_string();
        let route = Route::new(client.clone(), connection.clone(), name.clone());
        let (after_seq, backlog) = match from {
            FollowFrom::After(seq) => (Some(seq), None),
            FollowFrom::Snapshot { backlog: 0 } => (None, None),
            FollowFrom::Snapshot { backlog } => (None, Some(backlog)),
        };
        let params = AttachParams {
            session: session.to_owned(),
            subscription: name,
            after_seq,
            epoch,
            ephemeral,
            backlog,
        };
        match client.call_on::<SessionAttach>(&connection, &params).await {
            Ok(attached) => return Ok((route, attached)),
            Err(CallError::Lost { .. }) if tries < 5 => tries += 1,
            Err(error) => {
                route.forget();
                return Err(error);
            }
        }
    }
}

/// One subscription's place among the routes of its connection. Dropped: the daemon is asked to stop.
struct Route {
    client: Client,
    connection: Arc<Connection>,
    name: String,
    queue: Arc<Queue>,
    /// Whether the daemon may know of it.
    open: bool,
}

impl Route {
    fn new(client: Client, connection: Arc<Connection>, name: String) -> Self {
        let queue = connection.routes.add(&name);
        Self {
            client,
            connection,
            name,
            queue,
            open: true,
        }
    }

    /// Drops it without a word to the daemon, which refused it.
    fn forget(mut self) {
        self.open = false;
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        self.connection.routes.remove(&self.name);
        if !self.open || !self.connection.alive() {
            return;
        }
        // Best effort: a connection that breaks ends its subscriptions anyway.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (client, connection) = (self.client.clone(), self.connection.clone());
            let params = DetachParams {
                subscription: std::mem::take(&mut self.name),
            };
            runtime.spawn(async move {
                client
                    .call_on::<SessionDetach>(&connection, &params)
                    .await
                    .ok()
            });
        }
    }
}

/// Of a daemon that ends a subscription twice and does not say why.
fn ended_again() -> Failure {
    Failure::new(
        ErrorName::Internal,
        "The daemon ended the subscription twice.",
        "Attach again; check the daemon with `reasonix doctor`.",
    )
}
