//! The status line, and the rows between transcript and composer: the spinner, todos, the queue, a toast.

mod above;
mod agents;
pub mod fit;
mod state;
mod words;

use proto::hello::Role;
use proto::state::{ApprovalMode, Mode};
use ratatui::text::Line;

use super::Panel;
use crate::messages::status::Msg;
use crate::model::Model;
use crate::model::session::{CACHE_LAST_MS, Session};
use crate::render::short;
use crate::theme::TextRole;
use client::text;
use fit::Group;

pub use above::above;
pub use state::waits;
pub use words::{summary, title};

/// From this percentage on, the context is shown as a warning.
const FULL: u64 = 80;

/// The status line.
#[must_use]
pub fn panel(model: &Model, width: usize) -> Panel {
    Panel::of(vec![line(model, width)])
}

/// If there is no room, the group with the highest rank is dropped first.
fn line(model: &Model, width: usize) -> Line<'static> {
    let say = |message| model.look.language.say(message);
    let fill = |message, value: u64| model.look.language.fill(message, &[&value.to_string()]);
    let mut left = vec![state::group(model, width)];
    let mut right = Vec::new();
    if model.look.fullscreen && model.scroll > 0 {
        left.push(Group::new(1, TextRole::Accent, say(Msg::MoreBelow)));
    }
    let waiting = model
        .session
        .as_ref()
        .map(|session| session.queue.waiting());
    if let Some(waiting) = waiting.filter(|waiting| !waiting.is_empty()) {
        let count = u64::try_from(waiting.len()).unwrap_or(u64::MAX);
        left.push(Group::new(3, TextRole::Text, fill(Msg::Queued, count)));
    }
    let goal = model.session.as_ref().and_then(|open| open.goal.as_ref());
    if let Some(goal) = goal {
        left.push(Group::new(4, TextRole::Heading, goal.mark()));
    }
    if let Some(others) = model.session.as_ref().map(|session| session.others)
        && others > 0
    {
        left.push(Group::new(7, TextRole::Dim, format!("+{others}")));
    }
    match model.role() {
        Role::Drive => {}
        Role::Approve => left.push(Group::new(4, TextRole::Dim, say(Msg::Answering))),
        Role::Watch => left.push(Group::new(4, TextRole::Dim, say(Msg::Watching))),
    }
    if let Some(session) = &model.session {
        if session.read_only.is_some() {
            left.push(Group::new(4, TextRole::Warning, say(Msg::ReadOnly)));
        }
        right.extend(figures(model, session));
    }
    right.extend(place(model));
    right.insert(0, approval_mode(model));
    if model.mode() == Mode::Plan {
        right.insert(0, Group::new(1, TextRole::Accent, say(Msg::PlanMode)));
    }
    if model.only_reads() {
        right.insert(0, Group::new(1, TextRole::Warning, say(Msg::OnlyReads)));
    }
    fit::line(&model.look, left, right, width)
}

fn approval_mode(model: &Model) -> Group {
    let ink = match model.approval_mode() {
        ApprovalMode::Ask | ApprovalMode::Auto => TextRole::Dim,
        ApprovalMode::Yolo => TextRole::Warning,
    };
    Group::new(1, ink, model.approval_mode().as_str())
}

/// Model, context, cache, tokens, cost, as far as they are known.
fn figures(model: &Model, session: &Session) -> Vec<Group> {
    let language = model.look.language;
    let mut groups = Vec::new();
    if let Some(name) = session
        .options
        .model
        .as_deref()
        .filter(|name| !name.is_empty())
    {
        let name = text::line(short::model(name));
        groups.push(Group::new(5, TextRole::Dim, name));
    }
    let effort = session.options.effort.as_deref();
    if let Some(effort) = effort.filter(|effort| !effort.is_empty()) {
        let words = language.fill(Msg::Effort, &[&text::line(effort)]);
        groups.push(Group::new(7, TextRole::Dim, words));
    }
    // Each is billed.
    if let Some(samples @ 2..) = session.options.samples {
        let words = language.fill(Msg::Samples, &[&samples.to_string()]);
        groups.push(Group::new(4, TextRole::Text, words));
    }
    if let Some(full) = short::percent(session.context_tokens, session.context_window) {
        let ink = match full {
            0..FULL => TextRole::Dim,
            _ => TextRole::Warning,
        };
        let words = language.fill(Msg::Context, &[&full.to_string()]);
        groups.push(Group::new(2, ink, words));
    }
    let usage = &session.usage;
    if let Some(share) = short::percent(usage.cached_tokens, usage.prompt_tokens) {
        let words = language.fill(Msg::Cache, &[&share.to_string()]);
        groups.push(Group::new(8, TextRole::Dim, words));
    }
    match session.cache_left(model.clock) {
        Some(0) => {
            let words = match &session.expired_cache_cost {
                Some(price) => language.fill(Msg::CacheExpiredWithCost, &[price]),
                None => language.say(Msg::CacheExpired).to_owned(),
            };
            groups.push(Group::new(8, TextRole::Dim, words));
        }
        Some(left) if left <= CACHE_LAST_MS => {
            let seconds = left.div_ceil(1_000);
            let left = format!("{}:{:02}", seconds / 60, seconds % 60);
            let words = language.fill(Msg::CacheEnds, &[&left]);
            groups.push(Group::new(8, TextRole::Dim, words));
        }
        Some(_) | None => {}
    }
    let tokens = short::tokens(usage);
    if tokens > 0 {
        let words = language.fill(Msg::Tokens, &[&short::count(tokens)]);
        groups.push(Group::new(10, TextRole::Dim, words));
    }
    if let Some(cost) = short::cost(session.cost()) {
        groups.push(Group::new(6, TextRole::Dim, cost));
    }
    groups
}

/// The session's name, and its directory.
fn place(model: &Model) -> Vec<Group> {
    let mut groups = Vec::new();
    let cwd = match &model.session {
        Some(session) => {
            let name = session.options.name.as_deref();
            let words = match name {
                Some(name) => format!("{} {}", session.pid, text::line(name)),
                None => session.pid.to_string(),
            };
            groups.push(Group::new(9, TextRole::Dim, words));
            session.cwd.clone()
        }
        None => {
            if !model.place.model.is_empty() {
                let name = text::line(short::model(&model.place.model));
                groups.push(Group::new(5, TextRole::Dim, name));
            }
            String::new()
        }
    };
    let cwd = match cwd.is_empty() {
        true => model.place.cwd.to_string_lossy().into_owned(),
        false => cwd,
    };
    let words = text::line(&short::path(&cwd, model.place.home.as_deref()));
    groups.push(Group::new(11, TextRole::Dim, words));
    groups
}

#[cfg(test)]
mod tests;
