//! Lists: rows, the mark, a preview if there is room.

mod aside;
mod layout;

use ratatui::text::{Line, Span};

use super::status::fit::{self, Group};
use super::{Panel, framed, toast};
use crate::keymap::{self, Action, Context};
use crate::messages::found::Msg as Found;
use crate::messages::lists::Msg;
use crate::messages::models::Msg as Models;
use crate::model::Model;
use crate::model::list::rows::{Row, rows};
use crate::model::list::{Content, Key, ListDialog, ListOf, found, words};
use crate::render::short;
use crate::render::wrap::{self, clip};
use crate::theme::TextRole;
use layout::pad;

/// Most rows of a list above the status line.
const INLINE_MAX: usize = 14;

/// From this width on, the preview is beside the list.
const BESIDE: usize = 100;

/// Rows from which on it is shown below.
const BELOW: usize = 20;

/// Rows that it takes below.
const BELOW_ROWS: usize = 6;

/// The list's rows, at most `rows` of them; exactly as many if it covers the screen.
#[must_use]
pub fn panel(dialog: &ListDialog, model: &Model, width: usize, rows: usize) -> Panel {
    let shown = self::rows(dialog, model);
    let mut panel = match dialog.covers() {
        true => whole(dialog, model, &shown, width, rows),
        false => inline(dialog, model, &shown, width, rows),
    };
    panel.rows.truncate(rows);
    if panel
        .cursor
        .is_some_and(|(row, _)| usize::from(row) >= panel.rows.len())
    {
        panel.cursor = None;
    }
    panel
}

/// Above the status line: title, rows, keys; the preview beside or below.
fn inline(dialog: &ListDialog, model: &Model, shown: &[Row], width: usize, rows: usize) -> Panel {
    let most = rows.min(INLINE_MAX);
    let (title, cursor) = title(dialog, model, width);
    let keys = most >= 5;
    let body = most.saturating_sub(1 + usize::from(keys));
    // Whether something is marked that there is something to say of changes nothing: rows would jump.
    let known = shown.iter().any(|row| row.key != Key::New);
    let lines = match width >= BESIDE && known {
        true => beside(dialog, model, shown, width, body),
        false => below(dialog, model, shown, (width, rows), body),
    };
    let mut panel = Panel {
        rows: vec![title],
        cursor,
    };
    panel.rows.extend(lines);
    if keys {
        panel.rows.push(last(dialog, model, width));
    }
    panel
}

/// The list with the preview on its right. No row is wider than the list and the line beside it but for a detail, and
/// there are no more rows than needed: in a narrower window the terminal breaks them, and pushes the first ones into its
/// scrollback.
fn beside(
    dialog: &ListDialog,
    model: &Model,
    shown: &[Row],
    width: usize,
    body: usize,
) -> Vec<Line<'static>> {
    let left = width * 3 / 5 - 1;
    let lines = body_lines(dialog, model, shown, left - 1, body);
    // The same for every marked row, but for a rewind: rows would jump.
    let steady = lines.len().max(BELOW_ROWS).min(body);
    let room = match dialog.restore {
        Some(_) => body,
        None => steady,
    };
    let right = aside::lines(dialog, model, shown, width - left - 3, room);
    let mut lines = side_by_side(lines, right, model, left, width);
    if dialog.restore.is_none() {
        lines.resize_with(steady, Line::default);
    }
    lines
}

/// The list with the preview below it, where the screen has room for it.
fn below(
    dialog: &ListDialog,
    model: &Model,
    shown: &[Row],
    (width, rows): (usize, usize),
    body: usize,
) -> Vec<Line<'static>> {
    let known = shown.iter().any(|row| row.key != Key::New);
    let mut lines = body_lines(dialog, model, shown, width, body);
    let room = match (&dialog.restore, rows >= BELOW) {
        (_, true) if !known => 0,
        (None, true) => BELOW_ROWS,
        // The effect of a rewind is shown before it is done, however small the screen is.
        (Some(_), true) => rows.saturating_sub(lines.len() + 2),
        (Some(_), false) => body.saturating_sub(lines.len()),
        (None, false) => 0,
    };
    let room = room.min(rows.saturating_sub(lines.len() + 2));
    let mut below = aside::lines(dialog, model, shown, width, room.saturating_sub(1));
    if dialog.restore.is_none() {
        below.resize_with(room.saturating_sub(1), Line::default);
    }
    if room > 1 && !below.is_empty() {
        lines.push(border(model, width));
        lines.extend(below);
    }
    lines
}

/// The whole screen: totals, headings, rows, details of the marked row, keys.
fn whole(dialog: &ListDialog, model: &Model, shown: &[Row], width: usize, rows: usize) -> Panel {
    let (title, cursor) = title(dialog, model, width);
    let mut panel = Panel {
        rows: vec![title],
        cursor,
    };
    let detail = match rows {
        0..14 => 0,
        14..24 => 5,
        _ => 8,
    };
    let detail = if shown.is_empty() { 0 } else { detail };
    let body = rows.saturating_sub(2 + detail);
    panel
        .rows
        .extend(body_lines(dialog, model, shown, width, body));
    panel
        .rows
        .resize_with(rows.saturating_sub(1 + detail), Line::default);
    if detail > 0 {
        panel.rows.push(border(model, width));
        let mut lines = aside::lines(dialog, model, shown, width, detail - 1);
        lines.resize_with(detail - 1, Line::default);
        panel.rows.extend(lines);
    }
    panel.rows.push(last(dialog, model, width));
    panel
}

/// The list's title and, if there is one, the filter, with the position of the caret in it.
fn title(dialog: &ListDialog, model: &Model, width: usize) -> (Line<'static>, Option<(u16, u16)>) {
    let theme = model.look.theme;
    let mut spans = vec![Span::styled(
        heading(dialog, model),
        theme.style(TextRole::Heading),
    )];
    if let (Content::Processes(_), true) = (&dialog.content, width >= 40) {
        spans.push(Span::styled(
            format!("  {}", totals(dialog, model)),
            theme.style(TextRole::Dim),
        ));
    }
    if dialog.more
        && let Content::Sessions(sessions) = &dialog.content
    {
        let count = sessions.len().to_string();
        let newest = model.look.language.fill(Msg::Newest, &[&count]);
        spans.push(Span::styled(
            format!("  {newest}"),
            theme.style(TextRole::Dim),
        ));
    }
    if let Content::Hits(hits) = &dialog.content
        && let Some(note) = found::note(hits, model.look.language)
    {
        spans.push(Span::styled(
            format!("  {note}"),
            theme.style(TextRole::Dim),
        ));
    }
    let filter = &dialog.filter;
    let written = filter.input.text();
    if !filter.open && written.is_empty() {
        return (Line::from(clip(spans, width)), None);
    }
    // Show as much of the filter as possible: the title makes room, and the newest text has priority.
    let typed = wrap::width(written).min(width.saturating_sub(2));
    let mut spans = clip(spans, width.saturating_sub(typed + 5));
    let before: usize = spans.iter().map(|span| wrap::width(&span.content)).sum();
    let gap = if before == 0 { "" } else { "  " };
    let room = width.saturating_sub(before + gap.len());
    let (line, column) = framed::input("/", &filter.input, &model.look, room);
    spans.push(Span::raw(gap));
    spans.extend(line.spans);
    let before = u16::try_from(before + gap.len()).unwrap_or(u16::MAX);
    let column = column.saturating_add(before);
    let cursor = filter.open.then_some((0, column));
    (Line::from(clip(spans, width)), cursor)
}

fn heading(dialog: &ListDialog, model: &Model) -> String {
    let language = model.look.language;
    if let Some(restore) = &dialog.restore {
        return match restore.turn {
            Some(turn) => language.fill(Msg::RestoreTitle, &[&turn.to_string()]),
            None => language.say(Msg::UndoTitle).to_owned(),
        };
    }
    match dialog.what {
        ListOf::Sessions { here: true } => {
            let cwd = model.place.cwd.display().to_string();
            let cwd = words::directory(&cwd, model.place.home.as_deref());
            language.fill(Msg::HereTitle, &[&cwd])
        }
        ListOf::Sessions { here: false } => language.say(Msg::SessionsTitle).to_owned(),
        ListOf::Turns => language.say(Msg::TurnsTitle).to_owned(),
        ListOf::Queue => language.say(Msg::QueueTitle).to_owned(),
        ListOf::Processes => language.say(Msg::ProcessesTitle).to_owned(),
        ListOf::Agents => {
            let pid = model
                .session
                .as_ref()
                .map(|session| session.pid.to_string());
            language.fill(Msg::AgentsTitle, &[&pid.unwrap_or_default()])
        }
        ListOf::Inbox => language.say(Msg::InboxTitle).to_owned(),
        ListOf::Models => language.say(Models::Title).to_owned(),
        ListOf::Skills => language.say(Found::SkillsTitle).to_owned(),
        ListOf::Search => {
            let query = client::text::line(&dialog.query);
            language.fill(Found::SearchTitle, &[&query])
        }
    }
}

/// Sessions, those that work and wait, tokens.
fn totals(dialog: &ListDialog, model: &Model) -> String {
    use proto::state::State;
    let Content::Processes(list) = &dialog.content else {
        return String::new();
    };
    let sessions = &list.processes;
    let waits = sessions.iter().filter(|session| words::waits(session));
    let works = sessions.iter().filter(|session| {
        matches!(session.state, State::Running | State::Waiting) && !words::waits(session)
    });
    let tokens = sessions.iter().fold(0_u64, |sum, session| {
        sum.saturating_add(short::tokens(&session.usage))
    });
    model.look.language.fill(
        Msg::Totals,
        &[
            &sessions.len().to_string(),
            &works.count().to_string(),
            &waits.count().to_string(),
            &short::count(tokens),
        ],
    )
}

/// The rows that fit, around the marked one; a message if there are none.
fn body_lines(
    dialog: &ListDialog,
    model: &Model,
    shown: &[Row],
    width: usize,
    room: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let table = layout::Table::new(dialog, model, shown, width);
    let mut room = room;
    if dialog.covers() && !shown.is_empty() && room > 1 {
        lines.push(table.heads(model));
        room -= 1;
    }
    let place = dialog.position(shown);
    let first = place
        .saturating_sub(room / 2)
        .min(shown.len().saturating_sub(room));
    for (index, row) in shown.iter().enumerate().skip(first).take(room) {
        lines.push(table.line(row, index == place, model));
    }
    if lines.len() < room
        && let Some(words) = emptiness(dialog, model, shown)
    {
        let style = model.look.theme.style(TextRole::Dim);
        let line = Line::from(Span::styled(words, style));
        // A letter may be wider than all there is.
        let wrapped = wrap::line(&line, width).into_iter();
        let wrapped = wrapped.filter(|row| row.width() <= width);
        lines.extend(wrapped.take(room - lines.len()));
    }
    lines
}

/// Why there is nothing to pick, and what to do.
fn emptiness(dialog: &ListDialog, model: &Model, shown: &[Row]) -> Option<String> {
    let language = model.look.language;
    if shown.iter().any(|row| row.key != Key::New) {
        return None;
    }
    if !dialog.filter.input.text().trim().is_empty() {
        let esc = keymap::shown(Context::List, Action::Close);
        return shown
            .is_empty()
            .then(|| language.fill(Msg::NoMatch, &[&esc]));
    }
    if let Content::Loading = dialog.content {
        let failed = dialog.failed.as_deref().map(client::text::line);
        return Some(failed.unwrap_or_else(|| language.say(Msg::Loading).to_owned()));
    }
    let message = match dialog.what {
        ListOf::Sessions { here: false } => Msg::NoSessions,
        ListOf::Sessions { here: true } => Msg::NoSessionsHere,
        ListOf::Turns => Msg::NoTurns,
        ListOf::Queue => Msg::NoQueue,
        ListOf::Processes => Msg::NoProcesses,
        ListOf::Agents => Msg::NoAgents,
        ListOf::Inbox => Msg::NoInbox,
        ListOf::Models => return Some(language.say(Models::None).to_owned()),
        ListOf::Skills => return Some(language.say(Found::NoSkills).to_owned()),
        ListOf::Search => return Some(language.say(Found::NoHits).to_owned()),
    };
    Some(language.say(message).to_owned())
}

/// The current toast, as nothing else shows it while a list is open; else the key hints.
fn last(dialog: &ListDialog, model: &Model, width: usize) -> Line<'static> {
    let toast = toast::rows(model, width, 1).pop();
    toast.unwrap_or_else(|| hints(dialog, model, width))
}

/// The key hints.
fn hints(dialog: &ListDialog, model: &Model, width: usize) -> Line<'static> {
    use Action::{Accept, Approve, Close, Drop, Edit, Filter, Kill, MoveDown, MoveUp, Pause};
    let language = model.look.language;
    let own: &[(Context, Action)] = match dialog.what {
        ListOf::Processes | ListOf::Agents => &[
            (Context::Processes, Pause),
            (Context::Processes, Kill),
            (Context::Processes, Approve),
        ],
        ListOf::Queue => &[
            (Context::Queue, Edit),
            (Context::Queue, Drop),
            (Context::Queue, MoveUp),
            (Context::Queue, MoveDown),
            (Context::Queue, Action::SteerNow),
        ],
        ListOf::Sessions { .. }
        | ListOf::Turns
        | ListOf::Inbox
        | ListOf::Models
        | ListOf::Skills
        | ListOf::Search => &[],
    };
    let mut wanted = vec![(Context::List, Accept), (Context::List, Close)];
    wanted.extend(own);
    let picks = dialog.what == ListOf::Models;
    if dialog.restore.is_none() && !picks {
        wanted.push((Context::List, Filter));
    }
    let mut groups = Vec::new();
    if dialog.filter.open && !picks {
        let [keep, clear] = [Accept, Close].map(|action| keymap::shown(Context::List, action));
        let words = language.fill(Msg::FilterKeys, &[&keep, &clear]);
        groups.push(Group::new(0, TextRole::Dim, wrap::cut(&words, width)));
    } else {
        let rows = wanted.iter();
        for row in rows.filter_map(|(context, action)| keymap::row_of(*context, *action)) {
            let words = format!("{} {}", row.shown(), language.say(row.about()));
            groups.push(Group::new(0, TextRole::Dim, words));
            // A key without its full description says nothing; a shorter one after it may have room.
            if fit::cells(&groups) > width {
                groups.pop();
            }
        }
    }
    fit::line(&model.look, groups, Vec::new(), width)
}

fn border(model: &Model, width: usize) -> Line<'static> {
    let style = model.look.theme.style(TextRole::Border);
    Line::from(Span::styled("─".repeat(width), style))
}

fn side_by_side(
    left: Vec<Line<'static>>,
    right: Vec<Line<'static>>,
    model: &Model,
    left_width: usize,
    width: usize,
) -> Vec<Line<'static>> {
    let bar = Span::styled("│", model.look.theme.style(TextRole::Border));
    let count = left.len().max(right.len());
    let mut right = right.into_iter();
    let mut left = left.into_iter();
    let row = |left: Line<'static>, right: Option<Line<'static>>| {
        let mut spans = pad(left.spans, left_width);
        spans.push(bar.clone());
        if let Some(right) = right {
            spans.push(Span::raw(" "));
            spans.extend(right.spans);
        }
        Line::from(clip(spans, width))
    };
    (0..count)
        .map(|_| row(left.next().unwrap_or_default(), right.next()))
        .collect()
}

#[cfg(test)]
mod tests;
