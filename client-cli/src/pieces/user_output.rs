//! What a user's own command prints, line by line as it comes.

use std::collections::HashMap;

use proto::CallId;
use proto::live::ToolOutput;

/// Bytes of what was shown that are kept to compare with the end: more than the longest end (4,000 characters).
const KEPT_MAX: usize = 32 * 1024;

/// The output of the user's commands that run.
#[derive(Debug, Default)]
pub struct UserOutput(HashMap<CallId, Printed>);

#[derive(Debug, Default)]
struct Printed {
    /// Bytes that came, or are known to be missing.
    upto: u64,
    /// The line that has no end yet.
    line: String,
    /// The end of what came.
    end: String,
    /// Something was not shown while it ran.
    has_gap: bool,
}

impl UserOutput {
    /// A command has started.
    pub fn start(&mut self, call: &CallId) {
        self.0.insert(call.clone(), Printed::default());
    }

    /// The lines that a piece of output ends; `None`: it ends none, or is of another call.
    pub fn push(&mut self, output: &ToolOutput) -> Option<String> {
        let printed = self.0.get_mut(&output.call)?;
        let known = printed.upto.saturating_sub(output.offset);
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        printed.has_gap |= output.offset > printed.upto;
        let new = output.text.get(known..).filter(|new| !new.is_empty())?;
        printed.upto = output.offset.saturating_add(output.text.len() as u64);
        printed.line.push_str(new);
        printed.end.push_str(new);
        if printed.end.len() > 2 * KEPT_MAX {
            let start = printed
                .end
                .floor_char_boundary(printed.end.len() - KEPT_MAX);
            printed.end.drain(..start);
        }
        let end = printed.line.rfind('\n')?;
        let rest = printed.line.split_off(end + 1);
        Some(std::mem::replace(&mut printed.line, rest))
    }

    /// A command has ended, whose output ends with this text: the line without an end if all of it was shown, else `None`.
    pub fn end(&mut self, call: &CallId, tail: &str) -> Option<String> {
        let printed = self.0.remove(call)?;
        let has_end = printed.end.trim_end().ends_with(tail.trim_end());
        (!printed.has_gap && has_end).then_some(printed.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u64, text: &str) -> ToolOutput {
        ToolOutput {
            call: "call".into(),
            offset,
            text: text.to_owned(),
        }
    }

    #[test]
    fn lines_come_when_they_end_and_once() {
        let mut shown = UserOutput::default();
        assert_eq!(shown.push(&piece(0, "not started\n")), None);
        let call = "call".into();
        shown.start(&call);
        assert_eq!(shown.push(&piece(0, "on")), None);
        assert_eq!(
            shown.push(&piece(0, "one\ntwo\nth")).as_deref(),
            Some("one\ntwo\n")
        );
        assert_eq!(shown.push(&piece(8, "th")), None);
        assert_eq!(shown.end(&call, "two\nth").as_deref(), Some("th"));
        assert_eq!(shown.end(&call, "two\nth"), None);
    }

    #[test]
    fn long_output_is_known_by_its_end() {
        let mut shown = UserOutput::default();
        let call = "call".into();
        shown.start(&call);
        let line = format!("{}é\n", "x".repeat(1_000));
        for number in 0..200 {
            assert!(shown.push(&piece(number * 1_003, &line)).is_some());
        }
        let tail = line.repeat(4);
        assert_eq!(shown.end(&call, &tail[5..]).as_deref(), Some(""));
    }

    #[test]
    fn output_with_a_gap_or_without_its_end_was_not_all_shown() {
        let mut shown = UserOutput::default();
        let call = "call".into();
        shown.start(&call);
        assert!(shown.push(&piece(9, "late\n")).is_some());
        assert_eq!(shown.end(&call, "late\n"), None);
        shown.start(&call);
        assert!(shown.push(&piece(0, "one\n")).is_some());
        assert_eq!(shown.end(&call, "one\nlate\n"), None);
    }
}
