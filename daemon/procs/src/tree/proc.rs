//! Reads `/proc`: existing processes and their descendants.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};

use rustix::process::Pid;

/// A process as shown in `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: Pid,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub state: u8,
    /// Start time in ticks since boot. With the id, it identifies one process permanently.
    pub started: u64,
}

impl Process {
    /// Whether it has ended and waits for its parent.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }

    pub fn is_stopped(&self) -> bool {
        self.state == b'T'
    }

    /// Whether the process with this id is still the same one.
    pub fn is_still_there(&self) -> bool {
        read(self.pid).is_some_and(|now| now.started == self.started)
    }
}

/// The process with this id, if it exists.
pub(crate) fn read(pid: Pid) -> Option<Process> {
    let mut line = [0; LINE];
    let read = File::open(format!("/proc/{pid}/stat"))
        .and_then(|mut file| file.read(&mut line))
        .ok()?;
    parse(pid, line.get(..read)?)
}

/// Maximum length of a `stat` line: at most 64 bytes of name, and 50 numbers of 20 digits.
const LINE: usize = 1200;

/// Visits each descendant of `root`, except `spared` and its descendants. A descendant is visited
/// as soon as it is read if its parent was read before, otherwise at the end. Ids ascend from
/// parent to child, except after a wrap-around or an adoption.
pub(crate) fn each_descendant(
    root: Pid,
    spared: Option<Pid>,
    mut visit: impl FnMut(&Process),
) -> io::Result<()> {
    let mut family = HashSet::from([root.as_raw_nonzero().get()]);
    let mut others = Vec::new();
    let mut take = |family: &mut HashSet<i32>, process: &Process| {
        let ours = family.contains(&process.parent) && Some(process.pid) != spared;
        if ours {
            family.insert(process.pid.as_raw_nonzero().get());
            visit(process);
        }
        ours
    };
    each_process(|process| {
        if !take(&mut family, process) {
            others.push(*process);
        }
    })?;
    loop {
        let before = others.len();
        others.retain(|process| !take(&mut family, process));
        if others.len() == before {
            return Ok(());
        }
    }
}

/// Visits each process of the system in ascending order. Processes that end meanwhile are skipped.
pub(crate) fn each_process(mut visit: impl FnMut(&Process)) -> io::Result<()> {
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.parse().ok())
            .and_then(Pid::from_raw);
        if let Some(process) = pid.and_then(read) {
            visit(&process);
        }
    }
    Ok(())
}

/// Parses the first fields of a `stat` line. A process chooses its own name, which may contain
/// spaces, brackets and line ends. So parsing starts after the last bracket.
pub(crate) fn parse(pid: Pid, line: &[u8]) -> Option<Process> {
    /// Fields between the session and the start time.
    const BETWEEN: usize = 15;
    let bracket = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(bracket + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut number = || fields.next()?.parse().ok();
    Some(Process {
        pid,
        parent: number()?,
        group: number()?,
        session: number()?,
        state,
        started: fields.nth(BETWEEN)?.parse().ok()?,
    })
}

/// The children of a process, if the system reports them quickly. Otherwise empty.
pub(crate) fn children(of: Pid) -> Vec<Pid> {
    std::fs::read_to_string(format!("/proc/{of}/task/{of}/children"))
        .unwrap_or_default()
        .split_ascii_whitespace()
        .filter_map(|number| number.parse().ok().and_then(Pid::from_raw))
        .collect()
}

/// The process's id in its innermost namespace.
pub(crate) fn inner_number(of: Pid) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{of}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_ascii_whitespace().last()?.parse().ok()
}

/// Bytes of memory that a process has in use. 0 if it is gone.
pub(crate) fn resident(of: Pid) -> u64 {
    kilobytes(of, "status", "VmRSS:").unwrap_or(0)
}

/// The same, with what it shares divided among those that share it. `None`: it is gone, or not ours
/// to ask.
pub(crate) fn proportional(of: Pid) -> Option<u64> {
    kilobytes(of, "smaps_rollup", "Pss:")
}

fn kilobytes(of: Pid, file: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{of}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
