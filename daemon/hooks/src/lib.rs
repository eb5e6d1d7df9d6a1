//! Hooks: the user's commands that are notified of events in a session and may block some of them.
//!
//! Their input (`payload`), their selection (`names`, `settings`) and the meaning of their exits
//! (`combine`) are pure. `run` starts them through `contract::Spawn` only. Reads no files but those of
//! hooks that are to run outside the sandbox (`files`), and knows no session. `session` calls this at events, and the daemon's settings read the files.

pub mod combine;
pub mod files;
pub mod names;
pub mod payload;
pub mod placement;
pub mod run;
pub mod settings;

pub use combine::HookChain;
pub use files::{FileState, HookFile};
pub use payload::{HookPayload, HookSession};
pub use placement::{HookPlacement, PlaceHook};
pub use run::{HookEnvironment, run_all};
pub use settings::{Hook, HookScope, Hooks, ParsedHooks, read};
