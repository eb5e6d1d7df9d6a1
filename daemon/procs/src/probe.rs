//! Whether a process namespace can really be opened here: found by opening one.
//!
//! Done once, by the spawner thread before its first start. What it finds holds for as long as the daemon
//! runs: a system that takes it back later makes commands fail with the reason, and never run held by less.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::mechanism::{Bound, Mechanism};
use crate::options::{Namespaces, Options};
use crate::recipe::{Recipe, Why};
use crate::spawner;
use crate::wire;

/// What the helper answers from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inside {
    /// It is the first process, and `/proc` is that of its namespace.
    pub first: bool,
    /// The namespace's own `kernel.pid_max` could be set, and holds.
    pub numbers: bool,
}

/// An answer that takes longer is none.
const DEADLINE: Duration = Duration::from_secs(5);
/// The most that is repeated of what the program complains.
const COMPLAINT: u64 = 400;

/// The strongest way that works, and its name. `None`: helpers are started directly.
pub(crate) fn strongest(options: &Options) -> (Option<Recipe>, Mechanism) {
    if !cfg!(target_os = "linux") {
        return (None, Mechanism::Group);
    }
    let found = match options.namespaces {
        Namespaces::Off => Err("it is switched off".to_owned()),
        Namespaces::Auto => Recipe::new(options).and_then(|recipe| {
            let inside = ask(&recipe)?;
            Ok((recipe, inside))
        }),
    };
    let root = geteuid().is_root();
    match found {
        Ok((recipe, inside)) => {
            let bound = match (root, inside.numbers) {
                (true, true) => Some(Bound::PidMax),
                (true, false) => None,
                (false, _) => options.limits.tasks.map(|_| Bound::Nproc),
            };
            (Some(recipe), Mechanism::Namespace { bound })
        }
        Err(why) => {
            let bound = options.limits.processes.filter(|_| !root);
            let mechanism = Mechanism::Sweep {
                why,
                orphans_found: options.warden.is_some(),
                bound: bound.map(|_| Bound::Nproc),
            };
            (None, mechanism)
        }
    }
}

/// Opens a namespace, and has the helper in it say how it looks from there.
fn ask(recipe: &Recipe) -> Result<Inside, Why> {
    let failed = |error: io::Error| format!("`{}`: {error}", recipe.program().display());
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    spawner::hand_over(&ours, recipe).map_err(failed)?;
    let mut helper = Command::new(recipe.program())
        .args(recipe.to_probe())
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let answer = listen(&ours);
    // It has answered, or it will not: what it still does is of no use.
    let _ = helper.kill();
    let _ = helper.wait();
    match answer {
        Ok(Some(inside)) if inside.first => Ok(inside),
        Ok(Some(_)) => Err("what it opens is not a process namespace".to_owned()),
        Err(error) => Err(failed(error)),
        Ok(None) => {
            let mut complaint = String::new();
            if let Some(from) = helper.stderr.take() {
                // What cannot be read is not repeated.
                let _ = from.take(COMPLAINT).read_to_string(&mut complaint);
            }
            Err(match complaint.trim() {
                "" => format!("`{}` does not start it", recipe.program().display()),
                complaint => complaint.lines().collect::<Vec<_>>().join(" · "),
            })
        }
    }
}

/// The answer; `None` where it ended without one.
fn listen(ours: &UnixStream) -> io::Result<Option<Inside>> {
    let end = Instant::now() + DEADLINE;
    ours.set_read_timeout(Some(DEADLINE))?;
    let mut line = String::new();
    let late = || io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time");
    match BufReader::new(ours).read_line(&mut line) {
        Err(_) if Instant::now() >= end => Err(late()),
        // It went away, without even taking what was laid ready for it.
        Err(_) => Ok(None),
        Ok(_) => Ok(wire::read(&line).ok()),
    }
}
