//! Hand-overs: nothing new starts, and the next daemon process continues the session once. Background commands are
//! never handed over.

use super::script::check;

#[test]
fn idle_session_is_not_marked_suspended() {
    check(
        "
        > suspend
        > crash idle
    ",
    );
}

#[test]
fn running_work_ends_before_the_hand_over() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > suspend
        > model calls read a, write b
          model calls a b | suspended
        > crash idle
          notice: The daemon was restarted | judge a
        > policy a allow
          started a | run a | judge b
        > suspend
        > policy b allow
        > ends a ok
          finished a ok | result a ok | suspended
        > crash idle
          notice: The daemon was restarted | judge b
        > policy b allow
          started b | run b once that is on disk
        > suspend
        > ends b ok
          finished b ok | result b ok | suspended
        > crash idle
          notice: The daemon was restarted | ask
        > suspend
        > model says Done.
          model: Done. | turn ends completed | idle | suspended
        > crash idle
          turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn work_beyond_the_hand_over_time_is_dropped_and_resumed() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > suspend
        > suspend now
          drop the request | suspended
        > crash idle showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | daemon: go on | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > suspend now
          stop the calls, KILL after 2000 ms
        > ends a interrupted
          finished a interrupted | result a interrupted: its output | suspended
        > crash idle
          notice: The daemon was restarted | ask
    ",
    );
}

#[test]
fn handed_over_session_continues_once() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > suspend
        > model calls write a
          model calls a | suspended
        > crash idle
          notice: The daemon was restarted | judge a
        > crash idle after session.set
          notice: The daemon stopped during this turn, so the turn was ended | finished a interrupted |
          result a interrupted: Not run: the daemon stopped before this call was started |
          turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn waits_are_handed_over() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks transient
          waiting for retry | try again in 500 ms
        > suspend
          suspended
        > retry
        > crash idle
          notice: The daemon was restarted | running | ask
        > suspend
        > model breaks lost-key
          waiting for credentials | suspended
        > key
        > crash idle
          notice: The daemon was restarted | running | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > suspend
          suspended
        > ann yes 7.1
          ann answers 7.1: allow once | running | suspended
        > crash idle
          notice: The daemon was restarted | judge a
        > policy a ask
          started a | run a once that is on disk
    ",
    );
}

#[test]
fn a_pause_is_handed_over() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > suspend
          suspended
        > pause
          paused | suspended
        > crash idle
          notice: The daemon was restarted
        > resume
          running | judge a
        > pause
          paused
        > suspend
          suspended
        > resume
          running | suspended
        > crash idle
          notice: The daemon was restarted | judge a
    ",
    );
}

#[test]
fn stop_works_during_a_hand_over() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > suspend
        > stop user showing Once
          drop the request | model (interrupted): Once | turn ends interrupted (user) | idle |
          suspended
        > crash idle
          turn starts | running | prompt: two | ask
        > suspend
        > stop term
          drop the request | turn ends interrupted (term) | exited 143
        > crash idle
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > suspend
        > stop shutdown
          drop the request | turn ends interrupted (shutdown) | idle
        > crash idle
        > user three
          turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn prompt_during_a_hand_over_starts_in_the_next_daemon() {
    check(
        "
        > suspend
        > user one
          suspended
        > crash idle
          turn starts | running | prompt: one | ask
    ",
    );
    check(
        "
        > close
          exited 0
        > suspend
        > user one
          suspended
        > crash idle
          reopened | turn starts | running | prompt: one | ask
    ",
    );
}

#[test]
fn crash_during_a_hand_over_keeps_the_shown_part() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > suspend
        > crash continue showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | daemon: go on | ask
    ",
    );
}

#[test]
fn background_commands_are_recorded() {
    check(
        "
        > child 9 ends
        > child 9 runs
          child 9 runs
        > child 9 runs
        > child 9 ends
          child 9 is gone: by itself
        > child 9 ends
    ",
    );
}

#[test]
fn background_commands_end_with_the_daemon() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > child 8 runs
              child 8 runs
            > child 9 runs
              child 9 runs
            > crash {policy}
              child 8 is gone: the daemon stopped | child 9 is gone: the daemon stopped
            > crash {policy} after child.exited
            > crash {policy} before child.exited
              child 9 is gone: the daemon stopped
        "
        ));
    }
}

#[test]
fn a_command_may_end_after_its_session() {
    check(
        "
        > child 9 runs
          child 9 runs
        > stop kill
          exited 137
        > child 9 ends
          child 9 is gone: by itself
        > crash idle
    ",
    );
    check(
        "
        > child 9 runs
          child 9 runs
        > stop kill
          exited 137
        > crash idle
          child 9 is gone: the daemon stopped
    ",
    );
}
