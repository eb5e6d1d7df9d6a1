//! The answer of a model as it arrives, and the keys that a request for it may wait for.

use std::collections::BTreeMap;

use contract::provider::{ErrorKind, Part, ProviderError};
use proto::Body;
use proto::live::Live;
use turn::Input;
use uuid::Uuid;

use crate::actor::Actor;
use crate::request::gather::Gather;
use crate::request::in_flight::{self as asking, Arrived};

impl Actor {
    /// `number`: that of the request. What comes of one that is no longer awaited is dropped.
    pub(super) fn arrive(&mut self, number: u64, what: Arrived) {
        let awaited = self.requests.in_flight().map(Gather::number);
        if awaited != Some(number) {
            return;
        }
        match what {
            Arrived::Sent(sent) => {
                if let Some(place) = &sent.rewritten {
                    tracing::error!(%place, "earlier bytes of a conversation have changed");
                }
                self.requests.note_sent(sent);
            }
            Arrived::Part(Part::Restarted) => {
                if let Some(dropped) = self.requests.restart_answer() {
                    let dropped = Box::new(self.weighed(dropped, false));
                    self.step(Input::AnswerRestarted { dropped });
                }
            }
            Arrived::Part(part) => self.take_part(part),
            Arrived::Sampled { is_in, of } => {
                let status = serde_json::json!({"samples_in": is_in, "samples": of});
                self.live(&Live::Status(status));
            }
            Arrived::Chosen { at, found } => self.requests.choose_sample(at, found),
            Arrived::Broke(error) => self.answer_broke(error),
        }
    }

    fn take_part(&mut self, part: Part) {
        let silent = self.requests.in_flight().and_then(Gather::silent_since);
        let turn = asking::waits_or_sent(&part);
        let whole = self.requests.take_part(part);
        if silent.is_some() {
            self.tell_seen();
        }
        let Some(gather) = self.requests.in_flight() else {
            return;
        };
        if let Some(turn) = turn {
            self.step(turn);
        } else if whole {
            self.show_growth();
            if let Some(gather) = self.requests.take_in_flight() {
                self.answered(gather);
            }
        } else if gather.has_fresh() {
            self.viewers.schedule_frame();
        }
    }

    /// An answer ends before it is whole.
    fn answer_broke(&mut self, error: ProviderError) {
        self.note_samples();
        self.show_growth();
        let Some(gather) = self.requests.take_in_flight() else {
            return;
        };
        let keyless = gather.is_keyless();
        let partial = Box::new(self.weighed(gather.finish(), false));
        // A goal that starts with the daemon may be there before its key.
        let has_goal = self.machine.facts().goal.is_some();
        let key_lost = keyless && (has_goal || self.key_was_brought());
        if error.kind == ErrorKind::Credentials && !keyless {
            self.requests.note_refused_key();
        }
        self.step(Input::Broke {
            error,
            partial,
            jitter: chance(),
            key_lost,
        });
        // One may have come while the request was on its way without.
        self.use_new_key();
    }

    /// An answer is whole.
    fn answered(&mut self, mut gather: Gather) {
        let wanted = self.machine.facts().options.extract_reasoning == Some(true);
        let extractions = wanted && gather.is_shown() && gather.side_requests().is_none();
        let around = extractions.then(|| self.around(gather.item().clone()));
        let found = gather.take_found();
        gather.leave_out_taken();
        if let Some(recorder) = gather.side_requests() {
            self.note_spent(recorder);
        }
        let answer = self.weighed(gather.finish(), true);
        let trace = around.as_ref().map(|_| answer.reasoning.clone());
        self.step(Input::Answered(Box::new(answer)));
        if let Some(found) = found {
            self.note(Body::ReasoningExtracted(found));
        }
        if let (Some(around), Some(trace)) = (around, trace) {
            self.begin_extraction(around, trace);
        }
    }

    /// The part of an answer in progress that has been shown.
    pub(crate) fn partial(&mut self) -> Option<Box<turn::Answer>> {
        self.show_growth();
        let gather = self.requests.in_flight()?;
        Some(Box::new(gather.answer().clone()))
    }

    /// Whether a client brought the key when the session was made.
    fn key_was_brought(&self) -> bool {
        let created = self.machine.facts().created.as_ref();
        let brought =
            |variable: &String| created.is_some_and(|created| created.env_names.contains(variable));
        self.requests
            .route()
            .key_variable
            .as_ref()
            .is_some_and(brought)
    }

    /// Takes keys that a client has.
    pub(crate) fn offer_keys(&mut self, credentials: BTreeMap<String, String>) {
        self.requests.take_offered(credentials);
        self.use_new_key();
    }

    /// Goes on where a request waits for a key that is there now.
    pub(crate) fn use_new_key(&mut self) {
        if self.machine.wants_credentials() && self.requests.has_fresh_key() {
            self.step(Input::CredentialsArrived);
        }
    }
}

/// A number in 0..1 by chance.
#[allow(clippy::cast_precision_loss, reason = "only chance is wanted")]
fn chance() -> f64 {
    Uuid::new_v4().as_u128() as f64 / u128::MAX as f64
}
