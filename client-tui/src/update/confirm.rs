//! Keys of a yes or no.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::everywhere;
use super::interaction::{scrolled, scrolls, stray, swallow};
use crate::effect::{Call, Effect};
use crate::keymap::{self, Action, Context};
use crate::model::confirm::ConfirmedAction;
use crate::model::list::ListDialog;
use crate::model::{Dialog, Model};
use crate::view;

/// Takes a key; `None`: it means nothing here. Only `y` is a yes; Enter is nothing.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let Some(Dialog::Confirm(confirm)) = &mut model.dialog else {
        return None;
    };
    let action = keymap::find(Context::Confirm, key);
    let leaves = key.code == KeyCode::Esc;
    let stray = !leaves && stray(&mut confirm.since, model.now, action.is_some(), key);
    if stray || key.kind == KeyEventKind::Repeat {
        return swallow(key);
    }
    let visible = view::confirm::visible(confirm, &model.look);
    confirm.seen.note(&visible);
    confirm.is_refused = action == Some(Action::Yes) && !confirm.seen.is_all();
    if confirm.is_refused {
        return Some(Vec::new());
    }
    let then = match action {
        Some(Action::Yes) => Some(confirm.then.clone()),
        Some(Action::No) => None,
        Some(action) if scrolls(action) => {
            scroll(model, action);
            return Some(Vec::new());
        }
        _ => return swallow(key),
    };
    let back = confirm.back.take();
    model.dialog = back.map(|list| Dialog::List(again(*list, model.now)));
    Some(then.map_or_else(Vec::new, |then| self::yes(model, then)))
}

fn scroll(model: &mut Model, action: Action) {
    let Some(Dialog::Confirm(confirm)) = &mut model.dialog else {
        return;
    };
    let (last, page) = view::confirm::reach(confirm, &model.look);
    confirm.scroll = scrolled(action, (confirm.scroll.min(last), last, page));
}

/// The list as it was; it is refreshed at once.
fn again(list: ListDialog, now: Instant) -> ListDialog {
    ListDialog {
        due: now,
        rested: now,
        pressed: None,
        ..list
    }
}

fn yes(model: &mut Model, then: ConfirmedAction) -> Vec<Effect> {
    match then {
        ConfirmedAction::Do(effects) => effects,
        ConfirmedAction::ApprovalMode(approval_mode) => {
            everywhere::approval_mode_is(model, approval_mode)
        }
        ConfirmedAction::Stop(session) => {
            if let Some(session) = &mut model.session {
                session.interrupted = true;
            }
            let stop = Call::Interrupt {
                session,
                queue: Vec::new(),
            };
            vec![Effect::Call(stop), everywhere::leave(model, 0)]
        }
    }
}

#[cfg(test)]
mod tests;
