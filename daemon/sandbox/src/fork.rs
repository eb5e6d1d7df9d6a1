//! Runs code in a fork of this process.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// Starts `command` as a fork of this process that calls `stage`, which becomes a program or returns an exit code. Nothing is
/// open there but the three standard descriptors, which are those of `command`: `stage` must bring no other one along. The
/// program and arguments of `command` are not used.
///
/// # Errors
/// It cannot be forked. On Linux also: this process has threads, and what they hold locked would stay so in a fork.
#[allow(
    unsafe_code,
    reason = "the standard library has no other way into a child"
)]
pub fn fork(
    mut command: Command,
    stage: impl Fn() -> i32 + Send + Sync + 'static,
) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    if !is_single_threaded()? {
        return Err(io::Error::other("a process with threads is not forked"));
    }
    let forked = move || {
        #[cfg(target_os = "linux")]
        for signal in 1..=LAST_SIGNAL {
            // SAFETY: only sets defaults. For KILL and STOP, which cannot be changed, it does nothing.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        // SAFETY: the code after this uses only descriptors that it opens itself. This also closes the pipe with which
        // the standard library waits for an exec: `stage` may have to talk to this process before its exec.
        unsafe {
            close_fds::close_open_fds(3, &[]);
        }
        std::process::exit(stage())
    };
    // SAFETY: this process has one thread, so no lock is held in the fork by a thread that does not exist there.
    unsafe {
        command.pre_exec(forked);
    }
    command.spawn()
}

/// Whether this process has one thread. The link count of `/proc/self/task` is two plus the number of threads. Its entries
/// are not counted: the kernel ends their listing early if a listed thread exits meanwhile.
#[cfg(target_os = "linux")]
fn is_single_threaded() -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(std::fs::metadata("/proc/self/task")?.nlink() == 3)
}

/// The last standard signal. Real-time signals have no handlers here.
#[cfg(target_os = "linux")]
const LAST_SIGNAL: i32 = 31;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn process_with_threads_is_not_forked() {
        // The runner of tests has threads itself.
        let error = fork(Command::new("unused"), || 0).unwrap_err();
        assert!(error.to_string().contains("threads"), "{error}");
    }
}
