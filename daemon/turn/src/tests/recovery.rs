//! Every row of the table in `recover`, with both policies.

use super::script::check;

#[test]
fn a_log_at_rest_is_left_alone() {
    for policy in ["continue", "idle"] {
        check(&format!("
            > user one
              turn starts | running | prompt: one | ask
            > model says First.
              model: First. | turn ends completed | idle
            > crash {policy}
        "));
    }
}

#[test]
fn a_queue_goes_on_by_itself() {
    check("
        > user one
        > crash continue after prompt.queued
    ");
}

#[test]
fn a_queue_waits_for_the_person() {
    check("
        > user one
        > crash idle after prompt.queued
        > user two
        > model says First.
    ");
}

#[test]
fn an_exited_session_is_not_woken_by_its_old_queue() {
    for policy in ["continue", "idle"] {
        check(&format!("
            > user one
              turn starts | running | prompt: one | ask
            > user two
            > stop kill
              drop the request | turn ends killed (user) | exited 137
            > crash {policy}
        "));
    }
}

#[test]
fn an_exited_session_is_woken_by_a_prompt_that_came_after() {
    check("
        > close
        > user two
        > crash continue after prompt.queued
        > model says Second.
    ");
}

#[test]
fn an_exited_session_with_a_new_prompt_waits_for_the_person() {
    check("
        > close
        > user two
        > crash idle after prompt.queued
        > user three
    ");
}

#[test]
fn an_exit_that_did_not_reach_the_disk_is_made_up_for() {
    for policy in ["continue", "idle"] {
        check(&format!("
            > session headless
            > user one
              turn starts | running | prompt: one | ask
            > model says First.
              model: First. | turn ends completed | exited 0
            > crash {policy} after turn.ended
              exited 0
        "));
        check(&format!("
            > user one
              turn starts | running | prompt: one | ask
            > user two
            > stop term
              drop the request | turn ends interrupted (term) | exited 143
            > crash {policy} after turn.ended
              exited 143
        "));
    }
}

#[test]
fn a_rest_that_did_not_reach_the_disk_is_made_up_for() {
    check("
        > user one
        > model says First.
        > crash idle after turn.ended
    ");
}

#[test]
fn a_turn_whose_prompt_was_not_said_says_it() {
    check("
        > user one
        > crash continue after turn.started
    ");
    check("
        > user one
        > crash idle after turn.started
    ");
}

#[test]
fn a_request_is_made_again() {
    check("
        > session interactive timeout_ms=9000
        > user one
        > crash continue
        > model says First.
    ");
}

#[test]
fn a_request_is_given_up() {
    check("
        > session headless
        > user one
        > user two
        > crash idle
    ");
}

#[test]
fn a_wait_for_a_key_is_waited_again() {
    check("
        > user one
        > model breaks lost-key
        > crash continue
        > model breaks lost-key
        > key
    ");
}

#[test]
fn a_whole_answer_ends_the_turn_as_it_would_have() {
    check("
        > user one
        > model says First.
        > crash continue after message.assistant
    ");
    check("
        > user one
        > model thinks Hm.
        > crash continue after message.assistant
        > model thinks Hm again.
    ");
    check("
        > user one
        > steer and this
        > model says First.
        > crash continue after message.assistant
    ");
}

#[test]
fn a_whole_answer_waits_for_the_person() {
    check("
        > user one
        > model says First.
        > crash idle after message.assistant
    ");
}

#[test]
fn an_answer_that_was_given_up_is_not_sent_as_if_it_were_whole() {
    check("
        > user one
        > user two
        > stop user showing Once
        > crash continue after message.assistant
    ");
    check("
        > session headless
        > user one
        > model breaks permanent showing Once
        > crash continue after message.assistant
    ");
    check("
        > session headless
        > user one
        > model breaks permanent showing Once
        > crash idle after message.assistant
    ");
}

#[test]
fn calls_made_instead_of_summing_up_are_not_run_after_a_crash_either() {
    check("
        > session interactive max_steps=1
        > user one
        > model calls read a
        > policy a allow
        > ends a ok
        > model calls read b, write c
        > crash continue after message.assistant
    ");
}

#[test]
fn a_limit_that_was_told_holds() {
    check("
        > session interactive max_steps=1
        > user one
        > model calls read a
        > policy a allow
        > ends a ok
        > crash continue
    ");
}

#[test]
fn a_call_that_changes_things_is_never_run_twice() {
    check("
        > user one
        > model calls write a, write b
        > policy a allow
        > crash continue
        > policy b allow
    ");
    check("
        > user one
        > model calls write a, write b
        > policy a allow
        > crash idle
    ");
}

#[test]
fn a_reader_is_judged_and_run_again() {
    check("
        > user one
        > model calls read a, read b
        > policy a allow
        > policy b allow
        > ends b ok
        > crash continue
        > policy a allow
        > policy b allow
    ");
}

#[test]
fn a_reader_is_lost() {
    check("
        > user one
        > model calls read a, read b
        > policy a allow
        > crash idle
    ");
}

#[test]
fn a_call_that_was_not_started_runs() {
    check("
        > user one
        > model calls write a
        > crash continue
        > policy a allow
    ");
    check("
        > user one
        > model calls write a
        > policy a ask
        > ann yes 7.1
        > crash continue
        > policy a ask
    ");
}

#[test]
fn a_call_that_was_not_started_does_not_run() {
    check("
        > user one
        > model calls write a
        > policy a ask
        > ann yes 7.1
        > crash idle
    ");
}

#[test]
fn a_no_holds_though_its_result_did_not_reach_the_disk() {
    check("
        > user one
        > model calls write a
        > policy a ask
        > ann no 7.1 keep it
        > crash continue after approval.resolved
    ");
    check("
        > user one
        > model calls read a, read b
        > policy a allow
        > policy b deny
        > crash continue
        > policy a allow
        > ends a ok
    ");
    check("
        > session headless
        > user one
        > model calls read a, read b
        > policy a allow
        > policy b left-denied
        > crash continue
        > policy a allow
        > ends a ok
        > model says I could not.
    ");
    check("
        > user one
        > model calls write a
        > policy a ask
        > ann no 7.1 keep it
        > crash idle after approval.resolved
    ");
}

#[test]
fn a_call_that_was_cut_does_not_run_after_a_crash_either() {
    check("
        > user one
        > model calls read a, write b!
        > crash continue
        > policy a allow
        > ends a ok
    ");
    check("
        > user one
        > model calls read a, write b!
        > crash idle
    ");
}

#[test]
fn a_question_stays_open_and_holds_for_what_was_shown() {
    for policy in ["continue", "idle"] {
        check(&format!("
            > session interactive timeout_ms=9000
            > user one
              turn starts | running | turn 1 has 9000 ms | prompt: one | ask
            > model calls write a
              model calls a | judge a
            > policy a ask seeing three lines
              question 7.1 about a | waiting for approval
            > crash {policy}
            > ann yes 7.1
            > policy a ask seeing four lines
            > ann yes 7.2
            > policy a ask seeing four lines
        "));
    }
}

#[test]
fn beside_an_open_question_readers_go_on() {
    check("
        > user one
        > model calls read a, read b
        > policy a ask
        > policy b allow
        > crash idle
        > policy b allow
        > ends b ok
        > ann yes 7.1
        > policy a ask
        > ends a ok
    ");
}

#[test]
fn beside_an_open_question_what_was_approved_runs_only_where_sessions_go_on_by_themselves() {
    check("
        > user one
        > model calls read a, read b
        > policy a ask
        > policy b ask
        > ann yes 7.2
        > crash continue
        > policy b ask
    ");
    check("
        > user one
        > model calls read a, read b
        > policy a ask
        > policy b ask
        > ann yes 7.2
        > crash idle
        > ann yes 7.1
        > policy a ask
        > ends a ok
    ");
}
