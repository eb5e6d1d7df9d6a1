//! The fallback model as a fold: it is used until the turn ends, or until a user chooses a model.

use proto::record::SessionSet;
use proto::{Failure, SessionOptions};

use super::Facts;

/// The fallback model replaces the session's own model for the rest of the open turn.
#[derive(Clone, Debug, PartialEq)]
pub struct FallbackInUse {
    /// The failure of the session's own model.
    pub failure: Failure,
    /// The session's own model as `provider/model`, used again from the next turn on.
    pub model: Option<String>,
    pub effort: Option<String>,
}

impl Facts {
    /// Notes the start and the end of a fallback. Returns the options that change now: an effort that is set while the
    /// fallback is in use is stored for the session's own model.
    pub(super) fn apply_fallback(&mut self, set: &SessionSet) -> SessionOptions {
        let mut options = set.options.clone();
        if let Some(failure) = &set.stand_in {
            // Only an edited log can lack an open turn here, or have a fallback in use already.
            let first = FallbackInUse {
                failure: failure.clone(),
                model: self.options.model.clone(),
                effort: self.options.effort.clone(),
            };
            self.stand_in = self
                .open
                .is_some()
                .then(|| self.stand_in.take().unwrap_or(first));
        } else if options.model.is_some() {
            self.stand_in = None;
        }
        if options.model.is_none()
            && let Some(first) = &mut self.stand_in
            && let Some(effort) = options.effort.take()
        {
            first.effort = Some(effort).filter(|effort| !effort.is_empty());
        }
        options
    }

    /// Restores the session's own model at the end of the turn.
    pub(super) fn end_fallback(&mut self) {
        if let Some(first) = self.stand_in.take() {
            self.options.model = first.model;
            self.options.effort = first.effort;
        }
    }

    /// The session's own model (`provider/model`) while the fallback replaces it.
    #[must_use]
    pub fn instead_of(&self) -> Option<String> {
        self.stand_in.as_ref()?.model.clone()
    }
}
