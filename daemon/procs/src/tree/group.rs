//! Where there is no subreaper: the command's process group is all that can be reached.

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

    /// TERM to the group.
    pub fn terminate(&self) {
        let _ = kill_process_group(self.group, Signal::TERM);
    }

    /// KILL to the group.
    pub fn kill(&mut self) {
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    /// A group does not tell how many it has.
    pub fn killed(&self) -> u32 {
        0
    }

    /// At least one, where any is left.
    pub fn living(&self) -> u32 {
        u32::from(test_kill_process_group(self.group).is_ok())
    }
}

/// A process, by its number alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: Pid,
}

/// The process of this number.
pub(crate) fn read(pid: Pid) -> Option<Process> {
    Some(Process { pid })
}

/// Not told here.
pub(crate) fn children(_of: Pid) -> Vec<Pid> {
    Vec::new()
}

/// Not told here.
pub(crate) fn inner_number(_of: Pid) -> Option<u32> {
    None
}

/// KILL to what is left of a command's group. How many is not known.
pub(crate) fn kill_session(leader: &Process) -> u32 {
    let _ = kill_process_group(leader.pid, Signal::KILL);
    0
}

/// Nobody adopts here, so nobody is found below.
pub(crate) fn kill_below(_reaper: Pid, _spared: Option<Pid>) -> u32 {
    0
}
