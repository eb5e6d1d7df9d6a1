//! Questions, and who is here to answer them: whether a question waits, is denied or answers itself.

use contract::CallAction;
use turn::input::Unattended;

use crate::actor::Actor;

impl Actor {
    /// What becomes of an ask depends on who is here now, not on who was when the judging began.
    pub(crate) fn attend(&self, judgement: &mut turn::Judgement) {
        let turn::Judgement::Decided(decided) = judgement else {
            return;
        };
        let on_ask = self.machine.facts().on_ask();
        let attended = self.viewers.attended();
        match decided.action {
            CallAction::AskUser(_) | CallAction::PresentPlan(_) => {
                decided.unattended = match policy::unasked(on_ask, attended) {
                    true => Unattended::Allow,
                    false => Unattended::Wait,
                };
                return;
            }
            CallAction::Run
            | CallAction::UpdateTodos(_)
            | CallAction::ReportGoal(_)
            | CallAction::CallTool { .. } => {}
        }
        let accept_partial = self.calls.call_environment().confine.accept_partial;
        let left = policy::unattended(&decided.decision, on_ask, attended, accept_partial);
        decided.unattended = match left {
            policy::Unattended::Allow => Unattended::Allow,
            policy::Unattended::Deny(why) => Unattended::Deny(why),
            policy::Unattended::Wait => Unattended::Wait,
        };
    }

    /// Whether a person could be asked to let a command run outside the sandbox that has stopped it.
    pub(super) fn may_ask_to_run_unsandboxed(&mut self) -> bool {
        let rules = self.rules();
        let facts = self.machine.facts();
        let on_ask = facts.on_ask();
        let stays =
            policy::stays_inside(&rules, facts.approval_mode(), facts.effective_permissions());
        stays.is_none() && !policy::unasked(on_ask, self.viewers.attended())
    }
}
