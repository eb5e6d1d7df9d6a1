//! A row for each sub-agent at work: who it is, what it does, for how long, how many steps, at what cost.

use ratatui::text::Line;

use super::fit::{self, Group};
use crate::messages::status::Msg;
use crate::model::Model;
use crate::model::list::words;
use crate::model::session::Session;
use crate::render::wrap;
use crate::theme::TextRole;
use client::text;
use client::tree::branch;
use proto::params::session::SessionSummary;
use proto::state::State;

/// Sub-agents that have a row at once.
const SHOWN: usize = 4;

/// Cells of what one does: with less, figures make room for it.
const ACTIVITY_MIN: usize = 16;

/// Cells between two pieces.
const BETWEEN: usize = 3;

/// Their rows. `small`: one row for all of them.
pub fn rows(model: &Model, session: &Session, small: bool, width: usize) -> Vec<Line<'static>> {
    let language = model.look.language;
    let agents = model.overview.agents(session.pid);
    if agents.is_empty() {
        return Vec::new();
    }
    if small {
        let count = agents.len().to_string();
        let words = match agents.len() {
            1 => language.say(Msg::OneAgent).to_owned(),
            _ => language.fill(Msg::Agents, &[&count]),
        };
        let group = Group::new(0, TextRole::Tool, wrap::cut(&words, width));
        return vec![fit::line(&model.look, vec![group], Vec::new(), width)];
    }
    let mut rows: Vec<_> = agents
        .iter()
        .take(SHOWN)
        .map(|(depth, agent)| row(model, agent, *depth, width))
        .collect();
    if let Some(more @ 1..) = agents.len().checked_sub(SHOWN) {
        let words = language.fill(Msg::More, &[&more.to_string()]);
        let group = Group::new(0, TextRole::Dim, wrap::cut(&words, width));
        rows.push(fit::line(&model.look, vec![group], Vec::new(), width));
    }
    rows
}

fn row(model: &Model, agent: &SessionSummary, depth: usize, width: usize) -> Line<'static> {
    let language = model.look.language;
    let (mark, ink) = words::mark(agent);
    let name = format!("{}{mark} {}", branch(depth), described(agent, width));
    let age = words::ago(language, model.clock, agent.created_at);
    let steps = words::steps(language, agent.steps);
    let cost = words::cost(agent.cost());
    let mut figures: Vec<String> = [age, steps, cost]
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect();
    let taken = |figures: &[String]| -> usize {
        let figures: usize = figures
            .iter()
            .map(|words| wrap::width(words) + BETWEEN)
            .sum();
        wrap::width(&name) + BETWEEN + figures
    };
    while !figures.is_empty() && taken(&figures) + ACTIVITY_MIN > width {
        figures.pop();
    }
    let room = width.saturating_sub(taken(&figures));
    let does = wrap::cut(&activity(model, agent), room);
    let mut groups = vec![
        Group::new(0, ink, wrap::cut(&name, width)),
        Group::new(
            1,
            if words::waits(agent) {
                TextRole::Question
            } else {
                TextRole::Text
            },
            does,
        ),
    ];
    let figures = figures.into_iter();
    groups.extend(figures.map(|words| Group::new(2, TextRole::Dim, words)));
    groups.retain(|group| !group.words.is_empty());
    fit::line(&model.look, groups, Vec::new(), width)
}

/// The name of its definition, and its number.
pub fn name(agent: &SessionSummary) -> String {
    let name = agent.agent.as_deref().map(text::line).unwrap_or_default();
    format!("{name} {}", agent.pid).trim_start().to_owned()
}

/// The same with what its call says that it is for, in at most half of the row.
fn described(agent: &SessionSummary, width: usize) -> String {
    let name = name(agent);
    let description = text::line(&agent.description);
    match description.is_empty() {
        true => name,
        false => wrap::cut(
            &format!("{name} {description}"),
            (width / 2).max(wrap::width(&name)),
        ),
    }
}

/// What it does now.
pub fn activity(model: &Model, agent: &SessionSummary) -> String {
    let language = model.look.language;
    if words::waits(agent) || agent.state != State::Running {
        return words::state(language, agent, model.clock);
    }
    match (agent.activity.is_empty(), agent.silent_since) {
        (false, _) => text::line(&agent.activity),
        (true, Some(_)) => words::state(language, agent, model.clock),
        (true, None) => language.say(Msg::Thinks).to_owned(),
    }
}
