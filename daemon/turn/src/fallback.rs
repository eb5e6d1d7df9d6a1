//! The fallback model: a provider that is down after all tries is replaced for the rest of the turn (contract,
//! chapter 30).
//!
//! It is a setting that ends with the turn (`SessionSet::stand_in`), so that the log alone tells a next life who is asked.
//! The conversation is rendered for it as for any other model that is chosen.

use proto::outcome::OutcomeKind;
use proto::record::{Level, SessionSet};
use proto::{Body, Failure, SessionOptions};

use crate::machine::{Phase, Step};

/// Who is asked where the session's own model is down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fallback {
    /// By its name in the config.
    pub provider: String,
    pub model: String,
    /// How hard it thinks; `None`: as it does by itself.
    pub effort: Option<String>,
}

impl Fallback {
    /// The model as `provider/model`.
    fn full_model(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

impl Step<'_> {
    /// Whether the fallback goes on with the turn when all tries are over. Not for itself, and once a turn.
    pub(crate) fn may_fall_back(&self) -> bool {
        let model = &self.facts.options.model;
        let other = self
            .fallback
            .as_ref()
            .is_some_and(|fallback| model.as_ref() != Some(&fallback.full_model()));
        let first = self.facts.open.is_some() && self.facts.stand_in.is_none();
        other && first
    }

    /// Goes on with the turn. `failure`: what the session's own model failed with.
    pub(crate) fn fall_back(&mut self, failure: Failure) -> Phase {
        let Some(fallback) = self.fallback.clone() else {
            return self.end_turn(OutcomeKind::Failed, None, Some(failure));
        };
        self.append(Body::SessionSet(SessionSet {
            options: SessionOptions {
                model: Some(fallback.full_model()),
                effort: Some(fallback.effort.unwrap_or_default()),
                ..SessionOptions::default()
            },
            stand_in: Some(failure),
            ..SessionSet::default()
        }));
        match self.held() {
            true => Phase::Held,
            false => self.ask(),
        }
    }

    /// People are told, once it is certain that the fallback can be asked.
    pub(crate) fn tell_stand_in(&mut self) {
        if let Some((first, fallback, cause)) = self.stand_in_words() {
            self.notice(
                Level::Warning,
                format!("`{first}` is not available, so `{fallback}` answers for the rest of this turn: {cause}."),
            );
        }
    }

    /// People are told that the fallback cannot be asked.
    pub(crate) fn tell_no_stand_in(&mut self, why: &Failure) {
        if let Some((first, fallback, cause)) = self.stand_in_words() {
            self.notice(
                Level::Warning,
                format!(
                    "`{first}` is not available ({cause}), and its fallback `{fallback}` cannot be used: {}",
                    why.message
                ),
            );
        }
    }

    /// Who is down, who stands in, and what the first failed with.
    fn stand_in_words(&self) -> Option<(String, String, String)> {
        let stand_in = self.facts.stand_in.as_ref()?;
        let first = stand_in.model.clone()?;
        let fallback = self.facts.options.model.clone()?;
        let cause = stand_in.failure.message.trim_end_matches('.').to_owned();
        Some((first, fallback, cause))
    }

    /// What a turn fails with: where the fallback failed too, the cause is the first one's.
    pub(crate) fn first_cause(
        &self,
        outcome: OutcomeKind,
        error: Option<Failure>,
    ) -> (OutcomeKind, Option<Failure>) {
        let failed = matches!(outcome, OutcomeKind::Failed | OutcomeKind::ContextFull);
        match (&self.facts.stand_in, self.stand_in_words(), error) {
            (Some(stand_in), Some((_, fallback, cause)), Some(second)) if failed => {
                let mut failure = stand_in.failure.clone();
                let second = second.message.trim_end_matches('.');
                failure.message =
                    format!("{cause}. The fallback `{fallback}` failed too: {second}");
                (OutcomeKind::Failed, Some(failure))
            }
            (_, _, error) => (outcome, error),
        }
    }
}
