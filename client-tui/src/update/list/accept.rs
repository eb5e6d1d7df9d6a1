//! Actions on a row: going to a session, pausing it, ending it.

use client::agent_questions;
use proto::params::session::{SessionSummary, Signal, SignalParams};
use proto::state::State;
use proto::{Pid, RequestId, SessionId};

use super::{current, dialog, models, queue, skills, turns};
use crate::effect::{Call, Effect};
use crate::messages::dialog::Msg as Title;
use crate::messages::lists::Msg;
use crate::model::confirm::{Confirm, ConfirmedAction};
use crate::model::list::{Key, ListDialog, words};
use crate::model::{Dialog, Link, Model, Tone};
use crate::update::daemon::{fresh, go_to};
use crate::update::interaction;

/// Enter.
pub fn take(model: &mut Model) -> Vec<Effect> {
    match current(model) {
        None => Vec::new(),
        Some(Key::New) => fresh(model),
        Some(Key::Session(id)) => go(model, &id.to_string()),
        Some(Key::Child { session, .. }) => go(model, &session.to_string()),
        Some(Key::Interaction(_, session)) => answer_in(model, session),
        Some(Key::Undo) => turns::choose(model, None),
        Some(Key::Turn(turn)) => turns::choose(model, Some(turn)),
        Some(Key::Prompt(_)) => queue::edit(model),
        Some(Key::Choice(choice)) => turns::take(model, choice),
        Some(Key::Model(name)) => models::take(model, &name),
        Some(Key::Skill(file)) => skills::take(model, &file),
        Some(Key::Fault(index)) => skills::explain(model, index),
        Some(Key::Hit(session, _)) => go(model, &session.to_string()),
    }
}

/// Goes to a session that was asked for by its pid, id or name.
pub fn visit(model: &mut Model, found: &SessionSummary) -> Vec<Effect> {
    let effects = go(model, &found.session.to_string());
    if model.called.is_none() {
        model.called = Some((found.session, found.pid.to_string()));
    }
    effects
}

/// Goes to a session; if it is the current one, only closes the list.
fn go(model: &mut Model, session: &str) -> Vec<Effect> {
    if is_here(model, session) {
        model.dialog = None;
        return Vec::new();
    }
    let id = session.parse::<SessionId>().ok();
    let known = id.and_then(|id| dialog(model)?.session(id));
    let called = known.map(|known| (known.session, known.pid.to_string()));
    let effects = go_to(model, session);
    model.called = called;
    effects
}

/// Goes to the session of an open question, unless a sub-agent of this one asks it: that is answered here. A postponed
/// question opens again.
fn answer_in(model: &mut Model, pid: Pid) -> Vec<Effect> {
    let session = pid.to_string();
    let open = model.session.as_ref();
    let is_asked_here =
        open.is_some_and(|open| open.borrowed.iter().any(|asked| asked.session == pid));
    if !is_here(model, &session) && !is_asked_here {
        let effects = go_to(model, &session);
        interaction::come_up_again(model, pid);
        return effects;
    }
    model.dialog = None;
    interaction::reopen(model);
    Vec::new()
}

/// Whether it is the followed session. A session whose subscription has ended must be followed again.
fn is_here(model: &Model, session: &str) -> bool {
    let names = |here: &crate::model::session::Session| {
        here.id.to_string() == session || here.pid.to_string() == session
    };
    let ended = matches!(model.link, Link::Ended(_));
    !ended && model.session.as_ref().is_some_and(names)
}

/// Pauses a session, or lets it go on.
pub fn pause(model: &mut Model) -> Vec<Effect> {
    match current(model) {
        Some(Key::Session(id)) => {
            let paused = dialog(model)
                .and_then(|dialog| dialog.session(id))
                .is_some_and(|session| session.state == State::Paused);
            let signal = if paused {
                Signal::Resume
            } else {
                Signal::Pause
            };
            vec![signals(id, signal)]
        }
        Some(Key::Child { session, .. }) => report(model, Msg::OnlySessions, session),
        _ => Vec::new(),
    }
}

/// Ends a session, after a yes, or a command in the background.
pub fn kill(model: &mut Model) -> Vec<Effect> {
    match current(model) {
        Some(Key::Session(id)) => {
            confirm(model, id);
            Vec::new()
        }
        Some(Key::Child { session, os_pid }) => {
            let pid = dialog(model)
                .and_then(|dialog| dialog.child(os_pid))
                .and_then(|child| child.pid);
            match pid {
                Some(pid) => {
                    report(model, Msg::EndsChild, session);
                    vec![Effect::Call(Call::KillProcess(pid))]
                }
                None => report(model, Msg::NotAlone, session),
            }
        }
        _ => Vec::new(),
    }
}

/// Goes to the session so that its question can be answered.
pub fn approve(model: &mut Model) -> Vec<Effect> {
    let Some(Key::Session(id)) = current(model) else {
        return Vec::new();
    };
    let asks = dialog(model)
        .and_then(|dialog| dialog.session(id))
        .map(|session| (session.pid, words::questions(session)));
    let sessions = dialog(model).map(ListDialog::sessions).unwrap_or_default();
    let below = asks.and_then(|(pid, _)| agent_questions::first_asking(sessions, pid));
    match asks {
        None => Vec::new(),
        Some((_, 0)) if below.is_some() => {
            let agent = below.unwrap_or_default();
            answer_in(model, agent)
        }
        Some((pid, 0)) => report(model, Msg::NothingAsked, pid),
        Some((pid, _)) => answer_in(model, pid),
    }
}

/// A line about what a key did, or why it did nothing.
fn report(model: &mut Model, message: Msg, session: Pid) -> Vec<Effect> {
    let words = model.look.language.fill(message, &[&session.to_string()]);
    model.toast(Tone::Info, words);
    Vec::new()
}

fn confirm(model: &mut Model, id: SessionId) {
    let language = model.look.language;
    let Some(session) = dialog(model).and_then(|dialog| dialog.session(id)) else {
        return;
    };
    let mut name = session.pid.to_string();
    if let Some(known) = &session.name {
        name = format!("{name} · {}", client::text::line(known));
    }
    let back = match model.dialog.take() {
        Some(Dialog::List(list)) => Some(Box::new(list)),
        _ => None,
    };
    let words = vec![
        language.fill(Msg::EndSession, &[&name]),
        language.say(Msg::EndSessionWhat).to_owned(),
    ];
    let then = ConfirmedAction::Do(vec![signals(id, Signal::Term)]);
    model.dialog = Some(Dialog::Confirm(Confirm {
        back,
        ..Confirm::new(Title::TitleConfirm, words, then, model.now)
    }));
}

fn signals(session: SessionId, signal: Signal) -> Effect {
    Effect::Call(Call::Signal(SignalParams {
        session: session.to_string(),
        signal,
        tree: false,
        request_id: Some(RequestId::new()),
    }))
}
