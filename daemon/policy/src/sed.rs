//! Which sed commands only print or substitute. Called by `options`.

use crate::shell::Word;

/// Whether a sed command does more than print: scripts and options are taken only in plain forms.
pub(crate) fn does_more(extra: &[Word]) -> bool {
    let mut script_seen = false;
    let mut script_next = false;
    for word in extra {
        let text = word.text.as_str();
        let is_script = std::mem::take(&mut script_next);
        if is_script {
            if !sed_script(text) {
                return true;
            }
            script_seen = true;
        } else if text.starts_with('-') {
            match text {
                "-n" | "-E" | "-r" | "-u" | "-z" | "-nE" | "-En" | "-nr" | "-rn" | "--quiet"
                | "--silent" | "--regexp-extended" | "--posix" | "--sandbox" => {}
                "-e" | "-ne" | "-Ee" | "-re" | "--expression" => script_next = true,
                _ => return true,
            }
        } else if !script_seen {
            if !sed_script(text) {
                return true;
            }
            script_seen = true;
        } else if word.may_become_option() {
            return true;
        }
    }
    false
}

/// `1,5p`, `$d`, `/x/p`, `s/a/b/g`: one command without `e`, `w`, `r` and the like.
fn sed_script(script: &str) -> bool {
    let script = script.trim();
    if let Some(rest) = script.strip_prefix("s/") {
        return sed_substitution(rest);
    }
    let rest = match script.strip_prefix('/') {
        Some(pattern) => match sed_field(pattern) {
            Some(rest) => rest,
            None => return false,
        },
        None => script,
    };
    let command = rest.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, ',' | '$' | '~' | '+' | '!' | ' ')
    });
    if let Some(rest) = command.strip_prefix("s/") {
        return sed_substitution(rest);
    }
    let mut parts = command.split(';');
    parts.all(|part| {
        let part = part
            .trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, ',' | '$' | '~' | '+' | '!' | ' ')
            })
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        matches!(part, "" | "p" | "d" | "q" | "=" | "n")
    })
}

/// The rest of a field up to its unescaped slash, and what follows.
fn sed_field(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            // Inside brackets a slash is a character: not followed here.
            '[' => {
                let rest = &text[at..];
                if rest
                    .split(']')
                    .next()
                    .is_some_and(|class| class.contains('/'))
                {
                    return None;
                }
            }
            '/' => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

fn sed_substitution(text: &str) -> bool {
    let flags = sed_field(text).and_then(sed_field);
    flags.is_some_and(|flags| {
        flags
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I'))
    })
}
