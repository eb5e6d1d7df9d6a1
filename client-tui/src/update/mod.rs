//! Events change the model. Pure: I/O to perform is returned as effects.

pub mod answers;

pub mod commands;
pub mod composer;
pub mod confirm;
mod copy;
mod custom;
pub mod daemon;
pub mod everywhere;
mod goal;
pub mod hooks;
pub mod interaction;
pub mod list;
mod mcp;
pub mod memory;
mod overview;
pub mod pager;
mod permissions;

pub mod submit;

use std::time::Instant;

use crossterm::event::{KeyEvent, KeyEventKind};

use crate::effect::{Effect, ExitReport};
use crate::event::{Event, Signal};
use crate::keymap;
use crate::model::{Dialog, Model};
use crate::view::status;

/// Rows that a turn of the wheel is.
const WHEEL: i16 = 3;

/// The exit code of who was ended by TERM.
const TERMINATED: u8 = 143;

/// Takes an event.
pub fn update(model: &mut Model, event: Event, now: Instant) -> Vec<Effect> {
    model.now = now;
    let mut effects = happened(model, event);
    effects.extend(interaction::offer(model));
    let title = status::title(model);
    if title != model.title {
        model.title.clone_from(&title);
        effects.push(Effect::Title(title));
    }
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
        Event::Wheel(turns) => {
            if matches!(model.dialog, Some(Dialog::Pager(_))) {
                return pager::wheel(model, turns.saturating_mul(WHEEL));
            }
            let rows = usize::from(turns.saturating_mul(WHEEL).unsigned_abs());
            model.scroll = match turns < 0 {
                true => model.scroll.saturating_add(rows),
                false => model.scroll.saturating_sub(rows),
            };
            Vec::new()
        }
        Event::Tick => tick(model),
        Event::Signal(signal) => self::signal(model, signal),
        Event::Session { follow, update } => daemon::session_update(model, follow, update),
        Event::Answered { follow, answer } => answers::take(model, follow, answer),
        Event::Overview(overview) => overview::take(model, *overview),
    }
}

/// Removes expired toasts and notices; refreshes live lists.
fn tick(model: &mut Model) -> Vec<Effect> {
    model.beat += 1;
    if model
        .toast
        .as_ref()
        .is_some_and(|toast| toast.until <= model.now)
    {
        model.toast = None;
    }
    let mut effects = interaction::tick(model);
    effects.extend(list::tick(model));
    effects
}

fn signal(model: &mut Model, signal: Signal) -> Vec<Effect> {
    match signal {
        Signal::Interrupt => everywhere::interrupt(model),
        Signal::Terminate => vec![everywhere::leave(model, TERMINATED)],
        // Nobody would read a report.
        Signal::HangUp => vec![Effect::Leave(ExitReport {
            code: 0,
            words: Vec::new(),
        })],
        // Whoever had the terminal meanwhile has named its window.
        Signal::Continue => vec![Effect::Title(model.title.clone()), Effect::Redraw],
    }
}

fn key(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let before = model.pressed;
    let toast = model.toast.clone().filter(|_| before.is_some());
    let effects = pressed(model, key);
    if model.pressed == before {
        // Only consecutive presses count as twice, so the hint about a second press goes away.
        model.pressed = None;
        if toast.is_some() && model.toast == toast {
            model.toast = None;
        }
    }
    effects
}

fn pressed(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let effects = match &model.dialog {
        Some(Dialog::Interaction(_)) => interaction::key(model, key),
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
    model.pressed = None;
    match &model.dialog {
        Some(Dialog::Interaction(_)) => interaction::paste(model, text),
        Some(Dialog::List(_)) => list::paste(model, text),
        Some(Dialog::Pager(_)) => pager::paste(model, text),
        Some(Dialog::Confirm(_)) => Vec::new(),
        None => composer::paste(model, text),
    }
}

#[cfg(test)]
pub mod scene;
#[cfg(test)]
mod tests;
