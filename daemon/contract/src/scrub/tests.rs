//! Scenes and properties of what is blotted out.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn base64_of(bytes: &[u8], letters: &[u8; 64]) -> String {
    let groups = bytes.chunks(3).map(|group| {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let all: String = (0..4)
            .map(|index| char::from(letters[(bits >> (18 - 6 * index) & 63) as usize]))
            .collect();
        all[..group.len() + 1].to_owned()
    });
    groups.collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The ways in which somebody may write a key down again.
fn written(key: &str, how: usize, before: &str, after: &str) -> String {
    let around = |key: &str| format!("{before}{key}{after}");
    let percent = |all: bool| -> String {
        let each = key.bytes().map(|byte| match byte {
            byte if !all && byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        });
        each.collect()
    };
    match how {
        0 => around(key),
        1 => around(&serde_json::to_string(key).unwrap()),
        2 => around(&percent(false)),
        3 => around(&percent(true)),
        4 => base64_of(around(key).as_bytes(), STANDARD),
        5 => base64_of(around(key).as_bytes(), FOR_URLS),
        6 => around(&key.chars().map(|c| format!("{c}\n")).collect::<String>()),
        7 => around(
            &key.chars()
                .map(|c| format!("\u{200b}{c}"))
                .collect::<String>(),
        ),
        8 => around(
            &key.bytes()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>(),
        ),
        _ => around(&format!(
            "{}\" + \"{}",
            &key[..key.len() / 2],
            &key[key.len() / 2..]
        )),
    }
}

proptest! {
    #[test]
    fn a_key_that_is_held_survives_nowhere(
        key in "[!-~]{4}[A-Za-z0-9]{16,40}[!-~]{0,9}", how in 0_usize..10, before in "\\PC{0,40}", after in "\\PC{0,40}",
    ) {
        let _held = Secret::new(key.clone());
        let shown = scrub(&written(&key, how, &before, &after));
        prop_assert!(shown.contains(BLOT));
        prop_assert!(!shown.contains(&key));
        let letters: String = shown.chars().filter(char::is_ascii_alphanumeric).collect();
        let kernel: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
        prop_assert!(!letters.contains(&kernel), "{shown}");
        let encoded = base64_of(key.as_bytes(), STANDARD);
        let inner: String = encoded.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
        prop_assert!(!letters.contains(&inner), "{shown}");
    }

    #[test]
    fn any_text_can_be_scrubbed_and_ordinary_words_stay(text in "\\PC{0,200}", words in "[a-z]{1,12}( [a-z]{1,12}){0,20}") {
        let _held = Secret::new("Held-4711-8a7b6c5d4e3f".to_owned());
        let _ = scrub(&text);
        prop_assert_eq!(scrub(&words), words);
    }
}

#[test]
fn encoded_key_behind_a_percent_sign_is_blotted_out() {
    let _held = Secret::new("0!b7aAaAA000aa0aa0aa".to_owned());
    for before in ["", "%", "%A", "%4", "%%", "%%4"] {
        let shown = scrub(&format!("{before}0%21b7aAaAA000aa0aa0aa."));
        assert!(shown.contains(BLOT) && !shown.contains("aA"), "{shown}");
    }
    // Both of its first letters end a code.
    let _held = Secret::new("41!7aAaAA000aa0aa0aab".to_owned());
    let shown = scrub("%41%217aAaAA000aa0aa0aab");
    assert!(!shown.contains("aA"), "{shown}");
}

#[test]
fn what_has_the_shape_of_a_key_is_blotted_out_and_words_are_not() {
    for (text, shown) in [
        (
            "Incorrect API key provided: sk-proj-ABCDEFGHIJKL****wxyz.",
            "Incorrect API key provided: ***",
        ),
        (
            r#"{"authorization":"Bearer abcdefghijklmnop"}"#,
            r#"{"authorization":"***"}"#,
        ),
        ("use AKIAIOSFODNN7EXAMPLE é", "use *** é"),
        (
            "ghp_0123456789abcdefghij gho_0123456789abcdefghij",
            "*** ***",
        ),
        (
            "AIzaSyA0123456789abcdef, xoxb-1234567890-abcdef",
            "***, ***",
        ),
        (
            "t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
            "t=***",
        ),
        (
            "a task-list, an sk-8 and Bearer of news",
            "a task-list, an sk-8 and Bearer of news",
        ),
        (
            "/usr/lib/xapp-x and desk-something-long-here",
            "/usr/lib/xapp-x and desk-something-long-here",
        ),
    ] {
        assert_eq!(scrub(text), shown, "{text}");
    }
}

#[test]
fn a_secret_is_known_as_long_as_it_is_held() {
    let one = Secret::new("kept-for-a-while-1".to_owned());
    let other = Secret::new("kept-for-a-while-1".to_owned());
    drop(one);
    assert_eq!(scrub("it is kept-for-a-while-1!"), "it is ***!");
    assert_eq!(format!("{other:?}"), "***");
    drop(other);
    // Another test that scrubs just now holds it as long as that takes.
    let forgotten = (0..10_000).any(|_| {
        std::thread::yield_now();
        scrub("it is kept-for-a-while-1!") == "it is kept-for-a-while-1!"
    });
    assert!(forgotten, "nobody holds it");
}

#[test]
fn a_key_inside_another_leaves_nothing_of_the_longer_one() {
    let _short = Secret::new("abcd".to_owned());
    let _long = Secret::new("abcd-efgh-ijkl".to_owned());
    assert_eq!(scrub("x abcd-efgh-ijkl y abcd z"), "x *** y *** z");
    assert_eq!(
        scrub_with("token: t0k3n-of-a-header.", &["t0k3n-of-a-header"]),
        "token: ***."
    );
}

#[test]
fn hostile_text_takes_no_more_time_than_any_other() {
    let _held = Secret::new("aaaaaaaaaaaaaaaaaaaab".to_owned());
    for unit in ["sk-", "eyJ-", "Bearer ", "%41", "aaaaaaaa", "-eyJ*"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let begun = Instant::now();
        let _ = scrub(&text);
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{unit}: {:?}",
            begun.elapsed()
        );
    }
}
