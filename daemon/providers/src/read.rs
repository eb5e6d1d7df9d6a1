//! Drives one request from sending to the answer's end: deadlines, the form of the answer, what is queued.
//!
//! Tells apart a stream of events and a plain JSON document by the first byte, whatever the headers claim. What
//! events mean is the business of a kind's `Collect`. Polled by the session; dropping the stream ends the request.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use contract::provider::{Part, ProviderError, Reported, Request};
use futures::future::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};
use proto::item::{Finish, Thought, ToolCall};
use reqwest::header::CONTENT_TYPE;
use tokio::time::{Instant, timeout};

use crate::failure::{Site, VendorError};
use crate::http::{self, Body, Endpoint};
use crate::options::Timeouts;
use crate::patience;
use crate::retry_after;
use crate::sse::{Events, TooLarge};

/// The largest event: more than any answer's arguments in one piece.
const EVENT_MAX: usize = 8 << 20;
/// The largest answer that comes as one document.
const DOCUMENT_MAX: usize = 32 << 20;
/// How much of an error's body is read.
const ERROR_MAX: usize = 64 << 10;
/// How long an error's body, or usage behind a finished answer, may take.
const TAIL: Duration = Duration::from_secs(10);
/// How long we wait for the end of a body whose last event has come, so that its connection can be used again.
const DRAIN: Duration = Duration::from_millis(20);
/// Bytes that are taken at once, where they are there already, before anything is handed on.
const GULP: usize = 256 << 10;
/// Bytes of text, reasoning and arguments of an answer: several times what any model can say.
pub(crate) const ANSWER_MAX: usize = 32 << 20;

/// What a kind makes of an answer.
pub(crate) trait Collect: Send + 'static {
    /// Takes the data of one event.
    fn event(&mut self, data: &str, batch: &mut Batch) -> Result<Flow, ProviderError>;
    /// Takes an answer that came as one document. `end` follows.
    fn document(&mut self, text: &str, batch: &mut Batch) -> Result<(), ProviderError>;
    /// What the vendor has reported so far. A broken answer is billed all the same.
    fn reported(&self) -> Option<Reported>;
    /// Whether all that must come has come: an end of the connection is no failure then.
    fn is_finished(&self) -> bool;
    /// The answer is over. Says what is left to say, `Done` last, or why it is broken.
    fn end(&mut self, batch: &mut Batch) -> Result<(), ProviderError>;
}

/// Whether more is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Something of the answer came.
    More,
    /// Nothing of the answer was in it.
    Nothing,
    /// The vendor said that this was the last event.
    Last,
}

/// Parts on their way out. Neighbours of one kind become one.
#[derive(Default)]
pub(crate) struct Batch(Vec<Part>);

impl Batch {
    pub(crate) fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }

    pub(crate) fn reasoning(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Reasoning(last)) => last.push_str(text),
            _ => self.0.push(Part::Reasoning(text.to_owned())),
        }
    }

    pub(crate) fn delta(&mut self, at: u32, id: &str, name: &str, more: &str) {
        match self.0.last_mut() {
            Some(Part::CallDelta {
                index, arguments, ..
            }) if *index == at => arguments.push_str(more),
            _ => self.0.push(Part::CallDelta {
                index: at,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: more.to_owned(),
            }),
        }
    }

    /// The end of a whole answer.
    pub(crate) fn finish(
        &mut self,
        thoughts: Vec<Thought>,
        calls: Vec<ToolCall>,
        usage: Option<Reported>,
        finish: Finish,
    ) {
        self.0.extend(thoughts.into_iter().map(Part::Thought));
        self.0.extend(calls.into_iter().map(Part::Call));
        self.0.extend(usage.map(Part::Usage));
        self.0.push(Part::Done(finish));
    }

    /// The parts, in order.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Part> {
        self.0.into_iter()
    }

    #[cfg(test)]
    pub(crate) fn parts(&self) -> &[Part] {
        &self.0
    }
}

/// Sends a request and reads its answer.
pub(crate) fn stream<C: Collect>(
    endpoint: Endpoint,
    timeouts: Timeouts,
    site: Site,
    request: Request,
    collect: C,
) -> BoxStream<'static, Result<Part, ProviderError>> {
    Reading::new(
        Phase::Sending(Box::new((endpoint, request))),
        timeouts,
        site,
        collect,
    )
    .parts()
}

/// One request in the making.
struct Reading<C> {
    phase: Phase,
    form: Form,
    /// What has been made out of bytes and not been asked for yet.
    queue: VecDeque<Result<Part, ProviderError>>,
    collect: C,
    timeouts: Timeouts,
    site: Site,
    started: Instant,
    /// When the last bytes of the body came.
    heard: Option<Instant>,
    /// When something of the answer last came.
    progress: Instant,
    /// What was told last of what the vendor has reported.
    told: Option<Reported>,
}

/// Sending → Receiving → Draining → Over; each may go to Over.
enum Phase {
    /// Nothing has come back.
    Sending(Box<(Endpoint, Request)>),
    /// The answer is coming.
    Receiving { body: Body },
    /// The last event has come; what the body still holds does not matter.
    Draining { body: Body },
    /// All is in the queue.
    Over,
}

/// What an answer is written in.
enum Form {
    /// Nothing but blanks has come.
    Unknown,
    Events(Events),
    Document(Vec<u8>),
}

/// How handling bytes ends early.
enum Stop {
    TooLarge,
    Failed(ProviderError),
}

impl From<TooLarge> for Stop {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

impl From<ProviderError> for Stop {
    fn from(error: ProviderError) -> Self {
        Self::Failed(error)
    }
}

impl<C: Collect> Reading<C> {
    fn new(phase: Phase, timeouts: Timeouts, site: Site, collect: C) -> Self {
        let now = Instant::now();
        let (form, queue) = (Form::Unknown, VecDeque::new());
        Self {
            phase,
            form,
            queue,
            collect,
            timeouts,
            site,
            started: now,
            heard: None,
            progress: now,
            told: None,
        }
    }

    fn parts(self) -> BoxStream<'static, Result<Part, ProviderError>> {
        stream::unfold(Box::new(self), |mut reading| async move {
            let part = reading.next().await?;
            Some((part, reading))
        })
        .boxed()
    }

    /// The next part; `None` after the last one or the first error.
    async fn next(&mut self) -> Option<Result<Part, ProviderError>> {
        loop {
            if let Some(part) = self.queue.pop_front() {
                return Some(part);
            }
            // A phase is taken out while it is worked on: whoever drops this future drops the connection with it,
            // and nobody polls a half-done reading again.
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Sending(what) => self.send(what.0, what.1).await,
                Phase::Receiving { body } => self.receive(body).await,
                Phase::Draining { mut body } => {
                    let drained = async { while let Some(Ok(_)) = body.next().await {} };
                    let _ = timeout(DRAIN, drained).await;
                    self.end(None);
                }
                Phase::Over => return None,
            }
        }
    }

    async fn send(&mut self, endpoint: Endpoint, request: Request) {
        let sending = endpoint.send(request.body, request.key.as_ref(), &self.site);
        let response = match patience::until(self.started + self.timeouts.first_byte, sending).await
        {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return self.fail(error),
            Err(_) => return self.fail(self.silent("sent nothing", self.timeouts.first_byte)),
        };
        let status = response.status().as_u16();
        let headers = response.headers();
        if status == 200 {
            let page = headers
                .get(CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
            if page {
                let hint = "check `base_url`: this is not the address of an API (or a proxy is in the way)";
                return self.fail(self.site.permanent("answered with a web page", hint));
            }
            self.phase = Phase::Receiving {
                body: http::body(response),
            };
            return;
        }
        let wait = retry_after::read(headers, SystemTime::now());
        let pointed = headers
            .get("location")
            .and_then(|to| to.to_str().ok())
            .map(str::to_owned);
        let text = excerpt(http::body(response)).await;
        let mut vendor = VendorError::from_text(&text);
        if let (300..=399, Some(to)) = (status, pointed) {
            vendor.message = format!("redirects to {to}");
        }
        let error = match status {
            // Nothing was refused, and there is no answer either.
            201..=299 => self
                .site
                .transient(&format!("answered {status} without an answer")),
            _ => self.site.refused(&request.model, status, wait, &vendor),
        };
        self.fail(error);
    }

    async fn receive(&mut self, mut body: Body) {
        let (deadline, silence) = self.deadline();
        let mut next = match patience::until(deadline, body.next()).await {
            Ok(next) => next,
            Err(_) => return self.end(Some(self.silent(silence.0, silence.1))),
        };
        let mut batch = Batch::default();
        let mut taken = 0;
        let outcome = loop {
            match next {
                Some(Ok(bytes)) => {
                    self.heard = Some(Instant::now());
                    taken += bytes.len();
                    match self.take(&bytes, &mut batch) {
                        Ok(Flow::Last) => break Ok(Phase::Draining { body }),
                        Ok(Flow::More | Flow::Nothing) => {}
                        Err(error) => break Err(Some(error)),
                    }
                }
                Some(Err(reason)) => {
                    break Err(self.cut(&mut batch, "lost the connection", &format!(": {reason}")));
                }
                None => break Err(self.cut(&mut batch, "ended the connection", "")),
            }
            // What is there already becomes one batch: a hundred small deltas are one part.
            let there = if taken < GULP {
                body.next().now_or_never()
            } else {
                None
            };
            match there {
                Some(there) => next = there,
                None => break Ok(Phase::Receiving { body }),
            }
        };
        if outcome.is_ok() {
            self.tell_reported(&mut batch);
        }
        self.queue.extend(batch.0.into_iter().map(Ok));
        match outcome {
            Ok(phase) => self.phase = phase,
            Err(error) => self.end(error),
        }
    }

    /// Says what the vendor has reported so far, where it is news: whoever drops the stream has to know it.
    fn tell_reported(&mut self, batch: &mut Batch) {
        let now = self.collect.reported();
        if now != self.told {
            self.told = now;
            batch.0.extend(now.map(Part::Usage));
        }
    }

    /// When to give up, and the words for it.
    fn deadline(&self) -> (Instant, (&'static str, Duration)) {
        let Some(heard) = self.heard else {
            return (
                self.started + self.timeouts.first_byte,
                ("sent nothing", self.timeouts.first_byte),
            );
        };
        if self.collect.is_finished() {
            return (
                heard + TAIL.min(self.timeouts.idle),
                ("did not end its answer", TAIL),
            );
        }
        let (idle, progress) = (
            heard + self.timeouts.idle,
            self.progress + self.timeouts.progress,
        );
        if idle <= progress {
            (
                idle,
                (
                    "went silent in the middle of its answer",
                    self.timeouts.idle,
                ),
            )
        } else {
            (
                progress,
                ("sent nothing but keep-alives", self.timeouts.progress),
            )
        }
    }

    /// Takes bytes of the body.
    fn take(&mut self, mut bytes: &[u8], batch: &mut Batch) -> Result<Flow, ProviderError> {
        if matches!(self.form, Form::Unknown) {
            // Blank lines keep a connection alive, before either form.
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return Ok(Flow::Nothing),
                Some(b'{' | b'[') => self.form = Form::Document(Vec::new()),
                Some(_) => self.form = Form::Events(Events::new(EVENT_MAX)),
            }
        }
        match &mut self.form {
            Form::Unknown => Ok(Flow::Nothing),
            Form::Document(text) => {
                if text.len() + bytes.len() > DOCUMENT_MAX {
                    return Err(self.too_large());
                }
                // No progress: how far a document has come cannot be seen before its end.
                text.extend_from_slice(bytes);
                Ok(Flow::Nothing)
            }
            Form::Events(events) => {
                let (collect, mut flow) = (&mut self.collect, Flow::Nothing);
                let fed = events.feed(bytes, &mut |data| event(collect, data, batch, &mut flow));
                if flow == Flow::More {
                    self.progress = Instant::now();
                }
                self.settle(fed, flow)
            }
        }
    }

    /// The body has ended, well or badly. Gives the error that holds unless the answer was whole.
    fn cut(&mut self, batch: &mut Batch, how: &str, why: &str) -> Option<ProviderError> {
        let taken = match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Events(events) => {
                let (collect, mut flow) = (&mut self.collect, Flow::Nothing);
                let fed = events.finish(&mut |data| event(collect, data, batch, &mut flow));
                self.settle(fed, flow).map(drop)
            }
            Form::Document(text) => {
                let text = std::mem::take(text);
                self.collect
                    .document(&String::from_utf8_lossy(&text), batch)
            }
        };
        let place = if self.heard.is_some() {
            "in the middle of its answer"
        } else {
            "before its answer"
        };
        Some(
            taken
                .err()
                .unwrap_or_else(|| self.site.transient(&format!("{how} {place}{why}"))),
        )
    }

    fn settle(&self, fed: Result<(), Stop>, flow: Flow) -> Result<Flow, ProviderError> {
        match fed {
            Ok(()) => Ok(flow),
            Err(Stop::TooLarge) => Err(self.too_large()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// Ends the answer: whole if the collector says so, else with the error.
    fn end(&mut self, error: Option<ProviderError>) {
        let mut batch = Batch::default();
        let ended = match error {
            Some(error) if !self.collect.is_finished() => Err(error),
            _ => self.collect.end(&mut batch),
        };
        if ended.is_err() {
            let reported = self.collect.reported();
            batch.0.extend(reported.map(Part::Usage));
        }
        self.queue.extend(batch.0.into_iter().map(Ok));
        self.queue.extend(ended.err().map(Err));
    }

    fn fail(&mut self, error: ProviderError) {
        self.queue.push_back(Err(error));
    }

    fn silent(&self, what: &str, how_long: Duration) -> ProviderError {
        self.site.transient(&format!("{what} for {how_long:?}"))
    }

    fn too_large(&self) -> ProviderError {
        self.site.permanent(
            "sent an event larger than any answer",
            "check `base_url`: this may not be a model",
        )
    }
}

/// Hands one event on.
fn event(
    collect: &mut impl Collect,
    data: &str,
    batch: &mut Batch,
    flow: &mut Flow,
) -> Result<(), Stop> {
    // Behind the last event there is nothing to read, whatever comes.
    if *flow != Flow::Last && !data.is_empty() {
        match collect.event(data, batch)? {
            Flow::Nothing => {}
            said @ (Flow::More | Flow::Last) => *flow = said,
        }
    }
    Ok(())
}

/// The beginning of an error's body, as far as it comes in time.
async fn excerpt(mut body: Body) -> String {
    let mut text = Vec::new();
    let reading = async {
        while let Some(Ok(bytes)) = body.next().await {
            text.extend_from_slice(&bytes);
            if text.len() >= ERROR_MAX {
                break;
            }
        }
    };
    let _ = timeout(TAIL, reading).await;
    text.truncate(ERROR_MAX);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
pub(crate) use crate::http::Body as TestBody;

/// Reads an answer from bytes that no connection brought.
#[cfg(any(test, fuzzing))]
pub(crate) fn from_body<C: Collect>(
    body: Body,
    timeouts: Timeouts,
    site: Site,
    collect: C,
) -> BoxStream<'static, Result<Part, ProviderError>> {
    Reading::new(Phase::Receiving { body }, timeouts, site, collect).parts()
}
