//! The status line, and what stands between transcript and composer: the spinner, things to do, the queue, a toast.

use super::Panel;
use crate::model::Model;

/// The status line.
#[must_use]
pub fn panel(model: &Model, width: usize) -> Panel {
    let _ = (model, width);
    Panel::default()
}

/// What stands above the composer.
#[must_use]
pub fn above(model: &Model, width: usize) -> Panel {
    let _ = (model, width);
    Panel::default()
}
