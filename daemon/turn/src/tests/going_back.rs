//! Rewinds to earlier turns, and undoing them.

use super::script::check;

/// Three turns; the second sets a todo list.
const THREE: &str = "
    > user one
      turn starts | running | prompt: one | ask
    > model says First.
      model: First. | turn ends completed | idle
    > user two
      turn starts | running | prompt: two | ask
    > model calls read a
      model calls a | judge a
    > policy a allow doing paint
      started a | to do: paint | finished a ok | result a ok | ask
    > model says Second.
      model: Second. | turn ends completed | idle
    > user three
      turn starts | running | prompt: three | ask
    > model says Third.
      model: Third. | turn ends completed | idle
    > show conversation
      m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
";

#[test]
fn rewind_hides_later_turns_and_turn_numbers_continue() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > show conversation
          m1.1 m1.2 | 1 answers, 1 said, to do:
        > user four
          turn starts | running | prompt: four | ask
        > model calls read a
          model calls a_2 | judge a_2
        > show conversation
          m1.1 m1.2 m4.1 m4.2 | 2 answers, 2 said, to do:
    "
    ));
}

#[test]
fn rewind_is_undone() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > rewind undo
        > rewound
          back again at turn 3 | cache reset: rewind
        > show conversation
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
        > rewind undo
          there is no such turn
    "
    ));
}

#[test]
fn rewinds_are_undone_one_by_one() {
    check(&format!(
        "{THREE}
        > rewind to 2
        > rewound
          back at turn 2 | cache reset: rewind
        > rewind to 0
        > rewound
          back at turn 0 | cache reset: rewind
        > show conversation
          no message | 0 answers, 0 said, to do:
        > rewind undo
        > rewound
          back again at turn 2 | cache reset: rewind
        > show conversation
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 | 3 answers, 2 said, to do: paint
        > rewind undo
        > rewound
          back again at turn 3 | cache reset: rewind
        > show conversation
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
    "
    ));
}

#[test]
fn undoing_a_rewind_hides_later_turns_for_good() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > user four
          turn starts | running | prompt: four | ask
        > model says Fourth.
          model: Fourth. | turn ends completed | idle
        > rewind undo
        > rewound
          back again at turn 3 | cache reset: rewind
        > show conversation
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
        > rewind to 4
          there is no such turn
        > rewind undo
          there is no such turn
        > user five
          turn starts | running | prompt: five | ask
    "
    ));
}

#[test]
fn rewind_to_a_hidden_or_unknown_turn_is_refused() {
    check(&format!(
        "{THREE}
        > rewind to 2
        > rewound
          back at turn 2 | cache reset: rewind
        > rewind to 3
          there is no such turn
        > rewind to 9
          there is no such turn
    "
    ));
}

#[test]
fn file_rewind_keeps_the_conversation_and_its_cache() {
    check(&format!(
        "{THREE}
        > rewind to 1 files
        > files kept
          files kept
        > rewound
          files put back
        > show conversation
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
        > rewind to 0 all
        > rewound
          back at turn 0 | cache reset: rewind
    "
    ));
}

#[test]
fn first_message_context_is_restored_after_a_rewind_to_the_start() {
    use proto::params::history::What;
    use proto::params::session::When;
    use proto::record::{PromptQueued, SessionRewound};
    use proto::{Body, Stamp};

    use super::made::{created, prompt_id};
    use crate::{Effect, Facts, Input, Limits, Machine, Now, StopReason};

    let now = Now {
        wall: Stamp(0),
        mono_ms: 0,
    };
    let mut machine = Machine::new(Facts::default(), Limits::default());
    machine.set_context("Working directory: /w".into());
    let mut log = Vec::new();
    let mut said = Vec::new();
    let mut keep = |effects: Vec<Effect>| {
        for effect in effects {
            if let Effect::Append(record) = effect {
                if let Body::User(message) = &record.body {
                    said.push(message.context.clone());
                }
                log.push(record);
            }
        }
        log.clone()
    };
    let prompt = |number| Input::Prompt {
        prompt: PromptQueued {
            untyped: Vec::new(),
            from: None,
            added: None,
            references: None,
            on_ask: None,
            prompt_id: prompt_id(number),
            text: "hello".into(),
            steer: false,
            by: "ann".into(),
            request_id: None,
        },
        when: When::Queue,
    };
    let stop = || Input::Stop {
        reason: StopReason::User,
        partial: None,
    };
    let created = created(proto::state::Kind::Interactive, 0, 0);
    keep(machine.record(Body::SessionCreated(created), now));
    for input in [prompt(1), stop(), prompt(2), stop()] {
        keep(machine.step(input, now));
    }
    let plan = machine
        .facts()
        .plan_rewind(0)
        .expect("there is a beginning");
    keep(machine.step(Input::Rewind, now));
    let log = keep(machine.step(
        Input::Rewound(SessionRewound {
            to_turn: 0,
            what: What::Conversation,
            undoes: None,
            shown: Some(plan.shown),
            todos: None,
            files: Vec::new(),
            by: "ann".into(),
            request_id: None,
        }),
        now,
    ));
    // In the same daemon process, and in a later one.
    let mut later = Machine::new(Facts::fold(&log), Limits::default());
    keep(machine.step(prompt(3), now));
    keep(later.step(prompt(3), now));
    let context = Some("Working directory: /w".to_owned());
    assert_eq!(said, [context.clone(), None, context.clone(), context]);
}

#[test]
fn prompts_wait_while_files_are_restored() {
    for (over, reported) in [
        ("rewound", "back at turn 1 | cache reset: rewind |"),
        ("not rewound", ""),
    ] {
        check(&format!(
            "{THREE}
            > rewind to 1 all
            > user four
            > steer five
            > {over}
              {reported} turn starts | running | prompt: four | ask
            > not rewound
        "
        ));
    }
}

#[test]
fn only_an_idle_session_rewinds() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > rewind to 0
        > rewound
        > model says First.
          model: First. | turn ends completed | idle
        > rewind to 0
        > rewound
          back at turn 0 | cache reset: rewind
    ",
    );
}

#[test]
fn stop_applies_after_the_rewind() {
    for (stop, ends) in [
        ("user", "| turn starts | running | prompt: four | ask"),
        ("shutdown", ""),
        ("term", "| exited 143"),
        ("kill", "| exited 137"),
    ] {
        check(&format!(
            "{THREE}
            > rewind to 1
            > user four
            > stop {stop}
            > rewound
              back at turn 1 | cache reset: rewind {ends}
        "
        ));
    }
    check(&format!(
        "{THREE}
        > rewind to 1
        > stop kill
        > stop term
        > close
        > rewound
          back at turn 1 | cache reset: rewind | exited 137
    "
    ));
}

#[test]
fn prompt_waiting_for_a_rewind_starts_in_the_next_daemon() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > user four
        > stop shutdown
        > rewound
          back at turn 1 | cache reset: rewind
        > crash idle
          turn starts | running | prompt: four | ask
    "
    ));
}

#[test]
fn paused_session_rewinds_and_stays_paused() {
    check(&format!(
        "{THREE}
        > pause
          paused
        > rewind to 1
        > user four
        > rewound
          back at turn 1 | cache reset: rewind
        > resume
          idle | turn starts | running | prompt: four | ask
    "
    ));
    check(&format!(
        "{THREE}
        > rewind to 1
        > pause
          paused
        > user four
        > resume
          idle
        > pause
          paused
        > resume
          idle
        > rewound
          back at turn 1 | cache reset: rewind | turn starts | running | prompt: four | ask
    "
    ));
}

#[test]
fn headless_run_that_rewinds_in_a_pause_exits_after_it() {
    check(
        "
        > session headless
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > pause
          paused
        > model says First.
          model: First. | turn ends completed
        > unqueue two
          taken back
        > rewind to 0
        > resume
          exited 0
        > rewound
          back at turn 0 | cache reset: rewind
    ",
    );
}

#[test]
fn exited_session_rewinds_and_stays_exited() {
    check(&format!(
        "{THREE}
        > close
          exited 0
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > rewind undo
        > user four
        > rewound
          back again at turn 3 | cache reset: rewind | reopened | turn starts | running | prompt: four | ask
    "
    ));
}

#[test]
fn hand_over_waits_for_a_rewind_and_starts_none() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > user four
        > suspend
        > suspend now
        > rewound
          back at turn 1 | cache reset: rewind | suspended
        > rewind to 0
        > rewound
        > crash idle
          turn starts | running | prompt: four | ask
    "
    ));
}

#[test]
fn crash_while_restoring_files_is_reported_once() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "{THREE}
            > rewind to 1 all
            > files kept
              files kept
            > crash {policy}
              notice: A rewind was interrupted while restoring files: some files may be restored, others not
            > crash {policy}
            > show conversation
              m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
        "
        ));
    }
    check(&format!(
        "{THREE}
        > rewind to 1 all
        > files kept
          files kept
        > not rewound
          notice: A rewind was interrupted while restoring files: some files may be restored, others not
        > crash continue
    "
    ));
}

#[test]
fn cache_reset_missing_after_a_rewind_is_added() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "{THREE}
            > rewind to 1 all
            > files kept
              files kept
            > rewound
              back at turn 1 | cache reset: rewind
            > crash {policy} before cache.reset
              cache reset: rewind
            > crash {policy}
            > show conversation
              m1.1 m1.2 | 1 answers, 1 said, to do:
        "
        ));
    }
}

#[test]
fn crash_before_the_rewind_record_keeps_the_conversation() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > crash continue before session.rewound
        > show conversation
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
    "
    ));
}

#[test]
fn reported_outcome_is_of_the_newest_shown_turn() {
    check(
        "
    > user one
      turn starts | running | prompt: one | ask
    > model says First.
      model: First. | turn ends completed | idle
    > user two
      turn starts | running | prompt: two | ask
    > model breaks permanent
      turn ends failed: permanent | idle
    > show conversation
      m1.1 m1.2 m2.1 | 1 answers, 2 said, to do: | cut off: Failed
    > rewind to 1
    > rewound
      back at turn 1 | cache reset: rewind
    > show conversation
      m1.1 m1.2 | 1 answers, 1 said, to do:
    > rewind undo
    > rewound
      back again at turn 2 | cache reset: rewind
    > show conversation
      m1.1 m1.2 m2.1 | 1 answers, 2 said, to do: | cut off: Failed
    ",
    );
}
