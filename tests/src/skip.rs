//! Tests that need a feature which a machine may lack: they print a message, are counted, and fail if every feature is required.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Skips so far, in this process.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Whether a test must be left out because `there` is false. Says so; with `REASONIX_NO_SKIPS=1` it fails instead.
///
/// # Panics
/// Nothing may be left out, and this would be.
#[allow(clippy::print_stderr, reason = "a skip has to be seen")]
pub fn unless(there: bool, what: &str) -> bool {
    if there {
        return false;
    }
    let count = SKIPPED.fetch_add(1, Ordering::SeqCst) + 1;
    assert!(
        std::env::var_os("REASONIX_NO_SKIPS").is_none(),
        "this machine lacks what a test needs, and no test may be left out: {what}"
    );
    eprintln!("SKIPPED ({count} so far): this machine lacks {what}");
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
