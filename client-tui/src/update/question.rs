//! Keys of the question.

use crossterm::event::{KeyCode, KeyEvent};
use proto::params::interaction::InteractionAnswer;

use super::approval::{is_new, set_aside, stray, swallow};
use crate::effect::{Call, Effect};
use crate::keymap::{self, Action, Context};
use crate::messages::app::Msg;
use crate::model::approval::{Asked, params};
use crate::model::line::Input;
use crate::model::question::QuestionDialog;
use crate::model::{Dialog, Model};
use crate::view;

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let (now, may) = (model.now, model.may_answer());
    let reach = view::question::reach(model);
    let Some(Dialog::Question(dialog)) = &mut model.dialog else {
        return None;
    };
    let action = keymap::find(Context::Question, key);
    let reads = matches!(
        action,
        Some(Action::SetAside | Action::PageUp | Action::PageDown)
    );
    if dialog.writing.is_none() && !reads && stray(&mut dialog.since, now, action.is_some(), key) {
        return swallow(key);
    }
    if dialog.writing.is_some() {
        return write(model, key, action);
    }
    dialog.nothing = false;
    match action {
        Some(Action::SetAside) => return Some(set_aside(model)),
        Some(action @ (Action::PageUp | Action::PageDown)) => scroll(dialog, action, reach),
        Some(Action::PreviousPart) => turn_to(dialog, dialog.at.saturating_sub(1)),
        Some(Action::Accept) if may && is_new(key) => return Some(accept(model)),
        Some(action) if may => choose(dialog, action, key),
        Some(_) => {}
        None => return swallow(key),
    }
    Some(Vec::new())
}

/// Takes a paste. It answers nothing: where words are being written it is written there.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(Dialog::Question(dialog)) = &mut model.dialog
        && let Some(input) = &mut dialog.writing
    {
        input.insert(text);
    }
    Vec::new()
}

fn choose(dialog: &mut QuestionDialog, action: Action, key: &KeyEvent) {
    if action == Action::Other {
        let Some((_, given)) = dialog.current() else {
            return;
        };
        let begun = std::mem::take(&mut given.begun);
        let words = Some(begun).filter(|begun| !begun.is_empty());
        let words = words.or_else(|| given.other.clone()).unwrap_or_default();
        dialog.writing = Some(Input::new(&words));
        return;
    }
    dialog.scroll = None;
    let Some((ask, given)) = dialog.current() else {
        return;
    };
    match (action, number(key)) {
        (Action::Previous, _) => given.step(ask, false),
        (Action::Next, _) => given.step(ask, true),
        (Action::Choose, Some(index)) => given.choose(ask, index, false),
        (Action::Choose, None) => {
            if let Some(mark) = given.mark {
                given.choose(ask, mark, true);
            }
        }
        _ => {}
    }
}

/// The option that a digit names.
fn number(key: &KeyEvent) -> Option<usize> {
    let KeyCode::Char(letter) = key.code else {
        return None;
    };
    let digit = usize::try_from(letter.to_digit(10)?).ok()?;
    digit.checked_sub(1)
}

fn write(model: &mut Model, key: &KeyEvent, action: Option<Action>) -> Option<Vec<Effect>> {
    let Some(Dialog::Question(dialog)) = &mut model.dialog else {
        return None;
    };
    match action {
        Some(Action::SetAside) => {
            let begun = dialog.writing.take();
            if let (Some(begun), Some((_, given))) = (begun, dialog.current()) {
                given.begun = begun.text().to_owned();
            }
        }
        Some(Action::Accept) if is_new(key) => {
            let words = dialog.writing.take().and_then(|input| input.words());
            let written = words.is_some();
            if let Some((_, given)) = dialog.current() {
                given.other = words;
            }
            if written {
                return Some(accept(model));
            }
        }
        Some(Action::Accept) => {}
        _ => {
            let taken = dialog.writing.as_mut().is_some_and(|input| input.key(key));
            if !taken {
                return swallow(key);
            }
        }
    }
    Some(Vec::new())
}

/// Goes on to the next question; behind the last one everything is sent.
fn accept(model: &mut Model) -> Vec<Effect> {
    let Some(Dialog::Question(dialog)) = &mut model.dialog else {
        return Vec::new();
    };
    if !dialog.current().is_some_and(|(_, given)| given.is_any()) {
        dialog.nothing = true;
        return Vec::new();
    }
    let next = dialog.at.saturating_add(1);
    if next < dialog.questions().len() {
        turn_to(dialog, next);
        return Vec::new();
    }
    if model.is_apart(Msg::StaysOpen) {
        return Vec::new();
    }
    let Some(Dialog::Question(dialog)) = &model.dialog else {
        return Vec::new();
    };
    let asked = Asked::from(&dialog.interaction);
    let replies = dialog.replies();
    let params = params(&asked, InteractionAnswer::Questions { replies });
    model.dialog = None;
    if let Some(session) = &mut model.session {
        session.asking.sent.push(asked);
    }
    vec![Effect::Call(Call::Answer(params))]
}

fn turn_to(dialog: &mut QuestionDialog, at: usize) {
    dialog.at = at;
    dialog.scroll = None;
}

/// `reach`: where it is now, the last place to scroll to, and how many rows are shown.
fn scroll(dialog: &mut QuestionDialog, action: Action, (at, last, page): (usize, usize, usize)) {
    let page = page.saturating_sub(1).max(1);
    dialog.scroll = Some(match action {
        Action::PageUp => at.saturating_sub(page),
        _ => at.saturating_add(page).min(last),
    });
}

#[cfg(test)]
mod tests;
