//! Typed calls: parameters in, the answer or a [`CallError`] out, over however many connections it takes.
//!
//! A call is repeated after a lost connection only where doing it twice does it once.

use std::collections::BTreeMap;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use jsonrpsee::core::client::{Client as Rpc, ClientT, Error as RpcError};
use jsonrpsee::core::traits::ToRpcParams;
use proto::hello::{HelloOutput, Role};
use proto::methods::{
    DaemonHello, DaemonShutdown, DoctorRun, Method, SessionCompact, SessionCreate, SessionFork,
    SessionWait,
};
use proto::params::daemon::{ShutdownMode, ShutdownParams};
use proto::{ErrorName, Failure, frame};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::connect::{self, ConnectError, Connection, Options, Silence, lock};
use crate::version::{Skew, skew};
use crate::{replace, start};

/// How long an answer may take. Calls that wait for a turn or rebuild an index have no limit.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// How often a call is repeated after a lost connection.
const REPEATS_MAX: u32 = 5;

/// How long a daemon may take to go.
const STOP_MAX: Duration = Duration::from_secs(15);

/// JSON-RPC's own "method not found".
const METHOD_NOT_FOUND: i32 = -32601;

/// What a frame needs beside its parameters.
const ENVELOPE: usize = 256;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The daemon said no.
    #[error(transparent)]
    Failure(Box<Failure>),
    /// There is no daemon to ask.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection broke before the answer, and the call must not be made twice.
    #[error("{method}: the connection to the daemon was lost before its answer")]
    Lost { method: String, source: RpcError },
    /// No answer in time.
    #[error("{method}: no answer within {} s", after.as_secs())]
    Timeout { method: String, after: Duration },
    /// An answer that is none.
    #[error("{method}: the daemon's answer cannot be read")]
    Answer {
        method: String,
        source: serde_json::Error,
    },
    /// More than fits into a frame.
    #[error(
        "{method}: {bytes} bytes do not fit into one message; the limit is {}",
        frame::INBOUND_MAX
    )]
    TooLarge { method: String, bytes: usize },
    /// The daemon does not know the method. Callers outside get this as a [`Failure`] that says which side is older.
    #[error("the daemon has no method `{method}`")]
    Unknown { method: String },
    /// A text that comes in pieces did not come whole.
    #[error("{method}: the parts of the answer do not match")]
    Pieces { method: String },
    /// The same place of the log was missing twice: the daemon does not send it.
    #[error("following the session failed: record {seq} is missing")]
    Gap { seq: proto::Seq },
}

impl std::convert::From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        Self::Failure(Box::new(failure))
    }
}

impl CallError {
    /// The daemon's failure, if it refused.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failure(failure) | Self::Connect(ConnectError::Refused(failure)) => Some(failure),
            Self::Connect(_)
            | Self::Lost { .. }
            | Self::Timeout { .. }
            | Self::Answer { .. }
            | Self::TooLarge { .. }
            | Self::Pieces { .. }
            | Self::Unknown { .. }
            | Self::Gap { .. } => None,
        }
    }
}

/// A client of one daemon. Cheap to clone; all clones share one connection.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    options: Options,
    /// Locked while a lost connection is replaced, so that it is replaced once.
    current: tokio::sync::Mutex<Arc<Connection>>,
    /// The daemon, where this client started it.
    launched: std::sync::Mutex<Option<Child>>,
}

impl Client {
    /// Connects, and starts the daemon if none answers and the options allow it. An older daemon that has nothing to
    /// do is replaced by the installed one, if that is newer.
    ///
    /// # Errors
    /// No daemon, or one that refuses.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        let launched = std::sync::Mutex::new(None);
        let none = BTreeMap::new();
        let mut connection = connect::establish(&options, &none, None, &launched).await?;
        if let Some(pid) = replace::stop_older_daemon(&options, &connection).await {
            drop(connection);
            // One that does not go in time has got work after all: then it is still there, and answers or says why not.
            gone(pid, &launched, Some(STOP_MAX)).await;
            connection = connect::establish(&options, &none, None, &launched).await?;
        }
        offer_wanted(&options, &connection).await;
        let current = tokio::sync::Mutex::new(Arc::new(connection));
        Ok(Self {
            shared: Arc::new(Shared {
                options,
                current,
                launched,
            }),
        })
    }

    /// What the daemon said at hello, on the newest connection.
    pub async fn hello(&self) -> HelloOutput {
        self.shared.current.lock().await.hello.clone()
    }

    /// How this client connects.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Values of the variables that hold providers' keys, of those that this process has.
    pub async fn credentials(&self) -> BTreeMap<String, String> {
        credentials(&self.shared.current.lock().await.hello)
    }

    /// A connection that works, a new one if need be. Patient, within bounds.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, ConnectError> {
        let mut current = self.shared.current.lock().await;
        if !current.alive() {
            let keys = credentials(&current.hello);
            *current = Arc::new(self.again(&current, &keys).await?);
        }
        Ok(current.clone())
    }

    async fn again(
        &self,
        before: &Connection,
        keys: &BTreeMap<String, String>,
    ) -> Result<Connection, ConnectError> {
        let Shared {
            options, launched, ..
        } = &*self.shared;
        let connection = connect::establish(options, keys, Some(&before.known), launched).await?;
        offer_wanted(options, &connection).await;
        Ok(connection)
    }

    /// Connects again, this time with the providers' keys that this process has: for sessions that lost theirs.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn offer_credentials(&self) -> Result<(), ConnectError> {
        let mut current = self.shared.current.lock().await;
        let keys = credentials(&current.hello);
        if !keys.is_empty() {
            *current = Arc::new(self.again(&current, &keys).await?);
        }
        Ok(())
    }

    /// Makes a call.
    ///
    /// After a lost connection it is made again if that is safe: it changes nothing, or carries an id made by the
    /// client by which the daemon knows the repeat.
    ///
    /// # Errors
    /// The daemon's refusal, or what kept the call from getting through.
    pub async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Output, CallError>
    where
        M::Params: Sync,
    {
        let raw = encode(M::NAME, params)?;
        // A new session has an id that was made here.
        let by_id = M::NAME == SessionCreate::NAME || M::NAME == SessionFork::NAME;
        let repeatable = !M::MUTATES || by_id || has_request_id(&raw);
        let answer = self.send(M::NAME, &raw, repeatable).await?;
        decode(M::NAME, &answer)
    }

    /// Makes a call by name, untyped. It is never repeated.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn call_raw(&self, method: &str, params: &Value) -> Result<Box<RawValue>, CallError> {
        let raw = encode(method, params)?;
        self.send(method, &raw, false).await
    }

    /// Makes a call on the connection that there is: none is made for it, and no daemon started.
    pub(crate) async fn call_if_connected<M: Method>(
        &self,
        params: &M::Params,
    ) -> Result<M::Output, CallError>
    where
        M::Params: Sync,
    {
        let current = Arc::clone(&*self.shared.current.lock().await);
        self.call_on::<M>(&current, params).await
    }

    /// Makes a call on this one connection: its effect is bound to the connection.
    pub(crate) async fn call_on<M: Method>(
        &self,
        connection: &Connection,
        params: &M::Params,
    ) -> Result<M::Output, CallError>
    where
        M::Params: Sync,
    {
        made::<M>(connection, params).await
    }

    /// Boxed: it is large, and part of each typed call.
    fn send<'a>(
        &'a self,
        method: &'a str,
        params: &'a RawValue,
        repeatable: bool,
    ) -> BoxFuture<'a, Result<Box<RawValue>, CallError>> {
        Box::pin(async move {
            let mut repeats = 0;
            loop {
                let connection = self.connection().await?;
                match sent(&connection, method, params).await {
                    Err(CallError::Lost { .. }) if repeatable && repeats < REPEATS_MAX => {
                        repeats += 1;
                    }
                    result => return result,
                }
            }
        })
    }

    /// Stops the daemon and waits until it is gone: its socket, its process, and its parent if we started that. With
    /// `Now` so long as an orderly end may take; otherwise as long as its turns take. Dropped: it goes all the same.
    ///
    /// # Errors
    /// It refuses, or does not go.
    pub async fn stop(&self, mode: ShutdownMode) -> Result<(), CallError> {
        let pid = self.hello().await.daemon.pid;
        match self.call::<DaemonShutdown>(&ShutdownParams { mode }).await {
            // It may be gone before its answer is read.
            Ok(_) | Err(CallError::Lost { .. } | CallError::Connect(_)) => {}
            Err(CallError::Failure(failure)) if failure.name == ErrorName::ShuttingDown => {}
            Err(error) => return Err(error),
        }
        let max = match mode {
            ShutdownMode::Now => Some(STOP_MAX),
            // As long as its turns take.
            ShutdownMode::Idle | ShutdownMode::HandOver => None,
        };
        if gone(pid, &self.shared.launched, max).await {
            return Ok(());
        }
        Err(CallError::Timeout {
            method: DaemonShutdown::NAME.to_owned(),
            after: STOP_MAX,
        })
    }
}

/// Waits until a daemon is gone, and its parent if we started that. False: it does not go.
async fn gone(pid: u32, launched: &std::sync::Mutex<Option<Child>>, max: Option<Duration>) -> bool {
    let begun = Instant::now();
    loop {
        let parent_gone = match lock(launched).as_mut() {
            Some(child) => !matches!(child.try_wait(), Ok(None)),
            None => true,
        };
        if parent_gone && start::is_gone(pid) {
            return true;
        }
        if max.is_some_and(|max| begun.elapsed() >= max) {
            return false;
        }
        // Fine steps at first: a daemon without work is gone in a moment.
        let pause = begun.elapsed() / 8;
        tokio::time::sleep(pause.clamp(Duration::from_millis(5), Duration::from_millis(200))).await;
    }
}

/// Values of the key variables that this process has.
fn credentials(hello: &HelloOutput) -> BTreeMap<String, String> {
    values(hello.key_variables.iter().chain(&hello.wanted_keys))
}

/// The variables among these that this process has.
fn values<'a>(names: impl Iterator<Item = &'a String>) -> BTreeMap<String, String> {
    let set = names.filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)));
    set.filter(|(_, value)| !value.is_empty()).collect()
}

/// Brings the keys that sessions wait for, where this process has them: by a connection of its own, as a client that
/// only watches may bring none.
async fn offer_wanted(options: &Options, connection: &Connection) {
    let wanted = values(connection.hello.wanted_keys.iter());
    if wanted.is_empty() {
        return;
    }
    let options = Options {
        role: Role::Drive,
        interactive: false,
        start: connect::Start::Never,
        ..options.clone()
    };
    // A daemon that refuses them leaves the session waiting, and that is shown where the session is.
    let _ = connect::establish(&options, &wanted, None, &std::sync::Mutex::new(None)).await;
}

/// A call on a connection that has no hello yet.
pub(crate) async fn on<M: Method>(rpc: &Rpc, params: &M::Params) -> Result<M::Output, CallError>
where
    M::Params: Sync,
{
    debug_assert_eq!(
        M::NAME,
        DaemonHello::NAME,
        "all other calls go through `Client`"
    );
    let answer = send(rpc, None, M::NAME, &encode(M::NAME, params)?).await?;
    decode(M::NAME, &answer)
}

/// A typed call on one connection.
pub(crate) async fn made<M: Method>(
    connection: &Connection,
    params: &M::Params,
) -> Result<M::Output, CallError>
where
    M::Params: Sync,
{
    let answer = sent(connection, M::NAME, &encode(M::NAME, params)?).await?;
    decode(M::NAME, &answer)
}

/// Asks something, only to see whether there is an answer, whatever it says.
pub(crate) async fn ask(rpc: &Rpc, method: &str) {
    if let Ok(params) = RawValue::from_string("{}".to_owned()) {
        let request = rpc.request::<Box<RawValue>, _>(method, Raw(params));
        let _ = while_connected(rpc, request).await;
    }
}

/// A call on one connection. One that a daemon of another version does not know is reported as that.
async fn sent(
    connection: &Connection,
    method: &str,
    params: &RawValue,
) -> Result<Box<RawValue>, CallError> {
    let silence = Some(connection.silence.as_ref());
    match send(&connection.rpc, silence, method, params).await {
        Err(CallError::Unknown { method }) => {
            Err(unknown(&method, &connection.hello.daemon.version).into())
        }
        result => result,
    }
}

/// A method that the daemon does not have.
fn unknown(method: &str, daemon: &str) -> Failure {
    if skew(proto::VERSION, daemon) == Skew::ClientNewer {
        let what = format!(
            "this daemon is older ({daemon}; this program is {}) and does not know `{method}`",
            proto::VERSION
        );
        let hint =
            "run `reasonix daemon restart` to start the installed version; sessions continue";
        return Failure::new(ErrorName::ProtocolMismatch, what, hint);
    }
    Failure::new(
        ErrorName::NotFound,
        format!("the daemon has no method `{method}`"),
        "List the methods with `reasonix rpc --schema`.",
    )
}

/// Parameters that are JSON already.
struct Raw(Box<RawValue>);

impl ToRpcParams for Raw {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        Ok(Some(self.0))
    }
}

async fn send(
    rpc: &Rpc,
    silence: Option<&Silence>,
    method: &str,
    params: &RawValue,
) -> Result<Box<RawValue>, CallError> {
    let request = rpc.request::<Box<RawValue>, _>(method, Raw(params.to_owned()));
    let request = while_connected(rpc, request);
    let result = if [SessionWait::NAME, SessionCompact::NAME, DoctorRun::NAME].contains(&method) {
        request.await
    } else {
        match tokio::time::timeout(ANSWER_MAX, heard(request, silence)).await {
            Ok(result) => result,
            Err(_elapsed) => {
                return Err(CallError::Timeout {
                    method: method.to_owned(),
                    after: ANSWER_MAX,
                });
            }
        }
    };
    result.map_err(|source| error(method, source))
}

/// Waits for jsonrpsee's answer, or for the end of the connection: a call made at the moment in which its tasks
/// end stays in their channel, and is never answered.
pub(crate) async fn while_connected<T>(
    rpc: &Rpc,
    asked: impl Future<Output = Result<T, RpcError>>,
) -> Result<T, RpcError> {
    tokio::select! {
        biased;
        answer = asked => answer,
        ended = rpc.on_disconnect() => Err(ended),
    }
}

/// Waits for an answer, and reports if it takes long.
async fn heard<T>(request: impl Future<Output = T>, silence: Option<&Silence>) -> T {
    let Some(silence) = silence else {
        return request.await;
    };
    tokio::pin!(request);
    if let Ok(answer) = tokio::time::timeout(silence.after, &mut request).await {
        return answer;
    }
    silence.begins();
    let answer = request.await;
    silence.ends();
    answer
}

/// Sorts jsonrpsee's errors: the daemon's no, or a connection that does not work.
pub(crate) fn error(method: &str, error: RpcError) -> CallError {
    match error {
        RpcError::Call(object) => {
            let data = object
                .data()
                .and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
            if object.code() == METHOD_NOT_FOUND {
                return CallError::Unknown {
                    method: method.to_owned(),
                };
            }
            Failure::from_rpc(object.code(), object.message(), data.as_ref()).into()
        }
        RpcError::ParseError(source) => CallError::Answer {
            method: method.to_owned(),
            source,
        },
        source => CallError::Lost {
            method: method.to_owned(),
            source,
        },
    }
}

fn encode<T: serde::Serialize>(method: &str, params: &T) -> Result<Box<RawValue>, CallError> {
    let raw = serde_json::value::to_raw_value(params).map_err(|source| CallError::Answer {
        method: method.to_owned(),
        source,
    })?;
    let bytes = raw.get().len() + method.len() + ENVELOPE;
    if bytes > frame::INBOUND_MAX {
        return Err(CallError::TooLarge {
            method: method.to_owned(),
            bytes,
        });
    }
    Ok(raw)
}

fn decode<T: serde::de::DeserializeOwned>(method: &str, answer: &RawValue) -> Result<T, CallError> {
    serde_json::from_str(answer.get()).map_err(|source| CallError::Answer {
        method: method.to_owned(),
        source,
    })
}

/// Whether the parameters carry an id by which the daemon knows a repeat.
fn has_request_id(params: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Ids {
        #[serde(default)]
        request_id: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Ids>(params.get()).is_ok_and(|ids| ids.request_id.is_some())
}
