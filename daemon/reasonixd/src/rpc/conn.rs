//! One connection: frames in, frames out. Whatever comes in, others notice nothing.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use interprocess::local_socket::tokio::Stream;
use jsonrpsee::Methods;
use proto::{ErrorName, Failure, frame};
use rustix::event::{PollFd, PollFlags, Timespec};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::dispatch::{self, Answer, CallKind};
use super::frame::{Frame, read};
use super::peer::{Clients, Origin, Outgoing, Peer};
use super::room::FrameShare;
use crate::daemon::Daemon;
use session::tasks::{self, blocking};

/// Calls get this long to be answered when the daemon goes down.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Calls that may wait for turns to end.
const WAITS_MAX: usize = 256;
/// Frames that may wait to be written; their bytes are bounded besides.
const WAITING: usize = 256;
/// How often it is looked whether a client that says no more still listens.
const LISTENS: Duration = Duration::from_millis(200);

/// A socket that is read in one task and written in another.
#[derive(Clone)]
struct Socket(Arc<Stream>);

impl Socket {
    /// Whether the other side has closed it altogether, not only its own half.
    fn is_closed(&self) -> bool {
        let Stream::UdSocket(stream) = &*self.0;
        let mut ends = [PollFd::new(stream, PollFlags::empty())];
        let looked = rustix::event::poll(&mut ends, Some(&Timespec::default()));
        looked.is_err() || ends[0].revents().contains(PollFlags::HUP)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_shutdown(cx)
    }
}

/// Serves a connection to its end.
pub async fn serve(
    stream: Stream,
    number: u64,
    origin: Origin,
    full: bool,
    daemon: Arc<Daemon>,
    methods: Methods,
    stop: CancellationToken,
) {
    // As long as somebody is connected, the daemon is not unused.
    let _guest = daemon.gate.enter();
    let life = daemon.life;
    let socket = Socket(Arc::new(stream));
    let (outgoing, waiting) = mpsc::channel(WAITING);
    let room = daemon.clients.room();
    let peer = Arc::new(Peer::new(number, origin, outgoing, room));
    let ends = Ends {
        stuck: CancellationToken::new(),
        stop,
    };
    let writer = Writer {
        socket: socket.clone(),
        peer: Arc::downgrade(&peer),
        stuck: ends.stuck.clone(),
        patience: life.client_stuck,
    };
    let mut writer = tasks::spawn(writer.run(waiting));
    let mut is_drained = false;
    if full {
        let failure = Failure::new(
            ErrorName::Limit,
            "The daemon has too many connections.",
            "Close some clients.",
        );
        peer.send(dispatch::error_frame(None, &failure)).await;
    } else {
        let _here = Here::new(&daemon.clients, &peer);
        let methods = &methods;
        let conversation = Conversation::new(&peer, methods, &ends, &socket);
        is_drained = conversation.run(life.hello).await;
    }
    peer.end();
    let trusted = peer.end_trust();
    if !trusted.is_empty() {
        // Work started meanwhile continues without it.
        daemon.supervisor.end_trust(&trusted).await;
        let servers = Arc::clone(&daemon.mcp);
        // A panic there is in the log.
        let _ = blocking(move || servers.withdraw_refused()).await;
    }
    // The last sender ends the writer, once the queued frames are written.
    drop(peer);
    let mut looks = tokio::time::interval(LISTENS);
    while is_drained && !socket.is_closed() {
        tokio::select! {
            _ = &mut writer => return,
            () = ends.any() => break,
            _ = looks.tick() => {}
        }
    }
    if tokio::time::timeout(LAST_WORDS, &mut writer).await.is_err() {
        writer.abort();
    }
}

/// A connection that is listed as long as it is served, however that ends.
struct Here<'a> {
    clients: &'a Clients,
    peer: &'a Peer,
}

impl<'a> Here<'a> {
    fn new(clients: &'a Clients, peer: &'a Arc<Peer>) -> Self {
        clients.add(Arc::clone(peer));
        Self { clients, peer }
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.clients.remove(self.peer.number);
        self.peer.end();
    }
}

/// Why a connection ends although its client goes on.
struct Ends {
    /// The client takes nothing any more.
    stuck: CancellationToken,
    /// The daemon goes down.
    stop: CancellationToken,
}

impl Ends {
    async fn any(&self) {
        tokio::select! {
            () = self.stuck.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }
}

/// The calls of a connection.
struct Conversation<'a> {
    peer: &'a Arc<Peer>,
    methods: &'a Methods,
    ends: &'a Ends,
    socket: &'a Socket,
    /// How much of each kind may go on.
    calls_max: Arc<Semaphore>,
    waits_max: Arc<Semaphore>,
    /// Those that change something: they are carried out whoever hears of it.
    calls: JoinSet<()>,
    /// Those that only read, and those that wait: dropped if nobody is left to hear of it.
    reads: JoinSet<()>,
    waits: JoinSet<()>,
}

impl<'a> Conversation<'a> {
    fn new(peer: &'a Arc<Peer>, methods: &'a Methods, ends: &'a Ends, socket: &'a Socket) -> Self {
        Self {
            peer,
            methods,
            ends,
            socket,
            calls_max: Arc::new(Semaphore::new(frame::CALLS_MAX)),
            waits_max: Arc::new(Semaphore::new(WAITS_MAX)),
            calls: JoinSet::new(),
            reads: JoinSet::new(),
            waits: JoinSet::new(),
        }
    }

    /// Takes calls to the end of input, and sees those out that have begun. Returns whether the client still listens, and is to
    /// get everything that is queued.
    async fn run(mut self, hello: Duration) -> bool {
        let (frames, mut incoming) = mpsc::channel(1);
        let reader = tasks::spawn(read_frames(self.socket.clone(), frames));
        let hello_due = tokio::time::sleep(hello);
        tokio::pin!(hello_due);
        let mut is_drained = false;
        loop {
            let frame = tokio::select! {
                () = self.ends.any() => break,
                () = &mut hello_due, if self.peer.role().is_none() => {
                    let failure = Failure::new(ErrorName::NotReady, "No `daemon.hello` came in time.", "Call `daemon.hello` first.");
                    self.peer.send(dispatch::error_frame(None, &failure)).await;
                    break;
                }
                frame = incoming.recv() => frame,
                Some(_) = self.calls.join_next() => continue,
                Some(_) = self.reads.join_next() => continue,
                Some(_) = self.waits.join_next() => continue,
            };
            match frame {
                Some(Frame::Line(line)) => self.take(&line).await,
                Some(Frame::TooLong) => {
                    let text = format!("A frame is longer than {} bytes.", frame::INBOUND_MAX);
                    let failure = Failure::new(
                        ErrorName::Limit,
                        text,
                        "Send smaller frames; the connection was closed.",
                    );
                    self.peer.send(dispatch::error_frame(None, &failure)).await;
                    break;
                }
                Some(Frame::End) | None => {
                    is_drained = self.see_out().await;
                    break;
                }
            }
        }
        reader.abort();
        if self.ends.stop.is_cancelled() {
            // Calls that are nearly done are answered before the door closes.
            let _ = tokio::time::timeout(LAST_WORDS, async {
                while self.calls.join_next().await.is_some() {}
                while self.reads.join_next().await.is_some() {}
            })
            .await;
        }
        is_drained
    }

    /// The client has closed its sending side: its calls are carried out and answered, then it gets its remaining events. A
    /// client that does not read any more is not waited for. Returns whether all of it is queued.
    async fn see_out(&mut self) -> bool {
        let mut looks = tokio::time::interval(LISTENS);
        while !self.calls.is_empty() || !self.reads.is_empty() || !self.waits.is_empty() {
            tokio::select! {
                () = self.ends.any() => return false,
                Some(_) = self.calls.join_next() => {}
                Some(_) = self.reads.join_next() => {}
                Some(_) = self.waits.join_next() => {}
                _ = looks.tick() => if self.socket.is_closed() {
                    self.drop_unheard();
                },
            }
        }
        let sent = self.peer.drain_subscriptions();
        tokio::pin!(sent);
        loop {
            tokio::select! {
                () = self.ends.any() => return false,
                () = &mut sent => return true,
                _ = looks.tick() => if self.socket.is_closed() {
                    return false;
                },
            }
        }
    }

    /// Nobody is left to hear of what these calls would say, and they change nothing.
    fn drop_unheard(&mut self) {
        self.reads.abort_all();
        self.waits.abort_all();
    }

    /// Takes a frame: answers at once what can be, starts the rest. Calls are begun in the order they came.
    async fn take(&mut self, line: &[u8]) {
        let peer = self.peer;
        let answer = dispatch::call(line, Arc::clone(peer), self.methods);
        let (call, kind, id) = match answer {
            Answer::Now(text) => return reply(peer, text, None).await,
            Answer::Later { call, kind, id } => (call, kind, id),
        };
        if kind == CallKind::Waits {
            return self.wait(call, id).await;
        }
        if kind == CallKind::Reads && self.socket.is_closed() {
            return self.drop_unheard();
        }
        // Who does not read its answers has no more calls begun.
        let share = tokio::select! {
            share = peer.room(kind.room()) => share,
            () = self.ends.any() => return,
        };
        // The first poll puts the call into its session's queue: so calls are admitted in order.
        let mut call = call;
        if let Poll::Ready(text) = futures::poll!(&mut call) {
            return reply(peer, text, share).await;
        }
        // Begun already, so it goes on; but if there are too many nothing more is read until one has been answered.
        let Ok(permit) = Arc::clone(&self.calls_max).acquire_owned().await else {
            return;
        };
        let peer = Arc::clone(peer);
        let begun = match kind {
            CallKind::Reads => &mut self.reads,
            CallKind::Changes | CallKind::Waits => &mut self.calls,
        };
        begun.spawn(async move {
            let text = call.await;
            reply(&peer, text, share).await;
            drop(permit);
        });
    }

    /// Begins a call that waits for something to happen.
    async fn wait(&mut self, mut call: dispatch::Calling, id: jsonrpsee::types::Id<'static>) {
        let peer = self.peer;
        let Ok(permit) = Arc::clone(&self.waits_max).try_acquire_owned() else {
            let failure = Failure::new(
                ErrorName::Limit,
                format!("This connection already has {WAITS_MAX} waiting calls."),
                "Use fewer waiting calls at once, or another connection.",
            );
            return reply(peer, dispatch::error_frame(Some(id), &failure), None).await;
        };
        if let Poll::Ready(text) = futures::poll!(&mut call) {
            return reply(peer, text, None).await;
        }
        let peer = Arc::clone(peer);
        self.waits.spawn(async move {
            let text = call.await;
            reply(&peer, text, None).await;
            drop(permit);
        });
    }
}

async fn read_frames(receiver: Socket, frames: mpsc::Sender<Frame>) {
    let mut receiver = BufReader::with_capacity(64 * 1024, receiver);
    loop {
        // A broken connection is an ended one.
        let frame = read(&mut receiver, frame::INBOUND_MAX)
            .await
            .unwrap_or(Frame::End);
        let last = frame == Frame::End || frame == Frame::TooLong;
        if frames.send(frame).await.is_err() || last {
            return;
        }
    }
}

/// Sends an answer, in the room that was taken for it.
async fn reply(peer: &Peer, text: Vec<u8>, share: Option<FrameShare>) {
    if !text.is_empty() {
        match share {
            Some(share) => peer.send_in(text, share).await,
            None => peer.send(text).await,
        };
    }
    peer.start_subscriptions();
}

/// Writes queued frames, in order.
struct Writer {
    socket: Socket,
    peer: Weak<Peer>,
    stuck: CancellationToken,
    /// How long a client may take nothing while data waits.
    patience: Duration,
}

impl Writer {
    async fn run(mut self, mut waiting: mpsc::Receiver<Outgoing>) {
        /// Bytes that are copied to be written at once; longer frames are written as they are.
        const GATHERED: usize = 64 * 1024;
        let mut buffer = Vec::new();
        while let Some(mut outgoing) = waiting.recv().await {
            buffer.clear();
            // Small frames go together: one call of the system for all of them.
            while outgoing.text.len() + buffer.len() <= GATHERED {
                buffer.extend_from_slice(&outgoing.text);
                match waiting.try_recv() {
                    Ok(next) => outgoing = next,
                    Err(_) => {
                        outgoing.text.clear();
                        break;
                    }
                }
            }
            let written = match write_all(&mut self.socket, &buffer, self.patience).await {
                Ok(()) => write_all(&mut self.socket, &outgoing.text, self.patience).await,
                refused => refused,
            };
            match written {
                Ok(()) => {}
                Err(WriteError::Stuck) => {
                    self.stuck.cancel();
                    return;
                }
                Err(WriteError::Closed) => {
                    // Changes that it asked for before it left are carried out all the same.
                    if let Some(peer) = self.peer.upgrade() {
                        peer.end();
                    }
                    return;
                }
            }
        }
    }
}

/// Why no more can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteError {
    /// The other side takes nothing any more.
    Stuck,
    /// The other side is closed.
    Closed,
}

/// Writes all of it. A slow reader that takes a little now and then is none that is stuck.
async fn write_all(
    sender: &mut (impl AsyncWrite + Unpin),
    mut rest: &[u8],
    stuck: Duration,
) -> Result<(), WriteError> {
    while !rest.is_empty() {
        match tokio::time::timeout(stuck, sender.write(rest)).await {
            Ok(Ok(written)) if written > 0 => rest = rest.get(written..).unwrap_or_default(),
            Ok(_) => return Err(WriteError::Closed),
            Err(_) => return Err(WriteError::Stuck),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
