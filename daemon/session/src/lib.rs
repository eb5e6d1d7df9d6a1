//! Sessions: one actor each. The pure machine decides, this crate does.
//!
//! Reaches models, tools and processes only through the traits of `contract`; knows no vendor, no tool and no socket.
//! Called by `reasonixd`.

mod actor;
mod assembly;
mod calls;
mod context;
mod history;
mod journal;
mod reporter;
mod request;
mod research;
mod supervisor;
pub mod tasks;
mod viewers;

pub use actor::commands::follow::{Follow, Following};
pub use actor::handle::{Attach, SessionHandle};
pub use assembly::agent_models::AgentModels;
pub use assembly::goals::GoalSettings;
pub use assembly::guards::Guards;
pub use assembly::key_keeper::{KeyKeeper, KeysByVariable};
pub use assembly::memory_settings::MemorySettings;
pub use assembly::options::SAMPLES_MAX;
pub use assembly::persisted_rules::PersistedRules;
pub use assembly::reviewer_settings::ReviewerSettings;
pub use assembly::sandbox_settings::{SandboxDemand, SandboxSettings};
pub use assembly::server_content::{ServerContent, ServerPrompt};
pub use assembly::setup::{
    Assembly, DirectoryPolicy, Effort, EffortChoice, ModelSetup, PresetOptions, Profile,
    ProfileChoice, RuleLayer, Setup, ToolsNow,
};
pub use assembly::shared_budgets::SharedBudgets;
pub use assembly::skill_settings::SkillSettings;
pub use calls::hooks::status_of as hooks_listed;
pub use calls::permissions::{Explained, PermissionScope, Permissions, workspace_root};
pub use calls::sandbox::make_private;
pub use calls::sandbox::program::ProgramSandbox;
pub use context::prefix::SYSTEM_PROMPT;
pub use request::keys::Keys;
pub use supervisor::eviction::ResidencyLimits;
pub use supervisor::prune::AUTOSTART_LABEL;
pub use supervisor::{Client, Supervisor};

#[cfg(test)]
mod tests;
