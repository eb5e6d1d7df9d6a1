//! Extractions: what the model has reasoned is turned into lists by a request of its own, beside the turn. It delays
//! nothing, breaks nothing, and goes with the session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::codec::FragmentRole;
use contract::{
    Asked, Codec, Fragment, Prefix, Provider, Request, RequestEnvironment, Secret, ToolChoice,
};
use proto::ItemId;
use proto::budget::Spent;
use proto::item::{Item, UserMessage, Voice};
use proto::record::{Purpose, ReasoningExtracted};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::assembly::setup::{Assembly, ModelSetup};
use crate::request::budget::{self, BudgetMember, RequestPermit};
use crate::request::keys::Keys;
use crate::request::side_requests::{BillingContext, UsageRecorder, hear};
use crate::tasks::blocking;

/// A request beside the conversation that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What an actor has of its extractions.
#[derive(Default)]
pub(crate) struct Extractions {
    begun: u64,
    under_way: BTreeMap<u64, (UsageRecorder, DropGuard)>,
    /// A failed extraction was reported.
    reported: bool,
}

impl Extractions {
    /// Starts one: its number, where its use is noted, and what stops it.
    pub fn start(&mut self) -> (u64, UsageRecorder, CancellationToken) {
        self.begun += 1;
        let (recorder, cancel) = (UsageRecorder::default(), CancellationToken::new());
        let entry = (recorder.clone(), cancel.clone().drop_guard());
        self.under_way.insert(self.begun, entry);
        (self.begun, recorder, cancel)
    }

    /// One has ended: its usage. `None`: it was dropped before.
    pub fn finish(&mut self, number: u64) -> Option<UsageRecorder> {
        self.under_way.remove(&number).map(|(recorder, _)| recorder)
    }

    /// Stops all that are under way: what each has used.
    pub fn stop_all(&mut self) -> Vec<UsageRecorder> {
        let stopped = std::mem::take(&mut self.under_way);
        stopped
            .into_values()
            .map(|(recorder, _)| recorder)
            .collect()
    }

    /// Whether a failure is the session's first: users are notified once.
    pub fn is_first_failure(&mut self) -> bool {
        !std::mem::replace(&mut self.reported, true)
    }

    /// Whether none is under way.
    pub fn are_over(&self) -> bool {
        self.under_way.is_empty()
    }
}

/// Where a request beside the conversation comes from.
pub(crate) struct SideRequestContext {
    pub assembly: Arc<dyn Assembly>,
    pub cwd: PathBuf,
    /// The session's own, as `provider/model`.
    pub model: String,
    pub keys: Arc<Keys>,
    pub ground: RequestEnvironment,
    pub item: ItemId,
    pub step: u64,
    pub side_budget: SideRequestBudget,
}

/// What budgets have to know of requests beside the conversation.
#[derive(Clone)]
pub(crate) struct SideRequestBudget {
    pub budget_member: BudgetMember,
    /// How long turns of the session have run.
    pub ran_ms: u64,
    /// What the next request of the conversation may be expected to use.
    pub expected: Spent,
}

impl SideRequestBudget {
    /// The leave for a request that may be expected to use so much.
    pub fn leave(&self, expected: Spent) -> Arc<RequestPermit> {
        Arc::new(RequestPermit::new(
            self.budget_member.clone(),
            expected,
            self.ran_ms,
        ))
    }
}

/// Who is asked beside the conversation.
pub(crate) struct SideRequestTarget {
    codec: Arc<dyn Codec>,
    provider: Arc<dyn Provider>,
    prefix: Prefix,
    key: Option<Secret>,
    ground: RequestEnvironment,
    bill: BillingContext,
    side_budget: SideRequestBudget,
}

impl SideRequestTarget {
    /// Looks up who is asked for extractions.
    ///
    /// # Errors
    /// Nobody can be: why.
    pub async fn find(around: SideRequestContext) -> Result<Self, String> {
        Self::cheap(around, Purpose::Extraction, turn::extraction::SYSTEM).await
    }

    /// Looks up who reviews calls.
    ///
    /// # Errors
    /// Nobody can: why.
    pub async fn reviewer(around: SideRequestContext) -> Result<Self, String> {
        Self::cheap(around, Purpose::Review, turn::review::SYSTEM).await
    }

    /// The model for cheap requests, with a system prompt of its own. It answers with a JSON object.
    async fn cheap(
        around: SideRequestContext,
        purpose: Purpose,
        system: &str,
    ) -> Result<Self, String> {
        let (assembly, cwd) = (Arc::clone(&around.assembly), around.cwd.clone());
        let model = around.model.clone();
        let aide = blocking(move || assembly.aide(&cwd, &model)).await;
        let aide = aide.map_err(|failure| failure.message)?;
        let aide = aide.map_err(|failure| failure.message)?;
        let mut aide = Self::of(around, aide, purpose, system);
        let json_mode = aide.codec.json_mode();
        aide.add_member(json_mode);
        Ok(aide)
    }

    /// This model, with a system prompt of its own.
    pub fn of(
        around: SideRequestContext,
        model: ModelSetup,
        purpose: Purpose,
        system: &str,
    ) -> Self {
        let prefix = model.codec.prefix(&model.name, system, &[]);
        let variable = model.key_variable.as_ref();
        let brought = variable.and_then(|variable| around.keys.get(variable));
        Self {
            key: brought.or(model.own_key),
            codec: model.codec,
            provider: model.provider,
            prefix,
            ground: around.ground,
            bill: BillingContext {
                item: around.item,
                provider: model.provider_name,
                model: model.name,
                purpose,
                step: around.step,
                price: model.price.map(Arc::new),
            },
            side_budget: around.side_budget,
        }
    }

    pub fn codec(&self) -> &dyn Codec {
        &*self.codec
    }

    /// As its provider names it.
    pub fn model(&self) -> &str {
        &self.bill.model
    }

    /// Adds a member to the request; an empty one is none.
    pub fn add_member(&mut self, member: &str) {
        let extra = &mut self.prefix.extra;
        if !extra.is_empty() && !member.is_empty() {
            extra.push(',');
        }
        extra.push_str(member);
    }

    /// Asks for an answer of at most so many tokens, if the kind of provider has a member for that.
    pub fn limit_output(&mut self, tokens: u64) {
        if let Some(extra) = self.codec.with_output_limit(&self.prefix.extra, tokens) {
            self.prefix.extra = extra;
        }
    }

    /// Extracts lists from a trace. Its usage is noted under `slot`.
    ///
    /// # Errors
    /// It came to nothing: why.
    pub async fn extract(
        &self,
        trace: &str,
        recorder: (&UsageRecorder, u32),
    ) -> Result<ReasoningExtracted, String> {
        let answer = self
            .ask_text(&turn::extraction::demand(trace), recorder)
            .await?;
        let found = turn::extraction::parse(self.bill.item.clone(), &answer);
        found.ok_or_else(|| "its answer is not the expected JSON object".to_owned())
    }

    /// Asks one question, and returns the text of the answer. Its usage is noted under `slot`.
    ///
    /// # Errors
    /// None came: why.
    pub async fn ask_text(
        &self,
        text: &str,
        recorder: (&UsageRecorder, u32),
    ) -> Result<String, String> {
        let question = Item::User(UserMessage {
            item: ItemId("h".into()),
            prompt_id: None,
            text: text.to_owned(),
            context: None,
            voice: Voice::Daemon,
            from: None,
            attached: Vec::new(),
            reported: Vec::new(),
        });
        let question = self.codec.render(&question).unwrap_or_default();
        let fragment = Fragment {
            role: FragmentRole::User,
            bytes: question.as_bytes(),
        };
        Ok(self.ask(&[fragment], recorder).await?.text)
    }

    /// Asks for one answer. Its usage is noted under `slot`.
    ///
    /// # Errors
    /// None came: why.
    pub async fn ask(
        &self,
        fragments: &[Fragment<'_>],
        recorder: (&UsageRecorder, u32),
    ) -> Result<turn::Answer, String> {
        let bytes: usize = fragments.iter().map(|fragment| fragment.bytes.len()).sum();
        let body = self.codec.assemble(&Asked {
            prefix: &self.prefix,
            fragments,
            tool_choice: ToolChoice::None,
            cache_key: "",
        });
        let budget_member = self.side_budget.budget_member.clone();
        let bounded = blocking(move || budget_member.read_bounds()).await;
        let bounded = bounded.map_err(|failure| failure.message)?;
        let prepared = self.side_budget.budget_member.prepare(bounded).await;
        prepared.map_err(|error| error.message)?;
        // A quarter of a token for a byte (see `contract::estimate`).
        let expected = budget::expected(bytes as u64 / 4, 0, self.bill.price.as_deref());
        let request = Request {
            body,
            model: self.prefix.model.clone(),
            key: self.key.clone(),
            attempt: 1,
            answered: 0,
            ground: self.ground.clone(),
            permit: self.side_budget.leave(expected),
        };
        let hearing = hear(&self.provider, request, &self.bill, recorder, None);
        let heard = tokio::time::timeout(PATIENCE, hearing).await;
        let heard = heard.map_err(|_| "it timed out".to_owned())?;
        Ok(heard.map_err(|error| error.message)?.answer)
    }
}
