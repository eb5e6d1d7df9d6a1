//! What was said: prompts, reasoning, and how answers ended.

use client::text;
use proto::item::Finish;
use ratatui::text::{Line, Span};

use super::words::{before, hang, left_out, lines, span, told, width};
use crate::messages::transcript::Msg;
use crate::model::Look;
use crate::model::transcript::Thought;
use crate::render::wrap;
use crate::theme::Ink;

/// Rows of a prompt that are shown where it is not open.
const PROMPT: usize = 12;

/// A person's prompt.
pub(super) fn prompt(look: &Look, words: &str, steer: bool, open: bool) -> Vec<Line<'static>> {
    let mark = match steer {
        true => "» ",
        false => "> ",
    };
    let mark = span(look, Ink::User, mark);
    let clean = text::clean(words);
    let mut rows = hang(look, &mark, Ink::User, &lines(clean.trim_end()));
    let more = rows.len().saturating_sub(PROMPT);
    if more > 1 && !open {
        rows.truncate(PROMPT);
        let hint = left_out(look, Msg::MoreLines, more, width(look).saturating_sub(2));
        rows.push(before("  ".into(), hint));
    }
    rows
}

/// A part of reasoning; all of it is one line where it is folded.
pub(super) fn reasoning(
    look: &Look,
    thought: &Thought,
    part: usize,
    done: bool,
    open: bool,
) -> Vec<Line<'static>> {
    if open {
        let mark = match part {
            0 => span(look, Ink::Dim, "∴ "),
            _ => Span::raw("  "),
        };
        return hang(
            look,
            &mark,
            Ink::Dim,
            &lines(&text::clean(thought.part(part))),
        );
    }
    if part > 0 {
        return Vec::new();
    }
    let mut said = thought
        .text()
        .lines()
        .filter(|line| !line.trim().is_empty());
    // What it thinks of now, and, when it is done, what it began with.
    let (which, line) = match done {
        true => (Msg::Thought, said.next()),
        false => (Msg::Thinking, said.next_back()),
    };
    let line = line.unwrap_or_default();
    let line = line.trim_matches(|letter: char| letter.is_whitespace() || "*#".contains(letter));
    let room = width(look).saturating_sub(2);
    let line = text::line(wrap::beginning(line, room));
    let words = look.language.fill(which, &[&line]);
    let words = wrap::cut(&words, room);
    let line = span(look, Ink::Dim, format!("∴ {words}"));
    vec![Line::from(line)]
}

/// How an answer ended, where that is to be told.
pub(super) fn end(look: &Look, finish: Finish) -> Vec<Line<'static>> {
    let (mark, ink, which) = match finish {
        Finish::Stop | Finish::ToolCalls => return Vec::new(),
        Finish::Length => ("! ", Ink::Warning, Msg::AnswerLength),
        Finish::ContentFilter => ("! ", Ink::Warning, Msg::AnswerFilter),
        Finish::Interrupted => ("■ ", Ink::Dim, Msg::AnswerInterrupted),
    };
    told(look, mark, (ink, ink), look.language.say(which))
}
