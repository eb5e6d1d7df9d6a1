//! What events look like, as leniently as can be. These types never leave the kind.

use serde_json::value::RawValue;

use crate::lenient::{Number, Raws, Text};

/// One event, or a whole answer as one document (then the message's members stand here).
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
    pub content: Raws<'a>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
}

/// The message as it begins: without content.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
}

/// A block as it begins, or whole.
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

/// More of a block, or of the message.
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
    /// Read neither from the cache nor into it.
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
