//! Settings: what can be set, what is set where, and what counts.
//!
//! Nothing here keeps the daemon from opening: a wrong value falls back to its default alone, visibly.

mod bounds;
mod caches;
mod dollars;
pub(crate) mod edit;
pub mod effort;
pub mod example;
pub mod facts;
mod hooks;
pub(crate) mod kept;
mod layers;
mod near;
pub mod presets;
mod project;
mod providers;
pub(crate) mod read;
mod rules;
mod schema;
pub mod shipped;
pub mod trust;
mod value;
mod values;
pub(crate) mod write;

pub use bounds::KnownBounds;
pub use layers::{Layer, Loaded, load};
pub use project::Project;
pub use providers::{ProviderEntry, find as find_model};
pub use schema::{KEYS, Key, Kind, Reach};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use proto::SessionOptions;
use proto::budget::Budget;
use proto::record::Rules;
use session::SandboxSettings;
use turn::RecoverPolicy;

/// Values in force for one working directory.
#[derive(Clone, Debug)]
pub struct Settings {
    pub default_model: Option<String>,
    /// Options of a new session that its client does not give.
    pub options: SessionOptions,
    /// Per cent of the model's window; 0: never.
    pub compact_percent: u8,
    pub user_rules: Rules,
    pub project_rules: Rules,
    /// Absolute, and not `/`; as `allow_write`.
    pub workspace_root: Option<PathBuf>,
    pub allow_write: Vec<PathBuf>,
    pub deny_read: Vec<String>,
    /// How commands are held.
    pub confine: SandboxSettings,
    /// By what they are held. It counts from the daemon's start to its end.
    pub layers: procs::BackendChoice,
    pub bash_timeout_ms: u64,
    pub recover: Option<RecoverPolicy>,
    /// Days without activity after which a session may be pruned; 0: never.
    pub keep_days: u64,
    pub log: String,
    pub life: Life,
    pub connect_ms: u64,
    pub first_byte_ms: u64,
    pub idle_ms: u64,
    pub retry_tries: u32,
    pub retry_base_ms: u64,
    pub retry_cap_ms: u64,
    pub retry_total_ms: u64,
    /// Deferred tools that stand in the prefix all the same.
    pub pinned: Vec<String>,
    /// Variables that commands get although they are named like a secret.
    pub pass: Vec<String>,
    /// Where keys are kept.
    pub credentials_store: crate::credentials::StoreChoice,
    pub providers: Vec<ProviderEntry>,
    /// So long a request may wait for its turn.
    pub queue_ms: u64,
    pub budget: Budgets,
    /// Who answers for the rest of a turn where the session's model is down.
    pub fallback_model: Option<String>,
    /// Who is asked for what is cheap; `None`: the session's own model.
    pub fast_model: Option<String>,
    /// What the config says of presets.
    pub presets: BTreeMap<String, presets::Preset>,
}

/// What may be used, by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// All sessions of the home, in a day.
    pub day: Budget,
    /// All sessions of a project, in a day.
    pub project: Budget,
}

/// How the daemon lives. It counts from the daemon's start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The daemon goes when nobody has needed it for this long; `None`: never.
    pub idle_exit: Option<Duration>,
    /// A client has this long to say hello.
    pub hello: Duration,
    /// A client that takes nothing for this long while data waits is let go.
    pub client_stuck: Duration,
    /// A session that does nothing and has nobody attached leaves memory after this long; `None`: never.
    pub evict: Option<Duration>,
}

#[cfg(test)]
pub(crate) mod tests;
