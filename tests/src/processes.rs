//! The processes of this machine, from `/proc`: to find the processes that a test has started or left.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub ppid: u32,
    /// The program and its arguments, joined by blanks.
    pub command: String,
}

impl Process {
    /// Sends it a signal; one that is gone does not mind.
    pub fn signal(&self, signal: Signal) {
        send(self.pid, signal);
    }
}

/// Sends a signal to a process; one that is gone does not mind.
pub fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Whether a process of this number runs. A zombie does not.
#[must_use]
pub fn runs(pid: u32) -> bool {
    state(pid).is_some()
}

/// Everything that runs, zombies left out.
#[must_use]
pub fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

/// Those whose command line holds this text: for example a number of seconds that no other command sleeps.
#[must_use]
pub fn saying(text: &str) -> Vec<Process> {
    all()
        .into_iter()
        .filter(|process| process.command.contains(text))
        .collect()
}

/// Those that were started with this entry (`NAME=value`) in their environment, whatever they are called now.
#[must_use]
pub fn marked(entry: &str) -> Vec<Process> {
    all()
        .into_iter()
        .filter(|process| environment(process.pid).iter().any(|found| found == entry))
        .collect()
}

/// Everything that belongs to a directory of a test: by its environment, its working directory, its command line or a
/// lock on the home; and everything that descends from such a process, or from one of `known`.
#[must_use]
pub fn of(root: &Path, home: &Path, known: &[u32]) -> Vec<Process> {
    let known = [known, &locking(home)].concat();
    let everything = all();
    let own = std::process::id();
    let mut found: Vec<u32> = everything
        .iter()
        .filter(|process| {
            process.pid != own && (known.contains(&process.pid) || belongs(process, root))
        })
        .map(|process| process.pid)
        .collect();
    // A table of some hundred processes is read in a few rounds.
    loop {
        let more: Vec<u32> = everything
            .iter()
            .filter(|process| found.contains(&process.ppid) && !found.contains(&process.pid))
            .map(|process| process.pid)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    everything
        .into_iter()
        .filter(|process| found.contains(&process.pid))
        .collect()
}

/// The environment of a process, as `NAME=value`; empty if it is not readable.
#[must_use]
pub fn environment(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let entries = bytes
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty());
    entries
        .map(|entry| String::from_utf8_lossy(entry).into_owned())
        .collect()
}

/// How many descriptors a process has open. The daemon shows its own to root alone: see `skip::unless_root`.
///
/// # Panics
/// They are closed to this user.
#[must_use]
pub fn descriptors(pid: u32) -> usize {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    open.expect("descriptors that may be looked at").count()
}

/// How many threads a process has.
///
/// # Panics
/// It is gone, or the system does not say.
#[must_use]
pub fn threads(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    let count = line.and_then(|line| line.trim().parse().ok());
    count.expect("its threads")
}

/// The resident memory of a process, in bytes.
///
/// # Panics
/// It is gone, or the system does not say.
#[must_use]
pub fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.expect("its memory") * 1024
}

/// Those that hold a lock on this directory or on a file right in it: a home's daemon and its parent, whose environment
/// and directory are closed to an ordinary user.
fn locking(directory: &Path) -> Vec<u32> {
    // Read before the files: the number of a file that is deleted in between may be that of another house's lock by now.
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let own: Vec<String> = std::iter::once(fs::metadata(directory))
        .chain(files.map(|file| file.metadata()))
        .filter_map(|metadata| Some(metadata.ok()?.ino().to_string()))
        .collect();
    // `1: FLOCK ADVISORY WRITE 4396 fe:00:10421599 0 EOF`.
    let holder = |line: &str| {
        let mut words = line.split_whitespace().skip(4);
        let (pid, file) = (words.next()?.parse().ok()?, words.next()?);
        let inode = file.rsplit(':').next()?;
        own.iter().any(|own| own == inode).then_some(pid)
    };
    locks.lines().filter_map(holder).collect()
}

fn belongs(process: &Process, root: &Path) -> bool {
    let in_cwd =
        fs::read_link(format!("/proc/{}/cwd", process.pid)).is_ok_and(|cwd| cwd.starts_with(root));
    let needle = root.as_os_str().as_bytes();
    let in_environment = || {
        let bytes = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle)
    };
    in_cwd || process.command.contains(&*root.to_string_lossy()) || in_environment()
}

fn process(pid: u32) -> Option<Process> {
    let ppid = state(pid)?;
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let command = String::from_utf8_lossy(&bytes)
        .replace('\0', " ")
        .trim_end()
        .to_owned();
    Some(Process { pid, ppid, command })
}

/// The parent of a process that runs.
fn state(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may contain anything: the fields follow the last bracket.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // The first thread of a killed process may be gone before the others, which still hold its files.
    let others = || fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|tasks| tasks.count() > 1);
    (!matches!(state, "Z" | "X") || others()).then_some(parent)
}
