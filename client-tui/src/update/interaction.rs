//! Keys of interactions.

mod command;
mod dialogs;
mod fields;
mod unread;

use std::time::{Duration, Instant};

use client::form::{Form, ShownInteraction};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use proto::params::interaction::{ApprovalDecision, InteractionAnswer};

use crate::effect::{Call, Effect};
use crate::keymap::{self, Action, Context};
use crate::messages::app;
use crate::model::interaction::{InputFocus, InteractionDialog};
use crate::model::line::Input;
use crate::model::seen::VisibleRows;
use crate::model::{Dialog, Model, TYPED_AHEAD};
use crate::view;
use fields::{accept, choose, decline, turn_to};
use unread::{forget_unread, read_all, refuse, renew_unread, unread};

pub(super) use dialogs::{arrive, come_up_again, keep, leave, set_aside};
pub use dialogs::{offer, refused, reopen};
pub(super) use unread::was_read;

/// How soon the next letter of a word follows when a person types. A letter that allows more than one call counts after that.
const NEXT_LETTER: Duration = Duration::from_millis(250);

/// When a key that is held back counts.
#[must_use]
pub fn wakes(model: &Model) -> Option<Instant> {
    match &model.dialog {
        Some(Dialog::Interaction(dialog)) => dialog.held.map(|(_, at)| at + NEXT_LETTER),
        _ => None,
    }
}

/// On a tick: a key that was held back counts if no other one has followed.
pub fn tick(model: &mut Model) -> Vec<Effect> {
    if wakes(model).is_none_or(|at| model.now < at) {
        return Vec::new();
    }
    let Some(Dialog::Interaction(dialog)) = &mut model.dialog else {
        return Vec::new();
    };
    match dialog.held.take() {
        Some((action, _)) => decide(model, action),
        None => Vec::new(),
    }
}

/// A key of continuous typing answers nothing, nor do those that follow soon.
fn typed(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    if let Some(Dialog::Interaction(dialog)) = &mut model.dialog {
        dialog.since = model.now;
    }
    swallow(key)
}

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let (now, may) = (model.now, model.may_answer());
    let held = match &mut model.dialog {
        Some(Dialog::Interaction(dialog)) => dialog.held.take(),
        _ => return None,
    };
    if held.is_some() {
        // The letter before was one of a word.
        return typed(model, key);
    }
    let Some(Dialog::Interaction(dialog)) = &model.dialog else {
        return None;
    };
    let context = dialog.context();
    let action = keymap::find(context, key);
    let reach = action
        .filter(|action| scrolls(*action))
        .map(|_| view::interaction::reach(dialog, model));
    let visible = match context {
        Context::Approval => Some(view::interaction::visible(dialog, model)),
        _ => None,
    };
    let Some(Dialog::Interaction(dialog)) = &mut model.dialog else {
        return None;
    };
    if let Some(visible) = visible.filter(|_| matches!(dialog.part, InputFocus::Answer)) {
        dialog.seen.note(&visible);
    }
    // Enter decides nothing, as no choice is the default.
    let known =
        action.is_some_and(|action| action != Action::Accept || context == Context::Question);
    let answers = matches!(dialog.part, InputFocus::Answer);
    if answers && !reads(action) && stray(&mut dialog.since, now, known, key) {
        return swallow(key);
    }
    if answers {
        dialog.nothing = false;
    }
    match (&mut dialog.part, action, reach) {
        (InputFocus::Words(_), ..) => return write(model, key, action),
        (InputFocus::Command(_), ..) => return command::key(model, key, action),
        (_, None, _) => return swallow(key),
        (InputFocus::Scopes(_), Some(action), _) => list_scopes(dialog, key, action),
        (InputFocus::Answer, Some(Action::SetAside), _) => return Some(set_aside(model)),
        (InputFocus::Answer, Some(Action::ReadAll), _) => return Some(read_all(model)),
        (InputFocus::Answer, Some(action), Some(reach)) => {
            if matches!(key.code, KeyCode::Char(_)) {
                // It may be a letter that the user types into a field.
                dialog.since = now;
            }
            dialog.scroll = Some(scrolled(action, reach));
            renew_unread(model);
        }
        (InputFocus::Answer, Some(_), None) if !may => {}
        (InputFocus::Answer, Some(action), None) => {
            return Some(answer(model, key, action, visible.as_ref()));
        }
    }
    Some(Vec::new())
}

/// A key that answers, or chooses an answer. `visible`: the part of an approval that is on the screen.
fn answer(
    model: &mut Model,
    key: &KeyEvent,
    action: Action,
    visible: Option<&VisibleRows>,
) -> Vec<Effect> {
    let now = model.now;
    let Some(Dialog::Interaction(dialog)) = &mut model.dialog else {
        return Vec::new();
    };
    match (dialog.context(), action) {
        (Context::Approval, _) if is_new(key) => {
            return match unread(dialog, action, visible) {
                Some(why) => refuse(model, why),
                None if is_lasting(action) => {
                    dialog.held = Some((action, now));
                    Vec::new()
                }
                None => decide(model, action),
            };
        }
        (Context::Approval, _) => dialog.since = now,
        (_, Action::Accept) if is_new(key) => return accept(model),
        (_, Action::Deny) if is_new(key) => return decline(model),
        (_, Action::Accept | Action::Deny) => {}
        _ => choose(dialog, action, key),
    }
    Vec::new()
}

/// Whether an answer allows more than what is asked about.
fn is_lasting(action: Action) -> bool {
    use Action::{AllowAlways, AllowSession, ApproveKeepAsking};
    matches!(action, AllowAlways | AllowSession | ApproveKeepAsking)
}

/// Takes a paste. It answers nothing: if a text field is open, it goes there.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(Dialog::Interaction(dialog)) = &mut model.dialog {
        match &mut dialog.part {
            InputFocus::Words(words) => words.insert(text),
            InputFocus::Command(edited) => edited.insert(text),
            InputFocus::Answer | InputFocus::Scopes(_) => {}
        }
    }
    Vec::new()
}

pub(super) fn scrolls(action: Action) -> bool {
    use Action::{PageDown, PageUp, ScrollDown, ScrollUp};
    matches!(action, ScrollUp | ScrollDown | PageUp | PageDown)
}

/// Whether an action only scrolls or postpones the question: such actions are always allowed.
fn reads(action: Option<Action>) -> bool {
    action.is_some_and(|action| {
        scrolls(action) || matches!(action, Action::SetAside | Action::ReadAll)
    })
}

/// The scroll position after an action. `reach`: the current position, the last one, and the number of rows shown.
pub(super) fn scrolled(action: Action, (at, last, page): (usize, usize, usize)) -> usize {
    let page = page.saturating_sub(1).max(1);
    match action {
        Action::ScrollUp => at.saturating_sub(1),
        Action::ScrollDown => at.saturating_add(1).min(last),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page).min(last),
        _ => at,
    }
}

/// A key in the list of scopes.
fn list_scopes(dialog: &mut InteractionDialog, key: &KeyEvent, action: Action) {
    let form = Form::of(&dialog.interaction);
    let scopes = form.decision().map_or(0, |form| form.scopes.len());
    let InputFocus::Scopes(marked) = &mut dialog.part else {
        return;
    };
    match action {
        Action::ScrollUp => *marked = marked.saturating_sub(1),
        Action::ScrollDown => {
            *marked = marked.saturating_add(1).min(scopes.saturating_sub(1));
        }
        Action::Accept if is_new(key) => {
            dialog.scope = *marked;
            dialog.part = InputFocus::Answer;
        }
        Action::SetAside => dialog.part = InputFocus::Answer,
        _ => {}
    }
}

/// A key of a decision.
fn decide(model: &mut Model, action: Action) -> Vec<Effect> {
    let now = model.now;
    forget_unread(model);
    let Some(Dialog::Interaction(dialog)) = &mut model.dialog else {
        return Vec::new();
    };
    let form = Form::of(&dialog.interaction);
    let Some(shape) = form.decision() else {
        return Vec::new();
    };
    let decision = match action {
        Action::AllowOnce => ApprovalDecision::AllowOnce,
        Action::AllowSession => ApprovalDecision::AllowSession,
        Action::AllowAlways => ApprovalDecision::AllowAlways,
        Action::Deny => {
            dialog.part = InputFocus::Words(Input::default());
            return Vec::new();
        }
        Action::DenyRest if shape.others > 0 => ApprovalDecision::DenyRest,
        Action::ApproveKeepAsking if shape.yes_keep_asking.is_some() => {
            let answer = form.approve_keep_asking();
            return send(model, answer);
        }
        Action::EditCommand => {
            command::begin(dialog, now);
            return Vec::new();
        }
        Action::EditScope if !shape.scopes.is_empty() => {
            dialog.part = InputFocus::Scopes(dialog.scope);
            return Vec::new();
        }
        _ => return Vec::new(),
    };
    let scope = shape.scope(decision, dialog.scope).cloned();
    let needs_scope = matches!(
        decision,
        ApprovalDecision::AllowSession | ApprovalDecision::AllowAlways
    );
    if needs_scope && scope.is_none() {
        return Vec::new();
    }
    let answer = form.decide(decision, scope, None);
    send(model, answer)
}

/// A key in the text field.
fn write(model: &mut Model, key: &KeyEvent, action: Option<Action>) -> Option<Vec<Effect>> {
    let Some(Dialog::Interaction(dialog)) = &mut model.dialog else {
        return None;
    };
    let InputFocus::Words(input) = &mut dialog.part else {
        return None;
    };
    match action {
        Some(Action::SetAside) => {
            let begun = input.text().to_owned();
            dialog.part = InputFocus::Answer;
            dialog.change_draft(|_, draft| draft.begun = begun);
        }
        Some(Action::Accept) if is_new(key) => {
            let words = input.words();
            let form = Form::of(&dialog.interaction);
            if form.decision().is_some() {
                let answer = form.decide(ApprovalDecision::Deny, None, words);
                return Some(send(model, answer));
            }
            dialog.part = InputFocus::Answer;
            let written = words.is_some();
            dialog.change_draft(|_, draft| draft.other = words);
            if written {
                return Some(accept(model));
            }
        }
        Some(Action::Accept) => {}
        _ => {
            if !input.key(key) {
                return swallow(key);
            }
        }
    }
    Some(Vec::new())
}

/// Sends the answer to the interaction on the screen.
fn send(model: &mut Model, answer: InteractionAnswer) -> Vec<Effect> {
    if model.is_apart(app::Msg::StaysOpen) {
        return Vec::new();
    }
    let Some(asked) = shown(model) else {
        return Vec::new();
    };
    let answered = model.dialog.take();
    let params = asked.params(answer);
    if let Some(session) = &mut model.session {
        // What was filled in is there again if the answer is refused.
        if let Some(Dialog::Interaction(mut dialog)) = answered
            && dialog.context() == Context::Question
        {
            turn_to(&mut dialog, 0);
            session.asking.kept.push(dialog);
        }
        session.asking.sent.push(asked);
    }
    vec![Effect::Call(Call::Answer(params))]
}

/// The interaction that is on the screen.
fn shown(model: &Model) -> Option<ShownInteraction> {
    match &model.dialog {
        Some(Dialog::Interaction(dialog)) => Some((&dialog.interaction).into()),
        _ => None,
    }
}

/// Whether a key at this moment was meant for something else: the question has just appeared, the user is still
/// typing, or the key has no meaning here (`known`). After a stray key the same quiet time starts again: continuous
/// typing never answers anything.
pub(super) fn stray(since: &mut Instant, now: Instant, known: bool, key: &KeyEvent) -> bool {
    let early = now.saturating_duration_since(*since) < TYPED_AHEAD;
    if (early || !known) && keymap::find(Context::Everywhere, key).is_none() {
        *since = now;
    }
    early
}

/// A key that means nothing in a dialog does nothing, unless it does something everywhere.
pub(super) fn swallow(key: &KeyEvent) -> Option<Vec<Effect>> {
    match keymap::find(Context::Everywhere, key) {
        Some(_) => None,
        None => Some(Vec::new()),
    }
}

/// Whether this is a new key press, as far as the terminal reports it: most report a held key as repeated presses.
/// For those, `stray` keeps a burst from answering.
pub(super) fn is_new(key: &KeyEvent) -> bool {
    key.kind != KeyEventKind::Repeat
}

#[cfg(test)]
mod tests;
