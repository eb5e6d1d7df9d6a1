//! Finds the imports of an instruction file: `@path`, as Claude Code reads it. Pure.
//!
//! An import starts a word, or stands in quotes, and ends at the next blank, as a reference in a prompt does; Chinese text
//! follows without one. `@` in a code block, in a code span or inside a word (an e-mail address) is text.

use crate::reference_syntax::{Reference, find_references, is_cjk};

/// Endings of files that hold instructions. A name with another ending is only imported if the file exists.
const TEXT_ENDINGS: [&str; 4] = ["md", "mdc", "markdown", "txt"];

/// Punctuation of Chinese text, which no blank sets off.
const CJK_PUNCTUATION: [char; 14] = [
    '，', '。', '；', '：', '！', '？', '）', '（', '」', '』', '》', '、', '”', '’',
];

/// One import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// As written, without `@` and without punctuation at its end.
    pub path: String,
    /// Line in the file, from 1.
    pub line: usize,
}

impl Import {
    /// Whether it can only be meant as a file. `@user` or `@scope/package` may be something else.
    pub fn is_clearly_a_path(&self) -> bool {
        let starts = ["./", "../", "~/", "/"];
        let ending = self.path.rsplit_once('.').map(|(_, ending)| ending);
        starts.iter().any(|start| self.path.starts_with(start))
            || ending.is_some_and(|ending| TEXT_ENDINGS.contains(&ending))
    }
}

/// The imports of a Markdown text, in their order.
pub(crate) fn imports(text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        if let Some(open) = fence {
            if is_closing_fence(start, open) {
                fence = None;
            }
            continue;
        }
        fence = opening_fence(start);
        if fence.is_some() {
            continue;
        }
        let references = texts_outside_code(line)
            .into_iter()
            .flat_map(find_references);
        imports.extend(references.filter_map(|reference| {
            Some(Import {
                path: path_of(&reference)?,
                line: index + 1,
            })
        }));
    }
    imports
}

/// The marks that open a code block, if this line does.
fn opening_fence(line: &str) -> Option<&str> {
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    // A line such as ```` ```x``` ```` is a code span.
    let is_span = mark == '`' && line[length..].contains('`');
    (length >= 3 && !is_span).then(|| &line[..length])
}

fn is_closing_fence(line: &str, open: &str) -> bool {
    let mark = open.chars().next().unwrap_or('`');
    line.starts_with(open) && line.trim_end().trim_start_matches(mark).is_empty()
}

/// A line without its code spans, in pieces.
fn texts_outside_code(line: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut rest = line;
    loop {
        let Some(start) = rest.find('`') else {
            texts.push(rest);
            return texts;
        };
        texts.push(&rest[..start]);
        let marks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let inside = &rest[start + marks..];
        // Without a closing mark the backtick is text.
        rest = match closing_marks(inside, marks) {
            Some(end) => &inside[end + marks..],
            None => inside,
        };
    }
}

/// Where a run of exactly `count` backticks starts.
fn closing_marks(text: &str, count: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`') {
        let start = at + start;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == count {
            return Some(start);
        }
        at = start + run;
    }
    None
}

/// The path that a reference names.
fn path_of(reference: &Reference) -> Option<String> {
    if reference.quoted {
        return Some(reference.text.clone());
    }
    let text = &reference.text;
    // Up to punctuation of Chinese text, or to such text behind a file's ending.
    let end = text.char_indices().find_map(|(at, letter)| {
        let is_end = CJK_PUNCTUATION.contains(&letter)
            || is_cjk(letter)
                && TEXT_ENDINGS
                    .iter()
                    .any(|ending| ends_with(&text[..at], ending));
        is_end.then_some(at)
    });
    let path = text[..end.unwrap_or(text.len())].trim_end_matches([
        '.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '*', '_',
    ]);
    (!path.is_empty() && !path.contains('@')).then(|| path.to_owned())
}

/// Whether a text ends with a dot and this ending.
fn ends_with(text: &str, ending: &str) -> bool {
    text.strip_suffix(ending)
        .is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests;
