//! Words of models, tools and files on their way to a terminal: nothing in them may be obeyed by it (I31).
//!
//! Pure. [`Cleaner`] is for text to be read, [`exact`] for text to be judged.

use proto::{hidden, invisible};
use unicode_width::UnicodeWidthChar;

/// The position of the text in an escape sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Text,
    /// ESC came.
    Escape,
    /// ESC `[` came: up to a final byte.
    Control,
    /// ESC `]` or the like came: up to BEL or ESC `\`.
    String { length: usize },
    /// ESC came inside a string.
    StringEscape,
}

/// A string that does not end within so many characters was none.
const STRING_MAX: usize = 4096;

/// Strips what terminals obey, also where a sequence is cut between two pieces of text.
#[derive(Debug, Default)]
pub struct Cleaner {
    within: Within,
}

impl Cleaner {
    /// The next piece, cleaned: escape sequences, control characters and reordering marks left out.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for character in text.chars() {
            self.within = self.step(character, &mut out);
        }
        out
    }

    fn step(&self, character: char, out: &mut String) -> Within {
        match (self.within, character) {
            (_, '\n') => {
                out.push('\n');
                Within::Text
            }
            (Within::Text, '\u{1b}') => Within::Escape,
            (Within::Text, '\u{9b}') => Within::Control,
            (Within::Text, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => {
                Within::String { length: 0 }
            }
            (Within::Text, '\u{2028}' | '\u{2029}') => {
                out.push('\n');
                Within::Text
            }
            (Within::Text, character) => {
                if !is_obeyed(character) && !proto::hidden(character) {
                    out.push(character);
                }
                Within::Text
            }
            (Within::Escape, '[') => Within::Control,
            (Within::Escape, ']' | 'P' | 'X' | '^' | '_') => Within::String { length: 0 },
            // Intermediate bytes: ESC ( B and the like.
            (Within::Escape, ' '..='/' | '\u{1b}') => Within::Escape,
            (Within::Escape, _) => Within::Text,
            (Within::Control, '\u{20}'..='\u{3f}') => Within::Control,
            (Within::Control, '\u{1b}') => Within::Escape,
            (Within::Control, _) => Within::Text,
            (Within::String { .. }, '\u{7}' | '\u{9c}') => Within::Text,
            (Within::String { .. }, '\u{1b}') => Within::StringEscape,
            (Within::String { length }, _) if length < STRING_MAX => {
                Within::String { length: length + 1 }
            }
            (Within::String { .. }, _) => Within::Text,
            (Within::StringEscape, '\\') => Within::Text,
            (Within::StringEscape, '[') => Within::Control,
            (Within::StringEscape, '\u{1b}') => Within::StringEscape,
            (Within::StringEscape, _) => Within::Text,
        }
    }
}

/// Whole text, cleaned, lines kept.
pub fn clean(text: &str) -> String {
    Cleaner::default().push(text)
}

/// Text cleaned and put on one line.
pub fn line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ")
}

/// Text with everything that cannot be seen written out, as `\u{…}`: for questions, where each byte matters.
pub fn exact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push('\n'),
            '\t' => out.push_str("\\t"),
            character
                if is_obeyed(character)
                    || proto::hidden(character)
                    || proto::invisible(character) =>
            {
                out.extend(character.escape_unicode());
            }
            character => out.push(character),
        }
    }
    out
}

/// JSON text with everything escaped that a terminal obeys, or that reorders or hides shown text. JSON itself lets
/// it through, in strings only; whoever reads it gets the same text.
pub fn json(text: &str) -> String {
    let is_escaped =
        |character: char| matches!(character, '\u{7f}'..='\u{9f}') || proto::hidden(character);
    if !text.chars().any(is_escaped) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut units = [0; 2];
    for character in text.chars() {
        if !is_escaped(character) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// Control characters. A tab only moves on.
fn is_obeyed(character: char) -> bool {
    character != '\t' && character.is_control()
}

/// What the lines begin with that the clients write themselves, and what looks the same.
const OWN_MARKS: [char; 25] = [
    '?', '!', '·', '⊘', '↩', '•', '◂', '✓', '✔', '✗', '✘', '■', '◼', '─', '━', '│', '┃', '┆', '▌',
    '»', '∴', '▶', '☐', '☑', '>',
];

/// Whether a line that begins with this character could be taken for one of the program's own. Text of a model that
/// begins so is drawn behind a bar.
#[must_use]
pub fn is_own_mark(character: char) -> bool {
    OWN_MARKS.contains(&character) || ('\u{2801}'..='\u{28ff}').contains(&character)
}

/// Whether a character at the beginning of a line lets the next one look like its first.
#[must_use]
pub fn is_blank(character: char) -> bool {
    let draws_nothing = || hidden(character) || invisible(character) || width(character) == 0;
    character.is_whitespace() || draws_nothing()
}

/// Whether the locale that this process was given spells in UTF-8. A terminal of none shows more than ASCII as rubbish.
pub fn is_utf8() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let set = names
        .iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    set.is_some_and(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// How many columns a character takes by itself: for tables of names and paths, made character by character. By the same
/// table as the full-screen interface, which counts characters drawn as one together.
pub fn width(character: char) -> usize {
    character.width().unwrap_or(0)
}

#[cfg(test)]
mod tests;
