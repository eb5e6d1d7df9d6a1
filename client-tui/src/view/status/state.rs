//! The session's current activity: a mark and a word.

use proto::state::{State, WaitingFor};

use super::fit::Group;
use crate::messages::status::Msg;
use crate::model::{Link, Model};
use crate::render::wrap;
use crate::theme::TextRole;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The current frame of the spinner.
pub fn spinner(model: &Model) -> &'static str {
    let turns = u64::try_from(SPINNER.len()).unwrap_or(1);
    let at = usize::try_from(model.beat % turns).unwrap_or(0);
    SPINNER.get(at).copied().unwrap_or("·")
}

/// Whether the session waits for the user.
pub fn waits(model: &Model) -> bool {
    model.session.as_ref().is_some_and(|session| {
        let asked = session.all_open().next().is_some();
        let needs_person = session.waiting_for.is_some_and(WaitingFor::needs_person);
        asked || session.state == State::Waiting && needs_person
    })
}

/// Mark, word and colour of the state.
fn state(model: &Model) -> (&'static str, Msg, TextRole) {
    match &model.link {
        Link::Lost(_) | Link::Stopped(_) | Link::Away(_) => {
            return (spinner(model), Msg::Reconnecting, TextRole::Warning);
        }
        Link::Ended(_) => return ("■", Msg::Ended, TextRole::Error),
        Link::Replaying => return (spinner(model), Msg::Loading, TextRole::Dim),
        Link::None | Link::Live => {}
    }
    let Some(session) = &model.session else {
        return match model.creating {
            true => (spinner(model), Msg::Starting, TextRole::Accent),
            false => ("·", Msg::Idle, TextRole::Dim),
        };
    };
    match (session.state, session.waiting_for) {
        (State::Idle | State::Running | State::Exited, _) if session.compacting => {
            (spinner(model), Msg::Compacting, TextRole::Accent)
        }
        (State::Waiting, Some(WaitingFor::Retry | WaitingFor::Restart)) => {
            (spinner(model), Msg::WaitsForRetry, TextRole::Warning)
        }
        (State::Waiting, Some(WaitingFor::Credentials)) => {
            ("?", Msg::WaitsForKey, TextRole::Question)
        }
        (State::Waiting, Some(WaitingFor::Interaction(_)) | None) => {
            ("?", Msg::WaitsForYou, TextRole::Question)
        }
        (State::Paused, _) => ("‖", Msg::Paused, TextRole::Warning),
        (State::Exited, _) => ("■", Msg::Ended, TextRole::Dim),
        (State::Idle, _) if session.has_paused_goal() => ("‖", Msg::Paused, TextRole::Warning),
        (State::Idle, _) => ("·", Msg::Idle, TextRole::Dim),
        (State::Running, _) if session.planning => {
            (spinner(model), Msg::Planning, TextRole::Accent)
        }
        (State::Running, _) => (spinner(model), Msg::Working, TextRole::Accent),
    }
}

/// The state for the status line: it stays longest there, its mark longer than its word.
pub fn group(model: &Model, width: usize) -> Group {
    let (mark, word, ink) = state(model);
    let words = format!("{mark} {}", model.look.language.say(word));
    match wrap::width(&words) <= width {
        true => Group::new(0, ink, words),
        false => Group::new(0, ink, mark),
    }
}
