//! One request to the model: assembled off the actor's path, its parts gathered, shown at a bounded rate.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::provider::{ErrorKind, Ground, Part, ProviderError};
use contract::{Asked, Codec, Fragment, Prefix, Provider, Request, Secret, ToolChoice};
use futures::StreamExt;
use proto::live::{Delta, Live};
use proto::record::ReasoningExtracted;
use proto::{CallId, ItemId, Stamp};
use store::log::LogFile;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use turn::{Answer, Input};

use crate::journal::MessageAt;
use crate::request::budget::{Bounded, BudgetMember, RequestPermit};
use crate::request::shape::Shape;
use crate::request::side_requests::UsageRecorder;

/// So long nothing comes of an answer before that is told, and between two notices.
const SILENCE: Duration = Duration::from_secs(10);

/// A part of an answer, or its failure, or (first) what was sent.
pub enum Arrived {
    Sent(Sent),
    Part(Part),
    Broke(ProviderError),
    /// So many samples of the request have come.
    Sampled {
        is_in: u32,
        of: u32,
    },
    /// One of them is taken, and follows; with what was extracted of it.
    Chosen {
        /// Its place among them.
        at: u32,
        found: Option<ReasoningExtracted>,
    },
}

/// What a request was.
pub struct Sent {
    pub request_bytes: u64,
    /// `None`: it is no part of the conversation.
    pub shape: Option<Arc<Shape>>,
    /// Where it changed earlier bytes, though no reset was logged.
    pub rewritten: Option<String>,
}

/// What a part tells the machine of the request's turn at the vendor.
pub fn waits_or_sent(part: &Part) -> Option<Input> {
    match part {
        Part::Waiting { cause, in_ms, down } => Some(Input::RequestWaits {
            cause: cause.clone(),
            in_ms: *in_ms,
            down: *down,
        }),
        Part::Sent => Some(Input::RequestSent),
        Part::Text(_)
        | Part::Reasoning(_)
        | Part::Thought(_)
        | Part::CallDelta { .. }
        | Part::Call(_)
        | Part::Usage(_)
        | Part::Done(_) => None,
    }
}

/// What a request needs.
pub struct Ask {
    pub source: Source,
    pub provider: Arc<dyn Provider>,
    pub key: Option<Secret>,
    pub attempt: u32,
    pub answered: u64,
    pub tool_choice: ToolChoice,
    pub ground: Ground,
    /// Cache resets so far.
    pub resets: u64,
    /// The request before, where this life of the session has sent one.
    pub before: Option<Arc<Shape>>,
    /// What the session may use.
    pub budget: BudgetMember,
    /// Whether this may be sent.
    pub leave: Arc<RequestPermit>,
}

/// Sends a request and passes on what comes, until the end, a failure, or `cancel`.
pub async fn run(
    ask: Ask,
    number: u64,
    cancel: CancellationToken,
    arrived: mpsc::Sender<(u64, Arrived)>,
) {
    let passing = async {
        let (provider, request) = match ready(ask).await {
            Ok(ready) => {
                let _ = arrived.send((number, Arrived::Sent(ready.sent))).await;
                (ready.provider, ready.request)
            }
            Err(error) => {
                let _ = arrived.send((number, Arrived::Broke(error))).await;
                return;
            }
        };
        let mut parts = provider.stream(request);
        while let Some(part) = parts.next().await {
            let (part, last) = match part {
                Ok(part) => {
                    let last = matches!(part, Part::Done(_));
                    (Arrived::Part(part), last)
                }
                Err(error) => (Arrived::Broke(error), true),
            };
            if arrived.send((number, part)).await.is_err() || last {
                return;
            }
        }
        let error = ProviderError {
            message: "the answer's stream ended in the middle".into(),
            hint: String::new(),
            kind: ErrorKind::Transient,
            status: None,
            retry_after: None,
        };
        let _ = arrived.send((number, Arrived::Broke(error))).await;
    };
    tokio::select! {
        () = cancel.cancelled() => {}
        () = passing => {}
    }
}

/// Where the body of a request comes from.
pub enum Source {
    /// It is copied together.
    Material(Material),
    /// It is there.
    Body { body: Arc<[u8]>, model: String },
}

/// What the body of a request is made from.
pub struct Material {
    pub file: Arc<LogFile>,
    pub parts: Vec<MessageAt>,
    pub prefix: Arc<Prefix>,
    pub codec: Arc<dyn Codec>,
    pub cache_key: String,
}

impl Material {
    /// Copies prefix and fragments together. Blocks: old messages come from the disk.
    pub fn body(&self, tool_choice: ToolChoice) -> Result<Vec<u8>, String> {
        let (body, ()) = self.body_and(tool_choice, |_| ())?;
        Ok(body)
    }

    /// The body, and what `look` makes of the fragments in it. Blocks as `body` does.
    fn body_and<T>(
        &self,
        tool_choice: ToolChoice,
        look: impl FnOnce(&[Fragment<'_>]) -> T,
    ) -> Result<(Vec<u8>, T), String> {
        let gathered = self
            .file
            .gather(self.parts.iter().map(|part| &part.fragment));
        let gathered = gathered.map_err(|error| format!("cannot read the log: {error}"))?;
        let fragments: Vec<_> = self
            .parts
            .iter()
            .zip(gathered.iter())
            .map(|(part, bytes)| Fragment {
                role: part.role,
                bytes,
            })
            .collect();
        let body = self.codec.assemble(&Asked {
            prefix: &self.prefix,
            fragments: &fragments,
            tool_choice,
            cache_key: &self.cache_key,
        });
        Ok((body, look(&fragments)))
    }
}

/// A request that is ready to be sent, and to whom.
pub(crate) struct Ready {
    pub provider: Arc<dyn Provider>,
    pub request: Request,
    pub sent: Sent,
}

/// A request that may be sent, as far as budgets go.
pub(crate) async fn ready(ask: Ask) -> Result<Ready, ProviderError> {
    let budget = ask.budget.clone();
    let (ready, bounded) = assemble(ask).await?;
    budget.prepare(bounded).await?;
    ready.request.permit.take()?;
    Ok(ready)
}

/// Copies prefix and fragments together, on a thread that may block: old messages come from the disk, budgets from files.
async fn assemble(ask: Ask) -> Result<(Ready, Bounded), ProviderError> {
    let work = tokio::task::spawn_blocking(move || {
        let (body, model, shape) = match ask.source {
            Source::Body { body, model } => (body.to_vec(), model, None),
            Source::Material(material) => {
                let (body, shape) = material.body_and(ask.tool_choice, |fragments| {
                    Shape::of(ask.resets, &material.prefix, fragments)
                })?;
                (body, material.prefix.model.clone(), Some(shape))
            }
        };
        let before = ask.before.as_ref();
        let rewritten = shape.as_ref().zip(before);
        let sent = Sent {
            request_bytes: body.len() as u64,
            rewritten: rewritten.and_then(|(shape, before)| shape.rewrites(before)),
            shape: shape.map(Arc::new),
        };
        let request = Request {
            body,
            model,
            key: ask.key,
            attempt: ask.attempt,
            answered: ask.answered,
            ground: ask.ground,
            permit: ask.leave,
        };
        let ready = Ready {
            provider: ask.provider,
            request,
            sent,
        };
        Ok((ready, ask.budget.read_bounds()))
    });
    let done = work
        .await
        .map_err(|error| error.to_string())
        .and_then(|done: Result<_, String>| done);
    done.map_err(|message| ProviderError {
        message,
        hint: "Run `reasonix doctor` to see what is wrong with the store.".into(),
        kind: ErrorKind::Permanent,
        status: None,
        retry_after: None,
    })
}

/// The answer in progress.
pub struct Gather {
    pub number: u64,
    pub item: ItemId,
    pub answer: Answer,
    pub cancel: CancellationToken,
    /// It was sent without a key although the provider takes one.
    pub keyless: bool,
    /// It is no part of the conversation: nobody is shown it as it comes.
    pub unseen: bool,
    /// What other samples of the request, and extractions of all, take; `None`: it has one sample.
    pub(crate) beside: Option<UsageRecorder>,
    /// Which sample is taken: the record of the answer says what it took.
    pub(crate) won: Option<u32>,
    /// What was extracted of it.
    pub(crate) found: Option<ReasoningExtracted>,
    /// Of the model that is asked.
    price: Option<Arc<catalog::Price>>,
    started: Instant,
    first: Option<Instant>,
    text_shown: usize,
    reasoning_shown: usize,
    arguments: Vec<Growing>,
    /// When something of the answer came last, or it was asked for.
    heard: tokio::time::Instant,
    silence: Option<Silence>,
    /// It is not sent yet: it waits for its turn, and that was told.
    gated: bool,
}

/// Nothing has come for so long that it was told.
#[derive(Clone, Copy)]
struct Silence {
    since: Stamp,
    reported: tokio::time::Instant,
}

/// Arguments of a call in progress.
struct Growing {
    index: u32,
    call: CallId,
    /// Bytes that subscribers have been sent.
    shown: u64,
    fresh: String,
}

impl Gather {
    pub fn new(
        number: u64,
        item: ItemId,
        keyless: bool,
        price: Option<Arc<catalog::Price>>,
    ) -> Self {
        Self {
            number,
            item,
            answer: Answer::default(),
            cancel: CancellationToken::new(),
            keyless,
            unseen: false,
            beside: None,
            won: None,
            found: None,
            price,
            started: Instant::now(),
            first: None,
            text_shown: 0,
            reasoning_shown: 0,
            arguments: Vec::new(),
            heard: tokio::time::Instant::now(),
            silence: None,
            gated: false,
        }
    }

    /// The request was sent.
    pub fn note_sent(&mut self, request_bytes: u64, rewritten: Option<String>) {
        self.answer.request_bytes = request_bytes;
        self.answer.rewritten = rewritten;
    }

    /// This sample is taken; `found`: what was extracted from its reasoning.
    pub(crate) fn choose(&mut self, sample: u32, found: Option<ReasoningExtracted>) {
        (self.won, self.found) = (Some(sample), found);
    }

    /// Other requests go with this one: what they use is noted here.
    pub(crate) fn with_side_requests(mut self, recorder: UsageRecorder) -> Self {
        self.beside = Some(recorder);
        self
    }

    /// The same, of which nobody is shown anything as it comes.
    pub fn unseen(mut self) -> Self {
        self.unseen = true;
        self
    }

    /// Takes a part in. True when the answer is whole.
    pub fn take(&mut self, part: Part) -> bool {
        self.heard = tokio::time::Instant::now();
        self.silence = None;
        if self.first.is_none()
            && !matches!(part, Part::Usage(_) | Part::Waiting { .. } | Part::Sent)
        {
            self.first = Some(Instant::now());
        }
        match part {
            Part::Waiting { .. } => self.gated = true,
            Part::Sent => self.sent(),
            Part::Text(text) => self.answer.text.push_str(&text),
            Part::Reasoning(text) => self.answer.reasoning.push_str(&text),
            Part::CallDelta {
                index,
                id,
                arguments,
                ..
            } => self.grow(index, id, &arguments),
            Part::Call(call) => self.answer.calls.push(call),
            Part::Thought(thought) => self.answer.thoughts.push(thought),
            Part::Usage(reported) => {
                // The last report counts, and so does its cost: however the answer ends, it goes with it.
                let price = self.price.as_deref();
                let cost = price.map(|price| price.cost(&reported, Stamp::now()));
                self.answer.reported = Some(reported);
                self.answer.cost_micros = cost;
            }
            Part::Done(finish) => {
                self.answer.finish = Some(finish);
                return true;
            }
        }
        false
    }

    /// What it takes counts from now: before, it waited for its turn.
    fn sent(&mut self) {
        self.gated = false;
        self.started = Instant::now();
    }

    fn grow(&mut self, index: u32, id: String, arguments: &str) {
        match self
            .arguments
            .iter_mut()
            .find(|growing| growing.index == index)
        {
            Some(growing) => growing.fresh.push_str(arguments),
            None => self.arguments.push(Growing {
                index,
                call: CallId(id),
                shown: 0,
                fresh: arguments.to_owned(),
            }),
        }
    }

    /// Whether there is something that subscribers have not been sent.
    pub fn has_fresh(&self) -> bool {
        if self.unseen {
            return false;
        }
        self.text_shown < self.answer.text.len()
            || self.reasoning_shown < self.answer.reasoning.len()
            || self
                .arguments
                .iter()
                .any(|growing| !growing.fresh.is_empty())
    }

    /// When it is to be told (again) that nothing comes; not of a request that is not sent yet.
    pub fn silence_due(&self) -> Option<tokio::time::Instant> {
        let reported = self.silence.map_or(self.heard, |silence| silence.reported);
        // Of samples nothing comes before one is taken: how many are in is told.
        let waits = !self.gated && self.beside.is_none();
        waits.then_some(reported + SILENCE)
    }

    /// Notes that it is told now that nothing comes. Returns since how many milliseconds.
    pub fn tell_silence(&mut self) -> u64 {
        let reported = tokio::time::Instant::now();
        let silent = reported.duration_since(self.heard).as_millis();
        let ms = i64::try_from(silent).unwrap_or(i64::MAX);
        let since = Stamp(Stamp::now().0.saturating_sub(ms));
        let since = self.silence.map_or(since, |silence| silence.since);
        self.silence = Some(Silence { since, reported });
        u64::try_from(silent).unwrap_or(u64::MAX)
    }

    /// Since when nothing has come, where that was told.
    pub fn silent_since(&self) -> Option<Stamp> {
        self.silence.map(|silence| silence.since)
    }

    /// What subscribers have not been sent.
    pub fn fresh(&mut self) -> Vec<Live> {
        if self.unseen {
            return Vec::new();
        }
        let mut lives = Vec::new();
        if let Some(delta) = grown(
            &self.item,
            &self.answer.reasoning,
            &mut self.reasoning_shown,
        ) {
            lives.push(Live::Reasoning(delta));
        }
        if let Some(delta) = grown(&self.item, &self.answer.text, &mut self.text_shown) {
            lives.push(Live::Text(delta));
        }
        for growing in self
            .arguments
            .iter_mut()
            .filter(|growing| !growing.fresh.is_empty())
        {
            let text = std::mem::take(&mut growing.fresh);
            let offset = growing.shown;
            growing.shown += text.len() as u64;
            let call = Some(growing.call.clone());
            lives.push(Live::ToolArgs(Delta {
                item: self.item.clone(),
                call,
                offset,
                text,
            }));
        }
        lives
    }

    /// The answer as far as it has come, with its times.
    pub fn finish(mut self) -> Answer {
        let answer = std::mem::take(&mut self.answer);
        self.timed(answer)
    }

    /// The same of one that goes on.
    pub fn so_far(&self) -> Answer {
        self.timed(self.answer.clone())
    }

    fn timed(&self, mut answer: Answer) -> Answer {
        let ms = |from: Instant, to: Instant| {
            u64::try_from(to.duration_since(from).as_millis()).unwrap_or(u64::MAX)
        };
        let now = Instant::now();
        answer.first_token_ms = ms(self.started, self.first.unwrap_or(now));
        answer.duration_ms = ms(self.started, now);
        answer
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        // Whoever drops an answer in progress wants no more of it; after its end this does nothing.
        self.cancel.cancel();
    }
}

fn grown(item: &ItemId, text: &str, shown: &mut usize) -> Option<Delta> {
    let fresh = text.get(*shown..).filter(|fresh| !fresh.is_empty())?;
    let delta = Delta {
        item: item.clone(),
        call: None,
        offset: *shown as u64,
        text: fresh.to_owned(),
    };
    *shown = text.len();
    Some(delta)
}
