//! A prompt in the making: its text, and which parts of it nobody typed.

use std::ops::Range;

use proto::{TextOrigin, UntypedText};

/// A prompt, and which parts of it were not typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    pub untyped: Vec<UntypedText>,
}

impl Prompt {
    /// What was typed.
    pub fn typed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            untyped: Vec::new(),
        }
    }

    /// Adds text that was not typed.
    pub fn push_untyped(&mut self, text: &str, origin: TextOrigin) {
        let start = self.text.len();
        self.text.push_str(text);
        self.untyped.push(part(start..self.text.len(), origin));
    }

    /// Adds a whole prompt.
    pub fn push(&mut self, other: &Self) {
        for (text, origin) in other.parts() {
            match origin {
                Some(origin) => self.push_untyped(text, origin),
                None => self.text.push_str(text),
            }
        }
    }

    /// Its text in parts; `None`: it was typed.
    #[must_use]
    pub fn parts(&self) -> Vec<(&str, Option<TextOrigin>)> {
        let mut parts = Vec::new();
        let mut at = 0;
        for untyped in &self.untyped {
            let range = untyped.range();
            parts.push((at..range.start, None));
            at = range.end;
            parts.push((range, Some(untyped.origin)));
        }
        parts.push((at..self.text.len(), None));
        let parts = parts.into_iter();
        parts
            .filter_map(|(range, origin)| Some((self.text.get(range)?, origin)))
            .filter(|(text, _)| !text.is_empty())
            .collect()
    }

    /// These bytes of it, which must be text.
    #[must_use]
    pub fn slice(&self, bytes: Range<usize>) -> Self {
        let text = self.text.get(bytes.clone()).unwrap_or_default().to_owned();
        let untyped = self.untyped.iter().filter_map(|untyped| {
            let range = untyped.range();
            let inside = range.start.max(bytes.start)..range.end.min(bytes.end);
            let shifted = || inside.start - bytes.start..inside.end - bytes.start;
            (inside.start < inside.end).then(|| part(shifted(), untyped.origin))
        });
        Self {
            untyped: untyped.collect(),
            text,
        }
    }

    /// It with a text that an editor made of its text.
    #[must_use]
    pub fn edited(&self, text: String) -> Self {
        Self {
            untyped: UntypedText::edited(&self.text, &self.untyped, &text),
            text,
        }
    }
}

fn part(bytes: Range<usize>, origin: TextOrigin) -> UntypedText {
    UntypedText {
        start: bytes.start as u64,
        end: bytes.end as u64,
        origin,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_prompt() -> impl Strategy<Value = Prompt> {
        let origin = prop_oneof![
            Just(None),
            Just(Some(TextOrigin::Stdin)),
            Just(Some(TextOrigin::Quoted)),
        ];
        prop::collection::vec(("[a é\n]{0,4}", origin), 0..6).prop_map(|parts| {
            let mut prompt = Prompt::default();
            for (text, origin) in parts {
                match origin {
                    Some(origin) if !text.is_empty() => prompt.push_untyped(&text, origin),
                    _ => prompt.text.push_str(&text),
                }
            }
            prompt
        })
    }

    proptest! {
        /// Nothing of a prompt is lost or changes its origin when it is put together from its parts, or cut in two.
        #[test]
        fn parts_and_slices_are_the_prompt_again(prompt in any_prompt(), at in 0_usize..30) {
            let mut copy = Prompt::default();
            copy.push(&prompt);
            prop_assert_eq!(&copy, &prompt);
            let length = prompt.text.len();
            let at = (0..=at.min(length)).rev().find(|at| prompt.text.is_char_boundary(*at)).unwrap();
            let origins = |prompt: &Prompt| -> Vec<(char, Option<TextOrigin>)> {
                let parts = prompt.parts().into_iter();
                parts.flat_map(|(text, origin)| text.chars().map(move |it| (it, origin))).collect()
            };
            let mut halves = prompt.slice(0..at);
            let behind = prompt.slice(at..length);
            prop_assert!(UntypedText::check(&halves.text, &halves.untyped).is_ok());
            prop_assert!(UntypedText::check(&behind.text, &behind.untyped).is_ok());
            halves.push(&behind);
            prop_assert_eq!(origins(&halves), origins(&prompt));
        }
    }
}
