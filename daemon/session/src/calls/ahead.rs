//! Calls that were judged before the machine wanted them, because a trip to another thread had just looked at files.

use std::sync::Arc;
use std::time::Duration;

use proto::item::ToolCall;
use tokio::time::Instant;
use turn::Judgement;

use crate::calls::call::Ready;
use crate::calls::judgement::Standpoint;

/// How long a call may have been judged before the machine wants it.
const AGE_MAX: Duration = Duration::from_millis(100);

/// A call that was judged early.
#[derive(Debug)]
pub(crate) struct JudgedAhead {
    pub call: ToolCall,
    pub judgement: Box<Judgement>,
    pub ready: Ready,
    /// What it was judged by.
    pub standpoint: Arc<Standpoint>,
}

/// Those of one trip, until the machine wants them.
#[derive(Debug, Default)]
pub(crate) struct AheadCalls {
    calls: Vec<JudgedAhead>,
    since: Option<Instant>,
}

impl AheadCalls {
    /// Takes those of a new trip. What is left of an earlier one is dropped.
    pub fn put(&mut self, calls: Vec<JudgedAhead>) {
        self.calls = calls;
        self.since = Some(Instant::now());
    }

    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// A call, if it was judged as it is now, by what is in force now, and just before. Once.
    pub fn take(&mut self, call: &ToolCall, standpoint: &Standpoint) -> Option<JudgedAhead> {
        let position = self
            .calls
            .iter()
            .position(|ahead| ahead.call.id == call.id)?;
        let ahead = self.calls.swap_remove(position);
        let is_young = self.since.is_some_and(|since| since.elapsed() < AGE_MAX);
        let holds = is_young && ahead.call == *call && ahead.standpoint.is_same(standpoint);
        holds.then_some(ahead)
    }
}

#[cfg(test)]
mod tests {
    use contract::{EffectivePermissions, Outcome};
    use policy::RuleSet;
    use proto::CallId;
    use proto::state::{ApprovalMode, OnAsk};

    use super::*;

    fn standpoint(rules: &Arc<RuleSet>) -> Standpoint {
        Standpoint {
            rules: Arc::clone(rules),
            approval_mode: ApprovalMode::Ask,
            effective_permissions: EffectivePermissions::default(),
            outside: None,
            quarantined: Vec::new(),
            skills: Vec::new(),
            on_ask: OnAsk::Wait,
            in_home: false,
            checks: Vec::new(),
        }
    }

    fn no_rules() -> Arc<RuleSet> {
        Arc::new(RuleSet::parse(&[], &[]).0)
    }

    fn call(path: &str) -> ToolCall {
        ToolCall {
            id: CallId("c1".to_owned()),
            name: "peek".to_owned(),
            arguments: path.to_owned(),
            cut: false,
            found: false,
        }
    }

    fn judged(rules: &Arc<RuleSet>) -> AheadCalls {
        let mut ahead = AheadCalls::default();
        ahead.put(vec![JudgedAhead {
            call: call("a"),
            judgement: Box::new(Judgement::Refused(Outcome::failed("no"))),
            ready: Ready::default(),
            standpoint: Arc::new(standpoint(rules)),
        }]);
        ahead
    }

    #[tokio::test(start_paused = true)]
    async fn a_judgement_is_taken_once_where_nothing_has_changed() {
        let rules = no_rules();
        let mut ahead = judged(&rules);
        assert!(ahead.take(&call("a"), &standpoint(&rules)).is_some());
        assert!(ahead.take(&call("a"), &standpoint(&rules)).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn another_call_other_rules_another_mode_and_time_make_it_void() {
        let rules = no_rules();
        assert!(
            judged(&rules)
                .take(&call("b"), &standpoint(&rules))
                .is_none()
        );
        let others = no_rules();
        assert!(
            judged(&rules)
                .take(&call("a"), &standpoint(&others))
                .is_none()
        );
        let stricter = Standpoint {
            approval_mode: ApprovalMode::Auto,
            ..standpoint(&rules)
        };
        assert!(judged(&rules).take(&call("a"), &stricter).is_none());
        let mut old = judged(&rules);
        tokio::time::advance(AGE_MAX).await;
        assert!(old.take(&call("a"), &standpoint(&rules)).is_none());
    }
}
