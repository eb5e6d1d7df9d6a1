//! Pauses: nothing new starts, and held work continues afterwards.

use super::script::check;

#[test]
fn idle_session_is_paused_and_resumed() {
    check(
        "
        > pause
          paused
        > pause
        > user one
        > user two
        > resume
          idle | turn starts | running | prompt: one | ask
        > resume
    ",
    );
    check(
        "
        > pause
          paused
        > resume
          idle
        > resume
    ",
    );
}

#[test]
fn an_exited_session_is_not_paused() {
    check(
        "
        > close
          exited 0
        > pause
        > resume
        > user one
          reopened | turn starts | running | prompt: one | ask
    ",
    );
}

#[test]
fn text_answer_during_a_pause_ends_the_turn() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > pause
          paused
        > model says First.
          model: First. | turn ends completed
        > resume
          idle | turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn calls_of_an_answer_wait_for_the_end_of_a_pause() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > model calls write a, read b!
          model calls a b | finished b refused
        > resume
          running | judge a
        > policy a allow
          started a | run a once that is on disk
    ",
    );
}

#[test]
fn call_judged_during_a_pause_is_judged_again() {
    for says in ["allow", "ask", "deny", "refuse", "left-allowed"] {
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > model calls write a
              model calls a | judge a
            > pause
              paused
            > policy a {says}
            > resume
              running | judge a
            > policy a allow
              started a | run a once that is on disk
        "
        ));
    }
}

#[test]
fn call_whose_judging_outlasts_a_pause_is_judged_once() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > pause
          paused
        > resume
          running
        > policy a allow
          started a | run a once that is on disk
    ",
    );
}

#[test]
fn running_call_finishes_during_a_pause() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, write b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > pause
          paused
        > ends a ok
          finished a ok | result a ok
        > policy b allow
        > resume
          running | judge b
        > policy b allow
          started b | run b once that is on disk
        > pause
          paused
        > ends b ok
          finished b ok | result b ok
        > resume
          running | ask
    ",
    );
}

#[test]
fn a_question_is_answered_in_a_pause_and_its_call_starts_after() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > pause
          paused
        > resume
          waiting for approval
        > pause
          paused
        > ann yes 7.1
          ann answers 7.1: allow once
        > resume
          running | judge a
        > policy a ask
          started a | run a once that is on disk
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > pause
          paused
        > ann no 7.1 keep it
          ann answers 7.1: deny | finished a denied |
          result a denied: Denied by the user (ann): keep it
        > resume
          running | ask
    ",
    );
}

#[test]
fn retry_waits_for_the_end_of_the_pause() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > model breaks transient
          try again in 500 ms
        > retry
        > retry
        > resume
          running | ask, try 2
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks transient
          waiting for retry | try again in 500 ms
        > pause
          paused
        > wait 100
        > resume
          waiting for retry
        > retry
          running | ask, try 2
    ",
    );
}

#[test]
fn key_that_arrives_during_a_pause_is_used_after_it() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > model breaks lost-key
        > resume
          waiting for credentials
        > pause
          paused
        > key
        > resume
          running | ask
    ",
    );
}

#[test]
fn steering_edited_during_a_pause_is_sent_as_edited() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > steer first
        > pause
          paused
        > ends a ok
          finished a ok | result a ok
        > steer second
        > edit first to steer the very first
        > resume
          running | steer: the very first | steer: second | ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > steer and this
        > pause
          paused
        > model says Done.
          model: Done.
        > resume
          running | steer: and this | ask
    ",
    );
    // Withdrawn during the pause: then the turn is over.
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > steer and this
        > pause
          paused
        > model cut Done.
          model: Done.
        > unqueue and this
          taken back
        > resume
          running | notice: The answer was cut off by the model's output limit |
          turn ends completed | idle
    ",
    );
}

#[test]
fn an_interrupt_ends_the_turn_and_not_the_pause() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > pause
          paused
        > stop user showing Once
          drop the request | model (interrupted): Once | turn ends interrupted (user)
        > stop user
        > resume
          idle | turn starts | running | prompt: two | ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > pause
          paused
        > ends a ok
          finished a ok | result a ok
        > stop user
          turn ends interrupted (user)
        > resume
          idle
    ",
    );
}

#[test]
fn calls_being_stopped_are_stopped_during_a_pause_too() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > stop user
          stop the calls, KILL after 2000 ms
        > pause
          paused
        > resume
          running
        > pause
          paused
        > ends a interrupted
          finished a interrupted | result a interrupted: its output | turn ends interrupted (user)
        > resume
          idle | turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn a_paused_session_can_be_ended() {
    for (ends, made) in [
        ("stop term", "exited 143"),
        ("stop kill", "exited 137"),
        ("close", "exited 0"),
    ] {
        check(&format!(
            "
            > pause
              paused
            > {ends}
              {made}
            > resume
            > user one
              reopened | turn starts | running | prompt: one | ask
        "
        ));
    }
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > model says First.
          model: First. | turn ends completed | exited 0
    ",
    );
}

#[test]
fn a_headless_run_whose_queue_was_emptied_in_a_pause_exits_after_it() {
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > pause
          paused
        > model says First.
          model: First. | turn ends completed
        > unqueue two
          taken back
        > resume
          exited 0
    ",
    );
}

#[test]
fn the_time_of_a_turn_stands_still_in_a_pause() {
    // What the turn's end says of its duration, the checker compares with the stamps.
    check(
        "
        > session interactive timeout_ms=9000
        > user one
          turn starts | running | turn 1 has 9000 ms | prompt: one | ask
        > wait 4000
        > pause
          paused
        > time up 1
        > wait 100000
        > resume
          running | turn 1 has 5000 ms
        > wait 1000
        > time up 1 early
          turn 1 has 4000 ms
        > time up 1
          drop the request | notice: The time limit of this turn is reached | turn ends interrupted (timeout) | idle
    ",
    );
    // A pause adds no time: a limit that had passed when it started has still passed when it ends.
    check(
        "
        > session interactive timeout_ms=9000
        > user one
          turn starts | running | turn 1 has 9000 ms | prompt: one | ask
        > wait 9000
        > pause
          paused
        > resume
          running | turn 1 has 0 ms
        > time up 1
          drop the request | notice: The time limit of this turn is reached | turn ends interrupted (timeout) | idle
    ",
    );
}

#[test]
fn a_pause_outlives_the_daemon() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > pause
              paused
            > user one
            > crash {policy}
            > resume
              idle | turn starts | running | prompt: one | ask
        "
        ));
        // The state record of the pause, or of its end, did not reach the disk.
        check(&format!(
            "
            > pause
              paused
            > crash {policy} after session.set
              paused
            > resume
              idle
            > crash {policy} after session.set
              idle
            > pause
              paused
        "
        ));
    }
}

#[test]
fn turn_recovered_during_a_pause_continues_after_it() {
    check(
        "
        > session interactive timeout_ms=9000
        > user one
          turn starts | running | turn 1 has 9000 ms | prompt: one | ask
        > pause
          paused
        > crash continue
          notice: The daemon was restarted
        > time up 1
        > steer and this
        > crash continue
          notice: The daemon was restarted
        > resume
          running | turn 1 has 9000 ms | steer: and this | ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a, write b
          model calls a b | judge a
        > policy a allow
          started a | run a once that is on disk
        > pause
          paused
        > crash continue
          finished a unknown | result a unknown: The daemon stopped while this call ran |
          notice: The daemon was restarted
        > resume
          running | judge b
    ",
    );
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > model calls write a
              model calls a | judge a
            > policy a ask
              question 7.1 about a | waiting for approval
            > pause
              paused
            > crash {policy}
            > ann yes 7.1
              ann answers 7.1: allow once
            > resume
              running | judge a
        "
        ));
    }
}

#[test]
fn a_paused_turn_waits_for_the_end_of_its_pause_whatever_the_policy() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > user two
            > pause
              paused
            > crash {policy}
              notice: The daemon was restarted
            > crash {policy}
              notice: The daemon was restarted
            > resume
              running | ask
        "
        ));
    }
}

#[test]
fn a_shutdown_in_a_pause_leaves_the_pause() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > pause
          paused
        > stop shutdown showing Once
          drop the request | model (interrupted): Once | turn ends interrupted (shutdown)
        > resume
          idle
        > pause
          paused
        > crash continue
        > resume
          idle | turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn settings_do_not_pause() {
    check(
        "
        > set paused=true
        > user one
          turn starts | running | prompt: one | ask
    ",
    );
}
