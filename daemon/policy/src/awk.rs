//! Finds awk programs that only print. Called by `programs`.
//!
//! Reads the words of the language. A program is not harmless if it has a word or sign that may run, read or write
//! anything else than its input and its output, or if awks may read it in different ways.

use crate::sed::field;
use crate::shell::Word;

/// Words that run programs, read or write files, show the environment or change the list of input files.
const REFUSED: &[&str] = &[
    "_",
    "bindtextdomain",
    "close",
    "dcgettext",
    "dcngettext",
    "extension",
    "fflush",
    "func",
    "function",
    "getline",
    "system",
];

/// Prefixes of the names of variables with a special meaning.
const REFUSED_VARIABLES: &[&str] = &[
    "ARG", "CONVFMT", "ENV", "FUNC", "OFMT", "PROC", "SYM", "TEXT",
];

/// Words after which a `/` is not certainly a division.
const BEFORE_REGEX: &[&str] = &[
    "and", "asort", "asorti", "atan2", "case", "compl", "cos", "default", "delete", "do", "else",
    "exit", "exp", "for", "gensub", "gsub", "if", "in", "index", "int", "length", "log", "lshift",
    "match", "mktime", "next", "nextfile", "or", "patsplit", "print", "printf", "rand", "return",
    "rshift", "sin", "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr",
    "switch", "systime", "tolower", "toupper", "typeof", "while", "xor",
];

/// Whether an awk command, given without its program, only prints what it makes of the files that it names. Only `-F`
/// and `-v` may precede the code.
pub(crate) fn only_prints(arguments: &[Word]) -> bool {
    if arguments.iter().any(Word::may_become_option) {
        return false;
    }
    let mut rest = arguments.iter().map(|word| word.text.as_str());
    let code = loop {
        let Some(text) = rest.next() else {
            return false;
        };
        let value = match text.split_at_checked(2) {
            Some((option @ ("-F" | "-v"), "")) => rest.next().map(|value| (option, value)),
            Some((option @ ("-F" | "-v"), value)) => Some((option, value)),
            _ if text.starts_with('-') => return false,
            _ => break text,
        };
        match value {
            Some(("-v", setting)) if !is_harmless_setting(setting) => return false,
            Some(_) => {}
            None => return false,
        }
    };
    // Some open connections for names like `/inet/tcp/0/host/80`, and some may take options after the code.
    let is_file = |text: &str| {
        let is_option = text.len() > 1 && text.starts_with('-');
        !is_option && !text.starts_with("/inet") && !text.starts_with("/dev/")
    };
    code_only_prints(code) && rest.all(|text| is_file(text) && is_harmless_setting(text))
}

/// Whether a word sets none of the variables that mean more than their value.
fn is_harmless_setting(text: &str) -> bool {
    !REFUSED_VARIABLES.iter().any(|name| text.starts_with(name))
}

/// The last word or sign before a position in the code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A `/` starts a regular expression.
    BeforeRegex,
    /// A `/` divides.
    Operand,
    /// Awks may differ.
    Unclear,
}

fn code_only_prints(code: &str) -> bool {
    let mut rest = code;
    let mut last = Last::BeforeRegex;
    // Whether a `>` may be a redirection: there was a `print` in the statement.
    let mut prints = false;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            ' ' | '\t' => after,
            '"' => {
                last = Last::Operand;
                match after_string(after) {
                    Some(after) => after,
                    None => return false,
                }
            }
            '/' if last == Last::BeforeRegex => {
                last = Last::Unclear;
                match after_regex(after) {
                    Some(after) => after,
                    None => return false,
                }
            }
            '/' if last == Last::Operand => {
                last = Last::Unclear;
                after
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let after = rest.trim_start_matches(is_part);
                let name = &rest[..rest.len() - after.len()];
                if REFUSED.contains(&name) || !is_harmless_setting(name) {
                    return false;
                }
                prints |= matches!(name, "print" | "printf");
                last = match BEFORE_REGEX.contains(&name) {
                    true => Last::Unclear,
                    false => Last::Operand,
                };
                after
            }
            // No letters: `1system(x)` is a number and a word.
            '0'..='9' | '.' => {
                last = Last::Operand;
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
            }
            '{' | '}' | ';' => {
                prints = false;
                last = Last::BeforeRegex;
                after
            }
            // A statement may continue on the next line.
            '\n' | '(' | ',' | '!' | '~' => {
                last = Last::BeforeRegex;
                after
            }
            '&' | '|' => match after.strip_prefix(c) {
                Some(after) if !after.starts_with(c) => {
                    last = Last::BeforeRegex;
                    after
                }
                _ => return false,
            },
            '>' if prints => return false,
            ']' => {
                last = Last::Operand;
                after
            }
            ')' | '[' | '$' | '+' | '-' | '*' | '%' | '^' | '?' | ':' | '=' | '<' | '>' => {
                last = Last::Unclear;
                after
            }
            _ => return false,
        };
    }
    true
}

/// The rest after a string.
fn after_string(text: &str) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some(&text[at + 1..]),
            '\n' => return None,
            '\\' => {
                chars.next().filter(|(_, c)| *c != '\n')?;
            }
            _ => {}
        }
    }
    None
}

/// The rest after a regular expression. `None` if awks may differ about its end.
fn after_regex(text: &str) -> Option<&str> {
    let after = field(text, '/')?;
    let regex = &text[..text.len() - after.len()];
    // Some take a backslash in brackets as it is.
    let is_unclear = regex.contains('[') && regex.contains('\\') && after.contains('/');
    (!is_unclear && !regex.contains('\n')).then_some(after)
}
