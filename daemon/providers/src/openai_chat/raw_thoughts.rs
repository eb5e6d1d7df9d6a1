//! Separates reasoning that a server leaves in the text: `<think>…</think>` before the answer.
//!
//! DeepSeek's R1 and Qwen write it; vLLM, Ollama and others pass it on if they have no parser for it. Their chat
//! templates drop it from earlier answers, so it is not sent back. Pure.
//!
//! Some templates open it in the prompt, so that the answer only closes it. What was shown cannot be taken back, so this is
//! expected of certain models alone; of others, `</think>` without a beginning is text like any other.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
const FENCE: &str = "```";

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
    /// The model's template opens its reasoning in the prompt.
    opens_in_prompt: bool,
    /// What was taken for reasoning without a mark.
    unmarked: String,
    /// The answer has had reasoning: another block of it may follow.
    has_thought: bool,
    /// The text so far ends in the middle of a line.
    in_line: bool,
    /// The text is within a block of code.
    in_code: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AnswerPart {
    /// Only blanks, or the start of a mark, so far.
    #[default]
    Start,
    /// Reasoning that the prompt has opened, if a closing mark comes.
    Unmarked,
    Reasoning,
    /// Blank lines between reasoning and answer.
    Gap,
    Text,
}

impl RawThoughts {
    /// Of a model whose template opens its reasoning in the prompt, or of another.
    pub(super) fn new(opens_in_prompt: bool) -> Self {
        Self {
            opens_in_prompt,
            ..Self::default()
        }
    }

    /// The server knows reasoning and sends it in a member of its own.
    pub(super) fn separated_by_server(&mut self) {
        self.opens_in_prompt = false;
    }

    /// Takes a piece of the text.
    pub(super) fn push(&mut self, piece: &str) -> SplitContent {
        let mut split = SplitContent::default();
        if self.part == AnswerPart::Text && !self.has_thought {
            split.text.push_str(piece);
            return split;
        }
        self.held.push_str(piece);
        while self.step(&mut split) {}
        split
    }

    /// The answer is complete: returns what was held back. Reasoning that nothing has closed was the answer: it comes again
    /// as text, so that it is not lost.
    pub(super) fn finish(&mut self) -> SplitContent {
        let held = std::mem::take(&mut self.held);
        let unmarked = std::mem::take(&mut self.unmarked);
        let part = std::mem::replace(&mut self.part, AnswerPart::Text);
        match part {
            AnswerPart::Reasoning => SplitContent {
                reasoning: held,
                text: String::new(),
            },
            AnswerPart::Unmarked => SplitContent {
                reasoning: String::new(),
                text: unmarked + &held,
            },
            AnswerPart::Start | AnswerPart::Gap | AnswerPart::Text => SplitContent {
                reasoning: String::new(),
                text: held,
            },
        }
    }

    /// The same of an answer that was cut off, or that goes on with calls: unclosed reasoning stays reasoning.
    pub(super) fn cut(&mut self) -> SplitContent {
        if self.part == AnswerPart::Unmarked {
            self.unmarked.clear();
            self.part = AnswerPart::Reasoning;
        }
        self.finish()
    }

    /// Decides about the text that is held. Returns whether more can be decided.
    fn step(&mut self, split: &mut SplitContent) -> bool {
        match self.part {
            AnswerPart::Start => {
                let text = self.held.trim_start();
                if let Some(rest) = text.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.begin_reasoning(split);
                    return true;
                }
                if OPEN.starts_with(text) {
                    return false;
                }
                if self.opens_in_prompt {
                    self.part = AnswerPart::Unmarked;
                    return true;
                }
                self.part = AnswerPart::Text;
                split.text.push_str(&std::mem::take(&mut self.held));
                false
            }
            AnswerPart::Unmarked | AnswerPart::Reasoning => self.step_reasoning(split),
            AnswerPart::Gap => {
                let text = self.held.trim_start_matches(['\n', '\r']);
                if let Some(rest) = text.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.begin_reasoning(split);
                    return true;
                }
                if OPEN.starts_with(text) {
                    return false;
                }
                self.held = text.to_owned();
                self.part = AnswerPart::Text;
                true
            }
            AnswerPart::Text => self.step_text(split),
        }
    }

    fn begin_reasoning(&mut self, split: &mut SplitContent) {
        if self.has_thought {
            split.reasoning.push_str("\n\n");
        }
        self.has_thought = true;
        self.part = AnswerPart::Reasoning;
    }

    fn step_reasoning(&mut self, split: &mut SplitContent) -> bool {
        if let Some(end) = self.held.find(CLOSE) {
            split.reasoning.push_str(&self.held[..end]);
            self.held.drain(..end + CLOSE.len());
            self.unmarked.clear();
            self.has_thought = true;
            self.in_line = false;
            self.part = AnswerPart::Gap;
            return true;
        }
        let safe = self.held.len() - started_mark(&self.held);
        let safe: String = self.held.drain(..safe).collect();
        if self.part == AnswerPart::Unmarked {
            self.unmarked.push_str(&safe);
        }
        split.reasoning.push_str(&safe);
        false
    }

    /// Text behind reasoning: another block may begin, on a line of its own and outside code.
    fn step_text(&mut self, split: &mut SplitContent) -> bool {
        if self.held.is_empty() {
            return false;
        }
        if !self.in_line {
            if !self.in_code
                && let Some(rest) = self.held.strip_prefix(OPEN)
            {
                self.held = rest.to_owned();
                self.begin_reasoning(split);
                return true;
            }
            let may_open = !self.in_code && OPEN.starts_with(&*self.held);
            if may_open || (self.held.len() < FENCE.len() && FENCE.starts_with(&*self.held)) {
                return false;
            }
            self.in_code ^= self.held.starts_with(FENCE);
        }
        let end = self.held.find('\n').map(|end| end + 1);
        self.in_line = end.is_none();
        let end = end.unwrap_or(self.held.len());
        split.text.extend(self.held.drain(..end));
        true
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
        separate_by(RawThoughts::default(), text, cuts)
    }

    fn separate_by(mut raw: RawThoughts, text: &str, cuts: &[usize]) -> (String, String) {
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
            ("<think></think>\n<think>b</think>c", "\n\nb", "c"),
            ("<think>a</think>b\n<think>c</think>\nd", "a\n\nc", "b\nd"),
            // Not on a line of its own, and in code.
            (
                "<think>a</think>b <think>c</think>",
                "a",
                "b <think>c</think>",
            ),
            (
                "<think>a</think>b\n```\n<think>c</think>\n```\nd",
                "a",
                "b\n```\n<think>c</think>\n```\nd",
            ),
            ("<think>a</think>b\n<thin", "a", "b\n<thin"),
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
            "So.</think>\n\nYes.",
            "```\n</think>\n```",
            " \n",
        ] {
            assert_eq!(
                separate(text, &[]),
                (String::new(), text.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn reasoning_that_the_prompt_has_opened_ends_at_its_mark() {
        let separate = |text: &str| separate_by(RawThoughts::new(true), text, &[]);
        for (text, reasoning, answer) in [
            ("So.</think>\n\nYes.", "So.", "Yes."),
            ("\nSo.</think>Yes.", "\nSo.", "Yes."),
            ("<think>So.</think>Yes.", "So.", "Yes."),
            ("</think>\n\nYes.", "", "Yes."),
            // There was none: the answer is not lost.
            ("Yes.", "Yes.", "Yes."),
        ] {
            let expected = (reasoning.to_owned(), answer.to_owned());
            assert_eq!(separate(text), expected, "{text}");
        }
        let mut cut = RawThoughts::new(true);
        assert_eq!(cut.push("So it").reasoning, "So it");
        assert_eq!(cut.cut(), SplitContent::default());
        // The server separates it, so the text is none.
        let mut parsed = RawThoughts::new(true);
        parsed.separated_by_server();
        assert_eq!(parsed.push("Yes.").text, "Yes.");
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            text in "(\n| |<think>|</think>|<th|</|a|ü|>|```){0,10}",
            cuts in prop::collection::vec(0_usize..60, 0..8),
            opens in any::<bool>(),
        ) {
            let separate = |cuts: &[usize]| separate_by(RawThoughts::new(opens), &text, cuts);
            prop_assert_eq!(separate(&cuts), separate(&[]));
        }

        #[test]
        fn nothing_but_marks_and_blank_lines_is_lost(
            text in "(\n| |<think>|</think>|<th|</|a|ü|>|```){0,10}",
        ) {
            let letters = |text: &str| text.chars().filter(|c| "aü".contains(*c)).count();
            let (reasoning, answer) = separate(&text, &[]);
            prop_assert_eq!(letters(&reasoning) + letters(&answer), letters(&text));
        }
    }
}
