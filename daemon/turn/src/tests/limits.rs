//! Limits of steps and time: they stop the work, and a user lets it go on with more of either.

use super::script::check;

#[test]
fn added_steps_continue_the_work_with_a_limit_of_their_own() {
    check(
        "
        > session interactive max_steps=1
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | daemon: sum up | ask without tools
        > model says Half.
          model: Half. | notice: The step limit of this turn is reached | turn ends max steps | idle
        > crash idle
        > adds steps=2
          turn starts | running | daemon: go on after the limit | notice: The work continues | ask
        > model calls b:read b
          model calls b | judge b
        > policy b allow
          started b | run b
        > crash continue
          notice: The daemon was restarted | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | ask
        > model calls c:read c
          model calls c | judge c
        > policy c allow
          started c | run c
        > ends c ok
          finished c ok | result c ok | daemon: sum up | ask without tools
        > model says More.
          model: More. | notice: The step limit of this turn is reached | turn ends max steps | idle
    ",
    );
}

#[test]
fn added_time_continues_the_work_also_of_a_session_that_has_exited() {
    check(
        "
        > session headless timeout_ms=1000
        > user one
          turn starts | running | turn 1 has 1000 ms | prompt: one | ask
        > wait 1000
        > time up 1
          drop the request | notice: The time limit of this turn is reached |
          turn ends interrupted (timeout) | exited 124
        > adds ms=9000
          reopened | turn starts | running | turn 2 has 9000 ms | daemon: go on after the limit |
          notice: The work continues for 9 s | ask
        > model says Done.
          model: Done. | turn ends completed | exited 0
        > user two
          reopened | turn starts | running | turn 3 has 1000 ms | prompt: two | ask
    ",
    );
}

#[test]
fn time_limit_pauses_the_goal_of_an_interactive_session() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > session interactive timeout_ms=1000
            > goal it works
              goal: it works | goal turn 1: started | turn starts | running | turn 1 has 1000 ms |
              prompt: it works | ask
            > wait 1000
            > time up 1
              drop the request | notice: The time limit of this turn is reached |
              turn ends interrupted (timeout) | idle
            > crash {policy}
            > adds ms=5000
              turn starts | running | turn 2 has 5000 ms | daemon: go on after the limit |
              notice: The work continues for 5 s | ask
            > model says Half.
              model: Half. | turn ends completed | idle |
              goal turn 3: no_report | turn starts | running | turn 3 has 1000 ms | daemon: continue | ask
        "
        ));
    }
}

#[test]
fn prompt_after_a_time_limit_continues_the_goal_too() {
    check(
        "
        > session interactive timeout_ms=1000
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | turn 1 has 1000 ms |
          prompt: it works | ask
        > wait 1000
        > time up 1
          drop the request | notice: The time limit of this turn is reached |
          turn ends interrupted (timeout) | idle
        > user look at the tests
          turn starts | running | turn 2 has 1000 ms | prompt: look at the tests | ask
        > model says Done.
          model: Done. | turn ends completed | idle |
          goal turn 3: no_report | turn starts | running | turn 3 has 1000 ms | daemon: continue | ask
    ",
    );
}

#[test]
fn time_limit_ends_the_goal_of_a_headless_session() {
    check(
        "
        > session headless timeout_ms=1000
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | turn 1 has 1000 ms |
          prompt: it works | ask
        > wait 1000
        > time up 1
          drop the request | notice: The time limit of this turn is reached |
          turn ends interrupted (timeout) | goal stopped: the time limit of a turn was reached | exited 124
    ",
    );
}

#[test]
fn more_time_that_waits_in_a_pause_keeps_the_goal_over_a_crash() {
    check(
        "
        > session interactive timeout_ms=1000
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | turn 1 has 1000 ms |
          prompt: it works | ask
        > wait 1000
        > time up 1
          drop the request | notice: The time limit of this turn is reached |
          turn ends interrupted (timeout) | idle
        > pause
          paused
        > adds ms=5000
        > crash idle
        > resume
          idle | turn starts | running | turn 2 has 5000 ms | daemon: go on after the limit |
          notice: The work continues for 5 s | ask
    ",
    );
}

#[test]
fn taken_back_prompt_leaves_the_goal_at_its_limit() {
    check(
        "
        > session interactive timeout_ms=1000
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | turn 1 has 1000 ms |
          prompt: it works | ask
        > wait 1000
        > time up 1
          drop the request | notice: The time limit of this turn is reached |
          turn ends interrupted (timeout) | idle
        > pause
          paused
        > user look at it
        > unqueue look at it
          taken back
        > resume
          idle
        > crash idle
        > adds ms=5000
          turn starts | running | turn 2 has 5000 ms | daemon: go on after the limit |
          notice: The work continues for 5 s | ask
    ",
    );
}

#[test]
fn what_a_sub_agent_sends_starts_no_turn_at_a_limit_of_time() {
    for goes_on in ["user go on", "adds ms=5000"] {
        let prompt = match goes_on {
            "user go on" => "prompt: go on",
            _ => "daemon: go on after the limit | notice: The work continues for 5 s",
        };
        let ms = if goes_on == "user go on" { 1000 } else { 5000 };
        check(&format!(
            "
            > session interactive timeout_ms=1000
            > user one
              turn starts | running | turn 1 has 1000 ms | prompt: one | ask
            > wait 1000
            > time up 1
              drop the request | notice: The time limit of this turn is reached |
              turn ends interrupted (timeout) | idle
            > agent the result
            > crash continue
            > {goes_on}
              turn starts | running | turn 2 has 1000 ms | session: the result | ask
            > model says Seen.
              model: Seen. | turn ends completed | idle | turn starts | running | turn 3 has {ms} ms | {prompt} | ask
        "
        ));
    }
}

#[test]
fn what_a_sub_agent_sends_starts_no_turn_at_a_limit_of_steps_without_a_goal() {
    check(
        "
        > session interactive max_steps=1
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | daemon: sum up | ask without tools
        > model says Half.
          model: Half. | notice: The step limit of this turn is reached | turn ends max steps | idle
        > agent the result
        > user go on
          turn starts | running | session: the result | ask
    ",
    );
}
