//! Keys of the approval and of the plan, and which question comes up when.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use proto::params::approval::{AnswerParams, Decision};
use proto::params::plan;
use proto::{ErrorName, Pid, RequestId};

use crate::effect::{Answer, Call, Effect};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::approval::{Answered, ApprovalDialog, Asked, Asking, Part, Rows};
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
    // Enter answers nothing: there is no default.
    let known = action.is_some_and(|action| action != Action::Accept);
    if answers && !reads(action) && stray(&mut dialog.since, now, known, key) {
        return swallow(key);
    }
    let answer = match (&mut dialog.part, action) {
        (Part::Note(_), Some(Action::SetAside)) => back(dialog),
        (Part::Note(note), Some(Action::Accept)) if is_new(key) => {
            Some((Decision::Deny, note.words()))
        }
        (Part::Note(note), _) => match note.key(key) {
            true => None,
            false => return swallow(key),
        },
        (Part::Scopes(_), Some(Action::SetAside)) => back(dialog),
        (Part::Scopes(marked), Some(action)) => {
            let last = dialog.approval.scopes.len().saturating_sub(1);
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
                Action::AllowOnce => Some((Decision::AllowOnce, None)),
                Action::AllowSession if dialog.chosen().is_some() => {
                    Some((Decision::AllowSession, None))
                }
                Action::AllowAlways if dialog.lasting().is_some() => {
                    Some((Decision::AllowAlways, None))
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

fn back(dialog: &mut ApprovalDialog) -> Option<(Decision, Option<String>)> {
    dialog.part = Part::Answer;
    None
}

fn turn_to(dialog: &mut ApprovalDialog, action: Action) {
    match action {
        Action::Deny => dialog.part = Part::Note(Input::default()),
        Action::EditScope if !dialog.approval.scopes.is_empty() => {
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

fn send(model: &mut Model, decision: Decision, note: Option<String>) -> Vec<Effect> {
    if model.is_apart(crate::messages::app::Msg::StaysOpen) {
        return Vec::new();
    }
    let Some(Dialog::Approval(dialog)) = model.dialog.take_if(|open| is_approval(open)) else {
        return Vec::new();
    };
    if let Some(session) = &mut model.session {
        session.asking.sent.push(dialog.asked());
    }
    if let Some(open) = dialog.plan {
        return vec![Effect::Call(Call::AnswerPlan(plan::AnswerParams {
            plan_id: open.plan_id,
            shown_hash: open.shown_hash,
            decision: match decision {
                Decision::AllowOnce | Decision::AllowSession | Decision::AllowAlways => {
                    plan::Decision::Approve
                }
                Decision::Deny => plan::Decision::Reject,
            },
            note,
            request_id: Some(RequestId::new()),
        }))];
    }
    let scope = match decision {
        Decision::AllowSession => dialog.chosen().cloned(),
        Decision::AllowAlways => dialog.lasting().cloned(),
        Decision::AllowOnce | Decision::Deny => None,
    };
    vec![Effect::Call(Call::Approve(AnswerParams {
        approval_id: dialog.approval.approval_id,
        shown_hash: dialog.approval.shown_hash,
        decision,
        scope,
        note,
        request_id: Some(RequestId::new()),
    }))]
}

fn is_approval(dialog: &Dialog) -> bool {
    matches!(dialog, Dialog::Approval(_))
}

/// What the dialog asks, where it asks something.
fn asked(dialog: &Dialog) -> Option<Asked> {
    match dialog {
        Dialog::Approval(dialog) => Some(dialog.asked()),
        Dialog::Question(dialog) => Some(Asked::question(&dialog.question)),
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
    let sent = match what {
        Call::Approve(params) => Asked::Approval {
            id: params.approval_id.clone(),
            shown_hash: params.shown_hash.clone(),
        },
        Call::Reply(params) => Asked::Question(params.question_id.clone()),
        Call::AnswerPlan(params) => Asked::Plan {
            id: params.plan_id.clone(),
            shown_hash: params.shown_hash.clone(),
        },
        _ => return,
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
    let Some((_, asked)) = waiting.find(|(_, asked)| wanted(session, asked)) else {
        return false;
    };
    let mut kept = session.asking.kept.iter();
    let place = kept.position(|(of, _)| *of == asked);
    let kept = place.map(|place| session.asking.kept.swap_remove(place).1);
    let dialog = kept
        .map(|kept| again(kept, model.now))
        .or_else(|| match &asked {
            Asked::Approval { .. } => {
                let mut open = session.open.approvals.iter();
                open.find(|open| Asked::approval(open) == asked)
                    .map(|open| Dialog::Approval(ApprovalDialog::new(open.clone(), model.now)))
            }
            Asked::Plan { .. } => {
                let mut open = session.open.plans.iter();
                open.find(|open| Asked::plan(open) == asked)
                    .map(|open| Dialog::Approval(ApprovalDialog::of_plan(open.clone(), model.now)))
            }
            Asked::Question(id) => {
                let mut open = session.open.questions.iter();
                open.find(|open| open.question_id == *id)
                    .map(|open| Dialog::Question(QuestionDialog::new(open.clone(), model.now)))
            }
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
    let open = session.open.all().into_iter();
    let open: Vec<Asked> = open.map(|(_, asked)| asked).collect();
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
    let Some(shown) = shown.filter(|shown| !open.contains(shown)) else {
        return;
    };
    model.dialog = None;
    if let Some(words) = answered.and_then(|answered| who(model, &shown, &answered)) {
        model.toast(Tone::Info, words);
    }
}

/// Who answered what was on the screen, in words.
fn who(model: &Model, shown: &Asked, answered: &Answered) -> Option<String> {
    let language = model.look.language;
    match (shown, answered) {
        (Asked::Approval { id, .. }, Answered::Approval(answered))
            if *id == answered.approval_id =>
        {
            let decision = match answered.decision {
                Decision::AllowOnce => Msg::AllowedOnce,
                Decision::AllowSession => Msg::AllowedSession,
                Decision::AllowAlways => Msg::AllowedAlways,
                Decision::Deny => Msg::Denied,
            };
            let by = client::text::line(&answered.by);
            Some(language.fill(Msg::AnsweredBy, &[&by, language.say(decision)]))
        }
        (Asked::Plan { id, .. }, Answered::Plan(answered)) if *id == answered.plan_id => {
            let decision = match answered.decision {
                Some(plan::Decision::Approve) => Msg::PlanApproved,
                Some(plan::Decision::Reject) => Msg::PlanRejected,
                None => Msg::PlanClosed,
            };
            let by = client::text::line(&answered.by);
            Some(language.fill(Msg::AnsweredBy, &[&by, language.say(decision)]))
        }
        (Asked::Question(id), Answered::Question(answered)) if *id == answered.question_id => {
            let by = client::text::line(&answered.by);
            Some(language.fill(Msg::QuestionAnsweredBy, &[&by]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
