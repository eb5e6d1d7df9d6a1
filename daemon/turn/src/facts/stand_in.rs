//! The fallback model as a fold: it stands in until the turn ends, or somebody chooses a model.

use proto::record::SessionSet;
use proto::{Failure, SessionOptions};

use super::Facts;

/// A model stands in for another one for the rest of the open turn.
#[derive(Clone, Debug, PartialEq)]
pub struct FallbackInUse {
    /// What the other one failed with.
    pub failure: Failure,
    /// Who is asked again from the next turn on, as `provider/model`.
    pub model: Option<String>,
    pub effort: Option<String>,
}

impl Facts {
    /// Notes the beginning and the end of a stand-in. Returns the options that change now: an effort that is set while a
    /// model stands in is kept for the model that the person has chosen.
    pub(super) fn chosen_while_stood_in(&mut self, set: &SessionSet) -> SessionOptions {
        let mut options = set.options.clone();
        if let Some(failure) = &set.stand_in {
            // Only in an edited log there is no turn, or one that stands in already.
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

    /// The turn is over: from the next one on it is as it was.
    pub(super) fn end_stand_in(&mut self) {
        if let Some(first) = self.stand_in.take() {
            self.options.model = first.model;
            self.options.effort = first.effort;
        }
    }

    /// `provider/model` that is asked again from the next turn on, where another one stands in for it.
    #[must_use]
    pub fn instead_of(&self) -> Option<String> {
        self.stand_in.as_ref()?.model.clone()
    }
}
