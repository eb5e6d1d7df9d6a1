//! Blows at descendants that no fork outruns, and that hit nobody else.
//!
//! A pass reads processes in ascending order and strikes each descendant the moment it is read. A process
//! with a signal pending cannot complete a fork, and what it forked before has a higher number: it lies
//! ahead of the pass. So one pass catches a storm that a "list first, then kill" would chase for ever; only
//! a wrap of the numbers between two reads needs another pass. STOP goes first, because a stopped process
//! costs nothing and does not react to the death of its neighbours; KILL follows when all stand still.
//!
//! A blow goes through a handle that is taken first and compared with what was read: a number that was
//! given to somebody else meanwhile is not struck. In a namespace of our own the kernel strikes all in one
//! piece, and nobody else is in reach.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getsid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal,
};

use super::proc::{Process, each_descendant, each_process, read};

/// Passes to bring everything to a stand before the killing starts anyway.
const PASSES: u32 = 32;
/// And the time they may take.
const STAND: Duration = Duration::from_millis(400);
/// How long what a killed helper left is hunted.
const HUNT: Duration = Duration::from_secs(2);
/// Between two passes of a hunt: the dying need a moment before they show as dead.
const MOMENT: Duration = Duration::from_millis(5);

/// What the helper holds.
pub(crate) struct Tree {
    holder: Pid,
    command: Pid,
    /// The holder is the first process of a namespace: everybody it can see is below it.
    alone: bool,
    /// Who was killed besides the command. Numbers, not processes: a count for people.
    killed: HashSet<Pid>,
}

impl Tree {
    /// What descends from the holder, which adopts all that is left behind below it.
    pub fn new(holder: Pid, command: Pid) -> Self {
        Self {
            holder,
            command,
            alone: false,
            killed: HashSet::new(),
        }
    }

    /// Everything in the namespace whose first process is the caller. For any other caller: what descends
    /// from it.
    pub fn of_namespace(command: Pid) -> Self {
        let holder = getpid();
        Self {
            alone: holder.is_init(),
            ..Self::new(holder, command)
        }
    }

    /// TERM to everything, once each. To whole groups where that is safe: a group is struck in one piece,
    /// so that a fork in it cannot slip between two reads.
    pub fn terminate(&self) {
        let own = getsid(Some(self.holder)).map_or(0, |session| session.as_raw_nonzero().get());
        // Each group with one of its members, by which it is known again, and whether any is stopped.
        let mut groups: Vec<(Pid, Process, bool)> = Vec::new();
        let walked = each_descendant(self.holder, None, |process| {
            if process.is_dead() {
                return;
            }
            // Before the second stage has made its session, it stands in ours, and its group with it.
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
                // The number is not proved to be theirs any more. If others are left: KILL finds them.
                continue;
            }
            strike_group(group, Signal::TERM);
            if stopped {
                // A stopped process would hear of the TERM only after the grace.
                strike_group(group, Signal::CONT);
            }
        }
    }

    /// Brings everything to a stand, then kills it.
    pub fn kill(&mut self) {
        if self.alone {
            strike_all(Signal::STOP);
            self.count();
            return strike_all(Signal::KILL);
        }
        if stand(self.holder, None).is_err() {
            // Without `/proc` the command's own group is all that can be named.
            return strike_group(self.command, Signal::KILL);
        }
        // A last pass instead of what stands: a number may have been given to somebody else since.
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

    /// Notes all that live, as those that are about to be killed.
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

    /// How many were killed besides the command.
    pub fn killed(&self) -> u32 {
        u32::try_from(self.killed.len()).unwrap_or(u32::MAX)
    }

    /// How many still live.
    pub fn living(&self) -> u32 {
        let mut living = 0;
        let _ = each_descendant(self.holder, None, |process| {
            living += u32::from(!process.is_dead())
        });
        living
    }
}

/// Brings everything below `root` to a stand, but for `spared` and what is below that.
fn stand(root: Pid, spared: Option<Pid>) -> io::Result<()> {
    let end = Instant::now() + STAND;
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

/// A failure means that it has ended already, or that we may not: both show in the next pass.
fn strike(process: &Process, signal: Signal) {
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(handle) => {
            if process.is_still_there() {
                let _ = pidfd_send_signal(handle, signal);
            }
        }
        // It has ended.
        Err(Errno::SRCH) => {}
        // No handles here, or none left: the number has to do, looked at as late as can be.
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

/// Everything that the first process of a namespace can see, except itself, in one piece.
fn strike_all(signal: Signal) {
    if getpid().is_init() {
        // The group of the first process stands for all, to this call.
        let _ = kill_process_group(Pid::INIT, signal);
    }
}

/// Kills what is left in the session that a command led. How many that were.
pub(crate) fn kill_session(leader: &Process) -> u32 {
    let session = leader.pid.as_raw_nonzero().get();
    hunt(|struck| {
        // While one of them lives the number is theirs; another leader of that number means that none does.
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

/// Kills everything below `reaper`, but for `spared` and what is below that. How many those were.
pub(crate) fn kill_below(reaper: Pid, spared: Option<Pid>) -> u32 {
    // Where it fails there is no `/proc`, and nothing to be found below.
    let _ = stand(reaper, spared);
    hunt(|struck| each_descendant(reaper, spared, |process| struck(process)))
}

/// Kills all that `walk` shows, again and again, until it shows nobody or the time is up.
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
