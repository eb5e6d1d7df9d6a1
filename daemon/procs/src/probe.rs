//! Determines how commands can be contained here, by trying it.
//!
//! The spawner thread probes once, before its first start. The result holds for the daemon's
//! lifetime. If the system later withdraws a feature, commands fail with the reason and never run
//! with less containment.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::SandboxStrength;
use rustix::process::geteuid;
use sandbox::NetworkNamespace;
use serde::{Deserialize, Serialize};

use crate::child::SOCKETS;
use crate::findings::{self, ProbeResults};
use crate::mechanism::{Mechanism, ProcessLimit, SandboxReport};
use crate::options::{BackendChoice, HelperProgram, ProcsOptions};
use crate::recipe::{NamespaceOptions, Purpose, Reason, Recipe};
use crate::session_networks;
use crate::wire;

/// The helper's report from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InsideReport {
    /// It is the first process, and `/proc` belongs to its namespace.
    pub first: bool,
    /// The namespace's own `kernel.pid_max` could be set and works.
    pub numbers: bool,
    /// The root is read-only, and there is no network except the loopback.
    pub closed: bool,
    /// Connections can be brokered.
    pub brokered: bool,
}

/// Time limit for the answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// Maximum bytes reported of the program's standard error.
const COMPLAINT: u64 = 400;

/// Finds the strongest method that works. Without a recipe, helpers are started directly.
pub(crate) fn strongest(options: &ProcsOptions) -> (Option<Recipe>, ProbeResults) {
    if !cfg!(target_os = "linux") {
        return (None, elsewhere());
    }
    let root = geteuid().is_root();
    match open_one(options) {
        Ok((recipe, TrialResult { inside, sandbox })) => {
            let bound = match (root, inside.numbers) {
                (true, true) => Some(ProcessLimit::PidMax),
                (true, false) => None,
                (false, _) => options.limits.tasks.map(|_| ProcessLimit::Nproc),
            };
            let (sandbox, held) = match sandbox {
                Ok(alone) => {
                    let (shared, brokered) = (alone.is_none(), inside.brokered);
                    (
                        findings::SandboxBackend::Mounts { shared, brokered },
                        behind_mounts(&recipe, alone, brokered),
                    )
                }
                Err(why) => without_mounts(options, why),
            };
            let mechanism = Mechanism::Namespace {
                by: recipe.name(),
                bound,
                sandbox: held,
            };
            (Some(recipe), ProbeResults::new(mechanism, sandbox))
        }
        Err(why) => {
            let bound = options.limits.processes.filter(|_| !root);
            let (sandbox, held) = without_mounts(options, why.clone());
            let mechanism = Mechanism::Sweep {
                why,
                orphans_found: options.supervisor.is_some(),
                bound: bound.map(|_| ProcessLimit::Nproc),
                sandbox: held,
            };
            (None, ProbeResults::new(mechanism, sandbox))
        }
    }
}

/// The first method of opening namespaces that also supports a sandbox, or else the first that
/// opens a process namespace.
fn open_one(options: &ProcsOptions) -> Result<(Recipe, TrialResult), Reason> {
    let both = [Recipe::new, |options: &ProcsOptions| {
        Ok(Recipe::direct(options))
    }];
    let ways = match options.layers {
        BackendChoice::Off => return Err("it is switched off".to_owned()),
        BackendChoice::Landlock => return Err("only Landlock is to be used".to_owned()),
        BackendChoice::Auto => &both[..],
        BackendChoice::Bubblewrap => &both[..1],
        BackendChoice::Direct => &both[1..],
    };
    let mut lesser = None;
    let mut whys = Vec::new();
    for way in ways {
        let tried = way(options).and_then(|recipe| Ok((try_out(&recipe)?, recipe)));
        match tried {
            Ok((tried, recipe)) if tried.sandbox.is_ok() => return Ok((recipe, tried)),
            Ok((tried, recipe)) => {
                whys.extend(tried.sandbox.clone().err());
                lesser = lesser.or(Some((recipe, tried)));
            }
            Err(why) => whys.push(why),
        }
    }
    let why = whys.join("; ");
    let (recipe, mut tried) = lesser.ok_or_else(|| why.clone())?;
    tried.sandbox = Err(why);
    Ok((recipe, tried))
}

/// For systems without namespaces.
fn elsewhere() -> ProbeResults {
    if let Some(found) = seatbelt() {
        return found;
    }
    let why = "there is none for this system".to_owned();
    let sandbox = SandboxReport {
        why: Some(why.clone()),
        ..SandboxReport::default()
    };
    ProbeResults::new(
        Mechanism::Group { sandbox },
        findings::SandboxBackend::Not(why),
    )
}

/// macOS. Partial: without network access a session has no separate loopback, and processes of
/// others are visible.
fn seatbelt() -> Option<ProbeResults> {
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
    let sandbox = SandboxReport {
        strength: SandboxStrength::Partial,
        layers: vec![format!("Seatbelt (`{program}`)")],
        brokered: false,
        why: None,
    };
    Some(ProbeResults::new(
        Mechanism::Group { sandbox },
        findings::SandboxBackend::Seatbelt,
    ))
}

/// Why the sandbox is only partial without a broker.
const OPEN_SOCKETS: &str = "only known Unix sockets are hidden: the kernel does not let connections be brokered (seccomp user notification)";
/// The broker, among the layers.
const BROKER: &str = "socket broker";

/// `alone`: why the commands of a session cannot share a loopback.
fn behind_mounts(recipe: &Recipe, alone: Option<Reason>, brokered: bool) -> SandboxReport {
    let mut layers = vec![format!("{} (files, processes, network)", recipe.name())];
    layers.extend(layers_within(brokered));
    let alone = alone.map(|why| format!("each command has a separate loopback: {why}"));
    let open = (!brokered).then(|| OPEN_SOCKETS.to_owned());
    let whys: Vec<_> = open.into_iter().chain(alone).collect();
    SandboxReport {
        strength: match brokered {
            true => SandboxStrength::Full,
            false => SandboxStrength::Partial,
        },
        layers,
        brokered,
        why: (!whys.is_empty()).then(|| whys.join("; ")),
    }
}

/// The layers that a process applies to itself.
fn layers_within(brokered: bool) -> Vec<String> {
    let mut layers = sandbox::ProcessRestrictions::layers();
    layers.extend(brokered.then(|| BROKER.to_owned()));
    layers
}

/// Whether connections can be brokered without namespaces.
fn are_brokered(helper: &HelperProgram) -> bool {
    let tried = Command::new(&helper.program)
        .args(&helper.arguments)
        .arg(SOCKETS)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// The sandbox if mounts do not work, for this reason.
fn without_mounts(
    options: &ProcsOptions,
    why: String,
) -> (findings::SandboxBackend, SandboxReport) {
    let may = matches!(
        options.layers,
        BackendChoice::Auto | BackendChoice::Landlock
    );
    if may && sandbox::ProcessRestrictions::can_be_alone() {
        let brokered = are_brokered(&options.helper);
        let held = SandboxReport {
            strength: SandboxStrength::Partial,
            layers: layers_within(brokered),
            brokered,
            why: Some(why),
        };
        return (findings::SandboxBackend::Landlock { brokered }, held);
    }
    let held = SandboxReport {
        why: Some(why.clone()),
        ..SandboxReport::default()
    };
    (findings::SandboxBackend::Not(why), held)
}

/// Result of a trial.
struct TrialResult {
    inside: InsideReport,
    /// Whether the sandbox works. If so, why the commands of a session cannot share a loopback, if
    /// they cannot.
    sandbox: Result<Option<Reason>, Reason>,
}

/// Tries a sandbox, which includes everything that a plain namespace needs. Tries a plain namespace
/// only if that fails.
fn try_out(recipe: &Recipe) -> Result<TrialResult, Reason> {
    let plan = sandbox::MountPlan::to_probe();
    let sandbox = |network| NamespaceOptions {
        plan: Some(&plan),
        network,
        empty_files: &[],
    };
    let shared = session_networks::open(recipe)
        .map_err(|error| error.to_string())
        .and_then(|place| ask(recipe, &sandbox(false), Some(place)));
    let alone = match shared {
        Ok(inside) if inside.closed => {
            let sandbox = Ok(None);
            return Ok(TrialResult { inside, sandbox });
        }
        Ok(_) => "entering a network namespace has no effect".to_owned(),
        Err(why) => why,
    };
    let why = match ask(recipe, &sandbox(true), None) {
        Ok(inside) if inside.closed => {
            let sandbox = Ok(Some(alone));
            return Ok(TrialResult { inside, sandbox });
        }
        Ok(_) => "the mounts have no effect".to_owned(),
        Err(why) => why,
    };
    let inside = ask(recipe, &NamespaceOptions::default(), None)?;
    let sandbox = Err(why);
    Ok(TrialResult { inside, sandbox })
}

/// Opens a namespace and gets the helper's report from inside.
fn ask(
    recipe: &Recipe,
    around: &NamespaceOptions<'_>,
    place: Option<NetworkNamespace>,
) -> Result<InsideReport, Reason> {
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
    // It holds the other end, which would hide the helper's exit.
    drop(command);
    let mut helper = spawned.map_err(failed)?;
    let instructed = recipe.instruct(&ours, Purpose::Probe, around);
    let answer = match instructed {
        // It ended before reading the request. Its standard error says why.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
        instructed => instructed.and_then(|()| listen(&ours)),
    };
    // It has answered, or never will.
    let _ = helper.kill();
    let _ = helper.wait();
    match answer {
        Ok(Some(inside)) if inside.first => Ok(inside),
        Ok(Some(_)) => Err("what it opens is not a process namespace".to_owned()),
        Err(error) => Err(failed(error)),
        Ok(None) => {
            let mut complaint = String::new();
            if let Some(from) = helper.stderr.take() {
                // Unreadable output is omitted.
                let _ = from.take(COMPLAINT).read_to_string(&mut complaint);
            }
            Err(match complaint.trim() {
                "" => format!("`{}` does not start it", recipe.program().display()),
                complaint => complaint.lines().collect::<Vec<_>>().join(" · "),
            })
        }
    }
}

/// The answer, or `None` if it ended without one.
fn listen(ours: &UnixStream) -> io::Result<Option<InsideReport>> {
    let end = Instant::now() + DEADLINE;
    ours.set_read_timeout(Some(DEADLINE))?;
    let mut line = String::new();
    let late = || io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time");
    match BufReader::new(ours).read_line(&mut line) {
        Err(_) if Instant::now() >= end => Err(late()),
        // It ended without reading its message.
        Err(_) => Ok(None),
        Ok(_) => Ok(wire::read(&line).ok()),
    }
}
