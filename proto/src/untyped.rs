//! Parts of a prompt that its sender did not type: what `@` refers to is limited there.

use std::collections::BTreeSet;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ErrorName, Failure};

/// A part of a prompt's text that its sender did not type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntypedText {
    /// Byte of the text where it begins.
    pub start: u64,
    /// The first byte behind it.
    pub end: u64,
    pub origin: TextOrigin,
}

/// Where text comes from that was not typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextOrigin {
    /// Standard input is the whole prompt: it refers to what is in the workspace.
    Stdin,
    /// It stands beside what was typed, as a piped file or another session's answer: it refers to nothing.
    Quoted,
}

impl UntypedText {
    /// This part as a range of the text.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        let byte = |at| usize::try_from(at).unwrap_or(usize::MAX);
        byte(self.start)..byte(self.end)
    }

    /// Checks that parts follow each other in this text.
    ///
    /// # Errors
    /// `invalid_params`: they overlap, or one is not text of it.
    pub fn check(text: &str, untyped: &[Self]) -> Result<(), Failure> {
        let is_text = |part: &Self| text.get(part.range()).is_some();
        let follow = untyped.is_sorted_by(|first, second| first.end <= second.start);
        match follow && untyped.iter().all(is_text) {
            true => Ok(()),
            false => Err(Failure::new(
                ErrorName::InvalidParams,
                "`untyped` does not name parts of the prompt, one behind the other.",
                "Give the first byte of each part, and the byte behind its last one.",
            )),
        }
    }

    /// A text without its parts of these origins: a line break stands for each.
    #[must_use]
    pub fn cut(text: &str, untyped: &[Self], is_cut: impl Fn(TextOrigin) -> bool) -> String {
        let mut rest = text.to_owned();
        let cut = untyped.iter().filter(|part| is_cut(part.origin));
        for part in cut.rev() {
            if text.get(part.range()).is_some() {
                rest.replace_range(part.range(), "\n");
            }
        }
        rest
    }

    /// These parts in a text that was edited. What the edit replaces within a part, or at its edge, belongs to the part.
    #[must_use]
    pub fn edited(before: &str, untyped: &[Self], now: &str) -> Vec<Self> {
        let start = common_bytes(before.chars(), now.chars());
        let end = common_bytes(before.chars().rev(), now.chars().rev());
        let room = before.len().min(now.len());
        let moved = |start, end| moved(untyped, start..before.len() - end, now.len() - end);
        let first = moved(start, end.min(room - start));
        if now.len() >= before.len() || start + end <= now.len() {
            return first;
        }
        // Of text that repeats, the first or the last was deleted: what was not typed in one of the readings is not typed.
        let last = moved(start.min(room - end), end);
        united(&[first, last].concat())
    }
}

/// Parts of a text in which these bytes were replaced, in the new text, where the replacement ends at `new_end`.
fn moved(untyped: &[UntypedText], replaced: Range<usize>, new_end: usize) -> Vec<UntypedText> {
    let shifted = |at: usize| at - replaced.end + new_end;
    let mut moved: Vec<UntypedText> = Vec::new();
    for part in untyped {
        let begin = match part.range().start {
            first if first <= replaced.start => first,
            first if first < replaced.end => replaced.start,
            first => shifted(first),
        };
        let end = match part.range().end {
            last if last <= replaced.start => last,
            last if last < replaced.end => new_end,
            last => shifted(last),
        };
        let begin = moved
            .last()
            .map_or(begin, |before| begin.max(before.range().end));
        if begin < end {
            moved.push(UntypedText {
                start: begin as u64,
                end: end as u64,
                origin: part.origin,
            });
        }
    }
    moved
}

/// What any of these parts covers, in their order. Where they overlap, the text counts as quoted if one of them is.
fn united(parts: &[UntypedText]) -> Vec<UntypedText> {
    let borders: BTreeSet<u64> = parts.iter().flat_map(|it| [it.start, it.end]).collect();
    let borders: Vec<u64> = borders.into_iter().collect();
    let mut united: Vec<UntypedText> = Vec::new();
    for (&start, &end) in borders.iter().zip(borders.iter().skip(1)) {
        let mut covering = parts.iter().filter(|it| it.start <= start && end <= it.end);
        let Some(first) = covering.next() else {
            continue;
        };
        let origin = match covering.any(|it| it.origin == TextOrigin::Quoted) {
            true => TextOrigin::Quoted,
            false => first.origin,
        };
        match united.last_mut() {
            Some(before) if before.end == start && before.origin == origin => before.end = end,
            _ => united.push(UntypedText { start, end, origin }),
        }
    }
    united
}

/// Bytes of the characters that two texts begin with.
fn common_bytes(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    let same = one.zip(other).take_while(|(one, other)| one == other);
    same.map(|(letter, _)| letter.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: u64, end: u64) -> UntypedText {
        UntypedText {
            start,
            end,
            origin: TextOrigin::Quoted,
        }
    }

    #[test]
    fn parts_follow_each_other_in_the_text() {
        let text = "aé b";
        assert!(UntypedText::check(text, &[part(0, 1), part(1, 3), part(3, 5)]).is_ok());
        for wrong in [
            vec![part(0, 2)],
            vec![part(2, 1)],
            vec![part(0, 6)],
            vec![part(0, u64::MAX)],
            vec![part(3, 4), part(0, 1)],
            vec![part(0, 3), part(1, 4)],
        ] {
            assert!(UntypedText::check(text, &wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn parts_of_an_edited_text_are_found_again() {
        let before = "explain\n\n@a.rs\n\n@b.rs";
        let parts = [part(9, 14), part(16, 21)];
        let edited = |now: &str| {
            let found = UntypedText::edited(before, &parts, now);
            let texts = found.iter().map(|part| now[part.range()].to_owned());
            texts.collect::<Vec<_>>()
        };
        assert_eq!(edited(before), ["@a.rs", "@b.rs"]);
        assert_eq!(edited("explain it\n\n@a.rs\n\n@b.rs"), ["@a.rs", "@b.rs"]);
        assert_eq!(
            edited("explain\n\n@a.rs\n\n@b.rs and @c.rs"),
            ["@a.rs", "@b.rs"]
        );
        // Without its last letters, or with others: still not typed.
        assert_eq!(edited("explain\n\n@a.rs\n\n@b"), ["@a.rs", "@b"]);
        assert_eq!(edited("explain\n\n@x.rs\n\n@b.rs"), ["@x.rs", "@b.rs"]);
        assert_eq!(edited("").len(), 0);
        // The text does not say which of the two is left.
        let found = UntypedText::edited("@a and @a", &[part(7, 9)], "@a");
        assert_eq!(found, [part(0, 2)]);
    }

    proptest::proptest! {
        #[test]
        fn parts_of_an_edited_text_are_valid_and_hold_what_they_held(
            before in "[abé]{0,20}", cut in 0..21_usize, removed in 0..8_usize,
            typed in "[x-zü]{0,4}", at in 0..21_usize, long in 1..9_usize,
        ) {
            let letters: Vec<char> = before.chars().collect();
            let (at, cut) = (at.min(letters.len()), cut.min(letters.len()));
            let until = (at + long).min(letters.len());
            let bytes = |count: usize| letters[..count].iter().map(|it| it.len_utf8()).sum::<usize>() as u64;
            let parts = [part(bytes(at), bytes(until))];
            let behind = (cut + removed).min(letters.len());
            let now: String = letters[..cut].iter().copied().chain(typed.chars()).chain(letters[behind..].iter().copied()).collect();
            let edited = UntypedText::edited(&before, &parts, &now);
            proptest::prop_assert!(UntypedText::check(&now, &edited).is_ok());
            // Only typed letters are outside: each letter of the part that is left is inside.
            let held = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
            let inside: String = edited.iter().map(|part| &now[part.range()]).collect();
            let left = (at..until).filter(|index| *index < cut || *index >= behind);
            proptest::prop_assert!(held(&inside) >= left.filter(|index| letters[*index].is_ascii_lowercase()).count());
        }
    }
}
