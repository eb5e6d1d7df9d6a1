//! The log of a fork in the making: records of the origin as they are, and its own states between them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use proto::outcome::UsageTotals;
use proto::record::{SessionCreated, SessionSet, SessionState};
use proto::state::State;
use proto::{Body, Pid, Seq, SessionOptions, Stamp};
use store::blob::{BlobId, BlobStore};
use store::format::{Envelope, RawRecord, encode};
use store::log::LogFile;
use turn::Facts;

use super::rebuilt::Rebuilt;
use crate::context::prefix::FrozenPrefix;

/// Bytes that are written at once: 8 MiB.
const BATCH: usize = 8 * 1024 * 1024;

/// The log of a fork in the making.
pub struct Copy {
    file: LogFile,
    from: BlobStore,
    to: BlobStore,
    seq: Seq,
    batch: Vec<Arc<[u8]>>,
    bytes: usize,
    /// A turn has ended, and that the session rests then is not said yet.
    rests: Option<Stamp>,
    /// Where the messages of the origin are in the new log.
    placed: BTreeMap<Seq, Seq>,
    /// Blobs that are there already.
    linked: BTreeSet<BlobId>,
    /// The first failure: nothing is written after it.
    failed: Option<String>,
}

impl Copy {
    pub fn new(file: LogFile, from: std::path::PathBuf, to: &Path) -> Self {
        Self {
            file,
            from: BlobStore::new(&from),
            to: BlobStore::new(to),
            seq: Seq(0),
            batch: Vec::new(),
            bytes: 0,
            rests: None,
            placed: BTreeMap::new(),
            linked: BTreeSet::new(),
            failed: None,
        }
    }

    pub fn first(&mut self, created: &SessionCreated, frozen: &FrozenPrefix) -> Result<(), String> {
        let data = json(&Body::SessionCreated(created.clone()))?;
        let own = serde_json::to_string(frozen)
            .map_err(|error| format!("the prefix cannot be written as JSON: {error}"))?;
        self.put(
            Stamp::now(),
            None,
            ("session.created", &data),
            Some(&own),
            None,
        );
        Ok(())
    }

    pub fn take(&mut self, raw: &RawRecord<'_>) {
        let data = match unpaid(raw) {
            Ok(data) => data,
            Err(reason) => {
                self.failed.get_or_insert(reason);
                return;
            }
        };
        let data = data.as_deref().unwrap_or(raw.data.get());
        self.link(data);
        let begins = raw.kind == "turn.started";
        if begins && let Some(at) = self.rests.take() {
            self.state(at, None, State::Idle, "turn ended");
        }
        self.put(
            raw.at,
            raw.turn,
            (&raw.kind, data),
            None,
            raw.fragment_text(),
        );
        if raw.fragment.is_some() {
            self.placed.insert(raw.seq, self.seq);
        }
        // Its own states: those of the origin report pauses, exits and questions that the fork does not have.
        if begins {
            self.state(raw.at, raw.turn, State::Running, "prompt");
        } else if raw.kind == "turn.ended" {
            self.rests = Some(raw.at);
        }
    }

    fn state(&mut self, at: Stamp, turn: Option<u64>, state: State, cause: &str) {
        let state = json(&Body::SessionState(SessionState {
            state,
            waiting_for: None,
            cause: cause.to_owned(),
            retry_in_ms: None,
        }));
        match state {
            Ok(state) => self.put(at, turn, ("session.state", &state), None, None),
            Err(reason) => {
                self.failed.get_or_insert(reason);
            }
        }
    }

    /// A cache reset of the origin: the one whose base is in force is written again, with the parts of earlier ones that it names.
    pub fn reset(&mut self, base: &mut Rebuilt, raw: &RawRecord<'_>) {
        base.note(raw);
        if raw.seq != base.seq {
            return;
        }
        match base.written(raw, &self.placed) {
            Ok((data, own)) => {
                let kind = ("cache.reset", data.as_str());
                self.put(raw.at, raw.turn, kind, Some(&own), None);
            }
            Err(reason) => {
                self.failed.get_or_insert(reason);
            }
        }
    }

    /// The model that is asked next, if that is not the one asked last.
    pub fn asks(&mut self, facts: &Facts) {
        if facts.wire.is_asked_by(&facts.options) {
            return;
        }
        let set = json(&Body::SessionSet(SessionSet {
            options: SessionOptions {
                model: facts.options.model.clone(),
                effort: Some(facts.options.effort.clone().unwrap_or_default()),
                ..SessionOptions::default()
            },
            ..SessionSet::default()
        }));
        match set {
            Ok(set) => self.put(Stamp::now(), None, ("session.set", &set), None, None),
            Err(reason) => {
                self.failed.get_or_insert(reason);
            }
        }
    }

    /// The session rests, and everything is on disk.
    pub fn finish(mut self, created: &SessionCreated) -> Result<(), String> {
        let (pid, turn) = created
            .origin
            .as_ref()
            .map_or((Pid(0), 0), |origin| (origin.pid, origin.turn));
        let cause = format!("forked from {pid} at turn {turn}");
        self.state(Stamp::now(), None, State::Idle, &cause);
        self.flush();
        self.failed.map_or(Ok(()), Err)
    }

    fn put(
        &mut self,
        at: Stamp,
        turn: Option<u64>,
        (kind, data): (&str, &str),
        own: Option<&str>,
        fragment: Option<&str>,
    ) {
        self.seq = self.seq.next();
        let line = encode(&Envelope {
            seq: self.seq,
            at,
            turn,
            // All of it becomes known at once.
            durable: Seq(0),
            kind,
            data,
            own,
            fragment,
        });
        self.bytes += line.bytes.len();
        self.batch.push(line.bytes);
        if self.bytes >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        if self.failed.is_none()
            && let Err(error) = self.file.append(&batch)
        {
            self.failed = Some(store::reason(&error));
        }
    }

    /// Files that a record names are linked beside the new log too.
    fn link(&mut self, data: &str) {
        for id in blob_ids(data) {
            if self.linked.contains(&id) || self.from.len(id).is_err() {
                continue;
            }
            match self.to.adopt(&self.from, id) {
                Ok(()) => {
                    self.linked.insert(id);
                }
                Err(error) => {
                    self.failed.get_or_insert(store::reason(&error));
                }
            }
        }
    }
}

/// The end of a turn without what the turn used: that was used by the origin, and counts there. `None`: as it is.
fn unpaid(raw: &RawRecord<'_>) -> Result<Option<String>, String> {
    if raw.kind != "turn.ended" {
        return Ok(None);
    }
    let record = raw.record().map_err(|error| error.to_string())?;
    match record.body {
        Body::TurnEnded(mut ended) => {
            ended.usage = UsageTotals::default();
            json(&Body::TurnEnded(ended)).map(Some)
        }
        _ => Ok(None),
    }
}

/// All that could name a blob: 64 hexadecimal digits.
fn blob_ids(data: &str) -> Vec<BlobId> {
    data.split(|letter: char| !letter.is_ascii_hexdigit())
        .filter(|word| word.len() == 64)
        .filter_map(|word| BlobId::from_str(word).ok())
        .collect()
}

fn json(body: &Body) -> Result<String, String> {
    body.to_json()
        .map_err(|error| format!("a record cannot be written as JSON: {error}"))
}
