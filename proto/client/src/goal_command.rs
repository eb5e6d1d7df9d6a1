//! `/goal` as a person types it, the same in every client: options, then the text of the goal. Pure.

use proto::budget::Budget;

use crate::amounts;

/// The options that may stand before the text of a goal.
pub const OPTIONS: [&str; 3] = ["--research", "--simple", "--change"];

/// What `/goal` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalCommand {
    /// Show the goal.
    Show,
    /// End the goal.
    Clear,
    /// Change its limits.
    Change {
        max_turns: Option<u64>,
        budget: Option<Budget>,
    },
    /// Start a goal.
    Start {
        text: String,
        /// Whether it is long research; `None`: its text decides.
        research: Option<bool>,
    },
}

/// Why `/goal` is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalCommandError {
    /// There is no such option.
    UnknownOption(String),
    /// `--change` needs pairs of a limit and an amount.
    Limits,
    /// Options without the text of a goal.
    NoText,
}

/// Parses what stands after `/goal`. After `--` everything is the text of a goal.
///
/// # Errors
/// An option is unknown, or lacks what belongs to it.
pub fn parse(words: &str) -> Result<GoalCommand, GoalCommandError> {
    let mut rest = words.trim();
    match rest {
        "" => return Ok(GoalCommand::Show),
        "clear" => return Ok(GoalCommand::Clear),
        _ => {}
    }
    let mut research = None;
    loop {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_option = word.len() > 1 && word.starts_with('-');
        if !is_option {
            break;
        }
        rest = after.trim_start();
        match word {
            "--research" => research = Some(true),
            "--simple" => research = Some(false),
            // It stands alone.
            "--change" if research.is_some() => return Err(GoalCommandError::Limits),
            "--change" => return limits(rest),
            "--" => break,
            _ => return Err(GoalCommandError::UnknownOption(word.to_owned())),
        }
    }
    match rest {
        "" => Err(GoalCommandError::NoText),
        text => Ok(GoalCommand::Start {
            text: text.to_owned(),
            research,
        }),
    }
}

/// Pairs of a limit and an amount, `turns 80 usd 5`.
fn limits(words: &str) -> Result<GoalCommand, GoalCommandError> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let (mut max_turns, mut budget) = (None, None::<Budget>);
    for pair in words.chunks(2) {
        let [name, amount] = pair else {
            return Err(GoalCommandError::Limits);
        };
        // As on the command line, too.
        let name = name.trim_start_matches("--");
        match name.trim_start_matches("budget-") {
            "turns" | "max-turns" => {
                max_turns = Some(amount.parse().map_err(|_| GoalCommandError::Limits)?);
            }
            name => {
                let change = amounts::change(name, amount).map_err(|_| GoalCommandError::Limits)?;
                budget = Some(budget.unwrap_or_default().changed_by(&change));
            }
        }
    }
    if max_turns.is_none() && budget.is_none() {
        return Err(GoalCommandError::Limits);
    }
    Ok(GoalCommand::Change { max_turns, budget })
}

#[cfg(test)]
mod tests;
