//! What the daemon gives its sessions: settings, model, tools and rules, behind one trait.

pub(crate) mod file_knowledge;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod persisted_rules;
pub(crate) mod setup;
