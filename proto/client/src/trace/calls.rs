//! Calls as happenings: the verdict about each, its run and its result; commands in the background, and hooks.

use proto::hook::HookFinished;
use proto::item::{Display, ToolMessage};
use proto::record::{
    CallReviewed, ChildExited, ChildSpawned, PolicyDecided, ToolBlocked, ToolFinished, ToolStarted,
};
use proto::{CallId, Stamp};

use super::{Trace, What, now, short, short_translated};
use crate::messages::Language;

impl Trace {
    /// A result whose call was not reported to have ended: it never ran, or nobody saw its end.
    pub(super) fn result(&mut self, message: ToolMessage, at: Stamp) -> Vec<(Stamp, What)> {
        if self.ended.remove(&message.call) {
            return Vec::new();
        }
        let text = short_translated(self.language, &message.text);
        now(
            at,
            What::Result {
                call: message.call,
                tool: message.tool,
                status: message.status,
                text,
            },
        )
    }

    pub(super) fn call(&mut self, decided: PolicyDecided) -> What {
        // The judged tool is the one that a call leads to, which may be another than it names.
        if !decided.tool.is_empty() {
            self.tools.insert(decided.call.clone(), decided.tool);
        }
        What::Call {
            tool: self.tool(&decided.call),
            call: decided.call,
            subject: short(&decided.subject),
            verdict: decided.verdict,
            unattended: decided.unattended,
            rule: decided.rule,
            layer: decided.layer,
        }
    }

    pub(super) fn run(&mut self, finished: ToolFinished) -> What {
        self.ended.insert(finished.call.clone());
        let (exit_code, signal) = match finished.display {
            Display::Command {
                exit_code, signal, ..
            } => (exit_code, signal),
            Display::Line { .. } | Display::Diff { .. } => (None, None),
        };
        What::Run {
            call: finished.call,
            tool: finished.tool,
            status: finished.status,
            duration_ms: finished.duration_ms,
            exit_code,
            signal,
        }
    }

    fn tool(&self, call: &CallId) -> String {
        self.tools.get(call).cloned().unwrap_or_default()
    }
}

pub(super) fn reviewed(reviewed: CallReviewed) -> What {
    What::Reviewed {
        call: reviewed.call,
        tool: reviewed.tool,
        verdict: reviewed.verdict,
        decided: reviewed.decided,
        reason: short(&reviewed.reason),
        model: reviewed.model,
        duration_ms: reviewed.duration_ms,
    }
}

pub(super) fn started(started: ToolStarted) -> What {
    What::Start {
        call: started.call,
        tool: started.tool,
        subject: short(&started.subject),
        outside: started.outside,
    }
}

pub(super) fn blocked(language: Language, blocked: ToolBlocked) -> What {
    What::Blocked {
        call: blocked.call,
        tool: blocked.tool,
        reason: language.translate(&blocked.reason).into_owned(),
        duration_ms: blocked.duration_ms,
    }
}

pub(super) fn child_spawned(child: &ChildSpawned) -> What {
    What::ChildSpawned {
        pid: child.pid,
        command: short(&child.command),
    }
}

pub(super) fn child_exited(child: ChildExited) -> What {
    What::ChildExited {
        pid: child.pid,
        code: child.code,
        signal: child.signal,
        cause: child.cause,
    }
}

pub(super) fn hook(finished: HookFinished) -> What {
    What::Hook {
        event: finished.event,
        hook: short(&finished.hook),
        outcome: finished.outcome,
        reason: finished.reason.as_deref().map(short),
        duration_ms: finished.duration_ms,
        call: finished.call,
    }
}
