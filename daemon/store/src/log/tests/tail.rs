//! Reading a log from an earlier position.

use super::*;

fn seen(dir: &Path, from: LogPosition, upto: u64) -> (Option<LogPosition>, Vec<u64>) {
    let mut seqs = Vec::new();
    let reached = tail(dir, from, Seq(upto), &mut |record| seqs.push(record.seq.0)).unwrap();
    (reached, seqs)
}

#[test]
fn reading_continues_from_an_earlier_position() {
    let mut writing = TestLog::new();
    let lines = writing.push(5, 10);
    writing.log.append(&lines).unwrap();
    let (first, seqs) = seen(&writing.dir, LogPosition::default(), 3);
    assert_eq!(seqs, [1, 2, 3]);
    let first = first.unwrap();
    assert_eq!(first.seq, Seq(3));
    let (second, seqs) = seen(&writing.dir, first, u64::MAX);
    assert_eq!(seqs, [4, 5]);
    let second = second.unwrap();
    assert_eq!(second.end, writing.index.end());
    // Nothing new, and no more requested than exists.
    assert_eq!(seen(&writing.dir, second, 5), (Some(second), vec![]));
}

#[test]
fn records_that_do_not_follow_are_reported() {
    let mut writing = TestLog::new();
    let lines = writing.push(3, 10);
    writing.log.append(&lines).unwrap();
    for end in [1, 10_000] {
        let astray = LogPosition { seq: Seq(2), end };
        assert_eq!(seen(&writing.dir, astray, u64::MAX), (None, vec![]));
    }
}
