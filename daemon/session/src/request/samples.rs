//! Sampling: several samples of one request side by side, of which one is taken. It comes to the actor as if it had
//! come alone; the usage of the others goes into the usage ledger.

use std::sync::{Arc, Mutex, PoisonError};

use contract::provider::{Part, Provider, ProviderError};
use contract::{Codec, Request};
use futures::future::join_all;
use proto::item::Finish;
use proto::record::{Purpose, ReasoningExtracted};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use turn::extraction::{SampleScore, choose, is_worth, temperatures};

use crate::request::in_flight::{self as asking, Arrived, Ask};
use crate::request::reasoning::{SideRequestContext, SideRequestTarget};
use crate::request::side_requests::{BillingContext, CollectedAnswer, Turn, UsageRecorder, hear};

/// What a request of several samples needs.
pub(crate) struct Sampling {
    pub ask: Ask,
    pub codec: Arc<dyn Codec>,
    /// How many.
    pub samples: u32,
    /// Whether requests may say a temperature. Else all samples are the same request.
    pub temperature: bool,
    pub around: SideRequestContext,
    pub price: Option<Arc<catalog::Price>>,
    /// What all but the one that is taken take.
    pub recorder: UsageRecorder,
}

/// A sample that has come whole, and what its reasoning held.
struct Come {
    /// Its place among all.
    at: u32,
    heard: CollectedAnswer,
    found: Option<ReasoningExtracted>,
    /// Unknown where its reasoning could not be extracted.
    uncertainties: Option<usize>,
}

/// Sends the samples, chooses, and passes the chosen one on, until the end, a failure, or `cancel`.
pub(crate) async fn run(
    sampling: Sampling,
    number: u64,
    cancel: CancellationToken,
    arrived: mpsc::Sender<(u64, Arrived)>,
) {
    let passing = async {
        let teller = PartSender { number, arrived };
        match sampled(sampling, &teller).await {
            Ok(parts) => {
                for part in parts {
                    teller.send(Arrived::Part(part)).await;
                }
            }
            Err(error) => teller.send(Arrived::Broke(error)).await,
        }
    };
    tokio::select! {
        () = cancel.cancelled() => {}
        () = passing => {}
    }
}

/// Where its parts go.
pub(crate) struct PartSender {
    number: u64,
    arrived: mpsc::Sender<(u64, Arrived)>,
}

impl PartSender {
    pub async fn send(&self, what: Arrived) {
        // Whoever asked may be gone: then nobody misses it.
        let _ = self.arrived.send((self.number, what)).await;
    }
}

/// The parts of the sample that is taken.
async fn sampled(sampling: Sampling, teller: &PartSender) -> Result<Vec<Part>, ProviderError> {
    let bill = BillingContext {
        item: sampling.around.item.clone(),
        provider: provider_of(&sampling.around.model),
        model: model_of(&sampling.around.model),
        purpose: Purpose::Sample,
        step: sampling.around.step,
        price: sampling.price.clone(),
    };
    let ready = asking::ready(sampling.ask).await?;
    teller.send(Arrived::Sent(ready.sent)).await;
    let side_budget = sampling.around.side_budget.clone();
    // If no model can be asked for extractions, the shortest answer is taken.
    let aide = SideRequestTarget::find(sampling.around).await.ok();
    let of = sampling.samples;
    let is_in = Mutex::new(0_u32);
    let turn = Turn::new(teller);
    let temperatures = temperatures(of);
    let samples = temperatures.iter().enumerate().map(|(at, hundredths)| {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let mut request = match sampling.temperature {
            true => at_temperature(&ready.request, &*sampling.codec, *hundredths),
            false => ready.request.clone(),
        };
        if at > 0 {
            // The first has the leave of the request.
            request.permit = side_budget.leave(side_budget.expected);
        }
        let (provider, bill, recorder) = (&ready.provider, &bill, &sampling.recorder);
        let (aide, is_in, turn) = (aide.as_ref(), &is_in, &turn);
        async move {
            let come = one(provider, request, bill, (recorder, turn), (at, of), aide).await;
            if come.is_ok() {
                let so_many = {
                    let mut is_in = is_in.lock().unwrap_or_else(PoisonError::into_inner);
                    *is_in += 1;
                    *is_in
                };
                teller.send(Arrived::Sampled { is_in: so_many, of }).await;
            }
            come
        }
    });
    let mut failed = None;
    let mut come: Vec<Come> = Vec::new();
    for sample in join_all(samples).await {
        match sample {
            Ok(sample) => come.push(sample),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let ranked: Vec<SampleScore> = come.iter().map(as_sample).collect();
    let Some(won) = choose(&ranked).map(|won| come.swap_remove(won)) else {
        return Err(failed.unwrap_or_else(crate::request::side_requests::broken));
    };
    let (at, found) = (won.at, won.found);
    teller.send(Arrived::Chosen { at, found }).await;
    Ok(won.heard.parts)
}

/// One sample, and its extraction.
async fn one(
    provider: &Arc<dyn Provider>,
    request: Request,
    bill: &BillingContext,
    (recorder, turn): (&UsageRecorder, &Turn<'_>),
    (at, of): (u32, u32),
    aide: Option<&SideRequestTarget>,
) -> Result<Come, ProviderError> {
    let heard = hear(provider, request, bill, (recorder, at), Some(turn)).await?;
    let trace = &heard.answer.reasoning;
    let (found, uncertainties) = match (is_worth(trace), aide) {
        // Without reasoning nothing is uncertain.
        (false, _) => (None, Some(0)),
        (true, None) => (None, None),
        (true, Some(aide)) => match aide.extract(trace, (recorder, of + at)).await {
            Ok(found) => {
                let uncertain = found.uncertainties.len();
                (Some(found), Some(uncertain))
            }
            Err(_) => (None, None),
        },
    };
    Ok(Come {
        at,
        heard,
        found,
        uncertainties,
    })
}

fn as_sample(come: &Come) -> SampleScore {
    let answer = &come.heard.answer;
    let calls = answer.calls.iter();
    let calls: usize = calls
        .map(|call| call.name.len() + call.arguments.len())
        .sum();
    let says = !answer.text.trim().is_empty() || !answer.calls.is_empty();
    let is_cut = matches!(answer.finish, Some(Finish::Length | Finish::ContentFilter));
    SampleScore {
        is_usable: says && !is_cut,
        uncertainties: come.uncertainties,
        length: answer.text.len() + calls,
    }
}

/// The same request at a temperature: said at the very end, so that the bytes before it are those of any other.
fn at_temperature(request: &Request, codec: &dyn Codec, hundredths: u32) -> Request {
    let mut request = request.clone();
    if request.body.last() == Some(&b'}')
        && let Some(member) = codec.temperature(hundredths)
    {
        request.body.pop();
        request.body.push(b',');
        request.body.extend_from_slice(member.as_bytes());
        request.body.push(b'}');
    }
    request
}

fn provider_of(model: &str) -> String {
    let (provider, _) = model.split_once('/').unwrap_or(("", model));
    provider.to_owned()
}

fn model_of(model: &str) -> String {
    let (_, model) = model.split_once('/').unwrap_or(("", model));
    model.to_owned()
}
