//! Takes keys that the daemon holds out of an answer as it comes: an endpoint may repeat the key that it was sent.
//!
//! Everything that is shown and logged of an answer comes through here. What goes back to the vendor unchanged
//! (`Part::Thought`) stays as it is.

use std::collections::BTreeMap;

use contract::HeldKeyFilter;
use contract::provider::Part;
use futures::stream::{self, Stream, StreamExt as _};

/// The parts of an answer without keys.
pub fn without_keys<E>(
    parts: impl Stream<Item = Result<Part, E>> + Unpin,
) -> impl Stream<Item = Result<Part, E>> + Unpin {
    let mut filter = KeyFilter::default();
    parts.flat_map(move |part| {
        let is_last = matches!(part, Ok(Part::Done(_)) | Err(_));
        let waited: Vec<Part> = match is_last {
            true => filter.finish().collect(),
            false => Vec::new(),
        };
        let passed = part.map(|part| filter.pass(part)).transpose();
        stream::iter(waited.into_iter().map(Ok).chain(passed).collect::<Vec<_>>())
    })
}

/// The filters of one answer.
#[derive(Default)]
struct KeyFilter {
    text: HeldKeyFilter,
    reasoning: HeldKeyFilter,
    /// By the index of the call.
    arguments: BTreeMap<u32, HeldKeyFilter>,
}

impl KeyFilter {
    /// The portion of a part that is passed on. `None`: all of it waits for the next one.
    fn pass(&mut self, part: Part) -> Option<Part> {
        match part {
            Part::Text(text) if !text.is_empty() => non_empty(self.text.push(&text), Part::Text),
            Part::Reasoning(text) if !text.is_empty() => {
                non_empty(self.reasoning.push(&text), Part::Reasoning)
            }
            Part::CallDelta {
                index,
                id,
                name,
                arguments,
            } => Some(Part::CallDelta {
                index,
                id,
                name,
                arguments: self.arguments.entry(index).or_default().push(&arguments),
            }),
            Part::Call(mut call) => {
                call.arguments = contract::without_held_keys(call.arguments);
                Some(Part::Call(call))
            }
            // What waits is part of the message that is dropped.
            Part::Restarted => {
                *self = Self::default();
                Some(part)
            }
            Part::Waiting { .. }
            | Part::Sent
            | Part::Text(_)
            | Part::Reasoning(_)
            | Part::Thought(_)
            | Part::Usage(_)
            | Part::Done(_) => Some(part),
        }
    }

    /// What still waits when the answer ends.
    fn finish(&mut self) -> impl Iterator<Item = Part> {
        let reasoning = non_empty(self.reasoning.finish(), Part::Reasoning);
        let text = non_empty(self.text.finish(), Part::Text);
        reasoning.into_iter().chain(text)
    }
}

fn non_empty(text: String, part: fn(String) -> Part) -> Option<Part> {
    (!text.is_empty()).then(|| part(text))
}

#[cfg(test)]
mod tests {
    use contract::Secret;
    use proto::CallId;
    use proto::item::ToolCall;

    use super::*;

    #[test]
    fn held_back_text_of_a_restarted_message_is_dropped() {
        let key = Secret::new("kg-0123456789abcdef".to_owned());
        let mut filter = KeyFilter::default();
        let parts = [
            Part::Text("The key: kg-01234".into()),
            Part::Restarted,
            Part::Text("56789abcdef!".into()),
        ];
        let mut passed: Vec<Part> = parts
            .into_iter()
            .filter_map(|part| filter.pass(part))
            .collect();
        passed.extend(filter.finish());
        let at = passed.iter().position(|part| *part == Part::Restarted);
        let later: String = passed[at.expect("it begins again") + 1..]
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(later, "56789abcdef!");
        drop(key);
    }

    #[test]
    fn a_key_that_an_answer_repeats_is_in_none_of_its_parts() {
        let key = Secret::new("kf-0123456789abcdef".to_owned());
        let call = ToolCall {
            id: CallId("c".into()),
            name: "bash".into(),
            arguments: format!("{{\"command\":\"echo {}\"}}", key.expose()),
            cut: false,
            found: false,
        };
        let delta = |arguments: &str| Part::CallDelta {
            index: 0,
            id: "c".into(),
            name: "bash".into(),
            arguments: arguments.to_owned(),
        };
        // A part of another kind between the halves hides nothing.
        let parts = [
            Part::Text("The key: kf-01234".into()),
            Part::Reasoning("I saw kf-0123456789ab".into()),
            delta("echo kf-0123"),
            Part::Text("56789abcdef!".into()),
            Part::Reasoning("cdef. It ends in k".into()),
            delta("456789abcdef x"),
            Part::Call(call),
        ];
        let mut filter = KeyFilter::default();
        let mut passed: Vec<Part> = parts
            .into_iter()
            .filter_map(|part| filter.pass(part))
            .collect();
        passed.extend(filter.finish());
        let (mut text, mut reasoning, mut arguments) =
            (String::new(), String::new(), String::new());
        for part in passed {
            match part {
                Part::Text(piece) => text.push_str(&piece),
                Part::Reasoning(piece) => reasoning.push_str(&piece),
                Part::CallDelta {
                    arguments: piece, ..
                } => arguments.push_str(&piece),
                Part::Call(call) => arguments.push_str(&call.arguments),
                _ => {}
            }
        }
        let stars = "*".repeat(key.expose().len());
        assert_eq!(text, format!("The key: {stars}!"));
        assert_eq!(reasoning, format!("I saw {stars}. It ends in k"));
        assert_eq!(
            arguments,
            format!("echo {stars} x{{\"command\":\"echo {stars}\"}}")
        );
    }
}
