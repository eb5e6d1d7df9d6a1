//! Keys while the command of a call is changed.

use client::form::Form;
use crossterm::event::KeyEvent;

use super::{is_new, send, swallow};
use crate::effect::Effect;
use crate::keymap::Action;
use crate::model::composer::rows;
use crate::model::interaction::command::CommandBox;
use crate::model::interaction::{InputFocus, InteractionDialog};
use crate::model::{Dialog, Model, TYPED_AHEAD};

/// Opens the box with the command, or with the earlier edits of it.
pub(super) fn begin(dialog: &mut InteractionDialog, model_now: std::time::Instant) {
    let form = Form::of(&dialog.interaction);
    let Some(command) = form.decision().and_then(|form| form.command) else {
        return;
    };
    let begun = dialog.command.take();
    dialog.part = InputFocus::Command(begun.unwrap_or_else(|| CommandBox::new(command)));
    // Text typed ahead, or pasted without brackets, is not sent by a line feed in it.
    dialog.since = model_now;
}

/// A key in the box: Enter sends the text as shown, Esc goes back to the question.
pub(super) fn key(
    model: &mut Model,
    key: &KeyEvent,
    action: Option<Action>,
) -> Option<Vec<Effect>> {
    let (now, width) = (model.now, rows::width(usize::from(model.look.columns)));
    let Some(Dialog::Interaction(dialog)) = &mut model.dialog else {
        return None;
    };
    let InputFocus::Command(edited) = &mut dialog.part else {
        return None;
    };
    match action {
        Some(Action::SetAside) => {
            dialog.command = Some(std::mem::take(edited));
            dialog.part = InputFocus::Answer;
            dialog.since = now;
        }
        Some(Action::Accept) => {
            let early = now.saturating_duration_since(dialog.since) < TYPED_AHEAD;
            if early || !is_new(key) {
                return Some(Vec::new());
            }
            let Some(command) = edited.command() else {
                edited.is_refused = true;
                return Some(Vec::new());
            };
            let answer = Form::of(&dialog.interaction).edit(command);
            return Some(send(model, answer));
        }
        _ => {
            if !edited.key(key, width) {
                return swallow(key);
            }
        }
    }
    Some(Vec::new())
}
