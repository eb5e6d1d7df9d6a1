//! Pieces of one row: if there is no room, whole pieces are dropped, the least important first. None is cut in its
//! middle.

use ratatui::text::{Line, Span};

use crate::model::ViewOptions;
use crate::render::wrap;
use crate::theme::TextRole;

/// The separator between two pieces.
const BETWEEN: &str = " · ";

/// The smallest gap between the left and the right side.
const GAP: usize = 2;

/// A piece of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// 0 stays longest.
    pub rank: u8,
    pub ink: TextRole,
    pub words: String,
}

impl Group {
    /// A piece. Its words are clean.
    pub fn new(rank: u8, ink: TextRole, words: impl Into<String>) -> Self {
        Self {
            rank,
            ink,
            words: words.into(),
        }
    }
}

/// A row of at most `width` cells: some pieces at its left, some at its right.
#[must_use]
pub fn line(
    look: &ViewOptions,
    mut left: Vec<Group>,
    mut right: Vec<Group>,
    width: usize,
) -> Line<'static> {
    while needed(&left, &right) > width {
        let worst = left.iter().chain(&right).map(|group| group.rank).max();
        let Some(worst) = worst else { break };
        left.retain(|group| group.rank < worst);
        right.retain(|group| group.rank < worst);
    }
    let mut spans = joined(look, &left);
    if !right.is_empty() {
        let room = width.saturating_sub(cells(&left) + cells(&right));
        spans.push(Span::raw(" ".repeat(room)));
        spans.extend(joined(look, &right));
    }
    Line::from(spans)
}

fn needed(left: &[Group], right: &[Group]) -> usize {
    let gap = match left.is_empty() || right.is_empty() {
        true => 0,
        false => GAP,
    };
    cells(left) + gap + cells(right)
}

/// Cells that they take beside each other.
pub fn cells(groups: &[Group]) -> usize {
    let words: usize = groups.iter().map(|group| wrap::width(&group.words)).sum();
    words + wrap::width(BETWEEN) * groups.len().saturating_sub(1)
}

fn joined(look: &ViewOptions, groups: &[Group]) -> Vec<Span<'static>> {
    let mut spans = Vec::with_capacity(groups.len() * 2);
    for group in groups {
        if !spans.is_empty() {
            spans.push(Span::styled(BETWEEN, look.theme.style(TextRole::Border)));
        }
        let style = look.theme.style(group.ink);
        spans.push(Span::styled(group.words.clone(), style));
    }
    spans
}
