//! Truncated arguments.

use proptest::prelude::*;
use serde_json::Value;

use crate::repair::close::close;

#[test]
fn truncated_json_is_closed() {
    for (cut, closed) in [
        (r#"{"a":1"#, r#"{"a":1}"#),
        (r#"{"a":{"b":[1,2"#, r#"{"a":{"b":[1,2]}}"#),
        (r#"{"a":"he"#, r#"{"a":"he"}"#),
        (r#"{"a":"#, r#"{"a": null}"#),
        (r#"{"a": 1, "b" : "#, r#"{"a": 1, "b" : null}"#),
        (r#"{"a":1,"#, r#"{"a":1}"#),
        (r#"{"a":[1,"#, r#"{"a":[1]}"#),
        (r#"{"a":"x\"y"#, r#"{"a":"x\"y"}"#),
        (r#"{"a":"}"#, r#"{"a":"}"}"#),
        // Truncated in a key, in an escape or in a literal: nothing is invented.
        (r#"{"a"#, "{}"),
        (r#"{"a":"x\"#, "{}"),
        (r#"{"a":tru"#, "{}"),
        (r#"{"a":1]"#, "{}"),
        ("no JSON at all", "{}"),
        (r#"{"a":"\ud83d"#, "{}"),
        (r#"{"a":1e999"#, "{}"),
    ] {
        let made = close(cut);
        assert_eq!((made.json.as_str(), made.whole), (closed, false), "{cut}");
    }
}

#[test]
fn complete_json_is_unchanged() {
    for (came, json) in [
        ("", "{}"),
        ("  \n", "{}"),
        (" {\"a\": 1.0 } ", "{\"a\": 1.0 }"),
        ("[]", "[]"),
    ] {
        let made = close(came);
        assert_eq!((made.json.as_str(), made.whole), (json, true), "{came}");
    }
}

proptest! {
    /// An object truncated anywhere becomes valid JSON with all complete values, or an empty object.
    #[test]
    fn an_object_cut_anywhere_is_json(words in proptest::collection::vec("[a-z\"\\\\{}\\[\\],:中 ]{0,8}", 1..5), cut in any::<prop::sample::Index>()) {
        let object: Value = words.iter().enumerate()
            .map(|(number, word)| (format!("k{number}"), Value::from(vec![Value::from(word.as_str()), Value::Null])))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let text = object.to_string();
        let ends: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
        let cut = &text[..*cut.get(&ends)];
        let made = close(cut);
        let read: Value = serde_json::from_str(&made.json).expect("JSON");
        prop_assert_eq!(made.whole, cut.is_empty());
        for (name, value) in read.as_object().expect("an object") {
            let whole = &object[name];
            let begins = match (value.as_array(), value) {
                (Some(items), _) => items.len() <= 2,
                (None, value) => value.is_null(),
            };
            prop_assert!(begins && whole.is_array(), "{name}: {value}");
        }
    }
}
