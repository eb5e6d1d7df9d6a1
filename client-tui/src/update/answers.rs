//! What became of effects.

use crate::effect::{Answer, Effect};
use crate::model::Model;

/// Takes an answer.
pub fn take(model: &mut Model, answer: Answer) -> Vec<Effect> {
    let _ = (model, answer);
    Vec::new()
}
