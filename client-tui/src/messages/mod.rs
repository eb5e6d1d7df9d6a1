//! The words that a person reads in this interface: a catalog for each part of the screen. The words of the transcript,
//! languages, and what makes a catalog are shared with other clients ([`client::messages`]).

pub mod app;
pub mod composer;
pub mod dialog;
pub mod edge;
pub mod keys;
pub mod lists;
pub mod pager;
pub mod status;
pub mod text;

pub(crate) use client::catalog;
pub use client::messages::{Language, transcript};

#[cfg(test)]
mod tests;
