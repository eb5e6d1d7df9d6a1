//! Calls that go in circles: the same again and again, with nothing between that could have changed the answer.

use std::collections::VecDeque;

use super::canonical_text;

/// Calls that are looked back over.
pub const WINDOW: usize = 6;

/// The same call is held back when it comes this often.
pub const THRESHOLD: usize = 3;

/// Reads what goes on by itself: the same call is a new question each time.
const EXEMPT: &str = "bash_output";

/// The newest calls of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storm {
    calls: VecDeque<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    tool: String,
    arguments: String,
    writes: bool,
}

impl Storm {
    /// Whether this call is one too many, and must not run.
    #[must_use]
    pub fn is_one_too_many(&self, tool: &str, arguments: &str) -> bool {
        let arguments = canonical_text(arguments);
        let same = |other: &Call| other.tool == tool && other.arguments == arguments;
        let back = self.calls.iter().rev();
        // Behind a change of something else it may find something new.
        let before = back
            .take_while(|other| same(other) || !other.writes)
            .filter(|other| same(other));
        before.count() + 1 >= THRESHOLD
    }

    /// Notes a call that runs. `writes`: it may change things.
    pub fn note(&mut self, tool: &str, arguments: &str, writes: bool) {
        if tool == EXEMPT {
            return;
        }
        self.calls.push_back(Call {
            tool: tool.to_owned(),
            arguments: canonical_text(arguments),
            writes,
        });
        if self.calls.len() > WINDOW {
            self.calls.pop_front();
        }
    }

    /// A person said something: whatever was asked before may be asked again.
    pub fn clear(&mut self) {
        self.calls.clear();
    }
}
