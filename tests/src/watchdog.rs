//! A bound on every test that has a [`House`](crate::House): one that waits for ever would hold the whole run without
//! a word of which it was.
//!
//! At the first bound the test's processes are listed and killed, so that what the test waits for ends and it fails by
//! itself, with its own message. One that still stays ends the whole program.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::processes;
use crate::wait::pace;

/// Several times what the longest test takes beside a second run of all tests.
const KILL_AFTER: Duration = Duration::from_secs(15 * 60);

/// How long a test has after that.
const ABORT_AFTER: Duration = Duration::from_secs(17 * 60);

/// How often tests are looked at.
const STEP: Duration = Duration::from_secs(1);

/// A test that is watched until this is dropped.
pub(crate) struct WatchdogGuard(u64);

struct Test {
    name: String,
    root: PathBuf,
    begun: Instant,
    is_killed: bool,
}

static TESTS: Mutex<BTreeMap<u64, Test>> = Mutex::new(BTreeMap::new());

impl WatchdogGuard {
    /// Watches the test of this thread; `root` is the directory by which its processes are known.
    pub(crate) fn new(root: &Path) -> Self {
        static START: Once = Once::new();
        START.call_once(|| {
            std::thread::spawn(watch);
        });
        let mut tests = tests();
        let number = tests.last_key_value().map_or(0, |(last, _)| last + 1);
        let name = std::thread::current().name().unwrap_or("?").to_owned();
        let test = Test {
            name,
            root: root.to_owned(),
            begun: Instant::now(),
            is_killed: false,
        };
        tests.insert(number, test);
        Self(number)
    }

    /// It may take so much longer.
    pub(crate) fn extend(&self, by: Duration) {
        if let Some(test) = tests().get_mut(&self.0) {
            test.begun += by;
        }
    }
}

impl Drop for WatchdogGuard {
    fn drop(&mut self) {
        tests().remove(&self.0);
    }
}

fn tests() -> MutexGuard<'static, BTreeMap<u64, Test>> {
    TESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch() {
    loop {
        pace(Instant::now() + STEP);
        for test in tests().values_mut() {
            let lasts = test.begun.elapsed();
            if lasts >= KILL_AFTER && !test.is_killed {
                test.is_killed = true;
                end_processes(test);
            }
            if lasts >= ABORT_AFTER {
                say(&format!("{} hangs without a process", test.name));
                std::process::abort();
            }
        }
    }
}

fn end_processes(test: &Test) {
    say(&format!(
        "{} does not end; its processes are killed:",
        test.name
    ));
    for process in processes::of(&test.root, &test.root.join("home"), &[]) {
        say(&format!("  {} {}", process.pid, process.command));
        process.signal(Signal::KILL);
    }
}

/// Past the capture of what tests print: the test that is meant may never end.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
