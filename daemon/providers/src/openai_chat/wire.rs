//! What events look like, as leniently as can be: a text or number of an unexpected type counts as absent.
//!
//! Texts are borrowed from the event wherever they hold no escape. These types never leave the kind.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

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

/// A text; empty where there is none. Mistral sends lists of parts: their texts are joined, their thinking apart.
#[derive(Default)]
pub(super) struct Text<'a> {
    pub text: Cow<'a, str>,
    pub thinking: String,
}

/// A number that cannot be negative, however it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Number(pub Option<u64>);

/// One of a list of parts.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ContentPart<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor(PhantomData))
    }
}

struct TextVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
    type Value = Text<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'a>, E> {
        Ok(Text {
            text: Cow::Borrowed(text),
            thinking: String::new(),
        })
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'a>, E> {
        Ok(Text {
            text: Cow::Owned(text.to_owned()),
            thinking: String::new(),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Text<'a>, A::Error> {
        let mut all = Text::default();
        while let Some(part) = parts.next_element::<ContentPart<'de>>()? {
            all.text.to_mut().push_str(&part.text.text);
            all.thinking.push_str(&part.thinking.text);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'a>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }

    fn visit_unit<E>(self) -> Result<Text<'a>, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text<'a>, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text<'a>, E> {
        Ok(Text::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text<'a>, E> {
        Ok(Text::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text<'a>, E> {
        Ok(Text::default())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
        Ok(Number(Some(number)))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Number, E> {
        // What is not negative comes as `u64`.
        Ok(Number(None))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
        // Beyond 2^53 a float is no count of anything.
        let counts = (0.0..=9_007_199_254_740_992.0).contains(&number);
        Ok(Number(counts.then_some(number as u64)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Number, E> {
        Ok(Number(text.trim().parse().ok()))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Number, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Number(None))
    }
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
