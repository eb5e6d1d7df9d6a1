//! How commands can really be held here: found by starting something that way.
//!
//! Done once, by the spawner thread before its first start. What it finds holds for as long as the daemon
//! runs: a system that takes it back later makes commands fail with the reason, and never run held by less.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::Strength;
use rustix::process::geteuid;
use sandbox::Place;
use serde::{Deserialize, Serialize};

use crate::found::{self, Found};
use crate::mechanism::{Bound, Held, Mechanism};
use crate::options::{Layers, Options};
use crate::place;
use crate::recipe::{Around, Purpose, Recipe, Why};
use crate::wire;

/// What the helper answers from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inside {
    /// It is the first process, and `/proc` is that of its namespace.
    pub first: bool,
    /// The namespace's own `kernel.pid_max` could be set, and holds.
    pub numbers: bool,
    /// The root cannot be written, and there is no network but the loopback.
    pub closed: bool,
}

/// An answer that takes longer is none.
const DEADLINE: Duration = Duration::from_secs(5);
/// The most that is repeated of what the program complains.
const COMPLAINT: u64 = 400;

/// The strongest way that works, and what is so then. No recipe: helpers are started directly.
pub(crate) fn strongest(options: &Options) -> (Option<Recipe>, Found) {
    if !cfg!(target_os = "linux") {
        return (None, elsewhere());
    }
    let root = geteuid().is_root();
    match open_one(options) {
        Ok((recipe, Tried { inside, walls })) => {
            let bound = match (root, inside.numbers) {
                (true, true) => Some(Bound::PidMax),
                (true, false) => None,
                (false, _) => options.limits.tasks.map(|_| Bound::Nproc),
            };
            let (walls, held) = match walls {
                Ok(alone) => {
                    let shared = alone.is_none();
                    (
                        found::Walls::Mounts { shared },
                        behind_mounts(&recipe, alone),
                    )
                }
                Err(why) => without_mounts(options, why),
            };
            let mechanism = Mechanism::Namespace {
                by: recipe.name(),
                bound,
                walls: held,
            };
            (Some(recipe), Found { mechanism, walls })
        }
        Err(why) => {
            let bound = options.limits.processes.filter(|_| !root);
            let (walls, held) = without_mounts(options, why.clone());
            let mechanism = Mechanism::Sweep {
                why,
                orphans_found: options.warden.is_some(),
                bound: bound.map(|_| Bound::Nproc),
                walls: held,
            };
            (None, Found { mechanism, walls })
        }
    }
}

/// The first way of opening namespaces that holds walls too; else the first that opens a process namespace.
fn open_one(options: &Options) -> Result<(Recipe, Tried), Why> {
    let both = [Recipe::new, |options: &Options| Ok(Recipe::direct(options))];
    let ways = match options.layers {
        Layers::Off => return Err("it is switched off".to_owned()),
        Layers::Landlock => return Err("only Landlock is to be used".to_owned()),
        Layers::Auto => &both[..],
        Layers::Bubblewrap => &both[..1],
        Layers::Direct => &both[1..],
    };
    let mut lesser = None;
    let mut whys = Vec::new();
    for way in ways {
        let tried = way(options).and_then(|recipe| Ok((try_out(&recipe)?, recipe)));
        match tried {
            Ok((tried, recipe)) if tried.walls.is_ok() => return Ok((recipe, tried)),
            Ok((tried, recipe)) => {
                whys.extend(tried.walls.clone().err());
                lesser = lesser.or(Some((recipe, tried)));
            }
            Err(why) => whys.push(why),
        }
    }
    let why = whys.join("; ");
    let (recipe, mut tried) = lesser.ok_or_else(|| why.clone())?;
    tried.walls = Err(why);
    Ok((recipe, tried))
}

/// Where there are no namespaces at all.
fn elsewhere() -> Found {
    if let Some(found) = seatbelt() {
        return found;
    }
    let why = "there is none for this system".to_owned();
    let walls = Held {
        why: Some(why.clone()),
        ..Held::default()
    };
    Found {
        mechanism: Mechanism::Group { walls },
        walls: found::Walls::Not(why),
    }
}

/// macOS. Partial: without the network there is no loopback of a session's own, and processes of others are seen.
fn seatbelt() -> Option<Found> {
    let program = sandbox::seatbelt::PROGRAM;
    let tried = Command::new(program)
        .args(["-p", "(version 1)(allow default)", "/usr/bin/true"])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !cfg!(target_os = "macos") || !tried.is_ok_and(|status| status.success()) {
        return None;
    }
    let walls = Held {
        strength: Strength::Partial,
        layers: vec![format!("Seatbelt (`{program}`)")],
        why: None,
    };
    Some(Found {
        mechanism: Mechanism::Group { walls },
        walls: found::Walls::Seatbelt,
    })
}

/// `alone`: why the commands of a session cannot share a loopback.
fn behind_mounts(recipe: &Recipe, alone: Option<Why>) -> Held {
    let mut layers = vec![format!("{} (files, processes, network)", recipe.name())];
    layers.extend(sandbox::Inner::layers());
    Held {
        strength: Strength::Full,
        layers,
        why: alone.map(|why| format!("each command has a loopback of its own: {why}")),
    }
}

/// What holds walls where mounts do not work, for this reason.
fn without_mounts(options: &Options, why: String) -> (found::Walls, Held) {
    let layers = sandbox::Inner::layers();
    let may = matches!(options.layers, Layers::Auto | Layers::Landlock);
    if may && sandbox::Inner::can_be_alone() {
        let held = Held {
            strength: Strength::Partial,
            layers,
            why: Some(why),
        };
        return (found::Walls::Landlock, held);
    }
    let held = Held {
        why: Some(why.clone()),
        ..Held::default()
    };
    (found::Walls::Not(why), held)
}

/// What trying out has shown.
struct Tried {
    inside: Inside,
    /// Whether walls hold too; and then, why the commands of a session cannot share a loopback, if so.
    walls: Result<Option<Why>, Why>,
}

/// Tries walls, which take everything that a namespace alone takes; only where they do not work, that alone.
fn try_out(recipe: &Recipe) -> Result<Tried, Why> {
    let plan = sandbox::Plan::to_probe();
    let walls = |network| Around {
        plan: Some(&plan),
        network,
        nothings: &[],
    };
    let shared = place::open(recipe)
        .map_err(|error| error.to_string())
        .and_then(|place| ask(recipe, &walls(false), Some(place)));
    let alone = match shared {
        Ok(inside) if inside.closed => {
            let walls = Ok(None);
            return Ok(Tried { inside, walls });
        }
        Ok(_) => "entering a network namespace does not hold".to_owned(),
        Err(why) => why,
    };
    let why = match ask(recipe, &walls(true), None) {
        Ok(inside) if inside.closed => {
            let walls = Ok(Some(alone));
            return Ok(Tried { inside, walls });
        }
        Ok(_) => "what is mounted does not hold".to_owned(),
        Err(why) => why,
    };
    let inside = ask(recipe, &Around::default(), None)?;
    let walls = Err(why);
    Ok(Tried { inside, walls })
}

/// Opens a namespace, and has the helper in it say how it looks from there.
fn ask(recipe: &Recipe, around: &Around<'_>, place: Option<Place>) -> Result<Inside, Why> {
    let failed = |error: io::Error| format!("`{}`: {error}", recipe.program().display());
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let mut command = recipe.command(Purpose::Probe, around);
    if let Some(place) = place {
        sandbox::enter_on_start(&mut command, Arc::new(place));
    }
    let spawned = command
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    // It holds the other end: that a helper has gone could not be heard.
    drop(command);
    let mut helper = spawned.map_err(failed)?;
    let instructed = recipe.instruct(&ours, Purpose::Probe, around);
    let answer = match instructed {
        // It went away before it was told anything: what it has said of that tells why.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
        instructed => instructed.and_then(|()| listen(&ours)),
    };
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
