//! Plan mode, plans and their answers, and read-only sessions.

use proto::Body;

use super::script::{check, log_of};

#[test]
fn a_plan_is_approved_and_carried_out_and_the_next_turn_asks_again() {
    check(
        "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          finished a denied | result a denied: Not run: the session is in plan mode, and this call may change something | ask
        > model calls plan b, write c
          model calls b c | judge b
        > policy b plans
          proposes 7.1 for b | waiting for plan | judge c
        > policy c allow
        > ann approves 7.1
          ann answers 7.1: approve | running | finished b ok | result b ok | judge c
        > policy c allow
          started c | run c once that is on disk
        > ends c ok
          finished c ok | result c ok | ask
        > model calls write:write a
          model calls write | judge write
        > policy write ask
          question 7.2 about write | waiting for approval
        > ann yes 7.2
          ann answers 7.2: allow once | running | judge write
        > policy write ask
          started write | run write once that is on disk
        > ends write ok
          finished write ok | result write ok | ask
        > model says Repaired.
          model: Repaired. | turn ends completed | idle
        > user and now
          turn starts | running | prompt: and now | ask
    ",
    );
}

#[test]
fn plan_approval_is_valid_only_for_its_turn() {
    let scene = "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls plan a
          model calls a | judge a
        > policy a plans
          proposes 7.1 for a | waiting for plan
        > ann approves 7.1
          ann answers 7.1: approve | running | finished a ok | result a ok | ask
    ";
    let window = |more: &str| {
        let log = log_of(&format!("{scene}{more}"));
        crate::Facts::fold(&log).effective_permissions()
    };
    assert!(window("").plan_approved);
    // Returning to plan mode withdraws the approval of the plan, even if plan mode is switched off again afterwards.
    assert!(!window("> set mode=plan").plan_approved);
    assert!(!window("> set mode=plan\n> set mode=normal").plan_approved);
    let ended = window("> model says Done.\n model: Done. | turn ends completed | idle");
    assert!(!ended.plan_approved);
    assert_eq!(
        ended.refuses(),
        None,
        "the mode stays as the answer left it"
    );
}

#[test]
fn approve_keep_asking_opens_no_window() {
    let log = log_of(
        "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls plan a
          model calls a | judge a
        > policy a plans
          proposes 7.1 for a | waiting for plan
        > ann approves-keep-asking 7.1
          ann answers 7.1: approve_keep_asking | running | finished a ok |
          result a ok: The user (ann) approved the plan.\\nPlan mode is off: carry it out now. Calls need approval as usual. | ask
    ",
    );
    let permissions = crate::Facts::fold(&log).effective_permissions();
    assert!(!permissions.plan_approved);
    assert_eq!(permissions.refuses(), None, "plan mode is off");
}

#[test]
fn latest_of_two_approved_plans_decides_whether_calls_are_asked_about() {
    let window = |first: &str, second: &str| {
        let log = log_of(&format!(
            "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls plan a, plan b
          model calls a b | judge a
        > policy a plans
          proposes 7.1 for a | waiting for plan | judge b
        > policy b plans
          proposes 7.2 for b
        > ann {first} 7.1
        > ann {second} 7.2
    "
        ));
        crate::Facts::fold(&log)
            .effective_permissions()
            .plan_approved
    };
    assert!(!window("approves", "approves-keep-asking"));
    assert!(window("approves-keep-asking", "approves"));
    assert!(window("approves", "rejects"));
}

#[test]
fn rejected_plan_keeps_plan_mode_on() {
    check(
        "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls plan a
          model calls a | judge a
        > policy a plans
          proposes 7.1 for a | waiting for plan
        > ann rejects 7.1 tests first
          ann answers 7.1: reject | running | finished a denied |
          result a denied: The user (ann) did not approve the plan | ask
        > model calls x:plan a
          model calls x | judge x
        > policy x plans
          proposes 7.2 for x | waiting for plan
        > ann approves 7.1
        > ann approves 7.2 but quickly
          ann answers 7.2: approve | running | finished x ok | result x ok | ask
    ",
    );
}

#[test]
fn call_refused_in_plan_mode_may_run_after_approval() {
    check(
        "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls x:write a, plan b, y:write a
          model calls x b y | judge x
        > policy x allow
          finished x denied | result x denied: Not run: the session is in plan mode, and this call may change something | judge b
        > policy b plans
          proposes 7.1 for b | waiting for plan | judge y
        > policy y allow
        > ann approves 7.1
          ann answers 7.1: approve | running | finished b ok | result b ok | judge y
        > policy y allow
          started y | run y once that is on disk
    ",
    );
}

#[test]
fn a_plan_outside_plan_mode_is_refused() {
    check(
        "
        > user fix it
          turn starts | running | prompt: fix it | ask
        > model calls plan a
          model calls a | judge a
        > policy a plans
          finished a refused | result a refused: Not proposed: the session is not in plan mode, and no plan has to be approved | ask
    ",
    );
}

#[test]
fn a_run_ends_blocked_with_the_plan_that_nobody_approved() {
    let scene = "
        > session headless mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls plan a
          model calls a | judge a
        > policy a left-plans
          proposes 7.1 for a | reasonix answers 7.1: nothing | finished a denied |
          result a denied: Nobody is there to approve the plan | ask
        > model calls read b
          model calls b | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | ask
        > model says That is my plan.
          model: That is my plan. | turn ends blocked (denied) | exited 3
    ";
    check(scene);
    let log = log_of(scene);
    let ended = log.iter().find_map(|record| match &record.body {
        Body::TurnEnded(ended) => Some(ended.clone()),
        _ => None,
    });
    let ended = ended.expect("it ends");
    assert_eq!(ended.text, "1. look\n\nThat is my plan.");
    assert_eq!(ended.denied.len(), 1);
    check(
        "
        > session headless mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls plan a
          model calls a | judge a
        > policy a plans
          proposes 7.1 for a | waiting for plan
        > nobody leaves 7.1
          reasonix answers 7.1: nothing | running | finished a denied |
          result a denied: Nobody is there to approve the plan | ask
        > model says 1. look
          model: 1. look | turn ends blocked (denied) | exited 3
    ",
    );
}

#[test]
fn every_stop_closes_the_plan_and_plan_mode_stays() {
    for (stop, ends) in [
        ("user", "turn ends interrupted (user) | idle"),
        ("shutdown", "turn ends interrupted (shutdown) | idle"),
        ("term", "turn ends interrupted (term) | exited 143"),
        ("kill", "turn ends killed (user) | exited 137"),
    ] {
        let why = if stop == "user" {
            "Not run: the user interrupted the turn"
        } else {
            "Not run: the turn was stopped"
        };
        let scene = format!(
            "
            > session interactive mode=plan
            > user fix it
              turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
            > model calls plan a
              model calls a | judge a
            > policy a plans
              proposes 7.1 for a | waiting for plan
            > stop {stop}
              reasonix answers 7.1: nothing | running |
              finished a interrupted | result a interrupted: {why} | {ends}
            > ann approves 7.1
        "
        );
        check(&scene);
        let effective_permissions = crate::Facts::fold(&log_of(&scene)).effective_permissions();
        assert!(effective_permissions.refuses().is_some(), "{stop}");
    }
}

#[test]
fn a_crash_leaves_the_plan_open_and_an_answer_is_not_lost() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > session interactive mode=plan
            > user fix it
              turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
            > model calls plan a
              model calls a | judge a
            > policy a plans
              proposes 7.1 for a | waiting for plan
            > crash {policy}
              waiting for plan
            > ann approves 7.1
              ann answers 7.1: approve | running | finished a ok | result a ok | ask
            > model calls write b
              model calls b | judge b
            > policy b allow
              started b | run b once that is on disk
        "
        ));
    }
    check(
        "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls plan a
          model calls a | judge a
        > policy a plans
          proposes 7.1 for a | waiting for plan
        > ann approves 7.1
          ann answers 7.1: approve | running | finished a ok | result a ok | ask
        > crash continue after interaction.resolved
          notice: The daemon was restarted | running | finished a ok | result a ok | ask
        > model calls write b
          model calls b | judge b
        > policy b allow
          started b | run b once that is on disk
    ",
    );
}

#[test]
fn mode_change_is_reported_after_earlier_messages() {
    check(
        "
        > user look
          turn starts | running | prompt: look | ask
        > set mode=plan
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | daemon: Plan mode is on | ask
        > model says Yes.
          model: Yes. | turn ends completed | idle
        > set mode=normal
        > set mode=plan
        > user go on
          turn starts | running | prompt: go on | ask
        > model says Well.
          model: Well. | turn ends completed | idle
        > set mode=normal
        > set read_only=true
        > user more
          turn starts | running | prompt: more | daemon: This session only reads | ask
        > model says Well.
          model: Well. | turn ends completed | idle
        > set mode=plan
        > user more yet
          turn starts | running | prompt: more yet | daemon: Plan mode is on, and this session only reads | ask
        > model says Well.
          model: Well. | turn ends completed | idle
        > set mode=normal
        > set read_only=false
        > user all of it
          turn starts | running | prompt: all of it | daemon: Changes are possible again | ask
        > crash continue after message.user
          notice: The daemon was restarted | ask
    ",
    );
    // A rewind also restores which permissions were reported.
    check(
        "
        > user look
          turn starts | running | prompt: look | ask
        > model says Yes.
          model: Yes. | turn ends completed | idle
        > set mode=plan
        > user plan
          turn starts | running | prompt: plan | daemon: Plan mode is on | ask
        > model says Well.
          model: Well. | turn ends completed | idle
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > user again
          turn starts | running | prompt: again | daemon: Plan mode is on | ask
    ",
    );
}

#[test]
fn approved_plan_does_not_lift_read_only() {
    check(
        "
        > session interactive mode=plan read_only=true
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on, and this session only reads | ask
        > model calls plan a, write b
          model calls a b | judge a
        > policy a plans
          proposes 7.1 for a | waiting for plan | judge b
        > policy b allow
        > ann approves 7.1
          ann answers 7.1: approve | running | finished a ok | result a ok | judge b
        > policy b allow
          finished b denied | result b denied: Not run: this session only reads, and this call may change something | ask
    ",
    );
}

#[test]
fn a_call_that_was_approved_before_plan_mode_began_does_not_run_in_it() {
    check(
        "
        > user fix it
          turn starts | running | prompt: fix it | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > set mode=plan
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask
          finished a denied | result a denied: Not run: the session is in plan mode, and this call may change something |
          daemon: Plan mode is on | ask
    ",
    );
    // A call that was judged under another mode is judged again.
    check(
        "
        > session interactive mode=plan
        > user fix it
          turn starts | running | prompt: fix it | daemon: Plan mode is on | ask
        > model calls write a
          model calls a | judge a
        > set mode=normal
        > policy a allow stale
          judge a
        > policy a allow
          started a | run a once that is on disk
    ",
    );
}
