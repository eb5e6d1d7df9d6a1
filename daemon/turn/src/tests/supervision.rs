//! Sessions with a restart policy go on after a failure, or give up.

use super::script::check;

#[test]
fn headless_run_goes_on_after_a_failure_and_repeats_no_call() {
    check(
        "
        > session headless restart=on-failure
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > ends a ok
          finished a ok | result a ok | ask
        > model breaks permanent
          turn ends failed: permanent | restart 1: permanent | idle |
          turn starts | running | daemon: go on after the failure | ask
        > model says Done.
          model: Done. | turn ends completed | exited 0
    ",
    );
}

#[test]
fn without_a_policy_and_in_a_chat_a_failure_ends_the_turn() {
    check(
        "
        > session headless restart=never
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | exited 1
    ",
    );
    check(
        "
        > session interactive restart=on-failure
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | idle
    ",
    );
}

#[test]
fn the_same_failure_three_times_in_a_row_ends_the_run() {
    check(
        "
        > session headless restart=on-failure
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | restart 1: permanent | idle |
          turn starts | running | daemon: go on after the failure | ask
        > model breaks permanent
          turn ends failed: permanent | restart 2: permanent | idle |
          turn starts | running | daemon: go on after the failure | ask
        > model breaks permanent
          turn ends failed: permanent | gave up: same_failure | exited 1
        > user two
          reopened | turn starts | running | prompt: two | ask
        > model breaks permanent
          turn ends failed: permanent | restart 3: permanent | idle |
          turn starts | running | daemon: go on after the failure | ask
    ",
    );
}

/// Three restarts of a run, each after another failure.
const THREE: &str = "
    > session headless restart=on-failure tries=1
    > user one
      turn starts | running | prompt: one | ask
    > model breaks permanent
      turn ends failed: permanent | restart 1: permanent | idle |
      turn starts | running | daemon: go on after the failure | ask
    > model breaks transient
      turn ends failed: transient | restart 2: transient | idle |
      turn starts | running | daemon: go on after the failure | ask
    > model breaks no-key
      turn ends failed: no-key | restart 3: no-key | idle |
      turn starts | running | daemon: go on after the failure | ask
";

#[test]
fn a_fourth_restart_within_the_window_is_refused() {
    check(&format!(
        "{THREE}
        > wait 59999
        > model breaks permanent
          turn ends failed: permanent | gave up: too_many | exited 1
    "
    ));
    check(&format!(
        "{THREE}
        > wait 60000
        > model breaks permanent
          turn ends failed: permanent | restart 4: permanent | idle |
          turn starts | running | daemon: go on after the failure | ask
    "
    ));
}

#[test]
fn counts_survive_the_death_of_the_daemon() {
    check(&format!(
        "{THREE}
        > crash continue
          notice: The daemon was restarted | ask
        > model breaks permanent
          turn ends failed: permanent | gave up: too_many | exited 1
    "
    ));
}

#[test]
fn budget_denial_credit_and_limits_end_the_run() {
    check(
        "
        > session headless restart=always
        > user one
          turn starts | running | prompt: one | ask
        > model breaks unpaid
          turn ends budget exceeded: unpaid | gave up: budget | exited 2
    ",
    );
    check(
        "
        > session headless restart=always
        > user one
          turn starts | running | prompt: one | ask
        > model breaks no-credit
          turn ends failed: no-credit | gave up: out_of_credit | exited 1
    ",
    );
    check(
        "
        > session headless restart=always timeout_ms=1000
        > user one
          turn starts | running | turn 1 has 1000 ms | prompt: one | ask
        > wait 1000
        > time up 1
          drop the request | notice: The time limit of this turn is reached |
          turn ends interrupted (timeout) | gave up: limit | exited 124
    ",
    );
    check(
        "
        > session headless restart=always
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a left-denied
          nobody was there: denied | finished a denied |
          result a denied: Nobody was there; `--allow` would do | ask
        > model breaks permanent
          turn ends failed: permanent | gave up: denied | exited 1
    ",
    );
}

#[test]
fn what_a_user_stops_stays_stopped() {
    for (stop, end, code) in [
        ("user", "interrupted (user)", 130),
        ("term", "interrupted (term)", 143),
        ("kill", "killed (user)", 137),
    ] {
        check(&format!(
            "
            > session headless restart=always
            > user one
              turn starts | running | prompt: one | ask
            > stop {stop}
              drop the request | turn ends {end} | exited {code}
        "
        ));
    }
    // It comes while the hooks of the failed turn run.
    check(
        "
        > session headless restart=on-failure hooks
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | run the stop hooks
        > stop term
        > hooks
          exited 143
    ",
    );
}

#[test]
fn always_starts_a_completed_run_again_until_the_window_is_full() {
    check(
        "
        > session headless restart=always
        > user one
          turn starts | running | prompt: one | ask
        > model says Done.
          model: Done. | turn ends completed | restart 1 | idle |
          turn starts | running | daemon: start again | ask
        > model says Again.
          model: Again. | turn ends completed | restart 2 | idle |
          turn starts | running | daemon: start again | ask
        > model says Once more.
          model: Once more. | turn ends completed | restart 3 | idle |
          turn starts | running | daemon: start again | ask
        > model says Enough.
          model: Enough. | turn ends completed | gave up: too_many | exited 0
    ",
    );
}

#[test]
fn goal_goes_on_after_a_failed_turn_and_ends_once_it_is_complete() {
    for policy in ["on-failure", "always"] {
        check(&format!(
            "
            > session interactive restart={policy}
            > goal it works
              goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
            > model breaks permanent
              turn ends failed: permanent | restart 1: permanent | idle |
              goal turn 2: failed | turn starts | running | daemon: continue | ask
            > model calls report a
              model calls a | judge a
            > policy a reports complete
              started a | reported complete | finished a ok | result a ok | ask
            > model says Done.
              model: Done. | turn ends completed | goal complete: as it is | idle
        "
        ));
    }
    check(
        "
        > session headless restart=on-failure
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model breaks no-credit
          turn ends failed: no-credit | gave up: out_of_credit | goal failed: no-credit | exited 1
    ",
    );
}

#[test]
fn crash_between_a_failure_and_its_restart_restarts_once() {
    check(
        "
        > session headless restart=on-failure hooks
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | run the stop hooks
        > crash continue
          restart 1: permanent | idle | turn starts | running | daemon: go on after the failure | ask
        > model says Done.
          model: Done. | turn ends completed | exited 0
    ",
    );
    // Where the daemon is to wait for its user, nothing goes on by itself.
    check(
        "
        > session headless restart=on-failure hooks
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | run the stop hooks
        > crash idle
          exited 1
    ",
    );
}

#[test]
fn shutdown_leaves_the_restart_to_the_next_daemon() {
    check(
        "
        > session headless restart=on-failure hooks
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | run the stop hooks
        > stop shutdown
          cancel the stop hooks
        > hooks
          restart 1: permanent | idle
        > crash continue
          turn starts | running | daemon: go on after the failure | ask
    ",
    );
}

#[test]
fn paused_session_restarts_when_it_is_resumed() {
    check(
        "
        > session headless restart=on-failure
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > model breaks permanent
          turn ends failed: permanent | restart 1: permanent
        > resume
          idle | turn starts | running | daemon: go on after the failure | ask
    ",
    );
}

#[test]
fn failed_work_goes_on_before_prompts_that_wait() {
    check(
        "
        > session headless restart=on-failure
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > model breaks permanent
          turn ends failed: permanent | restart 1: permanent | idle |
          turn starts | running | daemon: go on after the failure | ask
        > model says Done.
          model: Done. | turn ends completed | idle | turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn restarts_wait_longer_from_one_to_the_next() {
    check(
        "
        > session headless restart=on-failure backoff=1000 tries=1
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent
          turn ends failed: permanent | restart 1: permanent | waiting for restart | go on in 1000 ms
        > restart due
        > wait 1000
        > restart due
          turn starts | running | daemon: go on after the failure | ask
        > model breaks transient
          turn ends failed: transient | restart 2: transient | waiting for restart | go on in 5000 ms
        > wait 5000
        > restart due
          turn starts | running | daemon: go on after the failure | ask
        > model breaks no-key
          turn ends failed: no-key | restart 3: no-key | waiting for restart | go on in 25000 ms
        > wait 25000
        > restart due
          turn starts | running | daemon: go on after the failure | ask
        > model says Done.
          model: Done. | turn ends completed | exited 0
    ",
    );
}

/// One restart, which waits.
const WAITS: &str = "
    > session headless restart=on-failure backoff=1000 tries=1
    > user one
      turn starts | running | prompt: one | ask
    > model breaks permanent
      turn ends failed: permanent | restart 1: permanent | waiting for restart | go on in 1000 ms
";

#[test]
fn a_prompt_of_a_user_takes_the_place_of_a_restart_that_waits() {
    check(&format!(
        "{WAITS}
        > user do it so
          taken back | turn starts | running | prompt: do it so | ask
        > restart due
        > model breaks permanent
          turn ends failed: permanent | restart 2: permanent | waiting for restart | go on in 1000 ms
    "
    ));
    // What a sub-agent says does not.
    check(&format!(
        "{WAITS}
        > agent it is done
        > wait 1000
        > restart due
          turn starts | running | daemon: go on after the failure | ask
    "
    ));
}

#[test]
fn stop_during_a_restart_wait_ends_the_run_with_its_failure() {
    check(&format!(
        "{WAITS}
        > stop user
          taken back | exited 1
        > restart due
    "
    ));
    check(&format!(
        "{WAITS}
        > stop term
          taken back | exited 143
    "
    ));
    check(
        "
        > session interactive restart=on-failure backoff=1000 tries=1
        > goal tidy up
          goal: tidy up | goal turn 1: started | turn starts | running | prompt: tidy up | ask
        > model breaks permanent
          turn ends failed: permanent | restart 1: permanent | waiting for restart | go on in 1000 ms
        > stop user
          goal stopped: a turn was interrupted | idle
    ",
    );
}

#[test]
fn a_wait_survives_the_death_of_the_daemon_and_goes_on_where_it_was() {
    check(&format!(
        "{WAITS}
        > wait 400
        > crash continue
          waiting for restart | go on in 600 ms
        > wait 600
        > restart due
          turn starts | running | daemon: go on after the failure | ask
    "
    ));
    check(&format!(
        "{WAITS}
        > wait 2000
        > crash continue
          idle | turn starts | running | daemon: go on after the failure | ask
    "
    ));
    check(&format!(
        "{WAITS}
        > crash continue before session.state
          waiting for restart | go on in 1000 ms
    "
    ));
    check(&format!(
        "{WAITS}
        > suspend
          suspended
        > crash idle
          waiting for restart | go on in 1000 ms
    "
    ));
}

#[test]
fn a_pause_keeps_a_restart_from_starting() {
    check(&format!(
        "{WAITS}
        > pause
          paused
        > wait 1000
        > restart due
        > resume
          idle | turn starts | running | daemon: go on after the failure | ask
    "
    ));
}

#[test]
fn run_with_a_denied_call_is_not_restarted() {
    let denied = "
        > session headless restart=always
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann no 7.1
          ann answers 7.1: deny | running | finished a denied |
          result a denied: Denied by the user (ann) | ask
        ";
    check(&format!(
        "{denied}> model says I may not.
          model: I may not. | turn ends completed | gave up: denied | exited 0
        > user once more
          reopened | turn starts | running | prompt: once more | ask
        > model breaks permanent
          turn ends failed: permanent | restart 1: permanent | idle |
          turn starts | running | daemon: go on after the failure | ask
        "
    ));
    check(&format!(
        "{denied}> model breaks permanent
          turn ends failed: permanent | gave up: denied | exited 1
        "
    ));
}
