//! The fallback model: a provider that is down after all tries is replaced for the rest of the turn (contract,
//! chapter 30).
//!
//! The fallback is a setting that ends with the turn (`SessionSet::stand_in`), so the log alone tells the next daemon
//! process which model to ask. The conversation is rendered for it as after any other change of the model.

use proto::outcome::OutcomeKind;
use proto::record::{Level, SessionSet};
use proto::{Body, Failure, SessionOptions};

use crate::machine::{Phase, Step};

/// The model to ask when the session's own model is down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fallback {
    /// The provider's name in the config.
    pub provider: String,
    pub model: String,
    /// Reasoning effort; `None`: the model's default.
    pub effort: Option<String>,
}

impl Fallback {
    /// The model as `provider/model`.
    fn full_model(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

impl Step<'_> {
    /// Whether the fallback model may take over the turn after all tries failed. It does not replace itself, and takes over
    /// only once per turn.
    pub(crate) fn may_fall_back(&self) -> bool {
        let model = &self.facts.options.model;
        let other = self
            .fallback
            .as_ref()
            .is_some_and(|fallback| model.as_ref() != Some(&fallback.full_model()));
        let first = self.facts.open.is_some() && self.facts.stand_in.is_none();
        other && first
    }

    /// Continues the turn with the fallback model. `failure`: the error of the session's own model.
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

    /// Notifies users that the fallback model answers, once it is certain that it can be used.
    pub(crate) fn notify_fallback_in_use(&mut self) {
        if let Some((first, fallback, cause)) = self.fallback_details() {
            self.notice(
                Level::Warning,
                format!("`{first}` is not available, so `{fallback}` answers for the rest of this turn: {cause}."),
            );
        }
    }

    /// Notifies users that the fallback model cannot be used.
    pub(crate) fn notify_fallback_unusable(&mut self, why: &Failure) {
        if let Some((first, fallback, cause)) = self.fallback_details() {
            self.notice(
                Level::Warning,
                format!(
                    "`{first}` is not available ({cause}), and its fallback `{fallback}` cannot be used: {}",
                    why.message
                ),
            );
        }
    }

    /// The model that is down, the fallback model, and the error of the former.
    fn fallback_details(&self) -> Option<(String, String, String)> {
        let stand_in = self.facts.stand_in.as_ref()?;
        let first = stand_in.model.clone()?;
        let fallback = self.facts.options.model.clone()?;
        let cause = stand_in.failure.message.trim_end_matches('.').to_owned();
        Some((first, fallback, cause))
    }

    /// The outcome and error of a turn. If the fallback failed too, the error names the original model's failure first.
    pub(crate) fn with_original_failure(
        &self,
        outcome: OutcomeKind,
        error: Option<Failure>,
    ) -> (OutcomeKind, Option<Failure>) {
        let failed = matches!(outcome, OutcomeKind::Failed | OutcomeKind::ContextFull);
        match (&self.facts.stand_in, self.fallback_details(), error) {
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
