//! Events of the followed session.

use client::DecodedEvent;
use client::form::Form;
use client::prompt::Prompt;
use client::transcript::words;
use proto::Body;
use proto::live::{Away, Live, Snapshot};
use proto::outcome::OutcomeKind;
use proto::params::session::When;
use proto::state::WaitingFor;

use super::{interaction, submit};
use crate::effect::{Effect, ErrorReport};
use crate::event::SessionUpdate;
use crate::messages::Language;
use crate::messages::app::Msg;
use crate::model::list::ListOf;
use crate::model::pager::PagerContent;
use crate::model::session::Session;
use crate::model::transcript::EntryKind;
use crate::model::{Dialog, Link, Model, Tone};

/// Handles an event. Events of an earlier subscription are dropped.
pub fn session_update(model: &mut Model, follow: u64, update: SessionUpdate) -> Vec<Effect> {
    if follow != model.follow {
        return Vec::new();
    }
    let language = model.look.language;
    match update {
        SessionUpdate::Attached { session, pid } => {
            if model
                .session
                .as_ref()
                .is_none_or(|known| known.id != session)
            {
                model.session = Some(Session::new(session, pid));
                interaction::arrive(model);
                super::overview::share_overview_with_session(model);
            }
            model.called = Some((session, pid.to_string()));
            model.link = Link::Replaying;
            model.composer.restore_draft(Some(session));
            if follow > 1 {
                let words = language.fill(Msg::SessionBegins, &[&pid.to_string()]);
                model.transcript.divide(words);
            }
        }
        SessionUpdate::Record(event) => return record(model, &event),
        SessionUpdate::Lost { stopped } => {
            model.link = match stopped {
                true => Link::Stopped(model.now),
                false => Link::Lost(model.now),
            }
        }
        SessionUpdate::Reconnected => {
            model.link = Link::Replaying;
            model.transcript.divide(language.say(Msg::Reconnected));
            if let Some(session) = &mut model.session {
                session.unsure = true;
            }
        }
        SessionUpdate::Unwritable(failure) => {
            let why = client::text::line(&language.translate(&failure.message));
            let words = language.fill(Msg::Unwritable, &[&why]);
            model.transcript.say(Tone::Warning, words);
        }
        SessionUpdate::Away(trouble) => {
            model.transcript.say(Tone::Warning, trouble.what);
            if !trouble.hint.is_empty() {
                model.transcript.say(Tone::Warning, trouble.hint);
            }
            model.link = Link::Away(match model.link {
                Link::Lost(since) | Link::Stopped(since) => since,
                _ => model.now,
            });
        }
        SessionUpdate::Ended(trouble) => {
            let what = model.calls(&trouble.what);
            let trouble = ErrorReport { what, ..trouble };
            let what = language.translate(&trouble.what);
            let words = format!("{}: {what}", language.say(Msg::Ended));
            model.transcript.say(Tone::Error, words);
            if !trouble.hint.is_empty() {
                model.transcript.say(Tone::Error, trouble.hint.clone());
            }
            model.link = Link::Ended(trouble);
        }
    }
    Vec::new()
}

/// Leaves the followed session: the next prompt creates one.
pub fn fresh(model: &mut Model) -> Vec<Effect> {
    let_go(model);
    model.link = Link::None;
    model.composer.restore_draft(None);
    vec![Effect::Unfollow]
}

/// Follows another session from now on: pid, id or name. Whatever is open closes.
pub fn go_to(model: &mut Model, session: &str) -> Vec<Effect> {
    let_go(model);
    model.link = Link::Replaying;
    vec![Effect::Follow {
        follow: model.follow,
        session: session.to_owned(),
    }]
}

/// The same for a switch that the user did not choose just now: a dialog opened since stays, unless it belongs to the
/// session that is left.
pub fn go_on_to(model: &mut Model, session: &str) -> Vec<Effect> {
    let stays = |open: &Dialog| match open {
        Dialog::List(list) => !matches!(list.what, ListOf::Turns | ListOf::Queue),
        Dialog::Pager(pager) => !matches!(pager.what, PagerContent::Transcript),
        Dialog::Interaction(_) | Dialog::Confirm(_) => false,
    };
    let open = model.dialog.take_if(|open| stays(open));
    let effects = go_to(model, session);
    model.dialog = open;
    effects
}

/// Marks everything shown of the session as seen, and stores its draft until the session is shown again.
fn let_go(model: &mut Model) {
    model.follow += 1;
    interaction::leave(model);
    if let Some(session) = model.session.take() {
        model.composer.store_draft(Some(session.id));
        model.seen.insert(session.id, session.seq);
    } else if model.link == Link::None {
        model.composer.store_draft(None);
    }
    model.transcript.reset();
    model.dialog = None;
    model.scroll = 0;
    model.pressed = None;
    model.called = None;
    model.creating = false;
    model.first_command = None;
    model.first_goal = None;
    model.news.clear();
}

fn record(model: &mut Model, event: &DecodedEvent) -> Vec<Effect> {
    let Some(session) = &mut model.session else {
        return Vec::new();
    };
    let known = session.seq;
    let first = known == proto::Seq::default();
    session.fold(event);
    model.seen.insert(session.id, session.seq);
    if let Some(Live::Snapshot(snapshot)) = event.live() {
        if !first {
            // The log is another one than was followed.
            model.transcript.reset();
        }
        model.news = news(model.look.language, snapshot);
    }
    model.transcript.fold(event);
    if let Some(body) = event.body() {
        // Events missed while the connection was lost may be answered already.
        let live = model.link == Link::Live;
        let new = event.seq > Some(known) && !first && live;
        return durable(model, body, new);
    }
    if let Some(Live::Sync(_)) = event.live() {
        for (tone, words) in std::mem::take(&mut model.news) {
            model.transcript.say(tone, words);
        }
        model.link = Link::Live;
        let language = model.look.language;
        let apart = [Msg::Apart, Msg::StaysOpen].map(|words| language.say(words));
        // The notice about the lost connection is no longer true.
        model
            .toast
            .take_if(|toast| apart.contains(&toast.words.as_str()));
        return next_prompt(model);
    }
    keys(model)
}

/// What follows the replay; the prompt that was given on the command line for a session that is there is sent now. What
/// happened while nobody was attached is known by then.
fn next_prompt(model: &mut Model) -> Vec<Effect> {
    let mut effects = keys(model);
    if let Some(text) = model.place.template.prompt.take() {
        model.composer.set(&text);
        let prompt = model.composer.prompt();
        effects.extend(submit::prompt(model, prompt, When::Queue));
    }
    effects
}

/// Notices to show below the replay, where the user looks first: why the session is read-only, and what happened
/// while nobody was attached.
fn news(language: Language, snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let mut news = Vec::new();
    if let Some(why) = &snapshot.session.read_only {
        let words = language.fill(
            Msg::ReadOnly,
            &[&client::text::line(&language.translate(why))],
        );
        news.push((Tone::Warning, words));
    }
    let happened = |away: &&Away| away.turns > 0 || away.commands > 0 || !away.files.is_empty();
    if let Some(away) = snapshot.away.as_ref().filter(happened) {
        let numbers = [
            language.counted(away.turns, Msg::OneTurnEnded, Msg::TurnsEnded),
            language.counted(away.commands, Msg::OneCommandRan, Msg::CommandsRan),
            language.counted(
                away.files.len() as u64,
                Msg::OneFileChanged,
                Msg::FilesChanged,
            ),
        ];
        let words = language.fill(Msg::Away, &numbers.each_ref().map(String::as_str));
        news.push((Tone::Info, words));
    }
    news
}

/// A record; `new`: it happened while we were there.
fn durable(model: &mut Model, body: &Body, new: bool) -> Vec<Effect> {
    let mut effects = keys(model);
    match body {
        Body::User(message) if message.voice.is_user() => {
            let untyped = match model.transcript.entries.last().map(|entry| &entry.kind) {
                Some(EntryKind::User { untyped, .. }) => untyped.clone(),
                _ => Vec::new(),
            };
            let text = message.text.clone();
            let language = model.look.language;
            model.composer.remember(&Prompt { text, untyped }, language);
        }
        Body::InteractionOpened(interaction) if new => {
            let form = Form::of(interaction);
            effects.extend(call(model, Msg::NeedsYou, form.headline()));
        }
        Body::SessionState(state) if new && state.waiting_for == Some(WaitingFor::Credentials) => {
            let cause = model.look.language.translate(&state.cause).into_owned();
            effects.extend(call(model, Msg::NeedsYou, &cause));
        }
        Body::TurnEnded(ended) if new => {
            let session = model.session.as_ref();
            if session.is_some_and(Session::has_paused_goal) {
                effects.extend(call(model, Msg::GoalAtLimit, ""));
            } else if ended.outcome != OutcomeKind::Interrupted
                // The goal goes on, or its end is reported.
                && session.is_none_or(|session| session.goal.is_none())
            {
                let said = ended.text.lines().next().unwrap_or_default();
                effects.extend(call(model, Msg::TurnDone, said));
            }
        }
        Body::GoalEnded(ended) if new => {
            let words = words::goal_ended(model.look.language, ended);
            effects.extend(call(model, Msg::GoalDone, &words));
        }
        _ => {}
    }
    effects
}

/// Rings the bell and sends a notification if the window is unfocused.
pub(super) fn call(model: &Model, message: Msg, words: &str) -> Vec<Effect> {
    if model.focused || !model.look.bell {
        return Vec::new();
    }
    let words: String = client::text::line(words).chars().take(80).collect();
    let words = model.look.language.fill(message, &[&words]);
    vec![Effect::Bell, Effect::Notify(words)]
}

/// Offers this process's keys to a session that lost its own, once.
fn keys(model: &mut Model) -> Vec<Effect> {
    let drive = model.role() == proto::hello::Role::Drive;
    let Some(session) = &mut model.session else {
        return Vec::new();
    };
    let waits = session.waiting_for == Some(WaitingFor::Credentials);
    if waits && drive && !std::mem::replace(&mut session.offered, true) {
        return vec![Effect::OfferKeys];
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
