use super::{Language, Message, fill, transcript};

/// The places of values, in order of their numbers.
fn places(words: &str) -> Vec<String> {
    let mut found: Vec<String> = (0..10)
        .map(|n| format!("{{{n}}}"))
        .filter(|place| words.contains(place.as_str()))
        .collect();
    found.sort();
    found
}

#[test]
fn every_message_has_both_languages_with_the_same_values() {
    for message in transcript::Msg::ALL {
        let (english, chinese) = (message.english(), message.chinese());
        assert!(!english.is_empty() && !chinese.is_empty(), "{message:?}");
        assert_eq!(places(english), places(chinese), "{message:?}");
    }
}

#[test]
fn values_stand_where_their_numbers_are() {
    assert_eq!(fill("{1} of {0}", &["ten", "one"]), "one of ten");
    assert_eq!(fill("{0}", &["{1}"]), "{1}");
    assert_eq!(fill("a {b} {9}", &["x"]), "a {b} {9}");
}

#[test]
fn a_language_is_found_by_a_locale() {
    assert_eq!(Language::named("zh_CN.UTF-8"), Some(Language::Chinese));
    assert_eq!(Language::named("zh-Hans"), Some(Language::Chinese));
    assert_eq!(Language::named("en"), Some(Language::English));
    assert_eq!(Language::named("fr_FR"), None);
}
