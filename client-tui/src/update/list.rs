//! Keys of the list.

use crossterm::event::KeyEvent;

use crate::effect::Effect;
use crate::model::Model;

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let _ = (model, key);
    None
}

/// Takes a paste.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let _ = (model, text);
    Vec::new()
}

/// Opens a list, and asks for what stands in it.
pub fn open(model: &mut Model, what: crate::model::list::ListOf) -> Vec<Effect> {
    let _ = (model, what);
    Vec::new()
}

/// Takes an answer that a list asked for: sessions, processes, what waits, turns, a preview.
pub fn take(model: &mut Model, answer: crate::effect::Answer) -> Vec<Effect> {
    let _ = (model, answer);
    Vec::new()
}

/// Time went by: a list that shows what runs asks again.
pub fn tick(model: &mut Model) -> Vec<Effect> {
    let _ = model;
    Vec::new()
}
