//! What a command prints, as plain text: no escape sequences, no control characters, progress bars at their last state.
//!
//! Takes bytes in whatever pieces they come, and holds a bounded amount between them. Called by `capture`.

/// A control string that does not end within this many characters was none.
const STRING_MAX: usize = 4096;
/// A line without an end is passed on from this length.
const LINE_MAX: usize = 64 * 1024;

/// Takes out escape sequences and control characters other than line feed, tab, carriage return and backspace.
#[derive(Debug, Default)]
pub(crate) struct ControlStripper {
    /// The beginning of a character that was cut between two pieces.
    broken: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// Inside `ESC [ … final`.
    Sequence,
    /// Inside a title, a link, a device string: up to BEL or `ESC \`.
    String { length: usize, escape: bool },
}

impl ControlStripper {
    /// The text of the next piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.broken);
        all.extend_from_slice(bytes);
        let mut out = String::with_capacity(all.len());
        let mut rest = all.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text(text, &mut out);
                    return out;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(good).unwrap_or_default(), &mut out);
                    let Some(length) = error.error_len() else {
                        self.broken = bad.to_owned();
                        return out;
                    };
                    self.char(char::REPLACEMENT_CHARACTER, &mut out);
                    rest = &bad[length..];
                }
            }
        }
    }

    /// The remaining text at the end of the output.
    pub(crate) fn finish(&mut self) -> String {
        let broken = std::mem::take(&mut self.broken);
        if broken.is_empty() {
            String::new()
        } else {
            char::REPLACEMENT_CHARACTER.to_string()
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        for char in text.chars() {
            self.char(char, out);
        }
    }

    fn char(&mut self, char: char, out: &mut String) {
        self.state = match (self.state, char) {
            // Cancel and substitute end any sequence.
            (_, '\u{18}' | '\u{1a}') => State::Text,
            (State::String { escape: true, .. }, '\\')
            | (State::String { .. }, '\u{7}' | '\u{9c}') => State::Text,
            (State::String { length, .. }, _) if length < STRING_MAX => State::String {
                length: length + 1,
                escape: char == '\u{1b}',
            },
            (_, '\u{1b}') => State::Escape,
            (State::Escape, '[') | (_, '\u{9b}') => State::Sequence,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_')
            | (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => State::String {
                length: 0,
                escape: false,
            },
            (State::Escape, ' '..='/') => State::Escape,
            (State::Escape, '0'..='~') => State::Text,
            (State::Sequence, ' '..='?') => State::Sequence,
            (State::Sequence, '@'..='~') => State::Text,
            (State::Text | State::Escape | State::Sequence | State::String { .. }, _) => {
                if matches!(char, '\n' | '\t' | '\r' | '\u{8}') || !char.is_control() {
                    out.push(char);
                }
                State::Text
            }
        };
    }
}

/// Gives whole lines in their last state: what a carriage return or backspace overwrote is gone.
#[derive(Debug, Default)]
pub(crate) struct LineFolder {
    line: String,
    /// A carriage return came: what follows, unless the line ends, replaces the line.
    returned: bool,
}

impl LineFolder {
    /// The lines that end in the next piece of stripped text.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for char in text.chars() {
            match char {
                '\n' => {
                    out.push_str(&self.finish());
                    out.push('\n');
                }
                '\r' => self.returned = true,
                '\u{8}' => drop(self.line.pop()),
                _ => {
                    if std::mem::take(&mut self.returned) {
                        self.line.clear();
                    }
                    self.line.push(char);
                    if self.line.len() >= LINE_MAX {
                        out.push_str(&std::mem::take(&mut self.line));
                    }
                }
            }
        }
        out
    }

    /// The line that has not ended.
    pub(crate) fn finish(&mut self) -> String {
        self.returned = false;
        std::mem::take(&mut self.line)
    }
}

/// Stripped text for people who watch: each state of a progress bar on a line of its own.
pub(crate) fn live(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\u{8}', "")
}

#[cfg(test)]
mod tests;
