//! A provider with a broker: a request waits for its turn inside `stream`, and reports a long wait.
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

use crate::broker::{Brokers, RequestPlace};
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
    brokers: Arc<Brokers>,
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
        let broker = self
            .brokers
            .get_or_create(self.payer(&request), account.bounds);
        let session: Pid = request.ground.session;
        let since = Instant::now();
        let waiting = Waiting {
            place: broker.enter(session, account.max_concurrent),
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

/// A request in the queue.
struct Waiting {
    place: RequestPlace,
    until: Instant,
    /// When to report that it waits. `None` after it was reported.
    report_at: Option<Instant>,
    provider: Arc<dyn Provider>,
    request: Request,
    account: Arc<Account>,
}

/// A request in flight.
struct Sent {
    place: RequestPlace,
    parts: BoxStream<'static, Item>,
    taken: bool,
}

async fn next(stage: Stage) -> Option<(Item, Stage)> {
    match stage {
        Stage::Waiting(mut waiting) => {
            if !waiting.place.may_go() {
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
                && let Some((standing, in_ms)) = self.place.standing()
            {
                self.report_at = None;
                let cause = wait_cause(&self.account, standing, in_ms);
                let down = matches!(standing.why, WaitReason::Down);
                let part = Part::Waiting { cause, in_ms, down };
                return Some((Ok(part), Stage::Waiting(self)));
            }
            let wake = self.report_at.unwrap_or(self.until).min(self.until);
            if self.place.wait(wake).await {
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
            place: self.place,
            taken: false,
        };
        (Ok(Part::Sent), Stage::Sent(sent))
    }

    /// Permanent: a retry would wait as long again. No attempt was made.
    fn gave_up(&self) -> ProviderError {
        let standing = self.place.standing();
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
            retry_after: None,
        }
    }
}

impl Sent {
    async fn next(mut self) -> Option<(Item, Stage)> {
        let Some(part) = self.parts.next().await else {
            // The stream broke.
            self.place.failed(VendorFailure::Down);
            return None;
        };
        let over = match &part {
            Ok(part) => {
                if !self.taken {
                    self.taken = true;
                    self.place.taken();
                }
                matches!(part, Part::Done(_))
            }
            Err(error) => {
                match failure(error) {
                    Some(failure) => self.place.failed(failure),
                    None => self.place.taken(),
                }
                true
            }
        };
        let stage = if over { Stage::Over } else { Stage::Sent(self) };
        Some((part, stage))
    }
}

/// What an error says about the vendor. `None`: the vendor is available.
fn failure(error: &ProviderError) -> Option<VendorFailure> {
    if error.kind != ErrorKind::Transient {
        return None;
    }
    let retry_after = error.retry_after.map(|after| after.as_millis());
    let retry_after_ms = retry_after.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX));
    match error.status {
        Some(429 | 529) => Some(VendorFailure::Busy { retry_after_ms }),
        _ if retry_after_ms.is_some() => Some(VendorFailure::Busy { retry_after_ms }),
        Some(status) if status < 500 => None,
        _ => Some(VendorFailure::Down),
    }
}

/// Why a request waits, as a text for users.
fn wait_cause(account: &Account, standing: QueuePosition, in_ms: Option<u64>) -> String {
    let name = &account.name;
    let seconds = in_ms.map_or(0, |ms| ms.div_ceil(1000));
    let why = match standing.why {
        WaitReason::Full => {
            format!(
                "the limit of concurrent requests to {name} ({}) is reached",
                account.max_concurrent
            )
        }
        WaitReason::Busy => format!("{name} asks to wait {seconds} s"),
        WaitReason::Down => format!("{name} fails repeatedly: the next attempt is in {seconds} s"),
        WaitReason::Probing => format!("one request checks whether {name} works again"),
        WaitReason::Few => format!("{name} works again: a few requests are sent at a time"),
    };
    match standing.sessions_before {
        0 => why,
        1 => format!("{why}, 1 session is ahead of this one"),
        more => format!("{why}, {more} sessions are ahead of this one"),
    }
}
