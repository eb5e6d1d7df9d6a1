//! Events change the model. Pure: what is to be done in the world comes back as effects.

pub mod answers;
pub mod approval;
pub mod commands;
pub mod composer;
pub mod confirm;
pub mod daemon;
pub mod everywhere;
pub mod list;
pub mod pager;
pub mod question;
pub mod submit;

use std::time::Instant;

use crossterm::event::{KeyEvent, KeyEventKind};

use crate::effect::Effect;
use crate::event::Event;
use crate::keymap;
use crate::model::{Dialog, Model};

/// Takes an event.
pub fn update(model: &mut Model, event: Event, now: Instant) -> Vec<Effect> {
    model.now = now;
    let mut effects = happened(model, event);
    effects.extend(approval::offer(model));
    effects
}

fn happened(model: &mut Model, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => self::key(model, &key),
        Event::Key(_) => Vec::new(),
        Event::Paste(text) => paste(model, &text),
        Event::Resize(columns, rows) => {
            model.look.columns = columns;
            model.look.rows = rows;
            vec![Effect::Reprint]
        }
        Event::Focus(focused) => {
            model.focused = focused;
            Vec::new()
        }
        Event::Wheel(_) | Event::Tick | Event::Signal(_) => Vec::new(),
        Event::Heard { follow, heard } => daemon::heard(model, follow, heard),
        Event::Answered(answer) => answers::take(model, answer),
    }
}

fn key(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let effects = match &model.dialog {
        Some(Dialog::Approval(_)) => approval::key(model, key),
        Some(Dialog::Question(_)) => question::key(model, key),
        Some(Dialog::List(_)) => list::key(model, key),
        Some(Dialog::Pager(_)) => pager::key(model, key),
        Some(Dialog::Confirm(_)) => confirm::key(model, key),
        None => composer::key(model, key),
    };
    effects.unwrap_or_else(|| match keymap::find(keymap::Context::Everywhere, key) {
        Some(action) => everywhere::act(model, action),
        None => Vec::new(),
    })
}

fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    match &model.dialog {
        Some(Dialog::Approval(_)) => approval::paste(model, text),
        Some(Dialog::Question(_)) => question::paste(model, text),
        Some(Dialog::List(_)) => list::paste(model, text),
        Some(Dialog::Pager(_)) => pager::paste(model, text),
        Some(Dialog::Confirm(_)) => Vec::new(),
        None => composer::paste(model, text),
    }
}
