//! A yes or no before something that cannot be taken back.

use std::time::Instant;

use crate::effect::Effect;

/// What is asked, and what each answer does.
#[derive(Debug)]
pub struct Confirm {
    /// What would happen, a line each.
    pub words: Vec<String>,
    pub yes: Vec<Effect>,
    /// When it came to the screen.
    pub since: Instant,
}
