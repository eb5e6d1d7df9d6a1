//! Goals in scenarios: they start and stop, and the model reports.

use contract::CallAction;
use proto::GoalId;
use proto::budget::Budget;
use proto::record::{GoalChanged, GoalCheck, GoalReport, GoalStarted, ReportStatus};

use super::number;
use crate::{Facts, GoalChangeRefusal, Input};

/// `TEXT [turns 3] [check COMMAND]`.
pub fn started(what: &str) -> Input {
    let (what, check) = match what.split_once(" check ") {
        Some((what, check)) => (what, Some(check)),
        None => (what, None),
    };
    let (text, max_turns) = what.split_once(" turns ").unwrap_or((what, "50"));
    Input::StartGoal(Box::new(GoalStarted {
        goal: GoalId::default(),
        text: text.to_owned(),
        max_turns: number(max_turns),
        check: check.map(|command| GoalCheck {
            commands: vec![command.to_owned()],
            tool: "write".into(),
            arguments: serde_json::json!({ "command": command }).to_string(),
        }),
        research: None,
        by: "ann".into(),
        request_id: None,
    }))
}

/// `[turns 3] [tokens 100]`: a user changes the limits. `Facts::check_goal_change` says what that resumes, or refuses it.
pub fn changed(facts: &Facts, what: &str) -> Result<Input, GoalChangeRefusal> {
    let words: Vec<&str> = what.split(' ').collect();
    let given = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        Some(number(words.get(at + 1).expect("a number")))
    };
    let tokens = given("tokens");
    let budget = tokens.map(|tokens| Budget {
        tokens: Some(tokens),
        ..Budget::default()
    });
    let max_turns = given("turns");
    let resumed = facts.check_goal_change(max_turns, budget)?;
    Ok(Input::ChangeGoal(Box::new(GoalChanged {
        goal: GoalId::default(),
        max_turns,
        budget,
        resumed,
        by: "ann".into(),
        request_id: None,
    })))
}

pub fn stopped() -> Input {
    Input::StopGoal {
        by: "ann".into(),
        request_id: None,
        partial: None,
    }
}

/// `reports STATUS WORDS`.
pub fn report(says: &str) -> CallAction {
    let what = says.strip_prefix("reports ").expect("reports STATUS");
    let (status, summary) = what.split_once(' ').unwrap_or((what, "as it is"));
    let (status, evidence) = match status {
        "complete-unproven" => ("complete", None),
        status => (status, Some("seen".to_owned())),
    };
    CallAction::ReportGoal(GoalReport {
        status: ReportStatus::named(status).expect("a status"),
        summary: summary.to_owned(),
        evidence: evidence.filter(|_| status == "complete"),
        next: None,
    })
}
