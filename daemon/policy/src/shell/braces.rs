//! Whether a word has a brace expansion: `{a,b}`, `{1..3}`, but not `@{u}..main`. Called by `words`.
//!
//! Like bash, a closing brace counts only after a comma or `..`: `{a}b,c}` is `a}b` and `c`. Where shells differ, finds
//! too much.

/// Maximum opening braces of a word to follow; a word with more counts as an expansion.
const OPEN_MAX: usize = 16;

/// The unquoted braces of a word so far.
#[derive(Default)]
pub(super) struct Braces {
    opened: Vec<Opened>,
    /// The word has an expansion.
    pub(super) expand: bool,
}

/// What follows one opening brace.
struct Opened {
    /// Further braces that are open.
    inner: usize,
    /// A comma or `..` outside of them has been read.
    separated: bool,
}

impl Braces {
    pub(super) fn open(&mut self) {
        for opened in &mut self.opened {
            opened.inner += 1;
        }
        self.opened.push(Opened {
            inner: 0,
            separated: false,
        });
        self.expand |= self.opened.len() > OPEN_MAX;
        self.opened.truncate(OPEN_MAX);
    }

    /// Reads a comma or `..`.
    pub(super) fn separate(&mut self) {
        for opened in self.opened.iter_mut().filter(|opened| opened.inner == 0) {
            opened.separated = true;
        }
    }

    pub(super) fn close(&mut self) {
        for opened in &mut self.opened {
            match opened.inner {
                0 => self.expand |= opened.separated,
                _ => opened.inner -= 1,
            }
        }
    }
}
