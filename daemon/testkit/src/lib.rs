//! What tests of several crates share: things that stand in for the world outside, stricter than the real ones.

pub mod fault;
pub mod fixture;
pub mod model;
pub mod schema;
pub mod script;
pub mod skip;
pub mod stop_flag;

pub use script::Script;
pub use stop_flag::RaiseOnDrop;
