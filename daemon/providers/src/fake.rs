//! A fake vendor for tests: an HTTP server on loopback that sends scripted bytes and fails on
//! request.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract::spawn::{ChildControl, ChildExit};
use contract::{
    Child, ChildEvent, Command, Request, RequestEnvironment, Secret, Spawn, SpawnError,
};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use proto::Pid;
use proto::params::process::ChildProcess;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::options::{ProviderOptions, Timeouts};

/// The server's actions, in order, after it receives a request.
pub(crate) enum ServerAction {
    Say(Vec<u8>),
    /// Waits for the test.
    Wait(oneshot::Receiver<()>),
    /// Waits silently until the client disconnects, and reports it.
    Hold(oneshot::Sender<()>),
    /// Closes the connection.
    Close,
    /// Resets the connection.
    Reset,
}

/// A received request.
#[derive(Debug)]
pub(crate) struct ReceivedRequest {
    /// Number of its connection, from 0.
    pub connection: usize,
    pub head: String,
    pub body: Vec<u8>,
}

pub(crate) struct FakeServer {
    /// For `base_url`.
    pub base: String,
    seen: mpsc::UnboundedReceiver<ReceivedRequest>,
    task: JoinHandle<()>,
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl FakeServer {
    /// Starts a server that handles each request with the next script.
    pub(crate) async fn start(scripts: Vec<Vec<ServerAction>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (signal, seen) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let mut scripts = scripts.into_iter();
            let mut connection = 0;
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, connection, &mut scripts, &signal).await;
                connection += 1;
            }
        });
        Self { base, seen, task }
    }

    /// The next request.
    pub(crate) async fn request(&mut self) -> ReceivedRequest {
        let waiting = tokio::time::timeout(Duration::from_secs(20), self.seen.recv());
        waiting
            .await
            .expect("a request in time")
            .expect("the server lives")
    }

    /// Whether there is a request that the test has not taken.
    pub(crate) fn was_asked(&mut self) -> bool {
        self.seen.try_recv().is_ok()
    }
}

/// Serves one connection at a time. This reveals a client that opens a second one while the first
/// is in use.
async fn serve(
    mut stream: TcpStream,
    connection: usize,
    scripts: &mut impl Iterator<Item = Vec<ServerAction>>,
    signal: &mpsc::UnboundedSender<ReceivedRequest>,
) {
    while let Some((head, body)) = read_request(&mut stream).await {
        let _ = signal.send(ReceivedRequest {
            connection,
            head,
            body,
        });
        for act in scripts.next().unwrap_or_default() {
            match act {
                ServerAction::Say(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                ServerAction::Wait(go) => {
                    let _ = go.await;
                }
                ServerAction::Hold(gone) => {
                    let _ = stream.read(&mut [0; 64]).await;
                    let _ = gone.send(());
                    return;
                }
                ServerAction::Close => return,
                ServerAction::Reset => {
                    let _ = stream.set_zero_linger();
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    let length: usize = length.unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, body))
}

/// A response with this status and a body of known length.
pub(crate) fn plain(status: u16, headers: &str, body: &str) -> ServerAction {
    let length = body.len();
    ServerAction::Say(
        format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}

/// The head of an event stream in HTTP chunks.
pub(crate) fn events() -> ServerAction {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    ServerAction::Say(head.as_bytes().to_vec())
}

/// One HTTP chunk.
pub(crate) fn chunk(text: &str) -> ServerAction {
    ServerAction::Say(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// The end of a chunked body.
pub(crate) fn end() -> ServerAction {
    ServerAction::Say(b"0\r\n\r\n".to_vec())
}

/// A context that cannot start programs.
pub(crate) fn nothing() -> crate::ProviderContext {
    crate::ProviderContext {
        spawn: Arc::new(NoSpawn),
    }
}

struct NoSpawn;

impl Spawn for NoSpawn {
    fn spawn(&self, _: Pid, command: Command) -> BoxFuture<'static, Result<Child, SpawnError>> {
        let program = command.argv.first().cloned().unwrap_or_default();
        let reason = "not found".to_owned();
        Box::pin(async { Err(SpawnError::Start { program, reason }) })
    }

    fn running(&self, _: Pid) -> Vec<ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

/// A fake program: it sends scripted events and records how it was started.
pub(crate) struct FakeProgram {
    script: Mutex<Option<Vec<ChildEvent>>>,
    /// If set, it keeps running after the script and signals when it is dropped.
    stays: Mutex<Option<oneshot::Sender<()>>>,
    pub started: Mutex<Vec<(Pid, Command)>>,
}

impl FakeProgram {
    /// Sends these events once.
    pub(crate) fn doing(events: Vec<ChildEvent>) -> (crate::ProviderContext, Arc<Self>) {
        Self::new(events, None)
    }

    /// Writes these chunks and exits.
    pub(crate) fn saying(pieces: Vec<Vec<u8>>, code: i32) -> (crate::ProviderContext, Arc<Self>) {
        let mut events: Vec<_> = pieces.into_iter().map(ChildEvent::Stdout).collect();
        events.push(exited(Some(code), None));
        Self::new(events, None)
    }

    /// Sends these events and keeps running until it is dropped.
    pub(crate) fn staying(
        events: Vec<ChildEvent>,
    ) -> (crate::ProviderContext, Arc<Self>, oneshot::Receiver<()>) {
        let (signal, gone) = oneshot::channel();
        let (means, programs) = Self::new(events, Some(signal));
        (means, programs, gone)
    }

    fn new(
        events: Vec<ChildEvent>,
        stays: Option<oneshot::Sender<()>>,
    ) -> (crate::ProviderContext, Arc<Self>) {
        let programs = Arc::new(Self {
            script: Mutex::new(Some(events)),
            stays: Mutex::new(stays),
            started: Mutex::default(),
        });
        let spawn: Arc<dyn Spawn> = programs.clone();
        (crate::ProviderContext { spawn }, programs)
    }
}

/// The exit of a program.
pub(crate) fn exited(code: Option<i32>, signal: Option<i32>) -> ChildEvent {
    ChildEvent::Exited(ChildExit {
        code,
        signal,
        swept: 0,
        over_memory: None,
    })
}

/// Signals when it is dropped.
struct DropSignal(Option<oneshot::Sender<()>>);

impl Drop for DropSignal {
    fn drop(&mut self) {
        if let Some(signal) = self.0.take() {
            let _ = signal.send(());
        }
    }
}

struct NoControl;

impl ChildControl for NoControl {
    fn stop(&self, _: u64) {}
}

impl Spawn for FakeProgram {
    fn spawn(
        &self,
        session: Pid,
        command: Command,
    ) -> BoxFuture<'static, Result<Child, SpawnError>> {
        self.started
            .lock()
            .expect("a lock")
            .push((session, command));
        let script = self.script.lock().expect("a lock").take();
        let stays = self.stays.lock().expect("a lock").take();
        Box::pin(async move {
            let script = script.expect("one start");
            let tail = stays.is_some();
            let on_drop = DropSignal(stays);
            let events = futures::stream::iter(script);
            let events = if tail {
                let never = futures::stream::pending();
                events
                    .chain(never)
                    .map(move |event| {
                        let _ = &on_drop;
                        event
                    })
                    .boxed()
            } else {
                events.boxed()
            };
            Ok(Child {
                os_pid: 1,
                events,
                control: Box::new(NoControl),
            })
        })
    }

    fn running(&self, _: Pid) -> Vec<ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

/// A minimal entry of a kind.
/// An image that a tool returned.
pub(crate) fn image() -> proto::item::Image {
    proto::item::Image {
        sha256: "0123456789abcdef".repeat(4),
        format: proto::item::ImageFormat::Png,
        bytes: 70,
        width: 640,
        height: 480,
    }
}

pub(crate) fn options(kind: &str, base: &str) -> ProviderOptions {
    ProviderOptions {
        name: "acme".to_owned(),
        kind: kind.to_owned(),
        base_url: base.to_owned(),
        model: "big".to_owned(),
        models: vec!["big".to_owned()],
        api_key_env: Some("ACME_KEY".to_owned()),
        headers: Vec::new(),
        extra: String::new(),
        answer_max: crate::options::ANSWER_MAX,
        timeouts: Timeouts::default(),
        sends_reasoning: false,
        strict_roles: false,
        server_compaction: false,
        vision: None,
        effort: None,
        efforts: Vec::new(),
        max_output_tokens: 0,
        command: match kind {
            "command" => vec!["model".to_owned(), "--print".to_owned()],
            _ => Vec::new(),
        },
    }
}

/// A minimal request.
pub(crate) fn request() -> Request {
    Request {
        body: b"{\"messages\":[ ] }".to_vec().into(),
        model: "big".to_owned(),
        key: Some(Secret::new("sk-acme-0123456789".to_owned())),
        attempt: 1,
        answered: 0,
        ground: RequestEnvironment::default(),
        permit: std::sync::Arc::new(contract::Unbounded),
    }
}
