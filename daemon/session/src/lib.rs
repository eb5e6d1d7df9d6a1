//! Sessions: one actor each. The pure machine decides, this crate does.
//!
//! Reaches models, tools and processes only through the traits of `contract`; knows no vendor, no tool and no socket.
//! Called by `reasonixd`.

mod actor;
mod answers;
mod arguments;
mod aside;
mod asking;
mod away;
mod birth;
mod call;
mod catalog;
mod checkpoint;
mod children;
mod commands;
mod delete;
mod environment;
mod evict;
mod export;
mod fanout;
mod follow;
mod fork;
mod handle;
mod heal;
mod inspect;
mod joining;
mod journal;
mod keeping;
mod keys;
mod leaving;
mod listing;
mod load;
mod names;
mod notes;
mod opening;
mod parting;
mod perform;
mod prefix;
mod presence;
mod prune;
mod questions;
mod queue;
mod rewind;
mod search;
mod setup;
mod shells;
mod signals;
mod slots;
mod stats;
mod steps;
mod summary;
mod supervisor;
mod telling;
mod views;

pub use evict::Residence;
pub use follow::{Follow, Following};
pub use handle::{Attach, SessionHandle};
pub use keys::Keys;
pub use setup::{Assembly, Layered, Setup};
pub use supervisor::{Client, Supervisor};

#[cfg(test)]
mod tests;
