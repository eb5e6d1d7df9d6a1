//! Failed requests, and turns that users, timers and signals stop.

use super::script::check;

#[test]
fn a_passing_failure_is_tried_again_with_growing_waits() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks transient showing Once
          discard the shown part | waiting for retry | try again in 500 ms
        > retry
          running | ask, try 2
        > model breaks transient
          waiting for retry | try again in 1000 ms
        > retry
          running | ask, try 3
        > model says Here.
          model: Here. | turn ends completed | idle
    ",
    );
}

#[test]
fn another_message_within_an_answer_takes_the_place_of_the_one_before() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model restarts Once using 700
          discard the shown part
        > model restarts
        > model says Here. using 710
          model: Here. | turn ends completed | idle
    ",
    );
}

#[test]
fn a_server_on_this_machine_that_does_not_run_is_given_up_after_seconds() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks not-running
          waiting for retry | try again in 250 ms
        > wait 250
        > retry
          running | ask, try 2
        > model breaks not-running
          waiting for retry | try again in 500 ms
        > wait 500
        > retry
          running | ask, try 3
        > model breaks not-running
          waiting for retry | try again in 1000 ms
        > wait 1000
        > retry
          running | ask, try 4
        > model breaks not-running
          waiting for retry | try again in 2000 ms
        > wait 2000
        > retry
          running | ask, try 5
        > model breaks not-running
          turn ends failed: not-running | idle
    ",
    );
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_long_answer_is_waited_for_as_long() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > wait 20000
        > model breaks transient showing Once
          discard the shown part | waiting for retry | try again in 500 ms
        > wait 500
        > retry
          running | ask, try 2
        > model breaks not-running
          waiting for retry | try again in 500 ms
        > wait 500
        > retry
          running | ask, try 3
        > model breaks not-running
          waiting for retry | try again in 1000 ms
        > wait 1000
        > retry
          running | ask, try 4
        > model says Here.
          model: Here. | turn ends completed | idle
    ",
    );
}

#[test]
fn retry_after_of_the_provider_is_respected() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks transient after 7s
          waiting for retry | try again in 7000 ms
        > retry
          running | ask, try 2
    ",
    );
}

#[test]
fn a_wait_beyond_all_patience_is_a_failure_at_once() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks transient after 601s showing Once
          model (interrupted): Once | turn ends failed: transient | idle
    ",
    );
}

#[test]
fn after_the_last_try_what_was_shown_is_kept() {
    check(
        "
        > session headless tries=2
        > user go
          turn starts | running | prompt: go | ask
        > model breaks transient showing Once
          discard the shown part | waiting for retry | try again in 500 ms
        > retry
          running | ask, try 2
        > model breaks transient showing Once upon
          model (interrupted): Once upon | turn ends failed: transient | exited 1
    ",
    );
}

#[test]
fn late_retry_timer_is_ignored() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks transient
          waiting for retry | try again in 500 ms
        > stop user
          turn ends interrupted (user) | idle
        > user again
          turn starts | running | prompt: again | ask
        > retry
    ",
    );
}

#[test]
fn a_lasting_failure_is_not_tried_again() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks permanent
          turn ends failed: permanent | idle
        > user again
          turn starts | running | prompt: again | ask
        > model breaks no-key
          turn ends failed: no-key | idle
    ",
    );
}

#[test]
fn call_refused_by_the_provider_is_reported_and_made_again() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks invalid-call showing <function=
          discard the shown part | notice: The provider refused a badly formed tool call |
          daemon: invalid call | ask
        > model says Here.
          model: Here. | turn ends completed | idle
    ",
    );
}

#[test]
fn a_turn_fails_with_the_third_refused_call_in_a_row() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks invalid-call
          notice: The provider refused a badly formed tool call | daemon: invalid call | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | ask
        > model breaks invalid-call
          notice: The provider refused a badly formed tool call | daemon: invalid call | ask
        > model breaks invalid-call
          notice: The provider refused a badly formed tool call | daemon: invalid call | ask
        > model breaks invalid-call
          turn ends failed: invalid-call | idle
    ",
    );
}

#[test]
fn an_answer_that_the_provider_pauses_is_continued() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model pauses I look it up.
          model: I look it up. | daemon: paused | ask
        > model pauses
          model: nothing | daemon: paused | ask
        > model says Here.
          model: Here. | turn ends completed | idle
    ",
    );
}

#[test]
fn pauses_of_an_answer_have_an_end() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model pauses 1
          model: 1 | daemon: paused | ask
        > model pauses 2
          model: 2 | daemon: paused | ask
        > model pauses 3
          model: 3 | daemon: paused | ask
        > model pauses 4
          model: 4 | daemon: paused | ask
        > model pauses 5
          model: 5 | daemon: paused | ask
        > model pauses 6
          model: 6 | daemon: paused | ask
        > model pauses 7
          model: 7 | daemon: paused | ask
        > model pauses 8
          model: 8 | daemon: paused | ask
        > model pauses 9
          model: 9 | turn ends completed | idle
    ",
    );
}

#[test]
fn too_long_a_conversation_ends_the_turn() {
    check(
        "
        > session headless
        > user go
          turn starts | running | prompt: go | ask
        > model breaks too-long
          reset, job 1: WantedShort
        > job resets
          cache reset: compaction | ask
        > model breaks too-long
          reset, job 2: WantedShort
        > job resets
          cache reset: compaction | ask
        > model breaks too-long
          turn ends context full: too-long | exited 2
    ",
    );
}

#[test]
fn a_lost_key_is_waited_for() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model breaks lost-key
          waiting for credentials
        > key
          running | ask
        > model says Here.
          model: Here. | turn ends completed | idle
    ",
    );
}

#[test]
fn an_interrupt_keeps_what_was_shown() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > stop user showing Once upon
          drop the request | model (interrupted): Once upon | turn ends interrupted (user) | idle
        > user go on
          turn starts | running | prompt: go on | ask
    ",
    );
}

#[test]
fn interrupt_before_any_text_logs_no_answer() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > stop user
          drop the request | turn ends interrupted (user) | idle
    ",
    );
}

#[test]
fn interrupt_stops_running_calls_and_closes_the_rest() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls read a, read b, write c
          model calls a b c | judge a
        > policy a allow
          started a | run a | judge b
        > policy b allow
          started b | run b | judge c
        > stop user
          finished c interrupted | stop the calls, KILL after 2000 ms
        > ends b interrupted
          finished b interrupted
        > ends a ok
          finished a ok | result a ok | result b interrupted: its output |
          result c interrupted: Not run: the user interrupted the turn |
          turn ends interrupted (user) | idle
    ",
    );
}

#[test]
fn judgement_after_an_interrupt_is_ignored() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls read a, write b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > stop user
          finished b interrupted | stop the calls, KILL after 2000 ms
        > policy b allow
        > ends a interrupted
          finished a interrupted | result a interrupted: its output |
          result b interrupted: Not run: the user interrupted the turn |
          turn ends interrupted (user) | idle
    ",
    );
}

#[test]
fn an_interrupt_closes_the_question() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a, read b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > stop user
          reasonix answers 7.1: nothing | running | finished a interrupted |
          result a interrupted: Not run: the user interrupted the turn | finished b interrupted |
          result b interrupted: Not run: the user interrupted the turn |
          turn ends interrupted (user) | idle
        > ann yes 7.1
    ",
    );
}

#[test]
fn a_kill_gives_no_grace() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > stop kill
          stop the calls, KILL after 0 ms
        > ends a interrupted
          finished a interrupted | result a interrupted: its output | turn ends killed (user) |
          exited 137
    ",
    );
}

#[test]
fn a_stronger_reason_takes_over() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > user and this
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > stop user
          stop the calls, KILL after 2000 ms
        > time up 1
        > stop term
          stop the calls, KILL after 2000 ms
        > stop user
        > stop kill
          stop the calls, KILL after 0 ms
        > ends a interrupted
          finished a interrupted | result a interrupted: its output | turn ends killed (user) |
          exited 137
    ",
    );
}

#[test]
fn a_turn_ends_when_its_time_is_up() {
    check(
        "
        > session headless timeout_ms=9000
        > user go
          turn starts | running | turn 1 has 9000 ms | prompt: go | ask
        > time up 1
          drop the request | notice: The time limit of this turn is reached | turn ends interrupted (timeout) | exited 124
    ",
    );
}

#[test]
fn timer_of_an_earlier_turn_is_ignored() {
    check(
        "
        > session interactive timeout_ms=9000
        > user one
          turn starts | running | turn 1 has 9000 ms | prompt: one | ask
        > model says First.
          model: First. | turn ends completed | idle
        > user two
          turn starts | running | turn 2 has 9000 ms | prompt: two | ask
        > time up 1
    ",
    );
}

#[test]
fn term_ends_turn_and_session_and_leaves_the_queue() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > stop term showing Once
          drop the request | model (interrupted): Once | turn ends interrupted (term) | exited 143
        > user three
          reopened | turn starts | running | prompt: two | ask
        > model says Second.
          model: Second. | turn ends completed | idle | turn starts | running | prompt: three | ask
    ",
    );
}

#[test]
fn signals_reach_an_idle_session() {
    check(
        "
        > stop user
        > stop term
          exited 143
        > stop kill
    ",
    );
}

#[test]
fn a_shutdown_ends_the_turn_and_leaves_the_queue() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > stop shutdown showing Once
          drop the request | model (interrupted): Once | turn ends interrupted (shutdown) | idle
        > crash continue
          turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn request_waiting_for_its_turn_is_shown_and_counts_no_try_or_time() {
    check(
        "
        > session headless tries=2
        > user go
          turn starts | running | prompt: go | ask
        > gated
          waiting for retry
        > gated
        > wait 599000
        > sent
          running
        > sent
        > model breaks transient after 7s
          waiting for retry | try again in 7000 ms
        > retry
          running | ask, try 2
        > gated
          waiting for retry
        > stop user
          drop the request | turn ends interrupted (user) | exited 130
    ",
    );
}

#[test]
fn a_request_that_waited_too_long_for_its_turn_is_a_failure() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > gated
          waiting for retry
        > wait 600000
        > model breaks permanent
          turn ends failed: permanent | idle
    ",
    );
}

#[test]
fn a_failure_before_a_request_is_sent_counts_neither_the_wait_nor_a_try() {
    check(
        "
        > session headless tries=2
        > user go
          turn starts | running | prompt: go | ask
        > gated
          waiting for retry
        > wait 600000
        > model breaks transient
          waiting for retry | try again in 500 ms
        > retry
          running | ask
        > model breaks transient
          waiting for retry | try again in 500 ms
        > retry
          running | ask, try 2
        > model breaks transient
          turn ends failed: transient | exited 1
    ",
    );
}

#[test]
fn unsent_request_is_not_sent_during_a_pause() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > gated
          waiting for retry
        > pause
          paused | drop the request
        > resume
          running | ask
        > pause
          paused
        > gated
          drop the request
        > resume
          running | ask
        > gated
          waiting for retry
        > suspend
          drop the request | suspended
    ",
    );
}

#[test]
fn a_denial_quotes_a_command_once() {
    let decided = |rule: &str| {
        let decided = serde_json::json!({
            "call": "c", "verdict": "deny", "rule": rule, "layer": "user", "read_only": false, "subject": "x",
            "input_sha256": "",
        });
        let decided = serde_json::from_value(decided).expect("a decision");
        crate::words::denied_by_policy(&decided)
    };
    let rule = decided("Bash(rm:*)");
    assert!(
        rule.starts_with("Denied by the rule `Bash(rm:*)` (user)."),
        "{rule}"
    );
    let reason = decided("`$X` is written in escape codes");
    assert!(
        reason.starts_with("Denied: `$X` is written in escape codes (user)."),
        "{reason}"
    );
}
