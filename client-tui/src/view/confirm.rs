//! A yes or no.

use super::Panel;
use crate::model::Model;
use crate::model::confirm::Confirm;

/// Its rows.
#[must_use]
pub fn panel(confirm: &Confirm, model: &Model, width: usize) -> Panel {
    let _ = (confirm, model, width);
    Panel::default()
}
