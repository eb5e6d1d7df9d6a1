//! The permit to send one request of a session. As long as it is taken the request counts as being under way, with the
//! usage that it may be expected to have.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use contract::Permit;
use contract::provider::{ErrorKind, ProviderError};
use proto::budget::Spent;

use super::{BudgetMember, words};

/// See the module.
pub(crate) struct RequestPermit {
    budget_member: BudgetMember,
    /// What the request may be expected to use.
    estimate: Spent,
    /// How long turns of the session had run when this was made.
    ran_ms: u64,
    made: Instant,
    state: Mutex<PermitState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermitState {
    /// Not asked for, or given back.
    Open,
    Taken,
    /// The request is over.
    Closed,
}

impl RequestPermit {
    pub fn new(budget_member: BudgetMember, estimate: Spent, ran_ms: u64) -> Self {
        Self {
            budget_member,
            estimate,
            ran_ms,
            made: Instant::now(),
            state: Mutex::new(PermitState::Open),
        }
    }

    /// The request is over: it is under way no more.
    pub fn close(&self) {
        self.leave_for(PermitState::Closed);
    }

    fn lock(&self) -> MutexGuard<'_, PermitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave_for(&self, next: PermitState) {
        let mut state = self.lock();
        match *state {
            PermitState::Taken => self.budget_member.give_back(&self.estimate),
            PermitState::Open => {}
            PermitState::Closed => return,
        }
        *state = next;
    }
}

impl Permit for RequestPermit {
    fn take(&self) -> Result<(), ProviderError> {
        let mut state = self.lock();
        match *state {
            PermitState::Taken => Ok(()),
            PermitState::Closed => Err(over()),
            PermitState::Open => {
                let waited = u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX);
                let ran_ms = self.ran_ms.saturating_add(waited);
                self.budget_member
                    .take(ran_ms, &self.estimate)
                    .map_err(|reached| words::refusal(&reached))?;
                *state = PermitState::Taken;
                Ok(())
            }
        }
    }

    fn give_back(&self) {
        self.leave_for(PermitState::Open);
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for RequestPermit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = *self.lock();
        to.debug_struct("RequestPermit")
            .field("session", &self.budget_member.session)
            .field("estimate", &self.estimate)
            .field("state", &state)
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
        of_model: false,
        empty: false,
        window: None,
    }
}
