//! Writes one of the small files beside the log, off the actor's path: one job at a time, the newest request wins.
//!
//! Never delays or fails a session: a file that cannot be written is reported once, and is as good as absent.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::sidecar::Sidecar;
use tokio::task::JoinHandle;

/// How long the end of a session waits for the last job.
const REST_MAX: Duration = Duration::from_secs(2);

/// One file of one session.
pub struct SidecarFile {
    slot: Arc<Slot>,
    job: Option<JoinHandle<()>>,
}

struct Slot {
    dir: PathBuf,
    sidecar: Sidecar,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    request: Option<SidecarWrite>,
    /// A job is at work, and looks for the next request before it ends.
    busy: bool,
    /// It has been said that the file cannot be written.
    reported: bool,
}

enum SidecarWrite {
    Put(Vec<u8>),
    Remove,
}

impl SidecarFile {
    /// `dir`: the session's.
    pub fn new(dir: PathBuf, sidecar: Sidecar) -> Self {
        let slot = Arc::new(Slot {
            dir,
            sidecar,
            state: Mutex::default(),
        });
        Self { slot, job: None }
    }

    /// Has this content put in place of the old.
    pub fn put(&mut self, content: Vec<u8>) {
        self.request(SidecarWrite::Put(content));
    }

    /// Has the file taken away.
    pub fn remove(&mut self) {
        self.request(SidecarWrite::Remove);
    }

    fn request(&mut self, request: SidecarWrite) {
        let mut state = self.slot.lock();
        state.request = Some(request);
        if std::mem::replace(&mut state.busy, true) {
            return;
        }
        drop(state);
        let slot = Arc::clone(&self.slot);
        self.job = Some(tokio::task::spawn_blocking(move || slot.work()));
    }

    /// Waits for the last job, with a bound: whoever opens the session next finds no job of this life at work.
    pub async fn rest(&mut self) {
        if let Some(job) = self.job.take()
            && tokio::time::timeout(REST_MAX, job).await.is_err()
        {
            tracing::warn!(dir = %self.slot.dir.display(), "a file beside the log is not written in time");
        }
    }
}

impl Slot {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs requests until there is none. Blocks.
    fn work(&self) {
        loop {
            let mut state = self.lock();
            let Some(request) = state.request.take() else {
                state.busy = false;
                return;
            };
            drop(state);
            let done = match request {
                SidecarWrite::Put(content) => {
                    store::sidecar::put(&self.dir, self.sidecar, &content)
                }
                SidecarWrite::Remove => store::sidecar::remove(&self.dir, self.sidecar),
            };
            if let Err(error) = done
                && !std::mem::replace(&mut self.lock().reported, true)
            {
                tracing::warn!(
                    reason = store::reason(&error),
                    "a file beside the log cannot be written"
                );
            }
        }
    }
}
