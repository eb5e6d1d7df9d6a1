//! Keys of interactions, and which one comes up when.

mod command;

use std::time::Instant;

use client::form::{Asked, Fields, Form, ShownInteraction};
use client::transcript::words as shared;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use proto::params::interaction::{AnswerParams, ApprovalDecision, Interaction, InteractionAnswer};
use proto::{ErrorName, Pid};

use crate::effect::{Call, Effect, Trouble};
use crate::keymap::{self, Action, Context};
use crate::messages::app;
use crate::messages::dialog::Msg;
use crate::model::interaction::{Asking, InputFocus, InteractionDialog, Rows};
use crate::model::line::Input;
use crate::model::pager::PagerContent;
use crate::model::seen::Visible;
use crate::model::session::Session;
use crate::model::{Dialog, Link, Model, TYPED_AHEAD, ToastAbout, Tone};
use crate::view;

/// Sessions that were left whose begun answers are kept.
const ASKING_MAX: usize = 16;

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let (now, may) = (model.now, model.may_answer());
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
        (InputFocus::Answer, Some(action), None) => match (context, action) {
            (Context::Approval, _) if is_new(key) => {
                return Some(match unread(dialog, action, visible.as_ref()) {
                    Some(why) => refuse(model, why),
                    None => decide(model, action),
                });
            }
            (Context::Approval, _) => dialog.since = now,
            (_, Action::Accept) if is_new(key) => return Some(accept(model)),
            (_, Action::Deny) if is_new(key) => return Some(decline(model)),
            (_, Action::Accept | Action::Deny) => {}
            _ => choose(dialog, action, key),
        },
    }
    Some(Vec::new())
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

/// Why a yes does not count yet.
enum Unread {
    /// This many rows were not on the screen.
    Rows(usize),
    TooSmall,
}

/// Whether an action would say yes, or lead to a yes, before all that is judged was on the screen (I24).
fn unread(dialog: &InteractionDialog, action: Action, visible: Option<&Visible>) -> Option<Unread> {
    use Action::{AllowAlways, AllowOnce, AllowSession, EditCommand};
    let agrees = matches!(action, AllowOnce | AllowSession | AllowAlways | EditCommand);
    let visible = visible.filter(|_| agrees && !dialog.seen.is_all())?;
    Some(match visible.is_readable {
        true => Unread::Rows(dialog.seen.left(visible)),
        false => Unread::TooSmall,
    })
}

fn refuse(model: &mut Model, why: Unread) -> Vec<Effect> {
    let words = match why {
        Unread::Rows(rows) => read_first(model, rows),
        // The dialog itself says so.
        Unread::TooSmall => return Vec::new(),
    };
    model.toast(Tone::Warning, words);
    if let Some(toast) = &mut model.toast {
        toast.about = Some(ToastAbout::Unread);
    }
    Vec::new()
}

/// The notice that this many rows are to be read first.
fn read_first(model: &Model, rows: usize) -> String {
    let key = |action| keymap::shown(Context::Approval, action);
    let (down, read) = (key(Action::PageDown), key(Action::ReadAll));
    let language = model.look.language;
    language.fill(Msg::ReadFirst, &[&rows.to_string(), &down, &read])
}

/// The notice is over.
fn forget_unread(model: &mut Model) {
    model
        .toast
        .take_if(|toast| toast.about == Some(ToastAbout::Unread));
}

/// Counts the rows of that notice again, as the next frame shows the dialog; without any left, the notice goes.
fn renew_unread(model: &mut Model) {
    let about = model.toast.as_ref().and_then(|toast| toast.about.as_ref());
    let Some(Dialog::Interaction(dialog)) = &model.dialog else {
        return;
    };
    if about != Some(&ToastAbout::Unread) {
        return;
    }
    let visible = view::interaction::visible(dialog, model);
    let mut seen = dialog.seen;
    seen.note(&visible);
    if seen.is_all() {
        return forget_unread(model);
    }
    let words = read_first(model, seen.left(&visible));
    if let Some(toast) = &mut model.toast {
        toast.words = words;
    }
}

/// Opens all that is judged in the pager. Read to its end there, it counts as shown.
fn read_all(model: &mut Model) -> Vec<Effect> {
    let Some(Dialog::Interaction(dialog)) = &model.dialog else {
        return Vec::new();
    };
    let title = model.look.language.say(dialog.form().title).to_owned();
    let lines = view::interaction::whole(dialog, &model.look);
    let asked = shown(model);
    let effects = super::pager::open(model, PagerContent::Lines { title, lines });
    if let Some(Dialog::Pager(pager)) = &mut model.dialog {
        pager.judged = asked;
    }
    effects
}

/// The body was read to its end in the pager.
pub(super) fn was_read(model: &mut Model, asked: &ShownInteraction) {
    let Some(session) = &mut model.session else {
        return;
    };
    let mut kept = session.asking.kept.iter_mut();
    let read = kept.find(|kept| ShownInteraction::from(&kept.interaction) == *asked);
    if let Some(dialog) = read {
        dialog.seen.read_all();
        forget_unread(model);
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

/// A key that chooses among options, or begins words.
fn choose(dialog: &mut InteractionDialog, action: Action, key: &KeyEvent) {
    if action == Action::PreviousPart {
        turn_to(dialog, dialog.at.saturating_sub(1));
        return;
    }
    if action == Action::Other {
        let takes_words = {
            let form = dialog.form();
            let fields = form.fields();
            fields.is_some_and(|fields| fields.takes_words(dialog.at))
        };
        if !takes_words {
            return;
        }
        let words = dialog.change_draft(|_, draft| {
            let begun = std::mem::take(&mut draft.begun);
            let words = Some(begun).filter(|begun| !begun.is_empty());
            words.or_else(|| draft.other.clone()).unwrap_or_default()
        });
        if let Some(words) = words {
            dialog.part = InputFocus::Words(Input::new(&words));
        }
        return;
    }
    dialog.scroll = None;
    dialog.change_draft(|ask, draft| match (action, number(key)) {
        (Action::Previous, _) => draft.step(ask, false),
        (Action::Next, _) => draft.step(ask, true),
        (Action::Choose, Some(index)) => draft.choose(ask, index, false),
        (Action::Choose, None) => {
            if let Some(mark) = draft.mark {
                draft.choose(ask, mark, true);
            }
        }
        _ => {}
    });
}

/// The option that a digit names.
fn number(key: &KeyEvent) -> Option<usize> {
    let KeyCode::Char(letter) = key.code else {
        return None;
    };
    let digit = usize::try_from(letter.to_digit(10)?).ok()?;
    digit.checked_sub(1)
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

/// Goes on to the next question; after the last one everything is sent.
fn accept(model: &mut Model) -> Vec<Effect> {
    let Some(Dialog::Interaction(dialog)) = &mut model.dialog else {
        return Vec::new();
    };
    let form = Form::of(&dialog.interaction);
    let is_optional = form
        .fields()
        .is_some_and(|fields| fields.is_optional(dialog.at));
    if !is_optional && dialog.change_draft(|_, draft| draft.is_any()) != Some(true) {
        dialog.nothing = true;
        return Vec::new();
    }
    let next = dialog.at.saturating_add(1);
    if next < dialog.drafts.len() {
        turn_to(dialog, next);
        return Vec::new();
    }
    let answer = dialog.form().reply(dialog.replies());
    send(model, answer)
}

/// Refuses to answer, where that is possible.
fn decline(model: &mut Model) -> Vec<Effect> {
    let Some(Dialog::Interaction(dialog)) = &model.dialog else {
        return Vec::new();
    };
    let form = dialog.form();
    if !form.fields().is_some_and(Fields::can_decline) {
        return Vec::new();
    }
    let answer = form.decide(ApprovalDecision::Deny, None, None);
    send(model, answer)
}

fn turn_to(dialog: &mut InteractionDialog, at: usize) {
    dialog.at = at;
    dialog.scroll = None;
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

/// Postpones the question on the screen: it stays open, and does not come up by itself.
pub(super) fn set_aside(model: &mut Model) -> Vec<Effect> {
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
pub(super) fn keep(model: &mut Model) {
    let open = model
        .dialog
        .take_if(|open| matches!(open, Dialog::Interaction(_)));
    if let (Some(Dialog::Interaction(dialog)), Some(session)) = (open, &mut model.session) {
        session.asking.kept.push(dialog);
    }
}

/// The session is left: keeps the choices and text of its questions, and which ones are postponed.
pub(super) fn leave(model: &mut Model) {
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
pub(super) fn arrive(model: &mut Model) {
    let Some(session) = &mut model.session else {
        return;
    };
    let mut left = model.asking.iter();
    if let Some(place) = left.position(|(id, ..)| *id == session.id) {
        session.asking = model.asking.remove(place).2;
    }
}

/// Postponed questions of this session come up by themselves again: the user goes there to answer them.
pub(super) fn come_up_again(model: &mut Model, session: Pid) {
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
        open(model, |session, asked| session.asking.comes_up(asked));
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
pub fn refused(model: &mut Model, params: &AnswerParams, trouble: &Trouble) {
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

#[cfg(test)]
mod tests;
