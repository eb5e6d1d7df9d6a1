//! Rough readings of text that was not understood: for rules that deny or ask, never for one that allows.
//!
//! If the parse cannot say which commands there are, all words of the text are listed one after the other, once for
//! each way of reading quotes, and a rule may match from any of them. Called by `command` and `rule`.

/// How quotes and special characters inside words are read.
#[derive(Clone, Copy)]
enum QuoteReading {
    /// Quotes are removed: `r'm'` is `rm`.
    Unquoted,
    /// Quotes separate words: `-c'rm x'` contains `rm x`.
    Parted,
    /// So do characters that can precede a command: `--run=rm`, `{rm,-rf}`.
    Scattered,
    /// Those characters separate words, and quotes are removed: `--run='r"m"'`.
    Valued,
}

/// All words of a line at any nesting, as texts with one blank between the words.
pub(crate) fn readings(line: &str) -> Vec<String> {
    let line = line.replace("${IFS}", " ").replace("$IFS", " ");
    let mut found: Vec<String> = Vec::new();
    for reading in [
        QuoteReading::Unquoted,
        QuoteReading::Parted,
        QuoteReading::Scattered,
        QuoteReading::Valued,
    ] {
        let text = read(&line, reading);
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

fn read(line: &str, reading: QuoteReading) -> String {
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
                QuoteReading::Unquoted | QuoteReading::Valued => continue,
                QuoteReading::Parted | QuoteReading::Scattered => true,
            },
            '=' | ',' | '$' | ':' | '!' => {
                matches!(reading, QuoteReading::Scattered | QuoteReading::Valued)
            }
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
