//! Goals in scenarios: they start and stop, and the model reports.

use contract::CallAction;
use proto::GoalId;
use proto::record::{GoalCheck, GoalReport, GoalStarted, ReportStatus};

use super::number;
use crate::Input;

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
