//! What events look like, as leniently as can be: a text or number of an unexpected type counts as absent.
//!
//! Texts are borrowed from the event wherever they hold no escape. These types never leave the kind.

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
    pub choices: First<'a>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    /// Groq has its usage here.
    pub x_groq: Option<Groq>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Groq {
    pub usage: Option<Usage>,
}

/// The choice with index 0 (or none). We ask for one; what a server sends beside it is not ours.
#[derive(Default)]
pub(super) struct First<'a> {
    pub choice: Option<Choice<'a>>,
    /// Whether there was a list at all.
    pub there: bool,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub index: Number,
    #[serde(borrow)]
    pub delta: Option<Said<'a>>,
    /// In place of `delta`, where the server does not stream.
    #[serde(borrow)]
    pub message: Option<Said<'a>>,
    #[serde(borrow)]
    pub finish_reason: Text<'a>,
    /// Moonshot has its usage here.
    pub usage: Option<Usage>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Said<'a> {
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
    /// A string that holds JSON; some servers send the object itself.
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

impl<'de: 'a, 'a> Deserialize<'de> for First<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstVisitor(PhantomData))
    }
}

struct FirstVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for FirstVisitor<'a> {
    type Value = First<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_unit<E>(self) -> Result<First<'a>, E> {
        Ok(First::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut choices: A) -> Result<First<'a>, A::Error> {
        let mut first = First {
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
