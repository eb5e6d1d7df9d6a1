//! Actions that do not belong to one part of the screen.

use crate::effect::Effect;
use crate::keymap::Action;
use crate::model::Model;

/// Does it.
pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let _ = (model, action);
    Vec::new()
}
