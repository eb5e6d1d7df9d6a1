//! The leave to send one request of a session. As long as it is taken the request counts as being under way, with what it
//! may be expected to use.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use contract::Permit;
use contract::provider::{ErrorKind, ProviderError};
use proto::budget::Spent;

use super::{Seat, words};

/// See the module.
pub(crate) struct Leave {
    seat: Seat,
    /// What the request may be expected to use.
    estimate: Spent,
    /// How long turns of the session had run when this was made.
    ran_ms: u64,
    made: Instant,
    stands: Mutex<Stands>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// Not asked for, or given back.
    Open,
    Taken,
    /// The request is over.
    Closed,
}

impl Leave {
    pub fn new(seat: Seat, estimate: Spent, ran_ms: u64) -> Self {
        Self {
            seat,
            estimate,
            ran_ms,
            made: Instant::now(),
            stands: Mutex::new(Stands::Open),
        }
    }

    /// The request is over: it is under way no more.
    pub fn close(&self) {
        self.leave_for(Stands::Closed);
    }

    fn lock(&self) -> MutexGuard<'_, Stands> {
        self.stands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave_for(&self, next: Stands) {
        let mut stands = self.lock();
        match *stands {
            Stands::Taken => self.seat.give_back(&self.estimate),
            Stands::Open => {}
            Stands::Closed => return,
        }
        *stands = next;
    }
}

impl Permit for Leave {
    fn take(&self) -> Result<(), ProviderError> {
        let mut stands = self.lock();
        match *stands {
            Stands::Taken => Ok(()),
            Stands::Closed => Err(over()),
            Stands::Open => {
                let waited = u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX);
                let ran_ms = self.ran_ms.saturating_add(waited);
                self.seat
                    .take(ran_ms, &self.estimate)
                    .map_err(|reached| words::refusal(&reached))?;
                *stands = Stands::Taken;
                Ok(())
            }
        }
    }

    fn give_back(&self) {
        self.leave_for(Stands::Open);
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Leave {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stands = *self.lock();
        to.debug_struct("Leave")
            .field("session", &self.seat.session)
            .field("estimate", &self.estimate)
            .field("stands", &stands)
            .finish_non_exhaustive()
    }
}

/// Nobody sees it: who stopped the request has dropped it.
fn over() -> ProviderError {
    ProviderError {
        message: "the request was stopped before it was sent".into(),
        hint: String::new(),
        kind: ErrorKind::Permanent,
        status: None,
        retry_after: None,
    }
}
