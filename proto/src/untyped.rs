//! Parts of a prompt that its sender did not type: what `@` refers to is limited there.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ErrorName, Failure};

/// A part of a prompt's text that its sender did not type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntypedText {
    /// Byte of the text where it begins.
    pub start: u64,
    /// Byte behind its last one.
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

    /// Where these parts of a text stand in another one that it was changed to. One that was changed is not among them: it
    /// was typed.
    #[must_use]
    pub fn kept(before: &str, untyped: &[Self], now: &str) -> Vec<Self> {
        let mut kept = Vec::new();
        let mut from = 0;
        for part in untyped {
            let text = before.get(part.range()).filter(|text| !text.is_empty());
            let rest = now.get(from..).unwrap_or_default();
            let Some((text, at)) = text.and_then(|text| Some((text, rest.find(text)?))) else {
                continue;
            };
            let start = from + at;
            from = start + text.len();
            kept.push(Self {
                start: start as u64,
                end: from as u64,
                origin: part.origin,
            });
        }
        kept
    }
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
    fn part_that_was_changed_is_typed() {
        let before = "explain\n\n@a.rs\n\n@b.rs";
        let parts = [part(9, 14), part(16, 21)];
        let kept = |now| UntypedText::kept(before, &parts, now);
        assert_eq!(kept(before), parts);
        assert_eq!(kept("@a.rs and @b.rs"), [part(0, 5), part(10, 15)]);
        assert_eq!(kept("look: @b.rs"), [part(6, 11)]);
        assert_eq!(kept("nothing"), []);
    }
}
