//! Torn tails and damage in the middle of a log.

use proptest::prelude::*;

use super::super::scan::scan;
use super::*;

/// A written log: its bytes, the end of each line, and the watermark of each.
struct WrittenLog {
    home: TempDir,
    dir: PathBuf,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    durable: Vec<u64>,
}

/// Batches as (records, size, acknowledged). If not acknowledged, the session creates the records
/// of the next batch before it knows that this one is durable.
fn written(batches: &[(usize, usize, bool)]) -> WrittenLog {
    let mut log = TestLog::new();
    let mut durable = Vec::new();
    for (count, size, acknowledged) in batches {
        durable.extend(std::iter::repeat_n(log.index.durable().0, *count));
        let batch = log.push(*count, *size);
        log.log.append(&batch).expect("it can be written");
        if *acknowledged {
            log.index.mark_durable(log.index.last());
        }
    }
    let TestLog {
        dir,
        log,
        _home: home,
        ..
    } = log;
    drop(log);
    let bytes = bytes_of(&dir);
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let ends = newlines.map(|(place, _)| place + 1).collect();
    WrittenLog {
        home,
        dir,
        bytes,
        ends,
        durable,
    }
}

impl WrittenLog {
    fn put(&self, bytes: &[u8]) {
        fs::write(self.dir.join(LOG_NAME), bytes).expect("it is ours");
    }

    fn open(&self) -> (OpenedLog, Vec<Seq>) {
        let mut seen = Vec::new();
        let opened = LogFile::open(&self.dir, &mut |record| seen.push(record.seq));
        (opened.expect("it can be opened"), seen)
    }

    /// Damages bytes `from..to`. Returns how many lines remain before the damage, and the watermark
    /// that the other lines prove.
    fn expected(&self, from: usize, to: usize) -> (usize, u64) {
        let start = |line: usize| if line == 0 { 0 } else { self.ends[line - 1] };
        let first = self
            .ends
            .iter()
            .position(|end| from < *end)
            .expect("it is line_range");
        // A line that lost its newline runs into the next one.
        let first_after = (first..self.ends.len()).find(|line| start(*line) > to);
        let first_after = first_after.or_else(|| {
            (first..self.ends.len()).find(|line| start(*line) == to && self.bytes[to - 1] != b'\n')
        });
        let valid = self.durable[..first]
            .iter()
            .chain(&self.durable[first_after.unwrap_or(self.ends.len())..]);
        (first, valid.copied().max().unwrap_or(0))
    }

    /// Opens a log whose first `kept` records remain and whose rest is torn, then appends to it.
    fn check_torn(&self, broken: &[u8], kept: usize) -> Result<(), TestCaseError> {
        let end = if kept == 0 { 0 } else { self.ends[kept - 1] };
        self.put(broken);
        // If only the newline of the last record is missing, opening adds it.
        let ended = [broken, b"\n"].concat();
        let broken = if broken.len() + 1 == end {
            &ended
        } else {
            broken
        };
        let (opened, seen) = self.open();
        let expected: Vec<Seq> = (1..=kept as u64).map(Seq).collect();
        prop_assert_eq!(seen, expected);
        prop_assert_eq!(opened.read_only, None);
        prop_assert_eq!(&bytes_of(&self.dir)[..], &broken[..end]);
        prop_assert_eq!(opened.repair.is_some(), broken.len() > end);
        if let Some(repair) = opened.repair {
            prop_assert_eq!(torn_files(&self.dir), vec![repair.torn.clone()]);
            prop_assert_eq!(
                &fs::read(&repair.torn).expect("it is there")[..],
                &broken[end..]
            );
            prop_assert_eq!(
                (repair.bytes, repair.last),
                ((broken.len() - end) as u64, Seq(kept as u64))
            );
        }
        let (line, _) = record(opened.index.last().next(), opened.index.durable(), 1);
        opened
            .file
            .append(&[line.bytes])
            .expect("it can be written on");
        drop(opened.file);
        let (opened, _) = self.open();
        prop_assert_eq!(
            (opened.index.last(), opened.repair),
            (Seq(kept as u64 + 1), None)
        );
        Ok(())
    }

    /// Opens a damaged log that must not be changed.
    fn check_read_only(&self, broken: &[u8], kept: usize) -> Result<(), TestCaseError> {
        self.put(broken);
        let (opened, seen) = self.open();
        prop_assert_eq!(seen.len(), kept);
        prop_assert_eq!(opened.index.last(), Seq(kept as u64));
        let why = opened.read_only.expect("it is damaged");
        prop_assert!(
            why.contains(&format!("damaged after record {kept}")),
            "{}",
            why
        );
        prop_assert_eq!(opened.repair, None);
        let (line, _) = record(opened.index.last().next(), Seq(0), 1);
        let refused = opened.file.append(&[line.bytes]);
        let refused = matches!(refused, Err(AppendError::ReadOnly { .. }));
        prop_assert!(refused);
        prop_assert_eq!(bytes_of(&self.dir), broken);
        prop_assert_eq!(torn_files(&self.dir), Vec::<PathBuf>::new());
        for seq in seen {
            let at = opened.index.line(seq).expect("it is there");
            let line = opened.file.fetch(&at).expect("it can be read").into_owned();
            prop_assert_eq!(crate::format::decode(&line).expect("it is valid").seq, seq);
        }
        Ok(())
    }

    fn check(&self, broken: &[u8], (kept, watermark): (usize, u64)) -> Result<(), TestCaseError> {
        if kept as u64 >= watermark {
            self.check_torn(broken, kept)
        } else {
            self.check_read_only(broken, kept)
        }
    }
}

fn batches() -> impl Strategy<Value = Vec<(usize, usize, bool)>> {
    prop::collection::vec((1..5_usize, 0..200_usize, prop::bool::weighted(0.8)), 1..6)
}

fn open_slice(bytes: &[u8]) -> LogScan {
    scan(bytes, &mut |_| {}).expect("memory can be read")
}

#[test]
fn every_prefix_of_a_log_is_a_log() {
    let log = written(&[(2, 3, true), (2, 3, true), (1, 3, true)]);
    for cut in 0..=log.bytes.len() {
        let seen = open_slice(&log.bytes[..cut]);
        let whole = log.ends.iter().filter(|end| **end <= cut + 1).count();
        assert_eq!(seen.last, Seq(whole as u64));
        assert_eq!(seen.unended, log.ends.contains(&(cut + 1)));
        assert!(!seen.damaged(), "cut at {cut}");
        assert_eq!(seen.torn(), seen.end < cut as u64);
        assert_eq!(seen.len, cut as u64);
    }
    assert!(log.home.path().exists());
}

#[test]
fn bytes_after_the_last_line_are_saved_after_a_power_cut() {
    let tails: [&[u8]; 7] = [
        b"\n",
        b"\n\n\n",
        &[0; 512],
        b"{\"seq\":",
        "\u{20ac}".as_bytes().split_at(2).0,
        b"\0\0\n\0\0\n",
        b"null\n",
    ];
    for tail in tails {
        let log = written(&[(2, 3, true), (2, 3, true)]);
        let broken = [&log.bytes[..], tail].concat();
        log.check_torn(&broken, 4).expect("it is repaired");
    }
}

#[test]
fn a_whole_record_without_its_newline_is_kept_and_gets_one() {
    let log = written(&[(2, 3, true), (2, 3, true)]);
    let broken = &log.bytes[..log.bytes.len() - 1];
    log.check_torn(broken, 4).expect("it is repaired");
    assert_eq!(torn_files(&log.dir), Vec::<PathBuf>::new());
    // The same for the only record of a log: the session exists.
    let log = written(&[(1, 3, true)]);
    log.put(&log.bytes[..log.bytes.len() - 1]);
    assert_eq!(
        first(&log.dir, |record| record.seq).expect("it can be read"),
        Some(Seq(1))
    );
    // The record also survives if the disk fails before the newline is written.
    let renewed =
        renew(&log.dir, Seq(1), DiskFailure::Sync, &KernelSyncer).expect("it can be copied");
    assert!(matches!(renewed, RenewOutcome::Copied { .. }));
    assert_eq!(bytes_of(&log.dir), log.bytes);
}

#[test]
fn a_tail_torn_at_any_byte_is_saved_and_the_next_record_is_readable() {
    let log = written(&[(2, 3, true), (1, 4, true)]);
    let start = log.ends[1];
    assert!(
        log.bytes[start..]
            .windows(3)
            .any(|bytes| bytes == "€".as_bytes())
    );
    for cut in start..log.bytes.len() - 1 {
        log.check_torn(&log.bytes[..cut], 2)
            .expect("it is repaired");
        for torn in torn_files(&log.dir) {
            fs::remove_file(torn).expect("it is ours");
        }
    }
}

#[test]
fn interleaved_records_of_two_writers_keep_earlier_records() {
    let log = written(&[(2, 3, true), (2, 3, true), (2, 3, true)]);
    let line = |number: usize| &log.bytes[log.ends[number - 2]..log.ends[number - 1]];
    let (one, other) = (line(5), line(6));
    let (half, rest) = one.split_at(one.len() / 2);
    let (other_half, other_rest) = other.split_at(other.len() / 3);
    let before = &log.bytes[..log.ends[3]];
    let mixed = [before, half, other_half, rest, other_rest].concat();
    log.check_torn(&mixed, 4)
        .expect("records 5 and 6 were not acknowledged");
    for torn in torn_files(&log.dir) {
        fs::remove_file(torn).expect("it is ours");
    }
    // A later record proves that one of them was durable, so nothing is cut off.
    let proof = encode(&Envelope {
        seq: Seq(7),
        at: Stamp(0),
        turn: None,
        durable: Seq(6),
        kind: "notice",
        data: "{}",
        own: None,
        fragment: None,
    });
    let mixed = [&mixed[..], &proof.bytes].concat();
    log.check_read_only(&mixed, 4)
        .expect("5 and 6 were durable");
}

#[test]
fn a_tail_without_lines_is_skipped_in_chunks() {
    let log = written(&[(2, 3, true)]);
    let file = OpenOptions::new()
        .write(true)
        .open(log.dir.join(LOG_NAME))
        .expect("it is ours");
    file.set_len((log.bytes.len() + LINE_MAX + 10) as u64)
        .expect("a file may have holes");
    let (opened, _) = log.open();
    let repair = opened.repair.expect("it is torn");
    assert_eq!((repair.bytes, repair.last), (LINE_MAX as u64 + 10, Seq(2)));
    assert_eq!(bytes_of(&log.dir), log.bytes);
}

#[test]
fn a_gap_below_the_watermark_is_damage_and_a_gap_above_it_is_not() {
    let log = written(&[(2, 3, true), (2, 3, true), (3, 3, true)]);
    let without = |line: usize| {
        let (start, end) = (log.ends[line - 1], log.ends[line]);
        [&log.bytes[..start], &log.bytes[end..]].concat()
    };
    // Records 5 to 7 know that 4 is durable.
    log.check(&without(3), (3, 4)).expect("record 4 is missing");
    log.check(&without(5), (5, 4)).expect("record 6 is missing");
}

#[test]
fn a_duplicated_line_never_cuts_off_durable_records() {
    let log = written(&[(2, 3, true), (2, 3, true), (1, 3, true)]);
    let again = [&log.bytes[..], &log.bytes[..log.ends[0]]].concat();
    log.check_read_only(&again, 5).expect("record 1 is durable");
    let again = [&log.bytes[..], &log.bytes[log.ends[3]..]].concat();
    log.check_torn(&again, 5)
        .expect("record 5 may not have been");
}

#[test]
fn a_tail_that_cannot_be_saved_leaves_the_log_readable() {
    struct FailingSync;
    impl Syncer for FailingSync {
        fn sync(&self, _: &fs::File) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
    let log = written(&[(2, 3, true)]);
    log.put(&log.bytes[..log.bytes.len() - 5]);
    let opened = LogFile::open_with(&log.dir, Arc::new(FailingSync), &mut |_| {});
    let opened = opened.expect("it can be read");
    assert_eq!(opened.index.last(), Seq(1));
    assert!(
        opened
            .read_only
            .expect("it cannot be synced")
            .contains("cannot sync")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_costs_at_most_what_was_not_known_to_be_durable(
        batches in batches(), place in any::<prop::sample::Index>(), garbage in any::<Option<[u8; 9]>>(),
    ) {
        let log = written(&batches);
        // Durable bytes were synced: a power cut does not remove them.
        let durable = usize::try_from(*log.durable.last().expect("not empty")).expect("small");
        let from = if durable == 0 { 0 } else { log.ends[durable - 1] };
        let cut = from + place.index(log.bytes.len() - from + 1);
        let tail = garbage.unwrap_or_default();
        let tail = if garbage.is_some() { &tail[..] } else { &[] };
        // A record that lacks only its newline counts.
        let reach = cut + usize::from(tail.is_empty());
        let whole = log.ends.iter().filter(|end| **end <= reach).count();
        prop_assert!(whole >= durable);
        // Garbage that equals the removed byte would complete the line again.
        let completes = cut < log.bytes.len() && tail.first() == Some(&log.bytes[cut]);
        prop_assume!(!completes);
        log.check_torn(&[&log.bytes[..cut], tail].concat(), whole)?;
    }

    #[test]
    fn a_changed_byte_is_torn_above_the_watermark_and_damage_below(
        batches in batches(), place in any::<prop::sample::Index>(), change in 1_u8..,
    ) {
        let log = written(&batches);
        let mut broken = log.bytes.clone();
        let place = place.index(broken.len());
        broken[place] ^= change;
        log.check(&broken, log.expected(place, place + 1))?;
    }

    #[test]
    fn a_zeroed_range_is_torn_above_the_watermark_and_damage_below(
        batches in batches(), from in any::<prop::sample::Index>(), len in 1..600_usize,
    ) {
        let log = written(&batches);
        let mut broken = log.bytes.clone();
        let from = from.index(broken.len());
        let to = broken.len().min(from + len);
        broken[from..to].fill(0);
        log.check(&broken, log.expected(from, to))?;
    }
}
