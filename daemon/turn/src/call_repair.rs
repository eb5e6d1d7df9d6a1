//! What a model gets wrong in its calls, repaired where an answer comes in and where a call is about to start.
//!
//! The passes stand in `repair`; here is what the turn makes of them, and `calls.repaired` for who counts. What is repaired
//! is so in the log: after a crash nothing is repaired again.

use contract::Outcome;
use proto::Body;
use proto::item::{Finish, ToolCall, ToolKind};
use proto::outcome::OutcomeKind;
use proto::record::{CallsRepaired, Level};

use crate::facts::CallStage;
use crate::input::Answer;
use crate::machine::{CallsInProgress, Phase, Step};
use crate::repair::close::repair_json;
use crate::repair::scavenge::scavenge;
use crate::repair::storm;
use crate::words;

impl Step<'_> {
    /// The answer with its calls repaired: those that it did not declare are taken up, arguments that break off are
    /// closed. Says so in the log.
    pub(crate) fn repaired(&mut self, mut answer: Answer, finish: Finish) -> Answer {
        let Some(means) = self.means.clone() else {
            return answer;
        };
        let summing_up = self.facts.open.as_ref().is_some_and(|open| open.summing_up);
        let mut found = Vec::new();
        if !summing_up && finish != Finish::ContentFilter {
            let is_tool = |tool: &str| means.0.contains_key(tool);
            found = scavenge(&answer.reasoning, &answer.text, &answer.calls, is_tool);
        }
        let declared = answer.calls.len();
        answer.calls.extend(
            found
                .into_iter()
                .enumerate()
                .map(|(place, found)| ToolCall {
                    id: format!("found_{place}").as_str().into(),
                    name: found.tool,
                    arguments: found.arguments,
                    cut: false,
                    found: true,
                }),
        );
        answer.calls = self.with_own_ids(&answer.calls);
        let mut repaired = CallsRepaired {
            taken_up: ids(&answer.calls[declared..]),
            ..CallsRepaired::default()
        };
        for call in &mut answer.calls {
            let known = means.0.get(&call.name);
            if let Some(json) = repair_json(&call.arguments) {
                call.arguments = json;
                call.cut |= !known.is_some_and(|known| known.may_run_half);
                repaired.closed.push(call.id.clone());
            }
            let flat = known.and_then(|known| known.flat.as_ref());
            if flat.is_some_and(|flat| flat.is_used_by(&call.arguments)) {
                repaired.nested.push(call.id.clone());
            }
        }
        if repaired != CallsRepaired::default() {
            self.append(Body::CallsRepaired(repaired));
        }
        answer
    }

    /// Whether the same was called so often, with the same result and nothing done between, that nothing new can come
    /// of it. `kind`: that of the tool that it leads to.
    pub(crate) fn goes_in_circles(&self, call: &ToolCall, kind: ToolKind) -> bool {
        let Some(open) = self.facts.open.as_ref().filter(|_| self.means.is_some()) else {
            return false;
        };
        // What runs in the background may change anything.
        let moves = !self.facts.children.is_empty();
        !moves
            && !storm::is_exempt(kind)
            && self.stage_of(&call.id) == Some(&CallStage::Open)
            && open
                .storm
                .is_one_too_many(storm::digest(&call.name, &call.arguments))
    }

    /// Closes a call that goes in circles. It does not run.
    pub(crate) fn hold_back(&mut self, calls: &mut CallsInProgress, call: &ToolCall) {
        self.append(Body::CallsRepaired(CallsRepaired {
            held_back: Some(call.id.clone()),
            ..CallsRepaired::default()
        }));
        self.close(calls, call, Outcome::refused(words::IN_CIRCLES), 0);
    }

    /// Somebody else has changed files: what was called before may be called again.
    pub(crate) fn files_changed(&mut self, phase: Phase) -> Phase {
        let open = self.facts.open.as_ref();
        if self.means.is_some() && open.is_some_and(|open| !open.storm.is_empty()) {
            self.append(Body::CallsRepaired(CallsRepaired {
                cleared: true,
                ..CallsRepaired::default()
            }));
        }
        phase
    }

    /// Ends a turn whose last request was without tools.
    pub(crate) fn end_summed_up(&mut self) -> Phase {
        if !self.facts.open.as_ref().is_some_and(|open| open.stuck) {
            return self.end_turn(OutcomeKind::MaxSteps, None, None);
        }
        self.notice(
            Level::Warning,
            "The turn was ended: the model kept repeating the same calls with the same results, even after a reminder.",
        );
        self.end_turn(OutcomeKind::Blocked, None, None)
    }
}

fn ids(calls: &[ToolCall]) -> Vec<proto::CallId> {
    calls.iter().map(|call| call.id.clone()).collect()
}
