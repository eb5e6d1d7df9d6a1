use super::*;

#[test]
fn text_that_cannot_be_an_api_key_is_refused() {
    assert!(looks_like_one("sk-abc_123.x").is_ok());
    for text in ["", "two words", "line\nline", "schlüssel", "a\u{1b}[2J"] {
        assert!(looks_like_one(text).is_err(), "{text:?}");
    }
}

#[test]
fn invalid_variable_names_have_no_value() {
    assert_eq!(in_environment(""), None);
    assert_eq!(in_environment("A=B"), None);
}
