//! One subscriber's way through a session: from the log while it is behind, live when it has caught up.
//!
//! Held by a connection. Reads at the connection's pace; the session never waits for it.

use std::collections::VecDeque;
use std::sync::Arc;

use proto::{Failure, Pid, Seq};
use store::log::LogFile;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::actor::handle::SessionHandle;
use crate::tasks;
use crate::viewers::fanout::{Feed, Follower, Join, Published, Start, ViewerGuard, event_text};
use crate::viewers::queue_bytes::QueueBytes;

/// What a subscriber gets next.
#[derive(Debug)]
pub enum Following {
    /// An event as JSON; `seq` if it is durable.
    Event { seq: Option<Seq>, text: Arc<str> },
    /// The session has left memory, or the log cannot be read: attach again. Or it is drained.
    Ended(Option<Failure>),
}

/// A subscription.
pub struct Follow {
    handle: SessionHandle,
    follower: Follower,
    ephemeral: bool,
    place: Option<ViewerGuard>,
    start: Start,
    ready: VecDeque<Published>,
    live: Option<(mpsc::Receiver<Published>, Arc<QueueBytes>)>,
    /// The last event to send, once it is drained.
    until: Option<Seq>,
    /// The queue of live events takes no more: after what it holds nothing is sent.
    is_last: bool,
}

impl Follow {
    pub(crate) async fn begin(
        handle: SessionHandle,
        follower: Follower,
        ephemeral: bool,
        start: Start,
    ) -> Result<Self, Failure> {
        let mut follow = Self {
            handle,
            follower,
            ephemeral,
            place: None,
            start,
            ready: VecDeque::new(),
            live: None,
            until: None,
            is_last: false,
        };
        // The first step is part of the call: a stale cursor is an error of it.
        follow.join().await?;
        Ok(follow)
    }

    /// The next event. Cancel-safe: an event is handed out or kept.
    pub async fn next(&mut self) -> Following {
        self.next_or_drained(&CancellationToken::new()).await
    }

    /// The next event. Once `drain` is cancelled, `Ended` after the newest one that there was by then.
    pub async fn next_or_drained(&mut self, drain: &CancellationToken) -> Following {
        loop {
            if let Some(Published { seq, text }) = self.ready.pop_front() {
                return Following::Event { seq, text };
            }
            if drain.is_cancelled() && self.until.is_none() {
                self.until = Some(self.handle.newest());
            }
            if let Some((queue, bytes)) = &mut self.live {
                // Of a queue that has overflowed the log has the rest.
                if self.until.is_some() && !queue.is_closed() {
                    // What it holds is still received.
                    queue.close();
                    self.is_last = true;
                }
                let next = tokio::select! {
                    biased;
                    next = queue.recv() => next,
                    () = drain.cancelled(), if self.until.is_none() => continue,
                };
                if let Some(Published { seq, text }) = next {
                    bytes.release(text.len());
                    if let Some(seq) = seq {
                        self.start = Start::At {
                            next: seq.next(),
                            epoch: None,
                        };
                    }
                    return Following::Event { seq, text };
                }
                if self.is_last {
                    return Following::Ended(None);
                }
                // The queue was full: go on from the log.
                self.live = None;
            }
            if self.is_drained() {
                return Following::Ended(None);
            }
            if let Err(failure) = self.join().await {
                return Following::Ended(
                    (failure.name != proto::ErrorName::ShuttingDown).then_some(failure),
                );
            }
        }
    }

    /// Whether everything up to the last event to send has been handed out.
    fn is_drained(&self) -> bool {
        match (self.until, self.start) {
            (Some(until), Start::At { next, .. }) => next > until,
            (Some(_) | None, _) => false,
        }
    }

    /// Whether events wait in memory that were read already.
    #[must_use]
    pub fn has_page(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether the next event is to be read from the log, as far as is known now.
    #[must_use]
    pub fn reads_log(&self) -> bool {
        let cut_off =
            |(queue, _): &(mpsc::Receiver<Published>, _)| queue.is_closed() && queue.is_empty();
        self.ready.is_empty() && self.live.as_ref().is_none_or(cut_off)
    }

    async fn join(&mut self) -> Result<(), Failure> {
        let join = Join {
            subscriber: self.place.as_ref().map(ViewerGuard::subscriber),
            follower: self.follower.clone(),
            ephemeral: self.ephemeral,
            next: self.start,
        };
        let joined = self.handle.join(join).await?;
        if joined.place.is_some() {
            self.place = joined.place;
        }
        match joined.feed {
            Feed::Live {
                first,
                queue,
                bytes,
            } => {
                self.ready.extend(first);
                self.live = Some((queue, bytes));
            }
            Feed::Log {
                file,
                offset,
                len,
                first,
                pid,
                next,
            } => {
                self.ready.extend(first);
                let events = read_lines(file, offset, len, pid).await?;
                let count = events.len() as u64;
                self.ready.extend(events);
                self.start = Start::At {
                    next: Seq(next.0 + count),
                    epoch: None,
                };
            }
        }
        Ok(())
    }
}

/// Reads whole lines of a log as events, on a thread that may block.
pub(crate) async fn read_lines(
    file: Arc<LogFile>,
    offset: u64,
    len: usize,
    pid: Pid,
) -> Result<Vec<Published>, Failure> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let read = tasks::blocking(move || {
        let bytes = file
            .read_at(offset, len)
            .map_err(|error| format!("cannot read the log: {error}"))?;
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| {
                let raw = store::format::decode(line)
                    .map_err(|error| format!("a line of the log is damaged: {error}"))?;
                let text = event_text(
                    Some(raw.seq),
                    pid,
                    raw.at,
                    raw.turn,
                    &raw.kind,
                    raw.data.get(),
                );
                Ok(Published {
                    seq: Some(raw.seq),
                    text,
                })
            })
            .collect::<Result<Vec<_>, String>>()
    });
    let read = read
        .await
        .map_err(|error| error.to_string())
        .and_then(|read| read);
    read.map_err(|reason| {
        Failure::new(
            proto::ErrorName::Storage,
            reason,
            "Run `reasonix doctor` to check the store.",
        )
    })
}
