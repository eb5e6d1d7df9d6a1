//! Joining a control group before anything of a program runs.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

/// Starts the command in the group whose list of members this is.
#[allow(
    unsafe_code,
    reason = "the standard library has no other way into a child"
)]
pub fn join_on_start(command: &mut Command, members: Arc<OwnedFd>) {
    let join = move || {
        // For the kernel it is the process that writes.
        rustix::io::write(&members, b"0")?;
        Ok(())
    };
    // SAFETY: between fork and exec this makes one system call on a descriptor that `members` keeps
    // open. It allocates nothing: a system error is a number.
    unsafe {
        command.pre_exec(join);
    }
}
