//! The goal of the open session, as its row and `/goal` show it.

use client::transcript::words::goal_reason;
use proto::Body;
use proto::RequestId;
use proto::params::goal::{GoalLine, StartParams};
use proto::record::ContinueReason;

use crate::messages::Language;
use crate::messages::status::Msg;

/// What `/goal` starts. `--research` or `--simple` before the text says whether it is long research.
pub fn start(session: String, words: &str) -> StartParams {
    let options = [("--research", true), ("--simple", false)];
    let choice = options.into_iter().find_map(|(option, research)| {
        let text = words.strip_prefix(option)?;
        let text = text.strip_prefix(char::is_whitespace)?;
        Some((text.trim_start(), research))
    });
    let (text, research) = choice.map_or((words, None), |(text, research)| (text, Some(research)));
    StartParams {
        session,
        text: text.to_owned(),
        max_turns: None,
        check: Vec::new(),
        research,
        request_id: Some(RequestId::new()),
    }
}

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
}

impl From<&GoalLine> for Goal {
    fn from(line: &GoalLine) -> Self {
        Self {
            text: line.text.clone(),
            turn: line.turn,
            max_turns: line.max_turns,
            why: None,
        }
    }
}

impl Goal {
    /// Takes what a record says of the session's goal.
    pub fn fold(goal: &mut Option<Self>, body: &Body) {
        match body {
            Body::GoalStarted(started) => {
                *goal = Some(Self {
                    text: started.text.lines().next().unwrap_or_default().to_owned(),
                    turn: 0,
                    max_turns: started.max_turns,
                    why: None,
                });
            }
            Body::GoalContinued(continued) => {
                if let Some(goal) = goal {
                    goal.turn = continued.number;
                    goal.why = Some(continued.why);
                }
            }
            Body::GoalEnded(_) => *goal = None,
            _ => {}
        }
    }

    /// What it is after, its turn, and why that started.
    #[must_use]
    pub fn words(&self, language: Language) -> String {
        let turn = self.turn.to_string();
        let turn = match self.max_turns {
            0 => language.fill(Msg::GoalTurn, &[&turn]),
            max => language.fill(Msg::GoalTurnOf, &[&turn, &max.to_string()]),
        };
        let why = self.why.filter(|why| *why != ContinueReason::Started);
        let why = why.map(|why| goal_reason(language, why).to_owned());
        let rest: Vec<String> = std::iter::once(turn).chain(why).collect();
        language.fill(Msg::Goal, &[&self.text, &rest.join(" · ")])
    }
}
