use super::*;
use serde_json::json;

fn action(arguments: serde_json::Value) -> Result<CallAction, Outcome> {
    let tool = crate::typed_tool::tool::<UpdateGoal>(spec());
    let serde_json::Value::Object(arguments) = arguments else {
        panic!("an object");
    };
    let parsed = tool.parse(&arguments)?;
    tool.action(&parsed)
}

#[test]
fn report_is_trimmed_and_its_empty_parts_are_left_out() {
    let report = action(json!({
        "status": "complete", "reason": " done \n", "evidence": " tests pass", "next_step": "  ",
    }));
    let wanted = GoalReport {
        status: ReportStatus::Complete,
        summary: "done".into(),
        evidence: Some("tests pass".into()),
        next: None,
    };
    assert_eq!(report, Ok(CallAction::ReportGoal(wanted)));
}

#[test]
fn report_without_summary_or_with_an_unknown_status_is_refused() {
    for bad in [
        json!({"status": "complete", "summary": " "}),
        json!({"status": "complete"}),
        json!({"status": "finished", "summary": "done"}),
        json!({"status": "continue", "summary": "x".repeat(TEXT_MAX + 1)}),
    ] {
        assert!(action(bad.clone()).is_err(), "{bad}");
    }
}
