//! What goes wrong with a request, and what people and clocks stop.

use super::script::check;

#[test]
fn a_passing_failure_is_tried_again_with_growing_waits() {
    check("
        > user go
        > model breaks transient showing Once
        > retry
        > model breaks transient
        > retry
        > model says Here.
    ");
}

#[test]
fn the_vendors_own_wait_is_kept() {
    check("
        > user go
        > model breaks transient after 7s
        > retry
    ");
}

#[test]
fn a_wait_beyond_all_patience_is_a_failure_at_once() {
    check("
        > user go
        > model breaks transient after 601s showing Once
    ");
}

#[test]
fn after_the_last_try_what_was_shown_is_kept() {
    check("
        > session headless tries=2
        > user go
        > model breaks transient showing Once
        > retry
        > model breaks transient showing Once upon
    ");
}

#[test]
fn a_wait_that_is_over_late_is_nobodys() {
    check("
        > user go
        > model breaks transient
        > stop user
        > user again
        > retry
    ");
}

#[test]
fn a_lasting_failure_is_not_tried_again() {
    check("
        > user go
        > model breaks permanent
        > user again
        > model breaks no-key
    ");
}

#[test]
fn too_long_a_conversation_ends_the_turn() {
    check("
        > session headless
        > user go
        > model breaks too-long
    ");
}

#[test]
fn a_lost_key_is_waited_for() {
    check("
        > user go
        > model breaks lost-key
        > key
        > model says Here.
    ");
}

#[test]
fn an_interrupt_keeps_what_was_shown() {
    check("
        > user go
        > stop user showing Once upon
        > user go on
    ");
}

#[test]
fn an_interrupt_before_a_word_leaves_no_answer() {
    check("
        > user go
        > stop user
    ");
}

#[test]
fn an_interrupt_stops_what_runs_and_closes_the_rest() {
    check("
        > user change it
        > model calls read a, read b, write c
        > policy a allow
        > policy b allow
        > stop user
        > ends b interrupted
        > ends a ok
    ");
}

#[test]
fn a_judgement_that_comes_after_an_interrupt_is_nobodys() {
    check("
        > user change it
        > model calls read a, write b
        > policy a allow
        > stop user
        > policy b allow
        > ends a interrupted
    ");
}

#[test]
fn an_interrupt_closes_the_question() {
    check("
        > user change it
        > model calls write a, read b
        > policy a ask
        > stop user
        > ann yes 7.1
    ");
}

#[test]
fn a_kill_gives_no_grace() {
    check("
        > user change it
        > model calls write a
        > policy a allow
        > stop kill
        > ends a interrupted
    ");
}

#[test]
fn a_stronger_reason_takes_over() {
    check("
        > user change it
        > user and this
        > model calls write a
        > policy a allow
        > stop user
        > time up 1
        > stop term
        > stop user
        > stop kill
        > ends a interrupted
    ");
}

#[test]
fn a_turn_ends_when_its_time_is_up() {
    check("
        > session headless timeout_ms=9000
        > user go
        > time up 1
    ");
}

#[test]
fn the_time_of_an_earlier_turn_is_nobodys() {
    check("
        > session interactive timeout_ms=9000
        > user one
        > model says First.
        > user two
        > time up 1
    ");
}

#[test]
fn term_ends_turn_and_session_and_leaves_the_queue() {
    check("
        > user one
        > user two
        > stop term showing Once
        > user three
        > model says Second.
    ");
}

#[test]
fn signals_reach_a_session_at_rest() {
    check("
        > stop user
        > stop term
        > stop kill
    ");
}

#[test]
fn a_shutdown_ends_the_turn_and_leaves_the_queue() {
    check("
        > user one
        > user two
        > stop shutdown showing Once
        > crash continue
    ");
}
