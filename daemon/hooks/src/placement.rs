//! Where a hook runs: in the sandbox of the session's commands, or outside it. Whoever knows the session decides.

use std::sync::Arc;

use contract::SandboxSpec;

use crate::settings::Hook;

/// Where a hook runs.
#[derive(Clone, Debug)]
pub enum HookPlacement {
    Sandboxed(Arc<SandboxSpec>),
    /// With the user's rights. `path`: the `PATH` that it gets in place of the session's.
    Outside {
        path: Option<String>,
    },
    /// Nowhere, with the reason. On events that can be blocked it blocks.
    Refused(String),
}

/// Decides where hooks run.
pub trait PlaceHook: Send + Sync {
    /// Where this hook runs now. Blocks.
    fn place(&self, hook: &Hook) -> HookPlacement;
}
