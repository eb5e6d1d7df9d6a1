//! The new output of a background command, as the result of a call.

use contract::Outcome;
use proto::item::{CallStatus, Display};

use super::keeper::CommandState;
use crate::bash::{TAIL_CHARS, TOKENS_MAX};
use crate::capture::{FullOutput, HeadAndTail};
use crate::filter::Filter;
use crate::truncate::TextPieces;

/// The state of a background command, and its new output.
#[derive(Debug)]
pub(crate) struct NewOutput {
    pub(super) state: CommandState,
    /// Bytes that it has printed since its start.
    pub(super) output_bytes: u64,
    /// Lines that it has printed since its start.
    pub(super) output_lines: u64,
    pub(super) text: HeadAndTail,
    /// Where all of the output is, if the new text may be too long for a result.
    pub(super) kept: Option<FullOutput>,
}

impl NewOutput {
    /// The outcome, with `before` in front of the state.
    pub(crate) fn outcome(self, before: &str, filter: Option<&Filter>) -> Outcome {
        let state = match &self.state {
            CommandState::Runs(since) => format!("running, {:.2} s", since.as_secs_f64()),
            CommandState::Ended(end) => end.report(),
        };
        let output = self.output(filter);
        let exit = match &self.state {
            CommandState::Runs(_) => None,
            CommandState::Ended(end) => end.exit,
        };
        let tail = match filter {
            None => self.text.last(TAIL_CHARS),
            Some(_) => last(&output, TAIL_CHARS),
        };
        Outcome {
            status: CallStatus::Ok,
            text: format!("{before}{state}\n{output}"),
            display: Display::Command {
                exit_code: exit.and_then(|exit| exit.code),
                signal: exit.and_then(|exit| exit.signal),
                output_bytes: self.output_bytes,
                output_lines: self.output_lines,
                head: String::new(),
                tail,
                sandbox_stopped: false,
                stopped: None,
            },
            images: Vec::new(),
            spill: self
                .kept
                .and_then(|kept| kept.file().map(std::path::Path::to_owned)),
            changed: Vec::new(),
            known: Vec::new(),
            reported: Vec::new(),
            blocked: None,
            quarantined: Vec::new(),
            skill: None,
            agent: None,
        }
    }

    /// The new output, for the model.
    fn output(&self, filter: Option<&Filter>) -> String {
        let nowhere = FullOutput::Nowhere(String::new());
        let kept = self.kept.as_ref().unwrap_or(&nowhere);
        let pieces = self.text.pieces();
        let Some(filter) = filter else {
            let cut = kept.cut(pieces, TOKENS_MAX);
            return match cut.text {
                text if text.is_empty() => "(nothing new)\n".to_owned(),
                text => text,
            };
        };
        let Some(filtered) = filter.apply(pieces) else {
            let mut cut = kept.cut(pieces, TOKENS_MAX);
            cut.text.insert_str(
                0,
                "[`filter` takes too long and was left out: all that is new follows]\n",
            );
            return cut.text;
        };
        let found = TextPieces {
            head: &filtered.head,
            missing: pieces.missing,
            tail: &filtered.tail,
        };
        let mut cut = kept.cut(found, TOKENS_MAX);
        if pieces.missing > 0 {
            cut.text
                .push_str("[`filter` saw nothing of what is no longer in memory]\n");
        }
        if cut.text.is_empty() {
            return match filtered.skipped {
                0 => "(nothing new)\n".to_owned(),
                count => format!("(nothing new that matches; {count} lines skipped)\n"),
            };
        }
        cut.text
    }
}

/// The end of a text.
fn last(text: &str, chars_max: usize) -> String {
    let start = text
        .char_indices()
        .rev()
        .take(chars_max)
        .last()
        .map_or(text.len(), |(at, _)| at);
    text[start..].to_owned()
}
