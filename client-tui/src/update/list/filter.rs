//! The line that a list is filtered by.

use crossterm::event::KeyEvent;

use super::{accept, dialog_mut, loaded, moves};
use crate::effect::Effect;
use crate::keymap::{self, Action, Context};
use crate::model::Model;
use crate::model::line::Input;
use crate::model::list::ListOf;

/// Takes a key in the filter.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    if change(model, |input| input.key(key)) {
        return Some(Vec::new());
    }
    let action = keymap::find(Context::List, key)?;
    let picks = dialog_mut(model)?.what == ListOf::Models;
    match action {
        Action::Accept if picks => return Some(accept::take(model)),
        Action::Close if picks => {
            model.dialog = None;
            return Some(Vec::new());
        }
        Action::Accept => dialog_mut(model)?.filter.open = false,
        Action::Close => {
            let filter = &mut dialog_mut(model)?.filter;
            // The first press clears the text, the second closes the line.
            match filter.input.text().is_empty() {
                true => filter.open = false,
                false => {
                    change(model, |input| *input = Input::default());
                }
            }
        }
        _ => return moves(model, action),
    }
    Some(Vec::new())
}

/// Opens the line. The second step of going back has none: its rows are few.
pub fn open(model: &mut Model) {
    if let Some(dialog) = dialog_mut(model) {
        dialog.filter.open = dialog.restore.is_none();
    }
}

/// Everything is shown again.
pub fn clear(model: &mut Model) {
    if let Some(dialog) = dialog_mut(model) {
        dialog.filter = Default::default();
    }
    loaded::narrow(model);
}

/// Writes into the line.
pub fn write(model: &mut Model, text: &str) {
    change(model, |input| input.insert(text));
}

/// Edits the line; if its text has changed, the rows change too.
fn change<T: Default>(model: &mut Model, change: impl FnOnce(&mut Input) -> T) -> T {
    let Some(dialog) = dialog_mut(model) else {
        return T::default();
    };
    let before = dialog.filter.input.text().to_owned();
    let changed = change(&mut dialog.filter.input);
    if dialog.filter.input.text() != before {
        loaded::narrow(model);
    }
    changed
}
