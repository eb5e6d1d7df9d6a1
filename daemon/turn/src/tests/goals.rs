//! Goals: turns that continue by themselves, claims of completion, ends.

use super::script::check;

#[test]
fn goal_continues_turn_after_turn_until_the_model_completes_it() {
    check(
        "
        > goal make it work
          goal: make it work | goal turn 1: started | turn starts | running | prompt: make it work | ask
        > model says I have begun.
          model: I have begun. | turn ends completed | idle |
          goal turn 2: no_report | turn starts | running | daemon: continue | ask
        > model calls read a
          model calls a | judge a
        > policy a reports continue half of it
          started a | reported continue | finished a ok | result a ok | ask
        > model says More.
          model: More. | turn ends completed | idle |
          goal turn 3: reported | turn starts | running | daemon: continue | ask
        > model calls b:read b
          model calls b | judge b
        > policy b reports complete all of it
          started b | reported complete | finished b ok | result b ok | ask
        > model says Done.
          model: Done. | turn ends completed | goal complete: all of it | idle
    ",
    );
}

#[test]
fn claim_without_evidence_or_with_open_items_goes_back_to_the_model() {
    check(
        "
        > session headless
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model calls read a
          model calls a | judge a
        > policy a allow doing one
          started a | to do: one | finished a ok | result a ok | ask
        > model calls b:read b
          model calls b | judge b
        > policy b reports complete-unproven done
          started b | reported complete, 2 missing | finished b refused | result b refused: Not complete yet | ask
        > model says Then not.
          model: Then not. | turn ends completed | idle |
          goal turn 2: refused | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn check_commands_run_as_an_ordinary_call_and_decide() {
    check(
        "
        > session headless
        > goal it works check make test
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model calls read a
          model calls a | judge a
        > policy a reports complete done
          reported complete, checking | judge a as `make test`
        > policy a ask as write a
          question 7.1 about a | waiting for approval
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a as `make test`
        > policy a allow as write a
          started a | run a as `make test`
        > ends a failed
          finished a failed | result a failed: Not complete yet: the check commands did not succeed | ask
        > model calls b:read b
          model calls b | judge b
        > policy b reports complete done
          reported complete, checking | judge b as `make test`
        > policy b allow as write b
          started b | run b as `make test`
        > ends b ok
          finished b ok | result b ok | ask
        > model says Done.
          model: Done. | turn ends completed | goal complete: done | exited 0
    ",
    );
}

#[test]
fn prompts_of_people_go_before_the_next_turn_of_a_goal() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > user look here
        > model says Begun.
          model: Begun. | turn ends completed | idle | turn starts | running | prompt: look here | ask
        > model says Seen.
          model: Seen. | turn ends completed | idle |
          goal turn 3: no_report | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn turn_that_began_before_the_goal_is_none_of_its_turns() {
    check(
        "
        > user look here
          turn starts | running | prompt: look here | ask
        > goal it works
          goal: it works
        > model calls read a
          model calls a | judge a
        > policy a reports complete all of it
          finished a refused | result a refused: The goal of this session was given while this turn ran, and starts with the next one: there is nothing to report yet | ask
        > model breaks permanent
          turn ends failed: permanent | idle | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model says Begun.
          model: Begun. | turn ends completed | idle |
          goal turn 2: no_report | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn todo_change_after_an_accepted_claim_revokes_it() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model calls read a
          model calls a | judge a
        > policy a reports complete done
          started a | reported complete | finished a ok | result a ok | ask
        > model calls b:read b
          model calls b | judge b
        > policy b allow doing one
          started b | to do: one | finished b ok | result b ok | ask
        > model says Done.
          model: Done. | turn ends completed | idle |
          goal turn 2: refused | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn change_after_passed_check_commands_takes_the_claim_back_and_a_read_does_not() {
    let accepted = "
        > goal it works check make test
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model calls read a
          model calls a | judge a
        > policy a reports complete done
          reported complete, checking | judge a as `make test`
        > policy a allow as write a
          started a | run a as `make test`
        > ends a ok
          finished a ok | result a ok | ask";
    check(&format!(
        "{accepted}
        > model calls b:bash b
          model calls b | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | ask
        > model says Done.
          model: Done. | turn ends completed | idle |
          goal turn 2: refused | turn starts | running | daemon: continue | ask
    "
    ));
    check(&format!(
        "{accepted}
        > model calls b:read b
          model calls b | judge b
        > policy b allow
          started b | run b
        > ends b ok
          finished b ok | result b ok | ask
        > model says Done.
          model: Done. | turn ends completed | goal complete: done | idle
    "
    ));
}

#[test]
fn last_turn_that_the_end_of_the_daemon_cut_off_is_the_last() {
    check(
        "
        > goal it works turns 1
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > stop shutdown
          drop the request | turn ends interrupted (shutdown) |
          notice: A limit has ended the goal | goal out_of_turns: its 1 turn is used up | idle
        > crash continue
    ",
    );
}

#[test]
fn user_stops_a_goal_and_its_turn() {
    check(
        "
        > session headless
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > ungoal
          goal stopped: stopped | drop the request | turn ends interrupted (user) | exited 130
        > ungoal
    ",
    );
}

#[test]
fn interrupt_ends_a_goal_and_a_pause_only_holds_it() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > pause
          paused
        > model says Begun.
          model: Begun. | turn ends completed
        > resume
          idle | goal turn 2: no_report | turn starts | running | daemon: continue | ask
        > stop user
          drop the request | turn ends interrupted (user) | goal stopped: a turn was interrupted | idle
    ",
    );
}

#[test]
fn goal_goes_on_after_a_crash_and_runs_nothing_twice() {
    check(
        "
        > goal it works check make test
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > crash continue
          finished a unknown | result a unknown: The daemon stopped while this call ran | notice: The daemon was restarted | ask
    ",
    );
}

#[test]
fn crash_between_two_turns_of_a_goal_loses_and_repeats_no_turn() {
    let begun = "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model says Begun.
          model: Begun. | turn ends completed | idle |
          goal turn 2: no_report | turn starts | running | daemon: continue | ask
        ";
    for (crash, wanted) in [
        (
            "continue after turn.ended",
            "idle | goal turn 2: no_report | turn starts | running | daemon: continue | ask",
        ),
        (
            "continue after goal.continued",
            "turn starts | running | daemon: continue | ask",
        ),
        (
            "continue after turn.started",
            "notice: The daemon was restarted | running | daemon: continue | ask",
        ),
        ("continue", "notice: The daemon was restarted | ask"),
        // The session waits for its user, and so does the goal.
        ("idle after turn.ended", "idle"),
    ] {
        check(&format!("{begun}\n> crash {crash}\n{wanted}"));
    }
}

#[test]
fn goal_that_waits_after_a_crash_goes_on_behind_the_users_prompt() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > crash idle
          notice: The daemon stopped during this turn, so the turn was ended |
          turn ends interrupted (shutdown) | idle
        > user go on
          turn starts | running | prompt: go on | ask
        > model says Yes.
          model: Yes. | turn ends completed | idle |
          goal turn 3: no_report | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn change_of_the_mode_ends_a_goal_and_leaves_its_turn() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > set mode=plan
          goal stopped: the mode was changed
        > model says Begun.
          model: Begun. | turn ends completed | idle
    ",
    );
}

#[test]
fn headless_session_exits_with_the_outcome_of_its_goal() {
    check(
        "
        > session headless
        > goal it works turns 1
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model says Begun.
          model: Begun. | turn ends completed | notice: A limit has ended the goal | goal out_of_turns: its 1 turn is used up | exited 2
        > goal it works
          goal: it works | reopened | goal turn 1: started | turn starts | running | prompt: it works | ask
        > stop term
          drop the request | turn ends interrupted (term) | goal stopped: a turn was interrupted | exited 143
    ",
    );
}

#[test]
fn hand_over_suspends_a_goal_and_the_next_daemon_continues_it() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > suspend
        > model says Begun.
          model: Begun. | turn ends completed | idle | suspended
        > crash idle
          goal turn 2: no_report | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn limit_of_a_running_goal_decides_after_the_turn_in_which_it_was_changed() {
    for (limit, then) in [
        (
            "1",
            "notice: A limit has ended the goal | goal out_of_turns: its 1 turn is used up | idle",
        ),
        (
            "2",
            "idle | goal turn 2: no_report | turn starts | running | daemon: continue | ask",
        ),
        (
            "0",
            "idle | goal turn 2: no_report | turn starts | running | daemon: continue | ask",
        ),
    ] {
        check(&format!(
            "
            > goal it works turns 1
              goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
            > regoal turns {limit}
              goal changed
            > model says Begun.
              model: Begun. | turn ends completed | {then}
            "
        ));
    }
}

#[test]
fn goal_out_of_turns_goes_on_when_its_limit_is_raised() {
    check(
        "
        > session headless
        > goal it works turns 1
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model says Begun.
          model: Begun. | turn ends completed | notice: A limit has ended the goal | goal out_of_turns: its 1 turn is used up | exited 2
        > regoal turns 2
          goal resumed: 2 turns | reopened | goal turn 2: limit_raised | turn starts | running | daemon: continue | ask
        > model says More.
          model: More. | turn ends completed | notice: A limit has ended the goal | goal out_of_turns: its 2 turns are used up | exited 2
    ",
    );
}

#[test]
fn goal_out_of_budget_goes_on_when_the_budget_is_raised() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model breaks unpaid
          turn ends budget exceeded: unpaid | notice: A budget has ended the goal that is not its own to change |
          goal out_of_budget: a budget is used up | idle
        > regoal tokens 100000
          goal resumed: 50 turns | goal turn 2: limit_raised | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn paused_goal_that_is_left_no_turn_ends_at_once() {
    check(
        "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > pause
          paused
        > model says Begun.
          model: Begun. | turn ends completed
        > regoal turns 1
          goal changed | notice: A limit has ended the goal | goal out_of_turns: its 1 turn is used up
        > resume
          idle
    ",
    );
}

#[test]
fn crash_after_a_raised_limit_loses_no_turn() {
    check(
        "
        > goal it works turns 1
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > model says Begun.
          model: Begun. | turn ends completed | notice: A limit has ended the goal | goal out_of_turns: its 1 turn is used up | idle
        > regoal turns 2
          goal resumed: 2 turns | goal turn 2: limit_raised | turn starts | running | daemon: continue | ask
        > crash continue after goal.changed
          goal turn 2: limit_raised | turn starts | running | daemon: continue | ask
    ",
    );
}

#[test]
fn only_a_goal_that_ended_at_a_limit_with_the_newest_turn_can_be_resumed() {
    check("> regoal turns 3\n refused: NoGoal");
    let begun = "
        > goal it works turns 1
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        ";
    let out = format!(
        "{begun}> model says Begun.
          model: Begun. | turn ends completed | notice: A limit has ended the goal | goal out_of_turns: its 1 turn is used up | idle
        "
    );
    for limit in ["turns 1", "tokens 9"] {
        check(&format!(
            "{out}> regoal {limit}\n refused: OutOfTurns {{ turns: 1 }}"
        ));
    }
    check(&format!(
        "{begun}> ungoal
          goal stopped: stopped | drop the request | turn ends interrupted (user) | idle
        > regoal turns 3
          refused: Ended
        "
    ));
    check(&format!(
        "{out}> user go on
          turn starts | running | prompt: go on | ask
        > model says Yes.
          model: Yes. | turn ends completed | idle
        > regoal turns 3
          refused: Superseded
        "
    ));
}

#[test]
fn headless_session_exits_with_the_outcome_of_its_goal_also_after_prompts_behind_it() {
    check(
        "
        > session headless
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > user look here
        > model calls read a
          model calls a | judge a
        > policy a reports complete all of it
          started a | reported complete | finished a ok | result a ok | ask
        > model says Done.
          model: Done. | turn ends completed | goal complete: all of it | idle |
          turn starts | running | prompt: look here | ask
        > model breaks permanent
          turn ends failed: permanent | exited 0
        > user once more
          reopened | turn starts | running | prompt: once more | ask
        > model breaks permanent
          turn ends failed: permanent | exited 1
    ",
    );
    check(
        "
        > session headless
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        > user look here
        > model breaks permanent
          turn ends failed: permanent | goal failed: permanent | idle |
          turn starts | running | prompt: look here | ask
        > model says Seen.
          model: Seen. | turn ends completed | exited 1
    ",
    );
}

#[test]
fn goal_waits_until_the_time_that_a_busy_provider_names() {
    let begun = "
        > goal it works
          goal: it works | goal turn 1: started | turn starts | running | prompt: it works | ask
        ";
    check(&format!(
        "{begun}> model breaks busy after 7200s
          waiting for retry | try again in 7200000 ms
        > wait 7200000
        > retry
          running | ask
        > model breaks busy after 7s
          waiting for retry | try again in 7000 ms
        > retry
          running | ask, try 2
        "
    ));
    // Another session of the same key was refused: this one waits in the provider's queue.
    check(&format!(
        "{begun}> gated
          waiting for retry
        > wait 600000
        > model breaks permanent after 540s
          waiting for retry | try again in 540000 ms
        > wait 540000
        > retry
          running | ask
        "
    ));
    check(&format!(
        "{begun}> model breaks transient after 7200s
          turn ends failed: transient | goal failed: transient | idle
        "
    ));
}

#[test]
fn turn_that_began_before_a_goal_goes_on_when_that_is_stopped() {
    check(
        "
        > session headless
        > user look at it
          turn starts | running | prompt: look at it | ask
        > goal it works
          goal: it works
        > ungoal
          goal stopped: stopped
        > model says Seen.
          model: Seen. | turn ends completed | exited 0
    ",
    );
}
