//! Something to read on the whole screen.

use super::Panel;
use crate::model::Model;
use crate::model::pager::Pager;
use crate::render::Cache;

/// Exactly `rows` rows.
pub fn panel(pager: &Pager, model: &Model, cache: &mut Cache, width: usize, rows: usize) -> Panel {
    let _ = (pager, model, cache, width, rows);
    Panel::default()
}
