//! Followers: admitted when the snapshot for them is durable, fed from the log or live, and released.

use std::sync::Arc;

use proto::live::{Away, Snapshot, Sync};
use proto::state::{Kind, OnAsk};
use proto::{Failure, Seq, Stamp};
use tokio::sync::oneshot;

use crate::actor::Actor;
use crate::actor::inbox::Page;
use crate::viewers::fanout::{
    Departure, Feed, Follower, Join, Joined, Published, Start, ViewerGuard, stale_cursor,
};

/// Bytes of log that a subscriber who lags reads at once.
const PAGE_BYTES: usize = 512 * 1024;

impl Actor {
    /// Somebody wants to follow.
    pub(crate) fn wants_in(&mut self, join: Join, reply: oneshot::Sender<Result<Joined, Failure>>) {
        self.viewers.queue_join(join, reply);
        self.answer_joining();
    }

    /// Admits followers that wait. A snapshot shows only durable records: it waits for the disk.
    pub(crate) fn answer_joining(&mut self) {
        let settled = self.journal.durable() == self.journal.last() || self.journal.is_closed();
        for (join, reply) in self.viewers.take_joining() {
            if !settled && matches!(join.next, Start::Snapshot { .. }) {
                self.viewers.queue_join(join, reply);
                continue;
            }
            // If the caller is gone, dropping the answer frees its place.
            let _ = reply.send(self.join(join));
        }
    }

    fn join(&mut self, join: Join) -> Result<Joined, Failure> {
        let cut = join
            .subscriber
            .is_some_and(|one| self.viewers.fanout().is_cut(one));
        if cut && let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let durable = self.journal.durable();
        let at = Stamp::now();
        let (next, wants_snapshot) = match join.next {
            Start::At { next, epoch } => {
                if next.0 > durable.0 + 1 || epoch.is_some_and(|epoch| epoch != self.epoch) {
                    return Err(stale_cursor(self.epoch, durable));
                }
                (Seq(next.0.max(1)), false)
            }
            Start::Snapshot { backlog } => {
                (Seq((durable.0 + 1).saturating_sub(backlog).max(1)), true)
            }
        };
        let away = self.viewers.missed(self.waits());
        let (subscriber, place) = match join.subscriber {
            Some(subscriber) if self.viewers.fanout().knows(subscriber) => (subscriber, None),
            Some(_) | None => {
                let place = self.enter(join.follower);
                (place.subscriber(), Some(place))
            }
        };
        let snapshot = if wants_snapshot {
            self.snapshot(at, away)
        } else {
            None
        };
        let behind = (durable.0 + 1).saturating_sub(next.0);
        let reported = self
            .viewers
            .report_lag(subscriber, join.ephemeral, at, behind);
        let feed = if next <= durable {
            let (offset, len) = self.page(next, durable);
            Feed::Log {
                file: Arc::clone(self.journal.file()),
                offset,
                len,
                first: reported.into_iter().chain(snapshot).collect(),
                pid: self.viewers.fanout().pid(),
                next,
            }
        } else {
            let sync = self.sync();
            self.viewers
                .go_live(subscriber, join.ephemeral, at, snapshot, sync)
        };
        Ok(Joined { place, feed })
    }

    /// Takes a new follower in.
    fn enter(&mut self, follower: Follower) -> ViewerGuard {
        let (last, durable) = (self.journal.last(), self.journal.durable());
        let place = self.viewers.enter(follower, last, durable);
        // Who is there is known as soon as they are.
        self.tell_seen();
        place
    }

    /// What somebody needs to follow from here on who has every durable record.
    fn sync(&mut self) -> Sync {
        let durable = self.journal.durable();
        self.show_growth();
        self.viewers.release(durable);
        let gather = self.requests.in_flight();
        let live = gather.and_then(|gather| {
            self.viewers
                .fanout()
                .in_progress(gather.item(), &gather.answer().text)
        });
        let open = self.machine.facts().interactions.values();
        let shown = open.filter(|open| self.interactions.is_durable(open, durable));
        Sync {
            seq: durable,
            epoch: self.epoch,
            live: live.into_iter().collect(),
            interactions: shown.cloned().collect(),
            attached: self.viewers.fanout().attached(),
        }
    }

    fn snapshot(&self, at: Stamp, away: Option<Away>) -> Option<Published> {
        let facts = self.machine.facts();
        let session = self.summary()?;
        let seq = self.journal.durable();
        let queue = facts.queue.iter().cloned().collect();
        self.viewers.snapshot(
            at,
            Snapshot {
                todos: facts.todos.clone(),
                seq,
                epoch: self.epoch,
                session,
                queue,
                away,
            },
        )
    }

    /// Where the durable lines from this record on are in the log. `None`: there are none.
    pub(crate) fn lines(&self, from: Seq) -> Option<Page> {
        let durable = self.journal.durable();
        let from = Seq(from.0.max(1));
        (from <= durable).then(|| {
            let (offset, len) = self.page(from, durable);
            let file = Arc::clone(self.journal.file());
            (file, offset, len, self.viewers.fanout().pid())
        })
    }

    /// The bytes of the file that hold the records from `next` on: a page, at least one record.
    fn page(&self, next: Seq, durable: Seq) -> (u64, usize) {
        let place = |seq: Seq| match self.journal.line(seq) {
            Some(store::log::ByteLocation::Disk { offset, len }) => Some((offset, len + 1)),
            Some(store::log::ByteLocation::Memory { .. }) | None => None,
        };
        let Some((start, mut len)) = place(next) else {
            return (0, 0);
        };
        let mut seq = next.next();
        while seq <= durable {
            match place(seq) {
                Some((_, more)) if len + more <= PAGE_BYTES => len += more,
                _ => break,
            }
            seq = seq.next();
        }
        (start, len)
    }

    /// Somebody has left. If it was the last user who could answer, a headless run stops waiting for answers.
    pub(crate) fn depart(&mut self, departure: Departure) {
        let attended = match departure {
            Departure::UsersAbove => true,
            Departure::Follower(subscriber) => {
                let attended = self.viewers.attended();
                let (last, durable) = (self.journal.last(), self.journal.durable());
                self.viewers.leave(subscriber, last, durable);
                attended
            }
        };
        let facts = self.machine.facts();
        // Where the daemon goes its clients go with it, and come back to the next one: nobody has left.
        let forsaken = attended
            && self.refusal().is_none()
            && !self.viewers.attended()
            && facts.options.kind == Some(Kind::Headless)
            && matches!(facts.on_ask(), OnAsk::Sandboxed | OnAsk::Allow);
        if forsaken {
            self.close_unattended();
        }
        self.settle();
    }
}
