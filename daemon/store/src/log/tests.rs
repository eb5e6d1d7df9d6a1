//! Writes logs as a session does, damages them and opens them again.

use std::fs::{self, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use proto::{Seq, Stamp};
use tempfile::TempDir;

use super::*;
use crate::format::{Envelope, LINE_MAX, LogLine, encode};

mod batch_read;
mod damage;
mod renew;
mod tail;

const KINDS: [&str; 4] = [
    "message.user",
    "message.assistant",
    "message.tool",
    "notice",
];

/// The record with this number. Its data has about `size` bytes.
fn record(seq: Seq, durable: Seq, size: usize) -> (LogLine, Option<MessageRole>) {
    let kind = KINDS[usize::try_from(seq.0).expect("small") % KINDS.len()];
    let data = format!(r#"{{"number":{seq},"text":"{}"}}"#, "€".repeat(size));
    let fragment = format!(r#"{{"content":"{seq}"}}"#);
    let role = MessageRole::of_kind(kind);
    let line = encode(&Envelope {
        seq,
        at: Stamp(1_795_283_603_512),
        turn: Some(1),
        durable,
        kind,
        data: &data,
        own: (seq == Seq(1)).then_some("{}"),
        fragment: role.map(|_| fragment.as_str()),
    });
    (line, role)
}

/// An open log and its index, as a session keeps them.
struct TestLog {
    dir: PathBuf,
    log: LogFile,
    index: LogIndex,
    _home: TempDir,
}

impl TestLog {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let dir = home.path().join("session");
        let log = LogFile::create(&dir).expect("it can be created");
        Self {
            dir,
            log,
            index: LogIndex::new(),
            _home: home,
        }
    }

    fn with(mut self, syncer: &Arc<impl Syncer + 'static>) -> Self {
        self.log = self.log.with_syncer(Arc::clone(syncer) as Arc<dyn Syncer>);
        self
    }

    /// Creates `count` records that are only in memory.
    fn push(&mut self, count: usize, size: usize) -> Vec<Arc<[u8]>> {
        let new = |index: &mut LogIndex| {
            let (line, role) = record(index.last().next(), index.durable(), size);
            index.push(&line, role);
            line.bytes
        };
        (0..count).map(|_| new(&mut self.index)).collect()
    }

    /// Creates `count` records and writes them as one batch.
    fn commit(&mut self, count: usize, size: usize) -> Result<(), AppendError> {
        let batch = self.push(count, size);
        self.log.append(&batch)?;
        self.index.mark_durable(self.index.last());
        Ok(())
    }

    fn reopen(self) -> (TempDir, PathBuf, Result<OpenedLog, OpenError>) {
        let Self {
            dir,
            log,
            _home: home,
            ..
        } = self;
        drop(log);
        let opened = LogFile::open(&dir, &mut |_| {});
        (home, dir, opened)
    }
}

fn bytes_of(dir: &Path) -> Vec<u8> {
    fs::read(dir.join(LOG_NAME)).expect("it can be read")
}

fn torn_files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("it can be read");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths
        .filter(|path| path.to_string_lossy().contains(".torn-"))
        .collect()
}

/// Counts the operations. Fails on request.
#[derive(Default)]
struct CountingSyncer {
    writes: AtomicUsize,
    syncs: AtomicUsize,
    dirs: Mutex<Vec<PathBuf>>,
    /// Bytes that still fit, if there is a limit.
    room: Mutex<Option<usize>>,
    sync_fails: Mutex<Option<io::ErrorKind>>,
}

impl Syncer for CountingSyncer {
    fn write(&self, mut file: &fs::File, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        let mut room = self.room.lock().expect("no test panics with it");
        match &mut *room {
            None => file.write_vectored(parts),
            Some(0) => Err(io::ErrorKind::StorageFull.into()),
            Some(room) => {
                let part = &parts[0][..parts[0].len().min(*room)];
                *room -= part.len();
                file.write(part)
            }
        }
    }

    fn sync(&self, file: &fs::File) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        match *self.sync_fails.lock().expect("no test panics with it") {
            Some(kind) => Err(kind.into()),
            None => file.sync_data(),
        }
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.dirs
            .lock()
            .expect("no test panics with it")
            .push(dir.to_owned());
        fs::File::open(dir)?.sync_all()
    }
}

#[test]
fn a_log_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<LogFile>();
    shared::<LogIndex>();
}

#[test]
fn appended_records_are_read_back() {
    let mut log = TestLog::new();
    log.commit(1, 10).expect("it can be written");
    log.commit(5, 2000).expect("it can be written");
    let (_home, dir, opened) = {
        let TestLog {
            dir, log, _home, ..
        } = log;
        drop(log);
        let mut seen = Vec::new();
        let opened = LogFile::open(&dir, &mut |record| {
            seen.push((record.seq, record.durable, record.own.is_some()));
        });
        let expected: Vec<_> = (1..=6)
            .map(|n| (Seq(n), Seq(u64::from(n > 1)), n == 1))
            .collect();
        assert_eq!(seen, expected);
        (_home, dir, opened.expect("it can be opened"))
    };
    assert_eq!(
        (opened.index.last(), opened.index.durable()),
        (Seq(6), Seq(6))
    );
    assert_eq!((opened.repair, opened.read_only), (None, None));
    assert_eq!(opened.index.end(), bytes_of(&dir).len() as u64);
}

#[test]
fn files_are_private() {
    let log = TestLog::new();
    let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
    assert_eq!(mode(&log.dir), 0o700);
    assert_eq!(mode(log.log.path()), 0o600);
}

#[test]
fn a_log_has_one_writer() {
    let log = TestLog::new();
    assert!(matches!(
        LogFile::create(&log.dir),
        Err(OpenError::Exists { .. })
    ));
    assert!(matches!(
        LogFile::open(&log.dir, &mut |_| {}),
        Err(OpenError::Held { .. })
    ));
    let (_home, dir, opened) = log.reopen();
    let opened = opened.expect("nobody has it any more");
    assert!(matches!(
        LogFile::open(&dir, &mut |_| {}),
        Err(OpenError::Held { .. })
    ));
    assert_eq!(opened.index.last(), Seq(0));
    read(&dir, &mut |_| {}).expect("reading needs no lock");
}

#[test]
fn a_missing_log_has_its_own_error() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let missing = LogFile::open(&home.path().join("session"), &mut |_| {});
    assert!(matches!(missing, Err(OpenError::Missing { .. })));
    LogFile::create(&home.path().join("no/session")).expect_err("its parent is missing");
}

#[test]
fn a_batch_is_one_write_and_one_sync_and_the_first_also_syncs_the_names() {
    let syncer = Arc::new(CountingSyncer::default());
    let mut log = TestLog::new().with(&syncer);
    let counts = || {
        (
            syncer.writes.load(Ordering::SeqCst),
            syncer.syncs.load(Ordering::SeqCst),
        )
    };
    log.commit(20, 100).expect("it can be written");
    assert_eq!(counts(), (1, 1));
    let parent = log.dir.parent().expect("it has one").to_owned();
    let dirs = || syncer.dirs.lock().expect("no test panics with it").clone();
    assert_eq!(dirs(), [log.dir.clone(), parent]);
    log.commit(1, 100).expect("it can be written");
    log.log.append(&[]).expect("nothing is to be written");
    assert_eq!((counts(), dirs().len()), ((2, 2), 2));
}

#[test]
fn a_batch_of_more_parts_than_the_kernel_takes_is_written_whole() {
    let mut log = TestLog::new();
    log.commit(5000, 0).expect("it can be written");
    let (_home, _dir, opened) = log.reopen();
    assert_eq!(opened.expect("it can be opened").index.last(), Seq(5000));
}

#[test]
fn opening_syncs_records_of_a_dead_writer() {
    let mut log = TestLog::new();
    log.commit(1, 0).expect("it can be written");
    let TestLog {
        dir, log, _home, ..
    } = log;
    drop(log);
    let syncer = Arc::new(CountingSyncer::default());
    let opened = LogFile::open_with(&dir, Arc::clone(&syncer) as Arc<dyn Syncer>, &mut |_| {});
    let opened = opened.expect("it can be opened");
    assert_eq!(syncer.syncs.load(Ordering::SeqCst), 1);
    assert_eq!(syncer.dirs.lock().expect("no test panics with it").len(), 2);
    drop(opened);

    *syncer.sync_fails.lock().expect("no test panics with it") = Some(io::ErrorKind::Other);
    let opened = LogFile::open_with(&dir, syncer, &mut |_| {}).expect("it can be read");
    let why = opened.read_only.expect("what was read may not be on disk");
    assert!(why.starts_with("cannot sync"), "{why}");
    opened.file.append(&[]).expect_err("it is read-only");
}

#[test]
fn after_a_failed_sync_nothing_is_appended_even_if_the_disk_is_well_again() {
    let syncer = Arc::new(CountingSyncer::default());
    let mut log = TestLog::new().with(&syncer);
    log.commit(2, 0).expect("it can be written");
    *syncer.sync_fails.lock().expect("no test panics with it") = Some(io::ErrorKind::Other);
    let first = log.commit(1, 0).expect_err("the sync fails");
    assert!(matches!(first, AppendError::Sync { .. }));
    *syncer.sync_fails.lock().expect("no test panics with it") = None;
    let before = bytes_of(&log.dir);
    for _ in 0..2 {
        let error = log.commit(1, 0).expect_err("the log is done with");
        let AppendError::ReadOnly { reason, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(*reason, crate::reason(&first));
        assert_eq!(log.log.failed(), Some(reason));
    }
    assert_eq!(syncer.syncs.load(Ordering::SeqCst), 2);
    assert_eq!(bytes_of(&log.dir), before);
    assert_eq!(log.index.durable(), Seq(2));
}

#[test]
fn a_full_disk_stops_writing_and_the_next_open_repairs_the_log() {
    for room in [0, 1, 150, 400] {
        let syncer = Arc::new(CountingSyncer::default());
        let mut log = TestLog::new().with(&syncer);
        log.commit(2, 0).expect("it can be written");
        let before = bytes_of(&log.dir);
        *syncer.room.lock().expect("no test panics with it") = Some(room);
        let error = log.commit(3, 0).expect_err("the disk is full");
        let AppendError::Write { source, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
        *syncer.room.lock().expect("no test panics with it") = None;
        log.commit(1, 0).expect_err("the first failure is final");

        let (_home, dir, opened) = log.reopen();
        let opened = opened.expect("it can be opened");
        assert_eq!(opened.read_only, None);
        assert!(opened.index.last() >= Seq(2));
        assert!(bytes_of(&dir).starts_with(&before));
        let (line, _) = record(opened.index.last().next(), opened.index.last(), 0);
        opened
            .file
            .append(&[line.bytes])
            .expect("it can be written again");
    }
}

#[test]
fn short_writes_are_completed() {
    struct OneByOne;
    impl Syncer for OneByOne {
        fn write(&self, mut file: &fs::File, parts: &[IoSlice<'_>]) -> io::Result<usize> {
            file.write(&parts[0][..parts[0].len().min(7)])
        }
        fn sync(&self, file: &fs::File) -> io::Result<()> {
            file.sync_data()
        }
    }
    let mut log = TestLog::new().with(&Arc::new(OneByOne));
    log.commit(3, 10).expect("it can be written");
    let (_home, _dir, opened) = log.reopen();
    let opened = opened.expect("it can be opened");
    assert_eq!((opened.index.last(), opened.repair), (Seq(3), None));
}

#[test]
fn a_log_that_others_changed_or_deleted_accepts_no_more_records() {
    let mut log = TestLog::new();
    log.commit(1, 0).expect("it can be written");
    let mut other = OpenOptions::new()
        .append(true)
        .open(log.log.path())
        .expect("it is ours");
    other.write_all(b"hello\n").expect("it is ours");
    let error = log.commit(1, 0).expect_err("places would be wrong");
    assert!(matches!(error, AppendError::Changed { .. }), "{error}");

    let mut log = TestLog::new();
    log.commit(1, 0).expect("it can be written");
    fs::remove_dir_all(&log.dir).expect("it is ours");
    let error = log.commit(1, 0).expect_err("nobody could read it");
    assert!(matches!(error, AppendError::Deleted { .. }), "{error}");
}

#[test]
fn a_line_that_could_not_be_read_again_is_not_written() {
    let log = TestLog::new();
    let long: Arc<[u8]> = vec![b' '; LINE_MAX + 1].into();
    let error = log.log.append(&[long]).expect_err("it is too long");
    assert!(matches!(error, AppendError::TooLong { .. }), "{error}");
    assert_eq!(bytes_of(&log.dir).len(), 0);
}

#[test]
fn append_returns_after_the_sync_and_reads_go_on_meanwhile() {
    /// Reports that it was called, then waits until it may return.
    struct Gate {
        entered: mpsc::Sender<()>,
        leave: Mutex<mpsc::Receiver<()>>,
    }
    impl Syncer for Gate {
        fn sync(&self, file: &fs::File) -> io::Result<()> {
            self.entered.send(()).expect("the test listens");
            self.leave
                .lock()
                .expect("it is whole")
                .recv()
                .expect("the test answers");
            file.sync_data()
        }
    }
    let mut log = TestLog::new();
    log.commit(2, 0).expect("it can be written");
    let (entered, has_entered) = mpsc::channel();
    let (may_leave, leave) = mpsc::channel();
    let mut log = log.with(&Arc::new(Gate {
        entered,
        leave: Mutex::new(leave),
    }));
    let batch = log.push(2, 0);
    let TestLog { log, index, .. } = &log;
    std::thread::scope(|scope| {
        let append = scope.spawn(|| log.append(&batch));
        has_entered.recv().expect("the sync has begun");
        assert!(!append.is_finished());
        for seq in 1..=4 {
            let at = index.line(Seq(seq)).expect("it is there");
            assert_eq!(matches!(at, ByteLocation::Memory { .. }), seq > 2);
            let line = log.fetch(&at).expect("it can be read");
            assert_eq!(
                crate::format::decode(&line).expect("it is valid").seq,
                Seq(seq)
            );
        }
        may_leave.send(()).expect("the sync waits");
        append.join().expect("no panic").expect("it can be written");
    });
}

#[test]
fn a_panic_during_an_append_stops_writing() {
    struct Panics;
    impl Syncer for Panics {
        fn sync(&self, _: &fs::File) -> io::Result<()> {
            panic!("requested by the test")
        }
    }
    let mut log = TestLog::new().with(&Arc::new(Panics));
    let batch = log.push(1, 0);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| log.log.append(&batch)))
        .expect_err("it panics");
    let log = log.with(&Arc::new(KernelSyncer));
    assert!(matches!(
        log.log.append(&batch),
        Err(AppendError::ReadOnly { .. })
    ));
    assert!(log.log.failed().is_some());
}

#[test]
fn the_index_finds_lines_and_fragments_in_memory_and_on_disk() {
    let mut log = TestLog::new();
    log.commit(5, 10).expect("it can be written");
    log.push(4, 10);
    let TestLog { log, mut index, .. } = log;
    assert_eq!(
        (index.durable(), index.last(), index.pending().count()),
        (Seq(5), Seq(9), 4)
    );
    assert_eq!((index.line(Seq(0)), index.line(Seq(10))), (None, None));

    let fragments = |index: &LogIndex, upto| -> Vec<(u64, MessageRole, String)> {
        let found = index.fragments(Seq(1), Seq(upto)).map(|(seq, role, at)| {
            let bytes = log.fetch(&at).expect("it can be read").into_owned();
            assert_eq!((bytes.len(), bytes.is_empty()), (at.len(), at.is_empty()));
            (seq.0, role, String::from_utf8(bytes).expect("it is text"))
        });
        found.collect()
    };
    let expected = |upto| -> Vec<(u64, MessageRole, String)> {
        let all = (1..=upto).filter_map(|seq| {
            let role = [
                Some(MessageRole::User),
                Some(MessageRole::Assistant),
                Some(MessageRole::Tool),
                None,
            ][seq as usize % 4];
            Some((seq, role?, format!(r#"{{"content":"{seq}"}}"#)))
        });
        all.collect()
    };
    for upto in 0..=9 {
        assert_eq!(fragments(&index, upto), expected(upto));
    }
    assert_eq!(fragments(&index, u64::MAX), expected(9));

    let rest: Vec<_> = index.pending().cloned().collect();
    log.append(&rest[..2]).expect("it can be written");
    index.mark_durable(Seq(7));
    index.mark_durable(Seq(3));
    assert_eq!((index.durable(), index.pending().count()), (Seq(7), 2));
    assert_eq!(fragments(&index, 9), expected(9));
    log.append(&rest[2..]).expect("it can be written");
    index.mark_durable(Seq(u64::MAX));
    assert_eq!((index.durable(), index.pending().count()), (Seq(9), 0));
    assert_eq!(fragments(&index, 9), expected(9));

    let dir = log.path().parent().expect("it has one").to_owned();
    let before: Vec<_> = (1..=9).map(|seq| index.line(Seq(seq))).collect();
    let found = fragments(&index, 9);
    drop(log);
    let opened = LogFile::open(&dir, &mut |_| {}).expect("it can be opened");
    let after: Vec<_> = (1..=9).map(|seq| opened.index.line(Seq(seq))).collect();
    assert_eq!(before, after);
    assert_eq!(found.len(), opened.index.fragments(Seq(1), Seq(9)).count());
}

#[test]
fn the_first_record_is_read_alone() {
    let mut log = TestLog::new();
    let number = |dir: &Path| first(dir, |record| record.seq).expect("it can be read");
    assert_eq!(number(&log.dir), None);
    log.commit(3, 10).expect("it can be written");
    assert_eq!(number(&log.dir), Some(Seq(1)));
    let file = OpenOptions::new()
        .write(true)
        .open(log.log.path())
        .expect("it is ours");
    file.write_all_at(b"X", 3).expect("it is ours");
    assert_eq!(number(&log.dir), None);
}
