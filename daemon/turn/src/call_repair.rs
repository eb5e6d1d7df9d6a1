//! Repairs malformed calls of the model when an answer arrives.
//!
//! `repair` has the passes; this module applies them and logs `calls.repaired`, for statistics. The log holds the
//! repaired calls, so nothing is repaired again after a crash.

use proto::Body;
use proto::item::{Finish, ToolCall};
use proto::outcome::{OutcomeKind, Reason};
use proto::record::{CallsRepaired, Level};

use crate::input::Answer;
use crate::machine::{Phase, Step};
use crate::repair::close::repair_json;
use crate::repair::scavenge::scavenge;

impl Step<'_> {
    /// Repairs the calls of an answer and logs the repairs: adds calls that are written in its text, and completes
    /// truncated arguments.
    pub(crate) fn repair_calls(&mut self, mut answer: Answer, finish: Finish) -> Answer {
        let Some(tools) = self.repair_tools.clone() else {
            return answer;
        };
        let summing_up = self.facts.open.as_ref().is_some_and(|open| open.summing_up);
        let mut found = Vec::new();
        if !summing_up && finish != Finish::ContentFilter {
            let is_tool = |tool: &str| tools.0.contains_key(tool);
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
        answer.calls = self.with_unique_ids(&answer.calls);
        let mut repaired = CallsRepaired {
            taken_up: ids(&answer.calls[declared..]),
            ..CallsRepaired::default()
        };
        for call in &mut answer.calls {
            let known = tools.0.get(&call.name);
            if let Some(json) = repair_json(&call.arguments) {
                call.arguments = json;
                call.cut |= !known.is_some_and(|known| known.may_run_truncated);
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

    /// Ends a turn whose last request allowed no tools.
    pub(crate) fn end_summed_up(&mut self) -> Phase {
        if !self.facts.open.as_ref().is_some_and(|open| open.stuck) {
            return self.end_turn(OutcomeKind::MaxSteps, None, None);
        }
        self.notice(
            Level::Warning,
            "The turn was ended: the model kept repeating the same calls with the same results, even after a reminder.",
        );
        self.end_turn(OutcomeKind::Blocked, Some(Reason::Loop), None)
    }
}

fn ids(calls: &[ToolCall]) -> Vec<proto::CallId> {
    calls.iter().map(|call| call.id.clone()).collect()
}
