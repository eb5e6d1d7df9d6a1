//! Settings: what can be set, which file sets it, and which value counts.
//!
//! Nothing here keeps the daemon from opening: a wrong value falls back to its default alone, visibly.

pub mod autostart;
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
pub mod model_lists;
mod near;
pub mod presets;
mod project;
mod providers;
pub(crate) mod read;
mod references;
mod rules;
mod schema;
mod servers;
pub mod shipped;
pub mod trust;
mod value;
mod values;
pub(crate) mod write;

pub use bounds::{KnownBounds, KnownGuards};
pub use layers::{Layer, Loaded, is_kind, load};
pub use project::Project;
pub use providers::ProviderEntry;
pub use references::find as find_model;
pub use schema::{KEYS, Key, Kind, ProjectPermission};
pub use values::{Budgets, DaemonTimeouts, Settings};

#[cfg(test)]
pub(crate) mod tests;
