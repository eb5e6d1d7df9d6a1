//! Sessions: one actor each. The pure machine decides, this crate does.
//!
//! Reaches models, tools and processes only through the traits of `contract`; knows no vendor, no tool and no socket.
//! Called by `reasonixd`.

mod actor;
mod always;
mod answers;
mod approvals;
mod arguments;
mod aside;
mod asking;
mod away;
mod base;
mod begin;
mod birth;
mod blocks;
mod branching;
mod budget;

mod cached;
mod call;
mod catalog;
mod checkpoint;
mod children;
mod commands;
mod compacting;
mod delete;
mod dispatch;
mod environment;
mod evict;
mod export;
mod fanout;
mod follow;
mod fork;
mod frozen;
mod gitsays;
mod handle;
mod harvesting;
mod heal;
mod hearing;
mod hooked;
mod inspect;
mod joining;
mod journal;
mod judging;
mod keeping;
mod kept;
mod keys;
mod leaving;
mod listing;
mod load;
mod making;
mod names;
mod notes;
mod opening;
mod parting;
mod perform;
mod permissions;
mod plans;
mod prefix;
mod presence;
mod prune;
mod questions;
mod queue;
mod repair;
mod resetting;
mod rewind;
mod search;
mod setup;
mod shape;
mod shells;
mod signals;
mod slots;
mod spending;
mod stats;
mod steps;
mod summary;
mod supervisor;
mod switching;
mod telling;
mod views;
mod waiters;
mod walls;

pub use budget::Bounds;
pub use evict::Residence;
pub use follow::{Follow, Following};
pub use handle::{Attach, SessionHandle};
pub use hooked::status_of as hooks_listed;
pub use kept::KeptRules;
pub use keys::Keys;
pub use permissions::{Asked, Explained, Permissions};
pub use setup::{Assembly, Bundle, Layered, Pace, Setup, Terms};
pub use supervisor::{Client, Supervisor};
pub use walls::{Confine, Demand, make_private};

#[cfg(test)]
mod tests;
