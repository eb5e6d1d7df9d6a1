//! The loopback that a session's commands share, so that they reach each other's servers.
//!
//! A process opens a network namespace, sends us its handles and exits. We keep the handles. So no
//! process is left behind, and the namespace disappears with the daemon. Only the spawner thread
//! opens namespaces. Others may only remove them.

use std::collections::HashMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::Pid;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use sandbox::NetworkNamespace;

use crate::recipe::{NamespaceOptions, Purpose, Recipe};

/// Time limit for the answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// How many sessions keep their network while they run nothing. Each costs two descriptors.
const KEPT: usize = 64;

/// The networks of all sessions.
#[derive(Clone, Default)]
pub(crate) struct SessionNetworks(Arc<SessionCache<NetworkNamespace>>);

impl SessionNetworks {
    /// Returns a session's network, opening it if needed. Opening blocks for some milliseconds.
    pub fn of(&self, session: Pid, recipe: &Recipe) -> io::Result<Arc<NetworkNamespace>> {
        self.0.of(session, || open(recipe))
    }

    /// Removes a session's network. Running commands keep it, and a later command gets a new one.
    /// Does not wait for one that is being opened.
    pub fn forget(&self, session: Pid) {
        self.0.forget(session);
    }

    /// Removes all of them.
    pub fn clear(&self) {
        let mut kept = self.0.lock();
        kept.setup = None;
        kept.all.clear();
    }
}

/// A bounded cache with one value per session.
struct SessionCache<T>(Mutex<CacheState<T>>);

struct CacheState<T> {
    /// With the number of its last use.
    all: HashMap<Pid, (u64, Arc<T>)>,
    uses: u64,
    /// The session whose value is being opened and will be stored.
    setup: Option<Pid>,
}

impl<T> Default for SessionCache<T> {
    fn default() -> Self {
        Self(Mutex::new(CacheState {
            all: HashMap::new(),
            uses: 0,
            setup: None,
        }))
    }
}

impl<T> SessionCache<T> {
    fn lock(&self) -> MutexGuard<'_, CacheState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, session: Pid) {
        let mut kept = self.lock();
        kept.setup.take_if(|setup| *setup == session);
        kept.all.remove(&session);
    }

    /// Opens outside the lock, because `forget` takes the lock too and must not wait.
    fn of(&self, session: Pid, open: impl FnOnce() -> io::Result<T>) -> io::Result<Arc<T>> {
        let mut kept = self.lock();
        if let Some(known) = kept.used(session) {
            return Ok(known);
        }
        kept.setup = Some(session);
        drop(kept);
        let opened = open();
        let mut kept = self.lock();
        // If the session has ended meanwhile, the value is only used for the current start.
        let wanted = kept.setup.take() == Some(session);
        let opened = Arc::new(opened?);
        if wanted {
            kept.put(session, &opened);
        }
        Ok(opened)
    }
}

impl<T> CacheState<T> {
    fn used(&mut self, session: Pid) -> Option<Arc<T>> {
        self.uses += 1;
        let (used, known) = self.all.get_mut(&session)?;
        *used = self.uses;
        Some(Arc::clone(known))
    }

    /// Removes the least recently used value if there are too many.
    fn put(&mut self, session: Pid, opened: &Arc<T>) {
        if self.all.len() >= KEPT {
            let oldest = self.all.iter().min_by_key(|(_, (used, _))| *used);
            let oldest = oldest.map(|(session, _)| *session);
            oldest.and_then(|oldest| self.all.remove(&oldest));
        }
        self.all.insert(session, (self.uses, Arc::clone(opened)));
    }
}

/// Opens an empty network namespace.
pub(crate) fn open(recipe: &Recipe) -> io::Result<NetworkNamespace> {
    let (ours, theirs) = UnixStream::pair()?;
    let around = NamespaceOptions::default();
    let mut opener = recipe
        .command(Purpose::Place, &around)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let taken = recipe
        .instruct(&ours, Purpose::Place, &around)
        .and_then(|()| take(&ours));
    // It has answered, or never will.
    let _ = opener.kill();
    let _ = opener.wait();
    let (network, user) = taken?;
    NetworkNamespace::of(network, user)
}

fn take(from: &UnixStream) -> io::Result<(OwnedFd, OwnedFd)> {
    from.set_read_timeout(Some(DEADLINE))?;
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    // SIGCHLD of another child may interrupt it.
    rustix::io::retry_on_intr(|| {
        recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)
    })?;
    let mut handles = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => handles.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    match (handles.next(), handles.next()) {
        (Some(network), Some(user)) => Ok((network, user)),
        _ => Err(io::Error::other("no namespaces were handed over")),
    }
}

/// The child's side: hands over its namespaces and exits. Standard input is the channel.
pub(crate) fn give() -> i32 {
    let given = NetworkNamespace::own().and_then(|handles| {
        let handles = handles.each_ref().map(AsFd::as_fd);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&handles));
        let stdin = rustix::stdio::stdin();
        let sent = sendmsg(
            stdin,
            &[IoSlice::new(b"\n")],
            &mut control,
            SendFlags::empty(),
        );
        sent.map_err(io::Error::from)
    });
    i32::from(given.is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_network_opens_without_a_lock_and_is_not_cached_if_forgotten() {
        let networks = SessionCache::default();
        let first = networks.of(Pid(1), || {
            assert!(networks.0.try_lock().is_ok(), "nobody holds it meanwhile");
            networks.forget(Pid(1));
            Ok("first")
        });
        assert_eq!(*first.unwrap(), "first");
        assert_eq!(*networks.of(Pid(1), || Ok("second")).unwrap(), "second");
        assert_eq!(*networks.of(Pid(1), || Ok("third")).unwrap(), "second");
        let failed = networks.of(Pid(2), || Err(io::ErrorKind::TimedOut.into()));
        assert!(failed.is_err());
        assert_eq!(*networks.of(Pid(2), || Ok("again")).unwrap(), "again");
    }

    #[test]
    fn if_there_are_too_many_the_least_recently_used_one_is_dropped() {
        let networks = SessionCache::default();
        let most = u64::try_from(KEPT).unwrap();
        for number in 0..most {
            networks.of(Pid(number), || Ok(number)).unwrap();
        }
        networks.of(Pid(0), || Ok(1_000)).unwrap();
        networks.of(Pid(most), || Ok(most)).unwrap();
        let now = |number| *networks.of(Pid(number), || Ok(1_000)).unwrap();
        for kept in (2..=most).chain([0]) {
            assert_eq!(now(kept), kept);
        }
        assert_eq!(now(1), 1_000);
    }
}
