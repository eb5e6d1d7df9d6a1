//! The texts of budget notices: which node, which limit, how much, and how to raise it.

use contract::provider::{ErrorKind, ProviderError};
use proto::budget::{BudgetNodeKind, Dimension};

use super::tree::BudgetAlert;

/// The refusal of a request.
pub fn refusal(reached: &BudgetAlert) -> ProviderError {
    let used = amounts(reached.dimension, reached.spent, reached.limit);
    let under_way = match reached.under_way {
        0 => String::new(),
        more => format!(
            ", plus about {} for requests in progress",
            amount(reached.dimension, more)
        ),
    };
    ProviderError {
        message: format!("{}: {used}{under_way}", used_up(reached)),
        hint: format!("{} No further requests are sent.", raise(reached)),
        kind: ErrorKind::Budget,
        status: None,
        retry_after: None,
        of_model: false,
        empty: false,
        window: None,
    }
}

/// A day's usage cannot be known: its budget cannot be held, and nothing is sent.
pub fn unknown(reason: &str) -> ProviderError {
    ProviderError {
        message: format!("cannot read today's usage, so its budget cannot be enforced: {reason}"),
        hint:
            "Run `reasonix doctor`, or remove the limits in `[budget.day]` and `[budget.project]`."
                .into(),
        kind: ErrorKind::Budget,
        status: None,
        retry_after: None,
        of_model: false,
        empty: false,
        window: None,
    }
}

/// Most of a limit is used.
pub fn near(reached: &BudgetAlert) -> String {
    let used = amounts(reached.dimension, reached.spent, reached.limit);
    format!(
        "{} {} used up: {used}. {}",
        whose(reached),
        if reached.spent < reached.limit {
            "nearly"
        } else {
            "now"
        },
        raise(reached)
    )
}

/// A model's use cannot be held.
pub fn unheld(model: &str, reported: bool) -> String {
    match reported {
        true => format!(
            "The price of `{model}` is unknown, so a budget in money cannot limit its requests. Limits on tokens, steps and time apply."
        ),
        false => format!(
            "The provider of `{model}` does not report usage, so budgets in money and tokens cannot limit its requests. Limits on steps and time apply."
        ),
    }
}

fn used_up(reached: &BudgetAlert) -> &'static str {
    match reached.kind {
        BudgetNodeKind::Day => "The day's budget is used up",
        BudgetNodeKind::Project => "The project's budget for the day is used up",
        BudgetNodeKind::Session => "The session's budget is used up",
    }
}

fn whose(reached: &BudgetAlert) -> &'static str {
    match reached.kind {
        BudgetNodeKind::Day => "The day's budget is",
        BudgetNodeKind::Project => "The project's budget for the day is",
        BudgetNodeKind::Session => "The session's budget is",
    }
}

/// How a limit is raised, with a value that gives room.
fn raise(reached: &BudgetAlert) -> String {
    let more = reached.limit.max(reached.spent).saturating_mul(2);
    let (name, value) = match reached.dimension {
        Dimension::Money => ("usd", decimal(more)),
        Dimension::Tokens => ("tokens", more.to_string()),
        Dimension::Steps => ("steps", more.to_string()),
        Dimension::Time => ("minutes", more.div_ceil(60_000).to_string()),
    };
    match reached.kind {
        BudgetNodeKind::Session => {
            let pid = reached.pid;
            format!(
                "Raise it, for example with `reasonix budget {pid} --{name} {value}` (0: no limit)."
            )
        }
        BudgetNodeKind::Day => format!(
            "It resets at midnight. To raise it, run for example `reasonix config set budget.day.{name} {value}` (0: no limit)."
        ),
        BudgetNodeKind::Project => format!(
            "It resets at midnight. To raise it, run for example `reasonix config set budget.project.{name} {value}` (0: no limit), or edit the project's `reasonix.toml` if it sets the limit."
        ),
    }
}

fn amounts(dimension: Dimension, spent: u64, limit: u64) -> String {
    match dimension {
        Dimension::Money => format!("${} of ${}", decimal(spent), decimal(limit)),
        Dimension::Tokens => format!("{spent} of {limit} tokens"),
        Dimension::Steps => format!("{spent} of {limit} steps"),
        Dimension::Time => format!("{} of {} minutes", minutes(spent), minutes(limit)),
    }
}

fn amount(dimension: Dimension, amount: u64) -> String {
    match dimension {
        Dimension::Money => format!("${}", decimal(amount)),
        Dimension::Tokens => format!("{amount} tokens"),
        Dimension::Steps => format!("{amount} steps"),
        Dimension::Time => format!("{} minutes", minutes(amount)),
    }
}

/// Dollars, with two places or as many as it takes.
fn decimal(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let shortest = text.find('.').map_or(text.len(), |point| point + 3);
    let mut kept = text.trim_end_matches('0').len().max(shortest);
    kept = kept.min(text.len());
    text.get(..kept).unwrap_or(&text).to_owned()
}

/// Minutes, with one place.
fn minutes(ms: u64) -> String {
    let tenths = ms / 6_000;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        tenth => format!("{}.{tenth}", tenths / 10),
    }
}
