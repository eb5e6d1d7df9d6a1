//! Tests that need a feature which a machine may lack: they print a message, are counted, and fail if every feature is required.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable with the file that lists what a run has left to root.
const LEFT_TO_ROOT: &str = "REASONIX_LEFT_TO_ROOT";

/// Skips so far, in this process.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Whether a test must be left out because `there` is false. Says so; with `REASONIX_NO_SKIPS=1` it fails instead.
///
/// # Panics
/// Nothing may be left out, and this would be.
pub fn unless(there: bool, what: &str) -> bool {
    if there {
        return false;
    }
    assert!(
        std::env::var_os("REASONIX_NO_SKIPS").is_none(),
        "this machine lacks what a test needs, and no test may be left out: {what}"
    );
    skipped(&format!("this machine lacks {what}"))
}

/// Whether a test must be left out because only root can do what it needs. Says so. An ordinary user's run may always
/// leave it out: a run as root has it.
///
/// With `REASONIX_LEFT_TO_ROOT=FILE` the test's name is added to the file, for that run.
///
/// # Panics
/// The file cannot be written.
pub fn unless_root(what: &str) -> bool {
    !is_root() && left_to_root(what)
}

/// Whether a test must be left out because `there` is false, where another user owns what it needs: left to root if
/// this run leaves anything to root, else as [`unless`].
///
/// # Panics
/// Nothing may be left out, and this would be.
pub fn unless_roots(there: bool, what: &str) -> bool {
    let is_left = !there && !is_root() && std::env::var_os(LEFT_TO_ROOT).is_some();
    if is_left {
        left_to_root(what)
    } else {
        unless(there, what)
    }
}

/// Whether a test must be left out because it shows nothing as root, who may do everything.
pub fn unless_ordinary_user(what: &str) -> bool {
    is_root() && skipped(&format!("root may do it: {what}"))
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn left_to_root(what: &str) -> bool {
    if let Some(file) = std::env::var_os(LEFT_TO_ROOT) {
        // The test runner names each test's thread like the test.
        let test = std::thread::current();
        let test = test.name().expect("the thread of a test");
        let mut open = std::fs::OpenOptions::new();
        let file = open.create(true).append(true).open(file);
        let mut file = file.expect("open the list of what is left to root");
        file.write_all(format!("{test}\n").as_bytes())
            .expect("write the list of what is left to root");
    }
    skipped(&format!("only root can do it: {what}"))
}

#[allow(clippy::print_stderr, reason = "a skip has to be seen")]
fn skipped(why: &str) -> bool {
    let count = SKIPPED.fetch_add(1, Ordering::SeqCst) + 1;
    eprintln!("SKIPPED ({count} so far): {why}");
    true
}

/// Whether a command can be run to a good end.
#[must_use]
pub fn works(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else {
        return false;
    };
    let quiet = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

/// Whether system calls of a program can be made to fail.
#[must_use]
pub fn strace() -> bool {
    works(&[
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "inject=fdatasync:error=EIO",
        "true",
    ])
}
