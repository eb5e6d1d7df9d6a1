//! What tests are made with: models that play a script, project folders from text.
//!
//! Everything here is stricter than the real thing. Used by tests alone.

pub mod fixture;
pub mod model;
pub mod script;

pub use script::Script;
