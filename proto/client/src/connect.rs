//! Getting a connection: open the socket, start the daemon if none answers, say hello.
//!
//! Knows when to wait and when to give up; calls on the connection are made by `call`.

mod silence;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use jsonrpsee::core::client::{Client as Rpc, ClientBuilder, SubscriptionClientT};
use proto::hello::{ClientInfo, HelloOutput, HelloParams, Role};
use proto::methods::{DaemonHello, Method};
use proto::params::session::{EndedNotification, EventNotification};
use proto::{ErrorName, Failure};
use tokio::task::JoinHandle;

use crate::call::{self, CallError};
use crate::lost::{DaemonFacts, LossCause};
use crate::paths::Paths;
use crate::start::{self, StartError};
use crate::subscription::Routes;
use crate::transport::{self, OpenError, Unsafe};

pub(crate) use silence::Silence;
pub use silence::{Listener, SILENCE, SilenceNotice};

/// How long a daemon that was started may take to answer.
pub const START_MAX: Duration = Duration::from_secs(5);

/// How long a lost daemon may take to come back.
pub const RETURN_MAX: Duration = Duration::from_secs(15);

/// How long a client waits for a daemon that was stopped: somebody may be starting the next one.
pub const STOPPED_MAX: Duration = Duration::from_secs(20);

/// How long a client that comes while the daemon is stopping waits for its end: a stop takes up to 10 s.
const LEAVING_MAX: Duration = Duration::from_secs(15);

/// How long after a daemon that was started and ended well the next one is.
const START_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// How long its parent gets to start it again, before a client that needs it does.
const RESTART_AFTER: Duration = Duration::from_secs(1);

/// Events that jsonrpsee keeps between its reader and our demultiplexer, which always drains.
const BUFFERED: usize = 1024;

/// jsonrpsee's own limit of a call; each call has a limit of ours, and waiting ones have none.
const RPC_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Whether a client starts the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Only asks a running daemon.
    Never,
    /// If none answers at first. One that was stopped later stays stopped.
    AtFirst,
    /// Also if it is lost later, was not stopped, and does not come back by itself. A home that is gone is not made
    /// again.
    Always,
}

/// Who connects, to what, and how.
#[derive(Clone, Debug)]
pub struct Options {
    pub paths: Paths,
    /// Shown to other clients.
    pub name: String,
    /// `cli`, `tui`, …
    pub kind: String,
    /// A person sits in front of it and could answer a question.
    pub interactive: bool,
    pub role: Role,
    pub start: Start,
    /// How long a lost daemon may take to come back.
    pub return_max: Duration,
    /// How long one that was stopped may take to be started again by somebody else.
    pub stopped_max: Duration,
    /// The version that this client is of.
    pub version: String,
    /// Oldest and newest version of the protocol that this client speaks.
    pub protocol: [u32; 2],
    /// How long a daemon may be silent before [`Self::listener`] is notified.
    pub silence: Duration,
    /// Notified that the daemon does not answer.
    pub listener: Option<Listener>,
}

impl Options {
    /// A client of this name that drives and may start the daemon.
    #[must_use]
    pub fn new(paths: Paths, name: &str) -> Self {
        Self {
            paths,
            name: name.to_owned(),
            kind: "cli".to_owned(),
            interactive: false,
            role: Role::Drive,
            start: Start::AtFirst,
            return_max: RETURN_MAX,
            stopped_max: STOPPED_MAX,
            version: proto::VERSION.to_owned(),
            protocol: proto::PROTOCOL,
            silence: SILENCE,
            listener: None,
        }
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody answers, and this client does not start one.
    #[error("no daemon answers on `{}`", socket.display())]
    Absent { socket: PathBuf },
    /// It was there, and is not any more.
    #[error("the daemon stopped and did not return within {} s", after.as_secs())]
    Gone { after: Duration },
    /// It was stopped on purpose, and nobody has started it again.
    #[error("the daemon was stopped")]
    Stopped { after: Duration },
    /// Its home was removed.
    #[error("The home `{}` no longer exists.", home.display())]
    Homeless { home: PathBuf },
    /// It cannot be started.
    #[error("the daemon cannot be started")]
    Start(#[from] StartError),
    /// It ended instead of answering.
    #[error("the daemon exited right after its start ({status})")]
    Ended { status: String, log: Vec<String> },
    /// It runs but does not answer.
    #[error("the daemon did not answer within {} s", after.as_secs())]
    Silent { after: Duration, log: Vec<String> },
    /// Somebody else's: nothing is said to them.
    #[error("`{}` belongs to user {owner}, not to user {own}", path.display())]
    Foreign { path: PathBuf, owner: u32, own: u32 },
    /// Anybody could put a socket there.
    #[error("`{}`, the directory of the socket, is accessible to others or is not a directory (owner: user {owner})", path.display())]
    Open { path: PathBuf, owner: u32 },
    /// The socket exists and is not ours to use.
    #[error("open `{}`", socket.display())]
    Socket { socket: PathBuf, source: io::Error },
    /// It answered no.
    #[error(transparent)]
    Refused(Box<Failure>),
    /// It answered something else than hello.
    #[error("say hello to the daemon")]
    Hello(#[source] Box<CallError>),
}

/// A connection on which hello was said.
pub(crate) struct Connection {
    pub(crate) rpc: Arc<Rpc>,
    pub(crate) hello: HelloOutput,
    pub(crate) routes: Arc<Routes>,
    pub(crate) silence: Arc<Silence>,
    /// The facts that are needed about the daemon once it is lost.
    pub(crate) known: DaemonFacts,
    demux: JoinHandle<()>,
    pulse: JoinHandle<()>,
}

impl Connection {
    /// Whether calls can still be made and events still come.
    pub(crate) fn alive(&self) -> bool {
        self.rpc.is_connected() && !self.demux.is_finished()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.demux.abort();
        self.pulse.abort();
        self.routes.lose();
    }
}

/// What one attempt came to, if not to a connection.
enum Missed {
    /// Nobody listens.
    Absent,
    /// Somebody does, and is not ready, or closes.
    NotYet,
    /// Somebody does, and says that it is on the way out.
    Leaving,
    Fatal(ConnectError),
}

/// Gets a connection, with patience. `lost`: the daemon that this client had one to before.
///
/// A daemon that had to be started is left in `launched`.
pub(crate) async fn establish(
    options: &Options,
    credentials: &BTreeMap<String, String>,
    lost: Option<&DaemonFacts>,
    launched: &std::sync::Mutex<Option<Child>>,
) -> Result<Connection, ConnectError> {
    let mut waiting = Waiting::new(options, lost);
    loop {
        let left = waiting.left();
        let missed = match tokio::time::timeout(left, attempt(options, credentials)).await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(missed)) => missed,
            Err(_elapsed) => Missed::NotYet,
        };
        if let Missed::Fatal(error) = missed {
            return Err(error);
        }
        waiting.missed(&missed, launched)?;
        tokio::time::sleep(waiting.pause()).await;
    }
}

/// A client that has no connection yet: how long it waits, and whether it starts one.
struct Waiting<'a> {
    options: &'a Options,
    lost: Option<&'a DaemonFacts>,
    begun: Instant,
    /// From its beginning.
    limit: Duration,
    /// When it started a daemon last.
    started: Option<Instant>,
}

impl<'a> Waiting<'a> {
    fn new(options: &'a Options, lost: Option<&'a DaemonFacts>) -> Self {
        Self {
            options,
            lost,
            begun: Instant::now(),
            limit: match lost {
                None => START_MAX,
                Some(_) => options.return_max,
            },
            started: None,
        }
    }

    /// How long one try may take.
    fn left(&self) -> Duration {
        self.limit
            .saturating_sub(self.begun.elapsed())
            .max(Duration::from_millis(50))
    }

    /// Fine steps at first, because starting takes a few milliseconds; coarse ones for a daemon that stays away.
    fn pause(&self) -> Duration {
        let waiting = self.started.unwrap_or(self.begun).elapsed();
        (waiting / 8).clamp(Duration::from_millis(1), Duration::from_millis(100))
    }

    /// An attempt failed: starts a daemon if that is due, and gives up if it is time.
    fn missed(
        &mut self,
        missed: &Missed,
        launched: &std::sync::Mutex<Option<Child>>,
    ) -> Result<(), ConnectError> {
        let fate = self.lost.map(|lost| lost.fate(&self.options.paths));
        match fate {
            Some(LossCause::Homeless) => {
                let home = self.options.paths.home.clone();
                return Err(ConnectError::Homeless { home });
            }
            Some(LossCause::Stopped) if self.started.is_none() => {
                self.limit = self.options.stopped_max
            }
            _ => {}
        }
        match missed {
            Missed::Leaving => self.limit = self.limit.max(LEAVING_MAX),
            Missed::Absent => self.absent(fate, launched)?,
            Missed::NotYet | Missed::Fatal(_) => {}
        }
        if self.begun.elapsed() < self.limit {
            return Ok(());
        }
        let after = self.limit;
        Err(match (self.started, fate) {
            (None, Some(LossCause::Stopped)) => ConnectError::Stopped { after },
            (None, Some(_)) => ConnectError::Gone { after },
            _ => ConnectError::Silent {
                after,
                log: start::log_tail(&self.options.paths.log(), 5),
            },
        })
    }

    /// Nobody answers.
    fn absent(
        &mut self,
        fate: Option<LossCause>,
        launched: &std::sync::Mutex<Option<Child>>,
    ) -> Result<(), ConnectError> {
        let may_start = match (self.options.start, fate) {
            (Start::Never, None) => {
                return Err(ConnectError::Absent {
                    socket: self.options.paths.socket.clone(),
                });
            }
            (Start::AtFirst | Start::Always, None) => true,
            (Start::Always, Some(LossCause::Crashed)) => self.begun.elapsed() >= RESTART_AFTER,
            (
                Start::Always,
                Some(LossCause::Stopped | LossCause::Homeless | LossCause::Unclear),
            )
            | (Start::Never | Start::AtFirst, Some(_)) => false,
        };
        let due = match self.started {
            None => true,
            // It lost the race to another one, which is gone by now, too.
            Some(at) => ended_well(launched, self.options)? && at.elapsed() >= START_AGAIN_AFTER,
        };
        if may_start && due {
            *lock(launched) = Some(start::launch(&self.options.paths, self.lost.is_none())?);
            if self.started.replace(Instant::now()).is_none() {
                self.limit = self.limit.max(self.begun.elapsed() + START_MAX);
            }
        }
        Ok(())
    }
}

/// Whether the daemon that we started has ended, and well.
///
/// # Errors
/// It ended badly.
fn ended_well(
    launched: &std::sync::Mutex<Option<Child>>,
    options: &Options,
) -> Result<bool, ConnectError> {
    let mut launched = lock(launched);
    let Some(child) = launched.as_mut() else {
        return Ok(false);
    };
    let Ok(Some(status)) = child.try_wait() else {
        return Ok(false);
    };
    if status.success() {
        return Ok(true);
    }
    let said = start::last_words(child);
    // The log's last lines may be of an earlier life: they are used only if the process printed nothing.
    let log = if said.is_empty() {
        start::log_tail(&options.paths.log(), 5)
    } else {
        said
    };
    Err(ConnectError::Ended {
        status: status.to_string(),
        log,
    })
}

/// A lock whose holder never panics in between; should it ever, the value is still whole.
pub(crate) fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Opens the socket, if it is our own daemon's.
async fn open(paths: &Paths) -> Result<(transport::Sender, transport::Receiver), Missed> {
    let socket = &paths.socket;
    let broken = |source| {
        Missed::Fatal(ConnectError::Socket {
            socket: socket.clone(),
            source,
        })
    };
    // Inside the home, and where the person named it, the place is theirs; elsewhere anybody can be there first.
    let outside = !paths.socket_given && !socket.starts_with(&paths.home);
    if let Some(directory) = socket.parent().filter(|_| outside) {
        let path = directory.to_path_buf();
        match transport::look_at(directory).map_err(broken)? {
            None => {}
            Some(Unsafe::Foreign { owner }) => {
                let own = transport::own();
                return Err(Missed::Fatal(ConnectError::Foreign { path, owner, own }));
            }
            Some(Unsafe::Open { owner }) => {
                return Err(Missed::Fatal(ConnectError::Open { path, owner }));
            }
        }
    }
    transport::open(socket).await.map_err(|error| match error {
        OpenError::Foreign { owner } => Missed::Fatal(ConnectError::Foreign {
            path: socket.clone(),
            owner,
            own: transport::own(),
        }),
        OpenError::Io(source) => match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Missed::Absent,
            // Its queue of connections is full for a moment.
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Missed::NotYet,
            _ => broken(source),
        },
    })
}

/// One try: open, say hello, route the events.
async fn attempt(
    options: &Options,
    credentials: &BTreeMap<String, String>,
) -> Result<Connection, Missed> {
    let (sender, receiver) = open(&options.paths).await?;
    let rpc = ClientBuilder::new()
        .request_timeout(RPC_MAX)
        .max_buffer_capacity_per_subscription(BUFFERED)
        .build_with_tokio(sender, receiver);
    let hello = say_hello(&rpc, options, credentials).await?;
    let routes = Arc::new(Routes::default());
    let demux = route(&rpc, routes.clone()).await?;
    let rpc = Arc::new(rpc);
    let silence = Arc::new(Silence::of(options));
    let pulse = tokio::spawn(silence::pulse(rpc.clone(), routes.clone(), silence.clone()));
    Ok(Connection {
        rpc,
        known: DaemonFacts::new(&options.paths, hello.daemon.started_at),
        hello,
        routes,
        silence,
        demux,
        pulse,
    })
}

async fn say_hello(
    rpc: &Rpc,
    options: &Options,
    credentials: &BTreeMap<String, String>,
) -> Result<HelloOutput, Missed> {
    let params = HelloParams {
        client: ClientInfo {
            name: options.name.clone(),
            version: options.version.clone(),
            build: String::new(),
            kind: options.kind.clone(),
            pid: std::process::id(),
            interactive: options.interactive,
        },
        protocol: options.protocol,
        role: options.role,
        cwd: std::env::current_dir()
            .ok()
            .and_then(|cwd| Some(cwd.to_str()?.to_owned())),
        credentials: credentials.clone(),
    };
    let hello = call::on::<DaemonHello>(rpc, &params).await;
    hello.map_err(|error| match error {
        CallError::Failure(failure) if failure.name == ErrorName::NotReady => Missed::NotYet,
        CallError::Failure(failure) if failure.name == ErrorName::ShuttingDown => Missed::Leaving,
        CallError::Failure(failure) => Missed::Fatal(ConnectError::Refused(failure)),
        // It closed before it answered: on its way out, or full. Another attempt will show which.
        CallError::Lost { .. } => Missed::NotYet,
        other => Missed::Fatal(ConnectError::Hello(Box::new(other))),
    })
}

/// Starts to deliver the events that come to those who follow sessions.
async fn route(rpc: &Rpc, routes: Arc<Routes>) -> Result<JoinHandle<()>, Missed> {
    // It may have closed right after it answered, too.
    let unheard = |error| match call::error(DaemonHello::NAME, error) {
        CallError::Lost { .. } => Missed::NotYet,
        other => Missed::Fatal(ConnectError::Hello(Box::new(other))),
    };
    let events = rpc.subscribe_to_method::<EventNotification>("event");
    let mut events = call::while_connected(rpc, events).await.map_err(unheard)?;
    let ends = rpc.subscribe_to_method::<EndedNotification>("event.ended");
    let mut ends = call::while_connected(rpc, ends).await.map_err(unheard)?;
    Ok(tokio::spawn(async move {
        loop {
            // Ends come last: earlier events are delivered before them.
            tokio::select! {
                biased;
                notification = events.next() => match notification {
                    Some(Ok(notification)) => routes.deliver(notification),
                    // One that does not read as an event is of a newer protocol, and nobody here asked for it.
                    Some(Err(_)) => {}
                    None => break,
                },
                Some(ended) = ends.next() => {
                    // One that came before this end may have arrived since we looked.
                    while let Some(Some(Ok(notification))) = events.next().now_or_never() {
                        routes.deliver(notification);
                    }
                    if let Ok(ended) = ended {
                        routes.end(ended);
                    }
                }
            }
        }
        routes.lose();
    }))
}
