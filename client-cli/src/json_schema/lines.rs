//! The line of a value in a JSON text. Pure; the text is known to be JSON.

/// The line of the value that a path of member names and places leads to, from 1. Where the path leads nowhere: of the
/// last value on it.
pub(super) fn line_of(text: &str, path: &[String]) -> usize {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    scanner.blanks();
    for step in path {
        if !scanner.enter(step) {
            break;
        }
    }
    let before = &scanner.bytes[..scanner.at.min(scanner.bytes.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Goes from the start of an object or array to the start of one of its values. False: there is none; it stays.
    fn enter(&mut self, step: &str) -> bool {
        let start = self.at;
        let object = self.peek() == b'{';
        if !object && self.peek() != b'[' {
            return false;
        }
        self.at += 1;
        let mut found = None;
        let mut place = 0_usize;
        loop {
            self.blanks();
            if matches!(self.peek(), b'}' | b']' | 0) {
                break;
            }
            let fits = if object {
                let name = self.at;
                self.value();
                let name = serde_json::from_slice::<String>(&self.bytes[name..self.at]);
                self.blanks();
                self.at += 1;
                self.blanks();
                name.is_ok_and(|name| name == step)
            } else {
                place += 1;
                step.parse() == Ok(place - 1)
            };
            if fits {
                // Of members with one name the last counts.
                found = Some(self.at);
            }
            self.value();
            self.blanks();
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at = found.unwrap_or(start);
        found.is_some()
    }

    /// Goes past a value.
    fn value(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                0 => return,
                _ if depth > 0 => self.at += 1,
                _ => self.word(),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.at += 1;
        loop {
            match self.peek() {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return;
                }
                0 => return,
                _ => self.at += 1,
            }
        }
    }

    /// A number, or one of the three words.
    fn word(&mut self) {
        let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']' | 0);
        self.at += 1;
        while !ends(self.peek()) {
            self.at += 1;
        }
    }
}
