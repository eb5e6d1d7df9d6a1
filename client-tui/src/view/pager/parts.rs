//! The parts of the document: their number, kinds and rows.

use client::text;
use ratatui::text::{Line, Span};

use crate::messages::pager::Msg;
use crate::model::pager::{Earlier, Pager, PagerContent, PartId};
use crate::model::transcript::{Entry, EntryKind, ToolRun};
use crate::model::{Model, ViewOptions};
use crate::render::sheet::Height;
use crate::render::{Cache, diff, wrap};
use crate::theme::TextRole;
use crate::view::{help, transcript};
use proto::item::Display;

/// Lines per part, for documents without parts of their own.
const CHUNK: usize = 64;
/// A prompt with more characters, or more lines, can be opened.
const LONG: (usize, usize) = (400, 6);

/// A borrowed part of the document.
#[derive(Clone, Copy)]
pub enum DocumentPart<'a> {
    /// An entry of a transcript of this generation.
    Entry(u64, &'a Entry),
    /// A section of help.
    Section(usize),
    Lines(usize, &'a [String]),
    File(usize, &'a str, &'a str),
}

/// The earlier entries, if they still belong to this transcript.
fn earlier<'a>(pager: &'a Pager, model: &Model) -> Option<&'a Earlier> {
    let is_current = pager.earlier.generation == model.transcript.generation;
    is_current.then_some(&pager.earlier)
}

/// How many parts there are.
pub fn count(pager: &Pager, model: &Model) -> usize {
    match &pager.what {
        PagerContent::Transcript => {
            let before = earlier(pager, model).map_or(0, |earlier| earlier.entries.len());
            before + model.transcript.entries.len()
        }
        PagerContent::Help => help::SECTIONS,
        PagerContent::Lines { lines, .. } => lines.len().div_ceil(CHUNK),
        PagerContent::Diff { diffs, .. } => diffs.len(),
    }
}

/// The part at a place.
pub fn part<'a>(pager: &'a Pager, model: &'a Model, index: usize) -> Option<DocumentPart<'a>> {
    match &pager.what {
        PagerContent::Transcript => {
            let transcript = &model.transcript;
            let Some(earlier) = earlier(pager, model) else {
                let entry = transcript.entries.get(index)?;
                return Some(DocumentPart::Entry(transcript.generation, entry));
            };
            if let Some(entry) = earlier.entries.get(index) {
                return Some(DocumentPart::Entry(Earlier::GENERATION, entry));
            }
            let entry = transcript.entries.get(index - earlier.entries.len())?;
            let entry = earlier.lent.get(&entry.id).unwrap_or(entry);
            Some(DocumentPart::Entry(transcript.generation, entry))
        }
        PagerContent::Help => (index < help::SECTIONS).then_some(DocumentPart::Section(index)),
        PagerContent::Lines { lines, .. } => {
            let chunk = lines.chunks(CHUNK).nth(index)?;
            Some(DocumentPart::Lines(index, chunk))
        }
        PagerContent::Diff { diffs, .. } => {
            let (path, diff) = diffs.get(index)?;
            Some(DocumentPart::File(index, path, diff))
        }
    }
}

impl DocumentPart<'_> {
    /// Which it is, whatever comes before it.
    pub fn id(&self) -> PartId {
        let place = |index: usize| (0, u64::try_from(index).unwrap_or(u64::MAX));
        match *self {
            Self::Entry(generation, entry) => (generation, entry.id),
            Self::Section(index) | Self::Lines(index, _) | Self::File(index, ..) => place(index),
        }
    }

    /// Whether its rows stay as they are.
    pub fn settled(&self) -> bool {
        match self {
            Self::Entry(_, entry) => entry.settled(),
            Self::Section(_) | Self::Lines(..) | Self::File(..) => true,
        }
    }

    /// Whether it holds more than it shows folded.
    pub fn opens(&self) -> bool {
        match self {
            Self::Entry(_, entry) => match &entry.kind {
                EntryKind::Tool(_) | EntryKind::Reasoning { .. } => true,
                EntryKind::User { text, attached, .. } => {
                    text.len() > LONG.0 || text.lines().count() + attached.len() > LONG.1
                }
                _ => false,
            },
            Self::File(..) => true,
            Self::Section(_) | Self::Lines(..) => false,
        }
    }

    /// Whether keys that jump stop at it.
    pub fn stops(&self) -> bool {
        self.opens() || matches!(self, Self::Section(_))
    }

    /// About how many rows it has, without making them; `None`: they are few, make them.
    pub fn guess(&self, width: usize, open: bool) -> Option<Height> {
        let width = width.max(1);
        let rows = |text: &str| -> usize {
            text.lines()
                .map(|line| line.len().div_ceil(width).max(1))
                .sum()
        };
        let about = match self {
            Self::Entry(_, entry) => match &entry.kind {
                EntryKind::User { text, attached, .. } => 1 + rows(text) + attached.len(),
                EntryKind::Answer { text: markdown, .. } => 1 + rows(markdown.text()),
                EntryKind::Reasoning { thought, .. } if open => 1 + rows(thought.text()),
                EntryKind::Tool(tool) if open => 2 + held(tool).map(rows).sum::<usize>(),
                _ => 2,
            },
            Self::Section(_) => return None,
            Self::Lines(_, lines) => {
                let plain = |line: &String| {
                    line.len() <= width && line.bytes().all(|byte| matches!(byte, b' '..=b'~'))
                };
                match lines.iter().all(plain) {
                    true => return Some(Height::Known(lines.len())),
                    false => lines.iter().map(|line| rows(line).max(1)).sum(),
                }
            }
            Self::File(_, _, diff) if open => 2 + diff.lines().count(),
            Self::File(..) => return None,
        };
        Some(Height::About(about))
    }

    /// Its source text, for a search without rendering; `None`: it is short, so render it.
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Entry(_, entry) => match &entry.kind {
                EntryKind::User { text, .. } => Some(text.clone()),
                EntryKind::Reasoning { thought, .. } => Some(thought.text().to_owned()),
                EntryKind::Answer { text: markdown, .. } => Some(markdown.text().to_owned()),
                EntryKind::Tool(tool) => {
                    let mut words = format!("{} {}", tool.tool, tool.subject);
                    for held in held(tool) {
                        words.push('\n');
                        words.push_str(held);
                    }
                    Some(words)
                }
                _ => None,
            },
            Self::Lines(_, lines) => Some(lines.join("\n")),
            Self::Section(_) | Self::File(..) => None,
        }
    }

    /// Its rows.
    pub fn rows(
        &self,
        cache: &mut Cache,
        look: &ViewOptions,
        raw: bool,
        open: bool,
    ) -> Vec<Line<'static>> {
        let width = usize::from(look.columns).max(1);
        match self {
            Self::Entry(generation, entry) => apart(match &entry.kind {
                EntryKind::Answer { text: markdown, .. } if raw => {
                    plain(markdown.text(), look, width)
                }
                _ => transcript::entry(entry, look, cache, *generation, open),
            }),
            Self::Section(index) => help::section(*index, look, width),
            Self::Lines(_, lines) => lines
                .iter()
                .flat_map(|line| wrapped(&line_of(line), look, TextRole::Text, width))
                .collect(),
            Self::File(index, path, diff) => {
                let mut rows = match index {
                    0 => Vec::new(),
                    _ => vec![Line::default()],
                };
                rows.extend(heading(path, diff, look, width));
                match (open, raw) {
                    (false, _) => {}
                    (true, true) => rows.extend(
                        text::clean(diff)
                            .lines()
                            .flat_map(|line| wrapped(&line_of(line), look, TextRole::Text, width)),
                    ),
                    (true, false) => rows.extend(diff::lines(path, diff, look, width)),
                }
                rows
            }
        }
    }
}

/// The output or changes of a call.
fn held(tool: &ToolRun) -> impl Iterator<Item = &str> {
    let display = tool.outcome.as_ref().map(|done| match &done.display {
        Display::Line { text } => text.as_str(),
        Display::Diff { diff, .. } => diff.as_str(),
        Display::Command { tail, .. } => tail.as_str(),
    });
    [Some(tool.output.as_str()), display].into_iter().flatten()
}

/// A text without rendering.
fn plain(written: &str, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let cleaned = text::clean(written);
    let lines = cleaned.lines();
    lines
        .flat_map(|line| wrapped(&line_of(line), look, TextRole::Text, width))
        .collect()
}

/// With a blank row before it.
fn apart(mut rows: Vec<Line<'static>>) -> Vec<Line<'static>> {
    if rows.first().is_some_and(|first| first.width() > 0) {
        rows.insert(0, Line::default());
    }
    rows
}

/// A line cleaned, with tabs as blanks: a terminal would move the cursor by them.
fn line_of(line: &str) -> String {
    text::clean(line).replace('\t', "    ").replace('\n', " ")
}

fn wrapped(words: &str, look: &ViewOptions, ink: TextRole, width: usize) -> Vec<Line<'static>> {
    let line = Line::from(Span::styled(words.to_owned(), look.theme.style(ink)));
    wrap::line(&line, width)
}

/// `path +A −R`.
fn heading(path: &str, diff: &str, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let (added, removed) = changed(diff);
    let counts = look
        .language
        .fill(Msg::Changed, &[&added.to_string(), &removed.to_string()]);
    let mut line = Line::from(Span::styled(
        text::line(path),
        look.theme.style(TextRole::Heading),
    ));
    // Of what commands changed there are no lines.
    if added + removed > 0 {
        line.push_span(Span::styled(
            format!(" {counts}"),
            look.theme.style(TextRole::Dim),
        ));
    }
    wrap::line(&line, width)
}

/// Lines that a unified diff adds and removes. Its headings come before the first hunk.
fn changed(diff: &str) -> (usize, usize) {
    let hunks = diff.lines().skip_while(|line| !line.starts_with("@@"));
    hunks.fold((0, 0), |(added, removed), line| {
        match line.as_bytes().first() {
            Some(b'+') => (added + 1, removed),
            Some(b'-') => (added, removed + 1),
            _ => (added, removed),
        }
    })
}
