//! Runs one request from sending to the end of the answer: deadlines, response format, queued
//! parts.
//!
//! Distinguishes an event stream from a JSON document by the first byte, whatever the headers say.
//! A kind's `Collect` interprets the events. Polled by the session. Dropping the stream cancels the
//! request.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use contract::provider::{Part, ProviderError, Reported, Request};
use futures::future::FutureExt;
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::CONTENT_TYPE;
use tokio::time::{Instant, timeout};

use crate::deadline;
use crate::failure::{ErrorContext, VendorError};
use crate::gathered::Gathered;
use crate::http::{self, Body, Endpoint};
use crate::options::Timeouts;
use crate::part_batch::PartBatch;
use crate::retry_after;
use crate::sse::{EventTooLarge, SseParser};

/// Maximum size of an event: more than all arguments of an answer in one piece.
const EVENT_MAX: usize = 8 << 20;
/// How many bytes of an error's body are read.
const ERROR_MAX: usize = 64 << 10;
/// Time limit for an error's body, or for usage after a finished answer.
const TAIL: Duration = Duration::from_secs(10);
/// How long to wait for the end of a body after its last event, so that its connection can be
/// reused.
const DRAIN: Duration = Duration::from_millis(20);
/// Maximum bytes of a body for each byte that the answer may have: the frame of an event is far longer than its words,
/// and what has no words has an end too.
const WIRE_FACTOR: usize = 32;
/// Maximum bytes to take at once, if available, before parts are passed on.
const GULP: usize = 256 << 10;

/// Collects an answer, implemented by each kind.
pub(crate) trait Collect: Send + 'static {
    /// Handles the data of one event.
    fn event(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError>;
    /// Handles an answer in one document. `end` follows.
    fn document(&mut self, text: &str, batch: &mut PartBatch) -> Result<(), ProviderError>;
    /// What has been collected so far.
    fn gathered(&mut self) -> &mut Gathered;
    /// Called when the answer is complete, before `Gathered::finish`.
    fn complete(&mut self, batch: &mut PartBatch) {
        let _ = batch;
    }
}

/// Result of handling an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It had content.
    More,
    /// It had no content.
    Nothing,
    /// It was the last event.
    Last,
}

/// Sends a request and reads its answer.
pub(crate) fn stream<C: Collect>(
    endpoint: Endpoint,
    timeouts: Timeouts,
    site: ErrorContext,
    request: Request,
    collect: C,
) -> BoxStream<'static, Result<Part, ProviderError>> {
    AnswerReader::new(
        Phase::Sending(Box::new((endpoint, request))),
        timeouts,
        site,
        collect,
    )
    .parts()
}

/// A request in progress.
struct AnswerReader<C> {
    phase: Phase,
    form: AnswerFormat,
    /// Parts that were not polled yet.
    queue: VecDeque<Result<Part, ProviderError>>,
    collect: C,
    timeouts: Timeouts,
    site: ErrorContext,
    started: Instant,
    /// When the last bytes of the body arrived.
    heard: Option<Instant>,
    /// Bytes of the body so far.
    received: usize,
    /// When content last arrived.
    progress: Instant,
    /// The last reported usage that was passed on.
    last_usage: Option<Reported>,
}

/// Sending → Receiving → Draining → Over. Each may go to Over.
enum Phase {
    /// No response yet.
    Sending(Box<(Endpoint, Request)>),
    /// The answer is arriving.
    Receiving { body: Body },
    /// The last event arrived. The rest of the body is ignored.
    Draining { body: Body },
    /// All parts are in the queue.
    Over,
}

/// The format of an answer.
enum AnswerFormat {
    /// Only white space so far.
    Unknown,
    Events(SseParser),
    Document(Vec<u8>),
}

/// Why handling bytes ends early.
enum FeedError {
    TooLarge,
    Failed(ProviderError),
}

impl From<EventTooLarge> for FeedError {
    fn from(_: EventTooLarge) -> Self {
        Self::TooLarge
    }
}

impl From<ProviderError> for FeedError {
    fn from(error: ProviderError) -> Self {
        Self::Failed(error)
    }
}

impl<C: Collect> AnswerReader<C> {
    fn new(phase: Phase, timeouts: Timeouts, site: ErrorContext, collect: C) -> Self {
        let now = Instant::now();
        let (form, queue) = (AnswerFormat::Unknown, VecDeque::new());
        Self {
            phase,
            form,
            queue,
            collect,
            timeouts,
            site,
            started: now,
            heard: None,
            received: 0,
            progress: now,
            last_usage: None,
        }
    }

    fn parts(self) -> BoxStream<'static, Result<Part, ProviderError>> {
        stream::unfold(Box::new(self), |mut reading| async move {
            let part = reading.next().await?;
            Some((part, reading))
        })
        .boxed()
    }

    /// The next part, or `None` after the last one or the first error.
    async fn next(&mut self) -> Option<Result<Part, ProviderError>> {
        loop {
            if let Some(part) = self.queue.pop_front() {
                return Some(part);
            }
            // The phase is taken out while in use: dropping this future drops the connection, and a
            // half-done phase is never polled again.
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
        let response = match deadline::until(self.started + self.timeouts.first_byte, sending).await
        {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return self.fail(error),
            Err(_) => return self.fail(self.site.silent("sent nothing", self.timeouts.first_byte)),
        };
        let status = response.status().as_u16();
        let headers = response.headers();
        if status == 200 {
            let page = headers
                .get(CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
            if page {
                let hint =
                    "check `base_url`: this address is not an API, or a proxy answered instead";
                return self.fail(self.site.permanent("answered with a web page", hint));
            }
            self.phase = Phase::Receiving {
                body: http::body(response),
            };
            return;
        }
        let wait = retry_after::read(headers, SystemTime::now());
        let pointed = http::redirect_target(&response);
        let until = Instant::now() + TAIL;
        let (text, _) = http::start_of(http::body(response), ERROR_MAX, until).await;
        let mut vendor = VendorError::from_text(&String::from_utf8_lossy(&text));
        if let (300..=399, Some(to)) = (status, pointed) {
            vendor.message = format!("redirects to {to}");
        }
        let error = match status {
            // It is not an error, but there is no answer either.
            201..=299 => self
                .site
                .transient(&format!("answered {status} without an answer")),
            _ => self.site.refused(&request.model, status, wait, &vendor),
        };
        self.fail(error);
    }

    async fn receive(&mut self, mut body: Body) {
        let (deadline, silence) = self.deadline();
        let mut next = match deadline::until(deadline, body.next()).await {
            Ok(next) => next,
            Err(_) => return self.end(Some(self.site.silent(silence.0, silence.1))),
        };
        let mut batch = PartBatch::default();
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
            // Bytes that are already available become one batch: a hundred small deltas are one
            // part.
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
            self.push_reported(&mut batch);
        }
        self.queue.extend(batch.into_parts().map(Ok));
        match outcome {
            Ok(phase) => self.phase = phase,
            Err(error) => self.end(error),
        }
    }

    /// Passes on newly reported usage, so that it is known even if the stream is dropped.
    fn push_reported(&mut self, batch: &mut PartBatch) {
        if batch.has_restart() {
            self.last_usage = None;
        }
        let now = self.collect.gathered().usage;
        if now != self.last_usage {
            self.last_usage = now;
            batch.usage(now);
        }
    }

    /// The current deadline, with its error text.
    fn deadline(&mut self) -> (Instant, (&'static str, Duration)) {
        let Some(heard) = self.heard else {
            return (
                self.started + self.timeouts.first_byte,
                ("sent nothing", self.timeouts.first_byte),
            );
        };
        if self.collect.gathered().is_finished() {
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
                ("was silent in the middle of its answer", self.timeouts.idle),
            )
        } else {
            (
                progress,
                ("sent nothing but keep-alives", self.timeouts.progress),
            )
        }
    }

    /// Handles bytes of the body.
    fn take(&mut self, mut bytes: &[u8], batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        self.received = self.received.saturating_add(bytes.len());
        if self.received > self.site.entry.answer_max.saturating_mul(WIRE_FACTOR) {
            return Err(self.site.too_long());
        }
        if matches!(self.form, AnswerFormat::Unknown) {
            // Blank lines keep a connection alive, before either format.
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return Ok(Flow::Nothing),
                Some(b'{' | b'[') => self.form = AnswerFormat::Document(Vec::new()),
                Some(_) => self.form = AnswerFormat::Events(SseParser::new(EVENT_MAX)),
            }
        }
        match &mut self.form {
            AnswerFormat::Unknown => Ok(Flow::Nothing),
            AnswerFormat::Document(text) => {
                if text.len() + bytes.len() > self.site.entry.answer_max {
                    return Err(self.site.too_long());
                }
                // Not counted as progress: an incomplete document shows none.
                text.extend_from_slice(bytes);
                Ok(Flow::Nothing)
            }
            AnswerFormat::Events(events) => {
                let (collect, mut flow) = (&mut self.collect, Flow::Nothing);
                let fed = events.feed(bytes, &mut |data| event(collect, data, batch, &mut flow));
                if flow == Flow::More {
                    self.progress = Instant::now();
                }
                self.settle(fed, flow)
            }
        }
    }

    /// Handles the end of the body. Returns the error to report unless the answer is complete.
    fn cut(&mut self, batch: &mut PartBatch, how: &str, why: &str) -> Option<ProviderError> {
        let taken = match &mut self.form {
            AnswerFormat::Unknown => Ok(()),
            AnswerFormat::Events(events) => {
                let (collect, mut flow) = (&mut self.collect, Flow::Nothing);
                let fed = events.finish(&mut |data| event(collect, data, batch, &mut flow));
                self.settle(fed, flow).map(drop)
            }
            AnswerFormat::Document(text) => {
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

    fn settle(&self, fed: Result<(), FeedError>, flow: Flow) -> Result<Flow, ProviderError> {
        match fed {
            Ok(()) => Ok(flow),
            Err(FeedError::TooLarge) => Err(self.too_large()),
            Err(FeedError::Failed(error)) => Err(error),
        }
    }

    /// Ends the answer: complete if the collector says so, otherwise with the error.
    fn end(&mut self, error: Option<ProviderError>) {
        let mut batch = PartBatch::default();
        let ended = match error {
            Some(error) if !self.collect.gathered().is_finished() => Err(error),
            _ => {
                self.collect.complete(&mut batch);
                self.collect.gathered().finish(&mut batch)
            }
        };
        if ended.is_err() {
            batch.usage(self.collect.gathered().usage);
        }
        self.queue.extend(batch.into_parts().map(Ok));
        self.queue.extend(ended.err().map(Err));
    }

    fn fail(&mut self, error: ProviderError) {
        self.queue.push_back(Err(error));
    }

    fn too_large(&self) -> ProviderError {
        self.site.permanent(
            "sent an event larger than any answer",
            "check `base_url`: this may not be a model API",
        )
    }
}

/// Passes on one event.
fn event(
    collect: &mut impl Collect,
    data: &str,
    batch: &mut PartBatch,
    flow: &mut Flow,
) -> Result<(), FeedError> {
    // Ignores everything after the last event.
    if *flow != Flow::Last && !data.is_empty() {
        match collect.event(data, batch)? {
            Flow::Nothing => {}
            said @ (Flow::More | Flow::Last) => *flow = said,
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) use crate::http::Body as TestBody;

/// Reads an answer from bytes without a connection.
#[cfg(any(test, fuzzing))]
pub(crate) fn from_body<C: Collect>(
    body: Body,
    timeouts: Timeouts,
    site: ErrorContext,
    collect: C,
) -> BoxStream<'static, Result<Part, ProviderError>> {
    AnswerReader::new(Phase::Receiving { body }, timeouts, site, collect).parts()
}
