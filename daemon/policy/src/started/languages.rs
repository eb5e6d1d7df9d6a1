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
    plain.contains("system") || plain.replace("||", "").contains(['|', '@'])
}

/// An awk program without its strings and regular expressions. A `/` after a value divides.
fn without_strings(code: &str) -> String {
    let mut plain = String::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        let before = plain.trim_end().chars().next_back();
        let is_regex = c == '/' && before.is_none_or(|before| "(,~!&|{};=".contains(before));
        plain.push(c);
        if c != '"' && !is_regex {
            continue;
        }
        while let Some(inner) = chars.next() {
            if inner == '\\' {
                chars.next();
            } else if inner == c {
                break;
            }
        }
    }
    plain
}
