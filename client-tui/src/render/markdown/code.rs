//! Code in a fence: its beginning and end, and its lines in colours.

use std::borrow::Cow;
use std::collections::HashMap;

use ratatui::text::{Line, Span};

use super::{BlockKind, Markdown};
use crate::model::ViewOptions;
use crate::render::highlight::{self, Highlighter, LINES_MAX};
use crate::render::wrap;
use crate::theme::TextRole;

/// Indent of code.
const INDENT: usize = 2;

/// A fence that was opened.
#[derive(Debug)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// Blanks before it: as many are taken from the lines.
    indent: usize,
    pub(super) language: String,
    /// The first block of its code.
    pub(super) block: usize,
}

/// How far code was read at the beginning of blocks of it: made as it is drawn.
pub(super) type Colours = HashMap<usize, Highlighter>;

impl Fence {
    /// The fence that this text begins with.
    pub(super) fn of(text: &str) -> Option<Self> {
        let line = text.lines().next()?;
        let fence = line.trim_start_matches(' ');
        let mark = fence
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let info = fence.trim_start_matches(mark);
        let length = fence.len() - info.len();
        (length >= 3).then(|| Self {
            mark,
            length,
            indent: line.len() - fence.len(),
            language: label(info).to_owned(),
            block: 0,
        })
    }

    /// Whether this line is the end of it.
    pub(super) fn closes(&self, line: &str) -> bool {
        self.may_close(line) && line.trim().len() >= self.length
    }

    /// Whether this beginning of a line may become the end of it.
    pub(super) fn may_close(&self, line: &str) -> bool {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let marks = line.trim_start_matches(' ').trim_end();
        indent < 4 && marks.chars().all(|character| character == self.mark) && !marks.is_empty()
    }

    /// A line of the code, without as many blanks as the fence has. A tab counts up to its stop.
    fn line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let words = line.trim_start_matches(' ');
        let blanks = line.len() - words.len();
        match words.strip_prefix('\t') {
            Some(rest) if blanks < self.indent => {
                let left = wrap::TAB.saturating_sub(self.indent);
                Cow::Owned(" ".repeat(left) + rest)
            }
            _ => Cow::Borrowed(line.get(blanks.min(self.indent)..).unwrap_or(line)),
        }
    }
}

/// The language in the info string of a fence.
pub(super) fn label(info: &str) -> &str {
    let word = info.split_whitespace().next().unwrap_or_default();
    word.trim_matches(['{', '}', '.'])
}

/// Part of a fenced code block. `state`: the highlighter's state, if the code gets colours.
pub(super) fn part(
    fence: &Fence,
    first: bool,
    text: &str,
    mut state: Option<Highlighter>,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let mut out = match first {
        true => head(&fence.language, text.is_empty(), look, width),
        false => Vec::new(),
    };
    let lines = text.lines().map(|line| fence.line(line));
    out.extend(rows(lines, state.as_mut(), look, width));
    out
}

impl Markdown {
    /// How far the code was read where this block begins.
    pub(super) fn colours_at(&self, block: usize, fence: &Fence) -> Option<Highlighter> {
        let mut kept = self.colours.try_borrow_mut().ok()?;
        // The fence's first block starts with a fresh state: a state stored at that index belongs to the code before
        // it.
        let within = fence.block.saturating_add(1)..=block;
        let known = within.rev().find(|at| kept.contains_key(at));
        let (mut at, mut state) = match known.and_then(|at| Some((at, kept.get(&at)?.clone()))) {
            Some(found) => found,
            None => (fence.block, Highlighter::of(&fence.language)?),
        };
        // Blocks are drawn one after the other, down or up: what lies on the other side is not wanted again.
        kept.retain(|other, _| match at == block {
            true => *other <= block,
            false => *other > fence.block && (at + 1 < block || *other != at || state.is_spent()),
        });
        while at < block && !state.is_spent() {
            let part = self.blocks.get(at)?;
            debug_assert!(matches!(part.what, BlockKind::Code { .. }));
            let text = self.cleaned.get(part.range.clone())?;
            text.lines().for_each(|line| state.skip(&fence.line(line)));
            at += 1;
            kept.insert(at, state.clone());
        }
        Some(state)
    }
}

/// The row above code: its language, or an empty row if the code is empty and has no language.
pub(super) fn head(
    language: &str,
    empty: bool,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    match (language.is_empty(), empty) {
        (true, false) => Vec::new(),
        (true, true) => vec![Line::default()],
        (false, _) => {
            let language = wrap::cut(&client::text::line(language), width);
            vec![Line::from(Span::styled(
                language,
                look.theme.style(TextRole::Dim),
            ))]
        }
    }
}

/// Lines of code. A row that goes on with a line has a mark before it, and nothing within it.
pub(super) fn rows(
    lines: impl Iterator<Item = impl AsRef<str>>,
    mut state: Option<&mut Highlighter>,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let indent = if width > 4 * INDENT { INDENT } else { 0 };
    let mut out = Vec::new();
    for line in lines {
        let line = line.as_ref();
        if line.trim().is_empty() {
            if let Some(state) = state.as_deref_mut() {
                state.skip(line);
            }
            out.push(Line::default());
            continue;
        }
        let line = match state.as_deref_mut() {
            Some(state) => state.line(line, look.theme),
            None => highlight::plain(line, look.theme),
        };
        for (index, mut row) in wrap::hard(&line, width - indent).into_iter().enumerate() {
            let before = match index {
                0 => Span::raw("  "),
                _ => Span::styled("↪ ", look.theme.style(TextRole::Dim)),
            };
            if indent > 0 {
                row.spans.insert(0, before);
            }
            out.push(row);
        }
    }
    out
}

/// Code of which all is known.
pub(super) fn block(
    language: &str,
    text: &str,
    coloured: bool,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let language = label(language);
    let short = text.len() <= 80 * LINES_MAX;
    let mut state = (short && coloured)
        .then(|| Highlighter::of(language))
        .flatten();
    let mut out = head(language, text.is_empty(), look, width);
    out.extend(rows(text.lines(), state.as_mut(), look, width));
    out
}
