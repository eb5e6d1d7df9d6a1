//! Lines that are wider than the terminal, broken between words. Pure.

use super::width;
use crate::text;

/// What no line begins with.
const NEVER_FIRST: &str = "，。；：、！？）】》」”’…";

/// The lines of a text in so many columns; what continues begins `indent` columns in. A word that is wider is left to the
/// terminal.
pub fn wrap(line: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut rest, mut margin) = (line, String::new());
    let indent = indent.min(columns / 2);
    loop {
        let room = columns.saturating_sub(margin.len());
        let Some((end, next)) = place(rest, room) else {
            lines.push(format!("{margin}{rest}"));
            return lines;
        };
        lines.push(format!("{margin}{}", &rest[..end]));
        rest = &rest[next..];
        margin = " ".repeat(indent);
    }
}

/// Where a line of so many columns ends, and where the next one begins. `None`: all of the text is in it.
fn place(text: &str, room: usize) -> Option<(usize, usize)> {
    if width(text) <= room {
        return None;
    }
    let begin = text.len() - text.trim_start().len();
    let (mut used, mut last, mut found) = (0, ' ', None);
    for (at, letter) in text.char_indices() {
        if used > room && found.is_some() {
            break;
        }
        if at > begin && may_break(last, letter) {
            let after = text[at..].trim_start();
            // Blanks at the end begin no line.
            if after.is_empty() {
                break;
            }
            // The first place after a word that is too wide is better than none.
            if used <= room || found.is_none() {
                found = Some((at, text.len() - after.len()));
            }
        }
        used += text::width(letter);
        last = letter;
    }
    found
}

/// Whether a line may end between two letters: at a blank, and beside the wide letters of scripts without blanks.
fn may_break(last: char, letter: char) -> bool {
    let is_wide = |letter: char| text::width(letter) > 1;
    match (last, letter) {
        (' ', _) => false,
        (_, ' ') => true,
        (last, letter) if is_wide(last) || is_wide(letter) => {
            !NEVER_FIRST.contains(letter)
                && !"（“‘「《".contains(last)
                && last != '`'
                && letter != '`'
        }
        _ => false,
    }
}

/// The columns before the words of a line: blanks, a mark, a number of a list.
pub fn hanging(line: &str) -> usize {
    let words = line.trim_start();
    let blanks = line.len() - words.len();
    let (mark, _) = words.split_once(' ').unwrap_or((words, ""));
    let is_number = mark.strip_suffix('.').is_some_and(|number| {
        !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
    });
    match is_number || matches!(mark, "·" | "!") {
        true => blanks + width(mark) + 1,
        false => blanks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrap("short", 40, 2), ["short"]);
        assert_eq!(
            wrap("· checking the endpoint: its list", 20, 2),
            ["· checking the", "  endpoint: its list"]
        );
        assert_eq!(
            wrap("ok       home: /a/b/c and more", 18, 9),
            ["ok       home:", "         /a/b/c", "         and more"]
        );
    }

    #[test]
    fn a_word_that_is_too_wide_is_left_whole() {
        let lines = wrap("see /a/very/long/path/of/many/names for it", 12, 0);
        assert_eq!(lines, ["see", "/a/very/long/path/of/many/names", "for it"]);
        assert_eq!(wrap("0123456789", 4, 2), ["0123456789"]);
        assert_eq!(wrap("   ", 2, 0), ["   "]);
        assert_eq!(wrap("", 0, 9), [""]);
    }

    #[test]
    fn wide_letters_need_no_blank_and_their_marks_begin_no_line() {
        assert_eq!(
            wrap("正在检查接入点：请求模型", 14, 0),
            ["正在检查接入", "点：请求模型"]
        );
        assert_eq!(
            wrap("正在检查接入点：请", 14, 0),
            ["正在检查接入", "点：请"]
        );
    }

    #[test]
    fn the_words_of_a_list_hang_behind_its_marks() {
        assert_eq!(hanging("· new"), 2);
        assert_eq!(hanging("! no"), 2);
        assert_eq!(hanging("  1. deep  https://x"), 5);
        assert_eq!(hanging("  `reasonix`"), 2);
        assert_eq!(hanging("new"), 0);
    }
}
