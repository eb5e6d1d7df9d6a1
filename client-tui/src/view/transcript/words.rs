//! Small things in words: times, numbers, outcomes; and rows of them.

use client::text;
use proto::outcome::TurnEnded;
use ratatui::text::{Line, Span};

use crate::keymap::{self, Action, Context};
use crate::messages::Language;
use crate::messages::transcript::Msg;
use crate::model::ViewOptions;
use crate::render::{short, wrap};
use crate::theme::TextRole;

/// Cells of a tab in shown text.
const TAB: &str = "    ";

/// A text from any source in one style.
pub(super) fn span(look: &ViewOptions, ink: TextRole, text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), look.theme.style(ink))
}

/// Lines of a clean text, without tabs.
pub(super) fn lines(clean: &str) -> Vec<String> {
    clean.lines().map(|line| line.replace('\t', TAB)).collect()
}

/// Words that nobody but us has written, or others in them, as rows with a mark and a hanging indent.
pub(super) fn notice_rows(
    look: &ViewOptions,
    mark: &str,
    inks: (TextRole, TextRole),
    words: &str,
) -> Vec<Line<'static>> {
    let words = lines(&text::clean(words));
    hang(look, &span(look, inks.0, mark), inks.1, &words)
}

/// Wrapped lines in one ink: the first row after a mark, the others after as many blanks.
pub(super) fn hang(
    look: &ViewOptions,
    mark: &Span<'static>,
    ink: TextRole,
    lines: &[String],
) -> Vec<Line<'static>> {
    let indent = wrap::width(&mark.content);
    let room = width(look).saturating_sub(indent).max(1);
    let rows = lines.iter().flat_map(|line| {
        let line = Line::from(span(look, ink, line.clone()));
        wrap::line(&line, room)
    });
    rows.enumerate()
        .map(|(index, row)| match index {
            0 => before(mark.clone(), row),
            _ => before(Span::raw(" ".repeat(indent)), row),
        })
        .collect()
}

/// A row with something before it.
pub(super) fn before(first: Span<'static>, row: Line<'static>) -> Line<'static> {
    let mut spans = vec![first];
    spans.extend(row.spans);
    Line::from(spans).style(row.style)
}

/// Cells of a row.
pub(super) fn width(look: &ViewOptions) -> usize {
    usize::from(look.columns).max(8)
}

/// That rows are left out, and how they are seen.
pub(super) fn left_out(look: &ViewOptions, which: Msg, count: usize, room: usize) -> Line<'static> {
    let by = match look.fullscreen {
        true => keymap::shown(Context::Everywhere, Action::Output),
        // Lines in the scrollback never change.
        false => "/view".to_owned(),
    };
    let words = look.language.fill(which, &[&count.to_string(), &by]);
    Line::from(span(look, TextRole::Dim, wrap::cut(&words, room)))
}

/// The usage of a turn: its tokens, and the cost as far as it is known, with that of its sub-agents.
pub(super) fn usage(language: Language, ended: &TurnEnded) -> Vec<String> {
    let usage = &ended.usage;
    let mut words = Vec::new();
    let tokens = usage.prompt_tokens.saturating_add(usage.output_tokens);
    if tokens > 0 {
        words.push(language.fill(Msg::Tokens, &[&short::count(tokens)]));
    }
    match &ended.tree_usage {
        None => words.extend(short::cost(usage)),
        Some(tree) => {
            let cost = short::cost(tree);
            words.extend(cost.map(|cost| language.fill(Msg::CostWithAgents, &[&cost])));
        }
    }
    words
}
