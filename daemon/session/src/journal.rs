//! The log of one session, as its actor uses it: append at once, on disk later, told when.
//!
//! The actor never waits for the disk. What has gathered is written by one job at a time on a thread that may block;
//! the job's end comes back as `Happened::Durable`.

use std::sync::Arc;

use contract::codec::FragmentRole;
use proto::{ErrorName, Record, Seq, SessionId};
use store::format::{Envelope, Line, encode};
use store::home::Home;
use store::log::{Index, LogFile, Tag, Trouble, Where};
use tokio::sync::mpsc::UnboundedSender;

use crate::commands::Happened;

pub struct Journal {
    pub file: Arc<LogFile>,
    pub index: Index,
    session: SessionId,
    home: Arc<Home>,
    happened: UnboundedSender<Happened>,
    /// A job is at work.
    busy: bool,
    /// The marker of unfinished work exists.
    marked: bool,
    /// The marker is to be there, or not.
    wanted: bool,
    /// Why nothing is appended any more.
    pub failed: Option<Closed>,
}

/// Why a session can be read, but not be worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    pub cause: Cause,
    /// In words, for people.
    pub reason: String,
    /// What a disk broke, where it may be mended.
    pub broken: Option<Broken>,
}

/// A log that takes no more, and may again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The last record that is on disk.
    pub upto: Seq,
    pub trouble: Trouble,
}

/// What has to be mended.
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
    pub fn mendable(&self) -> bool {
        match self.cause {
            Cause::Disk => self.broken.is_some(),
            Cause::Provider | Cause::Directory => true,
            Cause::Log => false,
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
                "The log cannot be mended from here: `reasonix doctor` tells what is wrong with the store."
            }
            Cause::Disk => {
                "It goes on by itself when its log can be written again: free space, or mend the disk. It can be read meanwhile."
            }
            Cause::Log => {
                "It can still be read: `reasonix logs` shows it. The file is kept as it is; where a newer build wrote it, that one can read on."
            }
            Cause::Provider => {
                "Add the provider again in the config, and prompt again; the session can still be read."
            }
            Cause::Directory => {
                "Make the directory again, and prompt again; the session can still be read."
            }
        }
    }
}

impl Journal {
    pub fn new(
        file: LogFile,
        index: Index,
        session: SessionId,
        home: Arc<Home>,
        marked: bool,
        happened: UnboundedSender<Happened>,
    ) -> Self {
        Self {
            file: Arc::new(file),
            index,
            session,
            home,
            happened,
            busy: false,
            marked,
            wanted: marked,
            failed: None,
        }
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
    ) -> Result<Line, serde_json::Error> {
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
        self.index.push(&line, Tag::of_kind(record.body.kind()));
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

    /// Starts a job for what has gathered, unless one is at work.
    pub fn flush(&mut self) {
        let batch: Vec<_> = self.index.pending().cloned().collect();
        let mark = (self.wanted && !self.marked).then_some(true);
        // A marker goes only when there is nothing left to write.
        let unmark = (!self.wanted && self.marked && batch.is_empty()).then_some(false);
        let marker = mark.or(unmark);
        if self.busy || self.failed.is_some() || (batch.is_empty() && marker.is_none()) {
            return;
        }
        self.busy = true;
        if let Some(marked) = marker {
            self.marked = marked;
        }
        let upto = self.index.last();
        let (file, home, session) = (Arc::clone(&self.file), Arc::clone(&self.home), self.session);
        let happened = self.happened.clone();
        tokio::task::spawn_blocking(move || {
            let end = match write(&file, &home, session, marker, &batch) {
                Ok(()) => Happened::Durable(upto),
                Err((reason, trouble)) => Happened::WriteFailed(reason, trouble),
            };
            // The session may end with this, and its log be opened again at once.
            drop(file);
            // The actor may be gone in a forced end; then nobody waits for this.
            let _ = happened.send(end);
        });
    }

    /// Removes the marker of unfinished work, at the end of the session's life in memory.
    pub async fn clear_marker(&mut self) {
        if !std::mem::take(&mut self.marked) {
            return;
        }
        let (home, session) = (Arc::clone(&self.home), self.session);
        let removed =
            tokio::task::spawn_blocking(move || store::markers::unmark(&home, session)).await;
        if !matches!(removed, Ok(Ok(()))) {
            tracing::warn!(%session, "a marker of unfinished work stays; the session is looked at again at start");
        }
    }

    /// A job has ended: everything up to `upto` is on disk.
    pub fn settled(&mut self, upto: Seq) {
        self.busy = false;
        self.index.settle(upto);
    }

    /// A job has failed. Nothing is tried again: what an fsync lost cannot be known (I16).
    pub fn fail(&mut self, reason: String, trouble: Option<Trouble>) {
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

    /// Where the fragments of a request stand that is made from these runs of records.
    pub fn fragments(&self, runs: &[(Seq, Seq)]) -> Vec<(FragmentRole, Where)> {
        let upto = runs.last().map_or(Seq(0), |(_, last)| *last);
        let mut runs = runs.iter().peekable();
        let role = |tag| match tag {
            Tag::User => FragmentRole::User,
            Tag::Assistant => FragmentRole::Assistant,
            Tag::Tool => FragmentRole::Tool,
        };
        self.index
            .fragments_up_to(upto)
            .filter(|(seq, _, _)| {
                while runs.next_if(|(_, last)| last < seq).is_some() {}
                runs.peek().is_some_and(|(first, _)| first <= seq)
            })
            .map(|(_, tag, at)| (role(tag), at))
            .collect()
    }
}

fn write(
    file: &LogFile,
    home: &Home,
    session: SessionId,
    marker: Option<bool>,
    batch: &[Arc<[u8]>],
) -> Result<(), (String, Option<Trouble>)> {
    if marker == Some(true) {
        // The log was not touched.
        let untouched = |error| (store::reason(&error), Some(Trouble::Write));
        store::markers::mark(home, session).map_err(untouched)?;
    }
    if !batch.is_empty() {
        file.append(batch)
            .map_err(|error| (store::reason(&error), error.trouble()))?;
    }
    if marker == Some(false)
        && let Err(error) = store::markers::unmark(home, session)
    {
        tracing::warn!(%session, %error, "a marker of unfinished work stays; the session is looked at again at start");
    }
    Ok(())
}
