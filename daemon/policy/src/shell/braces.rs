//! Whether a word has a brace expansion: `{a,b}`, `{1..3}`, but not `@{u}..main`. Called by `words`.
//!
//! Like bash, a closing brace counts only after a comma or `..`: `{a}b,c}` is `a}b` and `c`. Where shells differ, finds
//! too much.

/// Maximum opening braces of a word to follow; a word with more counts as an expansion.
const OPEN_MAX: usize = 16;

/// Maximum words that one word is expanded to.
const WORDS_MAX: usize = 16;

/// The words that a plain word with one list in braces stands for: `src/{a,b}.rs`. `None` for anything that shells may
/// read differently.
pub(super) fn expanded(word: &str) -> Option<Vec<String>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+:%=,*?".contains(c);
    let (before, rest) = word.split_once('{')?;
    let (list, after) = rest.split_once('}')?;
    let plain = [before, list, after]
        .iter()
        .all(|piece| piece.chars().all(is_plain));
    let pieces: Vec<&str> = list.split(',').collect();
    let is_list = (2..=WORDS_MAX).contains(&pieces.len()) && !list.contains("..");
    let words: Vec<String> = pieces
        .iter()
        .map(|piece| format!("{before}{piece}{after}"))
        .collect();
    (plain && is_list && words.iter().all(|word| !word.is_empty())).then_some(words)
}

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
