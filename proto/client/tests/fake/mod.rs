//! A daemon of a few lines: speaks the protocol's frames and answers as a test asks. Stricter than the real
//! one: it takes nothing before `daemon.hello`, and a second hello on a connection is refused.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use proto::Failure;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What the fake does about a call, in order.
#[derive(Clone, Debug)]
pub enum FakeAction {
    Answer(Value),
    Refuse(Failure),
    /// An event of the subscription that the call itself names.
    Event(Value),
    /// An event of another one.
    EventOf(String, Value),
    /// The end of the subscription that the call itself names.
    Ended(Option<Failure>),
    /// It does not know the method.
    Unknown,
    /// Ends the connection.
    Close,
}

/// A call that came.
#[derive(Clone, Debug)]
pub struct Call {
    pub connection: usize,
    pub method: String,
    pub params: Value,
}

type Script = Box<dyn FnMut(&Call) -> Vec<FakeAction> + Send>;

#[derive(Default)]
struct Seen {
    calls: Vec<Call>,
    connections: Vec<UnixStream>,
}

struct Inner {
    version: &'static str,
    /// The newest protocol it speaks, and its failure for clients that do not.
    speaks: Mutex<Option<(u64, Failure)>>,
    script: Mutex<Script>,
    seen: Mutex<Seen>,
    came: Condvar,
}

/// The fake, with a home of its own.
pub struct Fake {
    directory: TempDir,
    inner: Arc<Inner>,
}

impl Fake {
    /// Listens on the socket of a new home. `script` answers everything but hello.
    pub fn start(script: impl FnMut(&Call) -> Vec<FakeAction> + Send + 'static) -> Self {
        Self::of_version(proto::VERSION, script)
    }

    /// The same, of another version.
    pub fn of_version(
        version: &'static str,
        script: impl FnMut(&Call) -> Vec<FakeAction> + Send + 'static,
    ) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("rx")
            .tempdir_in("/tmp")
            .expect("make a home");
        std::fs::create_dir(directory.path().join("run")).expect("make the run directory");
        let listener =
            UnixListener::bind(directory.path().join("run/reasonixd.sock")).expect("listen");
        let inner = Arc::new(Inner {
            version,
            speaks: Mutex::new(None),
            script: Mutex::new(Box::new(script)),
            seen: Mutex::new(Seen::default()),
            came: Condvar::new(),
        });
        let shared = inner.clone();
        // Ends with the test's process: nothing is left to wait for.
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let inner = shared.clone();
                inner
                    .seen
                    .lock()
                    .expect("not poisoned")
                    .connections
                    .push(stream.try_clone().expect("clone"));
                thread::spawn(move || serve(&inner, number, stream));
            }
        });
        Self { directory, inner }
    }

    pub fn home(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// From now on it speaks the protocol up to this version, and refuses who begins later.
    pub fn speaks(&self, newest: u64, refusal: Failure) {
        *self.inner.speaks.lock().expect("not poisoned") = Some((newest, refusal));
    }

    /// All calls so far, without hello.
    pub fn calls(&self) -> Vec<Call> {
        self.inner.seen.lock().expect("not poisoned").calls.clone()
    }

    /// The parameters of the calls of one method.
    pub fn params(&self, method: &str) -> Vec<Value> {
        self.calls()
            .into_iter()
            .filter(|call| call.method == method)
            .map(|call| call.params)
            .collect()
    }

    /// Waits for the `count`th call of a method; returns its parameters.
    pub fn wait_for(&self, method: &str, count: usize) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        let mut seen = self.inner.seen.lock().expect("not poisoned");
        loop {
            let mut calls = seen.calls.iter().filter(|call| call.method == method);
            if let Some(call) = calls.nth(count - 1) {
                return call.params.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "no call {count} of {method}; there were {:?}",
                seen.calls
            );
            seen = self
                .inner
                .came
                .wait_timeout(seen, left)
                .expect("not poisoned")
                .0;
        }
    }

    /// Sends an event to a subscription, on every connection.
    pub fn event(&self, subscription: &str, event: &Value) {
        let line = notification(subscription, event);
        for mut stream in &self.inner.seen.lock().expect("not poisoned").connections {
            // One of them may be gone; the others are meant.
            let _ = stream.write_all(line.as_bytes());
        }
    }
}

fn notification(subscription: &str, event: &Value) -> String {
    let params = json!({"subscription": subscription, "event": event});
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "method": "event", "params": params})
    )
}

fn serve(inner: &Inner, connection: usize, stream: UnixStream) {
    let mut out = stream.try_clone().expect("clone");
    let mut greeted = false;
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).expect("the client sends JSON");
        let id = request["id"].clone();
        let method = request["method"].as_str().expect("a method").to_owned();
        let params = request["params"].clone();
        let acts = if method == "daemon.hello" {
            assert!(!greeted, "a second hello");
            greeted = true;
            match &*inner.speaks.lock().expect("not poisoned") {
                Some((newest, refusal)) if params["protocol"][0].as_u64() > Some(*newest) => {
                    vec![FakeAction::Refuse(refusal.clone())]
                }
                _ => vec![FakeAction::Answer(hello(inner.version, &params))],
            }
        } else {
            assert!(greeted, "{method} before hello");
            let call = Call {
                connection,
                method,
                params: params.clone(),
            };
            let acts = (inner.script.lock().expect("not poisoned"))(&call);
            inner.seen.lock().expect("not poisoned").calls.push(call);
            inner.came.notify_all();
            acts
        };
        for act in acts {
            let line = match act {
                FakeAction::Answer(result) => format!(
                    "{}\n",
                    json!({"jsonrpc": "2.0", "id": id, "result": result})
                ),
                FakeAction::Refuse(failure) => {
                    let error = json!({"code": failure.name.code(), "message": failure.message, "data": failure.data()});
                    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error}))
                }
                FakeAction::Event(event) => {
                    notification(params["subscription"].as_str().unwrap_or_default(), &event)
                }
                FakeAction::EventOf(subscription, event) => notification(&subscription, &event),
                FakeAction::Ended(error) => {
                    let params = json!({"subscription": params["subscription"], "failure": error});
                    format!(
                        "{}\n",
                        json!({"jsonrpc": "2.0", "method": "event.ended", "params": params})
                    )
                }
                FakeAction::Unknown => {
                    let error = json!({"code": -32601, "message": "Method not found"});
                    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error}))
                }
                FakeAction::Close => {
                    let _ = out.shutdown(std::net::Shutdown::Both);
                    return;
                }
            };
            if out.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn hello(version: &str, params: &Value) -> Value {
    json!({
        "daemon": {"version": version, "build": "", "pid": 4_000_000, "started_at": "2026-01-01T00:00:00.000Z",
                   "instance": "fake"},
        "protocol": 1, "capabilities": [], "role": params["role"], "home": "/fake", "key_variables": ["FAKE_API_KEY"],
    })
}

/// A durable event of session 3.
pub fn durable(seq: u64, turn: Option<u64>, kind: &str, data: &Value) -> Value {
    json!({"seq": seq, "session": 3, "at": "2026-01-01T00:00:00.000Z", "turn": turn, "kind": kind, "data": data})
}

/// A live event of session 3.
pub fn live(kind: &str, data: &Value) -> Value {
    json!({"seq": null, "session": 3, "at": "2026-01-01T00:00:00.000Z", "turn": null, "kind": kind, "data": data})
}

/// The mark between replay and live.
pub fn sync(seq: u64) -> Value {
    live(
        "sync",
        &json!({"seq": seq, "epoch": 1, "live": [], "interactions": []}),
    )
}

/// The id of session 3.
pub const SESSION: &str = "01890000-0000-7000-8000-000000000003";

/// The answer to `session.attach`.
pub fn attached(seq: u64) -> Value {
    json!({"session": SESSION, "pid": 3, "epoch": 1, "seq": seq})
}
