//! Descendants by `/proc`, and blows that no fork outruns.
//!
//! A pass reads processes in ascending order and strikes each descendant the moment it is read. A process
//! with a signal pending cannot complete a fork, and what it forked before has a higher number: it lies
//! ahead of the pass. So one pass catches a storm that a "list first, then kill" would chase for ever; only
//! a wrap of the numbers between two reads needs another pass. STOP goes first, because a stopped process
//! costs nothing and does not react to the death of its neighbours; KILL follows when all stand still.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getsid, kill_process, kill_process_group};

/// Passes to bring everything to a stand before the killing starts anyway.
const PASSES: u32 = 32;
/// And the time they may take.
const STAND: Duration = Duration::from_millis(400);
/// How long the rest of a session is hunted after its helper was killed.
const HUNT: Duration = Duration::from_secs(2);

/// A process as `/proc/<pid>/stat` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub pid: Pid,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub state: u8,
}

impl Process {
    /// Has ended; only its parent has not asked how.
    fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }

    fn is_stopped(&self) -> bool {
        self.state == b'T'
    }
}

/// What the helper holds.
pub(crate) struct Tree {
    holder: Pid,
    command: Pid,
    /// Who was killed besides the command. Numbers, not processes: a count for people.
    killed: HashSet<Pid>,
}

impl Tree {
    pub fn new(holder: Pid, command: Pid) -> Self {
        Self {
            holder,
            command,
            killed: HashSet::new(),
        }
    }

    /// TERM to everything, once each. To whole groups where that is safe: a group is struck in one piece,
    /// so that a fork in it cannot slip between two reads.
    pub fn terminate(&self) {
        let own = getsid(Some(self.holder)).map_or(0, |session| session.as_raw_nonzero().get());
        let mut groups: Vec<(Pid, bool)> = Vec::new();
        let walked = each_descendant(self.holder, |process| {
            if process.is_dead() {
                return;
            }
            // Before the second stage has made its session, it stands in ours, and its group with it.
            match Pid::from_raw(process.group).filter(|_| process.session != own) {
                Some(group) => match groups.iter_mut().find(|(known, _)| *known == group) {
                    Some((_, stopped)) => *stopped |= process.is_stopped(),
                    None => groups.push((group, process.is_stopped())),
                },
                None => strike(process.pid, Signal::TERM),
            }
        });
        if walked.is_err() {
            strike_group(self.command, Signal::TERM);
        }
        for (group, stopped) in groups {
            strike_group(group, Signal::TERM);
            if stopped {
                // A stopped process would hear of the TERM only after the grace.
                strike_group(group, Signal::CONT);
            }
        }
    }

    /// Brings everything to a stand, then kills it.
    pub fn kill(&mut self) {
        let end = Instant::now() + STAND;
        let mut standing = HashSet::new();
        for _ in 0..PASSES {
            let before = standing.len();
            let walked = each_descendant(self.holder, |process| {
                if !process.is_dead() && standing.insert(process.pid) {
                    strike(process.pid, Signal::STOP);
                }
            });
            if walked.is_err() {
                // Without `/proc` the command's own group is all that can be named.
                strike_group(self.command, Signal::KILL);
                return;
            }
            if standing.len() == before || Instant::now() >= end {
                break;
            }
        }
        // A last pass instead of the set: a number in the set may have been given to somebody else since.
        let Self {
            holder,
            command,
            killed,
        } = self;
        let _ = each_descendant(*holder, |process| {
            if process.is_dead() {
                return;
            }
            strike(process.pid, Signal::KILL);
            if process.pid != *command {
                killed.insert(process.pid);
            }
        });
    }

    /// How many were killed besides the command.
    pub fn killed(&self) -> u32 {
        u32::try_from(self.killed.len()).unwrap_or(u32::MAX)
    }

    /// How many still live.
    pub fn living(&self) -> u32 {
        let mut living = 0;
        let _ = each_descendant(self.holder, |process| {
            living += u32::from(!process.is_dead())
        });
        living
    }
}

/// A failure means that it has ended already, or that we may not: both show in the next pass.
fn strike(pid: Pid, signal: Signal) {
    let _ = kill_process(pid, signal);
}

fn strike_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

/// Kills what is left in the session that a command led. How many that were.
pub(crate) fn kill_session(os_pid: u32) -> u32 {
    let Some(session) = super::pid(os_pid).map(|pid| pid.as_raw_nonzero().get()) else {
        return 0;
    };
    let end = Instant::now() + HUNT;
    let mut killed = HashSet::new();
    loop {
        let mut left = false;
        let walked = each_process(|process| {
            if process.session == session && !process.is_dead() {
                left = true;
                strike(process.pid, Signal::KILL);
                killed.insert(process.pid);
            }
        });
        if walked.is_err() || !left || Instant::now() >= end {
            return u32::try_from(killed.len()).unwrap_or(u32::MAX);
        }
        // The dying need a moment before they show as dead.
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Visits each descendant of `root`, the moment it is read where its parent was read before it (numbers
/// ascend from parent to child, except after a wrap or an adoption), else at the end.
pub(super) fn each_descendant(root: Pid, mut visit: impl FnMut(&Process)) -> io::Result<()> {
    let mut family = HashSet::from([root.as_raw_nonzero().get()]);
    let mut others = Vec::new();
    each_process(|process| {
        if family.contains(&process.parent) {
            family.insert(process.pid.as_raw_nonzero().get());
            visit(process);
        } else {
            others.push(*process);
        }
    })?;
    loop {
        let before = others.len();
        others.retain(|process| {
            let ours = family.contains(&process.parent);
            if ours {
                family.insert(process.pid.as_raw_nonzero().get());
                visit(process);
            }
            !ours
        });
        if others.len() == before {
            return Ok(());
        }
    }
}

/// Visits each process of the system in ascending order; those that end meanwhile are left out.
fn each_process(mut visit: impl FnMut(&Process)) -> io::Result<()> {
    let mut path = String::with_capacity(32);
    let mut line = [0; 512];
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name
            .to_str()
            .and_then(|name| name.parse().ok())
            .and_then(Pid::from_raw)
        else {
            continue;
        };
        path.clear();
        path.push_str("/proc/");
        path.push_str(name.to_str().unwrap_or_default());
        path.push_str("/stat");
        let Ok(read) = File::open(&path).and_then(|mut file| file.read(&mut line)) else {
            continue;
        };
        if let Some(process) = line.get(..read).and_then(|line| parse(pid, line)) {
            visit(&process);
        }
    }
    Ok(())
}

/// The first fields of a `stat` line. The name in it is the process's own choice, and may hold blanks,
/// brackets and line ends: what counts starts after the last bracket.
pub(super) fn parse(pid: Pid, line: &[u8]) -> Option<Process> {
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
    })
}
