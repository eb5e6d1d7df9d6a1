//! What was written, sent: a prompt, or a command.

use proto::params::session::When;

use crate::effect::Effect;
use crate::model::Model;

/// Sends the draft: a command is done, a prompt goes to the session, or makes one.
pub fn send(model: &mut Model, when: When) -> Vec<Effect> {
    let _ = (model, when);
    Vec::new()
}
