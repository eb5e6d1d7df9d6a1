//! Lenient parsing of event members: a member of an unexpected type counts as absent.
//!
//! Borrows texts from the event if they have no escapes. Used by the wire types of the kinds.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A text, empty if absent. Mistral sends lists of parts: their texts are joined, and their
/// thinking is separate.
#[derive(Default)]
pub(crate) struct Text<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) thinking: String,
}

/// A non-negative number in any notation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number(pub Option<u64>);

/// One element of a list of parts.
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
        // Non-negative numbers arrive as `u64`.
        Ok(Number(None))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
        // Above 2^53 a float is not exact.
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

/// A list of raw values, empty if absent.
#[derive(Default)]
pub(crate) struct RawList<'a>(pub(crate) Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for RawList<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).unwrap_or_default()))
    }
}

/// A raw value, unless it is absent or null.
pub(crate) fn there(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}
