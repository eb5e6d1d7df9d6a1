//! Signals all descendants, faster than they can fork, and no other process.
//!
//! A pass reads processes in ascending order of their ids and signals each descendant as soon as it
//! is read. A process with a pending signal cannot complete a fork, and its earlier children have
//! higher ids, so the pass reaches them. So one pass catches a fork bomb that "list first, then
//! kill" would chase forever. Only a wrap-around of the ids during a pass requires another one.
//! STOP comes first, because a stopped process uses no time and does not react to the death of
//! others. KILL follows when all are stopped.
//!
//! Each signal goes through a handle that is opened first and compared with the process that was
//! read, so a reused id is never signalled. In our own namespace the kernel signals all processes
//! at once, and no others are reachable.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getsid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal,
};

use super::proc::{Process, each_descendant, each_process, proportional, read, resident};

/// Number of passes to stop all processes before the killing starts anyway.
const PASSES: u32 = 32;
/// Time limit of these passes.
const STOP_TIME: Duration = Duration::from_millis(400);
/// How long to search for orphans of a killed helper.
const HUNT: Duration = Duration::from_secs(2);
/// Pause between two passes of that search: a killed process needs a moment to show as dead.
const MOMENT: Duration = Duration::from_millis(5);

/// The processes of a helper.
pub(crate) struct Tree {
    holder: Pid,
    command: Pid,
    /// The helper is the first process of a namespace: all visible processes are below it.
    alone: bool,
    /// Processes killed besides the command. Only ids, because the count is for users.
    killed: HashSet<Pid>,
}

impl Tree {
    /// The descendants of the helper, which adopts all orphans below it.
    pub fn new(holder: Pid, command: Pid) -> Self {
        Self {
            holder,
            command,
            alone: false,
            killed: HashSet::new(),
        }
    }

    /// Everything in the namespace whose first process is the caller. For any other caller: its
    /// descendants.
    pub fn of_namespace(command: Pid) -> Self {
        let holder = getpid();
        Self {
            alone: holder.is_init(),
            ..Self::new(holder, command)
        }
    }

    /// Bytes of memory that all processes have in use, with what they share counted for each.
    pub fn resident(&self) -> u64 {
        self.sum(resident)
    }

    /// The same, with what they share divided among them. Takes longer.
    pub fn proportional(&self) -> u64 {
        self.sum(|pid| proportional(pid).unwrap_or_else(|| resident(pid)))
    }

    fn sum(&self, of: impl Fn(Pid) -> u64) -> u64 {
        let mut sum = 0_u64;
        let mut add = |process: &Process| {
            if process.pid != self.holder && !process.is_dead() {
                sum = sum.saturating_add(of(process.pid));
            }
        };
        // Without `/proc` nothing is known.
        let _ = match self.alone {
            true => each_process(add),
            false => each_descendant(self.holder, None, &mut add),
        };
        sum
    }

    /// Sends TERM to every process once. Signals whole groups if that is safe: that is atomic, so a
    /// fork cannot slip between two reads.
    pub fn terminate(&self) {
        let own = getsid(Some(self.holder)).map_or(0, |session| session.as_raw_nonzero().get());
        // Each group with one of its members, to recognise it, and whether any is stopped.
        let mut groups: Vec<(Pid, Process, bool)> = Vec::new();
        let walked = each_descendant(self.holder, None, |process| {
            if process.is_dead() {
                return;
            }
            // Before the second stage has created its session, its group belongs to ours.
            match Pid::from_raw(process.group).filter(|_| process.session != own) {
                Some(group) => match groups.iter_mut().find(|(known, ..)| *known == group) {
                    Some((.., stopped)) => *stopped |= process.is_stopped(),
                    None => groups.push((group, *process, process.is_stopped())),
                },
                None => strike(process, Signal::TERM),
            }
        });
        if walked.is_err() {
            strike_group(self.command, Signal::TERM);
        }
        for (group, member, stopped) in groups {
            if !member.is_still_there() {
                // The group id may have been reused. KILL finds remaining processes.
                continue;
            }
            strike_group(group, Signal::TERM);
            if stopped {
                // A stopped process would receive TERM only after the grace period.
                strike_group(group, Signal::CONT);
            }
        }
    }

    /// Stops all processes, then kills them.
    pub fn kill(&mut self) {
        if self.alone {
            strike_all(Signal::STOP);
            self.count();
            return strike_all(Signal::KILL);
        }
        if stop_all(self.holder, None).is_err() {
            // Without `/proc`, only the command's own group is known.
            return strike_group(self.command, Signal::KILL);
        }
        // Reads again instead of using the earlier list: an id may have been reused since.
        let Self {
            holder,
            command,
            killed,
            ..
        } = self;
        let _ = each_descendant(*holder, None, |process| {
            if process.is_dead() {
                return;
            }
            strike(process, Signal::KILL);
            if process.pid != *command {
                killed.insert(process.pid);
            }
        });
    }

    /// Records all living processes, which are about to be killed.
    fn count(&mut self) {
        let Self {
            holder,
            command,
            killed,
            ..
        } = self;
        let _ = each_process(|process| {
            if !process.is_dead() && process.pid != *command && process.pid != *holder {
                killed.insert(process.pid);
            }
        });
    }

    /// Number of processes killed besides the command.
    pub fn killed(&self) -> u32 {
        u32::try_from(self.killed.len()).unwrap_or(u32::MAX)
    }

    /// Number of processes still alive.
    pub fn living(&self) -> u32 {
        let mut living = 0;
        let _ = each_descendant(self.holder, None, |process| {
            living += u32::from(!process.is_dead())
        });
        living
    }
}

/// Stops everything below `root`, except `spared` and its descendants.
fn stop_all(root: Pid, spared: Option<Pid>) -> io::Result<()> {
    let end = Instant::now() + STOP_TIME;
    let mut standing = HashSet::new();
    for _ in 0..PASSES {
        let before = standing.len();
        each_descendant(root, spared, |process| {
            if !process.is_dead() && standing.insert(process.pid) {
                strike(process, Signal::STOP);
            }
        })?;
        if standing.len() == before || Instant::now() >= end {
            break;
        }
    }
    Ok(())
}

/// An error means that it has ended or may not be signalled. Both show in the next pass.
fn strike(process: &Process, signal: Signal) {
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(handle) => {
            if process.is_still_there() {
                let _ = pidfd_send_signal(handle, signal);
            }
        }
        // It has ended.
        Err(Errno::SRCH) => {}
        // No handle is available: uses the id, checked as late as possible.
        Err(_) => {
            if process.is_still_there() {
                let _ = kill_process(process.pid, signal);
            }
        }
    }
}

fn strike_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

/// Signals everything that the first process of a namespace can see, except itself, at once.
fn strike_all(signal: Signal) {
    if getpid().is_init() {
        // For this call the group of the first process means all processes.
        let _ = kill_process_group(Pid::INIT, signal);
    }
}

/// Kills the rest of a command's Unix session. Returns how many were killed.
pub(crate) fn kill_session(leader: &Process) -> u32 {
    let session = leader.pid.as_raw_nonzero().get();
    hunt(|struck| {
        // While one of its processes lives, the session id is not reused. Another leader with that
        // id means that none lives.
        if read(leader.pid).is_some_and(|now| now.started != leader.started) {
            return Ok(());
        }
        each_process(|process| {
            if process.session == session && process.started >= leader.started {
                struck(process);
            }
        })
    })
}

/// Kills everything below `reaper`, except `spared` and its descendants. Returns how many were
/// killed.
pub(crate) fn kill_below(reaper: Pid, spared: Option<Pid>) -> u32 {
    // If this fails there is no `/proc`, and nothing can be found.
    let _ = stop_all(reaper, spared);
    hunt(|struck| each_descendant(reaper, spared, |process| struck(process)))
}

/// Kills all processes that `walk` visits, repeatedly, until it visits none or the time is up.
fn hunt(walk: impl Fn(&mut dyn FnMut(&Process)) -> io::Result<()>) -> u32 {
    let end = Instant::now() + HUNT;
    let mut killed = HashSet::new();
    loop {
        let mut left = false;
        let walked = walk(&mut |process| {
            if !process.is_dead() {
                left = true;
                strike(process, Signal::KILL);
                killed.insert(process.pid);
            }
        });
        if walked.is_err() || !left || Instant::now() >= end {
            return u32::try_from(killed.len()).unwrap_or(u32::MAX);
        }
        std::thread::sleep(MOMENT);
    }
}
