//! A question about a call: what would happen, why it is asked, and the keys that answer.

use super::Panel;
use crate::model::Model;
use crate::model::approval::ApprovalDialog;
use crate::render::Cache;

/// Its rows, at most `rows` of them.
pub fn panel(
    dialog: &ApprovalDialog,
    model: &Model,
    cache: &mut Cache,
    width: usize,
    rows: usize,
) -> Panel {
    let _ = (dialog, model, cache, width, rows);
    Panel::default()
}
