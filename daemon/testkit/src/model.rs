//! A scripted model behind a real socket: `POST …/chat/completions`, `…/responses` and `…/messages` on 127.0.0.1,
//! streamed, with faults.
//!
//! Stricter than any vendor: what one of them would refuse is refused, with the reason, and remembered as a
//! violation. Keeps every request byte for byte. Runs on a thread of its own, so that a test may block; goes away
//! when it is dropped. Knows nothing of what it is a test of.

pub mod answer;
pub mod cache;
mod http;
mod messages;
pub mod prefix;
mod responses;
mod script;
mod serve;
mod sse;
pub mod strict;
mod vendor_rule;
mod wire;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;

pub use answer::{Answer, Call, Fault, Gate, Place, Usage};
pub use script::Script;
pub use vendor_rule::VendorRule;
pub use wire::{COMPACT, Wire};

/// How long anything that a test waits for may take.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The model's name in requests.
pub const NAME: &str = "model-1";

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// From 1, in the order of arrival; refused ones count.
    pub number: usize,
    pub body: Arc<[u8]>,
    /// The wire that it came on.
    pub wire: Wire,
    /// The body as chat completions has it, or would have it.
    pub json: Arc<Value>,
    /// What shows the key: `authorization`, or `x-api-key`.
    pub authorization: Option<String>,
    /// The header `anthropic-beta`.
    pub beta: Option<String>,
    /// Why a strict vendor refuses it.
    pub violation: Option<String>,
}

/// What became of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedResponse {
    /// The answer went out to its end.
    pub whole: bool,
    /// The usage that was reported with it.
    pub usage: Option<Usage>,
    /// The other side closed the connection before the end.
    pub dropped: bool,
}

/// The handle of a running model.
pub struct Model {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Taken when it begins to listen.
    closed: Mutex<Option<TcpSocket>>,
    runtime: Option<tokio::runtime::Runtime>,
}

/// What connections and handle share.
pub(crate) struct Shared {
    state: Mutex<State>,
    arrived: watch::Sender<usize>,
    ended: watch::Sender<usize>,
}

pub(crate) struct State {
    pub script: Script,
    pub requests: Vec<Request>,
    pub served: Vec<ServedResponse>,
    /// What it demands beyond the rules of all.
    pub rule: Option<VendorRule>,
    /// Answer to `GET …/v1/models`. Empty: there is no such list.
    pub listed: Vec<String>,
    /// How often that was asked for.
    pub lists_asked: usize,
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request; returns it with its number.
    pub(crate) fn keep(&self, mut request: Request) -> Request {
        let mut state = self.state();
        request.number = state.requests.len() + 1;
        state.requests.push(request.clone());
        state.served.push(ServedResponse::default());
        drop(state);
        self.arrived.send_replace(request.number);
        request
    }

    pub(crate) fn note(&self, number: usize, change: impl FnOnce(&mut ServedResponse)) {
        if let Some(served) = self.state().served.get_mut(number - 1) {
            change(served);
        }
    }

    /// A request is over, well or badly.
    pub(crate) fn over(&self) {
        self.ended.send_modify(|count| *count += 1);
    }
}

impl Model {
    /// A model that answers by this script.
    ///
    /// # Panics
    /// The system gives no port or thread.
    #[must_use]
    pub fn start(script: impl Into<Script>) -> Self {
        let model = Self::unreachable(script);
        model.listen();
        model
    }

    /// From now on its endpoint lists these models.
    pub fn list(&self, models: &[&str]) {
        self.shared.state().listed = models.iter().map(|&model| model.to_owned()).collect();
    }

    /// How often its list was asked for.
    #[must_use]
    pub fn lists_asked(&self) -> usize {
        self.shared.state().lists_asked
    }

    /// A model whose port refuses connections until [`Model::listen`].
    ///
    /// # Panics
    /// The system gives no port or thread.
    #[must_use]
    pub fn unreachable(script: impl Into<Script>) -> Self {
        // A runtime of its own: a test that blocks must not stop the model.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("model")
            .enable_all()
            .build()
            .expect("a runtime for the model");
        // Bound and not listening: the port is ours, and refuses.
        let socket = TcpSocket::new_v4().expect("a socket for the model");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(any).expect("a port for the model");
        let address = socket.local_addr().expect("the model's address");
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State {
                    script: script.into(),
                    requests: Vec::new(),
                    served: Vec::new(),
                    rule: None,
                    listed: Vec::new(),
                    lists_asked: 0,
                }),
                arrived: watch::channel(0).0,
                ended: watch::channel(0).0,
            }),
            address,
            closed: Mutex::new(Some(socket)),
            runtime: Some(runtime),
        }
    }

    /// Begins to take connections. Does nothing the second time.
    ///
    /// # Panics
    /// The port cannot be listened on.
    pub fn listen(&self) {
        let taken = self
            .closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (Some(socket), Some(runtime)) = (taken, &self.runtime) else {
            return;
        };
        let inside = runtime.enter();
        let listener = socket.listen(128).expect("listen on the model's port");
        drop(inside);
        runtime.spawn(accept(listener, Arc::clone(&self.shared)));
    }

    /// What a provider's `base_url` is.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// An entry of `[[providers]]` of this name, without that line; with a key variable or without.
    #[must_use]
    pub fn entry(&self, name: &str, key_variable: Option<&str>) -> String {
        self.entry_of(Wire::Chat, name, key_variable)
    }

    /// The same for a wire.
    #[must_use]
    pub fn entry_of(&self, wire: Wire, name: &str, key_variable: Option<&str>) -> String {
        let kind = wire.kind();
        let key = key_variable
            .map(|variable| format!("api_key_env = \"{variable}\"\n"))
            .unwrap_or_default();
        format!(
            "name = \"{name}\"\nkind = \"{kind}\"\nbase_url = \"{}\"\nmodel = \"{NAME}\"\ncontext_window = 100000\n{key}",
            self.base_url()
        )
    }

    /// Demands of each chat-completions request what this vendor does.
    pub fn demand(&self, rule: VendorRule) {
        self.shared.state().rule = Some(rule);
    }

    /// Appends answers to a script that is a list.
    ///
    /// # Panics
    /// The script is a function.
    pub fn push(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.state().script.extend(answers);
    }

    /// Every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Lets go of the bytes of all requests so far, for runs of many thousands: they stay counted, and why one was
    /// refused is kept.
    pub fn forget(&self) {
        let (empty, null) = (Arc::from([]), Arc::new(Value::Null));
        for request in &mut self.shared.state().requests {
            if request.violation.is_none() {
                request.body = Arc::clone(&empty);
                request.json = Arc::clone(&null);
            }
        }
    }

    /// What became of each request so far.
    #[must_use]
    pub fn served(&self) -> Vec<ServedResponse> {
        self.shared.state().served.clone()
    }

    /// How many requests have arrived.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.state().requests.len()
    }

    /// What a strict vendor refused, and why.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        let state = self.shared.state();
        let refused = state.requests.iter().filter_map(|request| {
            let why = request.violation.as_ref()?;
            Some(format!(
                "request {}: {why}\n{}",
                request.number,
                String::from_utf8_lossy(&request.body)
            ))
        });
        refused.collect()
    }

    /// Fails the test where any request was one that a strict vendor refuses.
    ///
    /// # Panics
    /// One was.
    pub fn assert_strict(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "{}", violations.join("\n\n"));
    }

    /// Fails the test unless each request extends the one before it, byte for byte (I1). All must be of one session.
    ///
    /// # Panics
    /// One does not.
    pub fn assert_prefix(&self) {
        self.assert_strict();
        let requests = self.requests();
        let wire = requests.first().map_or(Wire::Chat, |request| request.wire);
        let bodies = requests.iter().map(|request| &*request.body);
        if let Err(reason) = wire.check_prefix(bodies) {
            panic!("{reason}");
        }
    }

    /// Waits until the request of this number (from 1) has arrived.
    ///
    /// # Panics
    /// It does not come in time.
    pub async fn arrived(&self, number: usize) -> Request {
        self.reached(&self.shared.arrived, number, "arrive").await;
        self.shared.state().requests[number - 1].clone()
    }

    /// Waits until so many requests are over: answered, broken, or given up by the other side.
    ///
    /// # Panics
    /// It takes too long.
    pub async fn over(&self, count: usize) {
        self.reached(&self.shared.ended, count, "end").await;
    }

    async fn reached(&self, counter: &watch::Sender<usize>, wanted: usize, what: &str) {
        let mut count = counter.subscribe();
        let reached = tokio::time::timeout(PATIENCE, count.wait_for(|count| *count >= wanted));
        let reached = reached
            .await
            .is_ok_and(|reached| reached.is_ok_and(|count| *count >= wanted));
        assert!(
            reached,
            "request {wanted} did not {what} within {PATIENCE:?}; {} came: {}",
            self.count(),
            self.tail()
        );
    }

    /// The newest message of each request, for messages of failing tests.
    fn tail(&self) -> String {
        let tails = self.requests().into_iter().map(|request| {
            let text = request.last().to_string();
            text.chars().take(160).collect::<String>()
        });
        tails.collect::<Vec<_>>().join(" | ")
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // May be dropped inside another runtime, where nothing may block.
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // An error of one connection (it was reset while it waited) is none of the listener.
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve::connection(stream, Arc::clone(&shared)));
        }
    }
}

impl Request {
    /// The messages, the system prompt included.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        self.json["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The newest message; `null` where there is none.
    #[must_use]
    pub fn last(&self) -> &Value {
        self.messages().last().unwrap_or(&Value::Null)
    }

    /// The content of the newest message, where it is text.
    #[must_use]
    pub fn last_text(&self) -> &str {
        self.last()["content"].as_str().unwrap_or_default()
    }

    /// How many messages are the assistant's.
    #[must_use]
    pub fn answered(&self) -> usize {
        let by_assistant = |message: &&Value| message["role"] == "assistant";
        self.messages().iter().filter(by_assistant).count()
    }

    /// Call id and content of every tool result, in order.
    #[must_use]
    pub fn results(&self) -> Vec<(String, String)> {
        let results = self
            .messages()
            .iter()
            .filter(|message| message["role"] == "tool");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        results
            .map(|result| (text(&result["tool_call_id"]), text(&result["content"])))
            .collect()
    }

    /// The content of the result of this call, where it is there.
    #[must_use]
    pub fn result(&self, call: &str) -> Option<String> {
        let found = self.results().into_iter().find(|(id, _)| id == call);
        found.map(|(_, content)| content)
    }
}

#[cfg(test)]
mod tests;
