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
#[derive(Clone, Debug, Default)]
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
    /// Notes a call, and says whether it is one too many: then it is not noted, and must not run. `writes`: it may
    /// change things, so that another call behind it may find something new.
    pub fn is_one_too_many(&mut self, tool: &str, arguments: &str, writes: bool) -> bool {
        if tool == EXEMPT {
            return false;
        }
        let call = Call {
            tool: tool.to_owned(),
            arguments: canonical_text(arguments),
            writes,
        };
        let before = self
            .calls
            .iter()
            .rev()
            .take_while(|other| **other == call || !other.writes)
            .filter(|other| **other == call)
            .count();
        if before + 1 >= THRESHOLD {
            return true;
        }
        self.calls.push_back(call);
        if self.calls.len() > WINDOW {
            self.calls.pop_front();
        }
        false
    }

    /// A person said something: whatever was asked before may be asked again.
    pub fn clear(&mut self) {
        self.calls.clear();
    }
}
