//! Rough readings of text that was not understood: for rules that deny or ask, never for one that allows.
//!
//! Where the parse cannot say which commands there are, all words of the text are laid out one after the other,
//! once for each way of reading quotes, and a rule may begin at any of them. Called by `command` and `rule`.

/// How quotes and signs inside words are read.
#[derive(Clone, Copy)]
enum Reading {
    /// Quotes vanish: `r'm'` is `rm`.
    Unquoted,
    /// Quotes part words: `-c'rm x'` holds `rm x`.
    Parted,
    /// So do signs that stand before a command in some places: `--run=rm`, `{rm,-rf}`.
    Scattered,
}

/// All words of a line however it is nested, as texts with one blank between the words.
pub(crate) fn readings(line: &str) -> Vec<String> {
    let line = line.replace("${IFS}", " ").replace("$IFS", " ");
    let mut found: Vec<String> = Vec::new();
    for reading in [Reading::Unquoted, Reading::Parted, Reading::Scattered] {
        let text = read(&line, reading);
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

fn read(line: &str, reading: Reading) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let parts = match c {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '`' => true,
            '\\' => {
                if chars.peek() == Some(&'\n') {
                    chars.next();
                }
                continue;
            }
            '$' if matches!(chars.peek(), Some('(' | '{' | '\'' | '"')) => continue,
            '\'' | '"' => match reading {
                Reading::Unquoted => continue,
                Reading::Parted | Reading::Scattered => true,
            },
            '=' | ',' | '$' | ':' | '!' => matches!(reading, Reading::Scattered),
            c if c.is_control() => continue,
            c => c.is_whitespace(),
        };
        if !parts {
            text.push(c);
        } else if !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
    }
    if text.ends_with(' ') {
        text.pop();
    }
    text
}
