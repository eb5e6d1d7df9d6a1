//! The fallback model as a fold: it stands in until the turn ends, or somebody chooses a model.

use proto::Failure;
use proto::record::SessionSet;

use super::{Facts, Settings};

/// A model stands in for another one for the rest of the open turn.
#[derive(Clone, Debug, PartialEq)]
pub struct StandIn {
    /// What the other one failed with.
    pub failure: Failure,
    /// Who is asked again from the next turn on.
    pub provider: String,
    pub model: String,
    pub effort: Option<String>,
}

impl Facts {
    /// Takes in who is to be asked, and how hard it is to think.
    pub(super) fn apply_asked(&mut self, set: &SessionSet) {
        if let Some(failure) = &set.stand_in {
            // Only in an edited log there is no turn, or one that stands in already.
            let Settings {
                provider,
                model,
                effort,
                ..
            } = self.settings.clone();
            let failure = failure.clone();
            let first = StandIn {
                failure,
                provider,
                model,
                effort,
            };
            self.stand_in = self
                .open
                .is_some()
                .then(|| self.stand_in.take().unwrap_or(first));
        } else if set.model.is_some() {
            self.stand_in = None;
        }
        let settings = &mut self.settings;
        if let Some((provider, model)) = set.model.as_deref().and_then(|set| set.split_once('/')) {
            settings.provider = provider.to_owned();
            settings.model = model.to_owned();
        }
        if let Some(effort) = &set.effort {
            let effort = Some(effort.clone()).filter(|effort| !effort.is_empty());
            // Without a model it is meant for the one that the person has chosen.
            match &mut self.stand_in {
                Some(first) if set.model.is_none() => first.effort = effort,
                Some(_) | None => settings.effort = effort,
            }
        }
    }

    /// The turn is over: from the next one on it is as it was.
    pub(super) fn end_stand_in(&mut self) {
        if let Some(first) = self.stand_in.take() {
            self.settings.provider = first.provider;
            self.settings.model = first.model;
            self.settings.effort = first.effort;
        }
    }

    /// `provider/model` that is asked again from the next turn on, where another one stands in for it.
    #[must_use]
    pub fn instead_of(&self) -> Option<String> {
        let first = self.stand_in.as_ref()?;
        Some(format!("{}/{}", first.provider, first.model))
    }
}
