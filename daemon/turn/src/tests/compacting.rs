//! Requests whose earlier bytes change: compactions, and changes of the model.

use super::script::check;

/// A turn whose context is nearly full.
const NEAR: &str = "
    > session window=1000
    > user one
      turn starts | running | prompt: one | ask
    > model says First. using 850
      model: First. | turn ends completed | idle
";

/// A turn of a session with room in its window.
const ROOM: &str = "
    > session window=1000
    > user one
      turn starts | running | prompt: one | ask
    > model says First. using 100
      model: First. | turn ends completed | idle
";

#[test]
fn a_full_context_is_compacted_before_the_next_request() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > model says A summary.
          reset, job 2: Written(\"A summary.\")
        > job resets
          cache reset: compaction | ask
        > show request
          element m2.1
        > model says Second. using 300
          model: Second. | turn ends completed | idle
        > user three
          turn starts | running | prompt: three | ask
        > show request
          element m2.1 m2.2 m3.1
    "
    ));
}

#[test]
fn failed_summary_changes_nothing_and_a_second_failure_uses_a_list() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks permanent
          notice: The context was not compacted, and nothing changed: permanent | ask
        > show request
          m1.1 m1.2 m2.1
        > model calls read a using 860
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | ask
        > model calls read b using 880
          model calls b | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | reset, job 2: Wanted
        > job asks
          ask for a summary, try 1
        > model thinks hard
          notice: The context was not compacted, and nothing changed: The model did not write a summary | ask
        > model calls read c using 950
          model calls c | judge c
        > policy c allow
          started c | run c
        > ends c ok
          finished c ok | result c ok | reset, job 3: Mechanical
        > job resets
          cache reset: compaction | notice: Older messages were replaced by a plain list, without a summary by the model | ask
        > show compaction
          done: cache.reset
    "
    ));
}

#[test]
fn a_summary_is_tried_three_times() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks transient
          waiting for retry | try again in 500 ms
        > retry
          running | ask for a summary, try 2
        > retry
        > model breaks transient after 7s
          waiting for retry | try again in 7000 ms
        > retry
          running | ask for a summary, try 3
        > model breaks transient
          notice: The context was not compacted, and nothing changed: transient | ask
    "
    ));
}

#[test]
fn futile_compaction_is_not_repeated_at_once() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job nothing
          ask
        > model says Second. using 860
          model: Second. | turn ends completed | idle
        > user three
          turn starts | running | prompt: three | ask
        > model says Third. using 900
          model: Third. | turn ends completed | idle
        > user four
          turn starts | running | prompt: four | reset, job 2: Wanted
        > job full
          turn ends context full: The context is full: what must stay unchanged takes about 900 of 1000 tokens. | idle
    "
    ));
}

#[test]
fn too_long_request_is_compacted_and_sent_again_a_few_times() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks too-long showing Wel
          discard the shown part | reset, job 1: WantedShort
        > job resets
          cache reset: compaction | ask
        > model breaks too-long
          reset, job 2: WantedShort
        > job resets
          cache reset: compaction | ask
        > model breaks too-long
          turn ends context full: too-long | idle
        > user two
          turn starts | running | prompt: two | ask
        > model breaks too-long
          reset, job 3: WantedShort
        > job nothing
          turn ends context full: The context is full: what must stay unchanged takes about 0 tokens. The provider said: too-long | idle
    ",
    );
}

#[test]
fn too_long_request_uses_a_list_if_summaries_fail() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks too-long
          reset, job 1: WantedShort
        > job asks
          ask for a summary, try 1
        > model breaks too-long
          reset, job 2: Mechanical
        > job asks
          ask for a summary, try 1
        > model breaks permanent
          notice: The context was not compacted, and nothing changed: permanent | reset, job 3: WantedShort
        > job resets
          cache reset: compaction | ask
    ",
    );
}

#[test]
fn a_stop_in_any_step_ends_the_turn_and_changes_nothing() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > stop user
          turn ends interrupted (user) | idle
        > job resets
        > user three
          turn starts | running | prompt: three | reset, job 2: Wanted
        > job asks
          ask for a summary, try 1
        > stop user
          drop the request | turn ends interrupted (user) | idle
        > user four
          turn starts | running | prompt: four | reset, job 3: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks transient
          waiting for retry | try again in 500 ms
        > stop term
          turn ends interrupted (term) | exited 143
        > retry
        > show request
          m1.1 m1.2 m2.1 m3.1 m4.1
    "
    ));
}

#[test]
fn manual_compaction_runs_while_idle_and_prompts_wait() {
    check(&format!(
        "{ROOM}
        > compact the ports
          reset, job 1: Wanted
        > compact again
        > user two
        > job asks
          ask for a summary, try 1
        > model says A summary.
          reset, job 2: Written(\"A summary.\")
        > job resets
          cache reset: compaction | turn starts | running | prompt: two | ask
        > show compaction
          done: cache.reset
        > compact in a turn
        > uncompact
    "
    ));
}

#[test]
fn manual_compaction_can_be_stopped() {
    check(&format!(
        "{ROOM}
        > compact
          reset, job 1: Wanted
        > stop user
        > show compaction
          The compaction was interrupted; nothing changed.
        > compact
          reset, job 2: Wanted
        > job asks
          ask for a summary, try 1
        > user two
        > stop user
          drop the request | turn starts | running | prompt: two | ask
        > model says Second. using 200
          model: Second. | turn ends completed | idle
        > compact
          reset, job 3: Wanted
        > user three
        > stop term
          exited 143
        > user four
          reopened | turn starts | running | prompt: three | ask
    "
    ));
}

#[test]
fn shutdown_leaves_the_queue_to_the_next_daemon() {
    check(&format!(
        "{ROOM}
        > compact
          reset, job 1: Wanted
        > user two
        > stop shutdown
        > job resets
        > crash idle
          turn starts | running | prompt: two | ask
    "
    ));
}

#[test]
fn compaction_can_be_undone_until_the_next_turn_ends() {
    check(&format!(
        "{NEAR}
        > compact
          reset, job 1: Wanted
        > job resets
          cache reset: compaction
        > show request
          element m1.2
        > uncompact
          cache reset: compaction undone
        > uncompact
        > show request
          m1.1 m1.2
        > user two
          turn starts | running | prompt: two | ask
        > model says Second. using 950
          model: Second. | turn ends completed | idle
        > compact
          reset, job 2: Wanted
        > job resets
          cache reset: compaction
        > user three
          turn starts | running | prompt: three | ask
        > model says Third. using 100
          model: Third. | turn ends completed | idle
        > uncompact
    "
    ));
}

#[test]
fn rewind_past_a_compaction_and_its_undo_work() {
    check(&format!(
        "{ROOM}
        > user two
          turn starts | running | prompt: two | ask
        > model says Second. using 200
          model: Second. | turn ends completed | idle
        > compact
          reset, job 1: Wanted
        > job resets
          cache reset: compaction
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > show request
          m1.1 m1.2
        > uncompact
        > rewind undo
        > rewound
          back again at turn 2 | cache reset: rewind
        > show request
          element m2.2
        > uncompact
          cache reset: compaction undone
        > show request
          m1.1 m1.2 m2.1 m2.2
    "
    ));
}

#[test]
fn new_model_is_used_for_the_next_request() {
    check(&format!(
        "{ROOM}
        > set model=p/n
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job switches
          cache reset: switch | ask
        > show request
          m1.1 m1.2 m2.1
        > set model=q/m
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | reset, job 2: Wanted
        > job switches
          cache reset: switch | ask
        > show request
          element
        > model says Second.
          model: Second. | turn ends completed | idle
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > show request
          m1.1 m1.2
        > user three
          turn starts | running | prompt: three | reset, job 3: Wanted
        > job fails
          turn ends failed: no | idle
        > user four
          turn starts | running | prompt: four | reset, job 4: Wanted
    "
    ));
}

#[test]
fn undone_compaction_restores_messages_even_after_a_model_change() {
    check(&format!(
        "{ROOM}
        > compact
          reset, job 1: Wanted
        > job resets
          cache reset: compaction
        > set model=q/m
        > user two
          turn starts | running | prompt: two | reset, job 2: Wanted
        > job switches
          cache reset: switch | ask
        > stop user
          drop the request | turn ends interrupted (user) | idle
        > uncompact
    "
    ));
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job resets
          cache reset: compaction | ask
        > set model=q/m
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | reset, job 2: Wanted
        > job switches
          cache reset: switch | ask
        > model says Second. using 300
          model: Second. | turn ends completed | idle
        > show request
          element m2.4
        > uncompact
          cache reset: compaction undone
        > show request
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4
        > user three
          turn starts | running | prompt: three | reset, job 3: Wanted
        > job switches
          cache reset: switch | ask
    "
    ));
}

#[test]
fn messages_of_another_provider_are_rendered_before_compaction() {
    check(&format!(
        "{ROOM}
        > set model=q/m
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job switches
          cache reset: switch | ask
        > model says Second. using 200
          model: Second. | turn ends completed | idle
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > compact
          reset, job 2: Wanted
        > job fails
        > show compaction
          no
        > compact
          reset, job 3: Wanted
        > job switches
          cache reset: switch | reset, job 4: Wanted
        > user three
        > job asks
          ask for a summary, try 1
        > model says A summary.
          reset, job 5: Written(\"A summary.\")
        > job resets
          cache reset: compaction | turn starts | running | prompt: three | ask
    "
    ));
}

#[test]
fn permissions_are_reported_again_after_a_compaction() {
    check(
        "
        > session mode=plan window=1000
        > user one
          turn starts | running | prompt: one | daemon: Plan mode is on | ask
        > model says First. using 850
          model: First. | turn ends completed | idle
        > set mode=normal
        > compact
          reset, job 1: Wanted
        > job resets
          cache reset: compaction
        > user two
          turn starts | running | prompt: two | daemon: Changes are possible again | ask
    ",
    );
}

#[test]
fn summary_request_waits_for_the_end_of_a_pause() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > pause
          paused
        > job asks
        > resume
          running | ask for a summary, try 1
        > model breaks transient
          waiting for retry | try again in 500 ms
        > pause
          paused
        > retry
        > resume
          running | ask for a summary, try 2
        > pause
          paused
        > model says A summary.
          reset, job 2: Written(\"A summary.\")
        > job resets
          cache reset: compaction
        > resume
          running | ask
        > pause
          paused
        > model breaks too-long
        > resume
          running | ask
        > model breaks too-long
          reset, job 3: WantedShort
    "
    ));
}

#[test]
fn a_run_whose_turn_ended_in_a_pause_exits_also_while_it_is_compacted() {
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > user two
        > model says First.
          model: First. | turn ends completed
        > unqueue two
          taken back
        > compact
          reset, job 1: Wanted
        > resume
          exited 0
        > job resets
          cache reset: compaction
    ",
    );
}

#[test]
fn hand_over_starts_no_summary() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > suspend
        > job asks
          suspended
        > crash idle
          notice: The daemon was restarted | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks transient
          waiting for retry | try again in 500 ms
        > suspend
          suspended
        > crash idle
          notice: The daemon was restarted | running | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > suspend now
          drop the request | suspended
        > crash idle
          notice: The daemon was restarted | reset, job 1: Wanted
    "
    ));
    check(&format!(
        "{ROOM}
        > compact
          reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > user two
        > suspend now
          drop the request | suspended
        > crash idle
          turn starts | running | prompt: two | ask
    "
    ));
}

#[test]
fn compaction_starts_again_after_a_crash() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > crash continue showing What of d1
          notice: The daemon was restarted | reset, job 1: Wanted
        > job resets
          cache reset: compaction | ask
        > crash continue
          notice: The daemon was restarted | ask
        > show request
          element m2.1
        > crash continue before cache.reset
          notice: The daemon was restarted | reset, job 1: Wanted
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) | idle
    "
    ));
}

#[test]
fn window_change_resets_the_futile_limit() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job nothing
          ask
        > set model=p/n
        > model says Second. using 850
          model: Second. | turn ends completed | idle
        > user three
          turn starts | running | prompt: three | reset, job 2: Wanted
        > job switches to less
          cache reset: switch | reset, job 3: Wanted
    "
    ));
}

#[test]
fn summary_request_waits_for_its_turn_at_the_provider() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > gated
          waiting for retry
        > pause
          paused | drop the request
        > resume
          running | ask for a summary, try 1
        > gated
          waiting for retry
        > sent
          running
        > model says A summary.
          reset, job 2: Written(\"A summary.\")
        "
    ));
}

#[test]
fn too_long_summary_request_is_shortened_then_replaced_by_a_list() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks too-long
          reset, job 2: WantedShort
        > job asks
          ask for a summary, try 1
        > model breaks too-long
          reset, job 3: Mechanical
        "
    ));
}

#[test]
fn a_full_context_advises_only_what_helps() {
    use crate::compaction::FullContext;
    let full = |is_prefix, has_pins, folds_manually, kept| {
        let full = FullContext {
            kept,
            is_prefix,
            has_pins,
            folds_manually,
        };
        crate::words::full_context(&full, 8_000)
    };
    assert_eq!(
        full(false, false, false, 7_000),
        "What helps: rewind the session; continue in a new session."
    );
    assert_eq!(
        full(false, true, true, 7_000),
        "What helps: run `/compact`; unpin messages; rewind the session; continue in a new session."
    );
    assert!(full(true, true, true, 7_000).contains("use a model with a larger context window"));
    assert!(
        full(false, false, false, 1_000)
            .starts_with("What helps: set `context_window` of the provider")
    );
}

#[test]
fn the_window_that_a_refusal_names_counts_from_then_on() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks too-long of 1000
          set: window 1000, by a refusal | reset, job 1: WantedShort
        > job resets
          cache reset: compaction | ask
        > model says First. using 850
          model: First. | turn ends completed | idle
        > user two
          turn starts | running | prompt: two | reset, job 2: Wanted
    ",
    );
}

#[test]
fn a_window_that_is_known_later_counts_and_a_refusal_teaches_a_smaller_one() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > window 1000
          set: window 1000
        > window 1000
        > model says First. using 850
          model: First. | turn ends completed | idle
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job nothing
          ask
        > model breaks too-long of 700
          set: window 700, by a refusal | reset, job 2: WantedShort
        > window 1000
        > window 2000
          set: window 2000
    ",
    );
}

#[test]
fn a_long_conversation_that_gets_empty_answers_is_compacted() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks empty
          waiting for retry | try again in 500 ms
        > retry
          running | ask, try 2
        > model breaks empty
          waiting for retry | try again in 1000 ms
        > retry
          running | ask, try 3
        > model says First. using 5000
          model: First. | turn ends completed | idle
        > user two
          turn starts | running | prompt: two | ask
        > model breaks empty
          waiting for retry | try again in 500 ms
        > retry
          running | ask, try 2
        > model breaks empty
          reset, job 1: WantedShort
        > job resets
          cache reset: compaction | ask
        > model says Second.
          model: Second. | turn ends completed | idle
    ",
    );
}
