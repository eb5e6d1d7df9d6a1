//! A question about a call, while it is open on the screen.

use std::time::Instant;

use proto::params::approval::Approval;

/// The question and what was chosen so far.
#[derive(Debug)]
pub struct ApprovalDialog {
    pub approval: Approval,
    /// When it came to the screen: keys from before it do not count.
    pub since: Instant,
}

impl ApprovalDialog {
    /// The question as it is asked.
    #[must_use]
    pub fn new(approval: Approval, now: Instant) -> Self {
        Self {
            approval,
            since: now,
        }
    }
}
