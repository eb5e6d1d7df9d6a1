//! Keys of a yes or no.

use crossterm::event::{KeyEvent, KeyEventKind};

use super::approval::{early, swallow};
use crate::effect::Effect;
use crate::keymap::{self, Action, Context};
use crate::model::{Dialog, Model};

/// Takes a key; `None`: it means nothing here. Only `y` is a yes; Enter is nothing.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let Some(Dialog::Confirm(confirm)) = &mut model.dialog else {
        return None;
    };
    if early(confirm.since, model.now) || key.kind == KeyEventKind::Repeat {
        return swallow(key);
    }
    match keymap::find(Context::Confirm, key) {
        Some(Action::Yes) => {
            let yes = std::mem::take(&mut confirm.yes);
            model.dialog = None;
            Some(yes)
        }
        Some(Action::No) => {
            model.dialog = None;
            Some(Vec::new())
        }
        _ => swallow(key),
    }
}

#[cfg(test)]
mod tests;
