//! Goals in words: their start, limits, continuations and ends.

use proto::budget::{Budget, Dimension};
use proto::record::{ContinueReason, GoalChanged, GoalContinued, GoalEnded, GoalOutcome};

use super::who;
use crate::amounts;
use crate::goal_command::{GoalCommandError, OPTIONS};
use crate::messages::Language;
use crate::messages::transcript::Msg;

/// That a user started a goal; `research`: the directory of a research run.
pub(super) fn goal_started(
    language: Language,
    by: &str,
    text: &str,
    research: Option<&str>,
) -> String {
    let by = who(language, by);
    match research {
        Some(dir) => language.fill(Msg::ResearchStarted, &[&by, text, dir]),
        None => language.fill(Msg::GoalStarted, &[&by, text]),
    }
}

/// That a goal continues, and why.
pub(crate) fn goal_continued(language: Language, continued: &GoalContinued) -> String {
    goal_turn(language, continued.number, continued.why, &continued.detail)
}

/// A turn of a goal, and why it started.
pub(super) fn goal_turn(
    language: Language,
    number: u64,
    why: ContinueReason,
    detail: &str,
) -> String {
    let detail = goal_detail(language, why, detail);
    let why = goal_reason(language, why);
    let number = number.to_string();
    match detail {
        detail if detail.is_empty() => language.fill(Msg::GoalContinues, &[&number, why]),
        detail => language.fill(Msg::GoalContinuesWith, &[&number, why, &detail]),
    }
}

/// What the reason of a goal's continuation is about, in words; may be empty. What a refused claim lacks is a list.
#[must_use]
pub fn goal_detail(language: Language, why: ContinueReason, detail: &str) -> String {
    match why {
        ContinueReason::Refused => {
            let missing = detail.split("; ").map(|what| language.translate(what));
            missing.collect::<Vec<_>>().join("; ")
        }
        ContinueReason::Started
        | ContinueReason::Reported
        | ContinueReason::NoReport
        | ContinueReason::Blocked
        | ContinueReason::NoProgress
        | ContinueReason::StepLimit
        | ContinueReason::Restarted
        | ContinueReason::LimitRaised
        | ContinueReason::Failed => language.translate(detail).into_owned(),
    }
}

/// Why `/goal` is not understood.
#[must_use]
pub fn goal_error(language: Language, error: &GoalCommandError) -> String {
    match error {
        GoalCommandError::UnknownOption(option) => {
            let known = OPTIONS.map(|option| format!("`{option}`")).join(", ");
            language.fill(Msg::GoalUnknownOption, &[option, &known])
        }
        GoalCommandError::Limits => language.say(Msg::GoalChangeHow).to_owned(),
        GoalCommandError::NoText => language.say(Msg::GoalNoText).to_owned(),
    }
}

/// Why a goal continues, in words.
#[must_use]
pub fn goal_reason(language: Language, why: ContinueReason) -> &'static str {
    language.say(match why {
        ContinueReason::Started => Msg::GoalWhyStarted,
        ContinueReason::Reported => Msg::GoalWhyReported,
        ContinueReason::NoReport => Msg::GoalWhyNoReport,
        ContinueReason::Refused => Msg::GoalWhyRefused,
        ContinueReason::Blocked => Msg::GoalWhyBlocked,
        ContinueReason::NoProgress => Msg::GoalWhyNoProgress,
        ContinueReason::StepLimit => Msg::GoalWhyStepLimit,
        ContinueReason::Restarted => Msg::GoalWhyRestarted,
        ContinueReason::LimitRaised => Msg::GoalWhyLimitRaised,
        ContinueReason::Failed => Msg::GoalWhyFailed,
    })
}

/// That a user changed the limits of a goal, and what they are.
pub(super) fn goal_changed(language: Language, changed: &GoalChanged) -> String {
    let message = match changed.resumed {
        Some(_) => Msg::GoalResumed,
        None => Msg::GoalChanged,
    };
    let limits = goal_limits(language, changed.max_turns, changed.budget);
    language.fill(message, &[&who(language, &changed.by), &limits])
}

/// Limits of a goal, in words: `turns: 80 · money: $5.00`. Only those that are given.
#[must_use]
pub fn goal_limits(language: Language, turns: Option<u64>, budget: Option<Budget>) -> String {
    let budget = budget.unwrap_or_default();
    let amount = |dimension| move |limit| amounts::amount(dimension, limit);
    let limits = [
        (Msg::LimitTurns, turns, turns.map(|turns| turns.to_string())),
        (
            Msg::LimitMoney,
            budget.cost_micros,
            budget.cost_micros.map(amount(Dimension::Money)),
        ),
        (
            Msg::LimitTokens,
            budget.tokens,
            budget.tokens.map(amount(Dimension::Tokens)),
        ),
        (
            Msg::LimitSteps,
            budget.steps,
            budget.steps.map(amount(Dimension::Steps)),
        ),
        (
            Msg::LimitMinutes,
            budget.ms,
            budget.ms.map(amount(Dimension::Time)),
        ),
    ];
    let words = limits.into_iter().filter_map(|(message, limit, words)| {
        Some(match limit? {
            0 => language.fill(message, &[language.say(Msg::NoLimit)]),
            _ => language.fill(message, &[&words?]),
        })
    });
    words.collect::<Vec<_>>().join(" · ")
}

/// How a goal ended.
#[must_use]
pub fn goal_ended(language: Language, ended: &GoalEnded) -> String {
    let message = match ended.outcome {
        GoalOutcome::Complete => Msg::GoalComplete,
        GoalOutcome::Blocked => Msg::GoalBlocked,
        GoalOutcome::Stopped => Msg::GoalStopped,
        GoalOutcome::OutOfBudget => Msg::GoalOutOfBudget,
        GoalOutcome::OutOfTurns => Msg::GoalOutOfTurns,
        GoalOutcome::Failed => Msg::GoalFailed,
    };
    let reason = match &ended.by {
        Some(by) => language.fill(
            Msg::GoalBy,
            &[&who(language, by), &language.translate(&ended.reason)],
        ),
        None => language.translate(&ended.reason).into_owned(),
    };
    let turns = language.counted(ended.turns, Msg::OneTurn, Msg::Turns);
    language.fill(message, &[&turns, &reason])
}
