//! The index of messages: finds words in what was said in all sessions.
//!
//! Derived from the logs and rebuilt from them whenever it cannot be used. It stores where messages are, and their words,
//! but not their texts: those are read from the logs. One thread writes it ([`HistoryFeed`]), searches only read it.
//! Blocking code: call it from threads that may block.

pub mod words;

pub mod prompts;

pub mod query;

pub mod ranking;

pub mod snippet;

pub mod stems;

pub mod database;

pub mod search;

pub mod window;

mod feed;
mod log_tail;
mod writer;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod golden;

pub use database::IndexError;
pub use feed::{HistoryFeed, IndexProgress};
