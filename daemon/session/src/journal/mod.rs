//! The log of one session, as its actor uses it: append at once, on disk later, with a notice then. Owns the log file, its index,
//! the records that are not on disk yet, and why it takes no more.
//!
//! The actor never waits for the disk. Pending records are written by one job at a time on a thread that may block;
//! the job reports its end as a `JournalEvent`.

pub(crate) mod catalog_feed;
pub(crate) mod elements;
pub(crate) mod images;
pub(crate) mod sidecar;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::journal::elements::ElementAt;
use crate::reporter::Reporter;
use crate::tasks;
use contract::codec::FragmentRole;
use proto::reset::Piece;
use proto::{Body, ErrorName, Failure, Record, Seq, SessionId};
use store::format::{Envelope, LogLine, encode};
use store::home::Home;
use store::log::{ByteLocation, DiskFailure, LogFile, LogIndex, MessageRole};
use tokio::time::Instant;

pub struct Journal {
    file: Arc<LogFile>,
    index: LogIndex,
    session: SessionId,
    home: Arc<Home>,
    reporter: Reporter<JournalEvent>,
    /// A job is at work.
    busy: bool,
    /// The marker of unfinished work exists.
    marked: bool,
    /// The marker is to be there, or not.
    wanted: bool,
    /// Until then records are only gathered: more of them are about to come.
    gathers_until: Option<Instant>,
    /// Where the elements of resets are in their lines.
    elements: BTreeMap<Seq, Vec<ElementAt>>,
    /// Why nothing is appended any more.
    failed: Option<Closed>,
}

/// The end of a writing job.
pub enum JournalEvent {
    /// Everything up to here is on disk.
    Durable(Seq),
    /// The log takes no more: why, and what failed, if it can be repaired.
    Failed(String, Option<DiskFailure>),
}

/// Why a session can be read, but not be worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    pub cause: Cause,
    /// In words, for people.
    pub reason: String,
    /// The damage by a disk failure, if it may be repaired.
    pub broken: Option<Broken>,
}

/// A log that takes no more, and may again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The last record that is on disk.
    pub upto: Seq,
    pub trouble: DiskFailure,
}

/// The damage to repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A write or a sync failed.
    Disk,
    /// The log is damaged, or holds what this build cannot read.
    Log,
    /// The provider is not configured as it was.
    Provider,
    /// The working directory is gone.
    Directory,
}

/// Detail of a [`Closed::refusal`] whose cause is a full disk.
pub const DISK_FULL: &str = "disk_full";

impl Closed {
    pub fn new(cause: Cause, reason: String) -> Self {
        Self {
            cause,
            reason,
            broken: None,
        }
    }

    /// Closed by the disk, which may take writes again.
    pub fn by_disk(reason: String, broken: Option<Broken>) -> Self {
        Self {
            cause: Cause::Disk,
            reason,
            broken,
        }
    }

    /// Whether it may end without a restart.
    pub fn is_repairable(&self) -> bool {
        match self.cause {
            Cause::Disk => self.broken.is_some(),
            Cause::Provider | Cause::Directory => true,
            Cause::Log => false,
        }
    }

    /// The refusal of what would change something.
    pub fn refusal(&self) -> Failure {
        let message = format!("The session is read-only: {}", self.reason);
        let refusal = Failure::new(self.name(), message, self.hint());
        match self.broken.map(|broken| broken.trouble) {
            Some(DiskFailure::Full) => refusal.with(DISK_FULL, true),
            _ => refusal,
        }
    }

    /// The error that a client gets.
    pub fn name(&self) -> ErrorName {
        match self.cause {
            Cause::Disk | Cause::Log | Cause::Directory => ErrorName::Storage,
            Cause::Provider => ErrorName::InvalidConfig,
        }
    }

    /// What a person can do.
    pub fn hint(&self) -> &'static str {
        match self.cause {
            Cause::Disk if self.broken.is_none() => {
                "The log cannot be repaired automatically: run `reasonix doctor` to check the store."
            }
            Cause::Disk => {
                "Free space or repair the disk: the session continues once its log is writable. Until then it is read-only."
            }
            Cause::Log => {
                "You can still read it with `reasonix logs`. The file is not changed; if a newer version wrote it, use that version."
            }
            Cause::Provider => {
                "Add the provider to the config again, then send a prompt; until then the session is read-only."
            }
            Cause::Directory => {
                "Create the directory again, then try again. Until then the session can be read and exported, and `reasonix run --from SESSION` takes its last answer to another directory."
            }
        }
    }
}

impl Journal {
    pub fn new(
        file: LogFile,
        index: LogIndex,
        session: SessionId,
        home: Arc<Home>,
        marked: bool,
        reporter: Reporter<JournalEvent>,
    ) -> Self {
        Self {
            file: Arc::new(file),
            index,
            session,
            home,
            reporter,
            busy: false,
            marked,
            wanted: marked,
            gathers_until: None,
            elements: BTreeMap::new(),
            failed: None,
        }
    }

    pub fn file(&self) -> &Arc<LogFile> {
        &self.file
    }

    /// The newest record that is on disk.
    pub fn durable(&self) -> Seq {
        self.index.durable()
    }

    /// The newest record that was appended.
    pub fn last(&self) -> Seq {
        self.index.last()
    }

    /// Where the line of a record is.
    pub fn line(&self, seq: Seq) -> Option<ByteLocation> {
        self.index.line(seq)
    }

    /// Why nothing is appended any more, if so.
    pub fn closed(&self) -> Option<&Closed> {
        self.failed.as_ref()
    }

    pub fn is_closed(&self) -> bool {
        self.failed.is_some()
    }

    /// Sets why the session cannot be worked in from its start. `None`: it can be.
    pub fn set_closed(&mut self, closed: Option<Closed>) {
        self.failed = closed;
    }

    /// Appends a record to what will be written. Its `seq` is the next one.
    ///
    /// # Errors
    /// The record cannot be written as JSON: a bug.
    pub fn append(
        &mut self,
        record: &Record,
        own: Option<&str>,
        fragment: Option<&str>,
    ) -> Result<LogLine, serde_json::Error> {
        let data = record.body.to_json()?;
        let line = encode(&Envelope {
            seq: record.seq,
            at: record.at,
            turn: record.turn,
            durable: self.index.durable(),
            kind: record.body.kind(),
            data: &data,
            own,
            fragment,
        });
        self.index
            .push(&line, MessageRole::of_kind(record.body.kind()));
        if matches!(record.body, Body::CacheReset(_))
            && let Ok(raw) = store::format::decode(trimmed(&line))
        {
            self.note_elements(record.seq, elements::elements(&raw));
        }
        Ok(line)
    }

    /// Says whether there is unfinished work, for the marker that start-up looks for.
    pub fn unfinished(&mut self, wanted: bool) {
        self.wanted = wanted;
    }

    /// Whether a marker is still to be made or removed, or records to be written.
    pub fn is_settled(&self) -> bool {
        !self.busy && self.index.durable() == self.index.last()
    }

    /// Records are written so much later, or before that when nothing more is about to come.
    pub fn gather(&mut self, max: Duration) {
        self.gathers_until.get_or_insert(Instant::now() + max);
    }

    /// Records are written at once from now on.
    pub fn gather_no_more(&mut self) {
        self.gathers_until = None;
    }

    /// When gathered records are written at the latest.
    pub fn gathers_until(&self) -> Option<Instant> {
        self.gathers_until
    }

    /// Starts a job for the pending records, unless one is at work or more records are about to come. Returns the newest
    /// record that it writes.
    pub fn flush(&mut self) -> Option<Seq> {
        if self.gathers_until.is_some() {
            return None;
        }
        let batch: Vec<_> = self.index.pending().cloned().collect();
        let mark = (self.wanted && !self.marked).then_some(true);
        // A marker goes only when there is nothing left to write.
        let unmark = (!self.wanted && self.marked && batch.is_empty()).then_some(false);
        let marker = mark.or(unmark);
        if self.busy || self.failed.is_some() || (batch.is_empty() && marker.is_none()) {
            return None;
        }
        let writes = !batch.is_empty();
        self.busy = true;
        if let Some(marked) = marker {
            self.marked = marked;
        }
        let upto = self.index.last();
        let (file, home, session) = (Arc::clone(&self.file), Arc::clone(&self.home), self.session);
        let reporter = self.reporter.clone();
        tasks::spawn_blocking(move || {
            let end = match write(&file, &home, session, marker, &batch) {
                Ok(()) => JournalEvent::Durable(upto),
                Err((reason, trouble)) => JournalEvent::Failed(reason, trouble),
            };
            // The session may end with this, and its log be opened again at once.
            drop(file);
            // The actor may be gone in a forced end; then nobody waits for this.
            reporter.report(end);
        });
        writes.then_some(upto)
    }

    /// Removes the marker of unfinished work, at the end of the session's life in memory.
    pub async fn clear_marker(&mut self) {
        if !std::mem::take(&mut self.marked) {
            return;
        }
        let (home, session) = (Arc::clone(&self.home), self.session);
        let removed = tasks::blocking(move || store::markers::unmark(&home, session)).await;
        if !matches!(removed, Ok(Ok(()))) {
            tracing::warn!(%session, "a marker of unfinished work stays; the session is looked at again at start");
        }
    }

    /// A job has ended: everything up to `upto` is on disk.
    pub fn settled(&mut self, upto: Seq) {
        self.busy = false;
        self.index.mark_durable(upto);
    }

    /// A job has failed. Nothing is tried again: what an fsync lost cannot be known (I16).
    pub fn fail(&mut self, reason: String, trouble: Option<DiskFailure>) {
        self.busy = false;
        let upto = self.index.durable();
        let broken = trouble.map(|trouble| Broken { upto, trouble });
        self.failed.get_or_insert(Closed::by_disk(reason, broken));
    }

    /// Whether the marker of unfinished work is there.
    pub fn is_marked(&self) -> bool {
        self.marked
    }

    /// Why it is read-only, in words.
    pub fn read_only(&self) -> Option<String> {
        self.failed.as_ref().map(|closed| closed.reason.clone())
    }

    /// Where the messages are of a request that is made from these pieces.
    pub fn parts(&self, pieces: &[Piece]) -> Vec<MessageAt> {
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Run(first, last) => parts.extend(self.run(*first, *last)),
                Piece::Element { reset, element } => parts.extend(self.element(*reset, *element)),
            }
        }
        parts
    }

    fn run(&self, first: Seq, last: Seq) -> impl Iterator<Item = MessageAt> + '_ {
        let messages = self.index.fragments(first, last).enumerate();
        messages.filter_map(|(place, (seq, tag, fragment))| {
            Some(MessageAt {
                follows: place > 0,
                piece: Piece::Run(seq, seq),
                role: role(tag),
                fragment,
                line: self.index.line(seq)?,
            })
        })
    }

    fn element(&self, reset: Seq, element: u32) -> Option<MessageAt> {
        let place = usize::try_from(element).ok()?;
        let at = self.elements.get(&reset)?.get(place)?;
        Some(MessageAt {
            follows: false,
            piece: Piece::Element { reset, element },
            role: at.role,
            fragment: self.index.line_range(reset, at.fragment.clone())?,
            line: self.index.line(reset)?,
        })
    }

    /// Notes where the elements of a reset are in its line.
    pub fn note_elements(&mut self, reset: Seq, elements: Vec<ElementAt>) {
        if !elements.is_empty() {
            self.elements.insert(reset, elements);
        }
    }
}

/// A line as it is read: without its newline.
fn trimmed(line: &LogLine) -> &[u8] {
    line.bytes.strip_suffix(b"\n").unwrap_or(&line.bytes)
}

fn role(tag: MessageRole) -> FragmentRole {
    match tag {
        MessageRole::User => FragmentRole::User,
        MessageRole::Assistant => FragmentRole::Assistant,
        MessageRole::Tool => FragmentRole::Tool,
    }
}

/// Where a message of a request is.
#[derive(Clone, Debug)]
pub struct MessageAt {
    pub piece: Piece,
    pub role: FragmentRole,
    pub fragment: ByteLocation,
    /// In the log no other message is between it and the one before it.
    pub follows: bool,
    /// The whole line of its record, or of the reset that it is an element of.
    pub line: ByteLocation,
}

fn write(
    file: &LogFile,
    home: &Home,
    session: SessionId,
    marker: Option<bool>,
    batch: &[Arc<[u8]>],
) -> Result<(), (String, Option<DiskFailure>)> {
    if marker == Some(true) {
        // The log was not touched.
        let untouched = |error| {
            let full = store::is_full(&error);
            let failure = if full {
                DiskFailure::Full
            } else {
                DiskFailure::Write
            };
            (store::reason(&error), Some(failure))
        };
        store::markers::mark(home, session).map_err(untouched)?;
    }
    if !batch.is_empty() {
        file.append(batch)
            .map_err(|error| (store::reason(&error), error.disk_failure()))?;
    }
    if marker == Some(false)
        && let Err(error) = store::markers::unmark(home, session)
    {
        tracing::warn!(%session, %error, "a marker of unfinished work stays; the session is looked at again at start");
    }
    Ok(())
}
