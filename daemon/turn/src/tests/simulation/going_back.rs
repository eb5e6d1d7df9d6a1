//! Users rewind to earlier turns and undo rewinds, at any moment, with crashes in between.

use proto::Body;
use proto::params::history::What;
use proto::record::SessionRewound;

use super::Simulation;
use crate::tests::made::checkpoint;
use crate::{Facts, Input};

impl Simulation {
    /// A user requests a rewind. It starts only if the session is idle.
    pub(super) fn rewind(&mut self) {
        let rests = self.machine.is_idle() && !self.handing;
        let before = self.log.len();
        let mut files = false;
        if rests {
            let rewound = self.plan();
            let what = rewound.as_ref().map(|rewound| rewound.what);
            files = matches!(what, Some(What::Both | What::Code));
            self.outside.rewinding = Some(rewound);
        }
        self.step(Input::Rewind);
        assert_eq!(self.log.len(), before, "it is told when it is done");
        let begun = self.outside.rewinding.is_some();
        assert_eq!(self.machine.is_rewinding(), begun, "at rest, and only then");
        if files {
            let kept = Body::CheckpointCreated(checkpoint(None, "/w/a"));
            let effects = self.machine.record(kept, self.now);
            self.perform(effects);
            self.holds();
        }
    }

    /// The result of the rewind. `None`: it is refused, or fails.
    fn plan(&mut self) -> Option<SessionRewound> {
        let what = self
            .chance
            .one_of(&[What::Both, What::Conversation, What::Code]);
        let undo = self.chance.once_in(3);
        let to_turn = self.chance.below(9) as u64;
        let visible = self.check.shown.visible.clone();
        let facts = self.machine.facts();
        let (what, undoes, plan) = if undo {
            let rewind = facts.undoable()?;
            (rewind.what, Some(rewind.seq), facts.plan_undo(rewind))
        } else {
            let known = to_turn == 0 || visible.contains(&to_turn);
            let plan = facts.plan_rewind(to_turn);
            assert_eq!(plan.is_some(), known, "only what is shown is gone back to");
            let plan = plan?;
            let hidden = visible.iter().filter(|turn| **turn > to_turn);
            assert_eq!(plan.turns, hidden.count() as u64, "turns that are hidden");
            (what, None, plan)
        };
        Some(SessionRewound {
            to_turn: plan.to_turn,
            what,
            undoes,
            shown: (what != What::Code).then_some(plan.shown),
            todos: None,
            files: Vec::new(),
            by: "ann".into(),
            request_id: None,
        })
    }

    /// Ends the rewind, successfully or not.
    pub(super) fn rewinding_ends(&mut self) {
        let Some(rewound) = self.outside.rewinding.take() else {
            return;
        };
        let before = self.check.shown.visible.clone();
        let turns = self.machine.facts().turns;
        match rewound.filter(|_| self.peace || !self.chance.once_in(5)) {
            None => {
                self.step(Input::NotRewound);
                let same = &self.check.shown.visible[..before.len()];
                assert_eq!(same, before, "nothing is hidden");
            }
            Some(rewound) => self.step(Input::Rewound(rewound)),
        }
        assert!(!self.machine.is_rewinding(), "it is over");
        assert!(
            self.machine.facts().turns >= turns,
            "turn numbers are never used again"
        );
    }

    /// Checks that the reference conversation agrees with the facts, and that requests extend each other.
    pub(super) fn shows(&mut self) {
        let facts: &Facts = self.machine.facts();
        self.check.shown.agrees_with(facts);
        let now = self.check.shown.messages();
        if let Some((resets, before)) = &self.sent
            && *resets == self.check.shown.resets
        {
            assert!(
                now.starts_with(before),
                "I1: a request extends the one before it: {before:?}, {now:?}"
            );
        }
        let upto = self.machine.facts().seq;
        self.requests.push((upto, now.clone()));
        self.sent = Some((self.check.shown.resets, now));
    }
}
