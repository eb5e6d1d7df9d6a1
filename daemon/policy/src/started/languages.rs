//! Whether code in the line, in the small languages of awk and sed, may run programs.

use crate::sed;

/// Whether code in this language may run programs. Code in other languages is not looked into.
pub(super) fn may_run(language: &str, code: &str) -> bool {
    match language {
        "awk" => awk_may_run(code),
        "sed" => sed::may_run(code),
        _ => false,
    }
}

/// Whether an awk program has a pipe, `system`, or a call or load by a name (`@`).
fn awk_may_run(code: &str) -> bool {
    let plain = without_strings(code);
    code.contains("system") || plain.replace("||", "").contains(['|', '@'])
}

/// An awk program without its strings, regular expressions and comments. A `/` after a value divides. Where that is
/// unclear, the rest stays as it is.
fn without_strings(code: &str) -> String {
    let mut plain = String::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        let before = plain.trim_end();
        let last = before.chars().next_back();
        let is_regex = c == '/' && last.is_none_or(|last| "(,~!&|{};=".contains(last));
        let is_unclear = c == '/' && !is_regex && may_precede_regex(before);
        plain.push(c);
        let rest = chars.as_str();
        if is_unclear {
            plain.push_str(rest);
            return plain;
        }
        if c == '#' {
            chars = rest[rest.find('\n').unwrap_or(rest.len())..].chars();
        }
        if c != '"' && !is_regex {
            continue;
        }
        while let Some(inner) = chars.next() {
            if inner == '\\' {
                chars.next();
            } else if inner == '[' && is_regex {
                // Some take a `/` in brackets for the end.
                plain.push_str(chars.as_str());
                return plain;
            } else if inner == c {
                break;
            }
        }
    }
    plain
}

/// Whether a `/` may start a regular expression although the text before it ends like a value: `return /x/`.
fn may_precede_regex(before: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "case", "delete", "do", "else", "exit", "getline", "in", "print", "printf", "return",
    ];
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = before.trim_end_matches(is_part).len();
    before.ends_with([')', '+', '-', '*', '%', '^', '<', '>', '?', ':'])
        || KEYWORDS.contains(&&before[word..])
}
