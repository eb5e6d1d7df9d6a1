//! Parameters and answers of the methods, one file a resource.

pub mod agent;
pub mod cache;
pub mod command;
pub mod compact;
pub mod config;
pub mod daemon;
pub mod elicitation;
pub mod forecast;
pub mod goal;
pub mod history;
pub mod hook;
pub mod interaction;
pub mod mcp;
pub mod memory;
pub mod process;
pub mod profile;
pub mod reload;
pub mod rules;
pub mod session;
pub mod skill;
pub mod symbol;
pub mod worktree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No parameters, or nothing to answer: `{}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}
