//! For systems without subreapers: only the command's process group can be reached.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

pub(crate) struct Tree {
    group: Pid,
}

impl Tree {
    pub fn new(_holder: Pid, command: Pid) -> Self {
        Self { group: command }
    }

    /// There are no namespaces here.
    pub fn of_namespace(command: Pid) -> Self {
        Self { group: command }
    }

    /// Sends TERM to the group.
    pub fn terminate(&self) {
        let _ = kill_process_group(self.group, Signal::TERM);
    }

    /// Sends KILL to the group.
    pub fn kill(&mut self) {
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    /// The memory of a group is unknown.
    pub fn resident(&self) -> u64 {
        0
    }

    /// As [`Tree::resident`].
    pub fn proportional(&self) -> u64 {
        0
    }

    /// The size of a group is unknown.
    pub fn killed(&self) -> u32 {
        0
    }

    /// At least one if any is left.
    pub fn living(&self) -> u32 {
        u32::from(test_kill_process_group(self.group).is_ok())
    }
}

/// A process, identified only by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: Pid,
}

/// The process with this id.
pub(crate) fn read(pid: Pid) -> Option<Process> {
    Some(Process { pid })
}

/// Unknown on this system.
pub(crate) fn children(_of: Pid) -> Vec<Pid> {
    Vec::new()
}

/// Unknown on this system.
pub(crate) fn inner_number(_of: Pid) -> Option<u32> {
    None
}

/// Kills the rest of a command's group. Their number is unknown.
pub(crate) fn kill_session(leader: &Process) -> u32 {
    let _ = kill_process_group(leader.pid, Signal::KILL);
    0
}

/// Orphans are not adopted on this system, so there are none below.
pub(crate) fn kill_below(_reaper: Pid, _spared: Option<Pid>) -> u32 {
    0
}
