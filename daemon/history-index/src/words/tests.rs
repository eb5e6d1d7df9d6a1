use proptest::prelude::*;

use super::*;

fn texts(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

#[test]
fn words_are_runs_of_letters_in_lower_case() {
    assert_eq!(
        texts("Fix `foo_bar` in v2.0!"),
        ["fix", "foo", "bar", "in", "v2", "0"]
    );
    assert_eq!(texts("ÜBUNG Ａ１"), ["ubung", "a1"]);
    assert_eq!(texts(" -- \u{7} "), Vec::<String>::new());
}

#[test]
fn accents_do_not_count_however_they_are_written() {
    for text in ["Résumé", "re\u{301}sume\u{301}", "RESUME"] {
        assert_eq!(texts(text), ["resume"], "{text}");
    }
    assert_eq!(texts("ﬁle İstanbul ёлка"), ["file", "istanbul", "елка"]);
    // A sign of Devanagari that is no letter does not end the word.
    assert_eq!(texts("हिन्दी").len(), 1);
}

#[test]
fn nouns_of_verbs_in_y_are_the_verb() {
    assert_eq!(
        texts("deployment deployments payment deploy cement"),
        ["deploy", "deploy", "pay", "deploy", "cement"]
    );
}

#[test]
fn scripts_without_blanks_become_pairs() {
    assert_eq!(texts("数据库"), ["数据", "据库", "库"]);
    assert_eq!(texts("用rust写"), ["用", "rust", "写"]);
    assert_eq!(texts("検索する。終"), ["検索", "索す", "する", "る", "終"]);
    assert_eq!(words("写")[0].kind, WordKind::Last { alone: true });
}

proptest! {
    #[test]
    fn ranges_are_in_order_and_within_the_text(text in "\\PC{0,60}") {
        for word in words(&text) {
            prop_assert!(text.get(word.range.clone()).is_some(), "{word:?}");
            prop_assert!(!word.text.contains(char::is_whitespace));
        }
        let joined = words(&text).into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
        prop_assert_eq!(joined, segmented(&text));
    }
}
