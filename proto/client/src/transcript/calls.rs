//! Calls of tools, commands of the user, and commands in the background: from their start to their outcome.

use proto::item::{CallStatus, Display};
use proto::live::ToolOutput;
use proto::record::{
    ChildExited, ChildKind, ChildSpawned, ToolBlocked, ToolFinished, ToolStarted, UserCommand,
};

use super::tail::Tail;
use super::{AnswerText, At, Change, EntryKind, ToolOutcome, ToolRun, Transcript};

/// Replaces the name of a tool in the line of a user's own command.
const USER_COMMAND: &str = "!";

impl<T: AnswerText> Transcript<T> {
    pub(super) fn tool_started(&mut self, started: &ToolStarted, at: At) {
        // It does not run again: the names it made are put back.
        if self.known.blocked.contains(&started.call) && !started.outside {
            return;
        }
        // After a crash a call may start again: its entry exists already, and its output starts again.
        if let Some((_, tail)) = self.known.running.get_mut(&started.call) {
            *tail = Tail::default();
            return;
        }
        let tool = ToolRun {
            call: started.call.clone(),
            tool: started.tool.clone(),
            subject: (self.known.searches.get(&started.call).cloned())
                .unwrap_or_else(|| started.subject.clone()),
            outside: started.outside,
            by_user: None,
            started: true,
            output: String::new(),
            outcome: None,
        };
        self.push_running(tool, at);
    }

    /// Shows a call that runs.
    fn push_running(&mut self, tool: ToolRun, at: At) {
        let call = tool.call.clone();
        let id = self.push(at, EntryKind::Tool(Box::new(tool)));
        self.known.running.insert(call, (id, Tail::default()));
    }

    pub(super) fn tool_output(&mut self, output: &ToolOutput) {
        let Some((id, mut tail)) = self.known.running.remove(&output.call) else {
            return;
        };
        if let Some(entry) = self.find(id)
            && let EntryKind::Tool(tool) = &mut entry.kind
        {
            tail.push(&mut tool.output, output.offset, &output.text);
        }
        self.known.running.insert(output.call.clone(), (id, tail));
    }

    /// A call was stopped: its outcome stays, and a run outside the sandbox gets a separate entry.
    pub(super) fn tool_blocked(&mut self, blocked: &ToolBlocked) {
        let outcome = ToolOutcome {
            status: blocked.status,
            duration_ms: blocked.duration_ms,
            display: blocked.display.clone(),
            spill: blocked.spill.clone(),
            blocked: Some(&blocked.reason)
                .filter(|_| blocked.quarantined.is_empty())
                .cloned(),
            changed: Vec::new(),
        };
        if let Some((id, _)) = self.known.running.remove(&blocked.call) {
            self.settle_tool(id, outcome);
            self.changes.push(Change::Settled(id));
            self.known.blocked.insert(blocked.call.clone());
        }
    }

    pub(super) fn tool_finished(&mut self, finished: &ToolFinished, at: At) {
        let call = &finished.call;
        let search = self.known.searches.remove(call);
        if self.known.blocked.remove(call) && !self.known.running.contains_key(call) {
            return;
        }
        // Its answers are shown already.
        if self.known.answered.remove(call) && finished.status == CallStatus::Ok {
            return;
        }
        let outcome = self.outcome(finished);
        if let Some((id, _)) = self.known.running.remove(call) {
            self.settle_tool(id, outcome);
            self.changes.push(Change::Settled(id));
            return;
        }
        // It never started: the decision or the question says which call it was.
        let judged = self.known.calls.get(call).cloned();
        let (tool, subject) = judged.unwrap_or((finished.tool.clone(), String::new()));
        let subject = search.unwrap_or(subject);
        let tool = ToolRun {
            call: call.clone(),
            tool,
            subject,
            outside: false,
            by_user: None,
            started: false,
            output: String::new(),
            outcome: Some(outcome),
        };
        self.push(at, EntryKind::Tool(Box::new(tool)));
    }

    fn outcome(&mut self, finished: &ToolFinished) -> ToolOutcome {
        let mut display = finished.display.clone();
        if let (CallStatus::Denied, Display::Line { text }) = (finished.status, &mut display) {
            let first = text.lines().next().unwrap_or_default().to_owned();
            self.known.reasons.insert(finished.call.clone(), first);
            // Shown with the author of the denial.
            if self.known.denied.contains(&finished.call) {
                text.clear();
            }
        }
        // Of edits there is the diff.
        let changed = match &display {
            Display::Command { .. } => finished.changed.clone(),
            Display::Diff { .. } | Display::Line { .. } => Vec::new(),
        };
        ToolOutcome {
            status: finished.status,
            duration_ms: finished.duration_ms,
            display,
            spill: finished.spill.clone(),
            blocked: None,
            changed,
        }
    }

    fn settle_tool(&mut self, id: u64, outcome: ToolOutcome) {
        if let Some(entry) = self.find(id)
            && let EntryKind::Tool(tool) = &mut entry.kind
        {
            tool.outcome = Some(outcome);
        }
    }

    /// A command of a user: shown as a call is, with its output.
    fn user_command(&mut self, child: &ChildSpawned, user: &UserCommand, at: At) {
        let tool = ToolRun {
            call: child.call.clone(),
            tool: USER_COMMAND.to_owned(),
            subject: user.line.clone(),
            outside: false,
            by_user: Some(user.by.clone()),
            started: true,
            output: String::new(),
            outcome: None,
        };
        self.push_running(tool, at);
        self.known.users.insert(child.pid, child.call.clone());
    }

    /// Settles the entry of a user's command. False: there is none.
    fn user_command_ended(&mut self, child: &ChildExited) -> bool {
        let call = self.known.users.remove(&child.pid);
        let Some(call) = call else {
            return false;
        };
        let Some((id, _)) = self.known.running.remove(&call) else {
            // Its end was reported with the end of the session.
            return true;
        };
        let outcome = match &child.result {
            Some(result) => ToolOutcome {
                status: result.status,
                duration_ms: result.duration_ms,
                display: result.display.clone(),
                spill: result.spill.clone(),
                blocked: None,
                changed: Vec::new(),
            },
            None => unreported(CallStatus::Unknown),
        };
        self.settle_tool(id, outcome);
        self.changes.push(Change::Settled(id));
        true
    }

    pub(super) fn spawned(&mut self, child: &ChildSpawned, at: At) {
        if let Some(user) = &child.user {
            return self.user_command(child, user, at);
        }
        let background = match child.kind {
            ChildKind::Command => false,
            ChildKind::Shell => true,
        };
        let (pid, command) = (child.pid, child.command.clone());
        let known = (command.clone(), background);
        self.known.children.insert(pid, known);
        let kind = EntryKind::Child {
            pid,
            command,
            background,
            exited: None,
        };
        self.push(at, kind);
    }

    /// Of one that was not seen to begin it is not known whether it was in the background.
    pub(super) fn child_exited(&mut self, child: &ChildExited, at: At) {
        if self.user_command_ended(child) {
            return;
        }
        let known = self.known.children.remove(&child.pid);
        let (command, background) = known.unwrap_or_default();
        let kind = EntryKind::Child {
            pid: child.pid,
            command,
            background,
            exited: Some(child.clone()),
        };
        self.push(at, kind);
    }

    /// Whatever is live until now is not any more.
    pub(super) fn end_all(&mut self) {
        self.streams_end();
        let running: Vec<_> = self.known.running.drain().collect();
        for (_, (id, _)) in running {
            self.settle_tool(id, unreported(CallStatus::Interrupted));
        }
    }
}

/// The outcome of a call whose end nobody reported: its status says why.
fn unreported(status: CallStatus) -> ToolOutcome {
    ToolOutcome {
        status,
        duration_ms: 0,
        display: Display::Line {
            text: String::new(),
        },
        spill: None,
        blocked: None,
        changed: Vec::new(),
    }
}
