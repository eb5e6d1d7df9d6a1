//! Slash commands, done.

use crate::effect::Effect;
use crate::model::Model;
use crate::slash::Row;

/// Does what a command says.
pub fn run(model: &mut Model, row: &'static Row, arguments: &str) -> Vec<Effect> {
    let _ = (model, row, arguments);
    Vec::new()
}
