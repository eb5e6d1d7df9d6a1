//! Going on in a fork of this process instead of in another program.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Makes `command` a fork of this process that calls `stage`, which becomes a program or returns an exit code. Nothing is open
/// there but the three standard descriptors, which are those of `command`; its program and arguments are not used.
///
/// # Errors
/// This process has threads: what they hold locked would stay so in a fork.
#[allow(
    unsafe_code,
    reason = "the standard library has no other way into a child"
)]
pub fn fork_on_start(
    command: &mut Command,
    stage: impl Fn() -> i32 + Send + Sync + 'static,
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with threads is not forked"));
    }
    let forked = move || {
        // SAFETY: what runs here uses no descriptor that it has not opened itself. One of these is the pipe by which
        // the standard library waits for an exec, which may come only when the other side has answered.
        unsafe {
            close_fds::close_open_fds(3, &[]);
        }
        std::process::exit(stage())
    };
    // SAFETY: this process has one thread, so its memory and locks are in a state that a fork can go on with.
    unsafe {
        command.pre_exec(forked);
    }
    Ok(())
}
