//! Texts outside the screen's rows: the title of the window, and the report below the transcript on exit.

use client::text;
use proto::state::State;

use super::state;
use crate::messages::status::Msg;
use crate::model::Model;
use crate::model::transcript::EntryKind;
use crate::render::{short, wrap};

/// Cells of a session's name in a title.
const TITLE_WIDTH: usize = 40;

/// The title of the terminal's window: `?` if the session waits for the user, `●` if it works.
#[must_use]
pub fn title(model: &Model) -> String {
    let Some(session) = &model.session else {
        return "reasonix".to_owned();
    };
    let mark = match (state::waits(model), session.state) {
        (true, _) => "? ",
        (false, State::Running | State::Waiting) => "● ",
        (false, State::Idle | State::Paused | State::Exited) => "",
    };
    let name = session
        .options
        .name
        .as_deref()
        .or_else(|| Some(session.title.as_str()).filter(|title| !title.is_empty()))
        .or_else(|| first_words(model));
    // Of a long line the beginning is enough, whatever is cleaned out of it.
    let head: String = name
        .unwrap_or_default()
        .chars()
        .take(TITLE_WIDTH * 4)
        .collect();
    let name = text::line(&head);
    match name.trim() {
        "" => format!("{mark}reasonix"),
        name => format!("{mark}{} — reasonix", wrap::cut(name, TITLE_WIDTH)),
    }
}

fn first_words(model: &Model) -> Option<&str> {
    model
        .transcript
        .entries
        .iter()
        .find_map(|entry| match &entry.kind {
            EntryKind::User {
                text, from: None, ..
            } => text.trim().lines().next(),
            _ => None,
        })
}

/// The exit report: usage, and the command to resume. Empty if there was no session.
#[must_use]
pub fn summary(model: &Model) -> Vec<String> {
    let Some(session) = &model.session else {
        return Vec::new();
    };
    let language = model.look.language;
    let pid = session.pid.to_string();
    let mut first = vec![language.fill(Msg::SummarySession, &[&pid])];
    let name = session.options.name.as_deref().map(text::line);
    first.extend(name.filter(|name| !name.is_empty()));
    first.push(language.counted(session.turns, Msg::SummaryOneTurn, Msg::SummaryTurns));
    let here = model.now.saturating_duration_since(model.started);
    first.push(language.fill(Msg::SummaryHere, &[&short::duration(here)]));
    let mut lines = vec![first.join(" · ")];

    let usage = &session.usage;
    let mut used = Vec::new();
    if usage.requests > 0 {
        let read = short::count(usage.prompt_tokens);
        let written = short::count(usage.output_tokens);
        used.push(language.fill(Msg::SummaryTokens, &[&read, &written]));
    }
    if let Some(share) = short::percent(usage.cached_tokens, usage.prompt_tokens) {
        used.push(language.fill(Msg::Cache, &[&share.to_string()]));
    }
    if let Some(cost) = short::cost(session.cost()) {
        let words = match session.tree_usage {
            Some(_) => Msg::SummaryCostWithAgents,
            None => Msg::SummaryCost,
        };
        used.push(language.fill(words, &[&cost]));
    }
    if !used.is_empty() {
        lines.push(used.join(" · "));
    }
    let attach = format!("reasonix attach {pid}");
    let mut back = language.fill(Msg::SummaryAttach, &[&attach]);
    if session.busy() && !session.interrupted {
        let waits = !session.open.is_empty();
        let words = if waits {
            Msg::SummaryWaits
        } else {
            Msg::SummaryGoesOn
        };
        back = format!("{back} · {}", language.say(words));
    }
    lines.push(back);
    lines
}
