//! A bound on the work of one decision.
//!
//! Counts steps instead of time, so that equal input always gives equal answers. Code that runs out of steps must take
//! the stricter answer.

/// Each step takes a few nanoseconds: about 30 ms in total on a slow core.
const STEPS: u64 = 4_000_000;

/// The input needs more steps than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// The remaining steps.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: STEPS }
    }

    /// Takes steps. False: not enough are left, now and in later calls.
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

    /// Takes steps, as a result.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        if self.take(steps) {
            Ok(())
        } else {
            Err(Exhausted)
        }
    }
}
