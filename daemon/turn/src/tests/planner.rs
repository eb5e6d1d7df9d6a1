//! A planner, in a session of its own, before the session's model: what it gets, what becomes of its plan, and of the
//! turn without one.

use super::script::check;

#[test]
fn a_plan_comes_before_the_first_request_and_before_steering() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > steer and the other
        > planner plans 1. Look.
          planned | daemon: plan | steer: and the other | ask
        > model says Done.
          model: Done. | turn ends completed | idle
    ",
    );
}

#[test]
fn a_planner_that_fails_does_not_fail_the_turn() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > planner fails it is down
          failed | notice: There is no plan for this turn, and the session's model works without one: it is down | ask
        > model says Done.
          model: Done. | turn ends completed | idle
    ",
    );
}

#[test]
fn plain_words_plan_mode_goals_and_other_sessions_are_not_planned() {
    check(
        "
        > session planner=q/n
        > user continue
          turn starts | running | prompt: continue | ask
        > model says Done.
          model: Done. | turn ends completed | idle
        > set mode=plan
        > user fix the test
          turn starts | running | prompt: fix the test | daemon: Plan mode is on | ask
        > model says Done.
          model: Done. | turn ends completed | idle
        > set mode=normal
        > agent it is done
          turn starts | running | session: it is done | daemon: Changes are possible again | ask
        > model says Good.
          model: Good. | turn ends completed | idle
    ",
    );
}

#[test]
fn a_stop_ends_the_planner_with_the_turn() {
    for (stop, ends) in [
        ("user", "turn ends interrupted (user) | idle"),
        ("term", "turn ends interrupted (term) | exited 143"),
        ("kill", "turn ends killed (user) | exited 137"),
    ] {
        check(&format!(
            "
            > session planner=q/n
            > user fix the test
              turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
            > stop {stop}
              stop the planner | stopped | {ends}
            > planner plans 1. Look.
        "
        ));
    }
}

#[test]
fn a_paused_session_waits_with_its_plan() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > pause
          paused
        > planner plans 1. Look.
          planned | daemon: plan
        > resume
          running | ask
    ",
    );
}

#[test]
fn a_planner_is_waited_for_again_after_a_crash() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > crash continue
          notice: The daemon was restarted | q/n plans: fix the test
        > planner plans 1. Look.
          planned | daemon: plan | ask
        > crash continue after planner.finished
          notice: The daemon was restarted | daemon: plan | ask
    ",
    );
}

#[test]
fn a_turn_that_lost_its_prompt_message_is_planned_all_the_same() {
    for kind in ["turn.started", "planner.started"] {
        let planning = match kind {
            "turn.started" => "planning | ",
            _ => "",
        };
        check(&format!(
            "
            > session planner=q/n
            > user fix the test
              turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
            > crash continue after {kind}
              notice: The daemon was restarted | running | {planning}prompt: fix the test | q/n plans: fix the test
        "
        ).replace(" | running | prompt", if kind == "turn.started" { " | running | prompt" } else { " | prompt" }));
    }
}

#[test]
fn an_answer_whose_plan_did_not_reach_the_disk_is_asked_for_again() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > planner fails it is down
          failed | notice: There is no plan for this turn, and the session's model works without one: it is down | ask
        > crash continue before planner.finished showing Once
          notice: The daemon was restarted | q/n plans: fix the test
        > planner plans 1. Look.
          planned | daemon: plan | ask
    ",
    );
}

#[test]
fn a_session_that_waits_after_a_crash_ends_its_planning() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | stop the planner | stopped | turn ends interrupted (shutdown) | idle
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test, before: user: fix the test, executor: (no answer)
    ",
    );
}

#[test]
fn the_next_plan_is_told_the_last_answer_and_a_rewind_begins_another_planner() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > planner plans 1. Look.
          planned | daemon: plan | ask
        > model says It is fixed.
          model: It is fixed. | turn ends completed | idle
        > user and the other one
          turn starts | running | planning | prompt: and the other one | q/n plans: and the other one, after: It is fixed.
        > planner fails it is down
          failed | notice: There is no plan for this turn, and the session's model works without one: it is down | ask
        > model says Done.
          model: Done. | turn ends completed | idle
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > user and the other one
          turn starts | running | planning | prompt: and the other one | q/n plans in round 1: and the other one, before: user: fix the test, executor: It is fixed.
        > planner plans 1. Look.
          planned | daemon: plan | ask
        > model says Done.
          model: Done. | turn ends completed | idle
        > user and the third
          turn starts | running | planning | prompt: and the third | q/n plans in round 1: and the third, after: Done.
    ",
    );
}

#[test]
fn a_planner_with_another_model_is_told_of_the_conversation() {
    check(
        "
        > session planner=q/n
        > user fix the test
          turn starts | running | planning | prompt: fix the test | q/n plans: fix the test
        > planner plans 1. Look.
          planned | daemon: plan | ask
        > model says It is fixed.
          model: It is fixed. | turn ends completed | idle
        > set planner=q/m
        > user and the other one
          turn starts | running | planning | prompt: and the other one | q/m plans: and the other one, before: user: fix the test, executor: It is fixed., after: It is fixed.
        > crash continue
          notice: The daemon was restarted | q/m plans: and the other one, before: user: fix the test, executor: It is fixed., after: It is fixed.
    ",
    );
}
