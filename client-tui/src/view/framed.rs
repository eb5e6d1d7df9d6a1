//! Parts of dialogs: a rule with a title, rows of text to judge, key hints, and a window into a long text with the
//! number of rows left.

use client::form::blank::{self, FoldedLine};
use ratatui::text::{Line, Span};

use super::Panel;
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::ViewOptions;
use crate::model::line::Input;
use crate::render::wrap;
use crate::theme::TextRole;

/// The mark before text from elsewhere, so that it cannot pass for our own. The second mark continues the same line.
const MARKS: (&str, &str) = ("│ ", "┆ ");

/// Most rows of a notice within a dialog: there is no composer to show it above.
pub(super) const TOAST: usize = 2;

/// A rule across the screen with a title, and text at its end if there is room.
pub(super) fn title(words: &str, end: &str, look: &ViewOptions, width: usize) -> Line<'static> {
    let border = look.theme.style(TextRole::Border);
    let words = wrap::cut(words, width.saturating_sub(4));
    let mut spans = vec![
        Span::styled("── ", border),
        Span::styled(words.clone(), look.theme.style(TextRole::Question)),
    ];
    let mut left = width.saturating_sub(wrap::width(&words).saturating_add(3));
    let end_width = wrap::width(end).saturating_add(5);
    let tail = (!end.is_empty() && end_width < left).then(|| {
        left -= end_width - 1;
        [
            Span::styled(format!(" {end} "), look.theme.style(TextRole::Dim)),
            Span::styled("──", border),
        ]
    });
    let rule = "─".repeat(left.saturating_sub(1));
    spans.push(Span::styled(format!(" {rule}"), border));
    spans.extend(tail.into_iter().flatten());
    Line::from(spans)
}

/// Text that is judged, written out, on as many rows as it takes: nothing is left out or put together, but for long runs
/// of blank lines, which are counted.
pub(super) fn judged(
    text: &str,
    ink: TextRole,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let style = look.theme.style(ink);
    let mut out = Vec::new();
    for stretch in blank::fold_blank_lines(text) {
        match stretch {
            FoldedLine::Line(line) => {
                let line = client::text::exact(line);
                let rows = wrap::whole(&line, inner(width)).into_iter();
                out.extend(mark(rows.map(|row| vec![Span::styled(row, style)]), look));
            }
            // Our own row: it has no mark.
            FoldedLine::Blank(_) => {
                let folded = stretch.folded(look.language).unwrap_or_default();
                out.extend(words(&folded, TextRole::Warning, look, width));
            }
        }
    }
    out
}

/// A line of others with their mark, on as many rows as it takes. What cannot be seen is written out already.
pub(super) fn marked(line: &Line<'static>, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let rows = wrap::hard(line, inner(width)).into_iter();
    let spans = rows.map(|row| {
        let spans = row.spans.into_iter();
        let styled = spans.map(|span| Span::styled(span.content, row.style.patch(span.style)));
        styled.collect()
    });
    mark(spans, look)
}

/// The cells beside the mark.
fn inner(width: usize) -> usize {
    width.saturating_sub(2).max(2)
}

fn mark(rows: impl Iterator<Item = Vec<Span<'static>>>, look: &ViewOptions) -> Vec<Line<'static>> {
    let border = look.theme.style(TextRole::Border);
    rows.enumerate()
        .map(|(index, row)| {
            let mark = if index == 0 { MARKS.0 } else { MARKS.1 };
            let mut spans = vec![Span::styled(mark, border)];
            spans.extend(row);
            Line::from(spans)
        })
        .collect()
}

/// Text that is judged, on one line.
pub(super) fn on_one_line(text: &str) -> String {
    client::text::exact(text).replace('\n', "\\u{a}")
}

/// Words on as many rows as they take.
pub(super) fn words(
    text: &str,
    ink: TextRole,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let said = Span::styled(text.to_owned(), look.theme.style(ink));
    wrap::line(&Line::from(said), width.max(2))
}

/// The same after a mark; rows below the first are indented to it.
pub(super) fn hanging(
    mark: &str,
    text: &str,
    ink: TextRole,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let indent = Line::from(" ".repeat(wrap::width(mark)));
    let mark = Span::styled(mark.to_owned(), look.theme.style(TextRole::Accent));
    let said = Span::styled(text.to_owned(), look.theme.style(ink));
    wrap::hanging(&Line::from(said), width, &Line::from(mark), &indent)
}

/// A key and its description.
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

/// Key hints, several on a row if they fit.
pub(super) fn hints(hints: &[Hint], look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let (strong, dim) = (
        look.theme.style(TextRole::Strong),
        look.theme.style(TextRole::Dim),
    );
    let mut rows: Vec<Vec<Span<'static>>> = Vec::new();
    let mut used = 0;
    for hint in hints {
        let indent = wrap::width(&hint.keys) + 1;
        let room = width.saturating_sub(indent);
        let mut lines = words(&hint.words, TextRole::Text, look, room).into_iter();
        let first = lines.next().unwrap_or_default();
        let cells = indent + wrap::cells(&first);
        let mut spans = vec![Span::styled(hint.keys.clone(), strong), Span::raw(" ")];
        spans.extend(first.spans);
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
                rows.push(spans);
                used = cells;
            }
        }
        for line in lines {
            let mut spans = vec![Span::raw(" ".repeat(indent))];
            spans.extend(line.spans);
            rows.push(spans);
            // A long hint gets its own row.
            used = 0;
        }
    }
    rows.into_iter().map(Line::from).collect()
}

/// A text field after a mark, and the column of its caret.
pub(super) fn input(
    mark: &'static str,
    input: &Input,
    look: &ViewOptions,
    width: usize,
) -> (Line<'static>, u16) {
    let before = wrap::width(mark);
    let (shown, column) = input.part(width.saturating_sub(before));
    let line = Line::from(vec![
        Span::styled(mark, look.theme.style(TextRole::Accent)),
        Span::styled(shown, look.theme.style(TextRole::Text)),
    ]);
    (line, u16::try_from(column + before).unwrap_or(u16::MAX))
}

/// The mark of a text field.
const OWN: &str = "› ";

/// A text field for an answer: its label, the field, and the keys.
pub(super) fn writing(
    what: &str,
    input: &Input,
    keys: &[Hint],
    look: &ViewOptions,
    width: usize,
) -> Panel {
    let mut panel = Panel::of(words(what, TextRole::Question, look, width));
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
        // One row reports the rows left out.
        false => {
            let page = room.saturating_sub(1).max(1);
            (rows.saturating_sub(page), page)
        }
    }
}

/// Whether so many rows can be read in this room: all of them at once, or a part and the row that says how many are left.
pub(super) fn is_readable(rows: usize, room: usize) -> bool {
    rows <= room || room >= 2
}

/// As many rows of the parts, one below the other, as fit, and a row that says how many are not shown.
pub(super) fn window(
    parts: &[&[Line<'static>]],
    scroll: usize,
    room: usize,
    keys: &ScrollKeys,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let count: usize = parts.iter().map(|part| part.len()).sum();
    let (last, page) = reach(count, room);
    let at = scroll.min(last);
    let rows = parts.iter().flat_map(|part| part.iter());
    let mut out: Vec<_> = rows.skip(at).take(page).cloned().collect();
    let below = count.saturating_sub(at + page);
    if last > 0 {
        let (above, below) = (at.to_string(), below.to_string());
        let say = |message, values: &[&str]| look.language.fill(message, values);
        let ScrollKeys { down, up } = keys;
        let words = match (at, below.as_str()) {
            (_, "0") => say(Msg::Above, &[&above, &up[0], &up[1]]),
            (0, _) => say(Msg::Below, &[&below, &down[0], &down[1]]),
            _ => say(Msg::AboveBelow, &[&above, &below, &down[0], &down[1]]),
        };
        // One row only: the keys at its end may be cut off.
        let rows = self::words(&words, TextRole::Warning, look, width);
        out.extend(rows.into_iter().take(1));
    }
    out
}

/// The two keys that show more of a text below, and above.
pub(super) struct ScrollKeys {
    down: [String; 2],
    up: [String; 2],
}

impl ScrollKeys {
    /// By a line and by a page; where a line is a field, only pages scroll.
    pub(super) fn of(context: Context) -> Self {
        let keys = |one, other| [one, other].map(|action| keymap::shown(context, action));
        match context {
            Context::Approval | Context::Confirm => Self {
                down: keys(Action::ScrollDown, Action::PageDown),
                up: keys(Action::ScrollUp, Action::PageUp),
            },
            Context::Question
            | Context::Everywhere
            | Context::Processes
            | Context::Queue
            | Context::Menu
            | Context::List
            | Context::Pager
            | Context::Composer => Self::both(keys(Action::PageDown, Action::PageUp)),
        }
    }

    /// The same two wherever the text is.
    pub(super) fn both(keys: [String; 2]) -> Self {
        Self {
            down: keys.clone(),
            up: keys,
        }
    }
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

#[cfg(test)]
mod tests;
