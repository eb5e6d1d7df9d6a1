//! Calls that the sandbox stopped: a person may let one run once outside of it. Its first outcome is on disk before
//! anybody is asked, and is its result unless it runs again.
//!
//! What is blocked is judged anew, as something that runs outside: policy says whether a person may be asked at all, now
//! and again when they have said yes.

use contract::Outcome;
use proto::Body;
use proto::item::{CallStatus, ToolCall};
use proto::record::{Quarantined, ToolBlocked, Unattended as Left, Verdict};

use crate::facts::{CallStage, OpenCall};
use crate::input::{Decided, Unattended};
use crate::machine::{CallsInProgress, Step};
use crate::words;

/// What a command made, in words.
fn made(items: &[Quarantined]) -> String {
    let paths: Vec<_> = items
        .iter()
        .map(|item| format!("`{}`", item.path))
        .collect();
    format!("its command made {}", paths.join(", "))
}

/// The first outcome of a call, with word of what was put back after it.
fn put_back(open: &OpenCall, blocked: &ToolBlocked, done: &Outcome) -> Outcome {
    let more = match done.status {
        CallStatus::Unknown => words::PUT_BACK_UNKNOWN,
        _ => done.text.as_str(),
    };
    let text = format!("{}\n{more}\n", blocked.text.trim_end_matches('\n'));
    let first = open.as_blocked();
    first.map_or_else(|| done.clone(), |first| Outcome { text, ..first })
}

impl OpenCall {
    /// What a call that was blocked came to within the sandbox, with the words that belong to it by now.
    pub(super) fn as_blocked(&self) -> Option<Outcome> {
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
            spill: blocked.spill.as_ref().map(Into::into),
            changed: blocked.changed.clone(),
            known: Vec::new(),
            blocked: None,
            quarantined: Vec::new(),
            skill: None,
        })
    }
}

impl Step<'_> {
    /// Why the sandbox stopped a call, where a person may be asked whether it runs outside: it has not, the session may
    /// change things, the same was not refused before in this turn, and no command of the session runs in the background.
    ///
    /// Or why a person is asked whether to put back what its command made.
    pub(super) fn may_escape(&self, call: &ToolCall, outcome: &Outcome) -> Option<String> {
        if !outcome.quarantined.is_empty() {
            let fresh = self.open_call(&call.id)?.blocked.is_none();
            let refused = self.facts.effective_permissions().refuses().is_some();
            return (fresh && !refused).then(|| made(&outcome.quarantined));
        }
        let reason = outcome.blocked.clone()?;
        let open = self.facts.open.as_ref()?;
        let known = self.open_call(&call.id)?;
        let again = open.kept_inside.contains(&known.input_sha256);
        let refused = self.facts.effective_permissions().refuses().is_some();
        // While a yes is waited for, one that runs could change what it is for: a script that the command names.
        let alone = self.facts.children.is_empty();
        (known.blocked.is_none() && !again && !refused && alone).then_some(reason)
    }

    /// Keeps what a call came to that was stopped. It is judged again, for a run outside.
    pub(super) fn block(
        &mut self,
        call: &ToolCall,
        outcome: Outcome,
        reason: String,
        duration_ms: u64,
    ) {
        let tool = self.leads_to(call);
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

    /// Asks a person whether a call that was stopped may run once outside, runs it, or closes it.
    pub(super) fn decide_escape(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        mut decided: Decided,
    ) {
        // Outside nothing holds it: it starts from disk, and alone.
        decided.decision.read_only = false;
        self.apply_stance(&mut decided.decision);
        // Nothing but a person's yes to what would be shown now lets it out: no rule, no approval mode.
        let approved = self.approved(call, &decided);
        let has_question =
            decided.approval.escape.is_some() || !decided.approval.quarantined.is_empty();
        let asks = decided.decision.verdict == Verdict::Ask && has_question;
        if !asks {
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

    /// A call's outcome, where it was blocked before: what it came to then, or what its run outside has come to, with word
    /// of both.
    pub(super) fn with_what_was_blocked(
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
            let first = open.as_blocked().unwrap_or(outcome);
            return (first, blocked.duration_ms);
        }
        if !blocked.quarantined.is_empty() {
            return (put_back(open, blocked, &outcome), blocked.duration_ms);
        }
        let mut outcome = outcome;
        let lost = outcome.status == CallStatus::Unknown;
        let begin = words::ran_outside(&blocked.reason, lost);
        outcome.text = match lost {
            true => begin,
            false => format!("{begin}\n{}", outcome.text),
        };
        // What was changed within is changed still.
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
