//! Whether a server over HTTP answers: noted at each request, as a connection over HTTP has no end that could be noticed.

use std::error::Error;
use std::future::pending;

use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::watch;

use super::http::causes;
use crate::text::{clean, cut};

/// Bytes of a cause.
const CAUSE_MAX: usize = 300;
/// What proxies answer for a server that they do not reach.
const GATEWAY: std::ops::RangeInclusive<u16> = 502..=504;

/// Why the server does not answer, if it does not, by the last request.
#[derive(Debug, Default)]
pub(super) struct Reach(watch::Sender<Option<String>>);

impl Reach {
    /// Notes the outcome of a request.
    pub(super) fn note<T, E>(&self, outcome: &Result<T, StreamableHttpError<E>>)
    where
        E: Error + Send + Sync + 'static,
    {
        let cause = outcome.as_ref().err().and_then(unreachable);
        self.0.send_if_modified(|known| {
            let is_new = *known != cause;
            *known = cause;
            is_new
        });
    }

    /// Why it does not answer.
    pub(super) fn cause(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// Resolves with the cause when that is another one than `known`.
    pub(super) async fn changed(&self, known: Option<&str>) -> Option<String> {
        let mut reach = self.0.subscribe();
        let news = reach.wait_for(|cause| cause.as_deref() != known).await;
        if let Ok(cause) = news.map(|cause| cause.clone()) {
            return cause;
        }
        pending().await
    }
}

/// Why nothing answered a request. `None`: the server did, if only with an error.
fn unreachable<E: Error + Send + Sync + 'static>(error: &StreamableHttpError<E>) -> Option<String> {
    let gateway = |status: u16| {
        GATEWAY
            .contains(&status)
            .then(|| format!("its address answers HTTP {status}"))
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
                clean(
                    cut(
                        &format!("it does not answer: {}", causes(request)),
                        CAUSE_MAX,
                    )
                    .0,
                )
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
    async fn only_what_nothing_answers_is_unreachable_and_each_change_is_heard_once() {
        let reach = Reach::default();
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

    #[tokio::test]
    async fn closed_port_is_unreachable_with_its_cause() {
        let closed = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap()
        };
        super::super::http::install_tls();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let error = client
            .get(format!("http://{closed}/mcp"))
            .send()
            .await
            .unwrap_err();
        let reach = Reach::default();
        reach.note(&Err::<(), _>(StreamableHttpError::Client(error)));
        let cause = reach.cause().unwrap();
        assert!(cause.starts_with("it does not answer: "), "{cause}");
        assert!(cause.contains("refused"), "{cause}");
    }
}
