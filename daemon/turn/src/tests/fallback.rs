//! The fallback model continues a turn when the session's own model is down.

use super::script::check;

/// A model whose only try fails, and a fallback.
const DOWN: &str = "
    > session tries=1 fallback=q/n
    > user one
      turn starts | running | prompt: one | ask
    > model breaks transient showing Half
      discard the shown part | fall back to q/n | reset, job 1: Wanted
";

#[test]
fn fallback_finishes_the_turn_and_the_next_turn_uses_the_own_model() {
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
          fall back to q/n | reset, job 3: Wanted
    "
    ));
}

#[test]
fn if_the_fallback_fails_too_the_original_failure_is_reported() {
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
fn no_fallback_to_the_same_model_or_after_permanent_failures() {
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
          fall back to q/n | reset, job 1: Wanted
    ",
    );
}

#[test]
fn fallback_survives_a_crash() {
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
fn model_chosen_during_a_fallback_stays() {
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
          fall back to q/n
        > resume
          running | reset, job 1: Wanted
    ",
    );
}

#[test]
fn fallback_is_immediate_if_other_requests_found_the_provider_down() {
    check(
        "
        > session fallback=q/n
        > user one
          turn starts | running | prompt: one | ask
        > gated down
          drop the request | fall back to q/n | reset, job 1: Wanted
        > job switches
          cache reset: switch | notice: `p/m` is not available, so `q/n` answers for the rest of this turn: full | ask
        > gated down
          waiting for retry
    ",
    );
}
