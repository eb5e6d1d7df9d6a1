//! Keys blotted out of text that leaves the daemon: words of vendors, its own log, failures, notices (I11).
//!
//! The one place where it is decided what a key looks like. Linear in the text. Two sieves: the keys that are held now,
//! in whatever way somebody wrote them down again, and what has the shape of a key.

use crate::Secret;

/// What stands in a key's place.
const BLOT: &str = "***";
/// The shortest key that is known for one: a shorter one would take ordinary words with it.
const KEY_MIN: usize = 4;
/// The shortest that is also found split and encoded, and the shortest piece of one in base64.
const LONG_MIN: usize = 8;
/// A shorter word is no key, however it begins.
const SHAPED_MIN: usize = 16;
/// How the keys of vendors and forges begin, and the tokens that are JSON in base64.
const BEGINNINGS: [&str; 28] = [
    "sk-",
    "sk_",
    "pk-",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "hf_",
    "gsk_",
    "xai-",
    "eyJ",
    "Bearer ",
    "bearer ",
];

/// The text without keys.
#[must_use]
pub fn scrub(text: &str) -> String {
    scrub_with(text, &[])
}

/// The same, where more is to be kept secret than the keys that are held.
#[must_use]
pub fn scrub_with(text: &str, more: &[&str]) -> String {
    let held = Secret::held();
    let held = held.iter().map(|secret| secret.expose().trim());
    let mut keys: Vec<&str> = held
        .chain(more.iter().copied())
        .filter(|key| key.len() >= KEY_MIN)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    without_shapes(&without_known(text, &keys))
}

/// Blots out every place of a key, split and encoded ones too.
fn without_known(text: &str, keys: &[&str]) -> String {
    if keys.is_empty() {
        return text.to_owned();
    }
    let mut places = Vec::new();
    for key in keys {
        places.extend(text.match_indices(key).map(|(at, _)| (at, at + key.len())));
    }
    let plain = View::plain(text);
    let decoded = text.contains('%').then(|| View::decoded(text));
    for spelling in keys.iter().flat_map(|key| spellings(key)) {
        places.extend(plain.find(&spelling));
        for suffix in suffixes(&spelling) {
            places.extend(decoded.iter().flat_map(|view| view.find(suffix)));
        }
    }
    blotted(text, places)
}

/// The text with these places blotted out, those that touch as one.
fn blotted(text: &str, mut places: Vec<(usize, usize)>) -> String {
    places.sort_unstable();
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for (from, to) in places {
        if from > done || shown.is_empty() {
            shown.push_str(text.get(done..from).unwrap_or_default());
            shown.push_str(BLOT);
        }
        done = done.max(to);
    }
    shown.push_str(text.get(done..).unwrap_or_default());
    shown
}

/// The ways to write a key that are looked for: plain, in hexadecimal, and in base64 wherever it begins in what is
/// encoded. Only what counts of each.
fn spellings(key: &str) -> Vec<Vec<u8>> {
    let plain = key.bytes().filter(|byte| counts(*byte)).collect();
    let mut spellings: Vec<Vec<u8>> = vec![
        plain,
        hex::encode(key).into_bytes(),
        hex::encode_upper(key).into_bytes(),
    ];
    spellings.extend((0..3).map(|before| base64(key.as_bytes(), before)));
    spellings.retain(|spelling| spelling.len() >= LONG_MIN);
    spellings
}

/// A spelling, and the same without its first byte or two: after a `%4` or a `%` they are read as part of a percent code.
fn suffixes(spelling: &[u8]) -> impl Iterator<Item = &[u8]> {
    let suffixes = (0..=2).filter_map(|start| spelling.get(start..));
    suffixes.filter(|suffix| suffix.len() >= LONG_MIN)
}

/// What of these bytes' base64 does not depend on what stands beside them, where `before` bytes precede them in their
/// first group of three.
fn base64(bytes: &[u8], before: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| {
        let byte = (at / 8)
            .checked_sub(before)
            .and_then(|index| bytes.get(index));
        usize::from(byte.copied().unwrap_or(0) >> (7 - at % 8) & 1)
    };
    let (first, end) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
    let letter = |letter: usize| (0..6).fold(0, |value, at| value << 1 | bit(letter * 6 + at));
    let letters = (first..end).filter_map(|index| LETTERS.get(letter(index)).copied());
    letters.filter(|byte| counts(*byte)).collect()
}

/// Whether a byte counts when texts are compared. What stands between the parts of a key that was split or quoted does
/// not; nor do the letters in which the two alphabets of base64 differ.
fn counts(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// What counts of a text, and where in it each byte stands.
struct View {
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
}

impl View {
    fn plain(text: &str) -> Self {
        Self::of(
            text.bytes()
                .enumerate()
                .map(|(at, byte)| (byte, (at, at + 1))),
        )
    }

    /// With `%41` read as `A`.
    fn decoded(text: &str) -> Self {
        let bytes = text.as_bytes();
        let digit = |at: usize| {
            bytes
                .get(at)
                .and_then(|byte| char::from(*byte).to_digit(16))
        };
        let mut at = 0;
        let one = std::iter::from_fn(|| {
            let byte = *bytes.get(at)?;
            let coded = (byte == b'%')
                .then(|| digit(at + 1).zip(digit(at + 2)))
                .flatten();
            let byte = coded
                .and_then(|(high, low)| u8::try_from(high << 4 | low).ok())
                .unwrap_or(byte);
            let from = at;
            at += if coded.is_some() { 3 } else { 1 };
            Some((byte, (from, at)))
        });
        Self::of(one)
    }

    fn of(bytes: impl Iterator<Item = (u8, (usize, usize))>) -> Self {
        let (bytes, places) = bytes.filter(|(byte, _)| counts(*byte)).unzip();
        Self { bytes, places }
    }

    /// Where in the text this stands.
    fn find(&self, spelling: &[u8]) -> Vec<(usize, usize)> {
        let found = memchr::memmem::find_iter(&self.bytes, spelling);
        let place = |at: usize| {
            let last = self.places.get(at + spelling.len() - 1)?;
            Some((self.places.get(at)?.0, last.1))
        };
        found.filter_map(place).collect()
    }
}

/// Blots out what looks like a key and is not held here: vendors quote what they were sent, and what others have.
fn without_shapes(text: &str) -> String {
    let in_key =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*' | '+' | '/' | '=');
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    // The end of the word that `rest` begins in, counted from its end: words are measured once.
    let mut measured: Option<usize> = None;
    while let Some(c) = rest.chars().next() {
        let is_inside = shown.ends_with(|before: char| before.is_ascii_alphanumeric());
        let beginning = BEGINNINGS
            .iter()
            .find(|beginning| !is_inside && rest.starts_with(**beginning));
        let key = beginning.map(|beginning| {
            let tail = rest.get(beginning.len()..).unwrap_or_default();
            let known = measured.filter(|left| *left <= tail.len());
            let left = known
                .unwrap_or_else(|| tail.len() - tail.find(|c| !in_key(c)).unwrap_or(tail.len()));
            measured = Some(left);
            rest.len() - left
        });
        if !in_key(c) {
            measured = None;
        }
        match key.filter(|len| *len >= SHAPED_MIN) {
            Some(len) => {
                shown.push_str(BLOT);
                rest = rest.get(len..).unwrap_or_default();
            }
            None => {
                shown.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests;
