//! Which servers may run: asked before each start and each use, because configuration and trust change meanwhile.
//! Implemented by the daemon, which reads both.

use std::path::Path;

use crate::config::ServerConfig;

/// Knows which servers may run now.
pub trait Admission: Send + Sync {
    /// Why a server may not run in a directory any more: it is not configured, or its project is not trusted. A text for
    /// the user. `None`: it may. Blocks.
    fn refusal(&self, config: &ServerConfig, cwd: &Path) -> Option<String>;
}
