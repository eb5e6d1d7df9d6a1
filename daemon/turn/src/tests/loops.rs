//! The loop detector in a turn: the model is warned, then gets no more tools, and the turn ends.

use super::script::check;

/// A scenario in which the same call runs `rounds` times with the same result, then the lines of `then`.
fn same_call(rounds: usize, then: &str) -> String {
    let mut scene = String::from(
        "
        > user look
          turn starts | running | prompt: look | ask",
    );
    for round in 1..=rounds {
        let id = format!("c{round}");
        let warned = if round == 5 { " warned" } else { "" };
        let next = match round {
            10 => "daemon: stuck | ask without tools",
            _ => "ask",
        };
        scene += &format!(
            "
        > model calls {id}:read a
          model calls {id} | judge {id}
        > policy {id} allow
          started {id} | run {id}
        > ends {id} ok
          finished {id} ok | result {id} ok{warned} | {next}"
        );
    }
    scene + then + "\n"
}

const ENDED: &str = "notice: The turn was ended: the model kept repeating the same calls with the same results, even after a reminder | turn ends blocked (loop)";

#[test]
fn fifth_same_result_warns_and_the_turn_may_still_complete() {
    check(&same_call(
        6,
        "
        > model says That is all.
          model: That is all. | turn ends completed | idle",
    ));
}

#[test]
fn tenth_same_result_ends_the_turn_blocked_after_a_summary() {
    check(&same_call(
        10,
        &format!(
            "
        > model says I could not find it.
          model: I could not find it. | {ENDED} | idle
        > user again
          turn starts | running | prompt: again | ask
        > model calls e:read a
          model calls e | judge e
        > policy e allow
          started e | run e
        > ends e ok
          finished e ok | result e ok | ask"
        ),
    ));
}

/// The log has everything that the detector needs.
#[test]
fn loop_is_found_although_the_daemon_was_restarted_in_between() {
    check(&same_call(
        10,
        &format!(
            "
        > crash continue
          notice: The daemon was restarted | ask without tools
        > model calls e:read b
          model calls e | finished e refused |
          result e refused: Not run: no more tools can be called in this turn | {ENDED} | idle"
        ),
    ));
    // It died before it said so to the model.
    check(&same_call(
        10,
        "
        > crash continue after message.tool
          notice: The daemon was restarted | daemon: stuck | ask without tools",
    ));
    check(&same_call(
        4,
        "
        > crash continue
          notice: The daemon was restarted | ask
        > model calls e:read a
          model calls e | judge e
        > policy e allow
          started e | run e
        > ends e ok
          finished e ok | result e ok warned | ask",
    ));
}

#[test]
fn users_message_starts_a_new_row() {
    check(&same_call(
        4,
        "
        > steer look again
        > model calls e:read a
          model calls e | judge e
        > policy e allow
          started e | run e
        > ends e ok
          finished e ok | result e ok warned | steer: look again | ask
        > model calls f:read a
          model calls f | judge f
        > policy f allow
          started f | run f
        > ends f ok
          finished f ok | result f ok | ask",
    ));
}

#[test]
fn message_of_another_session_starts_no_new_row() {
    check(&same_call(
        9,
        "
        > agent it is done
        > model calls e:read a
          model calls e | judge e
        > policy e allow
          started e | run e
        > ends e ok
          finished e ok | result e ok | session: it is done | daemon: stuck | ask without tools",
    ));
}

/// A read-only call that the daemon's death cut off runs again, and counts once.
#[test]
fn call_run_again_after_a_crash_counts_once() {
    check(&same_call(
        3,
        "
        > model calls d:read a
          model calls d | judge d
        > policy d allow
          started d | run d
        > crash continue
          notice: The daemon was restarted | judge d
        > policy d allow
          started d | run d
        > ends d ok
          finished d ok | result d ok | ask",
    ));
}

/// Otherwise an unattended loop over such calls would cost money forever.
#[test]
fn calls_that_never_start_count_too() {
    let refused = "There is no such tool";
    let mut scene = String::from(
        "
        > user look
          turn starts | running | prompt: look | ask",
    );
    for round in 1..=10 {
        let warned = if round == 5 { " warned" } else { "" };
        let next = match round {
            10 => "daemon: stuck | ask without tools",
            _ => "ask",
        };
        scene += &format!(
            "
        > model calls c{round}:reed a
          model calls c{round} | judge c{round}
        > policy c{round} refuse
          finished c{round} refused | result c{round} refused{warned}: {refused} | {next}"
        );
    }
    check(&(scene + "\n"));
}
