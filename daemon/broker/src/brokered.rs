//! A provider behind a broker: a request waits for its turn inside of `stream`, and says so when it takes long.
//!
//! What waits here costs no try of the request. Who drops the stream leaves the line, or gives the place back.

use std::sync::Arc;
use std::time::Duration;

use contract::Provider;
use contract::provider::{ErrorKind, Part, ProviderError, Request};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use proto::Pid;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::broker::{Brokers, Place};
use crate::gate::{Bounds, Failure, Standing, Why};

/// A shorter wait is not told: it would be over before it is read, and each telling is a record.
const TELL_AFTER: Duration = Duration::from_millis(250);

/// What is known of an account at a vendor, apart from its key.
#[derive(Clone, Debug)]
pub struct Account {
    /// The provider's name, for people; and what it is known by where it has no key.
    pub name: String,
    /// Host and port of its endpoint.
    pub host: String,
    /// Requests that may be under way at a time.
    pub max_concurrent: usize,
    pub bounds: Bounds,
    /// How long a request may wait for its turn.
    pub patience: Duration,
}

/// Who is asked, and who pays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Payer {
    /// The endpoint, and the SHA-256 of the key.
    Key { host: String, sha256: [u8; 32] },
    /// The provider of this name, at this endpoint.
    Name { name: String, host: String },
}

/// See the module.
pub struct Brokered {
    inner: Arc<dyn Provider>,
    brokers: Arc<Brokers>,
    account: Arc<Account>,
}

impl Brokered {
    /// Puts a broker before a provider.
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
        let broker = self.brokers.of(self.payer(&request), account.bounds);
        let session: Pid = request.ground.session;
        let since = Instant::now();
        let waiting = Waiting {
            place: broker.enter(session, account.max_concurrent),
            until: since + account.patience,
            tell_at: Some(since + TELL_AFTER),
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

/// A request in the line.
struct Waiting {
    place: Place,
    until: Instant,
    /// When it is to be told that it waits; `None`: it was.
    tell_at: Option<Instant>,
    provider: Arc<dyn Provider>,
    request: Request,
    account: Arc<Account>,
}

/// A request under way.
struct Sent {
    place: Place,
    parts: BoxStream<'static, Item>,
    taken: bool,
}

async fn next(stage: Stage) -> Option<(Item, Stage)> {
    match stage {
        Stage::Waiting(mut waiting) => {
            if waiting.place.may_go() {
                let waited = waiting.tell_at.is_none();
                let sent = match waiting.send() {
                    Ok(sent) => sent,
                    Err(refused) => return Some((Err(refused), Stage::Over)),
                };
                return match waited {
                    true => Some((Ok(Part::Sent), Stage::Sent(sent))),
                    false => sent.next().await,
                };
            }
            waiting.wait().await
        }
        Stage::Sent(sent) => sent.next().await,
        Stage::Over => None,
    }
}

impl Waiting {
    async fn wait(mut self: Box<Self>) -> Option<(Item, Stage)> {
        // What waits is not under way: others may use what it was given leave for.
        self.request.permit.give_back();
        loop {
            let now = Instant::now();
            if now >= self.until {
                return Some((Err(self.gave_up()), Stage::Over));
            }
            if self.tell_at.is_some_and(|tell_at| now >= tell_at)
                && let Some((standing, in_ms)) = self.place.standing()
            {
                self.tell_at = None;
                let cause = words(&self.account, standing, in_ms);
                let down = matches!(standing.why, Why::Down);
                let told = Part::Waiting { cause, in_ms, down };
                return Some((Ok(told), Stage::Waiting(self)));
            }
            let wake = self.tell_at.unwrap_or(self.until).min(self.until);
            if self.place.wait(wake).await {
                return Some(match self.send() {
                    Ok(sent) => (Ok(Part::Sent), Stage::Sent(sent)),
                    Err(refused) => (Err(refused), Stage::Over),
                });
            }
        }
    }

    /// Its turn has come: it is sent, unless meanwhile others have used up what a budget had left for it.
    fn send(self) -> Result<Sent, ProviderError> {
        self.request.permit.take()?;
        Ok(Sent {
            parts: self.provider.stream(self.request),
            place: self.place,
            taken: false,
        })
    }

    /// For good: queued again it would wait as long once more, and it was no try.
    fn gave_up(&self) -> ProviderError {
        let standing = self.place.standing();
        let cause = standing.map_or_else(String::new, |(standing, in_ms)| {
            format!(": {}", words(&self.account, standing, in_ms))
        });
        ProviderError {
            message: format!(
                "the request was not sent within {} s{cause}",
                self.account.patience.as_secs()
            ),
            hint: "Try later, or use another model.".into(),
            kind: ErrorKind::Permanent,
            status: None,
            retry_after: None,
        }
    }
}

impl Sent {
    async fn next(mut self) -> Option<(Item, Stage)> {
        let Some(part) = self.parts.next().await else {
            // It broke off.
            self.place.failed(Failure::Down);
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

/// What an error says of the vendor; `None`: that it is there.
fn failure(error: &ProviderError) -> Option<Failure> {
    if error.kind != ErrorKind::Transient {
        return None;
    }
    let retry_after = error.retry_after.map(|after| after.as_millis());
    let retry_after_ms = retry_after.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX));
    match error.status {
        Some(429 | 529) => Some(Failure::Busy { retry_after_ms }),
        _ if retry_after_ms.is_some() => Some(Failure::Busy { retry_after_ms }),
        Some(status) if status < 500 => None,
        _ => Some(Failure::Down),
    }
}

/// Why a request waits, in words for people.
fn words(account: &Account, standing: Standing, in_ms: Option<u64>) -> String {
    let name = &account.name;
    let seconds = in_ms.map_or(0, |ms| ms.div_ceil(1000));
    let why = match standing.why {
        Why::Full => {
            format!(
                "as many requests to {name} as may be ({}) are under way",
                account.max_concurrent
            )
        }
        Why::Busy => format!("{name} asks to wait: {seconds} s"),
        Why::Down => format!("{name} fails again and again: the next try is in {seconds} s"),
        Why::Probing => format!("{name} is tried again with one request"),
        Why::Few => format!("{name} takes requests again, a few at a time"),
    };
    match standing.sessions_before {
        0 => why,
        1 => format!("{why}, 1 session is before this one"),
        more => format!("{why}, {more} sessions are before this one"),
    }
}
