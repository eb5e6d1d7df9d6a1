//! What the session that is followed tells.

use crate::effect::Effect;
use crate::event::Heard;
use crate::model::Model;

/// Takes what was heard. What an earlier following still brings is dropped.
pub fn heard(model: &mut Model, follow: u64, heard: Heard) -> Vec<Effect> {
    let _ = (model, follow, heard);
    Vec::new()
}
