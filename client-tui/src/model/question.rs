//! A question of the model, while it is open on the screen.

use std::time::Instant;

use proto::params::question::Question;

/// The questions and what was chosen so far.
#[derive(Debug)]
pub struct QuestionDialog {
    pub question: Question,
    /// When it came to the screen: keys from before it do not count.
    pub since: Instant,
}

impl QuestionDialog {
    /// The questions, unanswered.
    #[must_use]
    pub fn new(question: Question, now: Instant) -> Self {
        Self {
            question,
            since: now,
        }
    }
}
