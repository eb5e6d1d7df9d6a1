//! Extractions: what the model has reasoned is turned into lists by a request of its own, beside the turn. It delays
//! nothing, breaks nothing, and goes with the session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::codec::FragmentRole;
use contract::{Asked, Codec, Fragment, Ground, Prefix, Provider, Request, Secret, ToolChoice};
use proto::ItemId;
use proto::budget::Spent;
use proto::item::{Item, UserMessage, Voice};
use proto::record::{Purpose, ReasoningExtracted};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::assembly::setup::Assembly;
use crate::request::budget::{self, BudgetMember, RequestPermit};
use crate::request::keys::Keys;
use crate::request::side_requests::{Bill, UsageRecorder, hear};
use crate::tasks::blocking;

/// An extraction that takes longer is given up.
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
    pub ground: Ground,
    pub item: ItemId,
    pub step: u64,
    pub purse: Purse,
}

/// What budgets have to know of requests beside the conversation.
#[derive(Clone)]
pub(crate) struct Purse {
    pub seat: BudgetMember,
    /// How long turns of the session have run.
    pub ran_ms: u64,
    /// What the next request of the conversation may be expected to use.
    pub expected: Spent,
}

impl Purse {
    /// The leave for a request that may be expected to use so much.
    pub fn leave(&self, expected: Spent) -> Arc<RequestPermit> {
        Arc::new(RequestPermit::new(self.seat.clone(), expected, self.ran_ms))
    }
}

/// Who is asked for extractions.
pub(crate) struct Aide {
    codec: Arc<dyn Codec>,
    provider: Arc<dyn Provider>,
    prefix: Prefix,
    key: Option<Secret>,
    ground: Ground,
    bill: Bill,
    purse: Purse,
}

impl Aide {
    /// Looks up who is asked.
    ///
    /// # Errors
    /// Nobody can be: why.
    pub async fn find(around: SideRequestContext) -> Result<Self, String> {
        let (assembly, cwd, model) = (around.assembly, around.cwd, around.model);
        let aide = blocking(move || assembly.aide(&cwd, &model)).await;
        let aide = aide.map_err(|failure| failure.message)?;
        let aide = aide.map_err(|failure| failure.message)?;
        let mut prefix = aide.codec.prefix(&aide.name, turn::extraction::SYSTEM, &[]);
        let json_mode = aide.codec.json_mode();
        if !prefix.extra.is_empty() && !json_mode.is_empty() {
            prefix.extra.push(',');
        }
        prefix.extra.push_str(json_mode);
        let variable = aide.key_variable.as_ref();
        let brought = variable.and_then(|variable| around.keys.get(variable));
        Ok(Self {
            key: brought.or(aide.own_key),
            codec: aide.codec,
            provider: aide.provider,
            prefix,
            ground: around.ground,
            bill: Bill {
                item: around.item,
                provider: aide.provider_name,
                model: aide.name,
                purpose: Purpose::Extraction,
                step: around.step,
                price: aide.price.map(Arc::new),
            },
            purse: around.purse,
        })
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
        let question = Item::User(UserMessage {
            item: ItemId("h".into()),
            prompt_id: None,
            text: turn::extraction::demand(trace),
            context: None,
            voice: Voice::Daemon,
            attached: Vec::new(),
        });
        let question = self.codec.render(&question).unwrap_or_default();
        let body = self.codec.assemble(&Asked {
            prefix: &self.prefix,
            fragments: &[Fragment {
                role: FragmentRole::User,
                bytes: question.as_bytes(),
            }],
            tool_choice: ToolChoice::None,
            cache_key: "",
        });
        let seat = self.purse.seat.clone();
        let bounded = blocking(move || seat.read_bounds()).await;
        let bounded = bounded.map_err(|failure| failure.message)?;
        let prepared = self.purse.seat.prepare(bounded).await;
        prepared.map_err(|error| error.message)?;
        let request = Request {
            body,
            model: self.prefix.model.clone(),
            key: self.key.clone(),
            attempt: 1,
            answered: 0,
            ground: self.ground.clone(),
            permit: self.purse.leave(self.expected(trace)),
        };
        let hearing = hear(&self.provider, request, &self.bill, recorder, None);
        let heard = tokio::time::timeout(PATIENCE, hearing).await;
        let heard = heard.map_err(|_| "it timed out".to_owned())?;
        let heard = heard.map_err(|error| error.message)?;
        let found = turn::extraction::parse(self.bill.item.clone(), &heard.answer.text);
        found.ok_or_else(|| "its answer is not the expected JSON object".to_owned())
    }

    /// What the extraction of a trace may be expected to use.
    fn expected(&self, trace: &str) -> Spent {
        // A quarter of a token for a byte (see `contract::estimate`).
        budget::expected(trace.len() as u64 / 4, 0, self.bill.price.as_deref())
    }
}
