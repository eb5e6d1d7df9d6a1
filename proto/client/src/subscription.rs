//! Following a session: every durable event once and in order, whatever happens to connections.
//!
//! Events wait in a bounded queue a subscription. When it is full, nothing more is taken; once the reader has read
//! what is there, it attaches again after the last event it saw. So a slow reader costs bounded memory, never an event.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proto::methods::{SessionAttach, SessionDetach};
use proto::params::session::{
    AttachOutput, AttachParams, DetachParams, EndedNotification, EventNotification,
};
use proto::{ErrorName, Event, Failure, Seq, live};
use tokio::sync::Notify;

use crate::call::{CallError, Client};
use crate::connect::{Connection, lock};

/// Events that may wait for the reader.
const QUEUE_EVENTS: usize = 4096;

/// Bytes that may wait for the reader.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// How long a daemon that is on its way out may take to close the connection.
const LEAVING_MAX: Duration = Duration::from_secs(20);

/// What an event takes beside its data, roughly.
const EVENT_OVERHEAD: usize = 160;

/// Where following starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// With a snapshot, and the last so many durable events after it.
    Snapshot { backlog: u64 },
    /// With every durable event after this one.
    After(Seq),
}

/// What a follower sees.
#[derive(Debug)]
pub enum Followed {
    Event(Event),
    /// The connection was lost, and is there again. What is durable continues without a gap; deltas may have been
    /// missed, and the `sync` that follows tells how far messages in progress have come.
    Reconnected,
}

/// A session that is being followed.
pub struct Follow {
    client: Client,
    session: String,
    from: From,
    ephemeral: bool,
    attached: AttachOutput,
    epoch: Option<u64>,
    /// The newest durable event that was handed out or is part of the snapshot.
    last: Option<Seq>,
    /// The last gap that made us attach again: the same one twice is an error.
    gap: Option<Seq>,
    route: Option<Route>,
    /// The connection was lost since the last event; one mark tells so.
    lost: bool,
    /// The daemon ended the subscription, and nothing has come since: a second time is an error.
    ended: bool,
}

impl Client {
    /// Follows a session. `ephemeral`: also what has no `seq`.
    ///
    /// # Errors
    /// There is no such session, or no daemon.
    pub async fn follow(
        &self,
        session: &str,
        from: From,
        ephemeral: bool,
    ) -> Result<Follow, CallError> {
        let (route, attached) = attach(self, session, from, None, ephemeral).await?;
        let last = match from {
            From::After(seq) => Some(seq),
            From::Snapshot { .. } => None,
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
            route: Some(route),
            lost: false,
            ended: false,
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

    /// The next event. Cancel-safe: an event is either returned or still there.
    ///
    /// # Errors
    /// The daemon did not come back, or the session is gone.
    pub async fn next(&mut self) -> Result<Followed, CallError> {
        loop {
            let Some(route) = &self.route else {
                self.attach_again().await?;
                if std::mem::take(&mut self.lost) {
                    return Ok(Followed::Reconnected);
                }
                continue;
            };
            match route.queue.next().await {
                Taken::Event(event) => {
                    if let Some(event) = self.admit(event)? {
                        return Ok(Followed::Event(event));
                    }
                }
                Taken::Full => self.route = None,
                Taken::Lost => {
                    self.route = None;
                    self.lost = true;
                }
                Taken::Ended(error) => {
                    // A log that cannot be written brings nothing more, however often one attaches.
                    let dead = error
                        .as_ref()
                        .is_some_and(|error| error.name == ErrorName::Storage);
                    if std::mem::replace(&mut self.ended, true) || dead {
                        return Err(error.unwrap_or_else(ended_again).into());
                    }
                    self.route = None;
                    self.lost = true;
                }
            }
        }
    }

    /// Lets an event through once, and notices a missing one.
    fn admit(&mut self, event: Event) -> Result<Option<Event>, CallError> {
        let Some(seq) = event.seq else {
            if event.kind == "sync" && !self.synced(&event)? {
                return Ok(None);
            }
            return Ok(Some(event));
        };
        match self.last {
            Some(last) if seq <= last => Ok(None),
            Some(last) if seq > last.next() => {
                self.missing(last.next())?;
                Ok(None)
            }
            _ => {
                self.last = Some(seq);
                self.gap = None;
                self.ended = false;
                Ok(Some(event))
            }
        }
    }

    /// Takes note of where a `sync` says we are. False: we are not there, and attach again.
    fn synced(&mut self, event: &Event) -> Result<bool, CallError> {
        let Ok(sync) = serde_json::from_str::<live::Sync>(event.data.get()) else {
            return Ok(true);
        };
        self.epoch = Some(sync.epoch);
        self.ended = false;
        match self.last {
            Some(last) if sync.seq > last => {
                self.missing(last.next())?;
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

    /// Attaches under a new name, so that what still comes under the old one is nobody's.
    async fn attach_again(&mut self) -> Result<(), CallError> {
        let from = self.last.map_or(self.from, From::After);
        let epoch = self.last.and(self.epoch);
        let result = attach(&self.client, &self.session, from, epoch, self.ephemeral).await;
        let (route, attached) = match result {
            // The log was repaired: what we know of its numbers does not hold. The state as it is now does.
            Err(CallError::Failure(failure)) if failure.name == ErrorName::CursorStale => {
                self.last = None;
                self.gap = None;
                self.from = From::Snapshot { backlog: 0 };
                attach(&self.client, &self.session, self.from, None, self.ephemeral).await?
            }
            // It ended the subscription because it is leaving: the next daemon has the session.
            Err(CallError::Failure(failure))
                if self.ended && failure.name == ErrorName::ShuttingDown =>
            {
                self.attach_when_back(from, epoch).await?
            }
            other => other?,
        };
        self.epoch = Some(attached.epoch);
        self.attached = attached;
        self.route = Some(route);
        Ok(())
    }
}

impl Follow {
    /// Tries until the daemon that is leaving has left, and the next one answers.
    async fn attach_when_back(
        &self,
        from: From,
        epoch: Option<u64>,
    ) -> Result<(Route, AttachOutput), CallError> {
        let due = tokio::time::Instant::now() + LEAVING_MAX;
        let mut pause = Duration::from_millis(10);
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
            match attach(&self.client, &self.session, from, epoch, self.ephemeral).await {
                Err(CallError::Failure(failure))
                    if failure.name == ErrorName::ShuttingDown
                        && tokio::time::Instant::now() < due => {}
                other => return other,
            }
        }
    }
}

/// Attaches, with the queue in place before the first event can come. Repeated where the connection breaks: it
/// changes nothing.
async fn attach(
    client: &Client,
    session: &str,
    from: From,
    epoch: Option<u64>,
    ephemeral: bool,
) -> Result<(Route, AttachOutput), CallError> {
    let mut tries = 0;
    loop {
        let connection = client.connection().await?;
        let name = uuid::Uuid::new_v4().simple().to_string();
        let route = Route::new(client.clone(), connection.clone(), name.clone());
        let (after_seq, backlog) = match from {
            From::After(seq) => (Some(seq), None),
            From::Snapshot { backlog: 0 } => (None, None),
            From::Snapshot { backlog } => (None, Some(backlog)),
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

/// One subscription's place among the routes of its connection. Dropped: the daemon is told to stop.
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

/// Where the events of one connection go, by the name of their subscription.
#[derive(Default)]
pub(crate) struct Routes {
    /// `None`: the connection is lost.
    queues: Mutex<Routing>,
}

#[derive(Default)]
struct Routing {
    lost: bool,
    by_name: HashMap<String, Arc<Queue>>,
}

impl Routes {
    fn add(&self, name: &str) -> Arc<Queue> {
        let queue = Arc::new(Queue::default());
        let mut routing = lock(&self.queues);
        if routing.lost {
            queue.end(End::Lost);
        }
        routing.by_name.insert(name.to_owned(), queue.clone());
        queue
    }

    fn remove(&self, name: &str) {
        lock(&self.queues).by_name.remove(name);
    }

    /// Puts an event into its queue. One of a subscription that was given up is dropped.
    pub(crate) fn deliver(&self, notification: EventNotification) {
        let queue = lock(&self.queues)
            .by_name
            .get(&notification.subscription)
            .cloned();
        if let Some(queue) = queue {
            queue.push(notification.event);
        }
    }

    /// The daemon has ended a subscription: its follower is told, behind what it has not read yet.
    pub(crate) fn end(&self, ended: EndedNotification) {
        if let Some(queue) = lock(&self.queues).by_name.get(&ended.subscription) {
            queue.end(End::Told(ended.failure.map(Box::new)));
        }
    }

    /// The connection is gone: every follower is told, behind what it has not read yet.
    pub(crate) fn lose(&self) {
        let mut routing = lock(&self.queues);
        routing.lost = true;
        for queue in routing.by_name.values() {
            queue.end(End::Lost);
        }
    }
}

/// Events of one subscription that nobody has read yet. Full: it takes no more, and its reader attaches anew.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<Event>,
    bytes: usize,
    end: Option<End>,
}

#[derive(Clone)]
enum End {
    Full,
    Lost,
    /// By the daemon, with what went wrong.
    Told(Option<Box<Failure>>),
}

enum Taken {
    Event(Event),
    Full,
    Lost,
    Ended(Option<Failure>),
}

/// Of a daemon that ends a subscription twice and does not say why.
fn ended_again() -> Failure {
    Failure::new(
        ErrorName::Internal,
        "The daemon has ended the subscription twice.",
        "Attach again; `reasonix doctor` looks at the daemon.",
    )
}

fn size(event: &Event) -> usize {
    event.data.get().len() + EVENT_OVERHEAD
}

impl Queue {
    fn push(&self, event: Event) {
        let mut waiting = lock(&self.waiting);
        if waiting.end.is_some() {
            return;
        }
        let bytes = waiting.bytes + size(&event);
        // One event always fits, however large: else its reader would never get past it.
        if !waiting.events.is_empty()
            && (waiting.events.len() >= QUEUE_EVENTS || bytes > QUEUE_BYTES)
        {
            waiting.end = Some(End::Full);
        } else {
            waiting.bytes = bytes;
            waiting.events.push_back(event);
        }
        drop(waiting);
        self.wake.notify_one();
    }

    fn end(&self, end: End) {
        lock(&self.waiting).end.get_or_insert(end);
        self.wake.notify_one();
    }

    fn take(&self) -> Option<Taken> {
        let mut waiting = lock(&self.waiting);
        match (waiting.events.pop_front(), waiting.end.clone()) {
            (Some(event), _) => {
                waiting.bytes -= size(&event);
                Some(Taken::Event(event))
            }
            (None, Some(End::Full)) => Some(Taken::Full),
            (None, Some(End::Lost)) => Some(Taken::Lost),
            (None, Some(End::Told(error))) => Some(Taken::Ended(error.map(|error| *error))),
            (None, None) => None,
        }
    }

    /// Waits for the next event. Cancel-safe: it takes only what it returns at once.
    async fn next(&self) -> Taken {
        loop {
            if let Some(taken) = self.take() {
                return taken;
            }
            self.wake.notified().await;
        }
    }
}
