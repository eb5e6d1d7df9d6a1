//! Stub for systems without network namespaces.

use std::io;
use std::sync::Arc;

use proto::Pid;
use sandbox::NetworkNamespace;

use crate::recipe::Recipe;

/// The networks of all sessions: none.
#[derive(Clone, Default)]
pub(crate) struct SessionNetworks;

impl SessionNetworks {
    /// Always an error.
    pub fn of(&self, _session: Pid, _recipe: &Recipe) -> io::Result<Arc<NetworkNamespace>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing.
    pub fn forget(&self, _session: Pid) {}

    /// Does nothing.
    pub fn clear(&self) {}
}

/// Always an error.
pub(crate) fn open(_recipe: &Recipe) -> io::Result<NetworkNamespace> {
    Err(io::ErrorKind::Unsupported.into())
}
