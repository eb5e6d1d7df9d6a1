//! Lenient reading of events: a member of an unexpected type counts as absent.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::text_of;

/// A JSON object whose members are parsed when they are asked for. Of a repeated key, the last
/// counts. A list, because an event has too few members for hashing their keys to pay.
#[derive(Default)]
pub(crate) struct Object<'a>(Vec<(Key<'a>, &'a RawValue)>);

/// A key, borrowed unless it contains escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Deserialize<'a> for Object<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'a> Visitor<'a> for Members {
    type Value = Object<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Object<'a>, A::Error> {
        let mut members = Vec::with_capacity(8);
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Object(members))
    }
}

impl<'a> Object<'a> {
    /// Parses the text of an object. `None` if it is anything else.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// A value as received, unless it is absent or null.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rfind(|(name, _)| name.0 == key);
        found.map(|(_, raw)| *raw).filter(|raw| raw.get() != "null")
    }

    /// Whether it has this member, null or not.
    pub(crate) fn names(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name.0 == key)
    }

    /// A value that begins with this. Parsing one of another type would only make an error to throw
    /// away.
    fn raw_of(&self, key: &str, begin: char) -> Option<&'a RawValue> {
        self.raw(key).filter(|raw| raw.get().starts_with(begin))
    }

    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        Self::parse(self.raw_of(key, '{')?.get())
    }

    /// A list's elements as received, empty if absent.
    pub(crate) fn list(&self, key: &str) -> Vec<&'a RawValue> {
        let list = self.raw_of(key, '[');
        let list = list.map(|raw| serde_json::from_str(raw.get()));
        list.and_then(Result::ok).unwrap_or_default()
    }

    /// A list's elements as objects. Other elements count as empty objects.
    pub(crate) fn objects(&self, key: &str) -> impl Iterator<Item = Self> {
        let list = self.list(key).into_iter();
        list.map(|raw| Self::parse(raw.get()).unwrap_or_default())
    }

    /// A text, empty if absent. Mistral sends lists of parts: their texts are joined.
    pub(crate) fn text(&self, key: &str) -> Cow<'a, str> {
        match self.raw(key).and_then(|raw| raw.get().bytes().next()) {
            // Only strings: a recursion could be as deep as the event is long.
            Some(b'[') => {
                let texts = self.objects(key).map(|part| part.string("text"));
                texts.collect::<String>().into()
            }
            _ => self.string(key),
        }
    }

    /// The thinking in a list of parts, joined. Databricks has it as the summary of a part.
    pub(crate) fn thinking(&self, key: &str) -> String {
        let parts = self.objects(key);
        let thinking = |part: Self| match &*part.text("type") {
            "reasoning" => part.text("summary"),
            _ => part.text("thinking"),
        };
        parts.map(thinking).collect()
    }

    fn string(&self, key: &str) -> Cow<'a, str> {
        self.raw_of(key, '"').map(text_of).unwrap_or_default()
    }

    /// A non-negative number in any notation, or in a string.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        let raw = self.raw(key)?.get();
        // Above 2^53 a float is not exact.
        let float = || {
            let float = raw.parse::<f64>().ok()?;
            (0.0..=9_007_199_254_740_992.0)
                .contains(&float)
                .then_some(float as u64)
        };
        let digits = raw.trim_matches('"').trim();
        digits.parse().ok().or_else(float)
    }

    /// A number, 0 if absent.
    pub(crate) fn count(&self, key: &str) -> u64 {
        self.number(key).unwrap_or(0)
    }

    /// A number in an object, 0 if either is absent.
    pub(crate) fn count_in(&self, object: &str, key: &str) -> u64 {
        self.object(object).map_or(0, |object| object.count(key))
    }
}

#[cfg(test)]
mod tests {
    use super::Object;

    #[test]
    fn members_of_unexpected_types_count_as_absent() {
        let object = Object::parse(
            r#"{"a": 5, "b": "7", "c": 2.0, "d": -1, "e": [{"text": "x", "thinking": [{"text": "y"}]}, 3],
                "f": null, "\u0067": "h\n", "i": {"a": 1}, "a\"": true, "k": 1, "k": "2", "l": 1e99}"#,
        );
        let object = object.expect("an object");
        let numbers =
            ["a", "b", "c", "d", "e", "f", "a\"", "l", "none"].map(|key| object.number(key));
        assert_eq!(
            numbers,
            [
                Some(5),
                Some(7),
                Some(2),
                None,
                None,
                None,
                None,
                None,
                None
            ]
        );
        let texts = ["a", "b", "e", "f", "g", "i", "k"].map(|key| object.text(key));
        assert_eq!(texts, ["", "7", "x", "", "h\n", "", "2"]);
        assert_eq!(object.thinking("e"), "y");
        assert_eq!(
            (object.thinking("b"), object.list("b").len()),
            (String::new(), 0)
        );
        assert_eq!((object.list("e").len(), object.count_in("i", "a")), (2, 1));
        assert!(object.raw("f").is_none() && object.object("e").is_none());
        assert!(
            ["[]", "null", "\"{}\"", "{", ""]
                .iter()
                .all(|text| Object::parse(text).is_none())
        );
    }

    #[test]
    fn a_lone_surrogate_does_not_lose_the_text_around_it() {
        let object = Object::parse(r#"{"a": "x\ud83dy"}"#).expect("an object");
        let text = object.text("a");
        assert!(text.starts_with('x') && text.ends_with('y'), "{text}");
    }

    #[test]
    fn deeply_nested_parts_do_not_overflow_the_stack() {
        for key in ["text", "thinking"] {
            let open = format!("[{{\"{key}\":").repeat(100_000);
            let text = format!("{{\"a\":{open}\"x\"{}}}", "}]".repeat(100_000));
            let object = Object::parse(&text).expect("an object");
            assert_eq!((&*object.text("a"), &*object.thinking("a")), ("", ""));
        }
    }
}
