//! Where there are no network namespaces, no session has one.

use std::io;
use std::sync::Arc;

use proto::Pid;
use sandbox::Place;

use crate::recipe::Recipe;

/// The places of all sessions: none.
#[derive(Clone, Default)]
pub(crate) struct Places;

impl Places {
    /// Always an error.
    pub fn of(&self, _session: Pid, _recipe: &Recipe) -> io::Result<Arc<Place>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// There is nothing to forget.
    pub fn forget(&self, _session: Pid) {}

    /// There is nothing to forget.
    pub fn clear(&self) {}
}

/// Always an error.
pub(crate) fn open(_recipe: &Recipe) -> io::Result<Place> {
    Err(io::ErrorKind::Unsupported.into())
}
