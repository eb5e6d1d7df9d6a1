//! Which sed scripts only print, delete and substitute. Called by `options`.
//!
//! A small reader of the language: addresses and the commands that stay inside of it. What it does not know, or what
//! runs, reads or writes files (`e`, `w`, `r`), makes a script more than harmless.

use crate::shell::Word;

/// Whether a sed command does more than print: scripts and options are taken only in plain forms.
pub(crate) fn does_more(extra: &[Word]) -> bool {
    let mut script_seen = false;
    let mut script_next = false;
    for word in extra {
        let text = word.text.as_str();
        let is_script = std::mem::take(&mut script_next);
        if is_script {
            if !only_edits(text) {
                return true;
            }
            script_seen = true;
        } else if let Some(script) = text.strip_prefix("--expression=") {
            if !only_edits(script) {
                return true;
            }
            script_seen = true;
        } else if text.starts_with('-') && text.len() > 1 {
            match text {
                "--quiet" | "--silent" | "--regexp-extended" | "--posix" | "--sandbox"
                | "--unbuffered" | "--null-data" | "--separate" | "--version" | "--help" => {}
                "--expression" => script_next = true,
                _ if text.starts_with("--") => return true,
                _ => {
                    let letters = &text[1..];
                    let (flags, last) = match letters.strip_suffix('e') {
                        Some(flags) => (flags, true),
                        None => (letters, false),
                    };
                    if !flags.chars().all(|c| "nErusz".contains(c)) {
                        return true;
                    }
                    script_next = last;
                }
            }
        } else if !script_seen {
            if !only_edits(text) {
                return true;
            }
            script_seen = true;
        } else if word.may_become_option() {
            return true;
        }
    }
    false
}

/// Whether a script is made of commands that only change what is printed.
fn only_edits(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(behind) = address(rest).and_then(command) else {
            return false;
        };
        rest = behind;
    }
}

/// Past the addresses of a command: `1`, `$`, `/x/`, `1,5`, `/a/,/b/`, `2~3`, `!`.
fn address(text: &str) -> Option<&str> {
    let mut rest = text;
    for _ in 0..2 {
        rest = rest.trim_start_matches([' ', '\t']);
        rest = match rest.chars().next()? {
            '/' => field(&rest[1..], '/')?.trim_start_matches(['I', 'M']),
            '\\' => {
                let mark = rest[1..].chars().next()?;
                field(&rest[1 + mark.len_utf8()..], mark)?.trim_start_matches(['I', 'M'])
            }
            '$' => &rest[1..],
            c if c.is_ascii_digit() || matches!(c, '+' | '~') => {
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '~'))
            }
            _ => break,
        };
        rest = rest.trim_start_matches([' ', '\t']);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    Some(rest.trim_start_matches(['!', ' ', '\t']))
}

/// Past one command, if it is one of the harmless.
fn command(text: &str) -> Option<&str> {
    let name = text.chars().next()?;
    let rest = &text[name.len_utf8()..];
    let behind = match name {
        '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => rest,
        '{' => return Some(rest),
        'q' | 'Q' | 'l' => rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' '),
        's' | 'y' => {
            let mark = rest
                .chars()
                .next()
                .filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
            let fields = &rest[mark.len_utf8()..];
            let flags = field(fields, mark).and_then(|rest| field(rest, mark))?;
            // No `e`, which runs, and no `w`, which writes.
            flags.trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M')
            })
        }
        _ => return None,
    };
    let behind = behind.trim_start_matches([' ', '\t']);
    (behind.is_empty() || behind.starts_with([';', '\n', '}'])).then_some(behind)
}

/// The rest behind a field that ends at its unescaped mark. Inside brackets a mark may be a character: not followed.
fn field(text: &str, mark: char) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' if mark != '\n' && !escaped => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => {
                let class = &text[at + 1..];
                // What is certainly inside, and what may be.
                let length = bracket(class)?;
                if class[..length].contains(mark) {
                    return None;
                }
            }
            _ if c == mark => return Some(&text[at + c.len_utf8()..]),
            _ => {}
        }
    }
    None
}

/// How long a bracket is whose inside begins here.
fn bracket(text: &str) -> Option<usize> {
    let mut at = usize::from(text.starts_with('^'));
    at += usize::from(text[at..].starts_with(']'));
    loop {
        let rest = text.get(at..)?;
        let c = rest.chars().next()?;
        if c == ']' {
            return Some(at + 1);
        }
        let close = match rest.get(..2) {
            Some("[:") => ":]",
            Some("[.") => ".]",
            Some("[=") => "=]",
            _ => {
                at += c.len_utf8();
                continue;
            }
        };
        at += 2 + rest.get(2..)?.find(close)? + 2;
    }
}
