//! Keys of questions: their options, and the way from one to the next.

use client::form::{Fields, Form};
use crossterm::event::{KeyCode, KeyEvent};
use proto::params::interaction::ApprovalDecision;

use super::send;
use crate::effect::Effect;
use crate::keymap::Action;
use crate::model::interaction::{InputFocus, InteractionDialog};
use crate::model::line::Input;
use crate::model::{Dialog, Model};

/// A key that chooses among options, or begins words.
pub(super) fn choose(dialog: &mut InteractionDialog, action: Action, key: &KeyEvent) {
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

/// Goes on to the next question; after the last one everything is sent.
pub(super) fn accept(model: &mut Model) -> Vec<Effect> {
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
pub(super) fn decline(model: &mut Model) -> Vec<Effect> {
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

pub(super) fn turn_to(dialog: &mut InteractionDialog, at: usize) {
    dialog.at = at;
    dialog.scroll = None;
}
