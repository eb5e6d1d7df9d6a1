//! What a running call prints, kept until it is shown.

use std::sync::{Mutex, PoisonError};

use contract::tool::Progress;

use crate::calls::events::CallEvent;
use crate::reporter::Reporter;

/// What a running call has printed since it was looked at last.
pub struct Printed {
    state: Mutex<Fresh>,
    reporter: Reporter<CallEvent>,
}

#[derive(Default)]
struct Fresh {
    text: String,
    /// Bytes of the output that came before `text`.
    offset: u64,
    /// Bytes that came after `text` and are not shown.
    dropped: u64,
}

/// Output that waits to be shown: anything beyond it is dropped from the live view (the result has it).
const PRINTED_MAX: usize = 64 * 1024;

impl Printed {
    pub fn new(reporter: Reporter<CallEvent>) -> Self {
        Self {
            state: Mutex::default(),
            reporter,
        }
    }

    /// Takes the new output, with the number of bytes that came before it.
    pub fn take(&self) -> Option<(u64, String)> {
        let mut fresh = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (offset, text) = (fresh.offset, std::mem::take(&mut fresh.text));
        fresh.offset += text.len() as u64 + std::mem::take(&mut fresh.dropped);
        (!text.is_empty()).then_some((offset, text))
    }
}

impl Progress for Printed {
    fn output(&self, text: &str) {
        let mut fresh = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Once something was dropped, the rest is too until this was taken: a text has no holes.
        if fresh.dropped > 0 || fresh.text.len() + text.len() > PRINTED_MAX {
            fresh.dropped += text.len() as u64;
            return;
        }
        let first = fresh.text.is_empty();
        fresh.text.push_str(text);
        drop(fresh);
        if first {
            self.reporter.report(CallEvent::Printed);
        }
    }
}

/// For previews: nothing is printed.
pub(super) struct Quiet;

impl Progress for Quiet {
    fn output(&self, _text: &str) {}
}
