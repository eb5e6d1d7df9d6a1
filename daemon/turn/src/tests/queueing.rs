//! Changes of queued prompts; and steering, which is never lost and never sent twice.

use proto::params::session::When;
use proto::record::{PromptEdited, PromptMoved, PromptQueued};
use proto::{RequestId, Stamp};

use super::made::{created, prompt_id};
use super::script::check;
use crate::facts::{content_of_edit, content_of_move};
use crate::{Facts, Input, Limits, Machine, Now};

#[test]
fn queued_prompt_is_edited() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > edit two to three
        > edit one to nothing
        > model says First.
          model: First. | turn ends completed | idle | turn starts | running | prompt: three | ask
        > edit three to four
        > model says Third.
          model: Third. | turn ends completed | idle
    ",
    );
}

#[test]
fn queued_prompt_is_moved() {
    check(
        "
        > pause
          paused
        > user one
        > user two
        > user three
        > move three to 0
        > move one to 99
        > resume
          idle | turn starts | running | prompt: three | ask
        > move three to 1
        > model says Third.
          model: Third. | turn ends completed | idle | turn starts | running | prompt: two | ask
        > model says Second.
          model: Second. | turn ends completed | idle | turn starts | running | prompt: one | ask
    ",
    );
}

#[test]
fn a_prompt_becomes_steering_and_steering_a_prompt() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > steer three
        > edit two to steer look here
        > edit three to three as a prompt
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | steer: look here | ask
        > model says Done.
          model: Done. | turn ends completed | idle | turn starts | running |
          prompt: three as a prompt | ask
    ",
    );
}

#[test]
fn steering_follows_all_results_in_queue_order() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a, read b
          model calls a b | judge a
        > policy a allow
          started a | run a | judge b
        > steer first
        > policy b allow
          started b | run b
        > user later
        > steer second
        > move second to 0
        > ends b ok
          finished b ok
        > steer third
        > ends a ok
          finished a ok | result a ok | result b ok |
          steer: second | steer: first | steer: third | ask
        > model says Done.
          model: Done. | turn ends completed | idle | turn starts | running | prompt: later | ask
    ",
    );
}

#[test]
fn steering_that_comes_when_the_turn_is_over_begins_the_next() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model says First.
          model: First. | turn ends completed | idle
        > steer and this
          turn starts | running | prompt: and this | ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > stop user
          stop the calls, KILL after 2000 ms
        > steer and this
        > ends a interrupted
          finished a interrupted | result a interrupted: its output |
          turn ends interrupted (user) | idle | turn starts | running | prompt: and this | ask
    ",
    );
}

#[test]
fn steering_survives_a_crash_at_every_point() {
    let begins = "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > steer first
        > steer second
    ";
    // While the call runs: still queued.
    check(&format!(
        "{begins}
        > crash continue
          notice: The daemon was restarted | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | steer: first | steer: second | ask
    "
    ));
    let ends = "
        > ends a ok
          finished a ok | result a ok | steer: first | steer: second | ask
    ";
    // After the result: both are still queued.
    check(&format!(
        "{begins}{ends}
        > crash continue after message.tool
          notice: The daemon was restarted | steer: first | steer: second | ask
    "
    ));
    // Between the two messages: one was sent, the other is still queued.
    check(&format!(
        "{begins}{ends}
        > crash continue before message.user
          notice: The daemon was restarted | steer: second | ask
    "
    ));
    // After both: both were sent.
    check(&format!(
        "{begins}{ends}
        > crash continue
          notice: The daemon was restarted | ask
    "
    ));
    // If the turn does not continue, unsent steering stays queued.
    check(&format!(
        "{begins}{ends}
        > crash idle before message.user
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle
        > user three
          turn starts | running | prompt: second | ask
    "
    ));
}

#[test]
fn changes_of_the_queue_survive_a_crash() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > user two
        > user three
        > move three to 0
        > edit two to other
        > crash continue
          notice: The daemon was restarted | ask
        > model says First.
          model: First. | turn ends completed | idle | turn starts | running | prompt: three | ask
        > model says Third.
          model: Third. | turn ends completed | idle | turn starts | running | prompt: other | ask
    ",
    );
}

#[test]
fn a_repeated_change_is_known_by_its_request_id() {
    let mut machine = Machine::new(Facts::default(), Limits::default());
    let now = Now {
        wall: Stamp(1),
        mono_ms: 0,
    };
    let id = |number: u64| -> RequestId {
        let text = format!("00000000-0000-0000-0000-{number:012x}");
        serde_json::from_value(text.into()).expect("a request's id")
    };
    machine.record(
        proto::Body::SessionCreated(created(proto::state::Kind::Interactive, 0, 0)),
        now,
    );
    machine.step(
        Input::Pause {
            paused: true,
            tree: false,
            by: "ann".into(),
            request_id: Some(id(1)),
        },
        now,
    );
    let prompt = prompt_id(1);
    machine.step(
        Input::Prompt {
            prompt: PromptQueued {
                untyped: Vec::new(),
                from: None,
                added: None,
                references: None,
                on_ask: None,
                prompt_id: prompt,
                text: "one".into(),
                steer: false,
                by: "ann".into(),
                request_id: None,
            },
            when: When::Queue,
        },
        now,
    );
    machine.step(
        Input::Edit(PromptEdited {
            untyped: Vec::new(),
            references: None,
            prompt_id: prompt,
            text: "two".into(),
            steer: true,
            by: "ann".into(),
            request_id: Some(id(2)),
        }),
        now,
    );
    machine.step(
        Input::Move(PromptMoved {
            prompt_id: prompt,
            position: 4,
            by: "ann".into(),
            request_id: Some(id(3)),
        }),
        now,
    );
    let done = &machine.facts().requests;
    let paused = proto::record::SessionSet {
        paused: Some(true),
        ..proto::record::SessionSet::default()
    };
    let contents = [
        format!("set {}", crate::facts::content_of_set(&paused)),
        content_of_edit(prompt, "two", true),
        content_of_move(prompt, 4),
    ];
    for (number, content) in (1..).zip(contents) {
        assert_eq!(done[&id(number)].content, content);
    }
    assert_eq!(machine.facts().queue[0].text, "two");
}
