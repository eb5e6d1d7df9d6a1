//! Where there is no subreaper: the command's process group is all that can be reached.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::pid;

pub(crate) struct Tree {
    group: Pid,
}

impl Tree {
    pub fn new(_holder: Pid, command: Pid) -> Self {
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

/// KILL to what is left of a command's group. How many is not known.
pub(crate) fn kill_session(os_pid: u32) -> u32 {
    if let Some(group) = pid(os_pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    0
}
