//! What the tools of one session remember from call to call, and its commands in the background.
//!
//! Lives as long as the session is loaded: after a restart of the daemon nothing counts as read, and files are read
//! again before they are changed. Dropping it stops the commands. The assembly puts it into `CallContext::memory`.

use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::{CallContext, Outcome};
use proto::CallId;
use workspace::{Stamp, Workspace};

use crate::shells::Shells;

/// Files that are remembered; the one that was read longest ago is forgotten first.
const READ_MAX: usize = 4096;
/// Calls whose judged place is remembered.
const PINNED_MAX: usize = 256;

/// The session's workspace, the files that were read, and at which state; its commands in the background.
#[derive(Debug)]
pub struct Memory {
    workspace: Arc<Workspace>,
    kept: Mutex<Kept>,
    shells: Shells,
}

/// Which files were read, and at which state: what outlives a memory.
#[derive(Debug)]
pub struct Remembered(Vec<(PathBuf, (u64, Stamp))>);

#[derive(Debug, Default)]
struct Kept {
    /// Counts up with each use, to know the oldest.
    clock: u64,
    read: HashMap<PathBuf, (u64, Stamp)>,
    pinned: HashMap<CallId, (u64, PathBuf)>,
}

impl Memory {
    /// A memory in which nothing was read yet.
    #[must_use]
    pub fn new(workspace: Arc<Workspace>) -> Arc<Self> {
        Arc::new(Self {
            workspace,
            kept: Mutex::default(),
            shells: Shells::default(),
        })
    }

    /// The memory in a context, where the assembly put one.
    pub(crate) fn of(memory: &Arc<dyn Any + Send + Sync>) -> Option<Arc<Self>> {
        Arc::clone(memory).downcast().ok()
    }

    /// The files that this session works on.
    #[must_use]
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// The memory in a context, for what is about commands in the background.
    ///
    /// # Errors
    /// An outcome, where the assembly put none.
    pub(crate) fn with_shells(context: &CallContext) -> Result<Arc<Self>, Outcome> {
        Self::of(&context.memory)
            .ok_or_else(|| Outcome::failed("this session keeps no commands in the background"))
    }

    /// The session's commands in the background.
    pub(crate) fn shells(&self) -> &Shells {
        &self.shells
    }

    /// Binds a call to the place that was judged and shown for it: if its path leads elsewhere when it runs, it is
    /// refused.
    pub fn pin(&self, call: &CallId, place: &Path) {
        let mut kept = self.kept();
        let now = kept.tick();
        kept.pinned.insert(call.clone(), (now, place.to_owned()));
        forget_oldest(&mut kept.pinned, PINNED_MAX, |(used, _)| *used);
    }

    /// The place that a call was bound to; it is used once.
    pub(crate) fn unpin(&self, call: &CallId) -> Option<PathBuf> {
        self.kept().pinned.remove(call).map(|(_, place)| place)
    }

    /// The state at which a file's content was last known.
    pub(crate) fn known(&self, path: &Path) -> Option<Stamp> {
        self.kept().read.get(path).map(|(_, stamp)| *stamp)
    }

    /// The content of a file is known at this state.
    pub(crate) fn know(&self, path: &Path, stamp: Stamp) {
        let mut kept = self.kept();
        let now = kept.tick();
        kept.read.insert(path.to_owned(), (now, stamp));
        forget_oldest(&mut kept.read, READ_MAX, |(used, _)| *used);
    }

    /// What is known of files, for a later memory of the same session. What a call was bound to is not: no call runs.
    #[must_use]
    pub fn remembered(&self) -> Remembered {
        let kept = self.kept();
        let read = kept.read.iter();
        Remembered(read.map(|(path, used)| (path.clone(), *used)).collect())
    }

    /// Knows what an earlier memory of the same session knew. What has changed meanwhile is noticed by its stamp.
    pub fn remind(&self, remembered: Remembered) {
        let mut kept = self.kept();
        let newest = remembered.0.iter().map(|(_, (used, _))| *used).max();
        kept.clock = kept.clock.max(newest.unwrap_or(0));
        for (path, used) in remembered.0 {
            kept.read.entry(path).or_insert(used);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

fn forget_oldest<K: Clone + Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, V>,
    max: usize,
    used: impl Fn(&V) -> u64,
) {
    if map.len() > max {
        let oldest = map
            .iter()
            .min_by_key(|(_, value)| used(value))
            .map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            map.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
