//! The bytes that are written, whatever version of the library writes them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn control_characters_are_escaped_and_the_rest_is_left_alone() {
    assert_eq!(
        quoted("a\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f}é\u{2028}😀/"),
        "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}é\u{2028}😀/\""
    );
}

#[test]
fn keys_are_sorted_at_every_depth_and_lists_are_not() {
    let value = json!({"b": [{"z": 1, "a": 2.5}, "x"], "a": {"d": null, "c": true}});
    assert_eq!(
        sorted(value).to_string(),
        r#"{"a":{"c":true,"d":null},"b":[{"a":2.5,"z":1},"x"]}"#
    );
}

proptest! {
    #[test]
    fn any_text_is_written_as_serde_writes_it(text in any::<String>()) {
        prop_assert_eq!(quoted(&text), serde_json::to_string(&text).expect("a string"));
    }
}
