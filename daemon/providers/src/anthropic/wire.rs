//! The events, parsed as leniently as possible. These types never leave this kind.

use serde_json::value::RawValue;

use crate::lenient::{Number, RawList, Text};

/// One event, or a whole answer as one document, which has the message's members here.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    pub index: Number,
    #[serde(borrow)]
    pub message: Option<Message<'a>>,
    #[serde(borrow)]
    pub content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub content: RawList<'a>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
}

/// The message at its start, without content.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
}

/// A block at its start, or complete.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub thinking: Text<'a>,
    #[serde(borrow)]
    pub signature: Text<'a>,
}

/// An increment of a block or of the message.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub partial_json: Text<'a>,
    #[serde(borrow)]
    pub thinking: Text<'a>,
    #[serde(borrow)]
    pub signature: Text<'a>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    /// Excludes tokens read from or written to the cache.
    pub input_tokens: Number,
    pub cache_read_input_tokens: Number,
    pub cache_creation_input_tokens: Number,
    pub output_tokens: Number,
    pub output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct OutputDetails {
    pub thinking_tokens: Number,
}
