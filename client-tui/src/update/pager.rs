//! Keys of the pager.

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

/// Opens something to read.
pub fn open(model: &mut Model, what: crate::model::pager::Reading) -> Vec<Effect> {
    let _ = (model, what);
    Vec::new()
}

/// Takes earlier events of the session, read back.
pub fn take(model: &mut Model, answer: crate::effect::Answer) -> Vec<Effect> {
    let _ = (model, answer);
    Vec::new()
}
