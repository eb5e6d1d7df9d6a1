//! The machine played: by scenes that a person can read, and by a world that does everything in every order.

mod broken;
mod budgets;
mod chance;
mod checker;
mod checkpoints;
mod circles;
mod compacting;
mod edited;
mod ending;
mod escape;
mod fallback;
mod going_back;
mod hand_over;
mod kept;
pub(crate) mod made;
mod pausing;
mod plans;
mod questions;
mod queueing;
mod recovery;
mod repair;
mod scenes;
mod script;
mod storm;
mod trouble;
mod user_commands;
mod world;
