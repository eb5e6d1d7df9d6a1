//! Whether a server over HTTP answers: noted at each request, as a connection over HTTP has no end that could be noticed.

use std::error::Error;
use std::future::pending;
use std::time::Duration;

use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::watch;
use tokio::time::timeout;

use super::http::causes;
use crate::text::{clean, cut};

/// Bytes of a cause.
const CAUSE_MAX: usize = 300;
/// What proxies answer for a server that they do not reach.
const GATEWAY: std::ops::RangeInclusive<u16> = 502..=504;

/// How long nobody may listen at the address while a call is in flight. A server that is back by then may still give its result.
const REFUSED_MAX: Duration = Duration::from_secs(10);

/// Why the server does not answer, if it does not, by the last request.
#[derive(Debug, Default)]
pub(super) struct Reachability(watch::Sender<Option<Silence>>);

/// Why nothing answered a request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Silence {
    /// A text for the user.
    cause: String,
    /// Nobody was there to take the request.
    is_refused: bool,
}

impl Reachability {
    /// Notes the outcome of a request.
    pub(super) fn note<T, E>(&self, outcome: &Result<T, StreamableHttpError<E>>)
    where
        E: Error + Send + Sync + 'static,
    {
        let silence = outcome.as_ref().err().and_then(silence);
        self.0.send_if_modified(|known| {
            let is_new = *known != silence;
            *known = silence;
            is_new
        });
    }

    /// Why it does not answer.
    pub(super) fn cause(&self) -> Option<String> {
        self.0
            .borrow()
            .as_ref()
            .map(|silence| silence.cause.clone())
    }

    /// Resolves with the cause once nobody has listened at the address for a while: what waits for an answer waits in vain.
    pub(super) async fn refused(&self) -> String {
        let mut reach = self.0.subscribe();
        loop {
            let refused = reach.wait_for(|silence| is_refused(silence.as_ref())).await;
            let Ok(Some(silence)) = refused.map(|silence| silence.clone()) else {
                return pending().await;
            };
            let back = reach.wait_for(|silence| !is_refused(silence.as_ref()));
            if timeout(REFUSED_MAX, back).await.is_err() {
                return silence.cause;
            }
        }
    }

    /// Resolves with the cause when that is another one than `known`.
    pub(super) async fn changed(&self, known: Option<&str>) -> Option<String> {
        let mut reach = self.0.subscribe();
        let cause =
            |silence: &Option<Silence>| silence.as_ref().map(|silence| silence.cause.clone());
        let news = reach
            .wait_for(|silence| cause(silence).as_deref() != known)
            .await;
        if let Ok(cause) = news.map(|silence| cause(&silence)) {
            return cause;
        }
        pending().await
    }
}

/// Whether the other machine said that nobody listens there. A network that is down says nothing of the server.
fn is_refusal(request: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(request);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return error.kind() == std::io::ErrorKind::ConnectionRefused;
        }
        cause = error.source();
    }
    false
}

fn is_refused(silence: Option<&Silence>) -> bool {
    silence.is_some_and(|silence| silence.is_refused)
}

/// Why nothing answered a request. `None`: the server did, if only with an error.
fn silence<E: Error + Send + Sync + 'static>(error: &StreamableHttpError<E>) -> Option<Silence> {
    let gateway = |status: u16| {
        GATEWAY.contains(&status).then(|| Silence {
            cause: format!("its address answers HTTP {status}"),
            is_refused: false,
        })
    };
    match error {
        StreamableHttpError::HttpStatus(error) => gateway(error.status),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let status = text.strip_prefix("HTTP ")?.split(' ').next()?;
            gateway(status.parse().ok()?)
        }
        StreamableHttpError::Client(error) => {
            let error: &(dyn Error + 'static) = error;
            let request = error.downcast_ref::<reqwest::Error>()?;
            if let Some(status) = request.status() {
                return gateway(status.as_u16());
            }
            let is_lost = request.is_connect() || request.is_timeout() || request.is_request();
            is_lost.then(|| {
                let cause = format!("it does not answer: {}", causes(request));
                Silence {
                    cause: clean(cut(&cause, CAUSE_MAX).0),
                    is_refused: is_refusal(request),
                }
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &'static str) -> Result<(), StreamableHttpError<reqwest::Error>> {
        Err(StreamableHttpError::UnexpectedServerResponse(text.into()))
    }

    #[tokio::test]
    async fn http_503_but_not_500_or_404_is_unreachable_and_reported_once() {
        let reach = Reachability::default();
        for text in [
            "HTTP 500 Internal Server Error: broken",
            "HTTP 404 Not Found: 503",
            "no status",
        ] {
            reach.note(&outcome(text));
            assert_eq!(reach.cause(), None, "{text}");
        }
        reach.note(&outcome("HTTP 503 Service Unavailable: later"));
        let cause = reach.changed(None).await;
        assert_eq!(cause.as_deref(), Some("its address answers HTTP 503"));
        reach.note(&outcome("HTTP 503 Service Unavailable: later"));
        let again = reach.changed(cause.as_deref());
        tokio::select! {
            biased;
            _ = again => panic!("nothing has changed"),
            () = std::future::ready(()) => {}
        }
        reach.note(&outcome("HTTP 500 Internal Server Error: broken"));
        assert_eq!(reach.changed(cause.as_deref()).await, None);
    }

    /// What comes of a request to a port where nobody listens.
    async fn refused() -> Result<(), StreamableHttpError<reqwest::Error>> {
        let closed = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap()
        };
        super::super::http::install_tls();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let asked = client.get(format!("http://{closed}/mcp")).send();
        Err(StreamableHttpError::Client(asked.await.unwrap_err()))
    }

    #[tokio::test]
    async fn only_an_address_where_nobody_listens_for_long_is_given_up() {
        let refusal = refused().await;
        tokio::time::pause();
        let reach = Reachability::default();
        let waits =
            async |reach: &Reachability, time| timeout(time, reach.refused()).await.is_err();
        reach.note(&outcome("HTTP 503 Service Unavailable: later"));
        assert!(waits(&reach, REFUSED_MAX * 3).await, "a proxy answers");
        reach.note(&refusal);
        tokio::select! {
            _ = reach.refused() => panic!("it was back in time"),
            () = async {
                tokio::time::sleep(REFUSED_MAX / 2).await;
                reach.note(&Ok::<_, StreamableHttpError<reqwest::Error>>(()));
                tokio::time::sleep(REFUSED_MAX * 3).await;
            } => {}
        }
        reach.note(&refusal);
        assert!(waits(&reach, REFUSED_MAX / 2).await, "it may come back");
        assert!(reach.refused().await.contains("refused"));
    }

    #[tokio::test]
    async fn closed_port_is_unreachable_with_its_cause() {
        let reach = Reachability::default();
        reach.note(&refused().await);
        let cause = reach.cause().unwrap();
        assert!(cause.starts_with("it does not answer: "), "{cause}");
        assert!(cause.contains("refused"), "{cause}");
    }
}
