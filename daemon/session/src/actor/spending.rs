//! The actor's part of budgets: the permit for each request, the usage of an answer, and notices to users about it.

use std::sync::Arc;

use proto::budget::Spent;
use proto::outcome::UsageTotals;
use proto::record::{Purpose, Usage};
use proto::{Body, Record};

use crate::actor::Actor;
use crate::request::budget::{self, RequestPermit};

impl Actor {
    /// The leave for the next request: whoever sends it asks.
    pub(crate) fn new_leave(&mut self) -> Arc<RequestPermit> {
        self.requests.new_leave(self.expected(), self.ran_ms())
    }

    /// What the next request may be expected to use: its prompt is about as long as the newest one with its answer.
    pub(crate) fn expected(&self) -> Spent {
        let facts = self.machine.facts();
        let bytes = self.requests.route().prefix_bytes();
        let tokens = match facts.context_tokens {
            // A quarter of a token for a byte (see `contract::estimate`).
            0 => bytes / 4,
            tokens => tokens,
        };
        let cached = facts.cached_tokens.unwrap_or(0);
        budget::expected(tokens, cached, self.requests.route().price.as_deref())
    }

    /// How long turns of the session have run.
    pub(crate) fn ran_ms(&self) -> u64 {
        self.machine.ran_ms(self.now())
    }

    /// An answer, with the budget notices that its usage causes. A failed answer that reported no usage uses
    /// nothing, as in the usage ledger.
    pub(crate) fn weighed(&mut self, mut answer: turn::Answer, whole: bool) -> turn::Answer {
        if !whole && answer.reported.is_none() {
            return answer;
        }
        self.requests.budget().ran(self.ran_ms());
        let reported = answer.reported.unwrap_or_default();
        let more = Spent {
            cost_micros: answer.cost_micros.unwrap_or(0),
            tokens: reported
                .prompt_tokens
                .saturating_add(reported.output_tokens),
            steps: 1,
            ms: 0,
            unpriced: u64::from(answer.cost_micros.is_none()),
        };
        let model = match &answer.asked {
            Some(asked) => format!("{}/{}", asked.provider, asked.model),
            None => self.machine.facts().wire.full_model(),
        };
        let notices = self
            .requests
            .budget()
            .notices(&model, &more, answer.reported.is_some());
        answer.notices = notices;
        answer
    }

    /// The budget notices that the usage of a request beside the conversation causes.
    pub(crate) fn weighed_beside(&self, usage: &Usage) -> Vec<String> {
        let more = budget::spent(&UsageTotals::of(usage));
        let model = format!("{}/{}", usage.provider, usage.model);
        self.requests
            .budget()
            .notices(&model, &more, usage.reported)
    }

    /// Takes in what a record says of usage and of budgets.
    pub(crate) fn charge(&mut self, record: &Record) {
        match &record.body {
            Body::Usage(usage) => {
                let spent = budget::spent(&UsageTotals::of(usage));
                self.requests.budget().charge(record.seq, record.at, spent);
                // Of others the one in flight is not over.
                if matches!(usage.purpose, Purpose::Answer | Purpose::Summary) {
                    self.requests.drop_leave();
                }
            }
            Body::SessionSet(set) if set.options.budget.is_some() => {
                let budget = self.machine.facts().options.budget;
                self.requests.budget().bound(budget.unwrap_or_default());
            }
            Body::TurnEnded(_) => self.requests.budget().ran(self.ran_ms()),
            _ => {}
        }
    }
}
