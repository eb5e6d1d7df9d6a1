//! The helper: one process per command that manages all processes of the command.
//!
//! It has two stages. The first (`supervise`) adopts and kills processes, and stays. The second
//! (`exec`), a fork of it, sets up its own process and becomes the command. Neither inherits
//! anything from the daemon: the environment is empty, and only the three standard descriptors are
//! open.

mod exec;
mod inside;
mod memory;
#[cfg(target_os = "linux")]
pub(crate) mod open;
mod reap;
mod signals;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(not(target_os = "linux"))]
#[path = "sockets_none.rs"]
mod sockets;
mod supervise;

use std::ffi::{OsStr, OsString};

/// The argument of a first stage that is the first process of a namespace, followed by the maximum
/// number of process ids. `0`: unlimited.
pub(crate) const INSIDE: &str = "inside";
/// The argument after these that only requests a report of the state inside.
pub(crate) const PROBE: &str = "probe";

/// The argument of the opener, followed by the limit for the first process.
pub(crate) const OPEN: &str = "open";
/// The argument of a first process that an opener started, followed by whether there is a sandbox,
/// the user's identity, and the arguments of [`INSIDE`].
const FIRST: &str = "first";
/// The argument that only asks whether connections can be brokered outside namespaces.
pub(crate) const SOCKETS: &str = "sockets";
/// The argument of a process that tries to connect.
const CONNECTS: &str = "connects";
/// The argument that only requests the current namespaces.
pub(crate) const PLACE: &str = "place";

/// Entry point of the helper, called by the daemon's `main`. Call it before anything else: before a
/// runtime, a thread, or reading the environment. Returns the exit code.
#[must_use]
pub fn child_main() -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let numbers = |limit: &OsStr| limit.to_str().and_then(|limit| limit.parse().ok());
    #[cfg(target_os = "linux")]
    if let Some(code) = first_of_all(&arguments) {
        return code;
    }
    match arguments.as_slice() {
        [.., what, _] if what == OsStr::new(CONNECTS) => sockets::connecting(),
        [.., what] if what == OsStr::new(SOCKETS) => i32::from(!sockets::are_brokered(&arguments)),
        [.., place, limit, probe] if place == OsStr::new(INSIDE) && probe == OsStr::new(PROBE) => {
            inside::probe(numbers(limit).unwrap_or(0), &arguments)
        }
        [.., place, limit] if place == OsStr::new(INSIDE) => {
            let numbers = numbers(limit).unwrap_or(0);
            supervise::main(supervise::Placement::Inside { numbers })
        }
        #[cfg(target_os = "linux")]
        [.., place] if place == OsStr::new(PLACE) => crate::session_networks::give(),
        _ => supervise::main(supervise::Placement::Outside),
    }
}

/// Setup steps if this binary opens the namespaces itself. Returns the exit code if nothing else is
/// to be done.
#[cfg(target_os = "linux")]
fn first_of_all(arguments: &[OsString]) -> Option<i32> {
    // It receives all arguments of the first stage, and must not repeat this.
    if arguments
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|word| word == CONNECTS)
    {
        return None;
    }
    let at = |word: &str| arguments.iter().position(|argument| argument == word);
    if let Some(first) = at(FIRST) {
        let word = |offset: usize| arguments.get(first + offset).and_then(|word| word.to_str());
        let sandboxed = word(1) == Some("sandboxed");
        let finished = match word(2).map(str::parse) {
            Some(Ok(identity)) => sandbox::direct::finish(identity, sandboxed),
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
    let (before, after) = (arguments.get(..open)?, arguments.get(open + 1..)?);
    Some(open::main(before, after))
}

/// Reads as empty, and discards writes.
fn nothing() -> std::io::Result<std::fs::File> {
    std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
}
