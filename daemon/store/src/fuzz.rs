//! Properties of log reading that hold for any bytes: a fuzz target, see `tests/fuzz/README.md`.

use proto::Seq;
use serde_json::value::RawValue;

use crate::format::{self, RawRecord};
use crate::log::scan;

/// Reads a log: reading stops at the first invalid line, and everything before it is a valid log.
/// Lines that begin with `!` are used without the `!`. All others get a valid checksum.
pub fn log(data: &[u8]) {
    let mut bytes = Vec::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        match line {
            [b'!', raw @ ..] => bytes.extend_from_slice(raw),
            line => {
                let whole = line.strip_suffix(b"\n");
                bytes.extend(format::with_checksum(whole.unwrap_or(line)));
                bytes.extend(whole.map(|_| b'\n'));
            }
        }
    }
    let mut seen = Seq(0);
    let scanned = scan(bytes.as_slice(), &mut |record| {
        assert_eq!(record.seq, seen.next());
        seen = record.seq;
        check(record);
    });
    let scanned = scanned.expect("bytes in memory");
    assert_eq!((scanned.last, scanned.len), (seen, bytes.len() as u64));
    assert_eq!(scanned.invalid.is_none(), scanned.end == scanned.len);
    assert!(!(scanned.torn() && scanned.damaged()));
    let valid = usize::try_from(scanned.end).expect("the length fits memory");
    let again = scan(&bytes[..valid], &mut |_| {}).expect("bytes in memory");
    assert_eq!(
        (again.last, again.end, again.invalid),
        (scanned.last, scanned.end, None)
    );
}

/// Writing a parsed record and parsing it again yields the same record.
fn check(record: &RawRecord<'_>) {
    let line = record.line();
    assert_eq!(&line[record.data_range()], record.data.get());
    let fragment = record.fragment_range().map(|range| &line[range]);
    assert_eq!(fragment, record.fragment_text());
    let Ok(read) = record.record() else { return };
    let written = read.body.to_json().expect("records are JSON");
    let data = RawValue::from_string(written.clone()).expect("records are JSON");
    let again = proto::Body::decode(read.body.kind(), &data).expect("what was written is read");
    assert_eq!(again.to_json().expect("records are JSON"), written);
}

#[cfg(test)]
#[path = "../../../tests/fuzz/seeds.rs"]
mod seeds;

#[test]
fn seeds_of_log() {
    seeds::each("log", log);
}
