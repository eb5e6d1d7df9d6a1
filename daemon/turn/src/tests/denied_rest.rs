//! An answer that denies a call and every other one of the same answer that would be asked about.

use super::script::check;

#[test]
fn one_no_denies_all_further_calls_that_would_be_asked_about() {
    check(
        "
        > user delete the folder
          turn starts | running | prompt: delete the folder | ask
        > model calls write a, write b, read c
          model calls a b c | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann rest 7.1
          ann answers 7.1: deny rest | running | finished a denied |
          result a denied: Denied by the user (ann) | judge b
        > policy b ask
          finished b denied |
          result b denied: Denied: the user denied every call of that answer that needs approval | judge c
        > policy c allow
          started c | run c
        > ends c ok
          finished c ok | result c ok | ask
        > model calls write d
          model calls d | judge d
        > policy d ask
          question 7.2 about d | waiting for approval
    ",
    );
}

#[test]
fn one_no_answers_the_open_questions_about_other_calls_too() {
    check(
        "
        > user look around
          turn starts | running | prompt: look around | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval | judge b
        > policy b ask
          question 7.2 about b | waiting for approval
        > ann rest 7.1 not these
          ann answers 7.1: deny rest | ann answers 7.2: deny rest | running |
          finished a denied | result a denied: Denied by the user (ann): not these |
          finished b denied | result b denied: Denied by the user (ann): not these | ask
    ",
    );
}

#[test]
fn after_a_crash_the_further_calls_stay_denied() {
    check(
        "
        > user delete the folder
          turn starts | running | prompt: delete the folder | ask
        > model calls write a, write b
          model calls a b | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann rest 7.1
          ann answers 7.1: deny rest | running | finished a denied |
          result a denied: Denied by the user (ann) | judge b
        > crash continue
          notice: The daemon was restarted | judge b
        > policy b ask
          finished b denied |
          result b denied: Denied: the user denied every call of that answer that needs approval | ask
    ",
    );
}
