//! MCP servers: their configuration, their names, their states, and the pool that owns them.

pub mod config;
mod disk;
mod listing;
mod log;
pub mod name;
mod pins;
pub mod state;
mod text;
