//! Builtins that are given names of variables: `NAME[INDEX]` has its index evaluated as arithmetic, in which the values of
//! variables may run commands. Called by `commands`, `conditions`, `launch` and `shells`.

use super::types::{Part, Value, Word};
use super::{is_name, without_continuations};
use crate::tables::tables;
use crate::wildcards::may_match;

/// Operators of `test` between two words.
const BINARY: &[&str] = &[
    "=", "==", "!=", "<", ">", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
    "-a", "-o", "]", ")",
];

/// Whether a builtin may evaluate something in its words, or in the values of variables that it makes numbers or other names.
/// `has_lists`: some variable is a list.
pub(super) fn evaluates(part: &Part, has_lists: bool) -> bool {
    let Some(program) = part
        .program()
        .filter(|program| tables().evaluating_builtins.contains(*program))
    else {
        return false;
    };
    let words = part.words.get(1..).unwrap_or_default();
    match program {
        "let" | "[[" => true,
        "[" | "test" => test(words),
        "printf" => printf(words),
        "read" => operands(words, "adinNptu", "a").any(|word| !is_plain_name(word)),
        "mapfile" | "readarray" => operands(words, "CcdnOsu", "").any(|word| !is_plain_name(word)),
        "getopts" => {
            // Further words are those that it reads, not names.
            words.get(1).is_some_and(|word| !is_plain_name(word))
                || words
                    .iter()
                    .take(2)
                    .any(|word| word.glob || may_become_more(word))
        }
        // `-p NAME`. Without it a word is the number of a process.
        "wait" => {
            let mut others = operands(words, "p", "p").filter(|word| !is_number(word));
            words
                .iter()
                .any(|word| word.glob || has_letter(word, &['p']))
                && others.any(|word| !is_plain_name(word))
        }
        "unset" => operands(words, "", "").any(|word| !is_plain_name(word)),
        _ => declares(program, words, has_lists),
    }
}

/// `-v NAME` asks whether a variable is set. An unknown word may be that option in the place of an operator, and so may the name
/// of a file that a pattern matches.
fn test(words: &[Word]) -> bool {
    let mut pairs = words.windows(2);
    let asks = pairs.any(|pair| match pair {
        [first, second] if first.glob => {
            may_match(&first.text, "-v")
                && !is_plain_name(second)
                && !BINARY.contains(&second.text.as_str())
        }
        [first, second] if first.is_known() => first.text == "-v" && !is_plain_name(second),
        [_, second] => !second.is_known() || !BINARY.contains(&second.text.as_str()),
        _ => false,
    });
    let may_ask_itself =
        |word: &Word| word.glob && word.value == Value::Known && may_match(&word.text, "-v");
    asks || words
        .iter()
        .any(|word| may_ask_itself(word) || may_become_more(word))
}

/// `-v NAME` is where it puts the text.
fn printf(words: &[Word]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    if !first.is_known() {
        return may_become_more(first) || rest.len() > 1;
    }
    if first.glob && first.text.starts_with(['-', '*', '?', '[']) {
        return true;
    }
    match first.text.strip_prefix("-v") {
        Some("") => rest
            .first()
            .is_some_and(|name| !is_plain_name(name) || may_become_more(name)),
        Some(name) => !is_plain_text(name),
        None => false,
    }
}

/// Variables that are numbers by nature: what they are set to is evaluated.
const NUMBERS: &[&str] = &[
    "HISTCMD", "LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM",
];

pub(super) fn is_number_variable(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// The names of variables that a builtin sets, other than by `NAME=VALUE`.
pub(super) fn set_names(part: &Part) -> Vec<&str> {
    let words = part.words.get(1..).unwrap_or_default();
    let sets = match part.program() {
        Some("getopts" | "mapfile" | "read" | "readarray" | "wait") => true,
        Some("printf") => words
            .first()
            .is_some_and(|first| !first.is_known() || first.text.starts_with("-v")),
        _ => false,
    };
    let texts = words.iter().filter(|_| sets).flat_map(|word| {
        let text = word.text.as_str();
        // `-aNAME`, `-raNAME`: which letters are options is not determined here.
        let letters = text.strip_prefix('-').unwrap_or_default();
        let ends = letters.char_indices().skip(1).map(|(at, _)| &letters[at..]);
        ends.chain([text])
    });
    texts
        .map(|text| text.split('[').next().unwrap_or(text))
        .collect()
}

/// Whether a word sets a variable to a list: `NAME=(…`.
fn sets_list(text: &str) -> bool {
    let value = text.split_once('=').map_or("", |(_, value)| value);
    value.trim_start().trim_start_matches('\\').starts_with('(')
}

/// `declare NAME=VALUE …`. With `-i` its value is evaluated each time that it is set, and with `-n` it is the name of another.
fn declares(program: &str, words: &[Word], has_lists: bool) -> bool {
    let names_another = !matches!(program, "export" | "readonly");
    let gives_meaning =
        |word: &Word| has_letter(word, &['i']) || names_another && has_letter(word, &['n']);
    let mut options = words
        .iter()
        .take_while(|word| is_option(word) && word.text != "--");
    let is_map = options
        .clone()
        .any(|word| word.text.starts_with('-') && has_letter(word, &['A']));
    let is_list = has_lists || options.any(|word| has_letter(word, &['a', 'A']));
    // A list in a value is read again, with all that it contains.
    let may_be_list = |word: &Word| {
        let value = word.text.split_once('=').map_or("", |(_, value)| value);
        is_list && !word.is_known() && value.starts_with(['$', '`'])
    };
    words.iter().any(|word| {
        word.glob
            || word.splits
            || gives_meaning(word)
            || may_be_list(word)
            || !word.is_list && sets_list(&word.text)
            || !is_option(word) && !declares_plainly(word, is_map)
    })
}

/// Whether the name before the `=` has no index that is evaluated, and its list neither.
fn declares_plainly(word: &Word, is_map: bool) -> bool {
    let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
    let name = name.strip_suffix('+').unwrap_or(name);
    is_plain_text(name) && (is_map || !has_evaluated_index(value))
}

/// Whether a list like `([INDEX]=VALUE …)` has an index that is evaluated.
pub(super) fn has_evaluated_index(list: &str) -> bool {
    let list = without_continuations(list);
    list.starts_with('(')
        && (list.contains("]=") || list.contains("]+="))
        && list.split('[').skip(1).any(|after| {
            let index = after.split(']').next().unwrap_or(after);
            !index.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// The words that are no options. Those in `valued` take the next word, unless it is attached; of those in `names` that is a
/// name too.
fn operands<'w>(
    words: &'w [Word],
    valued: &'static str,
    names: &'static str,
) -> impl Iterator<Item = &'w Word> {
    let mut is_value = false;
    let mut only_operands = false;
    words.iter().filter(move |word| {
        if std::mem::take(&mut is_value) {
            // An unknown value may be several words.
            return may_become_more(word);
        }
        // A pattern may be replaced by any option.
        if only_operands || word.glob || !is_option(word) {
            return true;
        }
        only_operands = word.text == "--";
        let takes = word.text.find(|c| valued.contains(c));
        let Some(at) = takes else {
            return false;
        };
        let is_name_next = word.text[at..].starts_with(|c| names.contains(c));
        let is_last = at + 1 == word.text.len();
        is_value = is_last && !is_name_next;
        // `-aNAME`
        is_name_next && !is_last && !is_plain_text(&word.text[at + 1..])
    })
}

fn is_option(word: &Word) -> bool {
    word.is_known() && word.text.starts_with(['-', '+']) && word.text.len() > 1
}

fn has_letter(word: &Word, letters: &[char]) -> bool {
    is_option(word) && !word.text.starts_with("--") && word.text.contains(letters)
}

/// Whether the shell may make several words of it, and so options.
fn may_become_more(word: &Word) -> bool {
    word.value == Value::Braces || word.splits && (!word.is_known() || word.glob)
}

fn is_plain_name(word: &Word) -> bool {
    word.is_known() && !word.glob && is_plain_text(&word.text)
}

fn is_number(word: &Word) -> bool {
    word.is_known() && word.text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A name, also with a number or all of a list behind it.
fn is_plain_text(text: &str) -> bool {
    let (name, index) = match text.split_once('[') {
        Some((name, rest)) => (name, rest.strip_suffix(']')),
        None => (text, Some("0")),
    };
    let is_plain =
        |index: &str| matches!(index, "@" | "*") || index.bytes().all(|byte| byte.is_ascii_digit());
    is_name(name) && index.is_some_and(is_plain)
}
