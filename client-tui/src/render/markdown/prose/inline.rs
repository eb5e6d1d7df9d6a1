//! Words with their styles, up to the end of the block that they are in.

use client::text;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::messages::text::Msg;
use crate::model::ViewOptions;
use crate::theme::{TextRole, Theme};

/// The words that are not in a row yet.
pub(super) struct Inline<'a> {
    look: &'a ViewOptions,
    /// Lines that the author ended.
    lines: Vec<Line<'static>>,
    spans: Vec<Span<'static>>,
    /// The last one holds.
    styles: Vec<Style>,
    links: Vec<Target>,
    /// The mark of the open heading.
    marks: String,
}

/// A link or image that is open.
struct Target {
    url: String,
    /// Its words so far.
    words: String,
}

impl<'a> Inline<'a> {
    pub(super) fn new(look: &'a ViewOptions) -> Self {
        Self {
            look,
            lines: Vec::new(),
            spans: Vec::new(),
            styles: Vec::new(),
            links: Vec::new(),
            marks: String::new(),
        }
    }

    /// The prefix of a heading's rows, returned once.
    pub(super) fn lead(&mut self) -> (Line<'static>, Line<'static>) {
        let marks = std::mem::take(&mut self.marks);
        if marks.is_empty() {
            return (Line::default(), Line::default());
        }
        let rest = Line::from(" ".repeat(marks.len()));
        (
            Line::from(Span::styled(marks, self.look.theme.style(TextRole::Dim))),
            rest,
        )
    }

    /// All words so far, by lines.
    pub(super) fn take(&mut self) -> Vec<Line<'static>> {
        let mut lines = std::mem::take(&mut self.lines);
        let spans = std::mem::take(&mut self.spans);
        if !spans.is_empty() {
            lines.push(Line::from(spans));
        }
        lines
    }

    pub(super) fn heading(&mut self, level: usize) {
        self.push(TextRole::Heading);
        self.marks = format!("{} ", "#".repeat(level));
    }

    pub(super) fn break_line(&mut self) {
        if let Some(link) = self.links.last_mut() {
            link.words.push(' ');
        }
        self.lines.push(Line::from(std::mem::take(&mut self.spans)));
    }

    fn style(&self) -> Style {
        let plain = || self.look.theme.style(TextRole::Text);
        self.styles.last().copied().unwrap_or_else(plain)
    }

    /// The style also applies to the text that follows.
    pub(super) fn push(&mut self, ink: TextRole) {
        let style = self.look.theme.style(ink);
        self.styles.push(self.style().patch(style));
    }

    pub(super) fn pop(&mut self) {
        self.styles.pop();
    }

    pub(super) fn emphasis(&mut self) {
        self.styles
            .push(self.style().add_modifier(Modifier::ITALIC));
    }

    pub(super) fn strong(&mut self) {
        self.push(TextRole::Strong);
    }

    /// Strikes text through. Without colours the marks stay, as not every terminal draws the line.
    pub(super) fn struck(&mut self, begins: bool) {
        if begins {
            let style = self.style().add_modifier(Modifier::CROSSED_OUT);
            self.styles.push(style);
        }
        if self.look.theme == Theme::None {
            self.add("~~", self.style());
        }
        if !begins {
            self.pop();
        }
    }

    pub(super) fn text(&mut self, words: &str) {
        self.add(&text::line(words), self.style());
    }

    pub(super) fn code(&mut self, words: &str) {
        let style = self.style().patch(self.look.theme.style(TextRole::Code));
        let words = text::line(words);
        match self.look.theme {
            Theme::None => self.add(&format!("`{words}`"), style),
            _ => self.add(&words, style),
        }
    }

    /// A tag among words; the one for a new line is obeyed, as models use it in tables.
    pub(super) fn html(&mut self, tag: &str) {
        let name = tag.trim_matches(['<', '>', '/', ' ']);
        match name.eq_ignore_ascii_case("br") {
            true => self.break_line(),
            false => self.text(tag),
        }
    }

    fn add(&mut self, words: &str, style: Style) {
        if words.is_empty() {
            return;
        }
        for link in &mut self.links {
            link.words.push_str(words);
        }
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(words),
            _ => self.spans.push(Span::styled(words.to_owned(), style)),
        }
    }

    pub(super) fn link(&mut self, url: &str) {
        self.begin(url);
        self.push(TextRole::Link);
    }

    /// Adds a link's target after its text, unless the text is the target.
    pub(super) fn end_link(&mut self) {
        self.pop();
        let Some(link) = self.links.pop() else {
            return;
        };
        let url = link.url.trim();
        let shown = link.words.trim();
        let said = [
            url,
            url.trim_start_matches("mailto:"),
            url.trim_end_matches('/'),
        ];
        if url.is_empty() || said.contains(&shown) {
            return;
        }
        let dim = self.look.theme.style(TextRole::Dim);
        self.add(" (", dim);
        // A part of its own: the target is found by it.
        self.spans.push(Span::styled(url.to_owned(), dim));
        self.spans.push(Span::styled(")", dim));
    }

    pub(super) fn image(&mut self, url: &str) {
        self.begin(url);
        let word = self.look.language.say(Msg::Image);
        self.push(TextRole::Dim);
        self.spans.push(Span::styled(word, self.style()));
    }

    /// An image without words is shown by its target.
    pub(super) fn end_image(&mut self) {
        let Some(image) = self.links.pop() else {
            return;
        };
        if image.words.trim().is_empty() {
            self.add(image.url.trim(), self.style());
        }
        self.spans.push(Span::styled("]", self.style()));
        self.pop();
    }

    fn begin(&mut self, url: &str) {
        let url = text::line(url);
        self.links.push(Target {
            url,
            words: String::new(),
        });
    }
}
