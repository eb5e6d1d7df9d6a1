//! What the model sees before the conversation, and how that changes.

pub(crate) mod first_message;
pub(crate) mod forecast;
pub(crate) mod prefix;
pub(crate) mod prefix_parts;
pub(crate) mod reset;
