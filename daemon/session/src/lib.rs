//! Sessions: one actor each. The pure machine decides, this crate does.
//!
//! Reaches models, tools and processes only through the traits of `contract`; knows no vendor, no tool and no socket.
//! Called by `reasonixd`.

mod actor;
mod answers;
mod arguments;
mod asking;
mod birth;
mod call;
mod catalog;
mod commands;
mod fanout;
mod follow;
mod handle;
mod journal;
mod keys;
mod listing;
mod load;
mod opening;
mod perform;
mod prefix;
mod setup;
mod summary;
mod supervisor;

pub use follow::{Follow, Following};
pub use handle::{Attach, SessionHandle};
pub use keys::Keys;
pub use setup::{Assembly, Layered, Setup};
pub use supervisor::{Client, Supervisor};

#[cfg(test)]
mod tests;
