//! The loopback that the commands of one session share: what one of them serves, the next one reaches.
//!
//! A process is started that has a network namespace of its own, sends us the handles, and ends. We keep the
//! handles: there is no process that could be left behind, and with the daemon's end they are gone. Used only by
//! the thread that starts everything; others may only forget.

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
use sandbox::Place;

use crate::recipe::{Around, Purpose, Recipe};

/// An answer that takes longer is none.
const DEADLINE: Duration = Duration::from_secs(5);
/// Sessions whose place is kept while nothing of them runs; each costs two descriptors.
const KEPT: usize = 64;

/// The places of all sessions.
#[derive(Clone, Default)]
pub(crate) struct Places(Arc<Shelf<Place>>);

impl Places {
    /// That of a session, opened where there is none yet. Blocks for some milliseconds then.
    pub fn of(&self, session: Pid, recipe: &Recipe) -> io::Result<Arc<Place>> {
        self.0.of(session, || open(recipe))
    }

    /// What still runs in it keeps it; a later command gets another one. Does not wait for one that is being opened.
    pub fn forget(&self, session: Pid) {
        self.0.forget(session);
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        let mut kept = self.0.lock();
        kept.opening = None;
        kept.all.clear();
    }
}

/// What is kept for each session, up to a bound.
struct Shelf<T>(Mutex<Kept<T>>);

struct Kept<T> {
    /// With the number of its last use.
    all: HashMap<Pid, (u64, Arc<T>)>,
    uses: u64,
    /// For whom one is being opened and is to be kept.
    opening: Option<Pid>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Mutex::new(Kept {
            all: HashMap::new(),
            uses: 0,
            opening: None,
        }))
    }
}

impl<T> Shelf<T> {
    fn lock(&self) -> MutexGuard<'_, Kept<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, session: Pid) {
        let mut kept = self.lock();
        kept.opening.take_if(|opening| *opening == session);
        kept.all.remove(&session);
    }

    /// Opened outside of the lock, which those who forget take too and must not wait for.
    fn of(&self, session: Pid, open: impl FnOnce() -> io::Result<T>) -> io::Result<Arc<T>> {
        let mut kept = self.lock();
        if let Some(known) = kept.used(session) {
            return Ok(known);
        }
        kept.opening = Some(session);
        drop(kept);
        let opened = open();
        let mut kept = self.lock();
        // Where the session has ended meanwhile, this one is for what is being started alone.
        let wanted = kept.opening.take() == Some(session);
        let opened = Arc::new(opened?);
        if wanted {
            kept.put(session, &opened);
        }
        Ok(opened)
    }
}

impl<T> Kept<T> {
    fn used(&mut self, session: Pid) -> Option<Arc<T>> {
        self.uses += 1;
        let (used, known) = self.all.get_mut(&session)?;
        *used = self.uses;
        Some(Arc::clone(known))
    }

    /// The one that was used longest ago makes room.
    fn put(&mut self, session: Pid, opened: &Arc<T>) {
        if self.all.len() >= KEPT {
            let oldest = self.all.iter().min_by_key(|(_, (used, _))| *used);
            let oldest = oldest.map(|(session, _)| *session);
            oldest.and_then(|oldest| self.all.remove(&oldest));
        }
        self.all.insert(session, (self.uses, Arc::clone(opened)));
    }
}

/// Opens a place that nobody is in.
pub(crate) fn open(recipe: &Recipe) -> io::Result<Place> {
    let (ours, theirs) = UnixStream::pair()?;
    let around = Around::default();
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
    // It has answered, or it will not.
    let _ = opener.kill();
    let _ = opener.wait();
    let (network, user) = taken?;
    Place::of(network, user)
}

fn take(from: &UnixStream) -> io::Result<(OwnedFd, OwnedFd)> {
    from.set_read_timeout(Some(DEADLINE))?;
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    // The end of another child of ours may come in between.
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

/// The other side: hands over where it is, and ends. Standard input is the channel.
pub(crate) fn give() -> i32 {
    let given = Place::own().and_then(|handles| {
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
    fn forgetting_does_not_wait_for_opening_and_wins() {
        let places = Shelf::default();
        let first = places.of(Pid(1), || {
            assert!(places.0.try_lock().is_ok(), "nobody holds it meanwhile");
            places.forget(Pid(1));
            Ok("first")
        });
        assert_eq!(*first.unwrap(), "first");
        assert_eq!(*places.of(Pid(1), || Ok("second")).unwrap(), "second");
        assert_eq!(*places.of(Pid(1), || Ok("third")).unwrap(), "second");
        let failed = places.of(Pid(2), || Err(io::ErrorKind::TimedOut.into()));
        assert!(failed.is_err());
        assert_eq!(*places.of(Pid(2), || Ok("again")).unwrap(), "again");
    }

    #[test]
    fn if_there_are_too_many_the_least_recently_used_one_is_dropped() {
        let places = Shelf::default();
        let most = u64::try_from(KEPT).unwrap();
        for number in 0..most {
            places.of(Pid(number), || Ok(number)).unwrap();
        }
        places.of(Pid(0), || Ok(1_000)).unwrap();
        places.of(Pid(most), || Ok(most)).unwrap();
        let now = |number| *places.of(Pid(number), || Ok(1_000)).unwrap();
        for kept in (2..=most).chain([0]) {
            assert_eq!(now(kept), kept);
        }
        assert_eq!(now(1), 1_000);
    }
}
