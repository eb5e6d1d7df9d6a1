//! The helper: a process of its own for each command, which holds together whatever the command starts.
//!
//! Two stages of the same binary. The first (`hold`) adopts and kills; it stays. The second (`exec`)
//! sets up what only the process itself can set up, and then turns into the command. Neither keeps
//! anything of the daemon's: the environment is empty, and the only descriptors are the three standard ones.

mod exec;
mod hold;
mod reap;
mod signals;

use std::ffi::{OsStr, OsString};

/// The argument that makes the second stage; the first stage's process id follows.
const SECOND_STAGE: &str = "exec";

/// What the daemon's `main` does when it is called as helper. Call it first of all: before a runtime, a
/// thread, or a look at the environment. The result is the exit code.
#[must_use]
pub fn child_main() -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let [.., stage, holder] = arguments.as_slice()
        && stage == OsStr::new(SECOND_STAGE)
    {
        return exec::main(holder);
    }
    hold::main(arguments)
}
