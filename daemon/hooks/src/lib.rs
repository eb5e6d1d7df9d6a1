//! Hooks: commands of the user's own that are told what happens in a session, and may stop some of it.
//!
//! What they are told (`told`), which of them are asked (`names`, `settings`) and what their ends mean (`combine`) is
//! pure; `run` starts them, through `contract::Spawn` alone. Knows no files and no session. Called by `session`, which
//! decides when, and by the daemon's settings, which read the files.

pub mod combine;
pub mod names;
pub mod run;
pub mod settings;
pub mod told;

pub use combine::Chain;
pub use run::{Ground, run_all};
pub use settings::{Hook, Hooks, Read, Scope, read};
pub use told::{Told, What};
