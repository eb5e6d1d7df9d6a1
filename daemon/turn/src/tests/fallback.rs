//! A model is down, and another one goes on with the turn.

use super::script::check;

/// A model whose one try fails, and another one that is asked then.
const DOWN: &str = "
    > session tries=1 fallback=q/n
    > user one
      turn starts | running | prompt: one | ask
    > model breaks transient showing Half
      what was shown does not count | q/n stands in | reset, job 1: Wanted
";

#[test]
fn the_fallback_goes_on_with_the_turn_and_the_next_one_asks_the_first_again() {
    check(&format!(
        "{DOWN}
        > job switches
          cache reset: switch | notice: `p/m` is not available, so `q/n` answers for the rest of this turn: transient | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | ask
        > model says Done.
          model: Done. | turn ends completed | idle
        > user two
          turn starts | running | prompt: two | reset, job 2: Wanted
        > job switches
          cache reset: switch | ask
        > model breaks transient
          q/n stands in | reset, job 3: Wanted
    "
    ));
}

#[test]
fn where_the_fallback_fails_too_the_first_ones_cause_is_told() {
    for breaks in ["transient", "permanent", "no-key"] {
        check(&format!(
            "{DOWN}
            > job switches
              cache reset: switch | notice: `p/m` is not available, so `q/n` answers for the rest of this turn: transient | ask
            > model breaks {breaks}
              turn ends failed: transient. The fallback `q/n` failed too: {breaks} | idle
        "
        ));
    }
    check(&format!(
        "{DOWN}
        > job fails
          notice: `p/m` is not available (transient), and its fallback `q/n` cannot be used: no | turn ends failed: transient. The fallback `q/n` failed too: no | idle
        > user two
          turn starts | running | prompt: two | ask
    "
    ));
}

#[test]
fn nobody_stands_in_for_itself_nor_for_what_will_not_pass() {
    check(
        "
        > session tries=1 fallback=p/m
        > user one
          turn starts | running | prompt: one | ask
        > model breaks transient
          turn ends failed: transient | idle
    ",
    );
    for breaks in ["permanent", "no-key"] {
        check(&format!(
            "
            > session tries=1 fallback=q/n
            > user one
              turn starts | running | prompt: one | ask
            > model breaks {breaks}
              turn ends failed: {breaks} | idle
        "
        ));
    }
    check(
        "
        > session tries=2 fallback=q/n
        > user one
          turn starts | running | prompt: one | ask
        > model breaks transient
          waiting for retry | try again in 500 ms
        > retry
          running | ask, try 2
        > model breaks transient
          q/n stands in | reset, job 1: Wanted
    ",
    );
}

#[test]
fn a_crash_in_the_middle_changes_nothing_of_it() {
    for moment in ["", "after session.set", "after cache.reset"] {
        let asks = match moment {
            "after session.set" => "reset, job 1: Wanted",
            _ => "ask",
        };
        check(&format!(
            "{DOWN}
            > job switches
              cache reset: switch | notice: `p/m` is not available, so `q/n` answers for the rest of this turn: transient | ask
            > crash continue {moment}
              notice: The daemon was restarted | {asks}
        "
        ));
    }
    check(&format!(
        "{DOWN}
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) | idle
        > user two
          turn starts | running | prompt: two | ask
    "
    ));
}

#[test]
fn who_chooses_a_model_meanwhile_keeps_it() {
    check(&format!(
        "{DOWN}
        > job switches
          cache reset: switch | notice: `p/m` is not available, so `q/n` answers for the rest of this turn: transient | ask
        > set model=q/n
        > model says Done.
          model: Done. | turn ends completed | idle
        > user two
          turn starts | running | prompt: two | ask
    "
    ));
}

#[test]
fn in_a_pause_the_fallback_waits() {
    check(
        "
        > session tries=1 fallback=q/n
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > model breaks transient
          q/n stands in
        > resume
          running | reset, job 1: Wanted
    ",
    );
}

#[test]
fn a_vendor_that_others_have_found_down_is_not_waited_for() {
    check(
        "
        > session fallback=q/n
        > user one
          turn starts | running | prompt: one | ask
        > gated down
          drop the request | q/n stands in | reset, job 1: Wanted
        > job switches
          cache reset: switch | notice: `p/m` is not available, so `q/n` answers for the rest of this turn: full | ask
        > gated down
          waiting for retry
    ",
    );
}
