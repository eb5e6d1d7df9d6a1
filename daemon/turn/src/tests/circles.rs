//! The loop detector: repeated calls are refused, the model is notified, and finally gets no more tools.

use super::script::check;

/// A scenario in which `read a` has run twice, and the model is asked again.
fn twice(then: &str) -> String {
    format!(
        "
        > session repair
        > user look
          turn starts | running | prompt: look | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | ask
        > model calls b:read a
          model calls b | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | ask
        {then}
    "
    )
}

const HELD_BACK: &str = "refused: Not run: this same call was made before";

#[test]
fn the_third_of_the_same_is_not_run_and_the_rest_of_its_answer_is() {
    check(&twice(&format!(
        "
        > model calls c:read a, read d
          model calls c d | judge c
        > policy c allow
          held back c | finished c refused | result c {HELD_BACK} | judge d
        > policy d allow
          started d | run d
        > ends d ok
          finished d ok | result d ok | ask
        > model calls e:read a
          model calls e | judge e
        > policy e allow
          held back e | finished e refused | result e {HELD_BACK} | ask
        > model says That is all.
          model: That is all. | turn ends completed | idle
    "
    )));
}

#[test]
fn model_that_keeps_looping_sums_up_and_the_turn_ends_blocked() {
    let first = format!(
        "
        > model calls c:read a
          model calls c | judge c
        > policy c allow
          held back c | finished c refused | result c {HELD_BACK} | ask
        > model calls d:read a
          model calls d | judge d
        > policy d allow
          held back d | finished d refused | result d {HELD_BACK} | daemon: stuck | ask without tools
    "
    );
    check(&twice(&format!(
        "{first}
        > model says I could not find it.
          model: I could not find it. | notice: The turn was ended: the model kept repeating the same calls with the same results, even after a reminder | turn ends blocked | idle
        > user again
          turn starts | running | prompt: again | ask
        > model calls e:read a
          model calls e | judge e
        > policy e allow
          started e | run e
    "
    )));
    // The same if the daemon dies in between: the log has all of it.
    check(&twice(&format!(
        "{first}
        > crash continue
          notice: The daemon was restarted | ask without tools
        > model calls e:read b
          model calls e | finished e refused |
          result e refused: Not run: no more tools can be called in this turn | notice: The turn was ended: the model kept repeating the same calls with the same results, even after a reminder | turn ends blocked |
          idle
    "
    )));
}

#[test]
fn what_is_changed_in_between_makes_the_same_call_a_new_one() {
    check(&twice(
        "
        > model calls write c
          model calls c | judge c
        > policy c allow
          started c | run c once that is on disk
        > ends c ok
          finished c ok | result c ok | ask
        > model calls d:read a
          model calls d | judge d
        > policy d allow
          started d | run d
    ",
    ));
}

#[test]
fn user_message_in_between_resets_the_loop_detector() {
    check(&twice(
        "
        > steer look again
        > model calls read c
          model calls c | judge c
        > policy c allow
          started c | run c
        > ends c ok
          finished c ok | result c ok | steer: look again | ask
        > model calls d:read a
          model calls d | judge d
        > policy d allow
          started d | run d
    ",
    ));
}

/// A read-only call that the daemon's death cut off runs again, which does not count as a third time.
#[test]
fn call_run_again_after_a_crash_counts_once() {
    check(
        "
        > session repair
        > user look
          turn starts | running | prompt: look | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | ask
        > model calls b:read a
          model calls b | judge b
        > policy b allow
          started b | run b
        > crash continue
          notice: The daemon was restarted | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | ask
    ",
    );
}

/// The check comes before any approval request, so that users are not asked about a loop.
#[test]
fn looping_call_asks_for_no_approval() {
    check(&twice(&format!(
        "
        > model calls c:read a
          model calls c | judge c
        > policy c ask
          held back c | finished c refused | result c {HELD_BACK} | ask
    "
    )));
}

/// Calls that never start count too. Otherwise an unattended loop over them would cost money forever.
#[test]
fn refused_calls_count_as_loops_too() {
    let refused = "There is no such tool";
    check(&format!(
        "
        > session repair
        > user look
          turn starts | running | prompt: look | ask
        > model calls reed a
          model calls a | judge a
        > policy a refuse
          finished a refused | result a refused: {refused} | ask
        > model calls b:reed a
          model calls b | judge b
        > policy b refuse
          finished b refused | result b refused: {refused} | ask
        > model calls c:reed a
          model calls c | judge c
        > policy c refuse
          held back c | finished c refused | result c {HELD_BACK} | ask
    "
    ));
}

#[test]
fn external_changes_and_background_commands_reset_the_loop_detector() {
    check(&twice(
        "
        > changed
          reset the loop detector
        > model calls c:read a
          model calls c | judge c
        > policy c allow
          started c | run c
    ",
    ));
    check(&twice(
        "
        > child 9 runs
          child 9 runs
        > model calls c:read a
          model calls c | judge c
        > policy c allow
          started c | run c
        > ends c ok
          finished c ok | result c ok | ask
    ",
    ));
}

#[test]
fn without_call_repair_no_looping_call_is_refused() {
    let scene = twice(
        "
        > model calls c:read a
          model calls c | judge c
        > policy c allow
          started c | run c
    ",
    );
    check(&scene.replace("session repair", "session"));
}
