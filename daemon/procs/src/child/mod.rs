//! The helper: a process of its own for each command, which holds together whatever the command starts.
//!
//! Two stages of the same binary. The first (`hold`) adopts and kills; it stays. The second (`exec`)
//! sets up what only the process itself can set up, and then turns into the command. Neither keeps
//! anything of the daemon's: the environment is empty, and the only descriptors are the three standard ones.

mod exec;
mod hold;
mod inside;
mod reap;
mod signals;

use std::ffi::{OsStr, OsString};

/// The argument that makes the second stage; the first stage's process id follows.
const SECOND_STAGE: &str = "exec";
/// The argument that says that the first stage is the first process of a namespace; how many process
/// numbers that may give out follows, `0` for as many as it likes.
pub(crate) const INSIDE: &str = "inside";
/// The argument after these that asks only how it looks from there.
pub(crate) const PROBE: &str = "probe";

/// What the daemon's `main` does when it is called as helper. Call it first of all: before a runtime, a
/// thread, or a look at the environment. The result is the exit code.
#[must_use]
pub fn child_main() -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let numbers = |told: &OsStr| told.to_str().and_then(|told| told.parse().ok());
    match arguments.as_slice() {
        [.., stage, holder] if stage == OsStr::new(SECOND_STAGE) => exec::main(holder),
        [.., place, told, probe] if place == OsStr::new(INSIDE) && probe == OsStr::new(PROBE) => {
            inside::probe(numbers(told).unwrap_or(0))
        }
        [.., place, told] if place == OsStr::new(INSIDE) => {
            let numbers = numbers(told).unwrap_or(0);
            hold::main(arguments, hold::Place::Inside { numbers })
        }
        _ => hold::main(arguments, hold::Place::Outside),
    }
}
