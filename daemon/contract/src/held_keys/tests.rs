//! Keys in whole texts, and split over pieces in every way.

use proptest::prelude::*;

use super::*;

const KEY: &str = "vk-abcabcabd-ä9";

fn keys() -> Vec<String> {
    vec![KEY.to_owned()]
}

fn streamed(pieces: &[&str]) -> String {
    let mut filter = HeldKeyFilter::default();
    let mut shown: String = pieces
        .iter()
        .map(|piece| filter.push_with(piece, &keys()))
        .collect();
    shown.push_str(&filter.finish());
    shown
}

#[test]
fn a_key_split_at_any_place_is_taken_out_and_places_stay() {
    let text = format!("Your key is {KEY}, and again: {KEY}{KEY}.");
    let clean = text.replace(KEY, &"*".repeat(KEY.len()));
    for one in 0..text.len() {
        for other in one..text.len() {
            if text.is_char_boundary(one) && text.is_char_boundary(other) {
                let pieces = [&text[..one], &text[one..other], &text[other..]];
                assert_eq!(streamed(&pieces), clean, "{one} {other}");
            }
        }
    }
    let letters: Vec<String> = text.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    assert_eq!(streamed(&letters), clean);
    assert_eq!(clean.len(), text.len());
}

#[test]
fn what_only_begins_like_a_key_comes_through() {
    assert_eq!(streamed(&["vk-abc", "abcabc"]), "vk-abcabcabc");
    assert_eq!(streamed(&["the end: vk-"]), "the end: vk-");
    let mut filter = HeldKeyFilter::default();
    assert_eq!(filter.push_with("plain text", &keys()), "plain text");
}

#[test]
fn a_key_that_is_held_is_taken_out_and_one_that_is_gone_stays() {
    let secret = Secret::new("hk-0123456789-held".to_owned());
    let text = || "say hk-0123456789-held".to_owned();
    assert_eq!(without_held_keys(text()), format!("say {}", "*".repeat(18)));
    drop(secret);
    assert_eq!(without_held_keys(text()), text());
}

proptest! {
    #[test]
    fn other_text_is_unchanged_however_it_is_split(pieces in prop::collection::vec("[vk\\-abcdä9 ]{0,6}", 0..12)) {
        let whole = pieces.concat();
        prop_assume!(!whole.contains(KEY));
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(streamed(&pieces), whole);
    }
}
