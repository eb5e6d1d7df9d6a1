//! A session goes back to an earlier turn, and takes that back.

use super::script::check;

/// Three turns; the second notes what is to be done.
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
    > what is shown
      m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
";

#[test]
fn what_followed_a_turn_is_hidden_and_numbers_go_on() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > what is shown
          m1.1 m1.2 | 1 answers, 1 said, to do:
        > user four
          turn starts | running | prompt: four | ask
        > model calls read a
          model calls a_2 | judge a_2
        > what is shown
          m1.1 m1.2 m4.1 m4.2 | 2 answers, 2 said, to do:
    "
    ));
}

#[test]
fn a_rewind_is_taken_back() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > rewind undo
        > rewound
          back again at turn 3 | cache reset: rewind
        > what is shown
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
        > rewind undo
          there is no such turn
    "
    ));
}

#[test]
fn rewinds_are_taken_back_one_by_one() {
    check(&format!(
        "{THREE}
        > rewind to 2
        > rewound
          back at turn 2 | cache reset: rewind
        > rewind to 0
        > rewound
          back at turn 0 | cache reset: rewind
        > what is shown
          no message | 0 answers, 0 said, to do:
        > rewind undo
        > rewound
          back again at turn 2 | cache reset: rewind
        > what is shown
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 | 3 answers, 2 said, to do: paint
        > rewind undo
        > rewound
          back again at turn 3 | cache reset: rewind
        > what is shown
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
    "
    ));
}

#[test]
fn what_came_after_a_rewind_is_hidden_for_good_when_that_is_taken_back() {
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
        > what is shown
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
fn a_turn_that_is_hidden_or_never_was_is_not_gone_back_to() {
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
fn files_alone_leave_the_conversation_and_its_cache() {
    check(&format!(
        "{THREE}
        > rewind to 1 files
        > files kept
          files kept
        > rewound
          files put back
        > what is shown
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
        > rewind to 0 all
        > rewound
          back at turn 0 | cache reset: rewind
    "
    ));
}

#[test]
fn the_first_message_has_its_place_again_after_a_rewind_to_the_beginning() {
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
            files: Vec::new(),
            by: "ann".into(),
            request_id: None,
        }),
        now,
    ));
    // In the same life, and in a later one.
    let mut later = Machine::new(Facts::fold(&log), Limits::default());
    keep(machine.step(prompt(3), now));
    keep(later.step(prompt(3), now));
    let context = Some("Working directory: /w".to_owned());
    assert_eq!(said, [context.clone(), None, context.clone(), context]);
}

#[test]
fn prompts_wait_while_files_are_put_back() {
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
fn only_a_session_at_rest_goes_back() {
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
fn a_stop_takes_place_when_the_session_has_gone_back() {
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
fn a_session_that_waits_for_the_end_of_its_rewind_is_begun_by_the_next_life() {
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
fn a_paused_session_goes_back_and_stays_paused() {
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
fn a_headless_run_that_goes_back_in_its_pause_exits_with_it() {
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
fn an_exited_session_goes_back_and_stays_so() {
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
fn a_hand_over_waits_for_a_rewind_and_lets_none_begin() {
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
fn a_crash_while_files_are_put_back_is_told_once() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "{THREE}
            > rewind to 1 all
            > files kept
              files kept
            > crash {policy}
              notice: A rewind was interrupted while restoring files: some files may be restored, others not
            > crash {policy}
            > what is shown
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
fn a_crash_between_a_rewind_and_its_cache_reset_makes_up_for_it() {
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
            > what is shown
              m1.1 m1.2 | 1 answers, 1 said, to do:
        "
        ));
    }
}

#[test]
fn a_crash_before_its_record_leaves_the_conversation_as_it_was() {
    check(&format!(
        "{THREE}
        > rewind to 1
        > rewound
          back at turn 1 | cache reset: rewind
        > crash continue before session.rewound
        > what is shown
          m1.1 m1.2 m2.1 m2.2 m2.3 m2.4 m3.1 m3.2 | 4 answers, 3 said, to do: paint
    "
    ));
}

#[test]
fn what_is_told_of_the_end_is_that_of_the_newest_turn_that_is_shown() {
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
    > what is shown
      m1.1 m1.2 m2.1 | 1 answers, 2 said, to do: | cut off: Failed
    > rewind to 1
    > rewound
      back at turn 1 | cache reset: rewind
    > what is shown
      m1.1 m1.2 | 1 answers, 1 said, to do:
    > rewind undo
    > rewound
      back again at turn 2 | cache reset: rewind
    > what is shown
      m1.1 m1.2 m2.1 | 1 answers, 2 said, to do: | cut off: Failed
    ",
    );
}
