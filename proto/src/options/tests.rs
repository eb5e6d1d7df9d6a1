use super::SessionOptions;
use crate::budget::Budget;
use crate::record::Rules;
use crate::state::{ApprovalMode, Kind, Mode, OnAsk, RestartPolicy};

/// Every option with a value that is not its default.
fn all() -> SessionOptions {
    SessionOptions {
        auto_plan: Some(true),
        model: Some("bench/large".into()),
        planner_model: Some("bench/deep".into()),
        effort: Some("high".into()),
        approval_mode: Some(ApprovalMode::Yolo),
        mode: Some(Mode::Plan),
        read_only: Some(true),
        in_home: Some(true),
        on_ask: Some(OnAsk::Deny),
        name: Some("alpha".into()),
        labels: Some(vec!["ci".into()]),
        rules: Some(Rules {
            deny: vec!["Bash(rm:*)".into()],
            ..Rules::default()
        }),
        max_steps: Some(7),
        timeout_ms: Some(9_000),
        budget: Some(Budget {
            tokens: Some(5),
            ..Budget::default()
        }),
        kind: Some(Kind::Headless),
        extract_reasoning: Some(true),
        samples: Some(3),
        restart: Some(RestartPolicy::Always),
    }
}

#[test]
fn change_overwrites_what_it_names() {
    let mut options = SessionOptions::default();
    options.apply(&all());
    assert_eq!(options, all());
}

#[test]
fn change_keeps_what_it_does_not_name() {
    let mut options = all();
    options.apply(&SessionOptions::default());
    assert_eq!(options, all());
}

#[test]
fn empty_values_remove_the_old_ones() {
    let mut options = all();
    options.apply(&SessionOptions {
        effort: Some(String::new()),
        name: Some(String::new()),
        budget: Some(Budget {
            tokens: Some(0),
            steps: Some(2),
            ..Budget::default()
        }),
        ..SessionOptions::default()
    });
    assert_eq!((options.effort, options.name), (None, None));
    let budget = options.budget.unwrap();
    assert_eq!((budget.tokens, budget.steps), (None, Some(2)));
}

#[test]
fn model_is_split_at_the_first_slash() {
    let mut options = all();
    options.model = Some("router/vendor/large".into());
    assert_eq!(options.provider(), "router");
    assert_eq!(options.model_name(), "vendor/large");
    options.model = Some("large".into());
    assert_eq!((options.provider(), options.model_name()), ("", "large"));
}

#[test]
fn options_stand_beside_the_other_members_of_a_record() {
    let set = crate::record::SessionSet {
        options: all(),
        by: Some("cli".into()),
        ..crate::record::SessionSet::default()
    };
    let json = serde_json::to_value(&set).unwrap();
    assert_eq!(json["max_steps"], 7);
    assert_eq!(json["by"], "cli");
    let read: crate::record::SessionSet = serde_json::from_value(json).unwrap();
    assert_eq!(read, set);
}
