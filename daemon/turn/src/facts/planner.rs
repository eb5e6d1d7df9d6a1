//! The planner, as a fold: which turn it plans, the plan that is still to be handed over, and the earlier conversation
//! that is handed to it.

use std::collections::{BTreeSet, VecDeque};

use proto::outcome::TurnEnded;
use proto::record::{PlannerFinished, PlannerStarted, PlanningOutcome};

use super::Facts;

/// Turns that are kept for the summary of the conversation.
const TURNS_MAX: usize = 32;
/// Letters of a prompt in it.
const PROMPT_MAX: usize = 400;
/// Letters of an answer in it.
const ANSWER_MAX: usize = 800;
/// Letters of the whole summary.
const SUMMARY_MAX: usize = 6_000;

/// The planning of the open turn, as recorded in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Planning {
    /// There is none, or the model has the plan.
    #[default]
    None,
    /// The planner works with this model.
    Running { model: String },
    /// The plan is there; the model gets it with the next message.
    Due { plan: String },
}

/// What the planner of the next turn depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannerHistory {
    /// How many times a rewind changed the conversation. A new planner begins after each: the one before knows prompts
    /// that are hidden.
    pub round: u64,
    /// The last answer of the newest turn of this conversation; empty: there is none.
    pub last_answer: String,
    /// The newest turns, oldest first; those that a rewind hides as well, since it may be undone.
    turns: VecDeque<TurnExcerpt>,
    /// The models that have made a plan since the newest rewind. A planner with another model is a new one.
    planned_with: BTreeSet<String>,
}

/// A turn, shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TurnExcerpt {
    turn: u64,
    prompt: String,
    answer: String,
}

/// The first letters of a text, in one line.
fn excerpt(text: &str, max: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Facts {
    pub(super) fn apply_planner_started(&mut self, started: &PlannerStarted) {
        if let Some(open) = &mut self.open {
            let model = started.model.clone();
            open.planning = Planning::Running { model };
        }
    }

    pub(super) fn apply_planner_finished(&mut self, finished: &PlannerFinished) {
        let number = finished.turn;
        let Some(open) = self.open.as_mut().filter(|open| open.number == number) else {
            return;
        };
        if let (Planning::Running { model }, PlanningOutcome::Planned) =
            (&open.planning, finished.outcome)
        {
            self.planner.planned_with.insert(model.clone());
        }
        open.planning = match finished.outcome {
            PlanningOutcome::Planned => Planning::Due {
                plan: finished.plan.clone(),
            },
            PlanningOutcome::Failed | PlanningOutcome::Stopped => Planning::None,
        };
    }

    /// Whether the planner works on the open turn.
    #[must_use]
    pub fn is_planning(&self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| matches!(open.planning, Planning::Running { .. }))
    }

    /// A turn of the conversation has ended.
    pub(super) fn note_turn_for_planner(&mut self, ended: &TurnEnded) {
        self.planner.last_answer.clone_from(&ended.text);
        let Some(open) = &self.open else { return };
        let turns = &mut self.planner.turns;
        turns.push_back(TurnExcerpt {
            turn: open.number,
            prompt: excerpt(&open.prompt, PROMPT_MAX),
            answer: excerpt(&ended.text, ANSWER_MAX),
        });
        if turns.len() > TURNS_MAX {
            turns.pop_front();
        }
    }

    /// The conversation before the open turn, for a planner with this model that knows nothing of it: the newest turns
    /// that are shown, oldest first, each shortened. `None`: that planner knows it, or there was none.
    pub(crate) fn conversation_for_new_planner(&self, model: &str) -> Option<String> {
        if self.planner.planned_with.contains(model) {
            return None;
        }
        let is_shown = |turn: u64| self.marks.iter().any(|mark| mark.turn == turn);
        let known = self.planner.turns.iter().rev();
        let (mut lines, mut letters) = (Vec::new(), 0);
        for planned in known.filter(|planned| is_shown(planned.turn)) {
            let answer = match planned.answer.is_empty() {
                true => "(no answer)",
                false => &planned.answer,
            };
            let line = match planned.prompt.is_empty() {
                // It did not begin with words of the user.
                true => format!("executor: {answer}"),
                false => format!("user: {}\nexecutor: {answer}", planned.prompt),
            };
            letters += line.chars().count() + 1;
            if letters > SUMMARY_MAX {
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// A rewind has changed the conversation.
    pub(super) fn begin_planner_round(&mut self) {
        self.planner.round += 1;
        self.planner.last_answer.clear();
        self.planner.planned_with.clear();
    }
}
