//! Keys of the approval and of the plan, and which question comes up when.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use proto::params::interaction::{
    ApprovalDecision, InteractionAnswer, InteractionRequest, PlanDecision,
};
use proto::record::InteractionResolved;
use proto::{ErrorName, Pid};

use crate::effect::{Answer, Call, Effect};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::approval::{ApprovalDialog, Asked, Asking, Part, Rows, params};
use crate::model::line::Input;
use crate::model::question::QuestionDialog;
use crate::model::session::Session;
use crate::model::{Dialog, Link, Model, TYPED_AHEAD, Toast, Tone};
use crate::view;

/// Sessions that were left whose begun answers are kept.
const ASKING_MAX: usize = 16;

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let (now, may) = (model.now, model.may_answer());
    let action = keymap::find(Context::Approval, key);
    let reach = action.and_then(|action| reach(model, action));
    let Some(Dialog::Approval(dialog)) = &mut model.dialog else {
        return None;
    };
    let answers = matches!(dialog.part, Part::Answer);
    let last = dialog.scopes().len().saturating_sub(1);
    // Enter answers nothing: there is no default.
    let known = action.is_some_and(|action| action != Action::Accept);
    if answers && !reads(action) && stray(&mut dialog.since, now, known, key) {
        return swallow(key);
    }
    let answer = match (&mut dialog.part, action) {
        (Part::Note(_), Some(Action::SetAside)) => back(dialog),
        (Part::Note(note), Some(Action::Accept)) if is_new(key) => {
            Some((ApprovalDecision::Deny, note.words()))
        }
        (Part::Note(note), _) => match note.key(key) {
            true => None,
            false => return swallow(key),
        },
        (Part::Scopes(_), Some(Action::SetAside)) => back(dialog),
        (Part::Scopes(marked), Some(action)) => {
            match action {
                Action::ScrollUp => *marked = marked.saturating_sub(1),
                Action::ScrollDown => *marked = marked.saturating_add(1).min(last),
                Action::Accept if is_new(key) => {
                    dialog.scope = *marked;
                    dialog.part = Part::Answer;
                }
                _ => {}
            }
            None
        }
        (Part::Answer, Some(Action::SetAside)) => return Some(set_aside(model)),
        (Part::Answer, Some(action)) if may && is_new(key) && !reads(Some(action)) => {
            match action {
                Action::AllowOnce => Some((ApprovalDecision::AllowOnce, None)),
                Action::AllowSession if dialog.chosen().is_some() => {
                    Some((ApprovalDecision::AllowSession, None))
                }
                Action::AllowAlways if dialog.lasting().is_some() => {
                    Some((ApprovalDecision::AllowAlways, None))
                }
                action => {
                    turn_to(dialog, action);
                    None
                }
            }
        }
        (Part::Answer, Some(action)) => {
            if matches!(key.code, KeyCode::Char(_)) {
                // It may be a letter of something that is being written.
                dialog.since = now;
            }
            scroll(dialog, action, reach);
            None
        }
        (_, None) => return swallow(key),
    };
    Some(answer.map_or_else(Vec::new, |(decision, note)| send(model, decision, note)))
}

/// Takes a paste. It answers nothing: in a note it is written there.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(Dialog::Approval(dialog)) = &mut model.dialog
        && let Part::Note(note) = &mut dialog.part
    {
        note.insert(text);
    }
    Vec::new()
}

/// Whether an action only looks, or puts the question aside: it is done at any time.
fn reads(action: Option<Action>) -> bool {
    use Action::{PageDown, PageUp, ScrollDown, ScrollUp, SetAside};
    matches!(
        action,
        Some(ScrollUp | ScrollDown | PageUp | PageDown | SetAside)
    )
}

/// Whether a key at this moment was meant for something else: the question has just come, keys of what is being written
/// come still, or this one means nothing here (`known`). From a stray key on it must be quiet for as long again: who
/// writes on, however long, answers nothing.
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

/// Whether the key was pressed anew, as far as the terminal tells: most report a key that is held down as pressed again
/// and again. There `stray` is what keeps a burst from answering.
pub(super) fn is_new(key: &KeyEvent) -> bool {
    key.kind != KeyEventKind::Repeat
}

fn back(dialog: &mut ApprovalDialog) -> Option<(ApprovalDecision, Option<String>)> {
    dialog.part = Part::Answer;
    None
}

fn turn_to(dialog: &mut ApprovalDialog, action: Action) {
    match action {
        Action::Deny => dialog.part = Part::Note(Input::default()),
        Action::EditScope if !dialog.scopes().is_empty() => {
            dialog.part = Part::Scopes(dialog.scope);
        }
        _ => {}
    }
}

/// For actions that scroll: the last place to scroll to, and how many rows are shown.
fn reach(model: &Model, action: Action) -> Option<(usize, usize)> {
    use Action::{PageDown, PageUp, ScrollDown, ScrollUp};
    matches!(action, ScrollUp | ScrollDown | PageUp | PageDown)
        .then(|| view::approval::reach(model))
}

fn scroll(dialog: &mut ApprovalDialog, action: Action, reach: Option<(usize, usize)>) {
    let Some((last, page)) = reach else {
        return;
    };
    let at = dialog.scroll.min(last);
    let page = page.saturating_sub(1).max(1);
    dialog.scroll = match action {
        Action::ScrollUp => at.saturating_sub(1),
        Action::ScrollDown => at.saturating_add(1).min(last),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page).min(last),
        _ => at,
    };
}

fn send(model: &mut Model, decision: ApprovalDecision, note: Option<String>) -> Vec<Effect> {
    if model.is_apart(crate::messages::app::Msg::StaysOpen) {
        return Vec::new();
    }
    let Some(Dialog::Approval(dialog)) = model.dialog.take_if(|open| is_approval(open)) else {
        return Vec::new();
    };
    let asked = Asked::from(&dialog.interaction);
    let params = params(&asked, dialog.answer(decision, note));
    if let Some(session) = &mut model.session {
        session.asking.sent.push(asked);
    }
    vec![Effect::Call(Call::Answer(params))]
}

fn is_approval(dialog: &Dialog) -> bool {
    matches!(dialog, Dialog::Approval(_))
}

/// What the dialog asks, where it asks something.
fn asked(dialog: &Dialog) -> Option<Asked> {
    match dialog {
        Dialog::Approval(dialog) => Some(Asked::from(&dialog.interaction)),
        Dialog::Question(dialog) => Some(Asked::from(&dialog.interaction)),
        Dialog::List(_) | Dialog::Pager(_) | Dialog::Confirm(_) => None,
    }
}

/// Puts the question that is on the screen aside: it stays open, and does not come up by itself.
pub(super) fn set_aside(model: &mut Model) -> Vec<Effect> {
    if let Some(asked) = model.dialog.as_ref().and_then(asked) {
        keep(model);
        if let Some(session) = &mut model.session {
            session.asking.aside.push(asked.clone());
        }
        let key = keymap::shown(Context::Everywhere, Action::Attention);
        let words = model.look.language.fill(Msg::SetAside, &[&key]);
        model.toast(Tone::Info, words);
        if let Some(toast) = &mut model.toast {
            toast.about = Some(asked);
        }
    }
    Vec::new()
}

/// Takes the question off the screen with what was chosen and written of it: it is there again when the question is.
pub(super) fn keep(model: &mut Model) {
    let Some(asked) = model.dialog.as_ref().and_then(asked) else {
        return;
    };
    if let (Some(dialog), Some(session)) = (model.dialog.take(), &mut model.session) {
        session.asking.kept.push((asked, dialog));
    }
}

/// The session is left: what was chosen and written of its questions, and what was set aside, waits for it.
pub(super) fn leave(model: &mut Model) {
    keep(model);
    let Some(session) = &mut model.session else {
        return;
    };
    let asking = std::mem::take(&mut session.asking);
    let (aside, mut kept) = (asking.aside, asking.kept);
    if aside.is_empty() && kept.is_empty() {
        return;
    }
    for (_, dialog) in &mut kept {
        if let Dialog::Approval(dialog) = dialog {
            // Rows of a long diff are made again.
            dialog.body = Rows::default();
        }
    }
    if model.asking.len() >= ASKING_MAX {
        model.asking.remove(0);
    }
    let asking = Asking {
        aside,
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

/// Its questions that were set aside come up by themselves again: who goes there goes there to answer them.
pub(super) fn come_up_again(model: &mut Model, session: Pid) {
    let left = model.asking.iter_mut();
    for (_, _, asking) in left.filter(|(_, pid, _)| *pid == session) {
        asking.aside.clear();
    }
}

/// Opens the oldest question about a call, about a plan, or of the model, that is open and not set aside, where nothing else is open;
/// closes one that was answered elsewhere. Called after every event.
pub fn offer(model: &mut Model) -> Vec<Effect> {
    close(model);
    // What is replayed may have been answered since: that is known when the replay is at its end.
    if model.dialog.is_none() && model.link != Link::Replaying {
        open(model, |session, asked| session.asking.comes_up(asked));
    }
    Vec::new()
}

/// Opens the oldest question again that was set aside; false: there is none in this session.
pub fn reopen(model: &mut Model) -> bool {
    let found = open(model, |session, asked| session.asking.aside.contains(asked));
    let asked = model.dialog.as_ref().and_then(asked);
    if let (true, Some(asked), Some(session)) = (found, asked, &mut model.session) {
        session.asking.aside.retain(|aside| *aside != asked);
    }
    found
}

/// Looks at what became of an answer: one that failed is asked again, and why is told.
pub fn told(model: &mut Model, answer: &Answer) {
    let Answer::Done {
        what,
        result: Err(trouble),
    } = answer
    else {
        return;
    };
    let Call::Answer(params) = what else {
        return;
    };
    let sent = Asked {
        id: params.interaction_id.clone(),
        shown_hash: params.shown_hash.clone(),
    };
    // What another one has answered is not asked again: the session tells of it soon.
    if trouble.name != Some(ErrorName::AlreadyResolved)
        && let Some(session) = &mut model.session
    {
        session.asking.sent.retain(|known| *known != sent);
    }
    model.trouble(trouble);
}

fn open(model: &mut Model, wanted: impl Fn(&Session, &Asked) -> bool) -> bool {
    let Some(session) = &mut model.session else {
        return false;
    };
    let mut waiting = session.asks().into_iter();
    let Some(asked) = waiting.find(|asked| wanted(session, asked)) else {
        return false;
    };
    let mut kept = session.asking.kept.iter();
    let place = kept.position(|(of, _)| *of == asked);
    let kept = place.map(|place| session.asking.kept.swap_remove(place).1);
    let dialog = kept.map(|kept| again(kept, model.now)).or_else(|| {
        let mut open = session.open.iter();
        let open = open.find(|open| Asked::from(*open) == asked)?.clone();
        Some(match &open.request {
            InteractionRequest::Approval(_) | InteractionRequest::Plan { .. } => {
                Dialog::Approval(ApprovalDialog::new(open, model.now))
            }
            InteractionRequest::Questions { .. } => {
                Dialog::Question(QuestionDialog::new(open, model.now))
            }
        })
    });
    let found = dialog.is_some();
    if found {
        model.dialog = dialog;
        let stale = |toast: &Toast| toast.about.as_ref() == Some(&asked);
        model.toast = model.toast.take().filter(|toast| !stale(toast));
    }
    found
}

/// One that was kept, as it comes to the screen anew.
fn again(kept: Dialog, now: Instant) -> Dialog {
    match kept {
        Dialog::Approval(dialog) => Dialog::Approval(ApprovalDialog {
            since: now,
            drawn: false,
            ..dialog
        }),
        Dialog::Question(dialog) => Dialog::Question(QuestionDialog {
            since: now,
            drawn: false,
            nothing: false,
            ..dialog
        }),
        other @ (Dialog::List(_) | Dialog::Pager(_) | Dialog::Confirm(_)) => other,
    }
}

/// Closes what is not asked any more, and forgets what became of questions that are answered.
fn close(model: &mut Model) {
    let shown = model.dialog.as_ref().and_then(asked);
    let Some(session) = &mut model.session else {
        if shown.is_some() {
            model.dialog = None;
        }
        return;
    };
    let open: Vec<Asked> = session.open.iter().map(Asked::from).collect();
    // What is asked is known when the replay is at its end.
    if model.link != Link::Replaying {
        let asking = &mut session.asking;
        asking.aside.retain(|asked| open.contains(asked));
        asking.sent.retain(|asked| open.contains(asked));
        asking.kept.retain(|(asked, _)| open.contains(asked));
    }
    let told = model.toast.as_ref().and_then(|toast| toast.about.as_ref());
    if told.is_some_and(|asked| !open.contains(asked)) {
        model.toast = None;
    }
    let answered = session.asking.answered.take();
    if shown.is_none_or(|shown| open.contains(&shown)) {
        return;
    }
    let dialog = model.dialog.take();
    let who = dialog.zip(answered);
    if let Some(words) = who.and_then(|(dialog, answered)| who_words(model, &dialog, &answered)) {
        model.toast(Tone::Info, words);
    }
}

/// Who answered what was on the screen, in words.
fn who_words(model: &Model, shown: &Dialog, answered: &InteractionResolved) -> Option<String> {
    let language = model.look.language;
    let interaction = match shown {
        Dialog::Approval(dialog) => &dialog.interaction,
        Dialog::Question(dialog) => &dialog.interaction,
        Dialog::List(_) | Dialog::Pager(_) | Dialog::Confirm(_) => return None,
    };
    if interaction.interaction_id != answered.interaction_id {
        return None;
    }
    let by = client::text::line(&answered.by);
    let decision = match (&interaction.request, &answered.answer) {
        (_, Some(InteractionAnswer::Approval { decision, .. })) => match decision {
            ApprovalDecision::AllowOnce => Msg::AllowedOnce,
            ApprovalDecision::AllowSession => Msg::AllowedSession,
            ApprovalDecision::AllowAlways => Msg::AllowedAlways,
            ApprovalDecision::Deny => Msg::Denied,
        },
        (_, Some(InteractionAnswer::Plan { decision, .. })) => match decision {
            PlanDecision::Approve => Msg::PlanApproved,
            PlanDecision::Reject => Msg::PlanRejected,
        },
        (InteractionRequest::Approval(_), None) => Msg::Denied,
        (InteractionRequest::Plan { .. }, None) => Msg::PlanClosed,
        (InteractionRequest::Questions { .. }, None)
        | (_, Some(InteractionAnswer::Questions { .. })) => {
            return Some(language.fill(Msg::QuestionAnsweredBy, &[&by]));
        }
    };
    Some(language.fill(Msg::AnsweredBy, &[&by, language.say(decision)]))
}

#[cfg(test)]
mod tests;
