//! One request to the model: assembled and sent off the actor's path.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use contract::provider::{ErrorKind, Part, ProviderError, RequestEnvironment};
use contract::{
    Asked, Codec, Fragment, Prefix, Provider, Request, RequestBuffer, Secret, ToolChoice,
};
use futures::StreamExt;
use proto::record::ReasoningExtracted;
use store::log::{LogFile, ReadFrom};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use turn::Input;

use crate::journal::{MessageAt, images};
use crate::request::budget::{Bounded, BudgetMember, RequestPermit};
use crate::request::key_filter::without_keys;
use crate::request::keys::AwaitedKey;
use crate::request::shape::Shape;
use crate::request::side_requests::broken;
use crate::tasks;

/// A part of an answer, or its failure, or (first) the sent request.
pub enum Arrived {
    Sent(Sent),
    Part(Part),
    Broke(ProviderError),
    /// So many samples of the request have come.
    Sampled {
        is_in: u32,
        of: u32,
    },
    /// One of them is chosen, and follows; with the extraction from it.
    Chosen {
        /// Its place among them.
        at: u32,
        found: Option<ReasoningExtracted>,
    },
}

/// What a request was.
pub struct Sent {
    /// Its size, where an image counts as much as text of as many tokens.
    pub request_bytes: u64,
    /// `None`: it is not part of the conversation.
    pub shape: Option<Arc<Shape>>,
    /// Where it changed earlier bytes, although no reset was logged.
    pub rewritten: Option<String>,
}

/// The machine's input for what a part says about the request's turn at the vendor.
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
        | Part::Restarted
        | Part::Usage(_)
        | Part::Done(_) => None,
    }
}

/// What a request needs.
pub struct Ask {
    pub source: Source,
    pub provider: Arc<dyn Provider>,
    pub key: Option<Secret>,
    /// The key, if it is missing and may come soon: the request waits for it.
    pub awaited_key: Option<AwaitedKey>,
    pub attempt: u32,
    pub answered: u64,
    pub tool_choice: ToolChoice,
    pub ground: RequestEnvironment,
    /// Cache resets so far.
    pub resets: u64,
    /// The request before, where this life of the session has sent one.
    pub before: Option<Arc<Shape>>,
    /// What the session may use.
    pub budget: BudgetMember,
    /// Whether this may be sent.
    pub leave: Arc<RequestPermit>,
}

/// Sends a request and passes on its parts, until the end, a failure, or `cancel`.
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
        let mut parts = without_keys(provider.stream(request));
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
        let _ = arrived.send((number, Arrived::Broke(broken()))).await;
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
    Body {
        body: Arc<RequestBuffer>,
        model: String,
    },
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
    pub fn body(&self, tool_choice: ToolChoice) -> Result<RequestBuffer, String> {
        let (assembled, ()) = self.body_and(tool_choice, ReadFrom::Disk, |_| ())?;
        Ok(assembled.body)
    }

    /// The size of its messages in the log.
    fn size(&self) -> usize {
        self.parts.iter().map(|part| part.fragment.len()).sum()
    }

    /// The body, and what `look` makes of the fragments as the log has them. Blocks if it may read `from` the disk; else it
    /// fails where it would have to.
    fn body_and<T>(
        &self,
        tool_choice: ToolChoice,
        from: ReadFrom,
        look: impl FnOnce(&[Fragment<'_>]) -> T,
    ) -> Result<(AssembledBody, T), String> {
        let places = self.parts.iter().map(|part| &part.fragment);
        let gathered = self.file.gather(from, places, RequestBuffer::zeroed);
        let gathered = gathered.map_err(|error| format!("cannot read the log: {error}"))?;
        let fill = |(part, bytes)| images::fill(&self.file, from, &*self.codec, part, bytes);
        let filled = self.parts.iter().zip(gathered.iter()).map(fill);
        let filled = filled.collect::<Result<Vec<_>, _>>()?;
        let fragments: Vec<_> = self
            .parts
            .iter()
            .zip(&filled)
            .map(|(part, filled)| Fragment {
                role: part.role,
                bytes: &filled.bytes,
            })
            .collect();
        let body = self.codec.assemble(&Asked {
            prefix: &self.prefix,
            fragments: &fragments,
            tool_choice,
            cache_key: &self.cache_key,
        });
        let stored: Vec<_> = self
            .parts
            .iter()
            .zip(gathered.iter())
            .map(|(part, bytes)| Fragment {
                role: part.role,
                bytes,
            })
            .collect();
        let length = |fragments: &[Fragment<'_>]| -> usize {
            fragments.iter().map(|fragment| fragment.bytes.len()).sum()
        };
        let base64 = length(&fragments).saturating_sub(length(&stored));
        let weight: u64 = filled.iter().map(|filled| filled.weight).sum();
        let assembled = AssembledBody {
            counted_bytes: (body.len() - base64) as u64 + weight,
            body,
        };
        Ok((assembled, look(&stored)))
    }
}

/// The body of a request.
struct AssembledBody {
    body: RequestBuffer,
    /// Its size, where an image counts as much as text of as many tokens.
    counted_bytes: u64,
}

/// Bytes of messages that are copied together without a trip to another thread: that takes a tenth of a millisecond, which is
/// about what the trip takes.
const HERE_MAX: usize = 256 * 1024;

impl Source {
    fn size(&self) -> usize {
        match self {
            Self::Body { body, .. } => body.len(),
            Self::Material(material) => material.size(),
        }
    }
}

/// The body of a request, to whom, and its shape if it is part of the conversation.
type Assembled = (AssembledBody, String, Option<Shape>);

impl Ask {
    /// The body. Blocks if it may be read `from` the disk.
    fn assembled(&self, from: ReadFrom) -> Result<Assembled, String> {
        match &self.source {
            Source::Body { body, model } => {
                let assembled = AssembledBody {
                    counted_bytes: body.len() as u64,
                    body: RequestBuffer::clone(body),
                };
                Ok((assembled, model.clone(), None))
            }
            Source::Material(material) => {
                let (assembled, shape) =
                    material.body_and(self.tool_choice, from, |fragments| {
                        Shape::of(self.resets, &material.prefix, fragments)
                    })?;
                Ok((assembled, material.prefix.model.clone(), Some(shape)))
            }
        }
    }

    fn ready(self, (assembled, model, shape): Assembled) -> Ready {
        let AssembledBody {
            body,
            counted_bytes,
        } = assembled;
        let before = self.before.as_ref();
        let rewritten = shape.as_ref().zip(before);
        let sent = Sent {
            request_bytes: counted_bytes,
            rewritten: rewritten.and_then(|(shape, before)| shape.rewrites(before)),
            shape: shape.map(Arc::new),
        };
        let request = Request {
            body,
            model,
            key: self.key,
            attempt: self.attempt,
            answered: self.answered,
            ground: self.ground,
            permit: self.leave,
        };
        Ready {
            provider: self.provider,
            request,
            sent,
        }
    }
}

/// A request that is ready to be sent, and to whom.
pub(crate) struct Ready {
    pub provider: Arc<dyn Provider>,
    pub request: Request,
    pub sent: Sent,
}

/// A request that may be sent, as far as budgets go.
pub(crate) async fn ready(mut ask: Ask) -> Result<Ready, ProviderError> {
    if let Some(awaited) = ask.awaited_key.take() {
        ask.key = awaited.wait().await;
    }
    let budget = ask.budget.clone();
    let (ready, bounded) = assemble(ask).await?;
    budget.prepare(bounded).await?;
    ready.request.permit.take()?;
    Ok(ready)
}

/// Copies prefix and fragments together: here if it is little and in memory, as in most rounds, else on a thread that may
/// block.
async fn assemble(ask: Ask) -> Result<(Ready, Bounded), ProviderError> {
    if let Some(bounded) = ask.budget.take_noted_bounds()
        && ask.source.size() <= HERE_MAX
        && let Ok(Ok(assembled)) =
            // What crashes here is reported by the thread below.
            catch_unwind(AssertUnwindSafe(|| ask.assembled(ReadFrom::Memory)))
    {
        return Ok((ask.ready(assembled), bounded));
    }
    let work = tasks::blocking(move || {
        let assembled = ask.assembled(ReadFrom::Disk)?;
        let bounded = ask.budget.read_bounds();
        Ok((ask.ready(assembled), bounded))
    });
    let done = work
        .await
        .map_err(|error| error.to_string())
        .and_then(|done: Result<_, String>| done);
    done.map_err(|message| ProviderError {
        message,
        hint: "Run `reasonix doctor` to check the store.".into(),
        kind: ErrorKind::Permanent,
        status: None,
        retry_after: None,
        of_model: false,
        empty: false,
        window: None,
    })
}
