//! Keys of the question.

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
