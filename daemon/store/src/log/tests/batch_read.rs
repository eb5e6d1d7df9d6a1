//! A batch read returns the same bytes as single reads.

use proptest::prelude::*;

use super::*;

/// A log of at least this many bytes, all on disk.
fn written(bytes: u64) -> TestLog {
    let mut writing = TestLog::new();
    while writing.index.end() < bytes {
        writing.commit(64, 40).expect("an append");
    }
    writing
}

fn disk(offset: u64, len: usize) -> ByteLocation {
    ByteLocation::Disk { offset, len }
}

fn zeroed(bytes: usize) -> Vec<u8> {
    vec![0; bytes]
}

fn together(writing: &TestLog, places: &[ByteLocation]) -> Vec<Vec<u8>> {
    let gathered = writing
        .log
        .gather(ReadFrom::Disk, places, zeroed)
        .expect("they are there");
    gathered.iter().map(<[u8]>::to_vec).collect()
}

fn alone(writing: &TestLog, places: &[ByteLocation]) -> Vec<Vec<u8>> {
    let fetch = |at| writing.log.fetch(at).expect("it is there").into_owned();
    places.iter().map(fetch).collect()
}

#[test]
fn an_empty_batch_reads_nothing() {
    assert_eq!(together(&TestLog::new(), &[]), Vec::<Vec<u8>>::new());
}

#[test]
fn more_ranges_than_one_call_takes_are_all_read() {
    let writing = written(10_000);
    let places: Vec<_> = (0..1_200)
        .map(|at| disk(at * 5, usize::from(at % 7 != 0)))
        .collect();
    assert_eq!(together(&writing, &places), alone(&writing, &places));
}

#[test]
fn a_range_beyond_the_file_is_an_error() {
    let writing = written(1_000);
    let end = writing.index.end();
    assert!(
        writing
            .log
            .gather(ReadFrom::Disk, &[disk(0, 5), disk(end, 1)], zeroed)
            .is_err()
    );
}

#[test]
fn what_is_in_memory_needs_no_disk() {
    let writing = written(1_000);
    let line: Arc<[u8]> = b"words".as_slice().into();
    let range = 1..3;
    let places = [ByteLocation::Memory { line, range }];
    let gathered = writing.log.gather(ReadFrom::Memory, &places, zeroed);
    let gathered = gathered.expect("it is in memory");
    assert_eq!(gathered.iter().collect::<Vec<_>>(), [b"or"]);
    let beyond = [disk(writing.index.end(), 1)];
    assert!(
        writing
            .log
            .gather(ReadFrom::Memory, &beyond, zeroed)
            .is_err()
    );
}

proptest! {
    #[test]
    fn a_batch_read_equals_single_reads(
        mut asked in prop::collection::vec((0_u64..600_000, 0_usize..3_000, any::<bool>()), 0..60),
        in_order in any::<bool>(),
        close in any::<bool>(),
    ) {
        thread_local!(static LOG: TestLog = written(700_000));
        if in_order {
            asked.sort();
        }
        let places: Vec<_> = asked.into_iter().map(|(offset, len, memory)| match memory {
            true => ByteLocation::Memory { line: vec![7; len + 2].into(), range: 1..len + 1 },
            // Neighbouring ranges, or ranges all over the file.
            false => disk(if close { offset / 100 } else { offset }, len),
        }).collect();
        let (together, alone) = LOG.with(|log| (together(log, &places), alone(log, &places)));
        prop_assert_eq!(&together, &alone);
        // The page cache may lack some of it, and not every file system tells.
        let cached = LOG.with(|log| {
            let gathered = log.log.gather(ReadFrom::Memory, &places, zeroed);
            gathered.map(|gathered| gathered.iter().map(<[u8]>::to_vec).collect::<Vec<_>>())
        });
        if let Ok(cached) = cached {
            prop_assert_eq!(cached, alone);
        }
    }
}
