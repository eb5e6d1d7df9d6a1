//! Lists: rows, what is chosen, a preview where there is room.

use super::Panel;
use crate::model::Model;
use crate::model::list::ListDialog;

/// Its rows, at most `rows` of them; where it covers the screen, exactly so many.
#[must_use]
pub fn panel(dialog: &ListDialog, model: &Model, width: usize, rows: usize) -> Panel {
    let _ = (dialog, model, width, rows);
    Panel::default()
}
