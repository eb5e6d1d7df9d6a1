//! The rows of the sub-agents of a session, at work and ended.

use client::tree::{branch, ordered};
use proto::Stamp;
use proto::params::session::SessionSummary;
use proto::state::State;

use super::rows::{Cell, Row};
use super::{Key, words};
use crate::messages::lists::Msg;
use crate::model::Model;
use crate::render::short;
use crate::theme::TextRole;

fn cell(text: impl Into<String>, ink: TextRole) -> Cell {
    Cell {
        text: text.into(),
        ink,
        marks: Vec::new(),
    }
}

/// The session that started the open one, if that is a sub-agent; then the sub-agents below the open one.
pub fn rows(agents: &[SessionSummary], at: Stamp, model: &Model) -> Vec<Row> {
    let session = model.session.as_ref();
    let above = session.and_then(|session| model.overview.session(session.parent?));
    let above = above.map(|parent| parent_row(parent, at, model));
    let agents = ordered(agents).into_iter();
    let agents = agents.map(|(depth, agent)| row(agent, depth, at, model));
    above.into_iter().chain(agents).collect()
}

fn parent_row(parent: &SessionSummary, at: Stamp, model: &Model) -> Row {
    let mut row = row(parent, 0, at, model);
    if let Some(name) = row.cells.get_mut(1) {
        *name = cell(model.look.language.say(Msg::ParentRow), TextRole::Accent);
    }
    row
}

/// Pid, name, state, time, steps, cost, activity.
fn row(agent: &SessionSummary, depth: usize, at: Stamp, model: &Model) -> Row {
    let language = model.look.language;
    let mark = words::mark(agent);
    let until = match agent.state {
        State::Exited => agent.active_at,
        _ => at,
    };
    let name = agent.agent.as_deref().map(client::text::line);
    let does = match agent.activity.is_empty() {
        false => client::text::line(&agent.activity),
        true => words::plain(&agent.last_line),
    };
    Row {
        key: Key::Session(agent.session),
        mark,
        cells: vec![
            cell(format!("{}{}", branch(depth), agent.pid), TextRole::Dim),
            cell(name.unwrap_or_default(), TextRole::Tool),
            cell(words::state(language, agent, at), mark.1),
            cell(
                words::aged(language, until, agent.created_at),
                TextRole::Dim,
            ),
            cell(words::steps(language, agent.steps), TextRole::Dim),
            cell(short::cost(agent.cost()).unwrap_or_default(), TextRole::Dim),
            cell(does, TextRole::Text),
        ],
    }
}
