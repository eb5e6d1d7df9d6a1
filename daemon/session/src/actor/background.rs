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
        for pid in self.machine.facts().children.keys() {
            // Who stopped it first did.
            self.stopped.entry(*pid).or_insert_with(|| cause.to_owned());
        }
        self.bench.spawn.stop_session(self.bench.session, grace_ms);
    }

    /// The session has exited: nothing of it runs on.
    pub(crate) fn stop_children_of(&mut self, exited: &SessionExited) {
        let killed = exited.outcome == OutcomeKind::Killed;
        let cause = if self.is_closing() {
            DAEMON_STOPPED
        } else {
            SESSION_ENDED
        };
        self.stop_children(if killed { 0 } else { self.grace_ms }, cause);
    }

    /// A client is about to end one of them.
    pub(crate) fn child_killed(&mut self, pid: Pid, by: &str) {
        if self.machine.facts().children.contains_key(&pid) {
            self.stopped
                .entry(pid)
                .or_insert_with(|| format!("killed by {by}"));
        }
    }

    /// One has ended. Its tool tells why where it stopped it itself; who else did is known here.
    pub(crate) fn child_exited(&mut self, child: ChildExited) {
        let stopped = self.stopped.remove(&child.pid);
        let cause = child.cause.or(stopped);
        self.step(Input::ChildExited(ChildExited { cause, ..child }));
    }
}
