//! Calls that the sandbox blocked: a user may let one run once unsandboxed. The outcome of the sandboxed run is on disk
//! before the user is asked, and is the call's result unless it runs again.
//!
//! A blocked call is judged again as an unsandboxed one. The policy decides whether the user may be asked at all, and
//! again after they have approved.

use contract::Outcome;
use proto::Body;
use proto::item::{CallStatus, ToolCall};
use proto::record::{Quarantined, ToolBlocked, Unattended as Left, Verdict};

use crate::facts::{CallStage, OpenCall};
use crate::input::{Decided, Unattended};
use crate::machine::{CallsInProgress, Step};
use crate::words;

/// The reason for a question about quarantined files: lists the files that the command created.
fn quarantine_reason(items: &[Quarantined]) -> String {
    let shown = |restored: bool| {
        let items = items.iter().filter(|item| item.restored == restored);
        let paths: Vec<_> = items.map(|item| format!("`{}`", item.path)).collect();
        paths.join(", ")
    };
    match (shown(false), shown(true)) {
        (made, replaced) if replaced.is_empty() => format!("its command made {made}"),
        (made, replaced) if made.is_empty() => format!("{replaced} was replaced while it ran"),
        (made, replaced) => {
            format!("its command made {made}, and {replaced} was replaced while it ran")
        }
    }
}

/// The outcome of a call's sandboxed run, followed by a report of the files that were restored from quarantine.
fn with_restored_files(open: &OpenCall, blocked: &ToolBlocked, done: &Outcome) -> Outcome {
    let more = match done.status {
        CallStatus::Unknown => words::PUT_BACK_UNKNOWN,
        _ => done.text.as_str(),
    };
    let text = format!("{}\n{more}\n", blocked.text.trim_end_matches('\n'));
    let first = open.blocked_outcome();
    first.map_or_else(|| done.clone(), |first| Outcome { text, ..first })
}

impl OpenCall {
    /// The outcome of a blocked call's sandboxed run, followed by the text that its current stage adds.
    pub(super) fn blocked_outcome(&self) -> Option<Outcome> {
        let blocked = self.blocked.as_ref()?;
        let more = match &self.stage {
            CallStage::KeptInside { words } => words.as_deref(),
            CallStage::Approved { .. } => Some(words::ALLOWED_NOT_STARTED),
            CallStage::Open
            | CallStage::Waiting(_)
            | CallStage::Edited
            | CallStage::Answered { .. }
            | CallStage::Denied { .. }
            | CallStage::Started { .. }
            | CallStage::Blocked
            | CallStage::Closed => None,
        };
        let text = match more {
            Some(more) => format!("{}\n{more}\n", blocked.text.trim_end_matches('\n')),
            None => blocked.text.clone(),
        };
        Some(Outcome {
            status: blocked.status,
            text,
            display: blocked.display.clone(),
            images: Vec::new(),
            spill: blocked.spill.as_ref().map(Into::into),
            changed: blocked.changed.clone(),
            known: Vec::new(),
            reported: Vec::new(),
            blocked: None,
            quarantined: Vec::new(),
            skill: None,
            agent: None,
        })
    }
}

impl Step<'_> {
    /// The reason to ask the user whether a blocked call may run unsandboxed. `None` if it ran unsandboxed already, if the
    /// session may not change anything, if the same call was refused before in this turn, or if background commands run.
    ///
    /// For quarantined files: the reason to ask the user whether to restore them.
    pub(super) fn unsandboxed_run_reason(
        &self,
        call: &ToolCall,
        outcome: &Outcome,
    ) -> Option<String> {
        if !outcome.quarantined.is_empty() {
            let fresh = self.open_call(&call.id)?.blocked.is_none();
            let refused = self.facts.effective_permissions().refuses().is_some();
            return (fresh && !refused).then(|| quarantine_reason(&outcome.quarantined));
        }
        let reason = outcome.blocked.clone()?;
        let open = self.facts.open.as_ref()?;
        let known = self.open_call(&call.id)?;
        let again = open.kept_inside.contains(&known.input_sha256);
        let refused = self.facts.effective_permissions().refuses().is_some();
        // A background command could change what the user approves while they are asked: a script that the call names.
        let alone = self.facts.children.is_empty();
        (known.blocked.is_none() && !again && !refused && alone).then_some(reason)
    }

    /// Logs the outcome of a blocked call. The call is judged again, for an unsandboxed run.
    pub(super) fn log_blocked(
        &mut self,
        call: &ToolCall,
        outcome: Outcome,
        reason: String,
        duration_ms: u64,
    ) {
        let tool = self.resolved_tool(call);
        self.append(Body::ToolBlocked(ToolBlocked {
            call: call.id.clone(),
            tool,
            reason,
            status: outcome.status,
            duration_ms,
            display: outcome.display,
            text: outcome.text,
            spill: outcome
                .spill
                .map(|path| path.to_string_lossy().into_owned()),
            changed: outcome.changed,
            quarantined: outcome.quarantined,
        }));
    }

    /// Asks a user whether a blocked call may run once unsandboxed, runs it, or closes it.
    pub(super) fn decide_unsandboxed_run(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        mut decided: Decided,
    ) {
        // Unsandboxed, the call can write: its start must be on disk, and it runs alone.
        decided.decision.read_only = false;
        self.apply_effective_permissions(&mut decided.decision);
        // Only a user's approval of what would be shown now allows the run; no rule or approval mode does.
        let approved = self.approved(call, &decided);
        let has_question =
            decided.approval.escape.is_some() || !decided.approval.quarantined.is_empty();
        let asks = decided.decision.verdict == Verdict::Ask && has_question;
        if asks && !approved && self.denied_with_rest(call) {
            self.log_decision(call, &decided.denied_with_rest(), None, None);
        } else if !asks {
            decided.decision.verdict = Verdict::Deny;
            self.log_decision(call, &decided, None, None);
        } else if approved {
            self.log_decision(call, &decided, None, None);
            self.run(calls, call, decided);
            return;
        } else if decided.unattended == Unattended::Wait {
            self.log_decision(call, &decided, None, None);
            self.ask_approval(call, &decided);
            return;
        } else {
            self.log_decision(call, &decided, Some(Left::Denied), None);
        }
        self.close_what_cannot_run(calls);
    }

    /// The directory that an unsandboxed run has made, and that the session may write in from now on.
    pub(super) fn added_dir(&self, call: &ToolCall, outcome: &Outcome) -> Option<String> {
        let open = self.open_call(&call.id)?;
        let made = open.is_outside() && outcome.status == CallStatus::Ok;
        open.adds_dir.clone().filter(|_| made)
    }

    /// Merges the outcome of a previously blocked call with that of its sandboxed run. Returns the outcome of the run
    /// that counts; an unsandboxed run's outcome also says why the call was blocked before.
    pub(super) fn merge_blocked_outcome(
        &self,
        call: &ToolCall,
        outcome: Outcome,
        duration_ms: u64,
    ) -> (Outcome, u64) {
        let open = self.open_call(&call.id);
        let Some((open, blocked)) = open.and_then(|open| Some((open, open.blocked.as_ref()?)))
        else {
            return (outcome, duration_ms);
        };
        if !open.is_outside() {
            let first = open.blocked_outcome().unwrap_or(outcome);
            return (first, blocked.duration_ms);
        }
        if !blocked.quarantined.is_empty() {
            return (
                with_restored_files(open, blocked, &outcome),
                blocked.duration_ms,
            );
        }
        let mut outcome = outcome;
        let lost = outcome.status == CallStatus::Unknown;
        let begin = words::ran_unsandboxed(&blocked.reason, lost);
        outcome.text = match lost {
            true => begin,
            false => format!("{begin}\n{}", outcome.text),
        };
        // Files that the sandboxed run changed are still changed.
        for changed in &blocked.changed {
            if outcome
                .changed
                .iter()
                .all(|known| known.path != changed.path)
            {
                outcome.changed.push(changed.clone());
            }
        }
        (outcome, duration_ms)
    }
}
