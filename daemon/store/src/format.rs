//! The line of a log: the envelope of a record, its order of members, and its checksum.
//!
//! Pure. Knows nothing of files, and of `data` only that it is JSON. Called by `log`, and by whoever
//! appends records or reads them back.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use proto::{Body, Record, Seq, Stamp};
use serde::Deserialize;
use serde_json::value::RawValue;

/// `,"crc":"` + 8 digits + `"}`.
const SUFFIX_LEN: usize = CRC_HEAD.len() + 8 + CRC_TAIL.len();
const CRC_HEAD: &str = ",\"crc\":\"";
const CRC_TAIL: &str = "\"}";

/// The longest line that is written or read, with its newline: 64 MiB. Bounds the memory of reading;
/// real lines stay far below, because what is large stands in blobs.
pub const LINE_MAX: usize = 64 * 1024 * 1024;

/// What a line is made of. `data`, `own` and `fragment` are JSON already.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    pub seq: Seq,
    pub at: Stamp,
    pub turn: Option<u64>,
    /// The last record known to be on disk when this one is made. Always below `seq`.
    pub durable: Seq,
    pub kind: &'a str,
    pub data: &'a str,
    pub own: Option<&'a str>,
    /// Comma-joined elements, without the brackets around them.
    pub fragment: Option<&'a str>,
}

/// A finished line, and where its parts stand in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub seq: Seq,
    /// With the newline.
    pub bytes: Arc<[u8]>,
    pub data: Range<usize>,
    /// Without the brackets.
    pub fragment: Option<Range<usize>>,
}

/// Writes a line. The order of members is part of the format.
#[must_use]
pub fn encode(envelope: &Envelope<'_>) -> Line {
    let Envelope {
        seq, at, durable, ..
    } = envelope;
    let turn = envelope
        .turn
        .map_or_else(|| "null".to_owned(), |turn| turn.to_string());
    let kind = quoted(envelope.kind);
    let mut text = format!(
        r#"{{"seq":{seq},"at":"{at}","turn":{turn},"durable":{durable},"kind":{kind},"data":"#
    );
    let own_len = envelope.own.map_or(0, |own| own.len() + 7);
    let fragment_len = envelope.fragment.map_or(0, |fragment| fragment.len() + 14);
    text.reserve_exact(envelope.data.len() + own_len + fragment_len + SUFFIX_LEN + 1);

    let data = push_json(&mut text, envelope.data);
    if let Some(own) = envelope.own {
        text.push_str(",\"own\":");
        push_json(&mut text, own);
    }
    let fragment = envelope.fragment.map(|fragment| {
        text.push_str(",\"fragment\":[");
        let range = push_json(&mut text, fragment);
        text.push(']');
        range
    });
    let crc = crc32c::crc32c(text.as_bytes());
    text.push_str(&suffix(crc));
    text.push('\n');
    Line {
        seq: *seq,
        bytes: text.into_bytes().into(),
        data,
        fragment,
    }
}

fn suffix(crc: u32) -> String {
    format!("{CRC_HEAD}{crc:08x}{CRC_TAIL}")
}

/// These bytes as a line without its newline, with the checksum that they have.
#[cfg(any(test, fuzzing))]
pub(crate) fn summed(covered: &[u8]) -> Vec<u8> {
    [covered, suffix(crc32c::crc32c(covered)).as_bytes()].concat()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Copies JSON, kept on one line: a raw line break can only stand between tokens, where a blank means
/// the same.
fn push_json(text: &mut String, json: &str) -> Range<usize> {
    let start = text.len();
    if json.bytes().any(|byte| matches!(byte, b'\n' | b'\r')) {
        text.push_str(&json.replace(['\n', '\r'], " "));
    } else {
        text.push_str(json);
    }
    start..text.len()
}

/// Why a line does not count.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("the line does not end in a checksum")]
    NoChecksum,
    #[error("the checksum does not fit")]
    Checksum,
    #[error("the line is not UTF-8")]
    NotUtf8,
    #[error("the line is not a record")]
    NotARecord(#[source] serde_json::Error),
    #[error("the time of the record is none")]
    NotATime,
    #[error("the fragment is not an array")]
    NotAFragment,
}

/// A record whose envelope has been read; what it says has not.
#[derive(Clone, Debug)]
pub struct RawRecord<'a> {
    pub seq: Seq,
    pub at: Stamp,
    pub turn: Option<u64>,
    pub durable: Seq,
    pub kind: Cow<'a, str>,
    pub data: &'a RawValue,
    pub own: Option<&'a RawValue>,
    /// With the brackets; `fragment_range` is without.
    pub fragment: Option<&'a RawValue>,
    line: &'a str,
}

impl<'a> RawRecord<'a> {
    /// The line that was read, without its newline.
    #[must_use]
    pub fn line(&self) -> &'a str {
        self.line
    }

    /// Where `data` stands in the line.
    #[must_use]
    pub fn data_range(&self) -> Range<usize> {
        self.range_of(self.data)
    }

    /// Where the fragment stands in the line, without its brackets.
    #[must_use]
    pub fn fragment_range(&self) -> Option<Range<usize>> {
        let range = self.range_of(self.fragment?);
        Some(range.start + 1..range.end - 1)
    }

    /// Where a value that was read from this line stands in it.
    ///
    /// # Panics
    /// It was not read from this line: a bug of the caller.
    #[must_use]
    pub fn range_within(&self, value: &RawValue) -> Range<usize> {
        let range = self.range_of(value);
        assert!(range.end <= self.line.len(), "it is a part of the line");
        range
    }

    /// The fragment without its brackets.
    #[must_use]
    pub fn fragment_text(&self) -> Option<&'a str> {
        let text = self.fragment?.get();
        Some(&text[1..text.len() - 1])
    }

    /// Reads what the record says, by its kind.
    ///
    /// # Errors
    /// The data of a known kind is not of that kind's form.
    pub fn record(&self) -> Result<Record, serde_json::Error> {
        Ok(Record {
            seq: self.seq,
            at: self.at,
            turn: self.turn,
            body: Body::decode(&self.kind, self.data)?,
        })
    }

    /// Raw values borrow from the line, so the distance of the addresses is the place in it.
    fn range_of(&self, value: &RawValue) -> Range<usize> {
        let start = value.get().as_ptr().addr() - self.line.as_ptr().addr();
        start..start + value.get().len()
    }
}

/// The members as they stand; what is not named here is passed over.
#[derive(Deserialize)]
struct Members<'a> {
    seq: Seq,
    #[serde(borrow)]
    at: Cow<'a, str>,
    turn: Option<u64>,
    durable: Seq,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(borrow, default)]
    own: Option<&'a RawValue>,
    #[serde(borrow, default)]
    fragment: Option<&'a RawValue>,
}

/// Reads the envelope of a line without its newline. Whether `seq` follows on is for the caller to see.
///
/// # Errors
/// The checksum does not fit, or the line is no record.
pub fn decode(line: &[u8]) -> Result<RawRecord<'_>, LineError> {
    let Some(covered) = line.len().checked_sub(SUFFIX_LEN) else {
        return Err(LineError::NoChecksum);
    };
    let (covered, found) = line.split_at(covered);
    if !found.starts_with(CRC_HEAD.as_bytes()) || !found.ends_with(CRC_TAIL.as_bytes()) {
        return Err(LineError::NoChecksum);
    }
    if found != suffix(crc32c::crc32c(covered)).as_bytes() {
        return Err(LineError::Checksum);
    }
    let line = std::str::from_utf8(line).map_err(|_| LineError::NotUtf8)?;
    let members: Members<'_> = serde_json::from_str(line).map_err(LineError::NotARecord)?;
    if let Some(fragment) = members.fragment
        && !(fragment.get().starts_with('[') && fragment.get().ends_with(']'))
    {
        return Err(LineError::NotAFragment);
    }
    Ok(RawRecord {
        seq: members.seq,
        at: members.at.parse().map_err(|_| LineError::NotATime)?,
        turn: members.turn,
        durable: members.durable,
        kind: members.kind,
        data: members.data,
        own: members.own,
        fragment: members.fragment,
        line,
    })
}

#[cfg(test)]
mod tests;
