//! A call: one line, and below it the part of its output that is worth seeing.

use client::text;
use client::transcript::words as shared;
use proto::item::{CallStatus, Display};
use ratatui::text::{Line, Span};

use super::words::{before, hang, left_out, lines, span, width};
use crate::messages::transcript::Msg;
use crate::model::ViewOptions;
use crate::model::transcript::{ToolOutcome, ToolRun, printed};
use crate::render::{diff, short, wrap};
use crate::theme::TextRole;

/// Rows from the beginning of a long output.
const HEAD: usize = 2;
/// Rows of a folded diff.
const DIFF: usize = 20;
/// Rows of what a failed call printed.
const FAILED: usize = 5;
/// Rows of other programs' output.
const PRINTED: usize = 3;
/// Rows of what a running call prints.
const RUNNING: usize = 4;

/// Before rows of output.
const BAR: &str = "  │ ";

pub(super) fn rows(tool: &ToolRun, look: &ViewOptions, open: bool) -> Vec<Line<'static>> {
    let mut rows = vec![head(tool, look)];
    match &tool.outcome {
        None => rows.extend(output(look, "", &tool.output, 0, RUNNING, open)),
        Some(done) => rows.extend(body(done, look, open)),
    }
    rows
}

/// Mark, tool, subject, and a short result.
fn head(tool: &ToolRun, look: &ViewOptions) -> Line<'static> {
    let (mark, ink) = match tool.outcome.as_ref().map(|outcome| outcome.status) {
        None => ("• ", TextRole::Tool),
        Some(CallStatus::Ok) => ("✓ ", TextRole::Good),
        // Stopped is not failed.
        Some(CallStatus::Failed) if tool.outcome.as_ref().is_some_and(stopped) => {
            ("⊘ ", TextRole::Warning)
        }
        Some(CallStatus::Failed) => ("✗ ", TextRole::Error),
        Some(CallStatus::Denied | CallStatus::Refused) => ("⊘ ", TextRole::Warning),
        Some(CallStatus::Interrupted) => ("■ ", TextRole::Warning),
        Some(CallStatus::Unknown) => ("? ", TextRole::Warning),
    };
    let all = width(look);
    let name = wrap::cut(&text::line(&tool.tool), all.saturating_sub(2));
    let subject = match tool.outside {
        false => text::line(&tool.subject),
        true => look
            .language
            .fill(Msg::OutsideSandbox, &[&text::line(&tool.subject)]),
    };
    let result = tool
        .outcome
        .as_ref()
        .map_or_else(String::new, |done| result(done, &subject, look).join(" · "));
    let room = all.saturating_sub(2 + wrap::width(&name));
    // The subject gets half of the room at least, and the result the rest.
    let wanted = match subject.is_empty() {
        true => 0,
        false => wrap::width(&subject) + 1,
    };
    let for_result = room.saturating_sub(wanted.min(room / 2));
    let result = match result.is_empty() || for_result < 5 {
        true => String::new(),
        false => format!(" · {}", wrap::cut(&result, for_result - 3)),
    };
    let for_subject = room.saturating_sub(wrap::width(&result));
    let subject = match subject.is_empty() || for_subject < 2 {
        true => String::new(),
        false => format!(" {}", wrap::cut(&subject, for_subject - 1)),
    };
    Line::from(vec![
        span(look, ink, mark),
        span(look, TextRole::Tool, name),
        span(look, TextRole::Text, subject),
        span(look, TextRole::Dim, result),
    ])
}

fn result(done: &ToolOutcome, subject: &str, look: &ViewOptions) -> Vec<String> {
    let language = look.language;
    let mut words = Vec::new();
    match (&done.display, done.status) {
        (Display::Diff { added, removed, .. }, _) => words.push(format!("+{added} −{removed}")),
        (Display::Line { text }, CallStatus::Ok) => {
            words.push(shared::result(language, &short(text, subject)));
        }
        (Display::Line { .. }, _) => {}
        (Display::Command { .. }, CallStatus::Ok) => words.extend(printed_lines(done, look)),
        (
            Display::Command {
                stopped: Some(why), ..
            },
            _,
        ) => words.push(text::line(&language.translate(why))),
        (
            Display::Command {
                exit_code, signal, ..
            },
            _,
        ) => words.push(match (exit_code, signal) {
            (Some(code), _) => language.fill(Msg::Exit, &[&code.to_string()]),
            (None, Some(signal)) => language.fill(Msg::Signal, &[&signal.to_string()]),
            (None, None) if done.status == CallStatus::Failed => {
                language.say(Msg::Failed).to_owned()
            }
            (None, None) => String::new(),
        }),
    }
    if !matches!(done.status, CallStatus::Ok | CallStatus::Failed) {
        words.push(shared::call_status(language, done.status).to_owned());
    }
    if done.duration_ms > 1_000 {
        words.push(short::elapsed(done.duration_ms));
    }
    words.retain(|words| !words.is_empty());
    words
}

/// The one-line result of a call without its subject, which is already shown: for `a.py`, `read a.py: 2 lines`
/// becomes `2 lines`.
fn short(text: &str, subject: &str) -> String {
    let text = text::line(text);
    let verbless = text.split_once(' ').map_or("", |(_, rest)| rest);
    let rest = [text.as_str(), verbless]
        .iter()
        .filter_map(|text| text.strip_prefix(subject))
        .find(|rest| !subject.is_empty() && rest.starts_with([':', ' ']));
    match rest {
        Some(rest) => rest.trim_start_matches([':', ' ']).to_owned(),
        None => text,
    }
}

/// How much a command has printed.
fn printed_lines(done: &ToolOutcome, look: &ViewOptions) -> Option<String> {
    let Display::Command {
        tail, output_lines, ..
    } = &done.display
    else {
        return None;
    };
    match all_lines(tail, *output_lines) {
        0 => None,
        1 => Some(look.language.say(Msg::Line).to_owned()),
        count => Some(look.language.fill(Msg::Lines, &[&count.to_string()])),
    }
}

fn body(done: &ToolOutcome, look: &ViewOptions, open: bool) -> Vec<Line<'static>> {
    let mut rows = match &done.display {
        Display::Line { .. } if done.status == CallStatus::Ok => Vec::new(),
        Display::Line { text } => said(look, text, open),
        Display::Diff { path, diff, .. } => changes(path, diff, look, open),
        Display::Command {
            head,
            tail,
            output_lines,
            ..
        } => {
            let most = match done.status {
                CallStatus::Ok => PRINTED,
                _ => FAILED,
            };
            output(look, head, tail, *output_lines, most, open)
        }
    };
    if stopped(done) {
        let words = match &done.blocked {
            Some(reason) => look.language.fill(
                Msg::SandboxBecause,
                &[&text::line(&look.language.translate(reason))],
            ),
            None => look.language.say(Msg::Sandbox).to_owned(),
        };
        let words = vec![words];
        rows.extend(hang(
            look,
            &span(look, TextRole::Warning, "  ! "),
            TextRole::Warning,
            &words,
        ));
    }
    if let Some(spill) = done.spill.as_ref().filter(|_| open) {
        let words = look.language.fill(Msg::AllOfIt, &[&text::line(spill)]);
        let bar = span(look, TextRole::Border, BAR);
        rows.extend(hang(look, &bar, TextRole::Dim, &[words]));
    }
    rows
}

/// Whether the sandbox stopped it.
fn stopped(done: &ToolOutcome) -> bool {
    let reported = matches!(
        done.display,
        Display::Command {
            sandbox_stopped: true,
            ..
        }
    );
    reported || done.blocked.is_some()
}

/// A diff, whole if it is open.
fn changes(path: &str, diff: &str, look: &ViewOptions, open: bool) -> Vec<Line<'static>> {
    let room = width(look).saturating_sub(2);
    let mut rows = diff::lines(path, diff, look, room);
    let more = rows.len().saturating_sub(DIFF);
    if more > 1 && !open {
        rows.truncate(DIFF);
        rows.push(left_out(look, Msg::MoreLines, more, room));
    }
    let indent = || Span::raw("  ");
    rows.into_iter().map(|row| before(indent(), row)).collect()
}

/// A tool's error message: its beginning matters most.
fn said(look: &ViewOptions, text: &str, open: bool) -> Vec<Line<'static>> {
    let bar = span(look, TextRole::Border, BAR);
    let lines = lines(&printed(text.trim_end()));
    let mut rows = hang(look, &bar, TextRole::Dim, &lines);
    for row in rows.iter_mut().skip(1) {
        if let Some(first) = row.spans.first_mut() {
            *first = bar.clone();
        }
    }
    let more = rows.len().saturating_sub(FAILED);
    if more > 1 && !open {
        rows.truncate(FAILED);
        let room = width(look).saturating_sub(wrap::width(BAR));
        rows.push(before(bar, left_out(look, Msg::MoreLines, more, room)));
    }
    rows
}

/// Lines of an output of which this is the end, or all.
fn all_lines(tail: &str, output_lines: u64) -> usize {
    let here = printed(tail).lines().count();
    here.max(usize::try_from(output_lines).unwrap_or(usize::MAX))
}

/// The output: its first rows and the last `most` ones, or all of it if it is open. `all`: number of lines of the
/// whole output, of which `tail` may be the end and `head` the beginning. While a command runs, the beginning is
/// unknown.
fn output(
    look: &ViewOptions,
    head: &str,
    tail: &str,
    all: u64,
    most: usize,
    open: bool,
) -> Vec<Line<'static>> {
    let clean = printed(tail);
    let lines = self::lines(clean.trim_end_matches('\n'));
    // Before these; the others are on their way, or too long to be read here.
    let missing = all_lines(tail, all).saturating_sub(clean.lines().count());
    let room = width(look).saturating_sub(wrap::width(BAR)).max(1);
    if open {
        return opened(look, &lines, missing, room);
    }
    let first = match missing {
        0 if all > 0 => lines.clone(),
        0 => Vec::new(),
        _ => self::lines(printed(head).trim_end_matches('\n')),
    };
    let first: Vec<String> = first.into_iter().take(HEAD).collect();
    let from = lines.len().saturating_sub(most);
    let between = (from + missing).saturating_sub(first.len());
    let shown = |line: &String| {
        let words = span(
            look,
            TextRole::Dim,
            wrap::cut(wrap::beginning(line, room), room),
        );
        before(bar(look), Line::from(words))
    };
    // A row that reports one missing line could as well show it.
    if missing == 0 && between <= 1 && (all > 0 || from <= 1) {
        return lines.iter().map(shown).collect();
    }
    let which = match first.is_empty() {
        true => Msg::EarlierLines,
        false => Msg::MoreLines,
    };
    let hint = before(bar(look), left_out(look, which, between, room));
    let last = lines.iter().skip(from);
    (first.iter().map(shown).chain([hint]))
        .chain(last.map(shown))
        .collect()
}

fn bar(look: &ViewOptions) -> Span<'static> {
    span(look, TextRole::Border, BAR)
}

/// All lines that are here, wrapped; `missing` are not, before them.
fn opened(look: &ViewOptions, lines: &[String], missing: usize, room: usize) -> Vec<Line<'static>> {
    let rows = lines.iter().flat_map(|line| {
        let line = Line::from(span(look, TextRole::Dim, line.clone()));
        wrap::line(&line, room)
    });
    let gap = (missing > 0).then(|| {
        let words = look
            .language
            .fill(Msg::LinesMissing, &[&missing.to_string()]);
        Line::from(span(look, TextRole::Dim, wrap::cut(&words, room)))
    });
    (gap.into_iter().chain(rows))
        .map(|row| before(bar(look), row))
        .collect()
}
