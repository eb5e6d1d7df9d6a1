//! The client of a connection, and the frames sent to it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;
use proto::hello::{HelloParams, Role};
use proto::params::daemon::ClientStatus;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::room::{FrameShare, Room, SharedRoom};
use crate::settings::trust::TemporaryTrust;

/// Subscriptions of one connection that may have pages of their logs in memory.
const LOGS_READ: usize = 2;

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

/// The longest name of a client, in characters.
const NAME_MAX: usize = 64;

/// A client's name as it is kept and shown to others, the model among them: a line, not too long, of what can be seen.
fn called(name: &str) -> String {
    let seen = |character: &char| !character.is_control() && !proto::hidden(*character);
    let name: String = name.chars().filter(seen).take(NAME_MAX).collect();
    name.trim().to_owned()
}

/// A frame that waits to be written, with its share of the room for that.
pub struct Outgoing {
    pub text: Vec<u8>,
    _share: FrameShare,
}

/// Where the process on the other side comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Started by others: for all that is known, a person's.
    Elsewhere,
    /// Started by a tool, hook or server of ours.
    Ours,
    /// The same, of this daemon or another, and sandboxed: it is refused. If no mounts hide the socket from it, nothing
    /// else keeps it away.
    Sandboxed,
}

/// One connection. Handlers get it with each call.
pub struct Peer {
    pub number: u64,
    pub origin: Origin,
    hello: OnceLock<(HelloParams, Role)>,
    outgoing: mpsc::Sender<Outgoing>,
    room: Room,
    /// Held by subscriptions that read their logs.
    logs: Arc<Semaphore>,
    subscriptions: Mutex<HashMap<String, AbortHandle>>,
    /// Their running pumps: `drain_subscriptions` waits for them.
    pumps: TaskTracker,
    /// Cancelled: subscriptions send what events there are, and end.
    drain: CancellationToken,
    /// Pumps of subscriptions whose call has not been answered yet.
    starting: Mutex<Vec<(String, BoxFuture<'static, ()>)>>,
    /// Projects that are trusted as long as the connection lasts.
    trusts: Mutex<Vec<(PathBuf, TemporaryTrust)>>,
    connected: Instant,
}

impl Peer {
    pub fn new(
        number: u64,
        origin: Origin,
        outgoing: mpsc::Sender<Outgoing>,
        room: SharedRoom,
    ) -> Self {
        Self {
            number,
            origin,
            hello: OnceLock::new(),
            outgoing,
            room: Room::new(room),
            logs: Arc::new(Semaphore::new(LOGS_READ)),
            subscriptions: Mutex::new(HashMap::new()),
            pumps: TaskTracker::new(),
            drain: CancellationToken::new(),
            starting: Mutex::new(Vec::new()),
            trusts: Mutex::default(),
            connected: Instant::now(),
        }
    }

    /// Whether the process on the other side was started by us.
    pub fn descends(&self) -> bool {
        self.origin != Origin::Elsewhere
    }

    /// Notes who says hello. A second hello changes nothing.
    pub fn greet(&self, mut hello: HelloParams, role: Role) {
        hello.client.name = called(&hello.client.name);
        let _ = self.hello.set((hello, role));
    }

    /// Keeps trust in a project as long as the connection lasts.
    pub fn hold_trust(&self, directory: PathBuf, trust: TemporaryTrust) {
        let mut trusts = self.trusts.lock().unwrap_or_else(PoisonError::into_inner);
        trusts.push((directory, trust));
    }

    /// Ends that trust; the directories of its projects.
    pub fn end_trust(&self) -> Vec<PathBuf> {
        let mut trusts = self.trusts.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = std::mem::take(&mut *trusts);
        ended.into_iter().map(|(directory, _)| directory).collect()
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

    /// Takes room for an answer of at most so many bytes, when there is some. `None`: the connection has ended.
    pub async fn room(&self, bytes: usize) -> Option<FrameShare> {
        self.room.take(bytes).await
    }

    /// Held by subscriptions that have a page of their log in memory: only a few of a connection may.
    pub fn log_pages(&self) -> Arc<Semaphore> {
        Arc::clone(&self.logs)
    }

    /// Sends a frame, when there is room. False: the connection is gone.
    pub async fn send(&self, text: Vec<u8>) -> bool {
        match self.room.take(text.len() + 1).await {
            Some(share) => self.send_in(text, share).await,
            None => false,
        }
    }

    /// Sends a frame in the room that was taken for it. False: the connection is gone.
    pub async fn send_in(&self, mut text: Vec<u8>, mut share: FrameShare) -> bool {
        text.push(b'\n');
        text.shrink_to_fit();
        share.shrink_to(text.len());
        let outgoing = Outgoing {
            text,
            _share: share,
        };
        self.outgoing.send(outgoing).await.is_ok()
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
            subscriptions.insert(name, self.pumps.spawn(pump).abort_handle());
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

    /// Cancelled when subscriptions are to send what events there are, and end.
    pub fn drain(&self) -> CancellationToken {
        self.drain.clone()
    }

    /// Sends each subscription's remaining events, then ends it.
    pub async fn drain_subscriptions(&self) {
        self.drain.cancel();
        self.pumps.close();
        self.pumps.wait().await;
    }

    /// Ends everything that belongs to the connection.
    pub fn end(&self) {
        self.room.close();
        self.logs.close();
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
pub struct Clients {
    peers: Mutex<BTreeMap<u64, Arc<Peer>>>,
    room: SharedRoom,
}

impl Clients {
    /// The room for frames that wait to be written to any of them.
    pub fn room(&self) -> SharedRoom {
        self.room.clone()
    }

    pub fn add(&self, peer: Arc<Peer>) {
        self.peers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(peer.number, peer);
    }

    pub fn remove(&self, number: u64) {
        self.peers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&number);
    }

    /// Those that have said hello.
    pub fn list(&self) -> Vec<ClientStatus> {
        let clients = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let greeted = clients
            .values()
            .filter_map(|peer| peer.hello.get().map(|hello| (peer, hello)));
        greeted
            .map(|(peer, (hello, role))| ClientStatus {
                name: hello.client.name.clone(),
                kind: hello.client.kind.clone(),
                pid: hello.client.pid,
                role: *role,
                connected_s: peer.connected.elapsed().as_secs(),
            })
            .collect()
    }
}

/// Where a process comes from that has connected; `root`: the process that everything of ours descends from.
pub fn origin(pid: Option<u32>, root: u32) -> Origin {
    match pid {
        // A process in another daemon's sandbox is not the user either. A sandbox that hides no socket lets it find ours.
        Some(pid) if !descends(pid, root) => match is_sandboxed(pid) && is_below_a_daemon(pid) {
            true => Origin::Sandboxed,
            false => Origin::Elsewhere,
        },
        Some(pid) if is_sandboxed(pid) => Origin::Sandboxed,
        _ => Origin::Ours,
    }
}

/// Whether a process of ours is sandboxed: it has more filters of system calls than we have. No process gets rid of one,
/// and its children inherit them. A process that is gone counts as sandboxed.
#[cfg(target_os = "linux")]
fn is_sandboxed(pid: u32) -> bool {
    match (filters_of(&pid.to_string()), filters_of("self")) {
        (Some(theirs), Some(ours)) => theirs > ours,
        _ => true,
    }
}

#[cfg(target_os = "linux")]
fn filters_of(process: &str) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    // Kernels before 5.9 do not count them; they have nothing that could hold a command without mounts either.
    field("Seccomp_filters:").or_else(|| field("Seccomp:"))
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
fn is_sandboxed(_pid: u32) -> bool {
    false
}

/// Whether a process descends from another one, by the kernel's word. If that cannot be known, the answer is yes: a process that
/// is gone by now may have been anybody's, and what it opened may be in the hands of what it started.
#[cfg(target_os = "linux")]
pub fn descends(pid: u32, ancestor: u32) -> bool {
    // The kernel gives no number for a process that we neither see nor have started.
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
    name_and_parent(pid).map(|(_, parent)| parent)
}

#[cfg(target_os = "linux")]
fn name_and_parent(pid: u32) -> Option<(String, u32)> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name is in brackets and may hold anything: the fields come after the last one.
    let (name, rest) = stat.rsplit_once(')')?;
    let (_, name) = name.split_once('(')?;
    let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
    Some((name.to_owned(), parent))
}

/// What the daemon is called, and who holds a command for it.
#[cfg(target_os = "linux")]
const DAEMONS: [&str; 2] = ["reasonixd", HELPER];
/// The helper of a command, which makes its connections.
#[cfg(target_os = "linux")]
const HELPER: &str = "reasonix-child";

/// Whether a process has been started by some daemon of this make, or is a command's helper, by its name and the names of
/// those above it: nobody changes the name of another process. Where the way up breaks off, it has.
#[cfg(target_os = "linux")]
fn is_below_a_daemon(pid: u32) -> bool {
    let mut at = pid;
    for _ in 0..1_000 {
        match name_and_parent(at) {
            Some((name, _)) if at == pid && name == HELPER => return true,
            Some((name, _)) if at != pid && DAEMONS.contains(&name.as_str()) => return true,
            Some((_, parent)) if parent > 1 => at = parent,
            Some(_) => return false,
            None => return true,
        }
    }
    true
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
fn is_below_a_daemon(_pid: u32) -> bool {
    false
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn descends(_pid: u32, _ancestor: u32) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
