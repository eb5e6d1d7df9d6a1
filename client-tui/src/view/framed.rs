//! What dialogs are made of: a rule with a title, rows of text that are judged, keys in words, and a part of what is too
//! long with how much is left.

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::Panel;
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::line::Input;
use crate::model::{Look, Model, Tone};
use crate::render::wrap;
use crate::theme::Ink;

/// The mark of what others wrote: no words of theirs can pass for ours. The second one goes on with the same line.
const MARKS: (&str, &str) = ("│ ", "┆ ");

/// Rows that a line of ours takes at most within a dialog.
const TOAST_MAX: usize = 2;

/// A rule across the screen with a title, and words at its end where there is room.
pub(super) fn title(words: &str, end: &str, look: &Look, width: usize) -> Line<'static> {
    let border = look.theme.style(Ink::Border);
    let words = wrap::cut(words, width.saturating_sub(4));
    let mut spans = vec![
        Span::styled("── ", border),
        Span::styled(words.clone(), look.theme.style(Ink::Question)),
    ];
    let mut left = width.saturating_sub(wrap::width(&words).saturating_add(3));
    let end_width = wrap::width(end).saturating_add(5);
    let tail = (!end.is_empty() && end_width < left).then(|| {
        left -= end_width - 1;
        [
            Span::styled(format!(" {end} "), look.theme.style(Ink::Dim)),
            Span::styled("──", border),
        ]
    });
    let rule = "─".repeat(left.saturating_sub(1));
    spans.push(Span::styled(format!(" {rule}"), border));
    spans.extend(tail.into_iter().flatten());
    Line::from(spans)
}

/// Text that is judged, written out, on as many rows as it takes: nothing is left out or put together.
pub(super) fn judged(text: &str, ink: Ink, look: &Look, width: usize) -> Vec<Line<'static>> {
    let text = client::text::exact(text);
    let style = look.theme.style(ink);
    let mut out = Vec::new();
    for line in text.split('\n') {
        let rows = whole(line, inner(width)).into_iter();
        out.extend(mark(rows.map(|row| vec![Span::styled(row, style)]), look));
    }
    out
}

/// A line of others with their mark, on as many rows as it takes.
pub(super) fn marked(line: &Line<'static>, look: &Look, width: usize) -> Vec<Line<'static>> {
    mark(fold(line, inner(width)).into_iter(), look)
}

/// The cells beside the mark.
fn inner(width: usize) -> usize {
    width.saturating_sub(2).max(2)
}

fn mark(rows: impl Iterator<Item = Vec<Span<'static>>>, look: &Look) -> Vec<Line<'static>> {
    let border = look.theme.style(Ink::Border);
    rows.enumerate()
        .map(|(index, row)| {
            let mark = if index == 0 { MARKS.0 } else { MARKS.1 };
            let mut spans = vec![Span::styled(mark, border)];
            spans.extend(row);
            Line::from(spans)
        })
        .collect()
}

/// A text in rows of at most `width` cells, with all its blanks: broken behind one where that is near the end of the row.
fn whole(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let (mut row, mut used) = (String::new(), 0);
    let mut stop = (0, 0);
    for grapheme in text.graphemes(true) {
        let cells = wrap::width(grapheme);
        if used + cells > width && used > 0 {
            let near = stop.1 * 3 > width * 2;
            let rest = row.split_off(if near { stop.0 } else { row.len() });
            used -= if near { stop.1 } else { used };
            rows.push(std::mem::replace(&mut row, rest));
            stop = (0, 0);
        }
        row.push_str(grapheme);
        used += cells;
        if grapheme == " " {
            stop = (row.len(), used);
        }
    }
    rows.push(row);
    rows
}

/// The line in rows of `width` cells, cut wherever a row is full.
fn fold(line: &Line<'static>, width: usize) -> Vec<Vec<Span<'static>>> {
    let mut rows = vec![Vec::new()];
    let mut used = 0;
    for span in &line.spans {
        let style = line.style.patch(span.style);
        let mut text = String::new();
        for grapheme in span.content.graphemes(true) {
            let grapheme = seen(grapheme);
            let cells = wrap::width(&grapheme);
            if used + cells > width && used > 0 {
                push(&mut rows, std::mem::take(&mut text), style);
                rows.push(Vec::new());
                used = 0;
            }
            used += cells;
            text.push_str(&grapheme);
        }
        push(&mut rows, text, style);
    }
    rows
}

fn push(rows: &mut [Vec<Span<'static>>], text: String, style: ratatui::style::Style) {
    if let Some(row) = rows.last_mut().filter(|_| !text.is_empty()) {
        row.push(Span::styled(text, style));
    }
}

/// A tab takes its room; any other character that a terminal would obey is written out.
fn seen(grapheme: &str) -> String {
    match grapheme {
        "\t" => "    ".to_owned(),
        _ if grapheme.contains(char::is_control) => {
            client::text::exact(grapheme).replace('\n', "\\u{a}")
        }
        _ => grapheme.to_owned(),
    }
}

/// Text that is judged, on one line.
pub(super) fn on_one_line(text: &str) -> String {
    client::text::exact(text).replace('\n', "\\u{a}")
}

/// Words on as many rows as they take, broken at blanks, between wide characters, or where nothing else is left.
pub(super) fn words(text: &str, ink: Ink, look: &Look, width: usize) -> Vec<Line<'static>> {
    let style = look.theme.style(ink);
    let rows = broken(text, width.max(2)).into_iter();
    rows.map(|row| Line::styled(row, style)).collect()
}

fn broken(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let (mut row, mut used) = (String::new(), 0);
    // Where the row can be broken: the byte behind a blank, or beside a wide character.
    let mut stop = 0;
    for grapheme in text.graphemes(true) {
        let cells = wrap::width(grapheme);
        if cells > 1 {
            stop = row.len();
        }
        if used + cells > width && grapheme != " " {
            let at = if stop == 0 { row.len() } else { stop };
            let rest = row.split_off(at.min(row.len()));
            rows.push(row.trim_end().to_owned());
            used = wrap::width(&rest);
            row = rest;
            stop = 0;
        }
        row.push_str(grapheme);
        used += cells;
        if cells > 1 || grapheme == " " {
            stop = row.len();
        }
    }
    rows.push(row.trim_end().to_owned());
    rows
}

/// A key and what it does, in words.
pub(super) struct Hint {
    keys: String,
    words: String,
}

impl Hint {
    /// Of a key of the table.
    pub(super) fn of(context: Context, action: Action, words: impl Into<String>) -> Self {
        Self::named(keymap::shown(context, action), words)
    }

    /// Of keys that are several rows of the table.
    pub(super) fn named(keys: impl Into<String>, words: impl Into<String>) -> Self {
        Self {
            keys: keys.into(),
            words: words.into(),
        }
    }
}

/// Keys in words, several on a row where they fit.
pub(super) fn hints(hints: &[Hint], look: &Look, width: usize) -> Vec<Line<'static>> {
    let (strong, text) = (look.theme.style(Ink::Strong), look.theme.style(Ink::Text));
    let dim = look.theme.style(Ink::Dim);
    let mut rows: Vec<Vec<Span<'static>>> = Vec::new();
    let mut used = 0;
    for hint in hints {
        let key = wrap::width(&hint.keys);
        let mut lines = broken(&hint.words, width.saturating_sub(key + 1)).into_iter();
        let first = lines.next().unwrap_or_default();
        let cells = key + 1 + wrap::width(&first);
        let spans = [
            Span::styled(hint.keys.clone(), strong),
            Span::styled(format!(" {first}"), text),
        ];
        match rows
            .last_mut()
            .filter(|_| used > 0 && used + 3 + cells <= width)
        {
            Some(row) if lines.len() == 0 => {
                row.push(Span::styled(" · ", dim));
                row.extend(spans);
                used += 3 + cells;
            }
            _ => {
                rows.push(spans.to_vec());
                used = cells;
            }
        }
        for line in lines {
            rows.push(vec![Span::styled(
                format!("{}{line}", " ".repeat(key + 1)),
                text,
            )]);
            // What is long stands alone.
            used = 0;
        }
    }
    rows.into_iter().map(Line::from).collect()
}

/// The row that is written in behind a mark, and the column of the caret in it.
pub(super) fn input(
    mark: &'static str,
    input: &Input,
    look: &Look,
    width: usize,
) -> (Line<'static>, u16) {
    let before = wrap::width(mark);
    let (shown, column) = input.part(width.saturating_sub(before));
    let line = Line::from(vec![
        Span::styled(mark, look.theme.style(Ink::Accent)),
        Span::styled(shown, look.theme.style(Ink::Text)),
    ]);
    (line, u16::try_from(column + before).unwrap_or(u16::MAX))
}

/// The mark of a line with words of the person's own.
const OWN: &str = "› ";

/// What is written as an answer: what it is, the row that is written in, and the keys.
pub(super) fn writing(
    what: &str,
    input: &Input,
    keys: &[Hint],
    look: &Look,
    width: usize,
) -> Panel {
    let mut panel = Panel::of(words(what, Ink::Question, look, width));
    let (line, column) = self::input(OWN, input, look, width);
    panel.below(Panel {
        rows: vec![line],
        cursor: Some((0, column)),
    });
    panel.rows.extend(hints(keys, look, width));
    panel
}

/// How far what does not fit into `room` rows can be scrolled, and how many rows of it are shown.
pub(super) fn reach(rows: usize, room: usize) -> (usize, usize) {
    match rows <= room {
        true => (0, room),
        // A row tells what is left out.
        false => {
            let page = room.saturating_sub(1).max(1);
            (rows.saturating_sub(page), page)
        }
    }
}

/// As many rows as fit, and a row that tells how many are not shown.
pub(super) fn window(
    rows: &[Line<'static>],
    scroll: usize,
    room: usize,
    keys: (&str, &str),
    look: &Look,
    width: usize,
) -> Vec<Line<'static>> {
    let (last, page) = reach(rows.len(), room);
    let at = scroll.min(last);
    let mut out: Vec<_> = rows.iter().skip(at).take(page).cloned().collect();
    let below = rows.len().saturating_sub(at + page);
    if last > 0 {
        let (above, below) = (at.to_string(), below.to_string());
        let say = |message, values: &[&str]| look.language.fill(message, values);
        let words = match (at, below.as_str()) {
            (0, _) => say(Msg::Below, &[&below, keys.0, keys.1]),
            (_, "0") => say(Msg::Above, &[&above, keys.0, keys.1]),
            _ => say(Msg::AboveBelow, &[&above, &below, keys.0, keys.1]),
        };
        // One row: the keys are what it can do without.
        let words = broken(&words, width).into_iter().next().unwrap_or_default();
        out.push(Line::styled(words, look.theme.style(Ink::Warning)));
    }
    out
}

/// Where to scroll to so that the marked rows are shown.
pub(super) fn in_sight(marked: &std::ops::Range<usize>, rows: usize, room: usize) -> usize {
    let (last, page) = reach(rows, room);
    let end = marked.end.saturating_sub(page);
    end.min(marked.start).min(last)
}

/// The panel without what the screen has no room for.
pub(super) fn fitted(mut panel: Panel, rows: usize) -> Panel {
    panel.rows.truncate(rows);
    let shown = |(row, _): &(u16, u16)| usize::from(*row) < rows;
    panel.cursor = panel.cursor.filter(shown);
    panel
}

/// A line of ours that is told at present: there is no composer to stand above.
pub(super) fn toast(model: &Model, width: usize) -> Vec<Line<'static>> {
    let Some(toast) = model.toast.as_ref().filter(|toast| model.now < toast.until) else {
        return Vec::new();
    };
    let (sign, ink) = match toast.tone {
        Tone::Info => ("i", Ink::Dim),
        Tone::Good => ("+", Ink::Good),
        Tone::Warning => ("!", Ink::Warning),
        Tone::Error => ("x", Ink::Error),
    };
    let told = client::text::line(&toast.words);
    let mut rows = words(&format!("{sign} {told}"), ink, &model.look, width);
    rows.truncate(TOAST_MAX);
    rows
}

#[cfg(test)]
mod tests;
