//! A socket between a client and the daemon, whose connections a test can cut at any byte.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Chance;

/// Passes bytes on, until the test cuts the connection.
pub struct Proxy {
    path: PathBuf,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Both ends of the connections that are passed on.
    ends: Mutex<Vec<UnixStream>>,
    connections: AtomicUsize,
    /// Bytes that clients have said.
    said: AtomicU64,
    /// A connection is cut when so many bytes have come from the daemon; 0: never.
    cut_after: AtomicU64,
    /// Each connection draws its own number of bytes from this span.
    span: Mutex<Option<(u64, u64, Chance)>>,
    /// A connection is closed, between two frames, when so many bytes have come from the daemon; 0: never.
    close_after: AtomicU64,
    gone: AtomicBool,
}

impl Shared {
    fn ends(&self) -> MutexGuard<'_, Vec<UnixStream>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a new connection draws; 0: nothing.
    fn draw(&self) -> u64 {
        let mut span = self.span.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *span {
            Some((low, high, chance)) => *low + chance.below(*high - *low),
            None => 0,
        }
    }
}

impl Proxy {
    /// Listens at `path`, and passes every connection on to `to`.
    ///
    /// # Panics
    /// The path cannot be bound.
    #[must_use]
    pub fn start(path: &Path, to: &Path) -> Self {
        let listener = UnixListener::bind(path).expect("bind the proxy's socket");
        let shared = Arc::new(Shared::default());
        let (theirs, to) = (Arc::clone(&shared), to.to_path_buf());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if theirs.gone.load(Ordering::SeqCst) {
                    return;
                }
                // Nobody there: the client sees its connection end.
                if let Ok(daemon) = UnixStream::connect(&to) {
                    pass_on(client, daemon, &theirs);
                }
            }
        });
        Self {
            path: path.to_path_buf(),
            shared,
        }
    }

    /// Its address.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Connections so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Bytes that clients have said so far.
    #[must_use]
    pub fn said(&self) -> u64 {
        self.shared.said.load(Ordering::SeqCst)
    }

    /// Cuts every connection, wherever it is.
    pub fn cut(&self) {
        for end in self.shared.ends().drain(..) {
            // One that has ended already is cut.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// From now on, each connection is cut after so many bytes from the daemon; 0: never.
    pub fn cut_after(&self, bytes: u64) {
        self.shared.cut_after.store(bytes, Ordering::SeqCst);
    }

    /// From now on, each connection is closed once it has passed on so many bytes from the daemon, the last of them
    /// included; 0: never.
    pub fn close_after(&self, bytes: u64) {
        self.shared.close_after.store(bytes, Ordering::SeqCst);
    }

    /// From now on, each new connection is cut after a number of bytes of its own, at least `low` and below `high`.
    pub fn cut_between(&self, low: u64, high: u64, seed: u64) {
        let mut span = self
            .shared
            .span
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *span = Some((low, high, Chance::of(seed)));
        // Open connections were made before there was anything to draw.
        drop(span);
        self.cut();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.gone.store(true, Ordering::SeqCst);
        self.cut();
        // Wakes the listener, so that it sees that it is not wanted any more.
        let _ = UnixStream::connect(&self.path);
    }
}

fn pass_on(client: UnixStream, daemon: UnixStream, shared: &Arc<Shared>) {
    shared.connections.fetch_add(1, Ordering::SeqCst);
    let pair = (client.try_clone(), daemon.try_clone());
    let (Ok(client_too), Ok(daemon_too)) = pair else {
        return;
    };
    if let (Ok(one), Ok(two)) = (client.try_clone(), daemon.try_clone()) {
        shared.ends().extend([one, two]);
    }
    let said = Arc::clone(shared);
    std::thread::spawn(move || {
        copy(client, daemon, |bytes| {
            said.said.fetch_add(bytes, Ordering::SeqCst);
            Pass::On
        });
    });
    let shared = Arc::clone(shared);
    let (mut passed, drawn) = (0, shared.draw());
    std::thread::spawn(move || {
        copy(daemon_too, client_too, |bytes| {
            passed += bytes;
            let over = |limit: u64| limit != 0 && passed > limit;
            let close = shared.close_after.load(Ordering::SeqCst);
            if over(shared.cut_after.load(Ordering::SeqCst)) || over(drawn) {
                Pass::Half
            } else if close != 0 && passed >= close {
                Pass::Last
            } else {
                Pass::On
            }
        });
    });
}

/// What becomes of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    On,
    /// Half of it, and then the connection breaks.
    Half,
    /// All of it, and then the connection is closed.
    Last,
}

/// Copies until one side ends, or `pass` has had enough.
fn copy(mut from: UnixStream, mut to: UnixStream, mut pass: impl FnMut(u64) -> Pass) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let what = pass(count as u64);
        // The last piece is passed on by half: connections break inside frames.
        let part = match what {
            Pass::Half => &buffer[..count / 2],
            Pass::On | Pass::Last => &buffer[..count],
        };
        if to.write_all(part).is_err() || what != Pass::On {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
