//! Gathers the parts of an answer before they are passed on. Filled by the kinds and by `read`.

use contract::provider::{Part, Reported};
use proto::item::{Finish, Thought, ToolCall};

/// Parts to pass on. Adjacent ones of the same kind are merged.
#[derive(Default)]
pub(crate) struct PartBatch(Vec<Part>);

impl PartBatch {
    pub(crate) fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }

    pub(crate) fn reasoning(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Reasoning(last)) => last.push_str(text),
            _ => self.0.push(Part::Reasoning(text.to_owned())),
        }
    }

    pub(crate) fn delta(&mut self, at: u32, id: &str, name: &str, more: &str) {
        match self.0.last_mut() {
            Some(Part::CallDelta {
                index, arguments, ..
            }) if *index == at => arguments.push_str(more),
            _ => self.0.push(Part::CallDelta {
                index: at,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: more.to_owned(),
            }),
        }
    }

    /// Another message begins: what came before is not part of the answer.
    pub(crate) fn restart(&mut self) {
        self.0.push(Part::Restarted);
    }

    pub(crate) fn has_restart(&self) -> bool {
        self.0.contains(&Part::Restarted)
    }

    pub(crate) fn usage(&mut self, usage: Option<Reported>) {
        self.0.extend(usage.map(Part::Usage));
    }

    /// The end of a whole answer.
    pub(crate) fn finish(
        &mut self,
        thoughts: Vec<Thought>,
        calls: Vec<ToolCall>,
        usage: Option<Reported>,
        finish: Finish,
    ) {
        self.0.extend(thoughts.into_iter().map(Part::Thought));
        self.0.extend(calls.into_iter().map(Part::Call));
        self.usage(usage);
        self.0.push(Part::Done(finish));
    }

    /// The parts, in order.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Part> {
        self.0.into_iter()
    }

    #[cfg(test)]
    pub(crate) fn parts(&self) -> &[Part] {
        &self.0
    }
}
