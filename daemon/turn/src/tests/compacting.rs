//! Earlier bytes of requests change: the context is compacted, or another model is asked.

use super::script::check;

/// A turn whose context is near the end of the window.
const NEAR: &str = "
    > session window=1000
    > user one
      turn starts | running | prompt: one | ask
    > model says First. using 850
      model: First. | turn ends completed | idle
";

/// A turn of a session whose window has room.
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
        > model says What was.
          reset, job 2: Written(\"What was.\")
        > job resets
          cache reset: compaction | ask
        > what is sent
          element m2.1
        > model says Second. using 300
          model: Second. | turn ends completed | idle
        > user three
          turn starts | running | prompt: three | ask
        > what is sent
          element m2.1 m2.2 m3.1
    "
    ));
}

#[test]
fn a_summary_that_fails_changes_nothing_and_the_second_time_a_list_is_made() {
    check(&format!(
        "{NEAR}
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job asks
          ask for a summary, try 1
        > model breaks permanent
          notice: The context was not compacted, and nothing changed: permanent | ask
        > what is sent
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
          cache reset: compaction | notice: The model could not write a summary, so older messages were replaced by a plain list | ask
        > what came of it
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
fn what_comes_to_nothing_is_not_tried_again_at_once() {
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
          turn ends context full: The context is full: messages that must stay unchanged take about 900 of 1000 tokens. | idle
    "
    ));
}

#[test]
fn a_refused_request_is_compacted_and_made_again_within_bounds() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model breaks too-long showing Wel
          what was shown does not count | reset, job 1: WantedShort
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
          turn ends context full: The context is full: messages that must stay unchanged take about 0 tokens. The provider said: too-long | idle
    ",
    );
}

#[test]
fn a_refused_request_ends_in_a_list_where_summaries_fail() {
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
        > what is sent
          m1.1 m1.2 m2.1 m3.1 m4.1
    "
    ));
}

#[test]
fn a_person_compacts_at_rest_and_prompts_wait() {
    check(&format!(
        "{ROOM}
        > compact the ports
          reset, job 1: Wanted
        > compact again
        > user two
        > job asks
          ask for a summary, try 1
        > model says What was.
          reset, job 2: Written(\"What was.\")
        > job resets
          cache reset: compaction | turn starts | running | prompt: two | ask
        > what came of it
          done: cache.reset
        > compact in a turn
        > uncompact
    "
    ));
}

#[test]
fn a_compaction_at_rest_is_stopped() {
    check(&format!(
        "{ROOM}
        > compact
          reset, job 1: Wanted
        > stop user
        > what came of it
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
fn a_shutdown_leaves_the_queue_to_the_next_life() {
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
fn a_compaction_is_taken_back_until_the_next_turn_ends() {
    check(&format!(
        "{NEAR}
        > compact
          reset, job 1: Wanted
        > job resets
          cache reset: compaction
        > what is sent
          element m1.2
        > uncompact
          cache reset: compaction undone
        > uncompact
        > what is sent
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
fn a_rewind_goes_back_over_a_compaction_and_again() {
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
        > what is sent
          m1.1 m1.2
        > uncompact
        > rewind undo
        > rewound
          back again at turn 2 | cache reset: rewind
        > what is sent
          element m2.2
        > uncompact
          cache reset: compaction undone
        > what is sent
          m1.1 m1.2 m2.1 m2.2
    "
    ));
}

#[test]
fn another_model_is_asked_with_the_next_request() {
    check(&format!(
        "{ROOM}
        > set model=p/n
        > user two
          turn starts | running | prompt: two | reset, job 1: Wanted
        > job switches
          cache reset: switch | ask
        > what is sent
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
        > what is sent
          element
        > model says Second.
          model: Second. | turn ends completed | idle
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > what is sent
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
fn the_originals_come_back_also_where_another_model_was_asked_since() {
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
        > what is sent
          element m2.4
        > uncompact
          cache reset: compaction undone
        > what is sent
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4
        > user three
          turn starts | running | prompt: three | reset, job 3: Wanted
        > job switches
          cache reset: switch | ask
    "
    ));
}

#[test]
fn what_stands_there_for_another_provider_is_rendered_before_it_is_compacted() {
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
        > what came of it
          no
        > compact
          reset, job 3: Wanted
        > job switches
          cache reset: switch | reset, job 4: Wanted
        > user three
        > job asks
          ask for a summary, try 1
        > model says What was.
          reset, job 5: Written(\"What was.\")
        > job resets
          cache reset: compaction | turn starts | running | prompt: three | ask
    "
    ));
}

#[test]
fn what_the_session_may_do_is_told_again_behind_a_compaction() {
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
fn a_summary_waits_for_the_end_of_a_pause() {
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
        > model says What was.
          reset, job 2: Written(\"What was.\")
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
fn a_hand_over_begins_no_summary() {
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
fn after_a_crash_nothing_has_changed_and_it_begins_anew() {
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
        > what is sent
          element m2.1
        > crash continue before cache.reset
          notice: The daemon was restarted | reset, job 1: Wanted
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) | idle
    "
    ));
}

#[test]
fn smaller_windows_forget_what_was_futile_in_the_larger() {
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
fn a_summary_waits_for_its_turn_as_any_request_does() {
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
        > model says What was.
          reset, job 2: Written(\"What was.\")
        "
    ));
}

#[test]
fn a_request_for_a_summary_that_is_too_long_is_shortened_and_then_done_without() {
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
