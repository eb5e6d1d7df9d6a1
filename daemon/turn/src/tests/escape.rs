//! Calls that the sandbox blocked, and their unsandboxed runs.

use proto::Body;

use super::script::{check, log_of};

/// The results that the model received for a call, at the end of a scenario.
fn result(scene: &str, call: &str) -> String {
    let log = log_of(scene);
    let mut results = log.iter().rev().filter_map(|record| match &record.body {
        Body::Tool(message) if message.call.0 == call => Some(message.text.clone()),
        _ => None,
    });
    results.next().expect("a result")
}

const ASKED: &str = "
    > user make it
      turn starts | running | prompt: make it | ask
    > model calls write a
      model calls a | judge a
    > policy a allow
      started a | run a once that is on disk
    > ends a blocked changing /w/a
      blocked a | judge a
    > policy a ask
      question 7.1 about a outside | waiting for approval
";

#[test]
fn approval_lets_a_blocked_call_run_once_unsandboxed() {
    let scene = format!(
        "{ASKED}
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask
          started a outside | run a once that is on disk
        > ends a ok changing /o/a
          finished a ok, changed: /o/a /w/a | result a ok | ask
        "
    );
    check(&scene);
    let reported = result(&scene, "a");
    assert!(reported.contains("it writes outside"), "{reported}");
    assert!(
        reported.ends_with("What that came to:\nits output"),
        "{reported}"
    );
}

#[test]
fn unsandboxed_run_is_not_blocked_again() {
    check(&format!(
        "{ASKED}
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask
          started a outside | run a once that is on disk
        > ends a blocked
          finished a failed, changed: /w/a | result a failed: The sandbox stopped this call (it writes outside); the user then let it run once more, outside the sandbox | ask
        "
    ));
}

#[test]
fn denial_keeps_the_sandboxed_outcome_and_is_not_asked_again() {
    let scene = format!(
        "{ASKED}
        > ann no 7.1 use the project
          ann answers 7.1: deny | running | finished a failed, changed: /w/a | result a failed: its output
The user (ann) was asked to let it run once outside the sandbox, and said no: use the project | ask
        "
    );
    let reported = result(&scene, "a");
    assert!(reported.starts_with("its output\n"), "{reported}");
    assert!(reported.trim_end().ends_with("said no: use the project"));
    let again = format!(
        "{scene}
        > model calls b:write a
        > policy b allow
        > ends b blocked
        "
    );
    let log = log_of(&again);
    let count = |kind: &str| {
        log.iter()
            .filter(|record| record.body.kind() == kind)
            .count()
    };
    assert_eq!(count("tool.blocked"), 1, "the same is offered once a turn");
    assert_eq!(count("message.tool"), 2);
    // This does not deny the call itself: it may run sandboxed.
    assert_eq!(count("tool.started"), 2);
}

#[test]
fn unsandboxed_approval_is_asked_again_if_the_call_shows_something_else() {
    check(&format!(
        "{ASKED}
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask seeing something else
          question 7.2 about a outside | waiting for approval
        "
    ));
}

#[test]
fn no_rule_or_approval_mode_allows_an_unsandboxed_run() {
    for says in ["allow", "left-allowed", "left-denied", "deny"] {
        let scene = format!(
            "
            > user make it
            > model calls write a
            > policy a allow
            > ends a blocked
            > policy a {says}
            "
        );
        let log = log_of(&scene);
        let asked = log.iter().any(|record| {
            matches!(&record.body, Body::InteractionOpened(_))
                || matches!(&record.body, Body::ToolStarted(started) if started.outside)
        });
        assert!(!asked, "{says}");
        assert!(result(&scene, "a").starts_with("its output"), "{says}");
    }
}

#[test]
fn plan_mode_and_read_only_forbid_unsandboxed_runs() {
    for set in ["mode=plan", "read_only=true"] {
        // Before the call was blocked,
        check(&format!(
            "
            > user make it
              turn starts | running | prompt: make it | ask
            > model calls write a
              model calls a | judge a
            > policy a allow
              started a | run a once that is on disk
            > set {set}
            > ends a blocked
              finished a failed | result a failed: its output | {} | ask
            ",
            match set {
                "mode=plan" => "daemon: Plan mode is on",
                _ => "daemon: This session only reads",
            }
        ));
        // and after a user approved it.
        let scene = format!("{ASKED}\n> set {set}\n> ann yes 7.1\n> policy a ask\n");
        let log = log_of(&scene);
        let outside = log
            .iter()
            .any(|record| matches!(&record.body, Body::ToolStarted(started) if started.outside));
        assert!(!outside, "{set}");
        assert!(result(&scene, "a").contains("not run outside"), "{set}");
    }
}

#[test]
fn call_blocked_during_a_pause_is_offered_after_it() {
    check(
        "
        > user make it
          turn starts | running | prompt: make it | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > pause
          paused
        > ends a blocked
          blocked a
        > resume
          running | judge a
        > policy a ask
          question 7.1 about a outside | waiting for approval
        ",
    );
}

#[test]
fn interrupt_keeps_the_sandboxed_outcome() {
    let scene = format!("{ASKED}\n> stop user\n");
    let reported = result(&scene, "a");
    assert!(
        reported.starts_with("its output\nNobody said whether"),
        "{reported}"
    );
}

#[test]
fn unattended_unsandboxed_run_does_not_block_the_turn() {
    check(
        "
        > session headless
        > user make it
          turn starts | running | prompt: make it | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > ends a blocked
          blocked a | judge a
        > policy a left-denied
          nobody was there: denied | finished a failed | result a failed: its output | ask
        > model says Done.
          model: Done. | turn ends completed | exited 0
        ",
    );
}

#[test]
fn a_crash_with_the_question_open_leaves_it_open() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "{ASKED}
            > crash {policy}
              waiting for approval
            > ann yes 7.1
              ann answers 7.1: allow once | running | judge a
            > policy a ask
              started a outside | run a once that is on disk
            "
        ));
    }
}

#[test]
fn crash_during_an_unsandboxed_run_leaves_effects_unknown() {
    let scene = format!(
        "{ASKED}
        > ann yes 7.1
        > policy a ask
        > crash continue
        "
    );
    let reported = result(&scene, "a");
    assert!(
        reported.contains("The sandbox stopped this call"),
        "{reported}"
    );
    assert!(reported.contains("while it ran outside"), "{reported}");
}

#[test]
fn crash_before_the_question_asks_it_or_keeps_the_sandboxed_outcome() {
    let asked = format!("{ASKED}\n> crash continue after tool.blocked\n> policy a ask\n");
    let log = log_of(&asked);
    assert!(matches!(
        log.last().map(|record| &record.body),
        Some(Body::SessionState(_))
    ));
    let scene = format!("{ASKED}\n> crash idle after tool.blocked\n");
    assert_eq!(result(&scene, "a"), "its output");
    let scene = format!("{ASKED}\n> ann yes 7.1\n> crash idle\n");
    let reported = result(&scene, "a");
    assert!(reported.contains("was not started any more"), "{reported}");
}

#[test]
fn no_unsandboxed_run_is_offered_beside_background_commands() {
    check(
        "
    > child 9 runs
      child 9 runs
    > user make it
      turn starts | running | prompt: make it | ask
    > model calls write a
      model calls a | judge a
    > policy a allow
      started a | run a once that is on disk
    > ends a blocked changing /w/a
      finished a failed, changed: /w/a | result a failed: its output | ask
    ",
    );
}
