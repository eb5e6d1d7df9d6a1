//! The composer's rows, the caret, and the menu below.

use super::Panel;
use crate::model::Model;
use crate::model::composer::Composer;

/// Its rows, at most `rows` of them, with its menu.
#[must_use]
pub fn panel(composer: &Composer, model: &Model, width: usize, rows: usize) -> Panel {
    let _ = (composer, model, width, rows);
    Panel::default()
}
