//! Command lines that are never run twice: an `always` rule for exactly one of them would be useless.
//!
//! Examples are parts of a file by line (`sed -n 10,20p`, `head -n 40`), inline text, and processes by number. Called
//! by `grants`.

use crate::shell::{Part, Redirection, Script, Word};

/// Whether a line is useful only now.
pub(crate) fn is_passing(script: &Script) -> bool {
    script.parts.iter().any(of_part)
}

fn of_part(part: &Part) -> bool {
    let text = |to: &Redirection| matches!(to, Redirection::Text(_));
    if part.redirections.iter().any(text) {
        return true;
    }
    let Some((program, words)) = part.words.split_first() else {
        return false;
    };
    let program = program.text.rsplit('/').next().unwrap_or_default();
    match program {
        "sed" | "gsed" => words.iter().any(|word| begins_at_a_line(&word.text)),
        "head" | "tail" => words.iter().any(counts),
        "awk" | "gawk" | "mawk" | "nawk" | "perl" => words.iter().any(|word| {
            word.text.contains("NR") || word.text.contains("FNR") || word.text.contains("$.")
        }),
        "kill" => words.iter().any(|word| is_number(&word.text)),
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// `10,20p`, `5q`, `/x/,+3p`: a script that refers to a line by number.
fn begins_at_a_line(script: &str) -> bool {
    let script = script.trim_start_matches("--expression=");
    let mut rest = script.trim_start().chars();
    let first = rest.next().is_some_and(|c| c.is_ascii_digit());
    let relative = |sign| {
        script
            .split(sign)
            .skip(1)
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    first || relative(",+") || relative(",~") || relative(",")
}

/// `-n 40`, `-40`, `-n40`, `-c 100`, `--lines=40`, `+10`.
fn counts(word: &Word) -> bool {
    let text = word.text.as_str();
    is_number(text)
        || text
            .trim_start_matches(['-', '+'])
            .trim_start_matches(|c: char| c.is_ascii_alphabetic() || matches!(c, '=' | '-' | '+'))
            .starts_with(|c: char| c.is_ascii_digit())
            && text.starts_with(['-', '+'])
}
