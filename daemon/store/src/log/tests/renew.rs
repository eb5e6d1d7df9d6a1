//! Renewing a log after a disk failure never loses durable records.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// A disk that counts its operations and fails at one of them.
#[derive(Default)]
struct FailingDisk {
    count: AtomicUsize,
    /// Number of the operation that fails, from 1. 0: none.
    at: usize,
    /// At that operation the process dies instead of failing.
    dies: bool,
    operations: Mutex<Vec<&'static str>>,
}

impl FailingDisk {
    fn step(&self, what: &'static str) -> io::Result<()> {
        self.operations
            .lock()
            .expect("no test panics with it")
            .push(what);
        if self.count.fetch_add(1, Ordering::SeqCst) + 1 != self.at {
            return Ok(());
        }
        assert!(!self.dies, "requested by the test");
        Err(io::ErrorKind::StorageFull.into())
    }
}

impl Syncer for FailingDisk {
    fn write(&self, mut file: &fs::File, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.step("write")?;
        file.write_vectored(parts)
    }

    fn sync(&self, file: &fs::File) -> io::Result<()> {
        self.step("sync")?;
        file.sync_data()
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.step("sync the directory")?;
        fs::File::open(dir)?.sync_all()
    }
}

/// Three durable records, followed by the bytes of a failed commit.
fn failed(left: &[u8]) -> (TestLog, Vec<u8>) {
    let mut log = TestLog::new();
    log.commit(3, 40).expect("it can be written");
    let durable = bytes_of(&log.dir);
    let mut file = OpenOptions::new()
        .append(true)
        .open(log.log.path())
        .expect("it is ours");
    file.write_all(left).expect("it is ours");
    (log, durable)
}

/// The whole record that a commit wrote before its sync failed.
fn unacknowledged() -> Vec<u8> {
    record(Seq(4), Seq(3), 40).0.bytes.to_vec()
}

fn kept(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("it can be read");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths
        .filter(|path| path.to_string_lossy().contains(".failed-"))
        .collect()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("it can be read");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("it can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Opens the log and appends: it is whole and ends at the right record.
fn goes_on(log: TestLog, durable: &[u8]) {
    assert_eq!(bytes_of(&log.dir), durable);
    let (_home, dir, opened) = log.reopen();
    let opened = opened.expect("it can be opened");
    assert_eq!(
        (opened.index.last(), opened.repair, opened.read_only),
        (Seq(3), None, None)
    );
    let (line, _) = record(Seq(4), Seq(3), 7);
    opened
        .file
        .append(&[Arc::clone(&line.bytes)])
        .expect("it is well again");
    drop(opened.file);
    assert_eq!(bytes_of(&dir), [durable, &line.bytes].concat());
}

#[test]
fn after_a_failed_write_what_is_not_durable_is_cut_off() {
    let whole = unacknowledged();
    for left in [&b""[..], b"{\"seq\":4", &whole, &[0; 512]] {
        let (log, durable) = failed(left);
        let renewed =
            renew(&log.dir, Seq(3), DiskFailure::Write, &KernelSyncer).expect("it is well again");
        assert_eq!(
            renewed,
            RenewOutcome::Cut {
                bytes: left.len() as u64
            }
        );
        assert_eq!(names(&log.dir), [LOG_NAME]);
        goes_on(log, &durable);
    }
}

#[test]
fn after_a_failed_sync_a_verified_copy_takes_the_place_and_the_old_file_is_kept() {
    let left = unacknowledged();
    let (log, durable) = failed(&left);
    let before = log
        .dir
        .join(LOG_NAME)
        .metadata()
        .expect("it is there")
        .ino();
    let renewed =
        renew(&log.dir, Seq(3), DiskFailure::Sync, &KernelSyncer).expect("it is well again");
    let old = kept(&log.dir);
    assert_eq!(
        renewed,
        RenewOutcome::Copied {
            kept: old.first().cloned()
        }
    );
    assert_eq!(old.len(), 1);
    assert_eq!(
        fs::read(&old[0]).expect("it is there"),
        [&durable[..], &left].concat()
    );
    let meta = log.dir.join(LOG_NAME).metadata().expect("it is there");
    assert_ne!(
        meta.ino(),
        before,
        "another file, not the one whose sync failed"
    );
    assert_eq!(meta.mode() & 0o777, 0o600);
    goes_on(log, &durable);
}

#[test]
fn everything_is_synced_before_the_copy_replaces_the_log() {
    let (log, _) = failed(b"");
    let disk = FailingDisk::default();
    renew(&log.dir, Seq(3), DiskFailure::Sync, &disk).expect("it is well again");
    let operations = disk.operations.lock().expect("it is whole").clone();
    let probe = ["write", "sync"];
    let copy = ["write", "sync"];
    let places = ["sync the directory"; 3];
    assert_eq!(operations, [&probe[..], &copy, &places].concat());
}

#[test]
fn a_disk_that_is_still_full_changes_nothing() {
    for disk_failure in [
        DiskFailure::Opening,
        DiskFailure::Write,
        DiskFailure::Full,
        DiskFailure::Sync,
    ] {
        let (log, durable) = failed(b"{\"seq\":4");
        let before = bytes_of(&log.dir);
        let full = CountingSyncer::default();
        *full.room.lock().expect("it is whole") = Some(100);
        let refused = renew(&log.dir, Seq(3), disk_failure, &full).expect_err("it is full");
        let RenewError::Disk(fault) = &refused else {
            panic!("{refused}")
        };
        assert_eq!(fault.source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(
            (bytes_of(&log.dir), names(&log.dir)),
            (before, vec![LOG_NAME.to_owned()])
        );
        *full.room.lock().expect("it is whole") = None;
        if disk_failure != DiskFailure::Opening {
            renew(&log.dir, Seq(3), disk_failure, &full).expect("there is room again");
            goes_on(log, &durable);
        }
    }
}

#[test]
fn a_failure_or_crash_at_any_step_of_renew_leaves_a_whole_log() {
    for disk_failure in [DiskFailure::Write, DiskFailure::Sync] {
        for dies in [false, true] {
            let mut at = 0;
            loop {
                at += 1;
                let (log, durable) = failed(b"{\"seq\":4,\"at\":");
                let disk = FailingDisk {
                    at,
                    dies,
                    ..FailingDisk::default()
                };
                let tried = catch_unwind(AssertUnwindSafe(|| {
                    renew(&log.dir, Seq(3), disk_failure, &disk)
                }));
                let done = matches!(tried, Ok(Ok(_)));
                let reached = disk.count.load(Ordering::SeqCst) >= at;
                assert!(bytes_of(&log.dir).starts_with(&durable), "step {at}");
                if !dies {
                    let leftovers = names(&log.dir);
                    assert!(
                        leftovers
                            .iter()
                            .all(|name| name == LOG_NAME || name.contains(".failed-")),
                        "step {at}: {leftovers:?}"
                    );
                }
                if !reached {
                    assert!(done, "step {at}");
                    break;
                }
                // An open at this point finds all durable records, as after any crash.
                let TestLog {
                    dir,
                    log: old,
                    index,
                    _home,
                } = log;
                drop(old);
                let opened = LogFile::open(&dir, &mut |_| {}).expect("it can be opened");
                assert_eq!(
                    (opened.index.last(), opened.read_only),
                    (Seq(3), None),
                    "step {at}"
                );
                let log = TestLog {
                    dir,
                    log: opened.file,
                    index,
                    _home,
                };
                renew(&log.dir, Seq(3), disk_failure, &KernelSyncer)
                    .expect("the disk is well again");
                assert!(!names(&log.dir).iter().any(|name| name.ends_with(".new")));
                goes_on(log, &durable);
            }
            assert!(at > 3, "{disk_failure:?} was tried at every step");
        }
    }
}

#[test]
fn a_log_that_lost_durable_records_stays_unchanged() {
    for disk_failure in [DiskFailure::Write, DiskFailure::Sync] {
        let (log, durable) = failed(b"");
        let file = OpenOptions::new()
            .write(true)
            .open(log.log.path())
            .expect("it is ours");
        let place = durable.len() as u64 - 30;
        file.write_all_at(&[0; 12], place).expect("it is ours");
        let broken = bytes_of(&log.dir);
        let refused =
            renew(&log.dir, Seq(3), disk_failure, &KernelSyncer).expect_err("record 3 is lost");
        assert!(
            matches!(
                refused,
                RenewError::Lost {
                    found: Seq(2),
                    wanted: Seq(3),
                    ..
                }
            ),
            "{refused}"
        );
        assert_eq!(
            (bytes_of(&log.dir), names(&log.dir)),
            (broken, vec![LOG_NAME.to_owned()])
        );
    }
}

#[test]
fn a_log_that_was_deleted_is_not_made_again() {
    let (log, _) = failed(b"");
    fs::remove_file(log.dir.join(LOG_NAME)).expect("it is ours");
    renew(&log.dir, Seq(3), DiskFailure::Sync, &KernelSyncer).expect_err("nobody has its records");
    assert_eq!(names(&log.dir), Vec::<String>::new());
}

#[test]
fn each_append_failure_names_its_kind() {
    let syncer = Arc::new(CountingSyncer::default());
    let mut log = TestLog::new().with(&syncer);
    *syncer.room.lock().expect("it is whole") = Some(10);
    let error = log.commit(1, 0).expect_err("it is full");
    assert_eq!(error.disk_failure(), Some(DiskFailure::Full));
    let error = log.commit(1, 0).expect_err("it takes no more");
    assert_eq!(error.disk_failure(), None);

    let syncer = Arc::new(CountingSyncer::default());
    let mut log = TestLog::new().with(&syncer);
    *syncer.sync_fails.lock().expect("it is whole") = Some(io::ErrorKind::Other);
    let error = log.commit(1, 0).expect_err("it cannot be synced");
    assert_eq!(error.disk_failure(), Some(DiskFailure::Sync));
}
