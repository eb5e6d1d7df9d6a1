//! Harvests: what the model has reasoned is turned into lists by a request of its own, beside the turn. It delays
//! nothing, breaks nothing, and goes with the session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::codec::FragmentRole;
use contract::provider::Reported;
use contract::{Asked, Codec, Fragment, Ground, Prefix, Provider, Request, Secret, ToolChoice};
use proto::budget::Spent;
use proto::item::{Item, UserMessage, Voice};
use proto::record::{Level, Notice, Purpose, ReasoningHarvested};
use proto::{Body, ItemId, Stamp};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::actor::Actor;
use crate::actor::inbox::Happened;
use crate::assembly::setup::Assembly;
use crate::request::budget::{Leave, Seat};
use crate::request::keys::Keys;
use crate::request::side_requests::{Bill, Books, hear};
use crate::supervisor::blocking;

/// A harvest that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What an actor has of its harvests.
#[derive(Default)]
pub(crate) struct Harvests {
    begun: u64,
    under_way: BTreeMap<u64, (Books, DropGuard)>,
    /// That one came to nothing was told.
    told: bool,
}

impl Harvests {
    /// Whether none is under way.
    pub fn are_over(&self) -> bool {
        self.under_way.is_empty()
    }
}

/// Where a request beside the conversation comes from.
pub(crate) struct Around {
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
    pub seat: Seat,
    /// How long turns of the session have run.
    pub ran_ms: u64,
    /// What the next request of the conversation may be expected to use.
    pub expected: Spent,
}

impl Purse {
    /// The leave for a request that may be expected to use so much.
    pub fn leave(&self, expected: Spent) -> Arc<Leave> {
        Arc::new(Leave::new(self.seat.clone(), expected, self.ran_ms))
    }
}

/// Who is asked for harvests.
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
    pub async fn find(around: Around) -> Result<Self, String> {
        let (assembly, cwd, model) = (around.assembly, around.cwd, around.model);
        let setup = blocking(move || assembly.aide(&cwd, &model)).await;
        let setup = setup.map_err(|failure| failure.message)?;
        let setup = setup.map_err(|failure| failure.message)?;
        let mut prefix = setup.codec.prefix(&setup.model, turn::harvest::SYSTEM, &[]);
        let json_mode = setup.codec.json_mode();
        if !prefix.extra.is_empty() && !json_mode.is_empty() {
            prefix.extra.push(',');
        }
        prefix.extra.push_str(json_mode);
        let variable = setup.key_variable.as_ref();
        let brought = variable.and_then(|variable| around.keys.get(variable));
        Ok(Self {
            key: brought.or(setup.own_key),
            codec: setup.codec,
            provider: setup.provider,
            prefix,
            ground: around.ground,
            bill: Bill {
                item: around.item,
                provider: setup.provider_name,
                model: setup.model,
                purpose: Purpose::Harvest,
                step: around.step,
                price: setup.price.map(Arc::new),
            },
            purse: around.purse,
        })
    }

    /// Harvests a trace. What it takes is noted under `slot`.
    ///
    /// # Errors
    /// It came to nothing: why.
    pub async fn harvest(
        &self,
        trace: &str,
        books: (&Books, u32),
    ) -> Result<ReasoningHarvested, String> {
        let question = Item::User(UserMessage {
            item: ItemId("h".into()),
            prompt_id: None,
            text: turn::harvest::demand(trace),
            context: None,
            voice: Voice::Daemon,
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
        let hearing = hear(&self.provider, request, &self.bill, books, None);
        let heard = tokio::time::timeout(PATIENCE, hearing).await;
        let heard = heard.map_err(|_| "it took too long".to_owned())?;
        let heard = heard.map_err(|error| error.message)?;
        let found = turn::harvest::parse(self.bill.item.clone(), &heard.answer.text);
        found.ok_or_else(|| "its answer is no such JSON object".to_owned())
    }

    /// What the harvest of a trace may be expected to use.
    fn expected(&self, trace: &str) -> Spent {
        // A quarter of a token for a byte (see `contract::estimate`).
        let tokens = trace.len() as u64 / 4;
        let reported = Reported {
            prompt_tokens: tokens,
            ..Reported::default()
        };
        let price = self.bill.price.as_deref();
        Spent {
            cost_micros: price.map_or(0, |price| price.cost(&reported, Stamp::now())),
            tokens,
            steps: 1,
            ..Spent::default()
        }
    }
}

impl Actor {
    /// Around an answer of this session.
    pub(crate) fn around(&self, item: ItemId) -> Around {
        let options = &self.machine.facts().options;
        let open = self.machine.facts().open.as_ref();
        Around {
            assembly: Arc::clone(&self.assembly),
            cwd: self.bench.workspace.cwd().to_path_buf(),
            model: options.model.clone().unwrap_or_default(),
            keys: Arc::clone(&self.keys),
            ground: self.ground(),
            item,
            step: open.map_or(0, |open| open.steps + 1),
            purse: Purse {
                seat: self.budget.clone(),
                ran_ms: self.ran_ms(),
                expected: self.expected(),
            },
        }
    }

    /// Begins the harvest of an answer, where that is wanted and there is anything to be harvested.
    pub(crate) fn begin_harvest(&mut self, around: Around, trace: String) {
        let goes_on = self.closing.is_empty() && !self.leaving && self.journal.failed.is_none();
        if !goes_on || !turn::harvest::is_worth(&trace) {
            return;
        }
        let harvests = &mut self.harvests;
        harvests.begun += 1;
        let (number, books, cancel) = (harvests.begun, Books::default(), CancellationToken::new());
        let entry = (books.clone(), cancel.clone().drop_guard());
        harvests.under_way.insert(number, entry);
        let happened = self.happened.clone();
        tokio::spawn(async move {
            let harvesting = async {
                let aide = Aide::find(around).await?;
                aide.harvest(&trace, (&books, 0)).await
            };
            tokio::select! {
                () = cancel.cancelled() => {}
                found = harvesting => {
                    // The actor may have ended.
                    let _ = happened.send(Happened::Harvested { number, found });
                }
            }
        });
    }

    /// A harvest has come to its end.
    pub(crate) fn harvested(&mut self, number: u64, found: Result<ReasoningHarvested, String>) {
        let Some((books, _)) = self.harvests.under_way.remove(&number) else {
            return;
        };
        self.note_spent(&books);
        match found {
            Ok(found) => self.note(Body::ReasoningHarvested(found)),
            Err(why) if !self.harvests.told => {
                self.harvests.told = true;
                self.note(Body::Notice(Notice {
                    level: Level::Info,
                    text: format!(
                        "The reasoning could not be harvested: {why}. This is said once; the session goes on."
                    ),
                }));
            }
            Err(_) => {}
        }
    }

    /// Drops the harvests under way. What they are known to have taken counts.
    pub(crate) fn drop_harvests(&mut self) {
        for (books, _) in std::mem::take(&mut self.harvests.under_way).into_values() {
            self.note_spent(&books);
        }
    }

    /// Puts what requests beside the conversation took into the log.
    pub(crate) fn note_spent(&mut self, books: &Books) {
        for usage in books.take() {
            let told = self.weighed_beside(&usage);
            self.note(Body::Usage(usage));
            for text in told {
                let level = Level::Warning;
                self.note(Body::Notice(Notice { level, text }));
            }
        }
    }

    /// Puts what samples of the request in flight have taken so far into the log.
    pub(crate) fn note_samples(&mut self) {
        let Some(gather) = &self.gather else { return };
        let Some(books) = gather.beside.clone() else {
            return;
        };
        if gather.answer.reported.is_some() {
            books.leave_out(gather.won);
        }
        self.note_spent(&books);
    }

    /// Appends a record that changes nothing in the turn.
    pub(crate) fn note(&mut self, body: Body) {
        if self.journal.failed.is_some() {
            return;
        }
        let now = self.now();
        let effects = self.machine.record(body, now);
        self.perform(effects);
    }
}
