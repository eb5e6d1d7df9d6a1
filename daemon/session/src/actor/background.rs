//! A session's commands in the background: stopped with it, and said to have ended, with the reason.

use proto::Pid;
use proto::outcome::OutcomeKind;
use proto::record::{ChildExited, SessionExited};
use turn::Input;

use crate::actor::Actor;

/// Why commands were stopped, in the words of the log.
pub const SESSION_ENDED: &str = "the session ended";
pub const DAEMON_STOPPED: &str = "the daemon stopped";

impl Actor {
    /// Stops what runs in the background for the session: TERM now, KILL after `grace_ms`.
    pub(crate) fn stop_children(&mut self, grace_ms: u64, cause: &str) {
        let pids = self.machine.facts().children.keys();
        self.calls.stop_background(pids, grace_ms, cause);
    }

    /// The session has exited: nothing of it runs on.
    pub(crate) fn stop_children_of(&mut self, exited: &SessionExited) {
        let killed = exited.outcome == OutcomeKind::Killed;
        let cause = if self.is_closing() {
            DAEMON_STOPPED
        } else {
            SESSION_ENDED
        };
        self.stop_children(if killed { 0 } else { self.calls.grace_ms() }, cause);
    }

    /// A client is about to end one of them.
    pub(crate) fn child_killed(&mut self, pid: Pid, by: &str) {
        if self.machine.facts().children.contains_key(&pid) {
            self.calls.note_stop(pid, || format!("killed by {by}"));
        }
    }

    /// One has ended. Its tool says why where it stopped it itself; who else did is known here.
    pub(crate) fn child_exited(&mut self, child: ChildExited) {
        let stopped = self.calls.take_stop_cause(child.pid);
        let cause = child.cause.or(stopped);
        self.step(Input::ChildExited(ChildExited { cause, ..child }));
    }
}
