//! The events, parsed as leniently as possible. These types never leave this kind.

use serde_json::value::RawValue;

use crate::lenient::{Number, RawList, Text};

/// One event.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub response: Option<Response<'a>>,
    #[serde(borrow)]
    pub item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub item_id: Text<'a>,
    pub output_index: Number,
    pub content_index: Number,
    pub summary_index: Number,
    #[serde(borrow)]
    pub delta: Text<'a>,
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub refusal: Text<'a>,
    #[serde(borrow)]
    pub arguments: Text<'a>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

/// The complete answer: in events, or as one document.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub status: Text<'a>,
    #[serde(borrow)]
    pub output: RawList<'a>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Incomplete<'a> {
    #[serde(borrow)]
    pub reason: Text<'a>,
}

/// One item of the output.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Output<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub call_id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub content: RawList<'a>,
    #[serde(borrow)]
    pub summary: RawList<'a>,
    #[serde(borrow)]
    pub encrypted_content: Text<'a>,
}

/// A part of an item's content.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub refusal: Text<'a>,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub input_tokens: Number,
    pub output_tokens: Number,
    pub input_tokens_details: Option<InputDetails>,
    pub output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct InputDetails {
    pub cached_tokens: Number,
    pub cache_write_tokens: Number,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct OutputDetails {
    pub reasoning_tokens: Number,
}
