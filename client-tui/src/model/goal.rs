//! The goal of the open session, as its rows and `/goal` show it.

use client::transcript::words::{goal_detail, goal_reason};
use proto::budget::Spent;
use proto::params::goal::{GoalChecked, GoalLine};
use proto::record::ContinueReason;
use proto::{Body, PromptId};

use crate::messages::Language;
use crate::messages::goal;
use crate::messages::status::Msg;
use crate::render::short;

/// A goal in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Its first line.
    pub text: String,
    /// Number of its newest turn; 0: none has started.
    pub turn: u64,
    /// 0: no limit.
    pub max_turns: u64,
    /// Why its newest turn started, if that was seen.
    pub why: Option<ContinueReason>,
    /// What that is about; may be empty.
    pub detail: String,
    /// The prompt of the newest turn that the goal started, if that was seen.
    prompt: Option<PromptId>,
    /// Number of commands that must succeed before it counts as complete.
    pub checks: u64,
    /// The newest check of a claim that it is complete.
    pub checked: Option<GoalChecked>,
    /// Usage since its start, as the daemon last said.
    pub spent: Spent,
}

impl From<&GoalLine> for Goal {
    fn from(line: &GoalLine) -> Self {
        Self {
            text: line.text.clone(),
            turn: line.turn,
            max_turns: line.max_turns,
            why: line.why,
            detail: line.detail.clone(),
            prompt: None,
            checks: line.checks,
            checked: line.checked.clone(),
            spent: line.spent,
        }
    }
}

impl Goal {
    /// Takes what a record says of the session's goal.
    pub fn fold(goal: &mut Option<Self>, body: &Body) {
        match body {
            Body::GoalStarted(started) => {
                let checks = started
                    .check
                    .as_ref()
                    .map_or(0, |check| check.commands.len());
                *goal = Some(Self {
                    text: started.text.lines().next().unwrap_or_default().to_owned(),
                    turn: 0,
                    max_turns: started.max_turns,
                    why: None,
                    detail: String::new(),
                    prompt: None,
                    checks: checks as u64,
                    checked: None,
                    spent: Spent::default(),
                });
            }
            Body::GoalChanged(changed) => {
                if let Some(resumed) = &changed.resumed {
                    *goal = Some(Self {
                        text: resumed.text.lines().next().unwrap_or_default().to_owned(),
                        turn: resumed.turns,
                        max_turns: resumed.max_turns,
                        why: None,
                        detail: String::new(),
                        prompt: None,
                        checks: 0,
                        checked: None,
                        spent: Spent::default(),
                    });
                }
                if let (Some(goal), Some(max_turns)) = (goal, changed.max_turns) {
                    goal.max_turns = max_turns;
                }
            }
            Body::GoalContinued(continued) => {
                if let Some(goal) = goal {
                    goal.turn = continued.number;
                    goal.why = Some(continued.why);
                    goal.detail.clone_from(&continued.detail);
                    goal.prompt = Some(continued.prompt_id);
                }
            }
            // Turns that prompts start count as turns of the goal.
            Body::TurnStarted(started) => {
                let other = |goal: &&mut Self| goal.prompt != Some(started.prompt_id);
                if let Some(goal) = goal.as_mut().filter(other) {
                    goal.turn = goal.turn.saturating_add(1);
                    goal.why = None;
                    goal.detail.clear();
                }
            }
            Body::GoalEnded(_) => *goal = None,
            _ => {}
        }
    }

    /// Takes what the daemon says of it beside its records, if that is of the same turn.
    pub fn learn(&mut self, line: &GoalLine) {
        if line.turn == self.turn && line.text == self.text {
            self.checks = line.checks;
            self.checked.clone_from(&line.checked);
            self.spent = line.spent;
        }
    }

    /// What it is after, its turn, and why that started.
    #[must_use]
    pub fn words(&self, language: Language) -> String {
        let turn = turn_words(language, self.turn, self.max_turns);
        let why = self.why.filter(|why| *why != ContinueReason::Started);
        let why = why.map(|why| goal_reason(language, why).to_owned());
        let rest: Vec<String> = std::iter::once(turn).chain(why).collect();
        language.fill(Msg::Goal, &[&self.text, &rest.join(" · ")])
    }

    /// Its turn for the status line: `2/5`.
    #[must_use]
    pub fn mark(&self) -> String {
        match self.max_turns {
            0 => format!("◎ {}", self.turn),
            max => format!("◎ {}/{max}", self.turn),
        }
    }

    /// Checks, cost and the detail of the newest turn; empty: nothing is known of them.
    #[must_use]
    pub fn progress(&self, language: Language) -> String {
        let checked = match (self.checks, &self.checked) {
            (0, None) => String::new(),
            (checks, checked) => checked_words(language, checks, checked.as_ref()),
        };
        let spent = match (self.spent.cost_micros, self.spent.tokens) {
            (0, 0) => String::new(),
            (0, tokens) => language.fill(goal::Msg::Spent, &[&short::count(tokens)]),
            (micros, _) => short::money(micros),
        };
        let detail = match &self.checked {
            // It is what is missing.
            Some(checked) if !checked.passed => String::new(),
            _ => self
                .why
                .map_or_else(String::new, |why| goal_detail(language, why, &self.detail)),
        };
        let mut parts = vec![checked, spent, detail];
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }
}

/// The turn of a goal, and how many it may have.
#[must_use]
pub fn turn_words(language: Language, turn: u64, max: u64) -> String {
    let turn = turn.to_string();
    match max {
        0 => language.fill(Msg::GoalTurn, &[&turn]),
        max => language.fill(Msg::GoalTurnOf, &[&turn, &max.to_string()]),
    }
}

/// The newest check of a goal that has so many check commands.
#[must_use]
pub fn checked_words(language: Language, checks: u64, checked: Option<&GoalChecked>) -> String {
    let say = |message| language.say(message).to_owned();
    match (checked, checks) {
        (None, 0) => say(goal::Msg::NoChecks),
        (None, _) => say(goal::Msg::NotChecked),
        (Some(checked), _) if checked.passed => say(goal::Msg::Passed),
        (Some(checked), _) => {
            let missing = checked.missing.iter();
            let missing: Vec<_> = missing
                .map(|what| client::text::line(&language.translate(what)))
                .collect();
            language.fill(goal::Msg::Missing, &[&missing.join("; ")])
        }
    }
}
