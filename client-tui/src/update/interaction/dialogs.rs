//! Which interaction comes up when: dialogs are opened, postponed, kept while their session is left, and closed.

use client::form::{Asked, ShownInteraction};
use client::transcript::words as shared;
use proto::params::interaction::{AnswerParams, Interaction};
use proto::{ErrorName, Pid};

use super::shown;
use crate::effect::{Effect, ErrorReport};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::interaction::{Asking, InteractionDialog, Rows};
use crate::model::session::Session;
use crate::model::{Dialog, Link, Model, ToastAbout, Tone};

/// Sessions that were left whose begun answers are kept.
pub(super) const ASKING_MAX: usize = 16;

/// Postpones the question on the screen: it stays open, and does not come up by itself.
pub(in crate::update) fn set_aside(model: &mut Model) -> Vec<Effect> {
    if let Some(asked) = shown(model) {
        keep(model);
        if let Some(session) = &mut model.session {
            session.asking.postponed.push(asked.clone());
        }
        let key = keymap::shown(Context::Everywhere, Action::Attention);
        let words = model.look.language.fill(Msg::SetAside, &[&key]);
        model.toast(Tone::Info, words);
        if let Some(toast) = &mut model.toast {
            toast.about = Some(ToastAbout::SetAside(asked));
        }
    }
    Vec::new()
}

/// Takes the question off the screen and keeps its choices and text until the question is shown again.
pub(in crate::update) fn keep(model: &mut Model) {
    let open = model
        .dialog
        .take_if(|open| matches!(open, Dialog::Interaction(_)));
    if let (Some(Dialog::Interaction(dialog)), Some(session)) = (open, &mut model.session) {
        session.asking.kept.push(dialog);
    }
}

/// The session is left: keeps the choices and text of its questions, and which ones are postponed.
pub(in crate::update) fn leave(model: &mut Model) {
    keep(model);
    let Some(session) = &mut model.session else {
        return;
    };
    let asking = std::mem::take(&mut session.asking);
    let (postponed, mut kept) = (asking.postponed, asking.kept);
    if postponed.is_empty() && kept.is_empty() {
        return;
    }
    for dialog in &mut kept {
        // Rows of a long diff are made again.
        dialog.body = Rows::default();
    }
    if model.asking.len() >= ASKING_MAX {
        model.asking.remove(0);
    }
    let asking = Asking {
        postponed,
        kept,
        ..Asking::default()
    };
    model.asking.push((session.id, session.pid, asking));
}

/// The session is here: what waited for it is there again.
pub(in crate::update) fn arrive(model: &mut Model) {
    let Some(session) = &mut model.session else {
        return;
    };
    let mut left = model.asking.iter();
    if let Some(place) = left.position(|(id, ..)| *id == session.id) {
        session.asking = model.asking.remove(place).2;
    }
}

/// Postponed questions of this session come up by themselves again: the user goes there to answer them.
pub(in crate::update) fn come_up_again(model: &mut Model, session: Pid) {
    let left = model.asking.iter_mut();
    for (_, _, asking) in left.filter(|(_, pid, _)| *pid == session) {
        asking.postponed.clear();
    }
}

/// Opens the oldest interaction that is not postponed, if no dialog is open; closes one that was answered elsewhere.
/// Called after every event.
pub fn offer(model: &mut Model) -> Vec<Effect> {
    close(model);
    // A replayed question may have been answered since: that is known at the end of the replay.
    if model.dialog.is_none() && model.link != Link::Replaying {
        open(model, |session, asked| {
            session.asking.may_open_by_itself(asked)
        });
    }
    Vec::new()
}

/// Opens the oldest postponed question again; false: there is none in this session.
pub fn reopen(model: &mut Model) -> bool {
    let found = open(model, |session, asked| {
        session.asking.postponed.contains(asked)
    });
    let asked = shown(model);
    if let (true, Some(asked), Some(session)) = (found, asked, &mut model.session) {
        session
            .asking
            .postponed
            .retain(|postponed| *postponed != asked);
    }
    found
}

/// An answer failed: it is asked again, and why is reported.
pub fn refused(model: &mut Model, params: &AnswerParams, trouble: &ErrorReport) {
    let sent = ShownInteraction {
        id: params.interaction_id.clone(),
        shown_hash: params.shown_hash.clone(),
    };
    // If another client has answered, do not ask again: the session will report the answer.
    if trouble.name != Some(ErrorName::AlreadyResolved)
        && let Some(session) = &mut model.session
    {
        session.asking.sent.retain(|known| *known != sent);
    }
    model.trouble(trouble);
}

fn open(model: &mut Model, wanted: impl Fn(&Session, &ShownInteraction) -> bool) -> bool {
    let Some(session) = &mut model.session else {
        return false;
    };
    let mut waiting = session.asks().into_iter();
    let Some(asked) = waiting.find(|asked| wanted(session, asked)) else {
        return false;
    };
    let is_asked = |open: &Interaction| ShownInteraction::from(open) == asked;
    let mut kept = session.asking.kept.iter();
    let place = kept.position(|kept| is_asked(&kept.interaction));
    let dialog = match place.map(|place| session.asking.kept.swap_remove(place)) {
        Some(kept) => Some(kept.again(model.now)),
        None => {
            let open = session.all_open().find(|open| is_asked(open));
            open.map(|open| InteractionDialog::new(open.clone(), model.now))
        }
    };
    let found = dialog.is_some();
    if found {
        model.dialog = dialog.map(Dialog::Interaction);
        let stale = [
            ToastAbout::SetAside(asked),
            ToastAbout::Answered,
            ToastAbout::Unread,
        ];
        // What was said before would read as if it were about this question. A failure must be seen.
        model.toast.take_if(|toast| match &toast.about {
            Some(about) => stale.contains(about),
            None => toast.tone != Tone::Error,
        });
    }
    found
}

/// Closes dialogs of questions that are no longer open, and drops the state of answered ones.
fn close(model: &mut Model) {
    let shown = shown(model);
    let Some(session) = &mut model.session else {
        if shown.is_some() {
            model.dialog = None;
        }
        return;
    };
    let open: Vec<_> = session.all_open().map(ShownInteraction::from).collect();
    // The open questions are known at the end of the replay.
    if model.link != Link::Replaying {
        let asking = &mut session.asking;
        asking.postponed.retain(|asked| open.contains(asked));
        asking.sent.retain(|asked| open.contains(asked));
        asking
            .kept
            .retain(|kept| open.contains(&(&kept.interaction).into()));
    }
    model.toast.take_if(|toast| match &toast.about {
        Some(ToastAbout::SetAside(asked)) => !open.contains(asked),
        // Another question has its own.
        Some(ToastAbout::Unread) => shown.as_ref().is_none_or(|shown| !open.contains(shown)),
        Some(ToastAbout::Answered) | None => false,
    });
    let answered = session.asking.answered.take();
    if shown.is_none_or(|shown| open.contains(&shown)) {
        return;
    }
    let here = session.pid;
    let dialog = model.dialog.take();
    if let Some(Dialog::Interaction(dialog)) = &dialog
        && dialog.interaction.session != here
    {
        let words = shared::agent_answered(model.look.language, dialog.interaction.session);
        model.toast(Tone::Info, words);
        return;
    }
    if let (Some(Dialog::Interaction(dialog)), Some(answered)) = (dialog, answered)
        && dialog.interaction.interaction_id == answered.interaction_id
    {
        let asked = Asked::from(&dialog.interaction.request);
        let words = asked.answered_by(model.look.language, &answered);
        model.toast(Tone::Info, words);
        if let Some(toast) = &mut model.toast {
            toast.about = Some(ToastAbout::Answered);
        }
    }
}
