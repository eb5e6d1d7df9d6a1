//! Reads what came to a log since it was last read: its messages, and what hides them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use proto::params::history::MessageRole;
use proto::{Body, Seq, Stamp};
use sha2::{Digest, Sha256};
use store::format::{RawRecord, decode};
use store::home::Home;
use store::log::{LOG_NAME, LogPosition};

use crate::database::IndexError;
use crate::words::segmented;

/// Bytes that identify the place before which a log was read: the end of a line, with its checksum.
const TAIL: usize = 20;

/// The number of a role in the database.
pub(crate) fn role_number(role: MessageRole) -> i64 {
    match role {
        MessageRole::User => 0,
        MessageRole::Assistant => 1,
        MessageRole::Tool => 2,
    }
}

/// The role that `role_number` wrote.
pub(crate) fn role_of(number: i64) -> MessageRole {
    match number {
        0 => MessageRole::User,
        1 => MessageRole::Assistant,
        _ => MessageRole::Tool,
    }
}

/// A message with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) seq: Seq,
    pub(crate) turn: Option<u64>,
    pub(crate) at: Stamp,
    pub(crate) role: MessageRole,
    pub(crate) start: u64,
    pub(crate) length: u64,
    pub(crate) same: i64,
    pub(crate) words: String,
}

/// What the index takes from a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The first record.
    Created {
        pid: u64,
        root: String,
        epoch: u64,
    },
    Message(Box<Message>),
    /// A rewind: of the messages before it these runs are shown.
    Shown {
        seq: Seq,
        runs: Vec<(Seq, Seq)>,
    },
}

/// Up to where a log was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogMark {
    pub(crate) position: LogPosition,
    /// The bytes before that place.
    pub(crate) tail: String,
}

impl LogMark {
    /// A last line without its end has no tail: then the mark does not fit, and the log is read again.
    pub(crate) fn at(dir: &Path, position: LogPosition) -> Self {
        Self {
            tail: read_tail(dir, position.end).unwrap_or_default(),
            position,
        }
    }

    /// Whether the log still has what was read of it.
    pub(crate) fn fits(&self, dir: &Path) -> bool {
        self.position.end == 0
            || read_tail(dir, self.position.end).is_some_and(|tail| tail == self.tail)
    }
}

fn read_tail(dir: &Path, end: u64) -> Option<String> {
    let start = end.checked_sub(TAIL as u64)?;
    let mut bytes = [0; TAIL];
    let file = File::open(dir.join(LOG_NAME)).ok()?;
    file.read_exact_at(&mut bytes, start).ok()?;
    // The end of a line, so a whole one lies before this place.
    (bytes.last() == Some(&b'\n')).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a log from a mark on, up to and including `upto`. Calls `take` for each entry with the place after its record;
/// returns the new mark.
///
/// # Errors
/// The log cannot be read.
pub(crate) fn read(
    dir: &Path,
    from: &LogMark,
    upto: Seq,
    take: &mut dyn FnMut(Entry, LogPosition),
) -> Result<LogMark, IndexError> {
    let mut reached = from.position;
    let read = store::log::tail(dir, from.position, upto, &mut |raw| {
        let start = reached.end;
        let length = raw.line().len() as u64;
        reached = LogPosition {
            seq: raw.seq,
            end: start + length + 1,
        };
        if let Some(entry) = entry(raw, start, length) {
            take(entry, reached);
        }
    })?;
    if read.is_none() || reached.seq == from.position.seq {
        return Ok(from.clone());
    }
    Ok(LogMark::at(dir, reached))
}

fn entry(raw: &RawRecord<'_>, start: u64, length: u64) -> Option<Entry> {
    if raw.kind == "session.created" {
        let Ok(Body::SessionCreated(created)) = raw.record().map(|record| record.body) else {
            return None;
        };
        return Some(Entry::Created {
            pid: created.pid.0,
            root: created.root,
            epoch: created.epoch,
        });
    }
    if raw.kind == "session.rewound" {
        let Ok(Body::SessionRewound(rewound)) = raw.record().map(|record| record.body) else {
            return None;
        };
        let seq = raw.seq;
        return rewound.shown.map(|runs| Entry::Shown { seq, runs });
    }
    let (role, text) = message(raw)?;
    if text.trim().is_empty() {
        return None;
    }
    Some(Entry::Message(Box::new(Message {
        seq: raw.seq,
        turn: raw.turn,
        at: raw.at,
        role,
        start,
        length,
        same: identity(raw, role, &text),
        words: segmented(&text),
    })))
}

/// The role and the text of a message. `None`: it is none, or not one of the user, the model or a tool.
fn message(raw: &RawRecord<'_>) -> Option<(MessageRole, String)> {
    if !raw.kind.starts_with("message.") {
        return None;
    }
    match raw.record().ok()?.body {
        Body::User(message) if message.voice.is_user() => Some((MessageRole::User, message.text)),
        Body::Assistant(message) => Some((MessageRole::Assistant, message.text)),
        Body::Tool(message) => Some((MessageRole::Tool, message.text)),
        _ => None,
    }
}

/// A number that a message shares with its copies in forks: those have its time, its turn and its text.
fn identity(raw: &RawRecord<'_>, role: MessageRole, text: &str) -> i64 {
    let mut hash = Sha256::new();
    hash.update(role_number(role).to_le_bytes());
    hash.update(raw.at.0.to_le_bytes());
    hash.update(raw.turn.unwrap_or(0).to_le_bytes());
    hash.update(text);
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_le_bytes(first)
}

/// The text of a message at its place in the log. `None`: the log has another record there.
pub(crate) fn text_at(
    home: &Home,
    session: proto::SessionId,
    seq: Seq,
    start: u64,
    length: u64,
) -> Option<String> {
    let file = File::open(home.session_dir(session).join(LOG_NAME)).ok()?;
    let length = usize::try_from(length).ok()?;
    if length > store::format::LINE_MAX {
        return None;
    }
    let mut line = vec![0; length];
    file.read_exact_at(&mut line, start).ok()?;
    let raw = decode(&line).ok().filter(|raw| raw.seq == seq)?;
    message(&raw).map(|(_, text)| text)
}
