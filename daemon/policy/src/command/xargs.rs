//! `xargs` in front of a program that only reads: which arguments it gets is unknown, but none of them is harmful.
//!
//! Called by `command`.

use super::{is_bare, is_reached};
use crate::programs::{self, ReadingKind};
use crate::shell::{Part, Script, Value, Word};
use crate::tables::tables;

/// How a part reads that is a plain `xargs`, and the part that it launches, if any. `any_file`: it does not matter
/// which files it reads.
pub(super) fn reading(
    script: &Script,
    index: usize,
    any_file: bool,
) -> Option<(ReadingKind, Option<usize>)> {
    let part = script.parts.get(index)?;
    let is_known = |word: &Word| word.value == Value::Known && !word.glob && !word.tilde;
    let is_plain = part.program() == Some("xargs") && part.words.iter().all(is_known);
    if !is_plain || part.doubt.is_some() || !is_bare(part) || !is_reached(part) {
        return None;
    }
    let options = options(&part.words)?;
    let launched = |other: &&(usize, &Part)| other.1.parent == Some(index);
    let parts = script.parts.iter().enumerate();
    let children: Vec<(usize, &Part)> = parts.filter(|other| launched(&other)).collect();
    let (at, child) = match children.as_slice() {
        // It prints its input.
        [] if options.program == part.words.len() => {
            return Some((ReadingKind { files: false }, None));
        }
        [only] => *only,
        _ => return None,
    };
    let names_files_here = || options.null && finds_plain_files(script, index);
    if !any_file && !names_files_here() {
        return None;
    }
    let (given, words) = child.words.split_last()?;
    let program = words.first()?;
    let only_reads = given.value == Value::Given
        && child.doubt.is_none()
        && words.iter().all(is_known)
        && tables().harmless.contains(&program.text);
    let reading = programs::reading(words).filter(|_| only_reads)?;
    Some((reading, Some(at)))
}

struct XargsOptions {
    /// The index of the program.
    program: usize,
    /// Names end with a zero byte, and so stay whole.
    null: bool,
}

/// The options of `xargs`, if they only say how many arguments a program gets and how they are separated.
fn options(words: &[Word]) -> Option<XargsOptions> {
    let mut found = XargsOptions {
        program: 1,
        null: false,
    };
    while let Some(word) = words.get(found.program) {
        let text = word.text.as_str();
        let Some(option) = text.strip_prefix('-') else {
            break;
        };
        found.program += 1;
        match option {
            "-null" => found.null = true,
            "-no-run-if-empty" | "-verbose" | "-exit" => {}
            _ => {
                let flags = option.trim_start_matches(['0', 'r', 't', 'x']);
                let letters = &option[..option.len() - flags.len()];
                found.null |= letters.contains('0');
                let is_number =
                    |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                match flags.strip_prefix(['n', 'L', 'P', 's']) {
                    None if flags.is_empty() && !letters.is_empty() => {}
                    Some("") if is_number(&words.get(found.program)?.text) => found.program += 1,
                    Some(number) if is_number(number) => {}
                    Some(_) | None => return None,
                }
            }
        }
    }
    Some(found)
}

/// Whether the command before `xargs` in its pipeline is a `find` that prints the whole names of plain files, of no
/// links.
fn finds_plain_files(script: &Script, index: usize) -> bool {
    let (Some(xargs), Some(find)) = (
        script.parts.get(index),
        index
            .checked_sub(1)
            .and_then(|before| script.parts.get(before)),
    ) else {
        return false;
    };
    let words: Vec<&str> = find.words.iter().map(|word| word.text.as_str()).collect();
    let is_plain_file = |pair: &[&str]| pair == ["-type", "f"];
    let may_print_others = |word: &&str| {
        word.starts_with("-print") && *word != "-print0"
            || matches!(
                *word,
                "-L" | "-follow" | "-H" | "-ls" | "-o" | "-or" | "," | "!" | "-not"
            )
    };
    // One before the test of the kind would print links too.
    let prints_once = words.iter().filter(|word| **word == "-print0").count() == 1;
    // Options before the first path may have it follow links.
    let begins_with_path = words.get(1).is_some_and(|word| !word.starts_with('-'));
    find.program() == Some("find")
        && find.pipeline == xargs.pipeline
        && find.via == xargs.via
        && words.last() == Some(&"-print0")
        && prints_once
        && begins_with_path
        && words.windows(2).any(is_plain_file)
        && !words.iter().any(may_print_others)
}
