//! The words that a person reads in this interface: a catalog for each part of the screen. The words of the transcript,
//! languages, and what makes a catalog are shared with other clients ([`client::messages`]).

pub mod app;
pub mod composer;
pub mod dialog;
pub mod edge;
pub mod found;
pub mod goal;
pub mod lists;
pub mod models;
pub mod pager;
pub mod status;
pub mod text;

pub(crate) use client::catalog;
pub use client::messages::{Language, transcript};

/// A message of a row of a table: English, Chinese.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words(pub &'static str, pub &'static str);

impl client::messages::Message for Words {
    fn english(self) -> &'static str {
        self.0
    }

    fn chinese(self) -> &'static str {
        self.1
    }
}

#[cfg(test)]
mod tests;
