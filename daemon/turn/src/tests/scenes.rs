//! A turn in its ordinary ways, one scene each.

use super::script::check;

#[test]
fn an_answer_in_words_ends_the_turn() {
    check("
        > user list the files
        > model says There are three.
    ");
}

#[test]
fn results_of_calls_are_sent_back() {
    check("
        > user list the files
        > model calls read a
        > policy a allow
        > ends a ok
        > model says There are three.
    ");
}

#[test]
fn readers_run_side_by_side_and_results_stand_in_call_order() {
    check("
        > user look at all four
        > model calls read a, read b, read c, read d
        > policy a allow
        > policy b allow
        > policy c allow
        > policy d allow
        > ends c ok
        > ends b failed
        > ends a ok
        > ends d ok
    ");
}

#[test]
fn no_more_readers_run_than_are_allowed_to() {
    check("
        > session interactive parallel=2
        > user look at all three
        > model calls read a, read b, read c
        > policy a allow
        > policy b allow
        > ends b ok
        > policy c allow
        > ends c ok
        > ends a ok
    ");
}

#[test]
fn a_writer_runs_alone_and_in_its_order() {
    check("
        > user change it
        > model calls read a, write b, read c
        > policy a allow
        > policy b allow
        > ends a ok
        > policy b allow
        > ends b ok
        > policy c allow
        > ends c ok
    ");
}

#[test]
fn a_writer_that_is_judged_does_not_hold_up_a_reader_that_is_approved_meanwhile() {
    check("
        > user change it
        > model calls read a, write b
        > policy a ask
        > ann yes 7.1
        > policy b allow
        > policy a ask
        > ends a ok
        > policy b allow
    ");
}

#[test]
fn an_approved_call_runs() {
    check("
        > user change it
        > model calls write a
        > policy a ask
        > ann yes 7.1
        > policy a ask
        > ends a ok
        > model says Changed.
    ");
}

#[test]
fn a_yes_holds_for_what_was_shown_only() {
    check("
        > user change it
        > model calls write a
        > policy a ask seeing three lines
        > ann yes 7.1
        > policy a ask seeing four lines
        > ann yes 7.2
        > policy a ask seeing four lines
    ");
}

#[test]
fn a_denied_call_is_told_to_the_model_with_the_persons_words() {
    check("
        > user delete the folder
        > model calls write a
        > policy a ask
        > ann no 7.1 keep it
        > model says Left in place.
    ");
}

#[test]
fn a_second_answer_to_a_question_changes_nothing() {
    check("
        > user delete the folder
        > model calls read x, write a
        > policy x allow
        > ends x ok
        > policy a ask
        > ann no 7.1
        > ann yes 7.1
    ");
}

#[test]
fn what_was_denied_stays_denied_in_its_turn() {
    check("
        > user delete the folder
        > model calls write a
        > policy a ask
        > ann no 7.1
        > model calls again:write a
        > policy again ask
        > model says I may not.
        > user try once more
        > model calls third:write a
        > policy third ask
    ");
}

#[test]
fn a_yes_to_this_very_call_outweighs_a_no_to_its_twin() {
    check("
        > user look twice
        > model calls one:read a, two:read a
        > policy one ask
        > policy two ask
        > ann no 7.1
        > ann yes 7.2
        > policy two ask
    ");
}

#[test]
fn a_rule_that_denies_is_named_to_the_model() {
    check("
        > user delete the folder
        > model calls write a, read b
        > policy a deny
        > policy b refuse
    ");
}

#[test]
fn a_run_that_was_denied_unattended_ends_blocked() {
    check("
        > session headless
        > user publish it
        > model calls write a
        > policy a left-denied
        > model says I could not.
    ");
}

#[test]
fn a_run_that_was_denied_and_did_something_after_is_not_blocked() {
    check("
        > session headless
        > user publish it
        > model calls write a
        > policy a left-denied
        > model calls read b
        > policy b allow
        > ends b ok
        > model says Another way was found.
    ");
}

#[test]
fn what_ran_before_a_denial_does_not_count_however_late_it_ends() {
    check("
        > session headless
        > user publish it
        > model calls read a, read b
        > policy a allow
        > policy b left-denied
        > ends a ok
        > model says I could not.
    ");
}

#[test]
fn a_question_that_its_last_person_left_is_denied_unattended() {
    check("
        > session headless
        > user publish it
        > model calls write a
        > policy a ask
        > nobody no 7.1 Denied: the last person has left.
        > model says I could not.
    ");
}

#[test]
fn steering_stands_behind_the_results() {
    check("
        > user change it
        > model calls write a
        > policy a left-allowed
        > steer the other file too
        > ends a ok
        > model says Both.
    ");
}

#[test]
fn steering_behind_the_last_words_is_answered_in_the_same_turn() {
    check("
        > user change it
        > steer the other file too
        > model says Done.
        > model says Both.
    ");
}

#[test]
fn the_queue_goes_on_after_a_turn() {
    check("
        > user one
        > user two
        > user three
        > unqueue two
        > model says First.
        > model says Third.
    ");
}

#[test]
fn at_the_step_limit_the_model_sums_up_without_tools() {
    check("
        > session interactive max_steps=1
        > user change it
        > model calls read a
        > policy a allow
        > ends a ok
        > model says One of three is done.
    ");
}

#[test]
fn calls_made_instead_of_summing_up_are_not_run() {
    check("
        > session interactive max_steps=1
        > user change it
        > model calls read a
        > policy a allow
        > ends a ok
        > model calls read b, write c
    ");
}

#[test]
fn a_person_who_says_the_daemons_words_does_not_end_the_tools() {
    let sum_up = crate::words::SUM_UP;
    check(&format!("
        > user {sum_up}
          turn starts | running | prompt: {sum_up} | ask
        > model calls read a
          model calls a | judge a
    "));
}

#[test]
fn an_answer_without_words_is_continued_once() {
    check("
        > user go
        > model thinks Hm.
        > model says Here.
    ");
}

#[test]
fn two_answers_without_words_are_a_failure() {
    check("
        > user go
        > model thinks Hm.
        > model thinks Hm again.
    ");
}

#[test]
fn an_answer_without_words_counts_as_a_step() {
    check("
        > session interactive max_steps=1
        > user go
        > model thinks Hm.
        > model says That was all.
    ");
}

#[test]
fn a_call_that_was_cut_does_not_run() {
    check("
        > user write it all
        > model calls read a, write b!
        > policy a allow
        > ends a ok
    ");
}

#[test]
fn an_answer_that_was_cut_is_kept_and_said_so() {
    check("
        > user write it all
        > model cut Once upon
    ");
}

#[test]
fn a_filtered_answer_is_a_failure() {
    check("
        > user write it all
        > model filtered Once upon
    ");
}

#[test]
fn ids_that_a_vendor_uses_again_become_the_sessions_own() {
    check("
        > user look
        > model calls read a, read a
        > policy a allow
        > ends a ok
        > policy a_1 allow
        > ends a_1 ok
        > model calls read a
        > policy a_2 allow
    ");
}

#[test]
fn a_headless_run_exits_with_its_outcome() {
    check("
        > session headless
        > user go
        > model says Gone.
    ");
}

#[test]
fn a_headless_run_works_off_its_queue_first() {
    check("
        > session headless
        > user one
        > user two
        > model says First.
        > model says Second.
    ");
}

#[test]
fn an_exited_session_is_reopened_by_a_prompt() {
    check("
        > user one
        > model says First.
        > close
        > close
        > user two
        > model says Second.
    ");
}
