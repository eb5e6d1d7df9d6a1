//! Ordinary turns, one scenario each.

use super::script::check;

#[test]
fn text_answer_ends_the_turn() {
    check(
        "
        > user list the files
          turn starts | running | prompt: list the files | ask
        > model says There are three.
          model: There are three. | turn ends completed | idle
    ",
    );
}

#[test]
fn results_of_calls_are_sent_back() {
    check(
        "
        > user list the files
          turn starts | running | prompt: list the files | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | ask
        > model says There are three.
          model: There are three. | turn ends completed | idle
    ",
    );
}

#[test]
fn readers_run_in_parallel_and_results_are_in_call_order() {
    check(
        "
        > user look at all four
          turn starts | running | prompt: look at all four | ask
        > model calls read a, read b, read c, read d
          model calls a b c d | judge a
        > policy a allow
          started a | run a | judge b
        > policy b allow
          started b | run b | judge c
        > policy c allow
          started c | run c | judge d
        > policy d allow
          started d | run d
        > ends c ok
          finished c ok
        > ends b failed
          finished b failed
        > ends a ok
          finished a ok | result a ok | result b failed: its output | result c ok
        > ends d ok
          finished d ok | result d ok | ask
    ",
    );
}

#[test]
fn no_more_readers_run_than_are_allowed_to() {
    check(
        "
        > session interactive parallel=2
        > user look at all three
          turn starts | running | prompt: look at all three | ask
        > model calls read a, read b, read c
          model calls a b c | judge a
        > policy a allow
          started a | run a | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | judge c
        > policy c allow
          started c | run c
        > ends c ok
          finished c ok
        > ends a ok
          finished a ok | result a ok | result b ok | result c ok | ask
    ",
    );
}

#[test]
fn a_writer_runs_alone_and_in_its_order() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls read a, write b, read c
          model calls a b c | judge a
        > policy a allow
          started a | run a | judge b
        > policy b allow
        > ends a ok
          finished a ok | result a ok | judge b
        > policy b allow
          started b | run b once that is on disk
        > ends b ok
          finished b ok | result b ok | judge c
        > policy c allow
          started c | run c
        > ends c ok
          finished c ok | result c ok | ask
    ",
    );
}

#[test]
fn a_writer_that_is_judged_does_not_hold_up_a_reader_that_is_approved_meanwhile() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls read a, write b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval | judge b
        > ann yes 7.1
          ann answers 7.1: allow once | running
        > policy b allow
          judge a
        > policy a ask
          started a | run a | judge b
        > ends a ok
          finished a ok | result a ok
        > policy b allow
          started b | run b once that is on disk
    ",
    );
}

#[test]
fn an_approved_call_runs() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask
          started a | run a once that is on disk
        > ends a ok
          finished a ok | result a ok | ask
        > model says Changed.
          model: Changed. | turn ends completed | idle
    ",
    );
}

#[test]
fn approval_is_asked_again_if_the_shown_change_differs() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a ask seeing three lines
          question 7.1 about a | waiting for approval
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask seeing four lines
          question 7.2 about a | waiting for approval
        > ann yes 7.2
          ann answers 7.2: allow once | running | judge a
        > policy a ask seeing four lines
          started a | run a once that is on disk
    ",
    );
}

#[test]
fn call_that_needs_two_approvals_waits_for_the_second() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a ask seeing its program twice
          question 7.1 about a | waiting for approval
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask seeing its program twice
          question 7.2 about a | waiting for approval
        > ann yes 7.2
          ann answers 7.2: allow once | running | judge a
        > policy a ask seeing another program twice
          question 7.3 about a | waiting for approval
        > ann yes 7.3
          ann answers 7.3: allow once | running | judge a
        > policy a ask seeing another program twice
          question 7.4 about a | waiting for approval
        > ann no 7.4
          ann answers 7.4: deny | running | finished a denied |
          result a denied: Denied by the user (ann) | ask
    ",
    );
}

#[test]
fn result_of_a_denied_call_quotes_the_users_reason() {
    check(
        "
        > user delete the folder
          turn starts | running | prompt: delete the folder | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann no 7.1 keep it
          ann answers 7.1: deny | running | finished a denied |
          result a denied: Denied by the user (ann): keep it | ask
        > model says Left in place.
          model: Left in place. | turn ends completed | idle
    ",
    );
}

#[test]
fn a_second_answer_to_a_question_changes_nothing() {
    check(
        "
        > user delete the folder
          turn starts | running | prompt: delete the folder | ask
        > model calls read x, write a
          model calls x a | judge x
        > policy x allow
          started x | run x | judge a
        > ends x ok
          finished x ok | result x ok
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann no 7.1
          ann answers 7.1: deny | running | finished a denied |
          result a denied: Denied by the user (ann) | ask
        > ann yes 7.1
    ",
    );
}

#[test]
fn equal_call_stays_denied_until_the_next_turn() {
    check(
        "
        > user delete the folder
          turn starts | running | prompt: delete the folder | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann no 7.1
          ann answers 7.1: deny | running | finished a denied |
          result a denied: Denied by the user (ann) | ask
        > model calls again:write a
          model calls again | judge again
        > policy again ask
          finished again denied |
          result again denied: Denied: the same call was denied before in this turn, and stays denied | ask
        > model says I may not.
          model: I may not. | turn ends completed | idle
        > user try once more
          turn starts | running | prompt: try once more | ask
        > model calls third:write a
          model calls third | judge third
        > policy third ask
          question 7.2 about third | waiting for approval
    ",
    );
}

#[test]
fn approval_of_this_call_outweighs_denial_of_an_equal_one() {
    check(
        "
        > user look twice
          turn starts | running | prompt: look twice | ask
        > model calls one:read a, two:read a
          model calls one two | judge one
        > policy one ask
          question 7.1 about one | waiting for approval | judge two
        > policy two ask
          question 7.2 about two | waiting for approval
        > ann no 7.1
          ann answers 7.1: deny | finished one denied | result one denied: Denied by the user (ann)
        > ann yes 7.2
          ann answers 7.2: allow once | running | judge two
        > policy two ask
          started two | run two
    ",
    );
}

#[test]
fn a_rule_that_denies_is_named_to_the_model() {
    check(
        "
        > user delete the folder
          turn starts | running | prompt: delete the folder | ask
        > model calls write a, read b
          model calls a b | judge a
        > policy a deny
          finished a denied | result a denied: Denied by the rule `a rule` (user) | judge b
        > policy b refuse
          finished b refused | result b refused: There is no such tool | ask
    ",
    );
}

#[test]
fn a_run_that_was_denied_unattended_ends_blocked() {
    check(
        "
        > session headless
        > user publish it
          turn starts | running | prompt: publish it | ask
        > model calls write a
          model calls a | judge a
        > policy a left-denied
          nobody was there: denied | finished a denied |
          result a denied: Nobody was there; `--allow` would do | ask
        > model says I could not.
          model: I could not. | turn ends blocked (denied) | exited 3
    ",
    );
}

#[test]
fn a_run_that_was_denied_and_did_something_after_is_not_blocked() {
    check(
        "
        > session headless
        > user publish it
          turn starts | running | prompt: publish it | ask
        > model calls write a
          model calls a | judge a
        > policy a left-denied
          nobody was there: denied | finished a denied |
          result a denied: Nobody was there; `--allow` would do | ask
        > model calls read b
          model calls b | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | ask
        > model says Another way was found.
          model: Another way was found. | turn ends completed | exited 0
    ",
    );
}

#[test]
fn calls_before_a_denial_do_not_unblock_the_run_even_if_they_end_later() {
    check(
        "
        > session headless
        > user publish it
          turn starts | running | prompt: publish it | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > policy b left-denied
          nobody was there: denied | finished b denied
        > ends a ok
          finished a ok | result a ok | result b denied: Nobody was there; `--allow` would do | ask
        > model says I could not.
          model: I could not. | turn ends blocked (denied) | exited 3
    ",
    );
}

#[test]
fn approval_request_is_denied_when_its_last_client_detaches() {
    check(
        "
        > session headless
        > user publish it
          turn starts | running | prompt: publish it | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > nobody leaves 7.1 Denied: the last person has left.
          reasonix answers 7.1: nothing | running | finished a denied |
          result a denied: Denied: the last person has left | ask
        > model says I could not.
          model: I could not. | turn ends blocked (denied) | exited 3
    ",
    );
}

#[test]
fn steering_stands_behind_the_results() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a left-allowed
          nobody was there: allowed | started a | run a once that is on disk
        > steer the other file too
        > ends a ok
          finished a ok | result a ok | steer: the other file too | ask
        > model says Both.
          model: Both. | turn ends completed | idle
    ",
    );
}

#[test]
fn steering_after_the_last_answer_is_answered_in_the_same_turn() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > steer the other file too
        > model says Done.
          model: Done. | steer: the other file too | ask
        > model says Both.
          model: Both. | turn ends completed | idle
    ",
    );
}

#[test]
fn the_queue_goes_on_after_a_turn() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > user three
        > unqueue two
          taken back
        > model says First.
          model: First. | turn ends completed | idle | turn starts | running | prompt: three | ask
        > model says Third.
          model: Third. | turn ends completed | idle
    ",
    );
}

#[test]
fn at_the_step_limit_the_model_sums_up_without_tools() {
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
        > model says One of three is done.
          model: One of three is done. | notice: The step limit of this turn is reached | turn ends max steps | idle
    ",
    );
}

#[test]
fn calls_made_instead_of_summing_up_are_not_run() {
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
        > model calls read b, write c
          model calls b c | finished b refused |
          result b refused: Not run: the step limit of this turn is reached | finished c refused |
          result c refused: Not run: the step limit of this turn is reached | notice: The step limit of this turn is reached | turn ends max steps |
          idle
    ",
    );
}

#[test]
fn users_text_equal_to_a_daemon_message_is_no_marker() {
    let sum_up = crate::words::SUM_UP;
    check(&format!(
        "
        > user {sum_up}
          turn starts | running | prompt: {sum_up} | ask
        > model calls read a
          model calls a | judge a
    "
    ));
}

#[test]
fn empty_answer_is_continued_once() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model thinks Hm.
          model: nothing | daemon: answer in words | ask
        > model says Here.
          model: Here. | turn ends completed | idle
    ",
    );
}

#[test]
fn two_empty_answers_fail_the_turn() {
    check(
        "
        > user go
          turn starts | running | prompt: go | ask
        > model thinks Hm.
          model: nothing | daemon: answer in words | ask
        > model thinks Hm again.
          model: nothing | turn ends failed: The model returned two empty answers in a row. | idle
    ",
    );
}

#[test]
fn empty_answer_counts_as_a_step() {
    check(
        "
        > session interactive max_steps=1
        > user go
          turn starts | running | prompt: go | ask
        > model thinks Hm.
          model: nothing | daemon: answer in words | daemon: sum up | ask without tools
        > model says That was all.
          model: That was all. | notice: The step limit of this turn is reached | turn ends max steps | idle
    ",
    );
}

#[test]
fn a_call_that_was_cut_does_not_run() {
    check(
        "
        > user write it all
          turn starts | running | prompt: write it all | ask
        > model calls read a, write b!
          model calls a b | finished b refused | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok |
          result b refused: Not run: your answer broke off inside this call |
          ask
    ",
    );
}

#[test]
fn truncated_answer_is_kept_and_reported() {
    check(
        "
        > user write it all
          turn starts | running | prompt: write it all | ask
        > model cut Once upon
          model: Once upon | notice: The answer was cut off by the model's output limit |
          turn ends completed | idle
    ",
    );
}

#[test]
fn a_filtered_answer_is_a_failure() {
    check(
        "
        > user write it all
          turn starts | running | prompt: write it all | ask
        > model filtered Once upon
          model: Once upon | turn ends failed: The provider's content filter cut off the answer. | idle
    ",
    );
}

#[test]
fn reused_call_ids_become_unique_in_the_session() {
    check(
        "
        > user look
          turn starts | running | prompt: look | ask
        > model calls read a, read a
          model calls a a_1 | judge a
        > policy a allow
          started a | run a | judge a_1
        > ends a ok
          finished a ok | result a ok
        > policy a_1 allow
          started a_1 | run a_1
        > ends a_1 ok
          finished a_1 ok | result a_1 ok | ask
        > model calls read a
          model calls a_2 | judge a_2
        > policy a_2 allow
          started a_2 | run a_2
    ",
    );
}

#[test]
fn a_headless_run_exits_with_its_outcome() {
    check(
        "
        > session headless
        > user go
          turn starts | running | prompt: go | ask
        > model says Gone.
          model: Gone. | turn ends completed | exited 0
    ",
    );
}

#[test]
fn a_headless_run_works_off_its_queue_first() {
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > model says First.
          model: First. | turn ends completed | idle | turn starts | running | prompt: two | ask
        > model says Second.
          model: Second. | turn ends completed | exited 0
    ",
    );
}

#[test]
fn an_exited_session_is_reopened_by_a_prompt() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model says First.
          model: First. | turn ends completed | idle
        > close
          exited 0
        > close
        > user two
          reopened | turn starts | running | prompt: two | ask
        > model says Second.
          model: Second. | turn ends completed | idle
    ",
    );
}

#[test]
fn denied_call_stays_denied_in_any_spelling() {
    check(
        "
        > user delete the folder
          turn starts | running | prompt: delete the folder | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann no 7.1
          ann answers 7.1: deny | running | finished a denied |
          result a denied: Denied by the user (ann) | ask
        > model calls b:tool_call write+a
          model calls b | judge b
        > policy b ask as write a
          finished b (tool_call) denied |
          result b denied: Denied: the same call was denied before in this turn, and stays denied | ask
        > model calls c:write a+
          model calls c | judge c
        > policy c allow as write a
          finished c denied |
          result c denied: Denied: the same call was denied before in this turn, and stays denied | ask
        > model calls d:tool_call x
          model calls d | judge d
        > policy d deny as write x
          finished d denied | result d denied: Denied by the rule `a rule` (user) | ask
        > model calls e:write x
          model calls e | judge e
        > policy e ask
          finished e denied |
          result e denied: Denied: the same call was denied before in this turn, and stays denied | ask
        > crash continue
          notice: The daemon was restarted | ask
        > model calls f:tool_call a
          model calls f | judge f
        > policy f ask as write a
          finished f (tool_call) denied |
          result f denied: Denied: the same call was denied before in this turn, and stays denied | ask
    ",
    );
}

#[test]
fn call_is_logged_under_the_tool_that_it_resolves_to() {
    check(
        "
        > session headless
        > user do it
          turn starts | running | prompt: do it | ask
        > model calls a:tool_call x, b:tool_call y
          model calls a b | judge a
        > policy a allow as write x
          started a | run a | judge b
        > ends a ok
          finished a ok | result a ok
        > policy b left-denied as write y
          nobody was there: denied | finished b denied |
          result b denied: Nobody was there; `--allow` would do | ask
        > model says I may not.
          model: I may not. | turn ends blocked (denied) | exited 3
    ",
    );
}
