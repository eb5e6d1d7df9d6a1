//! The viewers of a session, and the events sent to them. Owns the subscribers, those who wait to be admitted, and what a user
//! misses while nobody is there.

pub(crate) mod absence;
pub(crate) mod attendance;
pub(crate) mod fanout;
pub(crate) mod list_changes;
pub(crate) mod queue_bytes;

use std::path::PathBuf;
use std::time::Duration;

use proto::live::{Away, Live, Snapshot, Sync};
use proto::{Body, Failure, ItemId, Record, Seq, Stamp};
use store::format::LogLine;
use store::sidecar::Sidecar;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::journal::sidecar::SidecarFile;
use crate::viewers::absence::{Absence, AwaySummary, Left};
use crate::viewers::attendance::SessionAttendance;
use crate::viewers::fanout::{
    Departure, Fanout, Feed, Follower, Join, Joined, Published, ViewerGuard,
};

/// How often subscribers are sent new text: the rate of a screen.
const LIVE_FRAME: Duration = Duration::from_millis(20);

/// Where the answer to a [`Join`] goes.
pub type JoinReply = oneshot::Sender<Result<Joined, Failure>>;

/// The viewers of one session.
pub(crate) struct Viewers {
    fanout: Fanout,
    /// Followers that wait to be let in.
    joining: Vec<(Join, JoinReply)>,
    /// Where followers say that they are gone: heard even when the commands' queue is full.
    gone: mpsc::UnboundedSender<Departure>,
    attendance: SessionAttendance,
    absence: Absence,
    /// Holds what a user has seen last.
    seen_file: SidecarFile,
    /// The newest end of a turn that is not durable yet.
    turn_ended_at: Option<Seq>,
    /// When subscribers are sent new text next.
    frame_due: Option<Instant>,
}

impl Viewers {
    /// `dir`: the session's. `missed`: what happened since a user last looked.
    pub fn new(
        fanout: Fanout,
        dir: PathBuf,
        missed: Option<AwaySummary>,
        gone: mpsc::UnboundedSender<Departure>,
        attendance: SessionAttendance,
    ) -> Self {
        Self {
            fanout,
            joining: Vec::new(),
            gone,
            attendance,
            absence: Absence::new(missed),
            seen_file: SidecarFile::new(dir, Sidecar::Seen),
            turn_ended_at: None,
            frame_due: None,
        }
    }

    pub fn fanout(&self) -> &Fanout {
        &self.fanout
    }

    /// Whether a user who can answer is attached to the session, or to one above it.
    pub fn attended(&self) -> bool {
        self.fanout.attended() || self.attendance.is_attended_above()
    }

    /// A record was appended: it is sent when it is on disk, and missed if nobody is there.
    pub fn record(&mut self, record: &Record, line: &LogLine) {
        self.fanout.record(record, line);
        self.absence.appended(record);
        if matches!(record.body, Body::TurnEnded(_)) {
            self.turn_ended_at = Some(record.seq);
        }
    }

    /// Sends a live event after everything that was appended up to `after`.
    pub fn live(&mut self, after: Seq, turn: Option<u64>, live: &Live) {
        self.fanout.live(after, Stamp::now(), turn, live);
    }

    /// Sends everything that depends on records up to `durable`.
    pub fn release(&mut self, durable: Seq) {
        self.fanout.release(durable);
    }

    /// Everything up to `durable` is on disk: users who are there have seen it, others miss it.
    pub fn settle_absence(&mut self, durable: Seq) {
        self.absence.settled(durable);
        if self.turn_ended_at.is_some_and(|seq| seq <= durable) {
            self.turn_ended_at = None;
            // A daemon that is killed knows roughly which records were seen.
            if self.fanout.watched() {
                self.note_seen(durable);
            }
        }
    }

    /// The log takes no more.
    pub fn fail(&mut self, reason: &str) {
        self.fanout.fail(reason);
    }

    /// Somebody wants to follow.
    pub fn queue_join(&mut self, join: Join, reply: JoinReply) {
        self.joining.push((join, reply));
    }

    /// All who wait to be let in.
    pub fn take_joining(&mut self) -> Vec<(Join, JoinReply)> {
        std::mem::take(&mut self.joining)
    }

    pub fn is_joining(&self) -> bool {
        !self.joining.is_empty()
    }

    /// What there is to report to a user who comes now. `waits`: something waits for a user.
    pub fn missed(&self, waits: bool) -> Option<Away> {
        self.absence.send(waits).filter(|_| !self.fanout.watched())
    }

    /// Lets a new follower in. `last`, `durable`: the newest record, appended and on disk.
    pub fn enter(&mut self, follower: Follower, last: Seq, durable: Seq) -> ViewerGuard {
        let watched = self.fanout.watched();
        let subscriber = self.fanout.enter(follower, last, Stamp::now());
        self.attendance.set(self.fanout.attended());
        if !watched && self.fanout.watched() {
            self.absence.returned();
            self.note_seen(durable);
        }
        ViewerGuard::new(subscriber, self.gone.clone())
    }

    /// Lets a follower go. `last`, `durable`: as for [`Viewers::enter`].
    pub fn leave(&mut self, subscriber: u64, last: Seq, durable: Seq) {
        let watched = self.fanout.watched();
        self.fanout.leave(subscriber, last, Stamp::now());
        self.attendance.set(self.fanout.attended());
        if watched && !self.fanout.watched() {
            self.absence.left(left_at(durable));
            self.note_seen(durable);
        }
    }

    /// The notice that a follower lags by so many durable records, once each time that it falls behind.
    pub fn report_lag(
        &mut self,
        subscriber: u64,
        ephemeral: bool,
        at: Stamp,
        behind: u64,
    ) -> Option<Published> {
        self.fanout.report_lag(subscriber, ephemeral, at, behind)
    }

    /// Feeds a subscriber live from now on. See [`Fanout::go_live`].
    pub fn go_live(
        &mut self,
        subscriber: u64,
        ephemeral: bool,
        at: Stamp,
        snapshot: Option<Published>,
        sync: Sync,
    ) -> Feed {
        self.fanout
            .go_live(subscriber, ephemeral, at, snapshot, sync)
    }

    pub fn snapshot(&self, at: Stamp, snapshot: Snapshot) -> Option<Published> {
        self.fanout.snapshot(at, snapshot)
    }

    /// Bytes of this message's text and reasoning that could be seen.
    pub fn seen_of(&self, item: &ItemId) -> (usize, usize) {
        self.fanout.seen_of(item)
    }

    /// Something has grown: subscribers are sent it within a frame.
    pub fn schedule_frame(&mut self) {
        if self.frame_due.is_none() {
            self.frame_due = Some(Instant::now() + LIVE_FRAME);
        }
    }

    /// When the next frame is due.
    pub fn frame_due(&self) -> Option<Instant> {
        self.frame_due
    }

    /// A frame is being sent.
    pub fn begin_frame(&mut self) {
        self.frame_due = None;
    }

    /// Notes in the file beside the log that somebody has seen everything up to `durable`.
    pub fn note_seen(&mut self, durable: Seq) {
        self.seen_file.put(left_at(durable).to_json());
    }

    /// Waits for the write under way.
    pub async fn rest(&mut self) {
        self.seen_file.rest().await;
    }
}

fn left_at(durable: Seq) -> Left {
    Left {
        since: Stamp::now(),
        seq: durable,
    }
}
