//! Who is on the other side of a connection, and what it is sent.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;
use proto::hello::{HelloParams, Role};
use proto::params::daemon::ClientStatus;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;

/// Bytes that may wait to be written to one client.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

/// Subscriptions of one connection.
pub const SUBSCRIPTIONS_MAX: usize = 64;

/// Why there is no subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSubscription {
    /// There is one of that name.
    Taken,
    /// There are as many as a connection may have.
    TooMany,
}

/// A frame that waits to be written, with its share of the bytes that may wait.
pub struct Outgoing {
    pub text: Vec<u8>,
    _share: OwnedSemaphorePermit,
}

/// One connection. Handlers get it with each call.
pub struct Peer {
    pub number: u64,
    /// The process on the other side was started by a tool, hook or server of ours.
    pub descends: bool,
    hello: OnceLock<(HelloParams, Role)>,
    outgoing: mpsc::Sender<Outgoing>,
    bytes: Arc<Semaphore>,
    subscriptions: Mutex<HashMap<String, AbortHandle>>,
    /// Pumps of subscriptions whose call has not been answered yet.
    starting: Mutex<Vec<(String, BoxFuture<'static, ()>)>>,
    connected: Instant,
}

impl Peer {
    pub fn new(number: u64, descends: bool, outgoing: mpsc::Sender<Outgoing>) -> Self {
        Self {
            number,
            descends,
            hello: OnceLock::new(),
            outgoing,
            bytes: Arc::new(Semaphore::new(WAITING_BYTES)),
            subscriptions: Mutex::new(HashMap::new()),
            starting: Mutex::new(Vec::new()),
            connected: Instant::now(),
        }
    }

    /// Notes who says hello. A second hello changes nothing.
    pub fn greet(&self, hello: HelloParams, role: Role) {
        let _ = self.hello.set((hello, role));
    }

    /// Its role; `None` before hello.
    pub fn role(&self) -> Option<Role> {
        self.hello.get().map(|(_, role)| *role)
    }

    /// What to call it.
    pub fn name(&self) -> String {
        self.hello
            .get()
            .map(|(hello, _)| hello.client.name.clone())
            .unwrap_or_default()
    }

    /// Whether a person sits in front of it.
    pub fn interactive(&self) -> bool {
        self.hello
            .get()
            .is_some_and(|(hello, _)| hello.client.interactive)
    }

    /// Sends a frame, when there is room. False: the connection is gone.
    pub async fn send(&self, mut text: Vec<u8>) -> bool {
        text.push(b'\n');
        // One frame is always let through, however large.
        let share = u32::try_from(text.len().min(WAITING_BYTES)).unwrap_or(u32::MAX);
        let Ok(share) = Arc::clone(&self.bytes).acquire_many_owned(share).await else {
            return false;
        };
        self.outgoing
            .send(Outgoing {
                text,
                _share: share,
            })
            .await
            .is_ok()
    }

    /// Gets a subscription ready; it starts when the call that made it has been answered.
    ///
    /// # Errors
    /// The name is taken, or there are too many.
    pub fn subscribe(
        &self,
        name: &str,
        pump: BoxFuture<'static, ()>,
    ) -> Result<(), NoSubscription> {
        let mut subscriptions = self
            .subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        subscriptions.retain(|_, pump| !pump.is_finished());
        if subscriptions.contains_key(name) || starting.iter().any(|(known, _)| known == name) {
            return Err(NoSubscription::Taken);
        }
        if subscriptions.len() + starting.len() >= SUBSCRIPTIONS_MAX {
            return Err(NoSubscription::TooMany);
        }
        starting.push((name.to_owned(), pump));
        Ok(())
    }

    /// Starts the subscriptions whose calls have been answered.
    pub fn start_subscriptions(&self) {
        // In the same order everywhere, and together: a subscription is always in one of the two.
        let mut subscriptions = self
            .subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let starting =
            std::mem::take(&mut *self.starting.lock().unwrap_or_else(PoisonError::into_inner));
        if starting.is_empty() {
            return;
        }
        subscriptions.retain(|_, pump| !pump.is_finished());
        for (name, pump) in starting {
            subscriptions.insert(name, tokio::spawn(pump).abort_handle());
        }
    }

    /// Ends a subscription. False: there is none of that name.
    pub fn unsubscribe(&self, name: &str) -> bool {
        let mut subscriptions = self
            .subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let before = starting.len();
        starting.retain(|(known, _)| known != name);
        let pump = subscriptions.remove(name);
        pump.inspect(AbortHandle::abort).is_some() || starting.len() < before
    }

    /// Ends everything that belongs to the connection.
    pub fn end(&self) {
        self.bytes.close();
        self.starting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        for (_, pump) in self
            .subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain()
        {
            pump.abort();
        }
    }
}

/// All connections.
#[derive(Default)]
pub struct Clients(Mutex<BTreeMap<u64, Arc<Peer>>>);

impl Clients {
    pub fn add(&self, peer: Arc<Peer>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(peer.number, peer);
    }

    pub fn remove(&self, number: u64) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&number);
    }

    /// Those that have said hello.
    pub fn list(&self) -> Vec<ClientStatus> {
        let clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let greeted = clients
            .values()
            .filter_map(|peer| peer.hello.get().map(|hello| (peer, hello)));
        greeted
            .map(|(peer, (hello, role))| ClientStatus {
                name: hello.client.name.clone(),
                pid: hello.client.pid,
                role: *role,
                connected_s: peer.connected.elapsed().as_secs(),
            })
            .collect()
    }
}

/// Whether a process descends from another one, by the kernel's word. Where that cannot be known it does: a process that
/// is gone by now may have been anybody's, and what it opened may be in the hands of what it started.
#[cfg(target_os = "linux")]
pub fn descends(pid: u32, ancestor: u32) -> bool {
    // Of a process outside of all that we can see or have started, the kernel tells no number.
    if pid == 0 {
        return false;
    }
    // An ancestor that ends while we look leaves its children to another: then we look again.
    (0..8).find_map(|_| climb(pid, ancestor)).unwrap_or(true)
}

/// `None`: the way up broke off.
#[cfg(target_os = "linux")]
fn climb(pid: u32, ancestor: u32) -> Option<bool> {
    let mut at = pid;
    // No chain of processes is deeper than this; a loop cannot be, but costs nothing to bound.
    for _ in 0..1_000 {
        match parent_of(at)? {
            parent if parent == ancestor => return Some(true),
            parent if parent > 1 => at = parent,
            _ => return Some(false),
        }
    }
    None
}

#[cfg(target_os = "linux")]
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything: what counts comes behind the last one.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn descends(_pid: u32, _ancestor: u32) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
