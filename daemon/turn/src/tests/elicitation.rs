//! Questions of MCP servers: a running call asks the user, keeps running, and gets the answer.

use super::script::check;

/// A turn whose call `a` runs.
const RUNNING: &str = "
        > user greet them
          turn starts | running | prompt: greet them | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
";

#[track_caller]
fn check_running(rest: &str) {
    check(&format!("{RUNNING}{rest}"));
}

#[test]
fn running_call_gets_the_users_answer_and_goes_on() {
    check_running(
        "
        > asks a 1
          files asks 7.1 in a | waiting for elicitation
        > ann accepts 7.1 Ann
          ann answers 7.1: accept | tell a 1: {\"name\":\"Ann\"} | running
        > ann accepts 7.1 Bea
        > asks a 2
          files asks 7.2 in a | waiting for elicitation
        > ann declines 7.2
          ann answers 7.2: decline | tell a 2: declined | running
        > asks a 3
          files asks 7.3 in a | waiting for elicitation
        > ann cancels 7.3
          ann answers 7.3: cancel | tell a 3: cancelled | running
        > ends a ok
          finished a ok | result a ok | ask
    ",
    );
}

#[test]
fn without_a_client_the_call_learns_at_once_that_nobody_answers() {
    check_running(
        "
        > asks a 1 alone
          tell a 1: cancelled
        > asks a 2
          files asks 7.1 in a | waiting for elicitation
        > nobody leaves 7.1
          reasonix answers 7.1: nothing | tell a 2: cancelled | running
        > ends a ok
          finished a ok | result a ok | ask
    ",
    );
}

#[test]
fn question_is_closed_when_its_call_ends_or_needs_it_no_more() {
    check_running(
        "
        > asks a 1
          files asks 7.1 in a | waiting for elicitation
        > asks a 2
          tell a 2: cancelled
        > withdraws a 2
        > withdraws a 1
          reasonix answers 7.1: nothing | tell a 1: cancelled | running
        > asks a 3
          files asks 7.2 in a | waiting for elicitation
        > ends a failed
          reasonix answers 7.2: nothing | tell a 3: cancelled | running | finished a failed | result a failed: its output | ask
        > asks a 4
          tell a 4: cancelled
    ",
    );
}

#[test]
fn stopped_turn_and_a_hand_over_close_the_question() {
    check_running(
        "
        > asks a 1
          files asks 7.1 in a | waiting for elicitation
        > stop user
          reasonix answers 7.1: nothing | tell a 1: cancelled | running | stop the calls, KILL after 2000 ms
        > asks a 2
          tell a 2: cancelled
        > ends a interrupted
          finished a interrupted | result a interrupted: its output | turn ends interrupted (user) | idle
    ",
    );
    check_running(
        "
        > asks a 1
          files asks 7.1 in a | waiting for elicitation
        > suspend
          reasonix answers 7.1: nothing | tell a 1: cancelled | running
        > asks a 2
          tell a 2: cancelled
        > ends a ok
          finished a ok | result a ok | suspended
    ",
    );
}

#[test]
fn call_may_ask_and_be_answered_in_a_pause() {
    check_running(
        "
        > pause
          paused
        > asks a 1
          files asks 7.1 in a
        > ann accepts 7.1 Ann
          ann answers 7.1: accept | tell a 1: {\"name\":\"Ann\"}
        > asks a 2
          files asks 7.2 in a
        > resume
          waiting for elicitation
        > ann declines 7.2
          ann answers 7.2: decline | tell a 2: declined | running
    ",
    );
}

#[test]
fn question_does_not_outlive_the_daemon_and_its_call_ends_with_one_error() {
    check_running(
        "
        > asks a 1
          files asks 7.1 in a | waiting for elicitation
        > crash continue
          reasonix answers 7.1: nothing | finished a unknown | result a unknown: The daemon stopped while this call ran | notice: The daemon was restarted | running | ask
        > ann accepts 7.1 Ann
    ",
    );
    check_running(
        "
        > asks a 1
          files asks 7.1 in a | waiting for elicitation
        > crash idle
          reasonix answers 7.1: nothing | finished a unknown | result a unknown: The daemon stopped while this call ran | notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn call_that_only_reads_runs_and_asks_again_after_a_crash() {
    check(
        "
        > user look
          turn starts | running | prompt: look | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > asks a 1
          files asks 7.1 in a | waiting for elicitation
        > crash continue
          reasonix answers 7.1: nothing | notice: The daemon was restarted | running | judge a
        > policy a allow
          started a | run a
        > asks a 1
          files asks 7.2 in a | waiting for elicitation
    ",
    );
}
