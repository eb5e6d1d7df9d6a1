//! Who watches a session, and what they are sent.

pub(crate) mod absence;
pub(crate) mod fanout;
