//! The rules that judge a session's calls now.

use std::sync::Arc;

use policy::{Layer, RuleSet};
use proto::Failure;
use proto::record::Rules;

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::Command;
use crate::assembly::setup::Layered;
use crate::calls::judgement::Standpoint;
use crate::calls::permissions::{RulesAsOf, Standing, compiled};

impl Actor {
    /// The layers that judge its calls, the session's own last.
    fn layers(&self) -> Vec<Layered> {
        let facts = self.machine.facts();
        let created = facts.created.as_ref();
        let run = created.map(|created| created.rules.clone());
        let allow = facts.grants.iter().map(|scope| scope.rule.clone());
        let granted = Rules {
            allow: allow.collect(),
            ..Rules::default()
        };
        let pid = created.map(|created| created.pid).unwrap_or_default();
        let of_its_own = |layer, rules, origin| Layered {
            layer,
            rules,
            origin,
            trusted: true,
        };
        let mut layers = self.layers.clone();
        let kept = self.kept_rules.in_force().1;
        layers.extend([
            of_its_own(Layer::Kept, Rules::clone(&kept), self.kept_rules.origin()),
            of_its_own(
                Layer::Run,
                run.unwrap_or_default(),
                format!("the start of session {pid}"),
            ),
            of_its_own(Layer::Session, granted, format!("answers in session {pid}")),
        ]);
        layers
    }

    /// The rules in force: the files', what is kept for the workspace, the session's own, and what people allowed in it.
    pub(crate) fn rules(&mut self) -> Arc<RuleSet> {
        let grants = self.machine.facts().grants.iter();
        let as_of = RulesAsOf {
            grants: grants.map(|scope| scope.rule.clone()).collect(),
            kept: self.kept_rules.in_force().0,
        };
        if let Some((known, rules)) = &self.compiled
            && *known == as_of
        {
            return Arc::clone(rules);
        }
        let rules = Arc::new(compiled(&self.layers()).0);
        self.compiled = Some((as_of, Arc::clone(&rules)));
        rules
    }

    /// What its calls are judged by now. `outside`: why the sandbox stopped the call, where it did.
    pub(crate) fn standpoint(&mut self, outside: Option<String>) -> Standpoint {
        let rules = self.rules();
        let facts = self.machine.facts();
        Standpoint {
            rules,
            posture: facts.settings.posture,
            stance: facts.stance(),
            outside,
        }
    }

    pub(crate) fn standing(&mut self) -> Standing {
        Standing {
            pid: self.bench.session,
            layers: self.layers(),
            standpoint: self.standpoint(None),
            bench: Arc::clone(&self.bench),
        }
    }
}

impl SessionHandle {
    pub(crate) async fn standing(&self) -> Result<Standing, Failure> {
        self.ask(|reply| Command::Standing { reply }).await
    }
}
