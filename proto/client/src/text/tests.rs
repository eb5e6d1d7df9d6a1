//! Nothing that a terminal obeys gets through, however it is cut.

use proptest::prelude::*;

use super::*;

#[test]
fn clean_removes_escape_sequences_and_keeps_the_text() {
    let cases = [
        ("plain", "plain"),
        ("red \u{1b}[31mword\u{1b}[0m!", "red word!"),
        ("title \u{1b}]0;pwned\u{7}end", "title end"),
        (
            "link \u{1b}]8;;http://x\u{1b}\\text\u{1b}]8;;\u{1b}\\",
            "link text",
        ),
        ("c1 \u{9b}2Jend", "c1 end"),
        ("charset \u{1b}(0end", "charset end"),
        ("reset \u{1b}cend", "reset end"),
        ("bell\u{7} back\u{8} cr\r\nlf", "bell back cr\nlf"),
        (
            "bidi \u{202e}evil\u{202c} zero\u{200b}width",
            "bidi evil zerowidth",
        ),
        ("ein Ä, 中文, 👩\u{200d}💻", "ein Ä, 中文, 👩\u{200d}💻"),
        (
            "an open string \u{1b}]0;never closed\nnext line",
            "an open string \nnext line",
        ),
    ];
    for (raw, cleaned) in cases {
        assert_eq!(clean(raw), cleaned, "{raw:?}");
    }
}

#[test]
fn a_question_shows_what_cannot_be_seen() {
    assert_eq!(
        exact("rm \u{202e}x\u{1b}[2K\t\u{200b}\u{a0}y\nz"),
        "rm \\u{202e}x\\u{1b}[2K\\t\\u{200b}\\u{a0}y\nz"
    );
}

/// Unicode's `Default_Ignorable_Code_Point`, and the format characters (`Cf`) that draw nothing.
const IGNORABLE: [(u32, u32); 20] = [
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfff8),
    (0xfff9, 0xfffb),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe007f),
    (0xe0080, 0xe0fff),
];

#[test]
fn a_question_writes_out_every_character_that_draws_nothing() {
    let raw: Vec<String> = IGNORABLE
        .into_iter()
        .flat_map(|(first, last)| first..=last)
        .filter_map(char::from_u32)
        .filter(|character| exact(&character.to_string()).contains(*character))
        .map(|character| format!("U+{:04X}", u32::from(character)))
        .collect();
    assert_eq!(raw, Vec::<String>::new());
}

#[test]
fn text_and_json_leave_no_format_character_raw() {
    for character in [
        '\u{ad}',
        '\u{fff0}',
        '\u{13430}',
        '\u{1343f}',
        '\u{1bca0}',
        '\u{1d173}',
    ] {
        let text = format!("a{character}b");
        assert_eq!(clean(&text), "ab", "{character:?}");
        let safe = json(&serde_json::to_string(&text).unwrap());
        assert!(!safe.contains(character), "{safe}");
    }
}

#[test]
fn characters_of_ordinary_words_stay() {
    // Joiners, variation selectors and the visible format characters of Arabic have their use in text.
    for text in ["👩\u{200d}💻", "❤\u{fe0f}", "می\u{200c}خواهم", "\u{600}١٢"] {
        assert_eq!(clean(text), text);
    }
}

#[test]
fn a_character_is_as_wide_as_a_terminal_draws_it() {
    for (character, columns) in [
        ('a', 1),
        ('ä', 1),
        ('中', 2),
        ('，', 2),
        ('🚀', 2),
        ('\u{301}', 0),
        ('\u{200d}', 0),
        ('…', 1),
    ] {
        assert_eq!(width(character), columns, "{character:?}");
    }
}

#[test]
fn json_stays_json() {
    let raw = serde_json::to_string("a\u{9b}31m\u{7f}\u{1b}b").unwrap();
    let safe = json(&raw);
    assert!(safe.chars().all(|character| !character.is_control()));
    assert_eq!(
        serde_json::from_str::<String>(&safe).unwrap(),
        "a\u{9b}31m\u{7f}\u{1b}b"
    );
}

fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\u{1b}".to_owned()),
        Just("\u{1b}[".to_owned()),
        Just("\u{1b}]0;".to_owned()),
        Just("\u{9b}".to_owned()),
        Just("\u{7}".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("\n".to_owned()),
        "[a-z0-9;m\\\\]{0,4}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn cleaned_text_has_no_control_or_hidden_characters(text in hostile()) {
        for out in [clean(&text), exact(&text)] {
            prop_assert!(out.chars().all(|character| matches!(character, '\n' | '\t')
                || !(character.is_control() || proto::hidden(character))), "{:?}", out);
        }
    }

    /// Whoever reads the JSON gets the same text; a terminal on the way there obeys nothing of it.
    #[test]
    fn json_escapes_control_characters_and_keeps_its_value(text in hostile()) {
        let out = json(&serde_json::to_string(&text).unwrap());
        prop_assert!(out.chars().all(|character| !(character.is_control() || proto::hidden(character))), "{:?}", out);
        prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
    }

    #[test]
    fn cleaning_in_two_pieces_equals_cleaning_the_whole_text(text in hostile(), at in 0usize..60) {
        let at = text.char_indices().map(|(index, _)| index).nth(at).unwrap_or(text.len());
        let mut cleaner = Cleaner::default();
        let cut = cleaner.push(&text[..at]) + &cleaner.push(&text[at..]);
        prop_assert_eq!(cut, clean(&text));
    }

    /// The judged text is complete: the written-out form loses no character.
    #[test]
    fn exact_text_keeps_every_letter_and_digit(text in hostile()) {
        let shown = exact(&text);
        let kept = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).count();
        prop_assert!(kept(&shown) >= kept(&text));
    }
}
