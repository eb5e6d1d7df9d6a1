//! Finds sed scripts that only print, delete and substitute, and those that run no programs. Called by `options` and
//! `started`.
//!
//! A small parser of the language: addresses, and the commands without side effects. A script is not harmless if it has
//! commands that are unknown, or that run, read or write files (`e`, `w`, `r`).

use crate::shell::Word;

/// Whether a sed command does more than print. Accepts scripts and options only in plain forms.
pub(crate) fn does_more_than_print(extra: &[Word]) -> bool {
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

/// Whether a script may run programs (`e`): it has such a command, or one that is unknown.
pub(crate) fn may_run(script: &str) -> bool {
    !consists_of(script, command_without_programs)
}

/// Whether a script consists of commands that only change the printed text.
fn only_edits(script: &str) -> bool {
    consists_of(script, command)
}

/// Whether all commands of a script are known. `skip`: skips one of them.
fn consists_of(script: &str, skip: fn(&str) -> Option<&str>) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(after) = address(rest).and_then(skip) else {
            return false;
        };
        rest = after;
    }
}

/// Skips the addresses of a command: `1`, `$`, `/x/`, `1,5`, `/a/,/b/`, `2~3`, `!`.
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
            Some(after) => rest = after,
            None => break,
        }
    }
    Some(rest.trim_start_matches(['!', ' ', '\t']))
}

/// Skips one command, if it is a harmless one.
fn command(text: &str) -> Option<&str> {
    let name = text.chars().next()?;
    let rest = &text[name.len_utf8()..];
    let after = match name {
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
            // No `e`, which runs commands, and no `w`, which writes files.
            flags.trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M')
            })
        }
        _ => return None,
    };
    let after = after.trim_start_matches([' ', '\t']);
    (after.is_empty() || after.starts_with([';', '\n', '}'])).then_some(after)
}

/// Skips one command, if it runs no program: also one that reads or writes files, inserts text or jumps.
fn command_without_programs(text: &str) -> Option<&str> {
    let name = text.chars().next()?;
    let rest = &text[name.len_utf8()..];
    let to_end = |text: &'_ str| text.find('\n').unwrap_or(text.len());
    match name {
        'a' | 'i' | 'c' => {
            let mut end = to_end(rest);
            while rest[..end].ends_with('\\') && end < rest.len() {
                end += 1 + to_end(&rest[end + 1..]);
            }
            Some(&rest[end..])
        }
        'r' | 'R' | 'w' | 'W' | '#' => Some(&rest[to_end(rest)..]),
        ':' | 'b' | 't' | 'T' | 'F' => {
            let end = rest.find([';', '\n', '}']);
            Some(&rest[end.unwrap_or(rest.len())..])
        }
        _ => command(text),
    }
}

/// The rest after a field that ends at its unescaped delimiter. `None` if a bracket expression may contain the
/// delimiter.
pub(crate) fn field(text: &str, mark: char) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' if mark != '\n' && !escaped => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => {
                let class = &text[at + 1..];
                // The part that is certainly inside the brackets, and the part that may be.
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

/// The length of a bracket expression whose content starts here.
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
