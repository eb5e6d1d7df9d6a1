//! The calls of an answer: each one is judged, approved, run and closed separately. Results are written in call order.
//! `interactions` handles calls that wait for the user.

use contract::{Basis, CallAction, Decision, EffectivePermissions, Outcome};
use proto::item::{CallStatus, ToolCall, ToolKind};
use proto::params::interaction::InteractionRequest;
use proto::record::{PolicyDecided, Todo, TodoUpdated, ToolStarted, Unattended as Left, Verdict};
use proto::{Body, CallId};

use crate::facts::{CallStage, OpenCall};
use crate::input::{Decided, Effect, Judgement, Unattended};
use crate::machine::{CallsInProgress, Phase, Step};
use crate::words;

mod elicitation;
mod escape;
mod interactions;
mod results;

impl Step<'_> {
    /// Starts the calls of the newest answer, or continues them after a crash.
    pub fn begin_calls(&mut self, mut calls: CallsInProgress) -> Phase {
        if self.facts.open.as_ref().is_some_and(|open| open.summing_up) {
            let stuck = self.facts.open.as_ref().is_some_and(|open| open.stuck);
            self.refuse_open_calls(if stuck {
                words::NO_MORE_CALLS
            } else {
                words::NO_MORE_STEPS
            });
            // Only an edited log has such interactions: the calls of a summary answer never ask the user.
            self.close_interactions_where("the turn has ended", |_| true);
            return self.end_summed_up();
        }
        self.close_what_cannot_run(&mut calls);
        self.proceed(calls)
    }

    /// Closes the calls that will never run according to the log: truncated, denied, or answered by the user.
    pub fn close_what_cannot_run(&mut self, calls: &mut CallsInProgress) {
        self.close_where(calls, |open| match &open.stage {
            CallStage::Open if open.call.cut => Some(Outcome::refused(words::CUT_CALL)),
            CallStage::Denied { words } => Some(Outcome::with_status(CallStatus::Denied, words)),
            CallStage::Answered { by, words } => Some(interactions::outcome(*by, words)),
            CallStage::KeptInside { .. } => open.blocked_outcome(),
            CallStage::Blocked
            | CallStage::Open
            | CallStage::Waiting(_)
            | CallStage::Approved { .. }
            | CallStage::Edited
            | CallStage::Started { .. }
            | CallStage::Closed => None,
        });
    }

    /// Closes each call that is not running and has no result, if `outcome` returns one for it.
    pub fn close_where(
        &mut self,
        calls: &mut CallsInProgress,
        outcome: impl Fn(&OpenCall) -> Option<Outcome>,
    ) {
        for call in self.open_calls() {
            // Look each call up again: closing one may have written the results of others.
            let open = self.open_call(&call.id);
            if let Some(outcome) = open
                .filter(|open| calls.is_not_started(open))
                .and_then(&outcome)
            {
                self.close(calls, &call, outcome, 0);
            }
        }
    }

    fn open_calls(&self) -> Vec<ToolCall> {
        self.facts
            .open
            .as_ref()
            .map(|open| open.calls.iter().map(|open| open.call.clone()).collect())
            .unwrap_or_default()
    }

    pub fn stage_of(&self, call: &CallId) -> Option<&CallStage> {
        let open = self.facts.open.as_ref()?;
        open.calls
            .iter()
            .find(|open| open.call.id == *call)
            .map(|open| &open.stage)
    }

    /// Takes the next possible steps: writes results, judges the next call, or sends the next request.
    pub fn proceed(&mut self, mut calls: CallsInProgress) -> Phase {
        self.write_results(&mut calls);
        let Some(open) = &self.facts.open else {
            return Phase::Idle;
        };
        if open
            .calls
            .iter()
            .all(|open| open.stage == CallStage::Closed)
        {
            return self.ask_again();
        }
        if self.held() {
            return Phase::Calls(calls);
        }
        if calls.judging.is_none()
            && calls.readers(&open.calls) < self.limits.parallel.max(1)
            && let Some(call) = next_to_judge(&open.calls, &calls)
        {
            calls.judging = Some(call.id.clone());
            self.effects.push(Effect::Judge { call });
        }
        Phase::Calls(calls)
    }

    pub(crate) fn judged(&mut self, phase: Phase, id: &CallId, judgement: Judgement) -> Phase {
        let Phase::Calls(mut calls) = phase else {
            return phase;
        };
        if calls.judging.as_ref() != Some(id) {
            return Phase::Calls(calls);
        }
        calls.judging = None;
        if self.held() {
            // The call is judged again when it may start, because its effect may have changed by then.
            return Phase::Calls(calls);
        }
        let Some(call) = self.open_calls().into_iter().find(|call| call.id == *id) else {
            return Phase::Calls(calls);
        };
        match judgement {
            Judgement::Refused(outcome) => self.close(&mut calls, &call, outcome, 0),
            Judgement::Decided(decided) => {
                if decided.effective_permissions != self.facts.effective_permissions() {
                    // The session's permissions have changed since the call was judged.
                    return self.proceed(calls);
                }
                let alone = calls.running.is_empty() && self.all_before_closed(&calls, id);
                let blocked = self.facts.blocked(id).is_some();
                // A call that may run unsandboxed counts as a writer, even if it was read-only in the sandbox.
                if (!decided.decision.read_only || blocked) && !alone {
                    // A writer is judged after all earlier calls have ended, because its effect depends on them. Later
                    // calls run earlier only if this one counted as a reader before.
                    return self.judge_earlier_call(calls, id);
                }
                if blocked {
                    self.decide_unsandboxed_run(&mut calls, &call, decided);
                    return self.proceed(calls);
                }
                let waits = self.decide(&mut calls, &call, decided);
                if waits {
                    return Phase::Calls(calls);
                }
            }
        }
        self.proceed(calls)
    }

    /// Lets a writer wait. If an earlier call was approved while the writer was judged, continues with that call.
    fn judge_earlier_call(&mut self, calls: CallsInProgress, writer: &CallId) -> Phase {
        let next = self
            .facts
            .open
            .as_ref()
            .and_then(|open| next_to_judge(&open.calls, &calls));
        match next {
            Some(next) if next.id != *writer => self.proceed(calls),
            Some(_) | None => Phase::Calls(calls),
        }
    }

    /// Whether every call before this one has its result.
    fn all_before_closed(&self, calls: &CallsInProgress, id: &CallId) -> bool {
        let Some(open) = &self.facts.open else {
            return true;
        };
        open.calls
            .iter()
            .take_while(|open| open.call.id != *id)
            .all(|open| calls.has_result(open))
    }

    /// Denies a change that the session's permissions do not allow now. The policy has checked this already; the check
    /// is repeated here, where calls start, so that no rule can bypass it.
    fn apply_effective_permissions(&self, decision: &mut Decision) {
        if let Some(why) = self.facts.effective_permissions().refuses() {
            decision.verdict = Verdict::Deny;
            decision.basis = Basis::EffectivePermissions;
            why.clone_into(&mut decision.rule);
            EffectivePermissions::LAYER.clone_into(&mut decision.layer);
        }
    }

    /// Runs a call, asks the user about it, or closes it. True if no later call may be judged before this one ends.
    fn decide(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        mut decided: Decided,
    ) -> bool {
        if !decided.decision.read_only && !decided.in_read_only_sessions {
            self.apply_effective_permissions(&mut decided.decision);
        }
        let verdict = decided.decision.verdict;
        let approved = self.approved(call, &decided);
        if self.denied_before(&decided) && verdict != Verdict::Deny && !approved {
            self.close(
                calls,
                call,
                Outcome::with_status(CallStatus::Denied, words::DENIED_BEFORE),
                0,
            );
            return false;
        }
        if verdict == Verdict::Deny {
            self.log_decision(call, &decided, None, None);
            self.close_denied(calls, call);
            return false;
        }
        let attended = decided.unattended == Unattended::Wait;
        match decided.action.clone() {
            CallAction::Run => {
                self.permits(calls, call, &decided) && self.run(calls, call, decided)
            }
            CallAction::UpdateTodos(todos) => {
                if self.permits(calls, call, &decided) {
                    self.update_todos(calls, call, decided, todos);
                }
                false
            }
            CallAction::ReportGoal(report) => {
                if self.permits(calls, call, &decided) {
                    self.report_goal(calls, call, decided, report);
                }
                false
            }
            CallAction::AskUser(questions) => {
                self.log_decision(call, &decided, None, None);
                self.ask_questions(calls, call, questions, decided.shown_hash, attended);
                false
            }
            CallAction::PresentPlan(plan) => {
                self.log_decision(call, &decided, None, None);
                self.present_plan(calls, call, plan, decided.shown_hash, attended);
                false
            }
            // The session has already resolved a call to the tool that it names: this one names another caller.
            CallAction::CallTool { .. } => {
                self.close(calls, call, Outcome::refused(words::CALLS_A_CALLER), 0);
                false
            }
        }
    }

    /// Whether a call that was not denied may run now. If not, asks the user or closes the call.
    fn permits(&mut self, calls: &mut CallsInProgress, call: &ToolCall, decided: &Decided) -> bool {
        if decided.decision.verdict == Verdict::Allow || self.approved(call, decided) {
            self.log_decision(call, decided, None, None);
            return true;
        }
        match decided.unattended.clone() {
            Unattended::Allow => {
                self.log_decision(call, decided, Some(Left::Allowed), None);
                true
            }
            Unattended::Deny(why) => {
                self.log_decision(call, decided, Some(Left::Denied), Some(why));
                self.close_denied(calls, call);
                false
            }
            Unattended::Wait if self.denied_with_rest(call) => {
                self.log_decision(call, &decided.clone().denied_with_rest(), None, None);
                self.close_denied(calls, call);
                false
            }
            Unattended::Wait => {
                self.log_decision(call, decided, None, None);
                // Later readers may still run; a later writer waits anyway.
                self.ask_approval(call, decided);
                false
            }
        }
    }

    /// Whether the user approved exactly what would be shown now; if it looks different, they are asked again. A command
    /// that the user edited needs no further approval, because only the edited text is judged here. If two approvals are
    /// required, only the second one counts.
    fn approved(&self, call: &ToolCall, decided: &Decided) -> bool {
        match (&decided.again_hash, self.stage_of(&call.id)) {
            (Some(again), Some(CallStage::Approved { shown_hash })) => shown_hash == again,
            (None, Some(CallStage::Approved { shown_hash })) => *shown_hash == decided.shown_hash,
            (None, Some(CallStage::Edited)) => true,
            _ => false,
        }
    }

    /// Whether the user has given the first of two approvals.
    fn approved_once(&self, call: &ToolCall, decided: &Decided) -> bool {
        match self.stage_of(&call.id) {
            Some(CallStage::Approved { shown_hash }) => *shown_hash == decided.shown_hash,
            Some(CallStage::Edited) => true,
            _ => false,
        }
    }

    /// Whether the user denied another call of the same answer together with every further question.
    fn denied_with_rest(&self, call: &ToolCall) -> bool {
        self.open_call(&call.id)
            .is_some_and(|open| open.denied_with_rest)
    }

    fn ask_approval(&mut self, call: &ToolCall, decided: &Decided) {
        let mut approval = decided.approval.clone();
        let again = decided.again_hash.as_ref();
        let again = again.filter(|_| self.approved_once(call, decided));
        let hash = again.unwrap_or(&decided.shown_hash).clone();
        if again.is_some() {
            approval.again = true;
            approval.editable = false;
            approval.scopes.clear();
        }
        self.wait_for_user(&call.id, hash, InteractionRequest::Approval(approval));
    }

    /// Closes a call that is denied according to the log, with the text stored there.
    fn close_denied(&mut self, calls: &mut CallsInProgress, call: &ToolCall) {
        if let Some(CallStage::Denied { words }) = self.stage_of(&call.id).cloned() {
            self.close(
                calls,
                call,
                Outcome::with_status(CallStatus::Denied, words),
                0,
            );
        }
    }

    /// Whether a call with the same input was denied before in this turn, however its arguments were written.
    fn denied_before(&self, decided: &Decided) -> bool {
        self.facts
            .open
            .as_ref()
            .is_some_and(|open| open.refused.contains(&decided.input_sha256))
    }

    pub(super) fn open_call(&self, id: &CallId) -> Option<&OpenCall> {
        let mut calls = self.facts.open.iter().flat_map(|open| &open.calls);
        calls.find(|open| open.call.id == *id)
    }

    /// The tool that a call resolves to, as far as the log says.
    fn resolved_tool(&self, call: &ToolCall) -> String {
        let calls = self.facts.open.iter().flat_map(|open| &open.calls);
        calls
            .filter(|open| open.call.id == call.id)
            .map(|open| open.tool.clone())
            .next()
            .unwrap_or_else(|| call.name.clone())
    }

    fn log_decision(
        &mut self,
        call: &ToolCall,
        decided: &Decided,
        left: Option<Left>,
        why: Option<String>,
    ) {
        let decision = &decided.decision;
        self.append(Body::PolicyDecided(PolicyDecided {
            call: call.id.clone(),
            tool: decided.tool.clone(),
            verdict: decision.verdict,
            rule: decision.rule.clone(),
            layer: decision.layer.clone(),
            read_only: decision.read_only,
            unattended: left,
            subject: decided.subject.clone(),
            why,
            input_sha256: decided.input_sha256.clone(),
        }));
    }

    /// Logs `tool.started`, after the checkpoint of the files that the call may change.
    pub(crate) fn log_started(&mut self, call: &ToolCall, decided: Decided) {
        if let Some(checkpoint) = decided.checkpoint {
            self.append(Body::CheckpointCreated(checkpoint));
        }
        self.append(Body::ToolStarted(ToolStarted {
            call: call.id.clone(),
            tool: decided.tool,
            kind: decided.kind,
            subject: decided.subject,
            read_only: decided.decision.read_only,
            outside: self.facts.blocked(&call.id).is_some()
                && self.facts.quarantined(&call.id).is_empty(),
        }));
    }

    /// Stores the model's todo list. No work runs outside the machine for it.
    fn update_todos(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        decided: Decided,
        todos: Vec<Todo>,
    ) {
        self.log_started(call, decided);
        let outcome = Outcome::with_status(CallStatus::Ok, words::todo_progress(&todos));
        self.append(Body::TodoUpdated(TodoUpdated { todos }));
        self.close(calls, call, outcome, 0);
    }

    /// Starts a call: a reader at once, a writer or a sub-agent once its start is on disk. True for a writer.
    fn run(&mut self, calls: &mut CallsInProgress, call: &ToolCall, decided: Decided) -> bool {
        let (read_only, kind) = (decided.decision.read_only, decided.kind);
        self.log_started(call, decided);
        // A sub-agent has a log of its own: it must never be there without the call that it works for.
        let waits = !read_only || kind == ToolKind::Agent;
        let after = waits.then_some(self.facts.seq);
        calls.running.insert(call.id.clone());
        let open = self.open_call(&call.id);
        let call = open.map_or_else(|| call.clone(), OpenCall::effective);
        self.effects.push(Effect::Run { call, after });
        !read_only
    }
}

impl CallsInProgress {
    /// Whether a call's result has arrived, written or waiting for earlier ones.
    fn has_result(&self, open: &OpenCall) -> bool {
        open.stage == CallStage::Closed || self.ready.iter().any(|ready| ready.call == open.call.id)
    }

    /// How many calls run that count towards the limit. Of sub-agents there is a limit where they are created.
    fn readers(&self, calls: &[OpenCall]) -> usize {
        let counts =
            |open: &&OpenCall| open.kind != ToolKind::Agent && self.running.contains(&open.call.id);
        calls.iter().filter(counts).count()
    }

    /// Whether a call neither runs nor has a result.
    fn is_not_started(&self, open: &OpenCall) -> bool {
        !self.has_result(open) && !self.running.contains(&open.call.id)
    }
}

/// The next call to judge, in call order. Skips readers that run or wait for a user; stops at a writer that does.
fn next_to_judge(open: &[OpenCall], calls: &CallsInProgress) -> Option<ToolCall> {
    for open in open.iter().filter(|open| !calls.has_result(open)) {
        let busy =
            calls.running.contains(&open.call.id) || matches!(open.stage, CallStage::Waiting(_));
        match busy {
            true if open.read_only => {}
            true => return None,
            false => return Some(open.effective()),
        }
    }
    None
}
