//! Requests to the model: assembled, sent, sampled, counted and held to budgets. Owns the route to the model, the keys,
//! the request in flight with its draft, and what requests beside the conversation use.

pub(crate) mod blocks;
pub(crate) mod budget;
pub(crate) mod draft;
pub(crate) mod gather;
pub(crate) mod in_flight;
pub(crate) mod key_filter;
pub(crate) mod keys;
pub(crate) mod reasoning;
pub(crate) mod route;
pub(crate) mod samples;
pub(crate) mod server_sampling;
pub(crate) mod shape;
pub(crate) mod side_requests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use contract::{Part, Prefix, Secret};
use proto::ItemId;
use proto::budget::Spent;
use proto::live::Live;
use proto::record::ReasoningExtracted;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use turn::{Answer, AskedModel};

use crate::assembly::setup::ModelSetup;
use crate::request::budget::{BudgetMember, RequestPermit};
use crate::request::draft::Draft;
use crate::request::gather::Gather;
use crate::request::in_flight::{Arrived, Ask, Sent};
use crate::request::keys::{AwaitedKey, Keys};
use crate::request::reasoning::Extractions;
use crate::request::route::ModelRoute;
use crate::request::samples::Sampling;
use crate::request::shape::Shape;
use crate::request::side_requests::UsageRecorder;
use crate::tasks;

/// The requests of one session.
pub(crate) struct Requests {
    route: ModelRoute,
    keys: Arc<Keys>,
    in_flight: Option<Gather>,
    /// How many this life of the session has sent.
    sent: u64,
    /// The newest request that this life of the session has sent.
    shape: Option<Arc<Shape>>,
    arrived: mpsc::Sender<(u64, Arrived)>,
    draft: Draft,
    /// What an earlier life left of an answer, until the machine is recovered.
    recovered: Option<(ItemId, Answer)>,
    /// What the session may use.
    budget: BudgetMember,
    /// The leave of the request in flight.
    leave: Option<Arc<RequestPermit>>,
    extractions: Extractions,
    /// The key of the newest request.
    sent_key: Option<Secret>,
    /// The key that the provider refused last.
    refused_key: Option<Secret>,
    /// Until when clients may bring the keys that the last daemon had.
    keys_expected_until: Option<Instant>,
}

/// How long after it was read a session waits for its key: clients connect again after a restart, and bring it.
const KEYS_EXPECTED: Duration = Duration::from_secs(5);

impl Requests {
    /// `is_new`: the session has no earlier life. Blocks: reads the draft in `dir`.
    pub fn new(
        route: ModelRoute,
        keys: Arc<Keys>,
        budget: BudgetMember,
        arrived: mpsc::Sender<(u64, Arrived)>,
        dir: &Path,
        is_new: bool,
    ) -> Self {
        let (found, recovered) = match is_new {
            true => (false, None),
            false => draft::found(dir),
        };
        Self {
            route,
            keys,
            in_flight: None,
            sent: 0,
            shape: None,
            arrived,
            draft: Draft::new(dir, found),
            recovered,
            budget,
            leave: None,
            extractions: Extractions::default(),
            sent_key: None,
            refused_key: None,
            keys_expected_until: None,
        }
    }

    pub fn route(&self) -> &ModelRoute {
        &self.route
    }

    /// Sends requests elsewhere from now on.
    pub fn set_route(&mut self, route: ModelRoute) {
        self.route = route;
    }

    /// Begins requests with this prefix from now on.
    pub fn set_prefix(&mut self, prefix: Prefix) {
        self.route.prefix = Arc::new(prefix);
    }

    pub fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    /// The key for the next request: what clients brought, then the daemon's own.
    pub fn key(&self) -> Option<Secret> {
        let variable = self.route.key_variable.as_ref()?;
        let own = || self.route.own_key.clone();
        self.keys.get(variable).or_else(own)
    }

    /// The session was read from its log: the clients that have its keys may not have come back yet.
    pub fn expect_keys(&mut self) {
        self.keys_expected_until = Some(Instant::now() + KEYS_EXPECTED);
    }

    /// The key for the next request, if it is missing and may come soon.
    pub fn awaited_key(&self) -> Option<AwaitedKey> {
        let variable = self.route.key_variable.clone()?;
        let until = self.keys_expected_until?;
        let is_awaited = self.key().is_none() && Instant::now() < until;
        is_awaited.then(|| AwaitedKey {
            keys: Arc::clone(&self.keys),
            variable,
            until,
        })
    }

    /// The provider refused the key of the newest request.
    pub fn note_refused_key(&mut self) {
        self.refused_key = self.sent_key.clone();
    }

    /// Whether there is a key that the provider has not just refused.
    pub fn has_fresh_key(&self) -> bool {
        let key = self.key();
        key.is_some() && key != self.refused_key
    }

    /// Takes keys that a client offers to all sessions: those that are missing, and another one for the refused key.
    pub fn take_offered(&self, mut credentials: BTreeMap<String, String>) {
        if let Some(variable) = self.route.key_variable.as_ref()
            && self.refused_key.is_some()
            && self.key() == self.refused_key
            && let Some(key) = credentials.remove(variable)
        {
            self.keys.put(BTreeMap::from([(variable.clone(), key)]));
        }
        self.keys.fill(credentials);
    }

    /// Whether the key that this variable holds is known.
    pub fn has_key(&self, variable: &str) -> bool {
        let is_own = self.route.key_variable.as_deref() == Some(variable);
        (is_own && self.route.own_key.is_some()) || self.keys.get(variable).is_some()
    }

    /// The request in flight.
    pub fn in_flight(&self) -> Option<&Gather> {
        self.in_flight.as_ref()
    }

    /// The request in flight was sent.
    pub fn note_sent(&mut self, sent: Sent) {
        if let Some(gather) = &mut self.in_flight {
            gather.note_sent(sent.request_bytes, sent.rewritten);
        }
        // Requests for a summary have no shape.
        self.shape = sent.shape.or(self.shape.take());
    }

    /// A part of the answer has come. True when the answer is whole.
    pub fn take_part(&mut self, part: Part) -> bool {
        self.in_flight
            .as_mut()
            .is_some_and(|gather| gather.take(part))
    }

    /// Another message begins in the place of the answer in flight. Returns what came before.
    pub fn restart_answer(&mut self) -> Option<Answer> {
        let dropped = self.in_flight.as_mut()?.restart();
        self.draft.restart();
        Some(dropped)
    }

    /// This sample of the request in flight is chosen; `found`: the extraction from its reasoning.
    pub fn choose_sample(&mut self, sample: u32, found: Option<ReasoningExtracted>) {
        if let Some(gather) = &mut self.in_flight {
            gather.choose(sample, found);
        }
    }

    /// What subscribers have not been sent of the answer in flight.
    pub fn take_fresh(&mut self) -> Vec<Live> {
        self.in_flight
            .as_mut()
            .map(Gather::fresh)
            .unwrap_or_default()
    }

    /// Notes that users are notified of the silence now. Returns its length in milliseconds.
    pub fn note_silence(&mut self) -> Option<u64> {
        self.in_flight.as_mut().map(Gather::report_silence)
    }

    /// The request in flight, which is over.
    pub fn take_in_flight(&mut self) -> Option<Gather> {
        self.in_flight.take()
    }

    /// The answer to the next request, as far as it will have come.
    pub fn next(&mut self, item: ItemId) -> Gather {
        self.sent += 1;
        self.sent_key = self.key();
        let keyless = self.route.key_variable.is_some() && self.sent_key.is_none();
        Gather::new(self.sent, item, keyless, self.route.price.clone())
    }

    /// The same where another model than the session's is asked.
    pub fn next_of(&mut self, item: ItemId, model: &ModelSetup) -> Gather {
        self.sent += 1;
        self.sent_key = self.key_of(model);
        let keyless = model.key_variable.is_some() && self.sent_key.is_none();
        let price = model.price.clone().map(Arc::new);
        Gather::new(self.sent, item, keyless, price).asking(AskedModel {
            provider: model.provider_name.clone(),
            model: model.name.clone(),
        })
    }

    /// The key for a request to another model than the session's.
    pub fn key_of(&self, model: &ModelSetup) -> Option<Secret> {
        let variable = model.key_variable.as_ref()?;
        let own = || model.own_key.clone();
        self.keys.get(variable).or_else(own)
    }

    /// Sends the request that `answer` waits for.
    pub fn send(&mut self, answer: Gather, ask: Ask) {
        let (number, cancel) = (answer.number(), answer.canceller());
        let run = in_flight::run(ask, number, cancel, self.arrived.clone());
        tasks::spawn(run);
        self.in_flight = Some(answer);
    }

    /// Sends several samples of the request that `answer` waits for.
    pub fn send_samples(&mut self, answer: Gather, sampling: Sampling) {
        let (number, cancel) = (answer.number(), answer.canceller());
        let run = samples::run(sampling, number, cancel, self.arrived.clone());
        tasks::spawn(run);
        self.in_flight = Some(answer);
    }

    pub fn shape(&self) -> Option<&Arc<Shape>> {
        self.shape.as_ref()
    }

    pub fn budget(&self) -> &BudgetMember {
        &self.budget
    }

    /// The permit for the next request: whoever sends it asks. `expected`: its expected usage; `ran_ms`: how long turns of
    /// the session have run.
    pub fn new_leave(&mut self, expected: Spent, ran_ms: u64) -> Arc<RequestPermit> {
        let leave = Arc::new(RequestPermit::new(self.budget.clone(), expected, ran_ms));
        self.leave = Some(Arc::clone(&leave));
        leave
    }

    /// No request is in flight any more.
    pub fn drop_leave(&mut self) {
        if let Some(leave) = self.leave.take() {
            leave.close();
        }
    }

    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The answer to a new request begins.
    pub fn begin_draft(&mut self) {
        self.draft.begin();
    }

    /// Something of the answer in flight was shown.
    pub fn schedule_draft(&mut self) {
        self.draft.schedule();
    }

    /// Writes what subscribers have seen of the answer in flight. `seen_of`: bytes of a message's text and reasoning.
    pub fn write_draft(&mut self, seen_of: impl FnOnce(&ItemId) -> (usize, usize)) {
        self.draft.unschedule();
        let gather = self.in_flight.as_ref().filter(|gather| gather.is_shown());
        if let Some(gather) = gather {
            self.draft.write(gather, seen_of(gather.item()));
        }
    }

    /// Whether the draft holds an answer that is over.
    pub fn has_stale_draft(&self) -> bool {
        let in_flight = self.in_flight.as_ref().map(Gather::number);
        let holds = self.draft.holds();
        holds.is_some() && holds != in_flight
    }

    pub fn remove_draft(&mut self) {
        self.draft.remove();
    }

    /// What an earlier life left of an answer. Once.
    pub fn take_recovered(&mut self) -> Option<(ItemId, Answer)> {
        self.recovered.take()
    }

    pub fn extractions(&self) -> &Extractions {
        &self.extractions
    }

    /// An extraction begins: its number, the recorder of its usage, and the token that stops it.
    pub fn start_extraction(&mut self) -> (u64, UsageRecorder, CancellationToken) {
        self.extractions.start()
    }

    /// An extraction has come to its end. `None`: it was stopped before.
    pub fn finish_extraction(&mut self, number: u64) -> Option<UsageRecorder> {
        self.extractions.finish(number)
    }

    /// Whether no extraction has failed before. Once.
    pub fn is_first_failed_extraction(&mut self) -> bool {
        self.extractions.is_first_failure()
    }

    /// Stops all extractions. Returns their usage.
    pub fn stop_extractions(&mut self) -> Vec<UsageRecorder> {
        self.extractions.stop_all()
    }

    /// Stops the request in flight, whose answer nobody takes any more. Returns what its side requests have used.
    pub fn cancel(&mut self) -> Option<UsageRecorder> {
        self.in_flight.take()?.side_requests().cloned()
    }

    /// Gives back what a session holds beside its log, at the end of its life in memory.
    pub async fn end(&mut self) {
        self.draft.rest().await;
    }
}
