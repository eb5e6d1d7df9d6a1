//! A question of the model with its options.

use super::Panel;
use crate::model::Model;
use crate::model::question::QuestionDialog;

/// Its rows, at most `rows` of them.
#[must_use]
pub fn panel(dialog: &QuestionDialog, model: &Model, width: usize, rows: usize) -> Panel {
    let _ = (dialog, model, width, rows);
    Panel::default()
}
