//! A budget refuses a request: the turn ends, and queued prompts stay queued.

use super::script::check;

#[test]
fn a_refused_request_ends_the_turn_and_the_next_prompt_tries_again() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | ask
        > model breaks unpaid
          turn ends budget exceeded: unpaid | idle
        > user two
          turn starts | running | prompt: two | ask
        > model says Done.
          model: Done. | turn ends completed | idle
    ",
    );
}

#[test]
fn queue_after_a_spent_budget_waits_for_a_raise_or_a_prompt() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > user three
        > model breaks unpaid
          notice: 2 prompts are queued until you raise the session's budget or send another prompt |
          turn ends budget exceeded: unpaid | idle
        > set max_steps=9
        > crash continue
        > set budget=9
          turn starts | running | prompt: two | ask
        > model breaks unpaid
          notice: 1 prompt is queued until you raise the session's budget or send another prompt |
          turn ends budget exceeded: unpaid | idle
        > user four
          turn starts | running | prompt: three | ask
        > model says Third.
          model: Third. | turn ends completed | idle | turn starts | running | prompt: four | ask
    ",
    );
}

#[test]
fn what_a_sub_agent_sends_starts_no_turn_after_a_spent_budget() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks unpaid
          turn ends budget exceeded: unpaid | idle
        > agent the result
        > crash continue
        > user two
          turn starts | running | session: the result | ask
    ",
    );
}

#[test]
fn headless_run_ends_with_a_spent_budget_despite_queued_prompts() {
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > model breaks unpaid
          notice: 1 prompt is queued until you raise the session's budget or send another prompt |
          turn ends budget exceeded: unpaid | exited 2
    ",
    );
}

#[test]
fn summary_request_over_budget_ends_the_turn_too() {
    check(
        "
        > session window=1000
        > user one
          turn starts | running | prompt: one | ask
        > model says First. using 850
          model: First. | turn ends completed | idle
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks unpaid
          turn ends budget exceeded: unpaid | idle
        > compact
          reset, job 2: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks unpaid
        > show compaction
          unpaid
    ",
    );
}
