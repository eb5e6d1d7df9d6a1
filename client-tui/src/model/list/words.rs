//! Parts of rows as text: ages, states, details of a session. All of it cleaned.

use std::ops::Range;
use std::path::Path;

use client::form::kinds;
use proto::Stamp;
use proto::outcome::Cost;
use proto::params::session::SessionSummary;
use proto::state::{State, WaitingFor};
use pulldown_cmark::{Event, Parser, Tag};

use crate::messages::Language;
use crate::messages::lists::Msg;
use crate::render::short;
use crate::render::wrap::width;
use crate::theme::TextRole;

/// Characters of an age: two digits and a unit.
const AGE: usize = 3;

/// How long before `now` a moment was: `45s`, `3m`, `2h`, `5d`. Clocks that disagree make it 0, not more.
#[must_use]
pub fn ago(language: Language, now: Stamp, at: Stamp) -> String {
    let ms = now.0.saturating_sub(at.0);
    lasted(language, u64::try_from(ms).unwrap_or(0))
}

/// The same at the right of a column: one digit moves nothing.
#[must_use]
pub fn aged(language: Language, now: Stamp, at: Stamp) -> String {
    let words = ago(language, now, at);
    let missing = AGE.saturating_sub(words.chars().count());
    format!("{}{words}", " ".repeat(missing))
}

/// Milliseconds, as [`ago`].
#[must_use]
pub fn lasted(language: Language, ms: u64) -> String {
    let seconds = ms / 1000;
    let (message, count) = match seconds {
        0..=119 => (Msg::Seconds, seconds),
        120..=7_199 => (Msg::Minutes, seconds / 60),
        7_200..=172_799 => (Msg::Hours, seconds / 3_600),
        _ => (Msg::Days, seconds / 86_400),
    };
    language.fill(message, &[&count.to_string()])
}

/// The cost, as far as it is known; empty if unknown.
#[must_use]
pub fn cost(cost: impl Into<Cost>) -> String {
    short::cost(cost).unwrap_or_default()
}

/// How full the context is; empty if unknown.
#[must_use]
pub fn context(session: &SessionSummary) -> String {
    let full = short::percent(session.context_tokens, session.context_window);
    full.map_or_else(String::new, |full| format!("{full}%"))
}

/// The model without its provider.
#[must_use]
pub fn model(name: &str) -> String {
    client::text::line(short::model(name))
}

/// Cells that a directory takes at most in a row.
const DIRECTORY_MAX: usize = 28;

/// A path with `~` for the user's home.
#[must_use]
pub fn home(path: &str, home: Option<&Path>) -> String {
    client::text::line(&short::path(path, home))
}

/// The same for a row: a long one keeps its end, which says more than its beginning.
#[must_use]
pub fn directory(path: &str, home: Option<&Path>) -> String {
    let path = self::home(path, home);
    if width(&path) <= DIRECTORY_MAX {
        return path;
    }
    let ends = path.char_indices().filter(|(_, letter)| *letter == '/');
    let mut ends = ends.filter_map(|(at, _)| path.get(at..));
    let fits = |end: &&str| width(end) < DIRECTORY_MAX;
    match ends.find(fits) {
        Some(end) => format!("…{end}"),
        None => path,
    }
}

/// Characters of a text that a row is made of at most: a prompt may be a whole file.
const HEAD_MAX: usize = 2_000;

/// The beginning of a text, with `…` where something is left out.
#[must_use]
pub fn head(text: &str) -> String {
    match text.char_indices().nth(HEAD_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A Markdown text as one line, without its markup.
#[must_use]
pub fn plain(text: &str) -> String {
    let text = client::text::line(text);
    let mut marks: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new(&text).into_offset_iter() {
        let said = text.get(range.clone()).unwrap_or_default();
        let (before, after) = match event {
            Event::Start(Tag::Strong) => (2, 2),
            Event::Start(Tag::Emphasis) => (1, 1),
            Event::Code(_) => {
                let inside = said.trim_start_matches('`');
                let ticks = said.len() - inside.len();
                (ticks, ticks)
            }
            Event::Start(Tag::Heading { .. }) => {
                let words = said.trim_start_matches(['#', ' ']);
                (said.len() - words.len(), 0)
            }
            _ => continue,
        };
        marks.push(range.start..range.start + before);
        marks.push(range.end.saturating_sub(after)..range.end);
    }
    let is_mark = |at: usize| marks.iter().any(|mark| mark.contains(&at));
    let letters = text.char_indices().filter(|(at, _)| !is_mark(*at));
    letters.map(|(_, letter)| letter).collect()
}

/// One line for text that the user must judge: nothing in it is hidden.
#[must_use]
pub fn exact(text: &str) -> String {
    client::text::exact(&head(text)).replace('\n', "⏎")
}

/// One line for a text of several, with a sign where each ends.
#[must_use]
pub fn joined(text: &str) -> String {
    let text = client::text::clean(&head(text.trim()));
    text.trim().replace('\n', "⏎").replace('\t', " ")
}

/// Questions that are open in a session.
#[must_use]
pub fn questions(session: &SessionSummary) -> u64 {
    session.pending_interactions
}

/// Whether it waits for the user.
#[must_use]
pub fn waits(session: &SessionSummary) -> bool {
    let needs_person = session.waiting_for.is_some_and(WaitingFor::needs_person);
    questions(session) > 0 || (session.state == State::Waiting && needs_person)
}

/// A sign for the state, and how it is drawn.
#[must_use]
pub fn mark(session: &SessionSummary) -> (&'static str, TextRole) {
    match session.state {
        State::Exited if session.exit_code == Some(0) => ("✓", TextRole::Dim),
        State::Exited => ("✗", TextRole::Dim),
        _ if waits(session) => ("?", TextRole::Question),
        State::Running | State::Waiting => ("▶", TextRole::Good),
        State::Paused => ("‖", TextRole::Warning),
        State::Idle => ("·", TextRole::Dim),
    }
}

/// The state as text, with the reason for waiting and the exit status.
#[must_use]
pub fn state(language: Language, session: &SessionSummary, now: Stamp) -> String {
    let say = |message| language.say(message).to_owned();
    if session.read_only.is_some() {
        return say(Msg::ReadOnly);
    }
    match (session.state, session.waiting_for, session.exit_code) {
        (State::Idle | State::Running | State::Exited, _, _) if session.compacting => {
            say(Msg::Compacting)
        }
        (State::Idle, _, _) if session.queued > 0 => {
            language.fill(Msg::IdleQueued, &[&session.queued.to_string()])
        }
        (State::Idle, _, _) => say(Msg::Idle),
        (State::Running, _, _) => match session.silent_since {
            None if session.planning => say(Msg::Planning),
            None => say(Msg::Running),
            Some(since) => language.fill(Msg::RunningSilent, &[&ago(language, now, since)]),
        },
        (State::Waiting, None, _) => say(Msg::Waiting),
        (State::Waiting, Some(WaitingFor::Interaction(kind)), _) => {
            language.fill(Msg::WaitingForKind, &[language.say(kinds::names(kind).0)])
        }
        (State::Waiting, Some(WaitingFor::Retry), _) => say(Msg::WaitingRetry),
        (State::Waiting, Some(WaitingFor::Restart), _) => say(Msg::WaitingRestart),
        (State::Waiting, Some(WaitingFor::Credentials), _) => say(Msg::WaitingKey),
        (State::Paused, _, _) if session.pending_interactions > 0 => say(Msg::PausedNeedsAnswer),
        (State::Paused, _, _) => say(Msg::Paused),
        (State::Exited, _, Some(code)) => language.fill(Msg::ExitedCode, &[&code.to_string()]),
        (State::Exited, _, None) => say(Msg::Exited),
    }
}

/// Answers of the model so far.
#[must_use]
pub fn steps(language: Language, steps: u64) -> String {
    language.counted(steps, Msg::Step, Msg::Steps)
}

#[cfg(test)]
mod tests;
