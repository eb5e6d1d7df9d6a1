use clap::Parser;
use proto::record::Rules;
use proto::state::{ApprovalMode, Mode, OnAsk, RestartPolicy};

use super::*;
use crate::args::Cli;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    options: SessionArgs,
}

#[test]
fn flags_name_options_and_nothing_else_is_set() {
    assert!(Command::parse_from(["x"]).options.is_empty());
    let flags = [
        "x",
        "--model",
        "p/m",
        "--planner-model",
        "p/n",
        "--effort",
        "high",
        "--approval-mode",
        "auto",
        "--plan",
        "--read-only",
        "--in-home",
        "--on-ask",
        "deny",
        "--allow",
        "Read",
        "--deny",
        "Bash",
        "--max-steps",
        "4",
        "--timeout",
        "1.5",
        "--budget-usd",
        "2",
        "--budget-tokens",
        "1k",
        "--name",
        "alpha",
        "--label",
        "ci",
        "--label",
        "night",
        "--extract-reasoning",
        "--samples",
        "3",
        "--restart",
        "on-failure",
    ];
    let options = Command::parse_from(flags).options.options();
    let expected = SessionOptions {
        auto_plan: None,
        model: Some("p/m".into()),
        planner_model: Some("p/n".into()),
        effort: Some("high".into()),
        approval_mode: Some(ApprovalMode::Auto),
        mode: Some(Mode::Plan),
        read_only: Some(true),
        in_home: Some(true),
        on_ask: Some(OnAsk::Deny),
        name: Some("alpha".into()),
        labels: Some(vec!["ci".into(), "night".into()]),
        rules: Some(Rules {
            allow: vec!["Read".into()],
            ask: Vec::new(),
            deny: vec!["Bash".into()],
        }),
        max_steps: Some(4),
        timeout_ms: Some(1_500),
        budget: Some(Budget {
            cost_micros: Some(2_000_000),
            tokens: Some(1_000),
            ..Budget::default()
        }),
        kind: None,
        extract_reasoning: Some(true),
        samples: Some(3),
        restart: Some(RestartPolicy::OnFailure),
    };
    assert_eq!(options, expected);
}

#[test]
fn bare_command_takes_options_for_a_new_session_only() {
    assert!(
        Cli::try_parse_from(["reasonix", "--approval-mode", "auto", "--max-steps", "9"]).is_ok()
    );
    for old in [&["--continue"][..], &["--resume", "3"], &["--resume"]] {
        let mut words = vec!["reasonix", "--max-steps", "9"];
        words.extend(old);
        assert!(Cli::try_parse_from(&words).is_err(), "{words:?}");
    }
}
