//! One connection: frames in, frames out. Whatever comes in, others notice nothing.

use std::sync::Arc;
use std::time::Duration;

use interprocess::local_socket::tokio::Stream;
use jsonrpsee::Methods;
use proto::{ErrorName, Failure, frame};
use tokio::io::{AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::dispatch::{self, Answer};
use super::frame::{Frame, read};
use super::peer::{Clients, Origin, Outgoing, Peer};
use crate::daemon::Daemon;

/// Calls get this long to be answered when the daemon goes down.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Calls that may wait for turns to end.
const WAITS_MAX: usize = 256;
/// Frames that may wait to be written; their bytes are bounded besides.
const WAITING: usize = 256;

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
    let (receiver, sender) = tokio::io::split(stream);
    let (outgoing, waiting) = mpsc::channel(WAITING);
    let peer = Arc::new(Peer::new(number, origin, outgoing));
    let gone = CancellationToken::new();
    let writer = tokio::spawn(write(sender, waiting, gone.clone(), life.client_stuck));
    if full {
        let failure = Failure::new(
            ErrorName::Limit,
            "The daemon has too many connections.",
            "Close some clients.",
        );
        peer.send(dispatch::error_frame(None, &failure)).await;
    } else {
        let _here = Here::new(&daemon.clients, &peer);
        converse(receiver, &peer, &methods, (&gone, &stop), life.hello).await;
    }
    peer.end();
    // The last sender ends the writer, once what waits is written.
    drop(peer);
    let _ = tokio::time::timeout(LAST_WORDS, writer).await;
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

/// How much of each kind a connection may have going on.
struct Permits {
    calls: Arc<Semaphore>,
    waits: Arc<Semaphore>,
}

async fn converse(
    receiver: ReadHalf<Stream>,
    peer: &Arc<Peer>,
    methods: &Methods,
    (gone, stop): (&CancellationToken, &CancellationToken),
    hello: Duration,
) {
    let mut calls = JoinSet::new();
    let permits = Permits {
        calls: Arc::new(Semaphore::new(frame::CALLS_MAX)),
        waits: Arc::new(Semaphore::new(WAITS_MAX)),
    };
    let (frames, mut incoming) = mpsc::channel(1);
    let reader = tokio::spawn(read_frames(receiver, frames));
    let hello_due = tokio::time::sleep(hello);
    tokio::pin!(hello_due);
    loop {
        let frame = tokio::select! {
            () = stop.cancelled() => break,
            () = gone.cancelled() => break,
            () = &mut hello_due, if peer.role().is_none() => {
                let failure = Failure::new(ErrorName::NotReady, "No `daemon.hello` came in time.", "Call `daemon.hello` first.");
                peer.send(dispatch::error_frame(None, &failure)).await;
                break;
            }
            frame = incoming.recv() => frame,
            Some(_) = calls.join_next() => continue,
        };
        match frame {
            Some(Frame::Line(line)) => take(&line, peer, methods, &permits, &mut calls).await,
            Some(Frame::TooLong) => {
                let text = format!("A frame is longer than {} bytes.", frame::INBOUND_MAX);
                let failure = Failure::new(
                    ErrorName::Limit,
                    text,
                    "Send smaller frames; the connection was closed.",
                );
                peer.send(dispatch::error_frame(None, &failure)).await;
                break;
            }
            Some(Frame::End) | None => break,
        }
    }
    reader.abort();
    if stop.is_cancelled() {
        // Calls that are nearly done are answered before the door closes.
        let _ = tokio::time::timeout(LAST_WORDS, async {
            while calls.join_next().await.is_some() {}
        })
        .await;
    }
}

async fn read_frames(receiver: ReadHalf<Stream>, frames: mpsc::Sender<Frame>) {
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

/// Takes a frame: answers at once what can be, starts the rest. Calls are begun in the order they came.
async fn take(
    line: &[u8],
    peer: &Arc<Peer>,
    methods: &Methods,
    permits: &Permits,
    calls: &mut JoinSet<()>,
) {
    let answer = dispatch::call(line, Arc::clone(peer), methods);
    let (mut call, counted, id) = match answer {
        Answer::Now(text) => {
            reply(peer, text).await;
            return;
        }
        Answer::Later { call, counted, id } => (call, counted, id),
    };
    let wait = if counted {
        None
    } else if let Ok(wait) = Arc::clone(&permits.waits).try_acquire_owned() {
        Some(wait)
    } else {
        let failure = Failure::new(
            ErrorName::Limit,
            format!("This connection already has {WAITS_MAX} waiting calls."),
            "Use fewer waiting calls at once, or another connection.",
        );
        reply(peer, dispatch::error_frame(Some(id), &failure)).await;
        return;
    };
    // The first poll puts the call into its session's queue: so calls are admitted in order.
    if let std::task::Poll::Ready(text) = futures::poll!(&mut call) {
        reply(peer, text).await;
        return;
    }
    let permit = if counted {
        match Arc::clone(&permits.calls).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => {
                // Begun already, so it is let go on; but nothing more is read until one has been answered.
                Arc::clone(&permits.calls).acquire_owned().await.ok()
            }
        }
    } else {
        wait
    };
    let peer = Arc::clone(peer);
    calls.spawn(async move {
        let text = call.await;
        drop(permit);
        reply(&peer, text).await;
    });
}

async fn reply(peer: &Peer, text: Vec<u8>) {
    if !text.is_empty() {
        peer.send(text).await;
    }
    peer.start_subscriptions();
}

async fn write(
    mut sender: WriteHalf<Stream>,
    mut waiting: mpsc::Receiver<Outgoing>,
    gone: CancellationToken,
    stuck: Duration,
) {
    let mut batch = Vec::new();
    let mut buffer = Vec::new();
    while waiting.recv_many(&mut batch, 64).await > 0 {
        buffer.clear();
        for outgoing in batch.drain(..) {
            buffer.extend_from_slice(&outgoing.text);
        }
        if !write_all(&mut sender, &buffer, stuck).await {
            break;
        }
        if buffer.capacity() > 1024 * 1024 {
            buffer = Vec::new();
        }
    }
    gone.cancel();
}

/// Writes all of it. False: the other side takes nothing any more. A slow reader that takes a little now and then is
/// none that is stuck.
async fn write_all(
    sender: &mut (impl AsyncWrite + Unpin),
    mut rest: &[u8],
    stuck: Duration,
) -> bool {
    while !rest.is_empty() {
        match tokio::time::timeout(stuck, sender.write(rest)).await {
            Ok(Ok(written)) if written > 0 => rest = rest.get(written..).unwrap_or_default(),
            Ok(_) | Err(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
