//! A log whose disk failed is made writable again: at no moment is it less than it was.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// A disk whose operations are counted, and of which one goes wrong.
#[derive(Default)]
struct Failing {
    count: AtomicUsize,
    /// The operation that goes wrong, from 1; 0: none.
    at: usize,
    /// It does not fail: the process ends there.
    dies: bool,
    told: Mutex<Vec<&'static str>>,
}

impl Failing {
    fn step(&self, what: &'static str) -> io::Result<()> {
        self.told.lock().expect("no test panics with it").push(what);
        if self.count.fetch_add(1, Ordering::SeqCst) + 1 != self.at {
            return Ok(());
        }
        assert!(!self.dies, "as wished by the test");
        Err(io::ErrorKind::StorageFull.into())
    }
}

impl Syncer for Failing {
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

/// Three durable records, and behind them what a failed commit left.
fn failed(left: &[u8]) -> (Writing, Vec<u8>) {
    let mut log = Writing::new();
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

/// Opens the log and writes on: it is whole, and ends where it should.
fn goes_on(log: Writing, durable: &[u8]) {
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
        let renewed = renew(&log.dir, Seq(3), Trouble::Write, &Kernel).expect("it is well again");
        assert_eq!(
            renewed,
            Renewed::Cut {
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
    let renewed = renew(&log.dir, Seq(3), Trouble::Sync, &Kernel).expect("it is well again");
    let old = kept(&log.dir);
    assert_eq!(
        renewed,
        Renewed::Copied {
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
fn everything_is_on_disk_before_the_copy_takes_the_place() {
    let (log, _) = failed(b"");
    let disk = Failing::default();
    renew(&log.dir, Seq(3), Trouble::Sync, &disk).expect("it is well again");
    let told = disk.told.lock().expect("it is whole").clone();
    let probe = ["write", "sync"];
    let copy = ["write", "sync"];
    let places = ["sync the directory"; 3];
    assert_eq!(told, [&probe[..], &copy, &places].concat());
}

#[test]
fn a_disk_that_is_still_full_changes_nothing() {
    for trouble in [Trouble::Opening, Trouble::Write, Trouble::Sync] {
        let (log, durable) = failed(b"{\"seq\":4");
        let before = bytes_of(&log.dir);
        let full = Counting::default();
        *full.room.lock().expect("it is whole") = Some(100);
        let refused = renew(&log.dir, Seq(3), trouble, &full).expect_err("it is full");
        let RenewError::Fault(fault) = &refused else {
            panic!("{refused}")
        };
        assert_eq!(fault.source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(
            (bytes_of(&log.dir), names(&log.dir)),
            (before, vec![LOG_NAME.to_owned()])
        );
        *full.room.lock().expect("it is whole") = None;
        if trouble != Trouble::Opening {
            renew(&log.dir, Seq(3), trouble, &full).expect("there is room again");
            goes_on(log, &durable);
        }
    }
}

#[test]
fn wherever_it_fails_or_dies_a_whole_log_is_left_and_it_can_be_tried_again() {
    for trouble in [Trouble::Write, Trouble::Sync] {
        for dies in [false, true] {
            let mut at = 0;
            loop {
                at += 1;
                let (log, durable) = failed(b"{\"seq\":4,\"at\":");
                let disk = Failing {
                    at,
                    dies,
                    ..Failing::default()
                };
                let tried =
                    catch_unwind(AssertUnwindSafe(|| renew(&log.dir, Seq(3), trouble, &disk)));
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
                // Whoever opens it now finds all that is durable, as after any crash.
                let Writing {
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
                let log = Writing {
                    dir,
                    log: opened.file,
                    index,
                    _home,
                };
                renew(&log.dir, Seq(3), trouble, &Kernel).expect("the disk is well again");
                assert!(!names(&log.dir).iter().any(|name| name.ends_with(".new")));
                goes_on(log, &durable);
            }
            assert!(at > 3, "{trouble:?} was tried at every step");
        }
    }
}

#[test]
fn a_log_that_lost_what_was_durable_is_left_as_it_is() {
    for trouble in [Trouble::Write, Trouble::Sync] {
        let (log, durable) = failed(b"");
        let file = OpenOptions::new()
            .write(true)
            .open(log.log.path())
            .expect("it is ours");
        let place = durable.len() as u64 - 30;
        file.write_all_at(&[0; 12], place).expect("it is ours");
        let broken = bytes_of(&log.dir);
        let refused = renew(&log.dir, Seq(3), trouble, &Kernel).expect_err("record 3 is lost");
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
    renew(&log.dir, Seq(3), Trouble::Sync, &Kernel).expect_err("nobody has its records");
    assert_eq!(names(&log.dir), Vec::<String>::new());
}

#[test]
fn each_failure_of_an_append_says_what_has_to_be_mended() {
    let syncer = Arc::new(Counting::default());
    let mut log = Writing::new().with(&syncer);
    *syncer.room.lock().expect("it is whole") = Some(10);
    let error = log.commit(1, 0).expect_err("it is full");
    assert_eq!(error.trouble(), Some(Trouble::Write));
    let error = log.commit(1, 0).expect_err("it takes no more");
    assert_eq!(error.trouble(), None);

    let syncer = Arc::new(Counting::default());
    let mut log = Writing::new().with(&syncer);
    *syncer.sync_fails.lock().expect("it is whole") = Some(io::ErrorKind::Other);
    let error = log.commit(1, 0).expect_err("it cannot be synced");
    assert_eq!(error.trouble(), Some(Trouble::Sync));
}
