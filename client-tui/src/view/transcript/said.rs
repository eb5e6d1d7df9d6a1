//! Messages: prompts, reasoning, and how answers ended.

use std::borrow::Cow;

use client::text;
use client::transcript::words;
use proto::Pid;
use proto::item::{Attachment, Finish};
use ratatui::text::{Line, Span};

use super::words::{before, hang, left_out, lines, notice_rows, span, width};
use crate::messages::transcript::Msg;
use crate::model::ViewOptions;
use crate::model::transcript::Thought;
use crate::render::wrap;
use crate::theme::TextRole;

/// Rows of a folded prompt.
const PROMPT: usize = 12;

/// Rows of folded attachments.
const ATTACHED: usize = 6;

/// A user's prompt, and what was attached to it.
pub(super) fn prompt(
    look: &ViewOptions,
    words: &str,
    attached: &[Attachment],
    steer: bool,
    open: bool,
) -> Vec<Line<'static>> {
    let mark = match steer {
        true => "» ",
        false => "> ",
    };
    let mark = span(look, TextRole::Prompt, format!("{BAR}{mark}"));
    let mut rows = folded(look, &mark, TextRole::Prompt, words, open);
    let mut below: Vec<_> = words::attached(look.language, attached)
        .flat_map(|line| notice_rows(look, "   ", (TextRole::Dim, TextRole::Dim), &line))
        .collect();
    let more = below.len().saturating_sub(ATTACHED);
    if more > 1 && !open {
        below.truncate(ATTACHED);
        let room = width(look).saturating_sub(wrap::width(BAR) + 2);
        let hint = left_out(look, Msg::MoreLines, more, room);
        below.push(before("   ".into(), hint));
    }
    rows.extend(below);
    framed(look, rows, (BAR, TextRole::Prompt))
}

/// A message of another session: under its label, and with another bar than a user's prompt.
pub(super) fn message(
    look: &ViewOptions,
    words: &str,
    from: Pid,
    open: bool,
) -> Vec<Line<'static>> {
    let label = words::message_of(look.language, from);
    let mark = span(look, TextRole::Tool, format!("{SESSION_BAR}◂ "));
    let indent = span(look, TextRole::Tool, format!("{SESSION_BAR}  "));
    let mut rows = hang(look, &mark, TextRole::Tool, &[label]);
    rows.extend(folded(look, &indent, TextRole::Text, words, open));
    framed(look, rows, (SESSION_BAR, TextRole::Tool))
}

/// Text behind a mark: the first rows of it, or all if it is open.
fn folded(
    look: &ViewOptions,
    mark: &Span<'static>,
    ink: TextRole,
    words: &str,
    open: bool,
) -> Vec<Line<'static>> {
    let words = words.trim_end();
    let (words, hidden) = match open {
        true => (words.into(), 0),
        false => first(words, width(look)),
    };
    let clean = text::clean(&words);
    let mut rows = hang(look, mark, ink, &lines(clean.trim_end()));
    let more = rows.len().saturating_sub(PROMPT) + hidden;
    if more > 1 && !open {
        rows.truncate(PROMPT);
        let room = width(look).saturating_sub(wrap::width(BAR) + 2);
        let hint = left_out(look, Msg::MoreLines, more, room);
        rows.push(before("   ".into(), hint));
    }
    rows
}

/// Before each row of a prompt.
const BAR: &str = "▌";

/// Before each row of a message of another session.
const SESSION_BAR: &str = "│";

/// A prompt is easy to find when scrolling: it has a bar before all of its rows, and a background. A message has its own bar.
fn framed(
    look: &ViewOptions,
    rows: Vec<Line<'static>>,
    (bar, ink): (&str, TextRole),
) -> Vec<Line<'static>> {
    let style = look.theme.style(ink);
    let longest = rows.iter().map(wrap::cells).max().unwrap_or_default();
    // One cell more, if there is one.
    let all = (longest + 1).min(width(look));
    let framed = rows.into_iter().enumerate().map(|(index, mut row)| {
        if let Some(first) = row.spans.first_mut().filter(|_| index > 0) {
            let mut rest = first.content.chars();
            rest.next();
            first.content = format!("{bar}{}", rest.as_str()).into();
            first.style = style;
        }
        for span in &mut row.spans {
            span.style.bg = style.bg;
        }
        let missing = all.saturating_sub(wrap::cells(&row));
        if style.bg.is_some() && missing > 0 {
            row.spans.push(Span::styled(" ".repeat(missing), style));
        }
        row
    });
    framed.collect()
}

/// The lines of a prompt that can be among its first rows, each cut to what those can show, and how many lines
/// follow: a prompt may be a whole file.
fn first(words: &str, width: usize) -> (Cow<'_, str>, usize) {
    let shown = PROMPT + 1;
    let bounded = |line| wrap::beginning(line, width * shown);
    let whole = words.lines().take(shown).all(|line| bounded(line) == line);
    let hidden = words.lines().skip(shown).count();
    if whole && hidden == 0 {
        return (words.into(), 0);
    }
    let kept: Vec<_> = words.lines().take(shown).map(bounded).collect();
    (kept.join("\n").into(), hidden)
}

/// A part of reasoning; folded, all of it is one line.
pub(super) fn reasoning(
    look: &ViewOptions,
    thought: &Thought,
    part: usize,
    done: bool,
    open: bool,
) -> Vec<Line<'static>> {
    if open {
        let mark = match part {
            0 => span(look, TextRole::Dim, "∴ "),
            _ => Span::raw("  "),
        };
        return hang(
            look,
            &mark,
            TextRole::Dim,
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
    // Its newest line while it runs, its first line when it is done.
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
    let line = span(look, TextRole::Dim, format!("∴ {words}"));
    vec![Line::from(line)]
}

/// How an answer ended, if that is worth reporting.
pub(super) fn end(look: &ViewOptions, finish: Finish) -> Vec<Line<'static>> {
    let (mark, ink) = match finish {
        Finish::Stop | Finish::ToolCalls | Finish::Paused | Finish::Interrupted => {
            ("■ ", TextRole::Dim)
        }
        Finish::Length | Finish::ContentFilter => ("! ", TextRole::Warning),
    };
    let words = words::answer_end(look.language, finish);
    words.map_or_else(Vec::new, |words| notice_rows(look, mark, (ink, ink), words))
}
