//! Calls that were judged before the machine wanted them, because a trip to another thread had just looked at files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::item::ToolCall;
use turn::Judgement;

use crate::calls::call::Ready;
use crate::calls::judgement::Standpoint;

/// How long a call may have been judged before the machine wants it.
const AGE_MAX: Duration = Duration::from_millis(100);

/// A call that was judged early.
#[derive(Debug)]
pub(crate) struct EarlyJudgement {
    pub call: ToolCall,
    pub judgement: Box<Judgement>,
    pub ready: Ready,
    /// What it was judged by.
    pub standpoint: Arc<Standpoint>,
    /// Not later than the first look at a file for it.
    pub since: Instant,
}

/// Those of one trip, until the machine wants them.
#[derive(Debug, Default)]
pub(crate) struct EarlyJudgements {
    calls: Vec<EarlyJudgement>,
}

impl EarlyJudgements {
    /// Takes those of a new trip. What is left of an earlier one is dropped.
    pub fn put(&mut self, calls: Vec<EarlyJudgement>) {
        self.calls = calls;
    }

    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// A call, if it was judged as it is `now`, by what is in force now, and just before. Once.
    pub fn take(
        &mut self,
        call: &ToolCall,
        standpoint: &Standpoint,
        now: Instant,
    ) -> Option<EarlyJudgement> {
        let position = self
            .calls
            .iter()
            .position(|ahead| ahead.call.id == call.id)?;
        let ahead = self.calls.swap_remove(position);
        let is_young = now.saturating_duration_since(ahead.since) < AGE_MAX;
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

    fn judged(rules: &Arc<RuleSet>, since: Instant) -> EarlyJudgements {
        let mut ahead = EarlyJudgements::default();
        ahead.put(vec![EarlyJudgement {
            call: call("a"),
            judgement: Box::new(Judgement::Refused(Outcome::failed("no"))),
            ready: Ready::default(),
            standpoint: Arc::new(standpoint(rules)),
            since,
        }]);
        ahead
    }

    #[test]
    fn a_judgement_is_taken_once_where_nothing_has_changed() {
        let (rules, now) = (no_rules(), Instant::now());
        let mut ahead = judged(&rules, now);
        assert!(ahead.take(&call("a"), &standpoint(&rules), now).is_some());
        assert!(ahead.take(&call("a"), &standpoint(&rules), now).is_none());
    }

    #[test]
    fn early_judgement_is_void_for_other_call_rules_mode_or_time() {
        let (rules, now) = (no_rules(), Instant::now());
        let take = |call: &ToolCall, standpoint: &Standpoint, at: Instant| {
            judged(&rules, now).take(call, standpoint, at).is_some()
        };
        assert!(!take(&call("b"), &standpoint(&rules), now));
        assert!(!take(&call("a"), &standpoint(&no_rules()), now));
        let looser = Standpoint {
            approval_mode: ApprovalMode::Auto,
            ..standpoint(&rules)
        };
        assert!(!take(&call("a"), &looser, now));
        assert!(!take(&call("a"), &standpoint(&rules), now + AGE_MAX));
    }
}
