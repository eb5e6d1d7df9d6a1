//! A session whose log cannot be written for a while: when it is looked at again, and for how long.

use std::time::Duration;

use proto::Failure;
use tokio::time::Instant;

use crate::call::CallError;

/// The first pause before it is looked at again; doubles each time.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How often the daemon may say that it is over, and end the subscription for the same reason all the same.
const BELIED_MAX: u32 = 3;

/// One such time.
pub(super) struct Outage {
    failure: Box<Failure>,
    since: Instant,
    pause: Duration,
    /// When it is looked at next; `None`: it was said to be over.
    due: Option<Instant>,
    reported: bool,
    /// How often it was said to be over, and was not.
    belied: u32,
}

impl Outage {
    pub(super) fn new(failure: Box<Failure>) -> Self {
        let since = Instant::now();
        Self {
            failure,
            since,
            pause: PAUSE_MIN,
            due: Some(since + PAUSE_MIN),
            reported: false,
            belied: 0,
        }
    }

    /// The failure to report, once.
    pub(super) fn untold(&mut self) -> Option<Box<Failure>> {
        let untold = self.due.is_some() && !std::mem::replace(&mut self.reported, true);
        untold.then(|| self.failure.clone())
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// The outage continues. An error if it has lasted for longer than `patience`.
    pub(super) fn goes_on(&mut self, patience: Duration) -> Result<(), CallError> {
        let left = patience.saturating_sub(self.since.elapsed());
        self.belied += u32::from(self.due.is_none());
        if left.is_zero() || self.belied > BELIED_MAX {
            return Err(CallError::Failure(self.failure.clone()));
        }
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        self.due = Some(Instant::now() + self.pause.min(left));
        Ok(())
    }

    /// It can be written, the daemon says. Should that not hold, it is reported again.
    pub(super) fn ends(&mut self) {
        self.due = None;
        self.reported = false;
    }
}
