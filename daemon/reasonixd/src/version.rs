//! The version of the running program, as clients, logs and files see it.

use std::sync::OnceLock;

static VERSION: OnceLock<&'static str> = OnceLock::new();

/// The version that the program was started as.
pub fn version() -> &'static str {
    VERSION.get().copied().unwrap_or(proto::VERSION)
}

/// Says which version the program is, before anything asks. The first word counts.
pub fn start_as(version: &'static str) {
    let _ = VERSION.set(version);
}
