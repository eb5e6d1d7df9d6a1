//! What requests beside the conversation took: noted as it is reported, so that it counts however they end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::provider::{ErrorKind, Part, ProviderError};
use contract::{Permit, Provider, Request};
use futures::StreamExt as _;
use proto::ItemId;
use proto::record::{Purpose, Usage};

use turn::RequestInfo;

use crate::request::gather::Gather;
use crate::request::in_flight::Arrived;
use crate::request::key_filter::without_keys;
use crate::request::samples::PartSender;

/// Who was asked, and what for.
#[derive(Clone)]
pub(crate) struct BillingContext {
    pub item: ItemId,
    pub provider: String,
    pub model: String,
    pub purpose: Purpose,
    /// The step of the turn, from 1; 0: of none.
    pub step: u64,
    pub price: Option<Arc<catalog::Price>>,
}

/// The newest that is known of each request. Whoever takes it out closes them: later reports, of requests that
/// are being dropped, are not taken in.
#[derive(Clone, Default)]
pub(crate) struct UsageRecorder(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    requests: BTreeMap<u32, Usage>,
    /// Of messages that the vendor replaced by another one within an answer. They are billed too.
    replaced: Vec<(u32, Usage)>,
    closed: bool,
    /// Until the usage is taken out, its requests count as being under way.
    permits: Vec<Arc<dyn Permit>>,
}

impl UsageRecorder {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, slot: u32, usage: Usage) {
        let mut open = self.open();
        if !open.closed {
            open.requests.insert(slot, usage);
        }
    }

    fn put_replaced(&self, slot: u32, usage: Usage) {
        let mut open = self.open();
        if !open.closed {
            open.requests.remove(&slot);
            open.replaced.push((slot, usage));
        }
    }

    fn hold(&self, permit: Arc<dyn Permit>) {
        let mut open = self.open();
        if !open.closed {
            open.permits.push(permit);
        }
    }

    /// Leaves out a request that is noted elsewhere.
    pub fn leave_out(&self, slot: Option<u32>) {
        if let Some(slot) = slot {
            let mut open = self.open();
            open.requests.remove(&slot);
            open.replaced.retain(|(of, _)| *of != slot);
        }
    }

    /// Takes out what there is, in the order of the requests.
    pub fn take(&self) -> Vec<Usage> {
        let mut open = self.open();
        open.closed = true;
        open.permits.clear();
        let replaced = std::mem::take(&mut open.replaced).into_iter();
        let requests = std::mem::take(&mut open.requests).into_values();
        replaced.map(|(_, usage)| usage).chain(requests).collect()
    }
}

/// An answer as it came.
pub(crate) struct CollectedAnswer {
    pub answer: turn::Answer,
    /// All of it, except reports about its turn at the vendor.
    pub parts: Vec<Part>,
}

/// What several requests that go out together come to as one: it waits for its turn at the vendor until the first of them
/// is sent.
pub(crate) struct Turn<'a> {
    teller: &'a PartSender,
    progress: Mutex<TurnProgress>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnProgress {
    /// Nothing was heard of any.
    Fresh,
    /// It was reported that they wait.
    Waiting,
    Sent,
}

impl<'a> Turn<'a> {
    pub fn new(teller: &'a PartSender) -> Self {
        let progress = Mutex::new(TurnProgress::Fresh);
        Self { teller, progress }
    }

    /// Takes in a part of one of them, and says what that comes to.
    async fn note(&self, part: &Part) {
        let reported = {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            match (*progress, part) {
                (TurnProgress::Fresh, Part::Waiting { .. }) => {
                    *progress = TurnProgress::Waiting;
                    Some(part.clone())
                }
                (TurnProgress::Waiting, Part::Waiting { .. }) | (TurnProgress::Sent, _) => None,
                (TurnProgress::Fresh, _) => {
                    *progress = TurnProgress::Sent;
                    None
                }
                (TurnProgress::Waiting, _) => {
                    *progress = TurnProgress::Sent;
                    Some(Part::Sent)
                }
            }
        };
        if let Some(part) = reported {
            self.teller.send(Arrived::Part(part)).await;
        }
    }
}

/// Sends a request and takes its whole answer; its usage is noted under `slot`.
///
/// # Errors
/// No complete answer came.
pub(crate) async fn hear(
    provider: &Arc<dyn Provider>,
    request: Request,
    bill: &BillingContext,
    (recorder, slot): (&UsageRecorder, u32),
    turn: Option<&Turn<'_>>,
) -> Result<CollectedAnswer, ProviderError> {
    let bytes = request.body.len() as u64;
    let mut gather = Gather::new(0, bill.item.clone(), false, bill.price.clone());
    let mut parts = Vec::new();
    request.permit.take()?;
    recorder.hold(Arc::clone(&request.permit));
    let mut stream = without_keys(provider.stream(request));
    let failed = loop {
        match stream.next().await {
            Some(Ok(part)) => {
                let reports = matches!(part, Part::Usage(_));
                if let Some(turn) = turn {
                    turn.note(&part).await;
                }
                if matches!(part, Part::Restarted) {
                    let dropped = gather.restart();
                    if dropped.reported.is_some() {
                        recorder.put_replaced(slot, usage(bill, &dropped, bytes));
                    }
                    // Whoever passes the parts on needs the usage of the dropped message, and nothing else of it.
                    parts.retain(|part| matches!(part, Part::Usage(_) | Part::Restarted));
                    parts.push(part);
                    continue;
                }
                if !matches!(part, Part::Waiting { .. } | Part::Sent) {
                    parts.push(part.clone());
                }
                let whole = gather.take(part);
                if reports || whole {
                    recorder.put(slot, usage(bill, &gather.so_far(), bytes));
                }
                if whole {
                    break None;
                }
            }
            Some(Err(error)) => break Some(error),
            None => break Some(broken()),
        }
    };
    match failed {
        Some(error) => Err(error),
        None => Ok(CollectedAnswer {
            answer: gather.finish(),
            parts,
        }),
    }
}

pub(crate) fn broken() -> ProviderError {
    ProviderError {
        message: "the answer's stream ended in the middle".into(),
        hint: String::new(),
        kind: ErrorKind::Transient,
        status: None,
        retry_after: None,
        of_model: false,
        empty: false,
        window: None,
    }
}

fn usage(bill: &BillingContext, answer: &turn::Answer, request_bytes: u64) -> Usage {
    let usage = answer.usage(RequestInfo {
        item: bill.item.clone(),
        provider: bill.provider.clone(),
        model: bill.model.clone(),
        purpose: bill.purpose,
        step: bill.step,
        attempt: 1,
    });
    Usage {
        request_bytes,
        ..usage
    }
}
