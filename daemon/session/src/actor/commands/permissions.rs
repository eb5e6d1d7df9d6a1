//! The rules that judge a session's calls now.

use std::sync::Arc;

use policy::RuleSet;
use proto::Failure;

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::calls::judgement::Standpoint;
use crate::calls::permissions::PermissionState;

impl Actor {
    /// The rules in force now.
    pub(crate) fn rules(&mut self) -> Arc<RuleSet> {
        let facts = self.machine.facts();
        self.calls.rules(facts.created.as_ref(), &facts.grants)
    }

    /// What its calls are judged by now. `outside`: why the sandbox stopped the call, where it did.
    pub(crate) fn standpoint(&mut self, outside: Option<String>) -> Standpoint {
        let rules = self.rules();
        let facts = self.machine.facts();
        Standpoint {
            rules,
            approval_mode: facts.approval_mode(),
            effective_permissions: facts.effective_permissions(),
            outside,
        }
    }

    pub(crate) fn standing(&mut self) -> PermissionState {
        let standpoint = self.standpoint(None);
        let facts = self.machine.facts();
        PermissionState {
            pid: self.calls.call_environment().session,
            layers: self.calls.layers(facts.created.as_ref(), &facts.grants),
            standpoint,
            call_environment: Arc::clone(self.calls.call_environment()),
        }
    }
}

impl SessionHandle {
    pub(crate) async fn standing(&self) -> Result<PermissionState, Failure> {
        self.read(|actor| actor.standing()).await
    }
}
