//! A provider with a broker: a request waits for its turn inside `stream`, and reports a long wait.
//!
//! Two gates are in its way. The model's closes if the model fails several times in a row, or the vendor
//! says that it is too busy with this model; the key's has the limit of concurrent requests, and closes
//! if the vendor asks the key to wait. The model's is
//! the first: what waits at it takes no place of the key, so a broken model does not block others.
//!
//! Waiting uses up no retry of the request. Dropping the stream leaves the queue or gives the place
//! back.

use std::sync::Arc;
use std::time::Duration;

use contract::Provider;
use contract::provider::{ErrorKind, Part, ProviderError, Request};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use proto::Pid;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::broker::{Broker, Brokers, GateScope, RequestPlace};
use crate::gate::{GateTiming, QueuePosition, VendorFailure, WaitReason};

/// A shorter wait is not reported: it would end before it is read, and each report is a record.
const REPORT_AFTER: Duration = Duration::from_millis(250);

/// An account at a vendor, without its key.
#[derive(Clone, Debug)]
pub struct Account {
    /// The provider's name, for users, and to identify the account if it has no key.
    pub name: String,
    /// Host and port of its endpoint.
    pub host: String,
    /// Maximum requests in flight.
    pub max_concurrent: usize,
    pub bounds: GateTiming,
    /// How long a request may wait for its turn.
    pub patience: Duration,
}

/// The endpoint, and the account that pays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Payer {
    /// The endpoint, and the SHA-256 of the key.
    Key { host: String, sha256: [u8; 32] },
    /// The provider with this name, at this endpoint.
    Name { name: String, host: String },
}

/// A provider with a broker; see the module documentation.
pub struct Brokered {
    inner: Arc<dyn Provider>,
    pub(crate) brokers: Arc<Brokers>,
    account: Arc<Account>,
}

impl Brokered {
    /// Adds a broker to a provider.
    #[must_use]
    pub fn new(inner: Arc<dyn Provider>, brokers: Arc<Brokers>, account: Account) -> Self {
        Self {
            inner,
            brokers,
            account: Arc::new(account),
        }
    }

    fn payer(&self, request: &Request) -> Payer {
        match &request.key {
            Some(key) => Payer::Key {
                host: self.account.host.clone(),
                sha256: Sha256::digest(key.expose().as_bytes()).into(),
            },
            None => Payer::Name {
                name: self.account.name.clone(),
                host: self.account.host.clone(),
            },
        }
    }
}

impl Provider for Brokered {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let account = Arc::clone(&self.account);
        let payer = self.payer(&request);
        let broker = |model: Option<String>| {
            let payer = payer.clone();
            let scope = GateScope { payer, model };
            self.brokers.get_or_create(scope, account.bounds)
        };
        let gates = Gates {
            model: broker(Some(request.model.clone())),
            key: broker(None),
            session: request.ground.session,
            limit: account.max_concurrent,
        };
        let since = Instant::now();
        let waiting = Waiting {
            places: gates.enter(),
            gates,
            until: since + account.patience,
            report_at: Some(since + REPORT_AFTER),
            provider: Arc::clone(&self.inner),
            request,
            account,
        };
        let stage = Stage::Waiting(Box::new(waiting));
        Box::pin(stream::unfold(stage, next))
    }
}

type Item = Result<Part, ProviderError>;

enum Stage {
    Waiting(Box<Waiting>),
    Sent(Sent),
    Over,
}

/// The gates in the way of a request.
struct Gates {
    model: Arc<Broker>,
    key: Arc<Broker>,
    session: Pid,
    limit: usize,
}

impl Gates {
    fn enter(&self) -> Places {
        Places {
            model: Arc::clone(&self.model).enter(self.session, self.limit),
            key: None,
        }
    }
}

/// A request's places at its gates.
struct Places {
    /// Released before there is one at the key.
    model: RequestPlace,
    key: Option<RequestPlace>,
}

impl Places {
    /// The gate at which the request waits.
    fn nearest(&mut self) -> &mut RequestPlace {
        self.key.as_mut().unwrap_or(&mut self.model)
    }

    /// Goes on behind the gate that has released the request. Returns whether that was the last one.
    fn passed(&mut self, gates: &Gates) -> bool {
        match &self.key {
            None => {
                self.key = Some(Arc::clone(&gates.key).enter(gates.session, gates.limit));
                false
            }
            Some(_) if self.model.closed_since_release() => {
                // The model has failed while the request waited for its key: it is not sent there.
                *self = gates.enter();
                false
            }
            Some(_) => true,
        }
    }

    /// Whether the request may be sent now. Do not call it again after it returned true.
    fn may_go(&mut self, gates: &Gates) -> bool {
        while self.nearest().may_go() {
            if self.passed(gates) {
                return true;
            }
        }
        false
    }

    /// The vendor started to answer, or refused the request for a reason of the request.
    fn taken(&self) {
        self.model.taken();
        self.key.iter().for_each(RequestPlace::taken);
    }

    fn failed(&self, failure: RequestFailure) {
        match failure {
            RequestFailure::OfKey(failure) => {
                self.model.taken();
                self.key.iter().for_each(|key| key.failed(failure));
            }
            RequestFailure::OfModel { failure, answered } => {
                self.model.failed(failure);
                if answered {
                    self.key.iter().for_each(RequestPlace::taken);
                }
            }
            // It says nothing about others: whoever is next finds out.
            RequestFailure::NotRunning => {}
        }
    }
}

/// Whom a failure concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestFailure {
    /// All models of the key.
    OfKey(VendorFailure),
    OfModel {
        failure: VendorFailure,
        /// Whether the vendor answered at all, so that the key is good.
        answered: bool,
    },
    /// Nothing listens at the address.
    NotRunning,
}

/// A request in the queue.
struct Waiting {
    gates: Gates,
    places: Places,
    until: Instant,
    /// When to report that it waits. `None` after it was reported.
    report_at: Option<Instant>,
    provider: Arc<dyn Provider>,
    request: Request,
    account: Arc<Account>,
}

/// A request in flight.
struct Sent {
    places: Places,
    parts: BoxStream<'static, Item>,
    taken: bool,
}

async fn next(stage: Stage) -> Option<(Item, Stage)> {
    match stage {
        Stage::Waiting(mut waiting) => {
            let Waiting { places, gates, .. } = &mut *waiting;
            if !places.may_go(gates) {
                return waiting.wait().await;
            }
            match waiting.report_at {
                None => Some(waiting.send()),
                // Its wait was not reported, so neither is its end.
                Some(_) => match waiting.send() {
                    (Ok(_), Stage::Sent(sent)) => sent.next().await,
                    refused => Some(refused),
                },
            }
        }
        Stage::Sent(sent) => sent.next().await,
        Stage::Over => None,
    }
}

impl Waiting {
    async fn wait(mut self: Box<Self>) -> Option<(Item, Stage)> {
        // A waiting request is not in flight: others may use its share of the budget.
        self.request.permit.give_back();
        loop {
            let now = Instant::now();
            if now >= self.until {
                return Some((Err(self.gave_up()), Stage::Over));
            }
            if self.report_at.is_some_and(|report_at| now >= report_at)
                && let Some((standing, in_ms)) = self.places.nearest().standing()
            {
                self.report_at = None;
                // The part has the time: as words it would be wrong a second later.
                let cause = wait_cause(&self.account, standing, None);
                let down = matches!(standing.why, WaitReason::Down);
                let part = Part::Waiting { cause, in_ms, down };
                return Some((Ok(part), Stage::Waiting(self)));
            }
            let wake = self.report_at.unwrap_or(self.until).min(self.until);
            let released = self.places.nearest().wait(wake).await;
            let Waiting { places, gates, .. } = &mut *self;
            if released && (places.passed(gates) || places.may_go(gates)) {
                return Some(self.send());
            }
        }
    }

    /// Sends the request when its turn has come, unless others have used up the budget meanwhile.
    fn send(self) -> (Item, Stage) {
        if let Err(refused) = self.request.permit.take() {
            return (Err(refused), Stage::Over);
        }
        let sent = Sent {
            parts: self.provider.stream(self.request),
            places: self.places,
            taken: false,
        };
        (Ok(Part::Sent), Stage::Sent(sent))
    }

    /// Permanent: a retry would wait as long again. No attempt was made. It says when the vendor will answer, if that
    /// asked to wait.
    fn gave_up(&mut self) -> ProviderError {
        let standing = self.places.nearest().standing();
        let busy = standing.filter(|(standing, _)| standing.why == WaitReason::Busy);
        let busy_ms = busy.and_then(|(_, in_ms)| in_ms);
        let cause = standing.map_or_else(String::new, |(standing, in_ms)| {
            format!(": {}", wait_cause(&self.account, standing, in_ms))
        });
        ProviderError {
            message: format!(
                "the request was not sent within {} s{cause}",
                self.account.patience.as_secs()
            ),
            hint: "Try again later, or use another model.".into(),
            kind: ErrorKind::Permanent,
            status: None,
            retry_after: busy_ms.map(Duration::from_millis),
            of_model: false,
            empty: false,
            window: None,
        }
    }
}

impl Sent {
    async fn next(mut self) -> Option<(Item, Stage)> {
        let Some(part) = self.parts.next().await else {
            // The stream broke.
            self.places.failed(RequestFailure::OfModel {
                failure: VendorFailure::Down,
                answered: self.taken,
            });
            return None;
        };
        let over = match &part {
            Ok(part) => {
                if !self.taken {
                    self.taken = true;
                    self.places.taken();
                }
                matches!(part, Part::Done(_))
            }
            Err(error) => {
                match failure(error) {
                    Some(failure) => self.places.failed(failure),
                    None => self.places.taken(),
                }
                true
            }
        };
        let stage = if over { Stage::Over } else { Stage::Sent(self) };
        Some((part, stage))
    }
}

/// What an error says about the vendor. `None`: the vendor is available.
fn failure(error: &ProviderError) -> Option<RequestFailure> {
    match error.kind {
        ErrorKind::Transient => {}
        ErrorKind::NotRunning => return Some(RequestFailure::NotRunning),
        ErrorKind::ContextLength
        | ErrorKind::Credentials
        | ErrorKind::OutOfCredit
        | ErrorKind::Permanent
        | ErrorKind::InvalidCall
        | ErrorKind::Budget => return None,
    }
    let retry_after = error.retry_after.map(|after| after.as_millis());
    let retry_after_ms = retry_after.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX));
    let busy = VendorFailure::Busy { retry_after_ms };
    let of_model = |failure| RequestFailure::OfModel {
        failure,
        answered: error.status.is_some(),
    };
    match error.status {
        _ if error.of_model => Some(of_model(busy)),
        Some(429 | 529) => Some(RequestFailure::OfKey(busy)),
        _ if retry_after_ms.is_some() => Some(of_model(busy)),
        Some(status) if status < 500 => None,
        _ => Some(of_model(VendorFailure::Down)),
    }
}

/// Why a request waits, as a text for users; `in_ms`: how long still, where no countdown is shown beside it.
fn wait_cause(account: &Account, standing: QueuePosition, in_ms: Option<u64>) -> String {
    let name = &account.name;
    let seconds = in_ms.map(|ms| ms.div_ceil(1000));
    let why = match (standing.why, seconds) {
        (WaitReason::Full, _) => {
            format!(
                "the limit of concurrent requests to {name} ({}) is reached",
                account.max_concurrent
            )
        }
        (WaitReason::Busy, Some(seconds)) => format!("{name} asks to wait {seconds} s"),
        (WaitReason::Busy, None) => format!("{name} asks to wait"),
        (WaitReason::Down, Some(seconds)) => {
            format!("{name} fails repeatedly: the next attempt is in {seconds} s")
        }
        (WaitReason::Down, None) => format!("{name} fails repeatedly"),
        (WaitReason::Probing, _) => format!("one request checks whether {name} works again"),
        (WaitReason::Few, _) => format!("{name} works again: a few requests are sent at a time"),
    };
    match standing.sessions_before {
        0 => why,
        1 => format!("{why}, 1 session is ahead of this one"),
        more => format!("{why}, {more} sessions are ahead of this one"),
    }
}
