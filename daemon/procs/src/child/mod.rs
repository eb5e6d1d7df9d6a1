//! The helper: a process of its own for each command, which holds together whatever the command starts.
//!
//! Two stages of the same binary. The first (`hold`) adopts and kills; it stays. The second (`exec`)
//! sets up what only the process itself can set up, and then turns into the command. Neither keeps
//! anything of the daemon's: the environment is empty, and the only descriptors are the three standard ones.

mod exec;
mod hold;
mod inside;
#[cfg(target_os = "linux")]
pub(crate) mod open;
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

/// The argument that makes the opener; what the first process is told about numbers follows.
pub(crate) const OPEN: &str = "open";
/// The argument of a first process that an opener has started; whether there are walls, who it is, and what
/// [`INSIDE`] says follow.
const FIRST: &str = "first";
/// The argument that asks only for the namespaces it is in.
pub(crate) const PLACE: &str = "place";

/// What the daemon's `main` does when it is called as helper. Call it first of all: before a runtime, a
/// thread, or a look at the environment. The result is the exit code.
#[must_use]
pub fn child_main() -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let numbers = |told: &OsStr| told.to_str().and_then(|told| told.parse().ok());
    #[cfg(target_os = "linux")]
    if let Some(code) = first_of_all(&arguments) {
        return code;
    }
    match arguments.as_slice() {
        [.., stage, holder] if stage == OsStr::new(SECOND_STAGE) => exec::main(holder),
        [.., place, told, probe] if place == OsStr::new(INSIDE) && probe == OsStr::new(PROBE) => {
            inside::probe(numbers(told).unwrap_or(0))
        }
        [.., place, told] if place == OsStr::new(INSIDE) => {
            let numbers = numbers(told).unwrap_or(0);
            hold::main(arguments, hold::Place::Inside { numbers })
        }
        #[cfg(target_os = "linux")]
        [.., place] if place == OsStr::new(PLACE) => crate::place::give(),
        _ => hold::main(arguments, hold::Place::Outside),
    }
}

/// What comes before all else where this binary opens the namespaces itself. The exit code, where that was all.
#[cfg(target_os = "linux")]
fn first_of_all(arguments: &[OsString]) -> Option<i32> {
    // The second stage gets all that the first was told, and is not the first.
    if arguments
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|word| word == SECOND_STAGE)
    {
        return None;
    }
    let at = |word: &str| arguments.iter().position(|argument| argument == word);
    if let Some(first) = at(FIRST) {
        let word = |offset: usize| arguments.get(first + offset).and_then(|word| word.to_str());
        let walled = word(1) == Some("walled");
        let finished = match word(2).map(str::parse) {
            Some(Ok(identity)) => sandbox::direct::finish(identity, walled),
            _ => return Some(1),
        };
        if let Err(error) = finished {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "close the first process in: {error}");
            return Some(1);
        }
        return None;
    }
    let open = at(OPEN)?;
    let (before, told) = (arguments.get(..open)?, arguments.get(open + 1..)?);
    Some(open::main(before, told))
}

/// What reads as nothing, and takes everything.
fn nothing() -> std::io::Result<std::fs::File> {
    std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
}
