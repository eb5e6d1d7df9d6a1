//! The followers of a session, and the events sent to them.
//!
//! An event leaves only when every record that it depends on is durable. A subscriber whose queue is full is cut off from
//! here and fed from the log at its own pace until it has caught up: nothing here ever waits for it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use proto::hello::Role;
use proto::live::{ClientPresence, Delta, Live, Snapshot, Sync};
use proto::{Failure, ItemId, Pid, Record, Seq, Stamp};
use store::format::LogLine;
use store::log::LogFile;
use tokio::sync::mpsc;

use crate::viewers::queue_bytes::{AllQueues, QueueBytes};

/// Events that one subscriber may lag before it is fed from the log.
const QUEUE_EVENTS: usize = 1024;

/// An event, ready to be sent.
#[derive(Clone, Debug)]
pub struct Published {
    /// Absent for live events.
    pub seq: Option<Seq>,
    /// The event as JSON.
    pub text: Arc<str>,
}

/// Who follows.
#[derive(Clone, Debug)]
pub struct Follower {
    pub name: String,
    pub role: Role,
    /// A person sits in front of it.
    pub interactive: bool,
}

/// A subscriber's request to be fed.
pub struct Join {
    /// Who asks; `None`: somebody new.
    pub subscriber: Option<u64>,
    pub follower: Follower,
    pub ephemeral: bool,
    /// The first record wanted.
    pub next: Start,
}

/// Where a subscriber starts, or goes on.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// From this record on. `epoch`: of the cursor, if it is known.
    At { next: Seq, epoch: Option<u64> },
    /// With a snapshot and so many of the last records.
    Snapshot { backlog: u64 },
}

/// A follower that was let in.
pub struct Joined {
    /// Of one that is new.
    pub place: Option<ViewerGuard>,
    pub feed: Feed,
}

/// Who has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// This follower of the session.
    Follower(u64),
    /// The last user who could have answered for a session above this one.
    UsersAbove,
}

/// A follower's place among those who are there. When it is dropped, wherever it is by then, they have gone.
pub struct ViewerGuard {
    subscriber: u64,
    gone: mpsc::UnboundedSender<Departure>,
}

impl ViewerGuard {
    /// `gone`: reports that they have gone.
    pub fn new(subscriber: u64, gone: mpsc::UnboundedSender<Departure>) -> Self {
        Self { subscriber, gone }
    }

    pub fn subscriber(&self) -> u64 {
        self.subscriber
    }
}

impl Drop for ViewerGuard {
    fn drop(&mut self) {
        // A session that has left memory has no followers.
        let _ = self.gone.send(Departure::Follower(self.subscriber));
    }
}

/// How a subscriber is fed.
pub enum Feed {
    /// From the log: these bytes of the file are whole lines, from record `next` on.
    Log {
        file: Arc<LogFile>,
        offset: u64,
        len: usize,
        /// Sent before them: a snapshot, or the notice that it is behind.
        first: Vec<Published>,
        pid: Pid,
        next: Seq,
    },
    /// Live, beginning with `sync`.
    Live {
        first: Vec<Published>,
        queue: mpsc::Receiver<Published>,
        bytes: Arc<QueueBytes>,
    },
}

struct Subscriber {
    queue: mpsc::Sender<Published>,
    bytes: Arc<QueueBytes>,
    ephemeral: bool,
}

struct HeldEvent {
    after: Seq,
    event: Published,
    grows: Option<Grows>,
}

/// What an event makes of the message in progress.
enum Grows {
    /// Its text ends here now.
    Text(ItemId, u64),
    /// Its reasoning ends here now.
    Reasoning(ItemId, u64),
    /// Nothing of it counts any more.
    Superseded(ItemId),
}

/// The message in progress, as far as it was sent.
#[derive(Default)]
struct SentProgress {
    item: Option<ItemId>,
    text: u64,
    reasoning: u64,
}

pub struct Fanout {
    pid: Pid,
    outbox: VecDeque<HeldEvent>,
    live: BTreeMap<u64, Subscriber>,
    attending: BTreeMap<u64, Follower>,
    last_id: u64,
    /// Followers from before the log failed.
    cut: BTreeSet<u64>,
    /// Followers whose queue overflowed, and who have not been notified yet that they are behind.
    fallen: BTreeSet<u64>,
    shown: SentProgress,
    queues: AllQueues,
}

impl Fanout {
    /// `queues`: the bytes that wait in any session.
    pub fn new(pid: Pid, queues: AllQueues) -> Self {
        Self {
            pid,
            queues,
            outbox: VecDeque::new(),
            live: BTreeMap::new(),
            attending: BTreeMap::new(),
            last_id: 0,
            cut: BTreeSet::new(),
            fallen: BTreeSet::new(),
            shown: SentProgress::default(),
        }
    }

    /// The session's.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// A durable event, to be sent when its record is on disk.
    pub fn record(&mut self, record: &Record, line: &LogLine) {
        let data = std::str::from_utf8(&line.bytes[line.data.clone()]).unwrap_or("null");
        let text = event_text(
            Some(record.seq),
            self.pid,
            record.at,
            record.turn,
            record.body.kind(),
            data,
        );
        self.outbox.push_back(HeldEvent {
            after: record.seq,
            event: Published {
                seq: Some(record.seq),
                text,
            },
            grows: None,
        });
    }

    /// A live event, to be sent after everything that was appended before it.
    pub fn live(&mut self, after: Seq, at: Stamp, turn: Option<u64>, live: &Live) {
        // How far an answer could be seen is known also if nobody looks.
        let grows = match live {
            Live::Text(delta) => Some(Grows::Text(
                delta.item.clone(),
                delta.offset + delta.text.len() as u64,
            )),
            Live::Reasoning(delta) => Some(Grows::Reasoning(
                delta.item.clone(),
                delta.offset + delta.text.len() as u64,
            )),
            Live::Partial(partial) => Some(Grows::Superseded(partial.item.clone())),
            _ if self.live.is_empty() => return,
            _ => None,
        };
        if let Some(event) = live_event(self.pid, at, turn, live) {
            self.outbox.push_back(HeldEvent {
                after,
                event,
                grows,
            });
        }
    }

    /// Sends everything that depends on records up to `durable`.
    pub fn release(&mut self, durable: Seq) {
        while let Some(held) = self.outbox.pop_front_if(|held| held.after <= durable) {
            if let Some(grows) = held.grows {
                self.shown.take(grows);
            }
            self.send(&held.event);
        }
    }

    fn send(&mut self, event: &Published) {
        let fallen = &mut self.fallen;
        self.live.retain(|id, subscriber| {
            if event.seq.is_none() && !subscriber.ephemeral {
                return true;
            }
            // Dropping the sender ends the queue: its events are still read, then the subscriber asks the log.
            let fits = subscriber.bytes.take(event.text.len())
                && subscriber.queue.try_send(event.clone()).is_ok();
            if !fits {
                fallen.insert(*id);
            }
            fits
        });
    }

    /// The log takes no more: records that are not durable never happened. Followers are notified and released.
    pub fn fail(&mut self, reason: &str) {
        self.outbox.clear();
        let status = Live::Status(serde_json::json!({"read_only": reason}));
        if let Some(event) = live_event(self.pid, Stamp::now(), None, &status) {
            self.send(&event);
        }
        self.live.clear();
        self.cut = self.attending.keys().copied().collect();
    }

    /// Whether this follower was let go because the log failed under it.
    pub fn is_cut(&self, subscriber: u64) -> bool {
        self.cut.contains(&subscriber)
    }

    /// Whether a person who may answer is there.
    pub fn attended(&self) -> bool {
        self.attending
            .values()
            .any(|follower| follower.interactive && follower.role >= Role::Approve)
    }

    /// Whether a person is there, who may answer or only look.
    pub fn watched(&self) -> bool {
        self.attending.values().any(|follower| follower.interactive)
    }

    /// Who follows, in the order they came.
    pub fn followers(&self) -> impl Iterator<Item = &Follower> {
        self.attending.values()
    }

    pub fn attached(&self) -> u64 {
        self.attending.len() as u64
    }

    /// Adds a new follower. Notifies the others.
    pub fn enter(&mut self, follower: Follower, after: Seq, at: Stamp) -> u64 {
        self.last_id += 1;
        let presence = ClientPresence {
            name: follower.name.clone(),
            role: follower.role,
        };
        self.live(after, at, None, &Live::ClientJoined(presence));
        self.attending.insert(self.last_id, follower);
        self.last_id
    }

    pub fn knows(&self, subscriber: u64) -> bool {
        self.attending.contains_key(&subscriber)
    }

    /// Releases a follower. Notifies the others.
    pub fn leave(&mut self, subscriber: u64, after: Seq, at: Stamp) {
        self.live.remove(&subscriber);
        self.fallen.remove(&subscriber);
        if let Some(follower) = self.attending.remove(&subscriber) {
            let presence = ClientPresence {
                name: follower.name,
                role: follower.role,
            };
            self.live(after, at, None, &Live::ClientLeft(presence));
        }
    }

    /// Feeds a subscriber live from now on, beginning with `snapshot`, if there is one, and `sync`. It has
    /// everything up to `sync.seq`.
    pub fn go_live(
        &mut self,
        subscriber: u64,
        ephemeral: bool,
        at: Stamp,
        snapshot: Option<Published>,
        sync: Sync,
    ) -> Feed {
        let (queue, reader) = mpsc::channel(QUEUE_EVENTS);
        let bytes = Arc::new(QueueBytes::new(self.queues.clone()));
        self.live.insert(
            subscriber,
            Subscriber {
                queue,
                bytes: Arc::clone(&bytes),
                ephemeral,
            },
        );
        let sync = live_event(self.pid, at, None, &Live::Sync(Box::new(sync)));
        Feed::Live {
            first: snapshot.into_iter().chain(sync).collect(),
            queue: reader,
            bytes,
        }
    }

    pub fn snapshot(&self, at: Stamp, snapshot: Snapshot) -> Option<Published> {
        live_event(self.pid, at, None, &Live::Snapshot(Box::new(snapshot)))
    }

    /// The notice that a follower lags by so many durable records; once each time that it falls behind.
    pub fn report_lag(
        &mut self,
        subscriber: u64,
        ephemeral: bool,
        at: Stamp,
        behind: u64,
    ) -> Option<Published> {
        let fell = self.fallen.remove(&subscriber);
        let status = Live::Status(serde_json::json!({"behind": behind}));
        (fell && ephemeral && behind > 0)
            .then(|| live_event(self.pid, at, None, &status))
            .flatten()
    }

    /// The message in progress, as far as subscribers have it; `text` is all there is of it.
    pub fn in_progress(&self, item: &ItemId, text: &str) -> Option<Delta> {
        let (end, _) = self.seen_of(item);
        let text = text.get(..end)?;
        (!text.is_empty()).then(|| Delta {
            item: item.clone(),
            call: None,
            offset: 0,
            text: text.to_owned(),
        })
    }

    /// Bytes of this message's text and reasoning that could be seen.
    pub fn seen_of(&self, item: &ItemId) -> (usize, usize) {
        if self.shown.item.as_ref() != Some(item) {
            return (0, 0);
        }
        let bytes = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        (bytes(self.shown.text), bytes(self.shown.reasoning))
    }
}

impl SentProgress {
    fn take(&mut self, grows: Grows) {
        match grows {
            Grows::Text(item, to) => self.of(item).text = to,
            Grows::Reasoning(item, to) => self.of(item).reasoning = to,
            Grows::Superseded(item) if self.item.as_ref() == Some(&item) => *self = Self::default(),
            Grows::Superseded(_) => {}
        }
    }

    /// This message's, from its beginning where another one's was shown last.
    fn of(&mut self, item: ItemId) -> &mut Self {
        if self.item.as_ref() != Some(&item) {
            *self = Self {
                item: Some(item),
                ..Self::default()
            };
        }
        self
    }
}

fn live_event(pid: Pid, at: Stamp, turn: Option<u64>, live: &Live) -> Option<Published> {
    let data = live.to_json().ok()?;
    Some(Published {
        seq: None,
        text: event_text(None, pid, at, turn, live.kind(), &data),
    })
}

/// The event as JSON, around data that is JSON already.
pub fn event_text(
    seq: Option<Seq>,
    pid: Pid,
    at: Stamp,
    turn: Option<u64>,
    kind: &str,
    data: &str,
) -> Arc<str> {
    let number =
        |number: Option<u64>| number.map_or_else(|| "null".to_owned(), |number| number.to_string());
    let (seq, turn) = (number(seq.map(|seq| seq.0)), number(turn));
    let kind = serde_json::Value::from(kind);
    format!(
        r#"{{"seq":{seq},"session":{pid},"at":"{at}","turn":{turn},"kind":{kind},"data":{data}}}"#
    )
    .into()
}

/// A cursor that this log cannot serve.
pub fn stale_cursor(epoch: u64, durable: Seq) -> Failure {
    Failure::new(
        proto::ErrorName::CursorStale,
        "The cursor belongs to another log.",
        "Attach again without a cursor.",
    )
    .with("epoch", epoch)
    .with("oldest", 1)
    .with("newest", durable.0)
}
