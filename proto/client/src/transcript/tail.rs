//! The end of what a running tool prints, as a terminal would show it: cleaned, lines that were written over written
//! over.

use crate::text::Cleaner;

/// Bytes of it that are kept.
const KEPT: usize = 16 * 1024;

/// How far what a call prints was taken.
#[derive(Debug, Default)]
pub(super) struct Tail {
    cleaner: Cleaner,
    /// A carriage return came last: the text that follows, except a new line, replaces the line.
    returned: bool,
    /// Bytes that were taken, or are known to be missing.
    upto: u64,
}

impl Tail {
    /// Takes a piece. `offset`: bytes that came before it; bytes that came already are left out.
    pub(super) fn push(&mut self, out: &mut String, offset: u64, text: &str) {
        let known = self.upto.saturating_sub(offset);
        let new = usize::try_from(known).ok().and_then(|at| text.get(at..));
        let Some(new) = new.filter(|new| !new.is_empty()) else {
            return;
        };
        self.upto = offset.saturating_add(text.len() as u64);
        self.write(out, new);
        if out.len() > KEPT {
            forget(out);
        }
    }

    fn write(&mut self, out: &mut String, text: &str) {
        for piece in text.split_inclusive('\r') {
            let (words, returns) = match piece.strip_suffix('\r') {
                Some(words) => (words, true),
                None => (piece, false),
            };
            if self.returned && !words.is_empty() {
                self.returned = false;
                if !words.starts_with('\n') {
                    out.truncate(out.rfind('\n').map_or(0, |at| at + 1));
                }
            }
            out.push_str(&self.cleaner.push(words));
            self.returned |= returns;
        }
    }
}

/// Leaves the end, from the beginning of a line if there is one.
fn forget(out: &mut String) {
    let mut from = out.len() - KEPT;
    while !out.is_char_boundary(from) {
        from += 1;
    }
    let rest = out.get(from..).unwrap_or_default();
    if let Some(line) = rest.find('\n').filter(|at| at + 1 < rest.len()) {
        from += line + 1;
    }
    out.drain(..from);
}

/// What a tool printed, as a terminal would show it.
#[must_use]
pub fn printed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    Tail::default().write(&mut out, text);
    out
}
