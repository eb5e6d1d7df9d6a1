//! The rows between transcript and composer, each only if it has something to show.

use std::time::Duration;

use client::text;
use proto::hello::Role;
use proto::record::{ChildKind, Todo, TodoStatus};
use proto::state::{State, WaitingFor};
use ratatui::text::{Line, Span};

use super::agents;
use super::fit::{self, Group};
use super::state::spinner;
use crate::keymap::{Action, Context, shown};
use crate::messages::status::Msg;
use crate::model::session::Session;
use crate::model::{Link, Model};
use crate::render::{short, wrap};
use crate::theme::TextRole;
use crate::view::{Panel, toast};

/// Screens with fewer rows get the shortest form of everything.
const SMALL: u16 = 16;
/// Things to do that are shown at once.
const TODOS: usize = 8;
/// Prompts that wait that are shown at once.
const QUEUED: usize = 3;
/// Cells of a retry's row beside its cause: the spinner before it and ` · in 59m 59s` after it.
const RETRY_REST: usize = 15;
/// Rows of a toast.
const TOAST: usize = 3;

/// The rows above the composer.
#[must_use]
pub fn above(model: &Model, width: usize) -> Panel {
    let small = model.look.rows < SMALL;
    let mut rows = Vec::new();
    rows.extend(working(model, width));
    if let Some(session) = &model.session {
        rows.extend(waiting(model, session, width));
    }
    rows.extend(elsewhere(model, width));
    if let Some(session) = &model.session {
        rows.extend(parent(model, session, width));
        rows.extend(goal(model, session, small, width));
        rows.extend(agents::rows(model, session, small, width));
        if model.look.todos {
            rows.extend(todos(model, session.shown_todos(), small, width));
        }
        if !small {
            rows.extend(children(model, session, width));
        }
        rows.extend(queue(model, session, small, width));
    }
    rows.extend(toast::rows(model, width, if small { 1 } else { TOAST }));
    if !rows.is_empty() && !small {
        rows.insert(0, Line::default());
    }
    Panel::of(rows)
}

fn styled(model: &Model, ink: TextRole, words: &str, width: usize) -> Line<'static> {
    let style = model.look.theme.style(ink);
    Line::from(Span::styled(wrap::cut(words, width), style))
}

/// The current activity, or the reason for waiting.
fn working(model: &Model, width: usize) -> Option<Line<'static>> {
    let language = model.look.language;
    let groups = match &model.link {
        Link::Lost(since) | Link::Stopped(since) | Link::Away(since) => {
            let time = model.now.saturating_duration_since(*since);
            let words = language.say(match model.link {
                Link::Away(_) => Msg::AwayAdvice,
                Link::Stopped(_) => Msg::StoppedAdvice,
                _ => Msg::LostAdvice,
            });
            vec![
                (0, TextRole::Warning, format!("{} {words}", spinner(model))),
                (1, TextRole::Dim, short::duration(time)),
            ]
        }
        // The reason is in the transcript; this row says what the user can do.
        Link::Ended(_) => {
            let sessions = shown(Context::Everywhere, Action::Sessions);
            let words = language.fill(Msg::EndedAdvice, &[&sessions]);
            vec![(0, TextRole::Error, format!("■ {words}"))]
        }
        Link::None | Link::Replaying | Link::Live => turn(model, model.session.as_ref()?, width)?,
    };
    Some(row(model, groups, width))
}

/// A row of pieces; where even the first has no room, it is cut.
fn row(model: &Model, pieces: Vec<(u8, TextRole, String)>, width: usize) -> Line<'static> {
    let groups = pieces
        .into_iter()
        .enumerate()
        .map(|(index, (rank, ink, words))| match (index, rank) {
            (0, _) => Group::new(rank, ink, wrap::cut(&words, width)),
            (_, 0) => Group::new(1, ink, words),
            _ => Group::new(rank, ink, words),
        })
        .collect();
    fit::line(&model.look, groups, Vec::new(), width)
}

fn turn(model: &Model, session: &Session, width: usize) -> Option<Vec<(u8, TextRole, String)>> {
    let language = model.look.language;
    let time = || {
        let time = Duration::from_millis(session.worked_ms(model.clock)?);
        Some((2, TextRole::Dim, short::duration(time)))
    };
    let stop = || {
        let key = shown(Context::Composer, Action::Back);
        let words = language.fill(Msg::Stops, &[&key]);
        (model.role() == Role::Drive).then_some((1, TextRole::Dim, words))
    };
    let mut pieces = Vec::new();
    match (session.state, session.waiting_for) {
        (State::Idle | State::Running | State::Exited, _) if session.compacting => {
            let words = language.say(Msg::Compacting);
            pieces.push((0, TextRole::Accent, format!("{} {words}", spinner(model))));
            pieces.extend(stop());
        }
        (State::Running, _) => {
            let words = language.say(match session.planning {
                true => Msg::Planning,
                false => Msg::Working,
            });
            pieces.push((0, TextRole::Accent, format!("{} {words}", spinner(model))));
            pieces.extend(time());
            if !session.running.is_empty() {
                let tools: Vec<_> = session.running.iter().map(|call| call.1.as_str()).collect();
                let tools = text::line(&tools.join(", "));
                pieces.push((3, TextRole::Tool, language.fill(Msg::Running, &[&tools])));
            }
            pieces.extend(stop());
        }
        (State::Waiting, Some(WaitingFor::Retry | WaitingFor::Restart)) => {
            let cause = text::line(&language.translate(&session.cause));
            let cause = retry_cause(&cause, width.saturating_sub(RETRY_REST));
            pieces.push((0, TextRole::Warning, format!("{} {cause}", spinner(model))));
            if let Some(left) = session.retries_in(model.clock) {
                let words = language.fill(Msg::RetryIn, &[&short::duration(left)]);
                pieces.push((1, TextRole::Text, words));
            }
            pieces.extend(stop().map(|(_, ink, words)| (2, ink, words)));
        }
        (State::Waiting, Some(WaitingFor::Credentials)) => {
            let words = language.say(Msg::WaitsForKey);
            pieces.push((0, TextRole::Question, format!("? {words}")));
            pieces.push((2, TextRole::Text, language.say(Msg::KeyAdvice).to_owned()));
        }
        (State::Paused, _) => {
            let words = language.say(Msg::Paused);
            pieces.push((0, TextRole::Warning, format!("‖ {words}")));
            pieces.push((2, TextRole::Dim, language.say(Msg::PausedAdvice).to_owned()));
        }
        (State::Idle, _) if session.has_paused_goal() => {
            let words = language.say(Msg::GoalAtLimit);
            pieces.push((0, TextRole::Warning, format!("‖ {words}")));
            pieces.push((
                2,
                TextRole::Text,
                language.say(Msg::GoalAtLimitAdvice).to_owned(),
            ));
        }
        (State::Waiting | State::Idle | State::Exited, _) => return None,
    }
    Some(pieces)
}

/// The cause of a retry in `width` cells. The number of the next try, in brackets at the end, is kept whole.
fn retry_cause(cause: &str, width: usize) -> String {
    let Some((reason, count)) = cause.rfind(['(', '（']).map(|at| cause.split_at(at)) else {
        return wrap::cut(cause, width);
    };
    let room = width.saturating_sub(wrap::width(count) + 1);
    format!("{} {count}", wrap::cut(reason.trim_end(), room))
}

/// Postponed questions: the row is shown only if no dialog asks them.
fn waiting(model: &Model, session: &Session, width: usize) -> Option<Line<'static>> {
    let language = model.look.language;
    let words = match session.all_open().count() {
        0 => return None,
        1 => language.say(Msg::OneWaits).to_owned(),
        many => language.fill(Msg::ManyWait, &[&many.to_string()]),
    };
    let key = shown(Context::Everywhere, Action::Attention);
    let pieces = vec![
        (0, TextRole::Question, format!("? {words}")),
        (1, TextRole::Dim, key),
    ];
    Some(row(model, pieces, width))
}

/// What waits for the user in sessions that have no place on this screen.
fn elsewhere(model: &Model, width: usize) -> Option<Line<'static>> {
    let language = model.look.language;
    let here = model.session.as_ref().map(|session| session.pid);
    let words = match model.overview.waits_elsewhere(here) {
        0 => return None,
        1 => language.say(Msg::OneElsewhere).to_owned(),
        many => language.fill(Msg::Elsewhere, &[&many.to_string()]),
    };
    Some(styled(
        model,
        TextRole::Question,
        &format!("? {words}"),
        width,
    ))
}

/// The way back from a sub-agent.
fn parent(model: &Model, session: &Session, width: usize) -> Option<Line<'static>> {
    let parent = session.parent?.to_string();
    let key = shown(Context::Everywhere, Action::Parent);
    let words = model.look.language.fill(Msg::AgentOf, &[&parent, &key]);
    Some(styled(model, TextRole::Dim, &format!("↑ {words}"), width))
}

/// What the session works towards by itself; then checks, cost and the reason of its newest turn.
fn goal(model: &Model, session: &Session, small: bool, width: usize) -> Vec<Line<'static>> {
    let language = model.look.language;
    let Some(goal) = &session.goal else {
        return Vec::new();
    };
    let words = format!("◎ {}", text::line(&goal.words(language)));
    let mut rows = vec![styled(model, TextRole::Heading, &words, width)];
    let progress = text::line(&goal.progress(language));
    if !small && !progress.is_empty() {
        rows.push(styled(
            model,
            TextRole::Dim,
            &format!("  {progress}"),
            width,
        ));
    }
    rows
}

fn todos(model: &Model, todos: &[Todo], small: bool, width: usize) -> Vec<Line<'static>> {
    if todos.is_empty() {
        return Vec::new();
    }
    let language = model.look.language;
    let is = |status| move |todo: &&Todo| todo.status == status;
    let all = todos.len();
    let done = todos.iter().filter(is(TodoStatus::Completed)).count();
    if done == all {
        let words = language.fill(Msg::TodosDone, &[&all.to_string()]);
        return vec![styled(model, TextRole::Good, &format!("☑ {words}"), width)];
    }
    let heading = language.fill(Msg::Todos, &[&done.to_string(), &all.to_string()]);
    let current = todos
        .iter()
        .position(|todo| todo.status == TodoStatus::InProgress)
        .or_else(|| {
            todos
                .iter()
                .position(|todo| todo.status == TodoStatus::Pending)
        })
        .unwrap_or(0);
    if small {
        let now = todos.get(current).map(|todo| text::line(words_of(todo)));
        let words = format!("{heading} · {}", now.unwrap_or_default());
        return vec![styled(model, TextRole::Text, &words, width)];
    }
    let first = current.saturating_sub(2).min(all.saturating_sub(TODOS));
    let mut rows = vec![styled(model, TextRole::Heading, &heading, width)];
    for todo in todos.iter().skip(first).take(TODOS) {
        let (mark, ink) = match todo.status {
            TodoStatus::Pending => ("☐", TextRole::Text),
            TodoStatus::InProgress => ("▶", TextRole::Strong),
            TodoStatus::Completed => ("☑", TextRole::Dim),
        };
        let text = wrap::beginning(words_of(todo), width);
        let words = format!("{mark} {}", text::line(text));
        rows.push(styled(model, ink, &words, width));
    }
    if all > TODOS {
        let more = language.fill(Msg::More, &[&(all - TODOS).to_string()]);
        rows.push(styled(model, TextRole::Dim, &more, width));
    }
    rows
}

fn words_of(todo: &Todo) -> &str {
    match todo.status {
        TodoStatus::InProgress if !todo.active_form.is_empty() => &todo.active_form,
        _ => &todo.content,
    }
}

fn children(model: &Model, session: &Session, width: usize) -> Option<Line<'static>> {
    let names: Vec<_> = session
        .children
        .iter()
        // A user's own command is in the transcript, with its output.
        .filter(|child| child.kind == ChildKind::Shell && child.user.is_none())
        .map(|child| text::line(wrap::beginning(&child.command, width)))
        .collect();
    let language = model.look.language;
    let list = names.join("; ");
    let words = match names.len() {
        0 => return None,
        1 => language.fill(Msg::OneChild, &[&list]),
        many => language.fill(Msg::Children, &[&many.to_string(), &list]),
    };
    Some(styled(model, TextRole::Dim, &words, width))
}

fn queue(model: &Model, session: &Session, small: bool, width: usize) -> Vec<Line<'static>> {
    let language = model.look.language;
    let waiting = session.queue.waiting();
    if waiting.is_empty() {
        return Vec::new();
    }
    if small {
        let words = language.fill(Msg::Queued, &[&waiting.len().to_string()]);
        return vec![styled(model, TextRole::Dim, &words, width)];
    }
    let mut rows = Vec::new();
    for queued in waiting.iter().take(QUEUED) {
        // A paused session may have no turn.
        let message = match queued.steer && session.state != State::Paused {
            true => Msg::QueuedSteer,
            false => Msg::QueuedPrompt,
        };
        // A prompt may hold a whole file.
        let text = wrap::beginning(queued.text.trim_start(), width);
        let words = language.fill(message, &[text::line(text).trim()]);
        rows.push(styled(model, TextRole::Dim, &words, width));
    }
    if let Some(more @ 1..) = waiting.len().checked_sub(QUEUED) {
        let words = language.fill(Msg::More, &[&more.to_string()]);
        rows.push(styled(model, TextRole::Dim, &words, width));
    }
    rows
}
