//! Pieces of a transcript as lines of a terminal: cleaned, marked by their source, coloured if that is wanted.

use client::form::blank::{self, FoldedLine};
use proto::record::{Todo, TodoStatus};

use crate::messages::common::Msg;
use crate::messages::language;
use crate::pieces::{Piece, Tone};
use crate::text::{self, Cleaner};

/// Turns pieces into text. Remembers whether a streamed line is open.
pub struct Painter {
    colour: bool,
    /// At most so many lines of a tool's output; the last ones.
    output_lines: usize,
    /// Marks beyond ASCII may be used for lists.
    utf8: bool,
    cleaner: Cleaner,
    open: bool,
    /// Only blanks have come since the line of the answer began.
    at_start: bool,
}

impl Painter {
    /// A painter; `output_lines`: how much of a tool's output to show.
    pub fn new(colour: bool, output_lines: usize) -> Self {
        Self {
            colour,
            output_lines,
            utf8: text::is_utf8(),
            cleaner: Cleaner::default(),
            open: false,
            at_start: true,
        }
    }

    /// The text to print for a piece.
    pub fn paint(&mut self, piece: &Piece) -> String {
        match piece {
            Piece::Grow { text } => {
                let text = self.cleaner.push(text);
                if !text.is_empty() {
                    self.open = !text.ends_with('\n');
                }
                self.barred(&text)
            }
            Piece::Whole => {
                self.cleaner = Cleaner::default();
                self.close()
            }
            Piece::Block { tone, text } => {
                let mut out = self.close();
                out.push_str(&self.block(*tone, text));
                out
            }
            Piece::Todos { todos } => {
                let mut out = self.close();
                out.extend(todos.iter().map(|todo| self.todo(todo)));
                out
            }
        }
    }

    /// Text of a model, in which no line looks like one of the program's own.
    fn barred(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for letter in text.chars() {
            if self.at_start && text::is_own_mark(letter) {
                out.push_str("│ ");
            }
            self.at_start = letter == '\n' || self.at_start && text::is_blank(letter);
            out.push(letter);
        }
        out
    }

    /// Ends a line that is open.
    pub fn close(&mut self) -> String {
        self.at_start = true;
        if std::mem::take(&mut self.open) {
            "\n".to_owned()
        } else {
            String::new()
        }
    }

    /// One thing to do, on its line: the one in progress is marked.
    fn todo(&self, todo: &Todo) -> String {
        let (mark, ascii, words, code) = match todo.status {
            TodoStatus::Pending => ("☐", "[ ]", &todo.content, ""),
            TodoStatus::InProgress => ("▶", "[>]", &todo.active_form, "\u{1b}[1m"),
            TodoStatus::Completed => ("☑", "[x]", &todo.content, "\u{1b}[2m"),
        };
        let mark = if self.utf8 { mark } else { ascii };
        let words = text::line(words);
        match code {
            "" => format!("  {mark} {words}\n"),
            code if self.colour => format!("{code}  {mark} {words}\u{1b}[0m\n"),
            _ => format!("  {mark} {words}\n"),
        }
    }

    /// Text that is judged: all of it, with long runs of blank lines counted.
    fn judged(&self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let mut out = String::new();
        for stretch in blank::fold_blank_lines(text.trim_end_matches('\n')) {
            let (mark, line) = match stretch {
                FoldedLine::Line(line) => (mark(Tone::Approval, 0), text::exact(line)),
                // A line of ours: it has another mark.
                FoldedLine::Blank(_) => (
                    mark(Tone::Warning, 0),
                    stretch.folded(language()).unwrap_or_default(),
                ),
            };
            let (start, end) = match self.colour {
                true => codes(Tone::Approval, &line),
                false => ("", ""),
            };
            out.push_str(&format!("{start}{mark}{line}{end}\n"));
        }
        out
    }

    fn block(&self, tone: Tone, text: &str) -> String {
        if tone == Tone::Approval {
            return self.judged(text);
        }
        let text = text::clean(text);
        let lines: Vec<&str> = text.lines().collect();
        let skipped = if tone == Tone::Output {
            lines.len().saturating_sub(self.output_lines)
        } else {
            0
        };
        let mut out = String::new();
        if skipped > 0 {
            out.push_str(&say!(Msg::MoreLines, skipped));
        }
        for (index, line) in lines[skipped..].iter().enumerate() {
            let (start, end) = if self.colour {
                codes(tone, line)
            } else {
                ("", "")
            };
            out.push_str(&format!("{start}{}{line}{end}\n", mark(tone, index)));
        }
        out
    }
}

/// The mark before a line: nothing is shown by colour alone.
fn mark(tone: Tone, index: usize) -> &'static str {
    match (tone, index) {
        (Tone::Answer, _) => "",
        (Tone::User, 0) => "> ",
        (Tone::Session, 0) => "◂ ",
        (Tone::Session, _) => "  │ ",
        (Tone::Tool, 0) => "• ",
        (Tone::Notice | Tone::State, 0) => "· ",
        (Tone::Warning, 0) => "! ",
        (Tone::Error, 0) => "✗ ",
        (Tone::Approval, _) => "? ",
        (Tone::Output | Tone::UserOutput, _) => "  │ ",
        (Tone::Diff, _)
        | (Tone::User | Tone::Tool | Tone::Notice | Tone::State | Tone::Warning | Tone::Error, _) => {
            "  "
        }
    }
}

fn codes(tone: Tone, line: &str) -> (&'static str, &'static str) {
    let start = match tone {
        Tone::Answer => return ("", ""),
        Tone::User => "\u{1b}[1m",
        Tone::Tool | Tone::Session => "\u{1b}[36m",
        Tone::Output | Tone::UserOutput | Tone::State | Tone::Notice => "\u{1b}[2m",
        Tone::Diff if line.starts_with('+') => "\u{1b}[32m",
        Tone::Diff if line.starts_with('-') => "\u{1b}[31m",
        Tone::Diff => "\u{1b}[2m",
        Tone::Warning | Tone::Approval => "\u{1b}[33m",
        Tone::Error => "\u{1b}[31m",
    };
    (start, "\u{1b}[0m")
}

#[cfg(test)]
mod tests;
