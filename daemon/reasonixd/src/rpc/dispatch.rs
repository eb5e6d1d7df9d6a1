//! From a frame to the method that it names. The checks are here, once for all methods: hello, role, parameters, and
//! whether there is still a home to change.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt as _;
use jsonrpsee::core::server::{MethodCallback, MethodResponse};
use jsonrpsee::types::{ErrorObjectOwned, Id, Params, Request};
use jsonrpsee::{ConnectionId, Extensions, Methods, RpcModule};
use proto::hello::Role;
use proto::methods::{DaemonHello, DaemonShutdown, Method, ProcessWait, SessionWait};
use proto::{ErrorName, Failure};
use serde::Deserialize as _;
use serde_json::value::{RawValue, to_raw_value};

use super::peer::Peer;
use crate::daemon::Daemon;

/// A call on its way.
pub type Calling = Pin<Box<dyn Future<Output = Vec<u8>> + Send>>;

/// What a call takes while it is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// It waits for something to happen, and is not counted among those in flight.
    Waits,
    /// It reads: its answer may be as large as a frame.
    Reads,
    /// It changes something: its answer is short.
    Changes,
}

impl CallKind {
    fn of(method: &str) -> Self {
        match method {
            SessionWait::NAME | ProcessWait::NAME => Self::Waits,
            method if proto::methods::mutates(method) => Self::Changes,
            _ => Self::Reads,
        }
    }

    /// Room to take for the answer before the call begins.
    pub fn room(self) -> usize {
        const SHORT: usize = 64 * 1024;
        match self {
            Self::Waits => 0,
            Self::Reads => proto::frame::OUTBOUND_MAX,
            Self::Changes => SHORT,
        }
    }
}

/// How a frame is answered.
pub enum Answer {
    /// With this text; empty: not at all (a notification).
    Now(Vec<u8>),
    /// When the call is done.
    Later {
        call: Calling,
        kind: CallKind,
        id: Id<'static>,
    },
}

/// The output of a method, as JSON.
type Handling = Pin<Box<dyn Future<Output = Result<Box<RawValue>, Failure>> + Send>>;

/// Takes the parameters of a call apart and returns its handling, which has not begun.
type Handler = dyn Fn(Arc<Daemon>, Arc<Peer>, &str) -> Result<Handling, Failure> + Send + Sync;

/// What of a method its checks need.
#[derive(Clone, Copy)]
struct MethodChecks {
    name: &'static str,
    role: Role,
    /// Whether it is refused once there is no home to change any more.
    needs_home: bool,
}

/// Registers a method: its handler is called only after the checks.
pub fn add<M: Method, F, Fut>(module: &mut RpcModule<Daemon>, handler: F)
where
    F: Fn(Arc<Daemon>, Arc<Peer>, M::Params) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<M::Output, Failure>> + Send + 'static,
{
    let checks = MethodChecks {
        name: M::NAME,
        role: M::ROLE,
        needs_home: M::MUTATES && M::NAME != DaemonShutdown::NAME,
    };
    register(
        module,
        checks,
        Arc::new(move |daemon, peer, params| {
            let params: M::Params =
                serde_json::from_str(params).map_err(|error| wrong_params(M::NAME, &error))?;
            let handler = handler.clone();
            Ok(Box::pin(async move {
                let output = handler(daemon, peer, params).await?;
                to_raw_value(&output).map_err(|error| unserializable(M::NAME, &error))
            }))
        }),
    );
}

/// The part of [`add`] that is not generic, so that it is built once.
fn register(module: &mut RpcModule<Daemon>, checks: MethodChecks, handler: Arc<Handler>) {
    let registered =
        module.register_async_method(checks.name, move |params, daemon, extensions| {
            let begun = peer_of(checks, &extensions).and_then(|peer| {
                let params = params.as_str().unwrap_or("{}");
                let params = if params.trim().is_empty() {
                    "{}"
                } else {
                    params
                };
                handler(Arc::clone(&daemon), peer, params)
            });
            async move {
                let handling = begun.map_err(|failure| error_object(&failure))?;
                if checks.needs_home {
                    let gate = daemon.gate.change();
                    gate.map_err(|failure| error_object(&failure))?;
                }
                handling.await.map_err(|failure| error_object(&failure))
            }
        });
    // Names come from one table, in which each occurs once.
    debug_assert!(registered.is_ok(), "{} is registered twice", checks.name);
}

/// The connection of a call, if it may call the method.
fn peer_of(method: MethodChecks, extensions: &Extensions) -> Result<Arc<Peer>, Failure> {
    let Some(peer) = extensions.get::<Arc<Peer>>().cloned() else {
        return Err(Failure::new(
            ErrorName::Internal,
            "A call without a connection.",
            "",
        ));
    };
    match peer.role() {
        None if method.name != DaemonHello::NAME => Err(Failure::new(
            ErrorName::NotReady,
            format!("`{}` came before `daemon.hello`.", method.name),
            "Call `daemon.hello` first.",
        )),
        Some(role) if role < method.role => Err(Failure::new(
            ErrorName::NotAllowed,
            format!(
                "`{}` needs the role `{}`; this connection has `{}`.",
                method.name,
                method.role.as_str(),
                role.as_str()
            ),
            "Connect with that role.",
        )),
        Some(_) | None => Ok(peer),
    }
}

fn wrong_params(method: &str, error: &serde_json::Error) -> Failure {
    let why = bounded(&error.to_string(), PARSER_WORDS_MAX);
    Failure::new(
        ErrorName::InvalidParams,
        format!("The parameters of `{method}` are wrong: {why}"),
        "See its parameters with `reasonix rpc --schema`.",
    )
}

fn unserializable(method: &str, error: &serde_json::Error) -> Failure {
    tracing::error!(method, %error, "an output cannot be written as JSON");
    Failure::new(
        ErrorName::Internal,
        format!("bug in the daemon: the output of `{method}` cannot be written as JSON"),
        "",
    )
}

/// Whether a frame has what only an answer has. With a method as well it is neither: it is not carried out.
fn is_answer(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Members {
        #[serde(default, deserialize_with = "is_present")]
        result: bool,
        #[serde(default, deserialize_with = "is_present")]
        error: bool,
    }
    let members = serde_json::from_slice::<Members>(line);
    // One that has a member twice may be read so by one and otherwise by another.
    members.map_or(true, |members| members.result || members.error)
}

fn is_present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(from).map(|_| true)
}

/// The longest `id` of a request, in bytes: every answer repeats it.
const ID_MAX: usize = 1024;

/// Begins the call that a frame holds.
pub fn call(line: &[u8], peer: Arc<Peer>, methods: &Methods) -> Answer {
    let max = usize::MAX;
    let request = match serde_json::from_slice::<Request<'_>>(line) {
        Ok(request) => request,
        Err(_) => return Answer::Now(malformed(line)),
    };
    if is_answer(line) {
        return Answer::Now(malformed(line));
    }
    let id = request.id.clone().into_owned();
    if let Id::Str(text) = &id
        && text.len() > ID_MAX
    {
        let text = format!("The `id` of a request has at most {ID_MAX} bytes.");
        let error = ErrorObjectOwned::owned(-32600, text, Some(hint("Use a number as the id.")));
        return Answer::Now(json_of(&MethodResponse::error(Id::Null, error)));
    }
    let Some((name, callback)) = methods.method_with_name(&request.method) else {
        let text = format!("There is no method `{}`.", shortened(&request.method));
        let error = ErrorObjectOwned::owned(
            -32601,
            text,
            Some(hint("List the methods with `reasonix rpc --schema`.")),
        );
        return Answer::Now(json_of(&MethodResponse::error(id, error)));
    };
    let params = Params::new(request.params.as_ref().map(|params| params.get())).into_owned();
    let mut extensions = Extensions::new();
    let connection = usize::try_from(peer.number).unwrap_or(usize::MAX);
    extensions.insert(ConnectionId(connection));
    extensions.insert(peer);
    match callback {
        MethodCallback::Async(callback) => {
            let (asked, callback) = (id.clone(), callback.clone());
            let call = async move {
                (callback)(asked, params, ConnectionId(connection), max, extensions).await
            };
            let (asked, method) = (id.clone(), name.to_owned());
            // A bug in one method costs that call its answer, and nothing else.
            let call = Box::pin(async move {
                match AssertUnwindSafe(call).catch_unwind().await {
                    Ok(response) => json_of(&response),
                    Err(_) => {
                        tracing::error!(method, "a call panicked");
                        let text = format!("Bug in the daemon: `{method}` panicked.");
                        let hint = "See the daemon's log for details, and please report this.";
                        error_frame(Some(asked), &Failure::new(ErrorName::Internal, text, hint))
                    }
                }
            });
            Answer::Later {
                call,
                kind: CallKind::of(name),
                id,
            }
        }
        // Every method is registered by `add`.
        MethodCallback::Sync(_)
        | MethodCallback::Subscription(_)
        | MethodCallback::Unsubscription(_) => {
            let failure = Failure::new(ErrorName::Internal, "A method of the wrong kind.", "");
            Answer::Now(error_frame(Some(id), &failure))
        }
    }
}

/// Handles frames that are not requests: ignores a notification, answers others with JSON-RPC's own error.
fn malformed(line: &[u8]) -> Vec<u8> {
    let (code, text, hint_text) = match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(serde_json::Value::Object(object))
            if object.contains_key("method") && !object.contains_key("id") =>
        {
            return Vec::new();
        }
        Ok(serde_json::Value::Array(_)) => (
            -32600,
            "Batches are not supported.",
            "Send one request per line.",
        ),
        Ok(_) => (
            -32600,
            "This is not a JSON-RPC 2.0 request.",
            "It needs `jsonrpc`, `id` and `method`.",
        ),
        Err(_) => (
            -32700,
            "This is not valid JSON.",
            "Send one JSON text per line.",
        ),
    };
    let error = ErrorObjectOwned::owned(code, text, Some(hint(hint_text)));
    json_of(&MethodResponse::error(Id::Null, error))
}

fn hint(text: &str) -> serde_json::Value {
    serde_json::json!({"name": "protocol", "hint": text, "retryable": false})
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Characters of a parser's message: it may quote a value of megabytes.
const PARSER_WORDS_MAX: usize = 500;

/// Characters of an error's message and of its hint, which may quote such a value, too.
const ERROR_WORDS_MAX: usize = 4_000;

/// A message without its middle, if it has more characters than that: both ends name the problem.
fn bounded(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    let half = max / 2;
    let begin: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{begin} … {end}")
}

/// An error as a frame; without an id if it belongs to no call.
pub fn error_frame(id: Option<Id<'static>>, failure: &Failure) -> Vec<u8> {
    json_of(&MethodResponse::error(
        id.unwrap_or(Id::Null),
        error_object(failure),
    ))
}

fn error_object(failure: &Failure) -> ErrorObjectOwned {
    // A failure may quote what somebody else said: no key leaves with it (I11).
    let mut failure = failure.clone();
    for words in [&mut failure.message, &mut failure.hint] {
        *words = bounded(&contract::scrub(words), ERROR_WORDS_MAX);
    }
    let data = failure.data();
    ErrorObjectOwned::owned(failure.name.code(), failure.message, Some(data))
}

fn json_of(response: &MethodResponse) -> Vec<u8> {
    response.as_json().get().as_bytes().to_vec()
}

#[cfg(test)]
mod tests;
