//! What the daemon gives its sessions: settings, model, tools and rules, through one trait. Owns nothing that changes.

pub(crate) mod agent_models;
pub(crate) mod environment_filter;
pub(crate) mod file_knowledge;
pub(crate) mod goals;
pub(crate) mod guards;
pub(crate) mod instruction_blocks;
pub(crate) mod key_keeper;
pub(crate) mod memory_settings;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod persisted_rules;
pub(crate) mod reviewer_settings;
pub(crate) mod sandbox_settings;
pub(crate) mod server_content;
pub(crate) mod setup;
pub(crate) mod shared_budgets;
pub(crate) mod skill_settings;
pub(crate) mod tool_repair;
