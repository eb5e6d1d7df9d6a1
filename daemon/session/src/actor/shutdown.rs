//! How a session leaves memory: stopped with its daemon, put to sleep for the next one, or cut off by its disk. Its commands in the
//! background are stopped with it.

use contract::tool::StoppedBy;
use std::time::Duration;

use proto::Pid;
use proto::outcome::OutcomeKind;
use proto::record::{ChildExited, SessionExited};
use proto::state::State;
use tokio::sync::oneshot;
use tokio::time::Instant;
use turn::{Input, StopReason};

use crate::actor::Actor;
use crate::tasks;

/// What commands in the background may take to be gone, on top of the grace before KILL, until the session ends
/// without them: the next load writes that they are gone.
const CHILDREN_OVERDUE: Duration = Duration::from_millis(500);

/// Why commands were stopped, in the words of the log.
pub const SESSION_ENDED: &str = "the session ended";
pub const DAEMON_STOPPED: &str = "the daemon stopped";

impl Actor {
    /// Stops the session's background commands: TERM now, KILL after `grace_ms`.
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
        self.calls.session_exited();
    }

    /// A client is about to end one of them.
    pub(crate) fn child_killed(&mut self, pid: Pid, by: &str) {
        if self.machine.facts().children.contains_key(&pid) {
            self.calls.note_stop(pid, || format!("killed by {by}"));
        }
    }

    /// One has ended. If its tool stopped it, the tool says why; other causes are known here.
    pub(crate) fn child_exited(&mut self, child: ChildExited) {
        let stopped = self.calls.take_stop_cause(child.pid);
        let cause = child.cause.or(stopped);
        self.step(Input::ChildExited(ChildExited { cause, ..child }));
    }

    /// The log takes no more: whatever runs is stopped, and nothing of it is acknowledged.
    pub(crate) fn stop_unwritable(&mut self) {
        self.requests.cancel();
        let grace_ms = self.calls.grace_ms();
        self.calls.stop_running(grace_ms, StoppedBy::Session);
        self.calls.drop_held();
        self.calls.take_user_command(None);
        self.refuse_gated(StopReason::Kill);
        self.stop_children(self.calls.grace_ms(), SESSION_ENDED);
    }

    pub(crate) fn begin_shutdown(&mut self, reply: oneshot::Sender<()>) {
        let again = self.is_closing();
        self.life.closing.push(reply);
        if again {
            return;
        }
        self.drop_extractions();
        self.refuse_gated(StopReason::Shutdown);
        if !self.waits_for_person() && !self.machine.is_suspended() {
            let partial = self.partial();
            self.step(Input::Stop {
                reason: StopReason::Shutdown,
                partial,
            });
        }
        // Background commands do not outlive the session's life in memory.
        self.stop_children(self.calls.grace_ms(), DAEMON_STOPPED);
        let due = Duration::from_millis(self.calls.grace_ms()) + CHILDREN_OVERDUE;
        self.calls.set_background_due(Some(Instant::now() + due));
    }

    /// Puts the session to sleep before its next step, for the daemon that comes next.
    /// `now`: a request in flight is dropped, calls are stopped.
    pub(crate) fn begin_suspend(&mut self, now: bool, reply: oneshot::Sender<()>) {
        self.life.handed_over = true;
        self.drop_extractions();
        self.life.suspending.push(reply);
        self.refuse_gated(StopReason::Shutdown);
        if !self.machine.is_suspended() {
            if now {
                // The next daemon continues from the part of the answer that has been shown.
                self.write_draft();
            }
            let input = match now {
                true => {
                    let partial = self.partial();
                    Input::SuspendNow { partial }
                }
                false => Input::Suspend,
            };
            self.step(input);
        }
        self.settle();
    }

    /// Notifies those who wait for the session to be suspended, once that is on disk.
    pub(crate) fn answer_suspending(&mut self) {
        if self.life.suspending.is_empty() {
            return;
        }
        let asleep =
            (self.machine.is_suspended() || self.is_settled()) && self.journal.is_settled();
        if asleep || self.journal.is_closed() {
            for reply in std::mem::take(&mut self.life.suspending) {
                // Who waited may have lost patience.
                let _ = reply.send(());
            }
        }
    }

    /// Nothing runs, and a question is open, or a person has paused the session: that outlives the daemon, and the turn
    /// with it.
    fn waits_for_person(&self) -> bool {
        let facts = self.machine.facts();
        (facts.waits_for_person().is_some() || facts.paused)
            && self.machine.is_quiet()
            && self.calls.is_at_rest()
            && self.requests.in_flight().is_none()
    }

    /// Whether the daemon has asked for the end.
    pub(crate) fn is_closing(&self) -> bool {
        !self.life.closing.is_empty()
    }

    pub(crate) fn may_end(&self) -> bool {
        let rests =
            self.machine.is_idle() || self.waits_for_person() || self.machine.is_suspended();
        // Set when the session began to close, and taken when they had their time.
        let alone =
            self.machine.facts().children.is_empty() || self.calls.background_due().is_none();
        self.journal.is_closed() || (rests && alone && self.journal.is_settled())
    }

    pub(crate) async fn end(mut self: Box<Self>) {
        self.life.ended.cancel();
        self.requests.drop_leave();
        self.requests.budget().leave();
        if self.viewers.fanout().watched() {
            self.viewers.note_seen(self.journal.durable());
        }
        self.list_once_more();
        self.publisher.flush().await;
        // The catalog knows it all: a session that rests need not be looked at by the next start.
        if self.is_settled() && !self.journal.is_closed() {
            self.journal.clear_marker().await;
        }
        if let Some(temp) = self.calls.call_environment().workspace.temp()
            && self.machine.facts().state.state == State::Exited
        {
            let temp = temp.to_path_buf();
            // What cannot be removed goes with the daemon's own directory.
            let _ = tasks::blocking(move || std::fs::remove_dir_all(temp)).await;
        }
        self.requests.end().await;
        self.viewers.rest().await;
        // The log is released before anybody is notified of that: the next daemon may come at once.
        let closing = std::mem::take(&mut self.life.closing);
        let parting = self.life.parting.take();
        let parting = parting.map(|reply| (reply, Box::new(self.unloaded_state())));
        if parting.is_some() {
            // Somebody may still be reading a page of it: that must not keep the next life from writing.
            self.journal.file().release();
        }
        drop(self);
        if let Some((reply, kept)) = parting {
            // Who asked may be gone with the daemon.
            let _ = reply.send(kept);
        }
        for closing in closing {
            let _ = closing.send(());
        }
    }
}
