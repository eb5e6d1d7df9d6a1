//! The format of a log line: the envelope of a record, the order of its members, and the checksum.
//!
//! Pure. Treats `data` as opaque JSON. Called by `log`, and by callers that append or read records.

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

/// The longest line that is written or read, including its newline: 64 MiB. Bounds the memory of
/// readers. Real lines are much shorter, because large content goes into blobs.
pub const LINE_MAX: usize = 64 * 1024 * 1024;

/// The parts of a line. `data`, `own` and `fragment` are already JSON.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    pub seq: Seq,
    pub at: Stamp,
    pub turn: Option<u64>,
    /// The last record known to be on disk when this one is created. Always below `seq`.
    pub durable: Seq,
    pub kind: &'a str,
    pub data: &'a str,
    pub own: Option<&'a str>,
    /// Comma-joined elements, without the brackets around them.
    pub fragment: Option<&'a str>,
}

/// A finished line, with the positions of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub seq: Seq,
    /// Includes the newline.
    pub bytes: Arc<[u8]>,
    pub data: Range<usize>,
    /// Position of the fragment, without the brackets.
    pub fragment: Option<Range<usize>>,
}

/// Writes a line. The order of members is part of the format.
#[must_use]
pub fn encode(envelope: &Envelope<'_>) -> LogLine {
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
    LogLine {
        seq: *seq,
        bytes: text.into_bytes().into(),
        data,
        fragment,
    }
}

fn suffix(crc: u32) -> String {
    format!("{CRC_HEAD}{crc:08x}{CRC_TAIL}")
}

/// Turns these bytes into a line with its checksum, without a newline.
#[cfg(any(test, fuzzing))]
pub(crate) fn with_checksum(covered: &[u8]) -> Vec<u8> {
    [covered, suffix(crc32c::crc32c(covered)).as_bytes()].concat()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Copies JSON onto one line. A raw line break can only be between tokens, so a space can replace
/// it.
fn push_json(text: &mut String, json: &str) -> Range<usize> {
    let start = text.len();
    if json.bytes().any(|byte| matches!(byte, b'\n' | b'\r')) {
        text.push_str(&json.replace(['\n', '\r'], " "));
    } else {
        text.push_str(json);
    }
    start..text.len()
}

/// Why a line is invalid.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("the line does not end in a checksum")]
    NoChecksum,
    #[error("the checksum does not match")]
    Checksum,
    #[error("the line is not UTF-8")]
    NotUtf8,
    #[error("the line is not a record")]
    NotARecord(#[source] serde_json::Error),
    #[error("the time of the record is invalid")]
    NotATime,
    #[error("the fragment is not an array")]
    NotAFragment,
}

/// A record whose envelope is parsed, and whose data is not.
#[derive(Clone, Debug)]
pub struct RawRecord<'a> {
    pub seq: Seq,
    pub at: Stamp,
    pub turn: Option<u64>,
    pub durable: Seq,
    pub kind: Cow<'a, str>,
    pub data: &'a RawValue,
    pub own: Option<&'a RawValue>,
    /// Includes the brackets, unlike `fragment_range`.
    pub fragment: Option<&'a RawValue>,
    line: &'a str,
}

impl<'a> RawRecord<'a> {
    /// The line without its newline.
    #[must_use]
    pub fn line(&self) -> &'a str {
        self.line
    }

    /// Position of `data` in the line.
    #[must_use]
    pub fn data_range(&self) -> Range<usize> {
        self.range_of(self.data)
    }

    /// Position of the fragment in the line, without its brackets.
    #[must_use]
    pub fn fragment_range(&self) -> Option<Range<usize>> {
        let range = self.range_of(self.fragment?);
        Some(range.start + 1..range.end - 1)
    }

    /// Position in the line of a value that was parsed from it.
    ///
    /// # Panics
    /// The value was not parsed from this line: a bug of the caller.
    #[must_use]
    pub fn range_within(&self, value: &RawValue) -> Range<usize> {
        let range = self.range_of(value);
        assert!(range.end <= self.line.len(), "the value is in the line");
        range
    }

    /// The fragment without its brackets.
    #[must_use]
    pub fn fragment_text(&self) -> Option<&'a str> {
        let text = self.fragment?.get();
        Some(&text[1..text.len() - 1])
    }

    /// Parses the data according to the record's kind.
    ///
    /// # Errors
    /// The data of a known kind does not have the form of that kind.
    pub fn record(&self) -> Result<Record, serde_json::Error> {
        Ok(Record {
            seq: self.seq,
            at: self.at,
            turn: self.turn,
            body: Body::decode(&self.kind, self.data)?,
        })
    }

    /// Raw values borrow from the line, so the difference of the addresses is the position.
    fn range_of(&self, value: &RawValue) -> Range<usize> {
        let start = value.get().as_ptr().addr() - self.line.as_ptr().addr();
        start..start + value.get().len()
    }
}

/// The members as written. Unknown members are ignored.
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

/// Parses the envelope of a line without its newline. The caller checks that `seq` follows the
/// previous record.
///
/// # Errors
/// The checksum does not match, or the line is not a record.
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
