//! The events, parsed as leniently as possible: a text or number of an unexpected type counts as
//! absent.
//!
//! Borrows texts from the event if they have no escapes. These types never leave this kind.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub(super) use crate::lenient::{Number, Text};

/// One event, or a whole answer as one document.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub choices: FirstChoice<'a>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    /// Groq reports usage here.
    pub x_groq: Option<Groq>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Groq {
    pub usage: Option<Usage>,
}

/// The choice with index 0, if any. We request one choice and ignore others.
#[derive(Default)]
pub(super) struct FirstChoice<'a> {
    pub choice: Option<Choice<'a>>,
    /// Whether there was a list at all.
    pub there: bool,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub index: Number,
    #[serde(borrow)]
    pub delta: Option<ChatMessage<'a>>,
    /// Instead of `delta`, if the server does not stream.
    #[serde(borrow)]
    pub message: Option<ChatMessage<'a>>,
    #[serde(borrow)]
    pub finish_reason: Text<'a>,
    /// Moonshot reports usage here.
    pub usage: Option<Usage>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ChatMessage<'a> {
    #[serde(borrow)]
    pub content: Text<'a>,
    #[serde(borrow)]
    pub reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub reasoning: Text<'a>,
    #[serde(borrow)]
    pub refusal: Text<'a>,
    #[serde(borrow)]
    pub tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    pub index: Number,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub function: Option<Function<'a>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    /// A string that contains JSON. Some servers send the object itself.
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub prompt_tokens: Number,
    pub completion_tokens: Number,
    pub prompt_cache_hit_tokens: Number,
    pub cached_tokens: Number,
    pub prompt_tokens_details: Option<PromptDetails>,
    pub completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct PromptDetails {
    pub cached_tokens: Number,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct CompletionDetails {
    pub reasoning_tokens: Number,
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstChoiceVisitor(PhantomData))
    }
}

struct FirstChoiceVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for FirstChoiceVisitor<'a> {
    type Value = FirstChoice<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_unit<E>(self) -> Result<FirstChoice<'a>, E> {
        Ok(FirstChoice::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut choices: A) -> Result<FirstChoice<'a>, A::Error> {
        let mut first = FirstChoice {
            choice: None,
            there: true,
        };
        while let Some(choice) = choices.next_element::<Choice<'a>>()? {
            if first.choice.is_none() && matches!(choice.index.0, None | Some(0)) {
                first.choice = Some(choice);
            }
        }
        Ok(first)
    }
}
