//! Arguments of calls.

use crate::calls::arguments::read;

#[test]
fn an_object_is_read_and_nothing_at_all_is_an_empty_one() {
    assert_eq!(read(r#"{"a":[1,{"b":null}],"c":1.5}"#).unwrap().len(), 2);
    assert!(read("  ").unwrap().is_empty());
}

#[test]
fn arguments_with_duplicate_keys_or_not_one_object_are_refused() {
    for (text, words) in [
        (r#"{"a":1,"a":2}"#, "stands twice"),
        (r#"{"a":{"b":1,"b":2}}"#, "stands twice"),
        (r"[1]", "one JSON object"),
        (r#""text""#, "one JSON object"),
        (r#"{"a":1"#, "not valid JSON"),
        (r#"{"a":1} {"b":2}"#, "not valid JSON"),
    ] {
        let refusal = read(text).unwrap_err();
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
}
