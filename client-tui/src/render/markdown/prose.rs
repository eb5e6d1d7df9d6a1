//! A part of the text as rows: a stack of open containers, each with its own width and prefix for its rows.

mod inline;

use client::text;
use pulldown_cmark::{
    Alignment, BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, Parser, Tag, TagEnd,
};
use ratatui::text::{Line, Span};

use super::links::DefinedLinks;
use super::table::Table;
use super::{code, settle};
use crate::model::ViewOptions;
use crate::render::wrap;
use crate::theme::TextRole;
use inline::Inline;

/// Containers nested so deep that less width would be left are not indented further.
const WIDTH_MIN: usize = 10;

/// The rows of a part of the text. `coloured`: code in it has colours.
pub(super) fn rows(
    source: &str,
    links: &DefinedLinks<'_>,
    look: &ViewOptions,
    width: usize,
    coloured: bool,
) -> Vec<Line<'static>> {
    let resolve = |link: BrokenLink<'_>| {
        let target = links.target(&link.reference)?;
        Some((CowStr::from(target.to_owned()), CowStr::from("")))
    };
    let parser = Parser::new_with_broken_link_callback(source, settle::options(), Some(resolve));
    let mut page = Page::new(look, width.max(1));
    page.coloured = coloured && look.theme.highlights();
    for event in parser {
        page.event(event);
    }
    page.end()
}

/// Something open that holds blocks.
struct Frame {
    what: FrameKind,
    rows: Vec<Line<'static>>,
    width: usize,
    /// The prefix of its rows has room.
    indented: bool,
    /// Blank rows separate its blocks.
    loose: bool,
}

enum FrameKind {
    /// The page, or a list: nothing before its rows. `next`: the number of the next item.
    Page,
    List {
        next: Option<u64>,
    },
    Item {
        marker: String,
    },
    Quote,
    Code {
        language: String,
        text: String,
    },
    Html {
        text: String,
    },
    Table(Table),
}

struct Page<'a> {
    look: &'a ViewOptions,
    /// Code has colours.
    coloured: bool,
    /// Never empty.
    frames: Vec<Frame>,
    inline: Inline<'a>,
}

impl<'a> Page<'a> {
    fn new(look: &'a ViewOptions, width: usize) -> Self {
        let root = Frame {
            what: FrameKind::Page,
            rows: Vec::new(),
            width,
            indented: true,
            loose: true,
        };
        Self {
            look,
            coloured: false,
            frames: vec![root],
            inline: Inline::new(look),
        }
    }

    fn end(mut self) -> Vec<Line<'static>> {
        self.flush();
        while self.frames.len() > 1 {
            self.close();
        }
        self.frames.pop().map(|root| root.rows).unwrap_or_default()
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.finish(tag),
            Event::Text(words) => self.text(&words),
            Event::Code(words) => self.inline.code(&words),
            Event::Html(words) => self.text(&words),
            Event::InlineHtml(words) => self.inline.html(&words),
            Event::SoftBreak | Event::HardBreak => self.inline.break_line(),
            Event::Rule => {
                self.flush();
                let rule = "─".repeat(self.width());
                self.add(vec![Line::from(Span::styled(
                    rule,
                    self.look.theme.style(TextRole::Border),
                ))]);
            }
            Event::TaskListMarker(done) => self.task(done),
            Event::InlineMath(words)
            | Event::DisplayMath(words)
            | Event::FootnoteReference(words) => self.inline.text(&words),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if !is_inline(&tag) {
            self.flush();
        }
        match tag {
            Tag::Paragraph => {
                if let Some(Frame {
                    what: FrameKind::Item { .. },
                    loose,
                    ..
                }) = self.frames.last_mut()
                {
                    *loose = true;
                }
            }
            Tag::Heading { level, .. } => self.inline.heading(level_of(level)),
            Tag::BlockQuote(_) => {
                self.open(FrameKind::Quote, 2, true);
                self.inline.push(TextRole::Quote);
            }
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                let text = String::new();
                self.open(FrameKind::Code { language, text }, 0, true);
            }
            Tag::HtmlBlock => self.open(
                FrameKind::Html {
                    text: String::new(),
                },
                0,
                true,
            ),
            Tag::List(next) => self.open(FrameKind::List { next }, 0, false),
            Tag::Item => self.item(),
            Tag::Table(alignments) => self.table(alignments),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = self.open_table() {
                    table.begin_row();
                }
            }
            Tag::Emphasis => self.inline.emphasis(),
            Tag::Strong => self.inline.strong(),
            Tag::Strikethrough => self.inline.struck(true),
            Tag::Link { dest_url, .. } => self.inline.link(&dest_url),
            Tag::Image { dest_url, .. } => self.inline.image(&dest_url),
            _ => {}
        }
    }

    fn finish(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.inline.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.close();
                self.inline.pop();
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::List(_) | TagEnd::Item => {
                self.flush();
                self.close();
            }
            TagEnd::Table => self.close(),
            TagEnd::TableCell => {
                let cell = self.inline.take();
                if let Some(table) = self.open_table() {
                    table.cell(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong => self.inline.pop(),
            TagEnd::Strikethrough => self.inline.struck(false),
            TagEnd::Link => self.inline.end_link(),
            TagEnd::Image => self.inline.end_image(),
            _ => {}
        }
    }

    fn text(&mut self, words: &str) {
        match self.frames.last_mut().map(|frame| &mut frame.what) {
            Some(FrameKind::Code { text, .. } | FrameKind::Html { text }) => text.push_str(words),
            _ => self.inline.text(words),
        }
    }

    fn item(&mut self) {
        let number = match self.frames.last_mut().map(|frame| &mut frame.what) {
            Some(FrameKind::List { next: Some(next) }) => {
                let number = *next;
                *next = next.saturating_add(1);
                Some(number)
            }
            _ => None,
        };
        let marker = number.map_or_else(|| "• ".to_owned(), |number| format!("{number}. "));
        let indent = wrap::width(&marker);
        self.open(FrameKind::Item { marker }, indent, false);
    }

    fn task(&mut self, done: bool) {
        let drawn = if done { "☑ " } else { "☐ " };
        match self.frames.last_mut().map(|frame| &mut frame.what) {
            Some(FrameKind::Item { marker }) if marker == "• " => drawn.clone_into(marker),
            _ => self.inline.text(drawn),
        }
    }

    fn table(&mut self, alignments: Vec<Alignment>) {
        self.open(FrameKind::Table(Table::new(alignments)), 0, true);
    }

    fn open_table(&mut self) -> Option<&mut Table> {
        match self.frames.last_mut().map(|frame| &mut frame.what) {
            Some(FrameKind::Table(table)) => Some(table),
            _ => None,
        }
    }

    fn width(&self) -> usize {
        self.frames.last().map_or(1, |frame| frame.width)
    }

    fn open(&mut self, what: FrameKind, indent: usize, loose: bool) {
        let width = self.width();
        let indented = width >= indent + WIDTH_MIN;
        self.frames.push(Frame {
            what,
            rows: Vec::new(),
            width: if indented { width - indent } else { width },
            indented,
            loose,
        });
    }

    /// The words so far make a block.
    fn flush(&mut self) {
        if matches!(
            self.frames.last().map(|frame| &frame.what),
            Some(FrameKind::Table(_))
        ) {
            return;
        }
        let (first, rest) = self.inline.lead();
        let lines = self.inline.take();
        let rows = self.distinct(|width| {
            let mut rows = Vec::new();
            for line in lines.iter().skip_while(|line| line.spans.is_empty()) {
                let first = if rows.is_empty() { &first } else { &rest };
                rows.extend(wrap::hanging(line, width, first, &rest));
            }
            if rows.is_empty() && !first.spans.is_empty() {
                rows.push(first.clone());
            }
            rows
        });
        if !rows.is_empty() {
            self.add(rows);
        }
    }

    /// The rows of a block. At the left edge all of them have a bar before them if one begins as a line of the program's own.
    fn distinct(&self, rows: impl Fn(usize) -> Vec<Line<'static>>) -> Vec<Line<'static>> {
        let width = self.width();
        let drawn = rows(width);
        let looks_own = |row: &Line<'_>| {
            let mut characters = row.spans.iter().flat_map(|span| span.content.chars());
            let first = characters.find(|character| !text::is_blank(*character));
            first.is_some_and(text::is_own_mark)
        };
        if self.frames.len() > 1 || width < WIDTH_MIN || !drawn.iter().any(looks_own) {
            return drawn;
        }
        let style = self.look.theme.style(TextRole::Border);
        let rows = rows(width - 2).into_iter();
        rows.map(|row| prefixed(row, Span::styled("│ ", style)))
            .collect()
    }

    /// Adds a block to the open container.
    fn add(&mut self, rows: Vec<Line<'static>>) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if frame.loose && !frame.rows.is_empty() {
            frame.rows.push(Line::default());
        }
        frame.rows.extend(rows);
    }

    /// Closes the innermost container.
    fn close(&mut self) {
        if self.frames.len() < 2 {
            return;
        }
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let theme = self.look.theme;
        let rows = match frame.what {
            FrameKind::Page | FrameKind::List { .. } => frame.rows,
            FrameKind::Quote if !frame.indented && !frame.rows.is_empty() => frame.rows,
            FrameKind::Quote if !frame.indented => vec![Line::default()],
            FrameKind::Quote => {
                let bar = |row: Line<'static>| {
                    let bar = if row.spans.is_empty() { "│" } else { "│ " };
                    prefixed(row, Span::styled(bar, theme.style(TextRole::Border)))
                };
                let empty = frame.rows.is_empty().then(Line::default);
                frame.rows.into_iter().chain(empty).map(bar).collect()
            }
            FrameKind::Item { marker } => {
                if let Some(Frame {
                    what: FrameKind::List { .. },
                    loose,
                    ..
                }) = self.frames.last_mut()
                {
                    *loose |= frame.loose;
                }
                let mark = Span::styled(marker, theme.style(TextRole::Dim));
                item(frame.rows, mark, frame.indented, frame.width)
            }
            FrameKind::Code { language, text } => {
                code::block(&language, &text, self.coloured, self.look, frame.width)
            }
            FrameKind::Html { text } => self.distinct(|width| html(&text, width)),
            FrameKind::Table(table) => table.rows(self.look, frame.width),
        };
        self.add(rows);
    }
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Link { .. }
            | Tag::Image { .. }
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
    )
}

fn level_of(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn prefixed(mut row: Line<'static>, before: Span<'static>) -> Line<'static> {
    row.spans.insert(0, before);
    row
}

/// The rows of an item after its mark, or below it if there is no room.
fn item(
    rows: Vec<Line<'static>>,
    mark: Span<'static>,
    indented: bool,
    width: usize,
) -> Vec<Line<'static>> {
    if !indented || rows.is_empty() {
        let alone = wrap::cut(mark.content.trim_end(), width);
        let alone = Line::from(Span::styled(alone, mark.style));
        return std::iter::once(alone).chain(rows).collect();
    }
    let blanks = " ".repeat(wrap::width(&mark.content));
    let mut out = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        out.push(match index {
            0 => prefixed(row, mark.clone()),
            _ if row.spans.is_empty() => row,
            _ => prefixed(row, Span::raw(blanks.clone())),
        });
    }
    out
}

/// HTML is shown as source text.
fn html(source: &str, width: usize) -> Vec<Line<'static>> {
    let source = text::clean(source);
    let lines = source.trim_end().lines();
    lines
        .flat_map(|line| wrap::line(&Line::from(line.to_owned()), width))
        .collect()
}
