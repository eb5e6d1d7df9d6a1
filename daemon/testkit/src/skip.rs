//! Tests that need a feature which a machine may lack: they print a message, are counted, and fail if every feature is required.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

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
pub fn unless_root(what: &str) -> bool {
    !is_root() && skipped(&format!("only root can do it: {what}"))
}

/// Whether a test must be left out because it shows nothing as root, who may do everything.
pub fn unless_ordinary_user(what: &str) -> bool {
    is_root() && skipped(&format!("root may do it: {what}"))
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
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
