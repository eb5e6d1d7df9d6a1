use super::*;

#[test]
fn what_no_key_is_made_of_is_refused() {
    assert!(looks_like_one("sk-abc_123.x").is_ok());
    for text in ["", "two words", "line\nline", "schlüssel", "a\u{1b}[2J"] {
        assert!(looks_like_one(text).is_err(), "{text:?}");
    }
}

#[test]
fn no_variable_has_no_value() {
    assert_eq!(in_environment(""), None);
    assert_eq!(in_environment("A=B"), None);
}
