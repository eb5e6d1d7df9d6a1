//! Calls of tools: judged, asked about, run, and undone. Owns the calls under way, the commands that they leave in the
//! background, the rules in force, and the hooks and how they went.

pub(crate) mod ahead;
pub(crate) mod arguments;
pub(crate) mod background;
pub(crate) mod call;
pub(crate) mod environment;
pub(crate) mod events;
pub(crate) mod external_changes;
pub(crate) mod git_config;
pub(crate) mod hook_placement;
pub(crate) mod hooks;
pub(crate) mod instructions;
pub(crate) mod judgement;
pub(crate) mod outside;
pub(crate) mod permissions;
pub(crate) mod quarantine;
pub(crate) mod references;
pub(crate) mod sandbox;
pub(crate) mod skills;
pub(crate) mod state;
