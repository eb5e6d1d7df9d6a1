//! A bound on the work of one decision.
//!
//! Counts steps instead of time, so that the same input always gives the same answer. Who runs out of steps
//! must take the stricter answer.

/// A few nanoseconds each: some 30 ms on a slow core.
const STEPS: u64 = 4_000_000;

/// There was too much to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// Steps that are left.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: STEPS }
    }

    /// Takes steps; false: there are not enough left, now and from now on.
    pub(crate) fn take(&mut self, steps: u64) -> bool {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.left = 0;
                false
            }
        }
    }
}
