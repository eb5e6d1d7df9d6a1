//! Keys of the approval.

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

/// Opens the oldest question about a call, or of the model, that is open and not set aside, where nothing else is open;
/// closes one that was answered elsewhere. Called after every event.
pub fn offer(model: &mut Model) -> Vec<Effect> {
    let _ = model;
    Vec::new()
}

/// Opens the oldest question again that was set aside; false: there is none in this session.
pub fn reopen(model: &mut Model) -> bool {
    let _ = model;
    false
}
