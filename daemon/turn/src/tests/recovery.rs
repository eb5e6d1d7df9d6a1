//! Every row of the table in `recover`, with both policies.

use super::script::check;

#[test]
fn log_of_an_idle_session_is_unchanged() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > model says First.
              model: First. | turn ends completed | idle
            > crash {policy}
        "
        ));
    }
}

#[test]
fn queue_continues_after_recovery() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash continue after prompt.queued
          turn starts | running | prompt: one | ask
    ",
    );
}

#[test]
fn a_prompt_whose_turn_never_began_is_begun() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash idle after prompt.queued
          turn starts | running | prompt: one | ask
    ",
    );
}

#[test]
fn queue_after_a_cut_off_turn_waits_for_a_user() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle
        > crash idle
        > user three
          turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn an_exited_session_is_not_woken_by_its_old_queue() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > user two
            > stop kill
              drop the request | turn ends killed (user) | exited 137
            > crash {policy}
        "
        ));
    }
}

#[test]
fn an_exited_session_is_woken_by_a_prompt_that_came_after() {
    check(
        "
        > close
          exited 0
        > user two
          reopened | turn starts | running | prompt: two | ask
        > crash continue after prompt.queued
          reopened | turn starts | running | prompt: two | ask
        > model says Second.
          model: Second. | turn ends completed | idle
    ",
    );
}

#[test]
fn exited_session_with_a_new_prompt_waits_for_a_user() {
    check(
        "
        > close
          exited 0
        > user two
          reopened | turn starts | running | prompt: two | ask
        > crash idle after prompt.queued
        > user three
          reopened | turn starts | running | prompt: two | ask
    ",
    );
}

#[test]
fn missing_exit_record_is_added() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > session headless
            > user one
              turn starts | running | prompt: one | ask
            > model says First.
              model: First. | turn ends completed | exited 0
            > crash {policy} after turn.ended
              exited 0
        "
        ));
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > user two
            > stop term
              drop the request | turn ends interrupted (term) | exited 143
            > crash {policy} after turn.ended
              exited 143
        "
        ));
    }
}

#[test]
fn missing_idle_record_is_added() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model says First.
          model: First. | turn ends completed | idle
        > crash idle after turn.ended
          idle
    ",
    );
}

#[test]
fn missing_prompt_message_is_added() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash continue after turn.started
          notice: The daemon was restarted | running | prompt: one | ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash idle after turn.started
          notice: The daemon stopped during this turn, so the turn was ended | prompt: one |
          turn ends interrupted (shutdown)
    ",
    );
}

#[test]
fn a_request_is_made_again() {
    check(
        "
        > session interactive timeout_ms=9000
        > user one
          turn starts | running | turn 1 has 9000 ms | prompt: one | ask
        > crash continue
          notice: The daemon was restarted | turn 1 has 9000 ms | ask
        > model says First.
          model: First. | turn ends completed | idle
    ",
    );
}

#[test]
fn a_request_is_given_up() {
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle
    ",
    );
}

#[test]
fn recovered_session_waits_for_the_key_again() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks lost-key
          waiting for credentials
        > crash continue
          notice: The daemon was restarted | running | ask
        > model breaks lost-key
          waiting for credentials
        > key
          running | ask
    ",
    );
}

#[test]
fn complete_answer_ends_the_turn_after_recovery() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model says First.
          model: First. | turn ends completed | idle
        > crash continue after message.assistant
          notice: The daemon was restarted | turn ends completed | idle
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model thinks Hm.
          model: nothing | daemon: answer in words | ask
        > crash continue after message.assistant
          notice: The daemon was restarted | daemon: answer in words | ask
        > model thinks Hm again.
          model: nothing | turn ends failed: The model returned two empty answers in a row. | idle
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > steer and this
        > model says First.
          model: First. | steer: and this | ask
        > crash continue after message.assistant
          notice: The daemon was restarted | steer: and this | ask
    ",
    );
}

#[test]
fn complete_answer_waits_for_a_user_with_policy_idle() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model says First.
          model: First. | turn ends completed | idle
        > crash idle after message.assistant
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle
    ",
    );
}

#[test]
fn given_up_answer_is_not_treated_as_complete() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > stop user showing Once
          drop the request | model (interrupted): Once | turn ends interrupted (user) | idle |
          turn starts | running | prompt: two | ask
        > crash continue after message.assistant
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle | turn starts | running | prompt: two | ask
    ",
    );
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent showing Once
          model (interrupted): Once | turn ends failed: permanent | exited 1
        > crash continue after message.assistant
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          exited 1
    ",
    );
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > model breaks permanent showing Once
          model (interrupted): Once | turn ends failed: permanent | exited 1
        > crash idle after message.assistant
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          exited 1
    ",
    );
}

#[test]
fn calls_made_instead_of_summing_up_are_not_run_after_a_crash_either() {
    check(
        "
        > session interactive max_steps=1
        > user one
          turn starts | running | prompt: one | ask
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
        > crash continue after message.assistant
          notice: The daemon was restarted | finished b refused |
          result b refused: Not run: the step limit of this turn is reached | finished c refused |
          result c refused: Not run: the step limit of this turn is reached | notice: The step limit of this turn is reached | turn ends max steps |
          idle
    ",
    );
}

#[test]
fn reported_step_limit_still_applies() {
    check(
        "
        > session interactive max_steps=1
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | daemon: sum up | ask without tools
        > crash continue
          notice: The daemon was restarted | ask without tools
    ",
    );
}

#[test]
fn a_call_that_changes_things_is_never_run_twice() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a, write b
          model calls a b | judge a
        > policy a allow
          started a | run a once that is on disk
        > crash continue
          finished a unknown | result a unknown: The daemon stopped while this call ran |
          notice: The daemon was restarted | judge b
        > policy b allow
          started b | run b once that is on disk
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
        > crash idle
          finished a unknown | result a unknown: The daemon stopped while this call ran |
          notice: The daemon stopped during this turn, so the turn was ended | finished b interrupted |
          result b interrupted: Not run: the daemon stopped before this call was started |
          turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn a_reader_is_judged_and_run_again() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok
        > crash continue
          notice: The daemon was restarted | judge a
        > policy a allow
          started a | run a | judge b
        > policy b allow
          started b | run b
    ",
    );
}

#[test]
fn recovery_idle_reports_started_read_calls_as_interrupted() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | finished a interrupted |
          result a interrupted: Not finished: the daemon stopped while this call ran |
          finished b interrupted |
          result b interrupted: Not run: the daemon stopped before this call was started |
          turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn result_of_a_lost_sub_agent_says_that_its_changes_stay() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls delegate a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | finished a interrupted |
          result a interrupted: Not finished: the daemon stopped while the sub-agent worked |
          turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn recovery_continue_runs_a_call_that_was_not_started() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > crash continue
          notice: The daemon was restarted | judge a
        > policy a allow
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
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > crash continue
          notice: The daemon was restarted | judge a
        > policy a ask
          started a | run a once that is on disk
    ",
    );
}

#[test]
fn recovery_idle_does_not_run_a_call_that_was_not_started() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | finished a interrupted |
          result a interrupted: Not run: the daemon stopped before this call was started |
          turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn denial_holds_although_its_result_was_lost() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann no 7.1 keep it
          ann answers 7.1: deny | running | finished a denied |
          result a denied: Denied by the user (ann): keep it | ask
        > crash continue after interaction.resolved
          notice: The daemon was restarted | running | finished a denied |
          result a denied: Denied by the user (ann): keep it | ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > policy b deny
          finished b denied
        > crash continue
          notice: The daemon was restarted | finished b denied | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | result b denied: Denied by the rule `a rule` (user) | ask
    ",
    );
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > policy b left-denied
          nobody was there: denied | finished b denied
        > crash continue
          notice: The daemon was restarted | finished b denied | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | result b denied: Nobody was there; `--allow` would do | ask
        > model says I could not.
          model: I could not. | turn ends blocked (denied) | exited 3
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
        > ann no 7.1 keep it
          ann answers 7.1: deny | running | finished a denied |
          result a denied: Denied by the user (ann): keep it | ask
        > crash idle after interaction.resolved
          notice: The daemon stopped during this turn, so the turn was ended | finished a denied |
          result a denied: Denied by the user (ann): keep it | turn ends interrupted (shutdown) |
          idle
    ",
    );
}

#[test]
fn a_call_that_was_cut_does_not_run_after_a_crash_either() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, write b!
          model calls a b | finished b refused | judge a
        > crash continue
          notice: The daemon was restarted | finished b refused | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok |
          result b refused: Not run: your answer broke off inside this call |
          ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, write b!
          model calls a b | finished b refused | judge a
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | finished b refused |
          finished a interrupted |
          result a interrupted: Not run: the daemon stopped before this call was started |
          result b refused: Not run: your answer broke off inside this call |
          turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn a_question_stays_open_and_holds_for_what_was_shown() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > session interactive timeout_ms=9000
            > user one
              turn starts | running | turn 1 has 9000 ms | prompt: one | ask
            > model calls write a
              model calls a | judge a
            > policy a ask seeing three lines
              question 7.1 about a | waiting for approval
            > crash {policy}
              waiting for approval | turn 1 has 9000 ms
            > ann yes 7.1
              ann answers 7.1: allow once | running | judge a
            > policy a ask seeing four lines
              question 7.2 about a | waiting for approval
            > ann yes 7.2
              ann answers 7.2: allow once | running | judge a
            > policy a ask seeing four lines
              started a | run a once that is on disk
        "
        ));
    }
}

#[test]
fn readers_continue_beside_an_open_question() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval | judge b
        > policy b allow
          started b | run b
        > crash idle
          waiting for approval | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask
          started a | run a
        > ends a ok
          finished a ok | result a ok | result b ok | ask
    ",
    );
}

#[test]
fn approved_call_beside_an_open_question_runs_only_with_policy_continue() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval | judge b
        > policy b ask
          question 7.2 about b | waiting for approval
        > ann yes 7.2
          ann answers 7.2: allow once | judge b
        > crash continue
          waiting for approval | judge b
        > policy b ask
          started b | run b
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval | judge b
        > policy b ask
          question 7.2 about b | waiting for approval
        > ann yes 7.2
          ann answers 7.2: allow once | judge b
        > crash idle
          waiting for approval | finished b interrupted
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a ask
          started a | run a
        > ends a ok
          finished a ok | result a ok |
          result b interrupted: Not run: the daemon stopped before this call was started | ask
    ",
    );
}
