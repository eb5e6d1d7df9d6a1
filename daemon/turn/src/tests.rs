//! Tests of the machine: readable scenarios, and a random simulation that does everything in every order.

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
mod random_runs;
mod recovery;
mod repair;
mod scenarios;
mod script;
mod simulation;
mod trouble;
mod user_commands;
