//! MCP servers: their configuration, the pool of their processes, and their tools in sessions.

mod admission;
pub mod client;
pub mod config;
mod definition;
mod disk;
pub mod listing;
mod listing_pause;
mod log;
pub mod name;
mod output;
mod pins;
pub mod pool;
mod prompt;
mod resources;
pub mod sandbox;
mod schema;
pub mod server;
pub mod state;
mod text;
mod tool;

pub use admission::Admission;
pub use client::Connection;
pub use client::oauth::{
    LOGIN_PREFIX, LoginError, LoginStore, Logins, Logout, Revocation, StartedLogin,
};
pub use client::sdk::SdkConnector;
pub use client::stdio::Programs;
pub use config::{ConfigScope, OAuthClient, ReadOnlyPolicy, ServerConfig, Servers, Transport};
pub use log::ServerLog;
pub use pool::{FirstListing, Pool, PoolOptions, SessionTools, ToolsChoice};
pub use prompt::ListedPrompt;
pub use sandbox::{SandboxedStart, Sandboxes};
pub use server::Server;
pub use state::ServerState;
