//! Separates reasoning that a server leaves in the text: `<think>…</think>` before the answer.
//!
//! DeepSeek's R1 and Qwen write it; vLLM, Ollama and others pass it on if they have no parser for it. Their chat
//! templates drop it from earlier answers, so it is not sent back. Pure.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a piece of text is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SplitContent {
    pub reasoning: String,
    pub text: String,
}

/// The text of an answer in progress.
#[derive(Debug, Default)]
pub(super) struct RawThoughts {
    part: AnswerPart,
    /// Text that may be the start of a mark.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AnswerPart {
    /// Only blanks, or the start of a mark, so far.
    #[default]
    Start,
    Reasoning,
    /// Blank lines between reasoning and answer.
    Gap,
    Text,
}

impl RawThoughts {
    /// Takes a piece of the text.
    pub(super) fn push(&mut self, piece: &str) -> SplitContent {
        let mut split = SplitContent::default();
        if self.part == AnswerPart::Text {
            split.text.push_str(piece);
            return split;
        }
        self.held.push_str(piece);
        while self.step(&mut split) {}
        split
    }

    /// The answer is complete: returns what was held back.
    pub(super) fn finish(&mut self) -> SplitContent {
        let held = std::mem::take(&mut self.held);
        match self.part {
            AnswerPart::Reasoning => SplitContent {
                reasoning: held,
                text: String::new(),
            },
            AnswerPart::Start | AnswerPart::Gap | AnswerPart::Text => SplitContent {
                reasoning: String::new(),
                text: held,
            },
        }
    }

    /// Decides about the text that is held. Returns whether more can be decided.
    fn step(&mut self, split: &mut SplitContent) -> bool {
        match self.part {
            AnswerPart::Start => {
                let text = self.held.trim_start();
                if let Some(rest) = text.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.part = AnswerPart::Reasoning;
                    return true;
                }
                if OPEN.starts_with(text) {
                    return false;
                }
                self.part = AnswerPart::Text;
                split.text.push_str(&std::mem::take(&mut self.held));
                false
            }
            AnswerPart::Reasoning => {
                if let Some(end) = self.held.find(CLOSE) {
                    split.reasoning.push_str(&self.held[..end]);
                    self.held.drain(..end + CLOSE.len());
                    self.part = AnswerPart::Gap;
                    return true;
                }
                let safe = self.held.len() - started_mark(&self.held);
                split.reasoning.extend(self.held.drain(..safe));
                false
            }
            AnswerPart::Gap => {
                let text = self.held.trim_start_matches(['\n', '\r']);
                if !text.is_empty() {
                    split.text.push_str(text);
                    self.part = AnswerPart::Text;
                }
                self.held.clear();
                false
            }
            AnswerPart::Text => false,
        }
    }
}

/// Bytes at the end of a text that may be the start of the closing mark.
fn started_mark(text: &str) -> usize {
    let lengths = (1..CLOSE.len()).rev();
    let ends = |length: &usize| text.ends_with(&CLOSE[..*length]);
    lengths.into_iter().find(ends).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The whole, pushed in pieces that end at these characters.
    fn separate(text: &str, cuts: &[usize]) -> (String, String) {
        let mut raw = RawThoughts::default();
        let mut all = SplitContent::default();
        let mut add = |one: SplitContent| {
            all.reasoning.push_str(&one.reasoning);
            all.text.push_str(&one.text);
        };
        let mut piece = String::new();
        for (index, character) in text.chars().enumerate() {
            piece.push(character);
            if cuts.contains(&index) {
                add(raw.push(&std::mem::take(&mut piece)));
            }
        }
        add(raw.push(&piece));
        add(raw.finish());
        (all.reasoning, all.text)
    }

    #[test]
    fn reasoning_before_the_answer_is_separated() {
        for (text, reasoning, answer) in [
            ("<think>So.</think>\n\nYes.", "So.", "Yes."),
            ("\n <think>\nSo.\n</think>Yes.", "\nSo.\n", "Yes."),
            ("<think></think>\n\nYes.", "", "Yes."),
            ("<think>no end", "no end", ""),
            ("<think>a </thin b</think>c", "a </thin b", "c"),
        ] {
            let expected = (reasoning.to_owned(), answer.to_owned());
            assert_eq!(separate(text, &[]), expected, "{text}");
        }
    }

    #[test]
    fn answers_without_it_are_left_as_they_are() {
        for text in [
            "Yes.",
            "  <thin",
            "  <b>",
            "",
            "Write <think>x</think>.",
            " \n",
        ] {
            assert_eq!(
                separate(text, &[]),
                (String::new(), text.to_owned()),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            text in "(\n| |<think>|</think>|<th|</|a|ü|>){0,8}",
            cuts in prop::collection::vec(0_usize..40, 0..8),
        ) {
            prop_assert_eq!(separate(&text, &cuts), separate(&text, &[]));
        }
    }
}
