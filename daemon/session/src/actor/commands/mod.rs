//! What clients ask of a session, carried out in its actor: a file each.

pub(crate) mod agents;
pub(crate) mod attach;
pub(crate) mod compaction;
pub(crate) mod directory;
pub(crate) mod follow;
pub(crate) mod goals;
pub(crate) mod inspection;
pub(crate) mod interactions;
pub(crate) mod more_work;
pub(crate) mod prompt_gate;
pub(crate) mod queue;
pub(crate) mod reload;
pub(crate) mod rewind;
pub(crate) mod signals;
pub(crate) mod user_shell;
