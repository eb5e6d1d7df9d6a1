//! Compactions by the provider itself, and what happens where it does not compact.

use super::script::check;

/// A turn whose context is nearly full, and the next one, which has the provider compact.
const ASKED: &str = "
    > session window=1000
    > user one
      turn starts | running | prompt: one | ask
    > model says First. using 850
      model: First. | turn ends completed | idle
    > user two
      turn starts | running | prompt: two | reset, job 1: Wanted
    > job asks the provider
      ask for a summary, try 1
";

#[test]
fn a_compaction_of_the_provider_is_rendered_by_the_next_job() {
    check(&format!(
        "{ASKED}
        > model compacts DATA
          reset, job 2: ByServer(\"DATA\")
        > job resets
          cache reset: compaction | ask
        > show request
          element m2.1
    "
    ));
}

#[test]
fn a_provider_that_refuses_is_not_asked_again_and_a_model_writes_the_summary() {
    check(&format!(
        "{ASKED}
        > model breaks permanent
          notice: The provider did not compact the conversation (permanent), so the model writes a summary | reset, job 2: WantedByModel
        > job asks
          ask for a summary, try 1
        > model says A summary.
          reset, job 3: Written(\"A summary.\")
        > job resets
          cache reset: compaction | ask
        > model says Second. using 860
          model: Second. | turn ends completed | idle
        > user three
          turn starts | running | prompt: three | reset, job 4: WantedByModel
    "
    ));
}

#[test]
fn an_answer_without_a_compaction_is_none_and_the_next_time_the_provider_is_asked_again() {
    check(&format!(
        "{ASKED}
        > model says What?
          notice: The provider did not compact the conversation (it answered without one), so the model writes a summary | reset, job 2: WantedByModel
        > job asks
          ask for a summary, try 1
        > model says A summary.
          reset, job 3: Written(\"A summary.\")
        > job resets
          cache reset: compaction | ask
        > model says Second. using 860
          model: Second. | turn ends completed | idle
        > user three
          turn starts | running | prompt: three | reset, job 4: Wanted
    "
    ));
}

#[test]
fn a_compaction_that_is_too_long_for_the_provider_is_left_to_the_model() {
    check(&format!(
        "{ASKED}
        > model breaks too-long
          notice: The provider did not compact the conversation (too-long), so the model writes a summary | reset, job 2: WantedByModel
        > job asks
          ask for a summary, try 1
        > model breaks too-long
          reset, job 3: WantedShort
    "
    ));
}

#[test]
fn a_busy_provider_is_asked_three_times() {
    check(&format!(
        "{ASKED}
        > model breaks transient
          waiting for retry | try again in 500 ms
        > retry
          running | ask for a summary, try 2
        > model breaks transient
          waiting for retry | try again in 1000 ms
        > retry
          running | ask for a summary, try 3
        > model breaks transient
          notice: The provider did not compact the conversation (transient), so the model writes a summary | reset, job 2: WantedByModel
    "
    ));
}

#[test]
fn an_account_that_cannot_pay_is_asked_no_second_time() {
    check(&format!(
        "{ASKED}
        > model breaks no-credit
          notice: The context was not compacted, and nothing changed: no-credit | ask
    "
    ));
}

#[test]
fn a_stop_drops_the_request_and_changes_nothing() {
    check(&format!(
        "{ASKED}
        > stop user
          drop the request | turn ends interrupted (user) | idle
        > show request
          m1.1 m1.2 m2.1
    "
    ));
}
