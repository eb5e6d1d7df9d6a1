//! The model's questions to users: open beside read-only calls, answered once, and never lost.

use super::script::check;

#[test]
fn model_receives_the_users_answer() {
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
        > ann says 7.1 red
          ann answers 7.1: red | running | finished a ok | result a ok | ask
        > ann says 7.1 blue
    ",
    );
}

#[test]
fn without_a_client_the_model_is_notified_at_once() {
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a left-questions
          finished a ok | result a ok | ask
    ",
    );
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
        > nobody leaves 7.1
          reasonix answers 7.1: nothing | running | finished a ok | result a ok | ask
    ",
    );
}

#[test]
fn unanswered_question_does_not_count_as_work() {
    check(
        "
        > session headless
        > user delete it
          turn starts | running | prompt: delete it | ask
        > model calls write a
          model calls a | judge a
        > policy a left-denied
          nobody was there: denied | finished a denied | result a denied: Nobody was there; `--allow` would do | ask
        > model calls ask b
          model calls b | judge b
        > policy b left-questions
          finished b ok | result b ok | ask
        > model says I could not.
          model: I could not. | turn ends blocked (denied) | exited 3
    ",
    );
}

#[test]
fn readers_run_beside_a_question_and_a_writer_waits() {
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a, read b, write c
          model calls a b c | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions | judge b
        > policy b allow
          started b | run b | judge c
        > policy c allow
        > ends b ok
          finished b ok | judge c
        > policy c allow
        > ann says 7.1 red
          ann answers 7.1: red | running | finished a ok | result a ok | result b ok | judge c
        > policy c allow
          started c | run c once that is on disk
    ",
    );
}

#[test]
fn an_approval_and_a_question_are_open_side_by_side() {
    check(
        "
        > user look
          turn starts | running | prompt: look | ask
        > model calls read a, ask b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval | judge b
        > policy b questions
          asks 7.2 for b | waiting for approval
        > ann yes 7.1
          ann answers 7.1: allow once | waiting for questions | judge a
        > policy a ask
          started a | run a
        > ann says 7.2 red
          ann answers 7.2: red | running | finished b ok
        > ends a ok
          finished a ok | result a ok | result b ok | ask
    ",
    );
    check(
        "
        > user look
          turn starts | running | prompt: look | ask
        > model calls ask a, read b
          model calls a b | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions | judge b
        > policy b ask
          question 7.2 about b | waiting for approval
        > ann says 7.1 red
          ann answers 7.1: red | finished a ok | result a ok
        > ann no 7.2
          ann answers 7.2: deny | running | finished b denied |
          result b denied: Denied by the user (ann) | ask
    ",
    );
}

#[test]
fn every_stop_closes_the_question() {
    for (stop, ends) in [
        ("user", "turn ends interrupted (user) | idle"),
        ("shutdown", "turn ends interrupted (shutdown) | idle"),
        ("term", "turn ends interrupted (term) | exited 143"),
        ("kill", "turn ends killed (user) | exited 137"),
    ] {
        let why = if stop == "user" {
            "Not run: the user interrupted the turn"
        } else {
            "Not run: the turn was stopped"
        };
        check(&format!(
            "
            > user paint it
              turn starts | running | prompt: paint it | ask
            > model calls ask a, read b
              model calls a b | judge a
            > policy a questions
              asks 7.1 for a | waiting for questions | judge b
            > policy b ask
              question 7.2 about b | waiting for approval
            > stop {stop}
              reasonix answers 7.1: nothing | reasonix answers 7.2: nothing | running |
              finished a interrupted | result a interrupted: {why} |
              finished b interrupted | result b interrupted: {why} | {ends}
            > ann says 7.1 red
        "
        ));
    }
}

#[test]
fn turn_timeout_closes_the_question() {
    check(
        "
        > session interactive timeout_ms=1000
        > user paint it
          turn starts | running | turn 1 has 1000 ms | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
        > time up 1
          reasonix answers 7.1: nothing | running | finished a interrupted |
          result a interrupted: Not run: the turn was stopped | notice: The time limit of this turn is reached | turn ends interrupted (timeout) | idle
    ",
    );
}

#[test]
fn a_question_is_answered_in_a_pause_and_the_model_reads_it_after() {
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a, ask b
          model calls a b | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions | judge b
        > policy b questions
          asks 7.2 for b | waiting for questions
        > pause
          paused
        > ann says 7.1 red
          ann answers 7.1: red | finished a ok | result a ok
        > resume
          waiting for questions
        > pause
          paused
        > ann says 7.2 blue
          ann answers 7.2: blue | finished b ok | result b ok
        > resume
          running | ask
    ",
    );
}

#[test]
fn a_call_that_is_judged_in_a_pause_asks_after_it() {
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > pause
          paused
        > policy a questions
        > resume
          running | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
    ",
    );
}

#[test]
fn a_question_is_handed_over() {
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
        > suspend
          suspended
        > crash idle
          waiting for questions
        > ann says 7.1 red
          ann answers 7.1: red | running | finished a ok | result a ok | ask
    ",
    );
    // An answer after the suspended mark is not lost: the next daemon process sends it.
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
        > suspend
          suspended
        > ann says 7.1 red
          ann answers 7.1: red | running | finished a ok | result a ok | suspended
        > crash idle
          notice: The daemon was restarted | ask
    ",
    );
}

/// Crashes after each record of a question, with both policies.
#[test]
fn a_crash_at_any_record_of_a_question_loses_nothing_and_asks_once() {
    let asked = "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
    ";
    let answered = "
        > ann says 7.1 red
          ann answers 7.1: red | running | finished a ok | result a ok | ask
    ";
    for policy in ["continue", "idle"] {
        for last in ["interaction.opened", "session.state"] {
            check(&format!(
                "{asked}
                > crash {policy} after {last}
                  waiting for questions
                {answered}"
            ));
        }
    }
    check(&format!(
        "{asked}
        > crash continue before interaction.opened
          notice: The daemon was restarted | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
        {answered}"
    ));
    check(&format!(
        "{asked}
        > crash idle before interaction.opened
          notice: The daemon stopped during this turn, so the turn was ended | finished a interrupted |
          result a interrupted: Not run: the daemon stopped before this call was started |
          turn ends interrupted (shutdown) | idle
    "
    ));
    for (last, state) in [
        ("interaction.resolved", "running | "),
        ("session.state", ""),
        ("tool.finished", ""),
    ] {
        check(&format!(
            "{asked}{answered}
            > crash continue after {last}
              notice: The daemon was restarted | {state}finished a ok | result a ok | ask
        "
        ));
        check(&format!(
            "{asked}{answered}
            > crash idle after {last}
              notice: The daemon stopped during this turn, so the turn was ended | finished a ok | result a ok |
              turn ends interrupted (shutdown) | idle
        "
        ));
    }
    check(&format!(
        "{asked}{answered}
        > crash continue after message.tool
          notice: The daemon was restarted | ask
    "
    ));
}

#[test]
fn answered_question_gets_its_result_beside_an_open_one() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > user paint it
              turn starts | running | prompt: paint it | ask
            > model calls ask a, ask b
              model calls a b | judge a
            > policy a questions
              asks 7.1 for a | waiting for questions | judge b
            > policy b questions
              asks 7.2 for b | waiting for questions
            > ann says 7.2 red
              ann answers 7.2: red | finished b ok
            > crash {policy}
              waiting for questions | finished b ok
            > ann says 7.1 blue
              ann answers 7.1: blue | running | finished a ok | result a ok | result b ok | ask
        "
        ));
    }
}

#[test]
fn partly_logged_stop_leaves_no_answer() {
    check(
        "
        > user paint it
          turn starts | running | prompt: paint it | ask
        > model calls ask a
          model calls a | judge a
        > policy a questions
          asks 7.1 for a | waiting for questions
        > stop user
          reasonix answers 7.1: nothing | running | finished a interrupted |
          result a interrupted: Not run: the user interrupted the turn | turn ends interrupted (user) | idle
        > crash continue after interaction.resolved
          notice: The daemon was restarted | running | finished a interrupted |
          result a interrupted: Not answered: the turn was stopped before anybody did | ask
    ",
    );
}

#[test]
fn answer_is_complete_for_the_model_and_one_line_for_users() {
    use proto::params::interaction::Reply;

    use super::made::{ask, reply};
    use crate::facts::Answerer;
    use crate::words;

    let asked = [ask("Which colour?"), ask("How much?")];
    let other = Reply {
        labels: vec!["blue".into()],
        other: Some("a lot".into()),
    };
    let said = words::answers(Answerer::Person, &asked, &[reply("red"), other]);
    assert_eq!(
        said,
        "The user answered:\nWhich colour? → red\nHow much? → blue, a lot"
    );
    assert_eq!(
        words::answers_in_one_line(&said),
        "Which colour? → red; How much? → blue, a lot"
    );
    let nobody = words::answers(Answerer::Nobody, &asked, &[]);
    assert_eq!(
        words::answers_in_one_line(&nobody),
        "Nobody is there to answer."
    );
}
