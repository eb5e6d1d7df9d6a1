//! The shown part of an answer when the daemon died: it is logged once, continued, and never treated as complete.

use contract::provider::Reported;
use proto::item::Finish;
use proto::params::session::When;
use proto::record::PromptQueued;
use proto::state::Kind;
use proto::{Body, ItemId, PromptId};

use super::made::created;
use super::script::check;
use crate::{Answer, Effect, Facts, Input, Limits, Machine, Now, RecoverPolicy};

#[test]
fn turn_continues_from_the_shown_part() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash continue showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | daemon: go on | ask
        > model says upon a time.
          model: upon a time. | turn ends completed | idle
    ",
    );
}

#[test]
fn kept_part_and_continuation_are_one_text() {
    let now = Now::default();
    let mut machine = Machine::new(Facts::default(), Limits::default());
    machine.record(Body::SessionCreated(created(Kind::Interactive, 0, 0)), now);
    let answer = |text: &str, finish| Answer {
        text: text.into(),
        finish: Some(finish),
        ..Answer::default()
    };
    let prompt = Input::Prompt {
        prompt: PromptQueued {
            untyped: Vec::new(),
            from: None,
            added: None,
            references: None,
            on_ask: None,
            prompt_id: PromptId::new(),
            text: "one".into(),
            steer: false,
            by: "test".into(),
            request_id: None,
        },
        when: When::Queue,
    };
    machine.step(prompt, now);
    for kept in ["Once ", "upon "] {
        let mut again = Machine::new(machine.facts().clone(), Limits::default());
        let item = machine.facts().open.as_ref().unwrap().next_item();
        let kept = Some((item, answer(kept, Finish::Interrupted)));
        again.recover(RecoverPolicy::Continue, kept, now);
        machine = again;
    }
    machine.step(
        Input::Answered(Box::new(answer("a time.", Finish::Stop))),
        now,
    );
    let ended = machine.facts().ended.clone().unwrap();
    assert_eq!(ended.text, "Once upon a time.");
}

#[test]
fn ended_turn_keeps_the_shown_part() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash idle showing Once
          model (interrupted): Once | notice: The daemon stopped during this turn, so the turn was ended |
          turn ends interrupted (shutdown) | idle
        > crash continue after message.assistant
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle
    ",
    );
}

#[test]
fn blank_parts_and_parts_of_other_answers_are_ignored() {
    for shown in ["\t of m1.2", "Once of m1.3", "Once of m1.1", "Once of m0.2"] {
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > crash continue showing {shown}
              notice: The daemon was restarted | ask
        "
        ));
    }
    // The answer is complete, but its draft file was not deleted yet.
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model calls read a
          model calls a | judge a
        > crash continue showing Once of m1.2
          notice: The daemon was restarted | judge a
        > crash continue showing Once of m1.3
          notice: The daemon was restarted | judge a
    ",
    );
    // The turn's prompt did not reach the disk, so the log has no request.
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash continue after turn.started showing Once of m1.1
          notice: The daemon was restarted | running | prompt: one | ask
    ",
    );
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > model says First.
          model: First. | turn ends completed | idle
        > crash continue after message.assistant showing Once of m1.3
          notice: The daemon was restarted | turn ends completed | idle
    ",
    );
}

#[test]
fn second_crash_at_any_point_recovers_too() {
    let begins = "
        > user one
          turn starts | running | prompt: one | ask
        > steer and this
        > crash continue showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | daemon: go on | steer: and this | ask
    ";
    // Before the kept part: the request is sent again, with or without the draft file.
    check(&format!(
        "{begins}
        > crash continue before message.assistant
          notice: The daemon was restarted | steer: and this | ask
    "
    ));
    check(&format!(
        "{begins}
        > crash continue before message.assistant showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | daemon: go on | steer: and this | ask
    "
    ));
    // After the kept part: it is not logged twice, and the daemon's message follows.
    check(&format!(
        "{begins}
        > crash continue after message.assistant showing Once of m1.2
          notice: The daemon was restarted | daemon: go on | steer: and this | ask
    "
    ));
    check(&format!(
        "{begins}
        > crash idle after message.assistant
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle
    "
    ));
    // After the daemon's message.
    check(&format!(
        "{begins}
        > crash continue before message.user
          notice: The daemon was restarted | steer: and this | ask
    "
    ));
    // During the next request.
    check(&format!(
        "{begins}
        > crash continue showing Twice
          notice: The daemon was restarted during an answer |
          model (interrupted): Twice | daemon: go on | ask
    "
    ));
}

#[test]
fn answer_interrupted_by_a_user_after_recovery_is_not_continued() {
    for before in ["", "showing Once of m9.9"] {
        check(&format!(
            "
            > user one
              turn starts | running | prompt: one | ask
            > crash continue {before}
              notice: The daemon was restarted | ask
            > stop user showing Once upon
              drop the request | model (interrupted): Once upon | turn ends interrupted (user) | idle
            > crash continue after message.assistant
              notice: The daemon stopped during this turn, so the turn was ended |
              turn ends interrupted (shutdown) | idle
        "
        ));
    }
    // The recovery's notice reached the disk, but the part that it announces did not, and no draft file exists.
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > crash continue showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | daemon: go on | ask
        > crash continue before message.assistant
          notice: The daemon was restarted | ask
        > stop user showing Once upon
          drop the request | model (interrupted): Once upon | turn ends interrupted (user) | idle
        > crash continue after message.assistant
          notice: The daemon stopped during this turn, so the turn was ended | turn ends interrupted (shutdown) |
          idle
    ",
    );
}

#[test]
fn kept_part_is_continued_after_a_pause_too() {
    check(
        "
        > user one
          turn starts | running | prompt: one | ask
        > pause
          paused
        > crash continue showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | notice: The daemon was restarted | daemon: go on
        > resume
          running | ask
    ",
    );
}

#[test]
fn half_an_answer_is_half_a_step() {
    check(
        "
        > session interactive max_steps=1
        > user one
          turn starts | running | prompt: one | ask
        > crash continue showing Once
          notice: The daemon was restarted during an answer |
          model (interrupted): Once | daemon: go on | ask
        > model calls read a
          model calls a | judge a
        > policy a allow
          started a | run a
        > ends a ok
          finished a ok | result a ok | daemon: sum up | ask without tools
        > crash continue showing All is
          notice: The daemon was restarted during an answer |
          model (interrupted): All is | daemon: go on | ask without tools
        > model says done.
          model: done. | notice: The step limit of this turn is reached | turn ends max steps | idle
    ",
    );
}

/// A machine that died during a request, with this part of the answer kept.
fn recovered(policy: RecoverPolicy, kept: Answer) -> (Machine, Vec<Effect>) {
    let now = Now::default();
    let mut machine = Machine::new(Facts::default(), Limits::default());
    machine.record(
        Body::SessionCreated(created(proto::state::Kind::Interactive, 0, 0)),
        now,
    );
    let prompt = proto::record::PromptQueued {
        untyped: Vec::new(),
        from: None,
        added: None,
        references: None,
        on_ask: None,
        prompt_id: super::made::prompt_id(1),
        text: "one".into(),
        steer: false,
        by: "ann".into(),
        request_id: None,
    };
    let when = proto::params::session::When::Queue;
    machine.step(crate::Input::Prompt { prompt, when }, now);
    let mut machine = Machine::new(machine.facts().clone(), Limits::default());
    let effects = machine.recover(policy, Some((ItemId::from("m1.2"), kept)), now);
    (machine, effects)
}

#[test]
fn kept_part_has_no_calls_and_does_not_count_as_an_answer() {
    for policy in [RecoverPolicy::Continue, RecoverPolicy::Idle] {
        for reported in [None, Some(Reported::default())] {
            let kept = Answer {
                text: "Once".into(),
                reasoning: "Hm.".into(),
                calls: vec![proto::item::ToolCall {
                    id: "a".into(),
                    name: "write".into(),
                    arguments: "{".into(),
                    cut: true,
                    found: false,
                }],
                thoughts: vec![proto::item::Thought {
                    kind: "anthropic".into(),
                    data: "{}".into(),
                    text_at: 0,
                    calls_at: 0,
                }],
                reported,
                ..Answer::default()
            };
            let (machine, effects) = recovered(policy, kept);
            let (mut messages, mut usages) = (Vec::new(), 0);
            for effect in &effects {
                let Effect::Append(record) = effect else {
                    continue;
                };
                match &record.body {
                    Body::Assistant(message) => messages.push(message.clone()),
                    Body::Usage(usage) => {
                        assert!(usage.reported, "only what was reported is counted");
                        usages += 1;
                    }
                    _ => {}
                }
            }
            let [message] = &messages[..] else {
                panic!("it is kept once: {messages:?}")
            };
            assert_eq!(message.finish, Finish::Interrupted);
            assert_eq!(
                (message.text.as_str(), message.reasoning.as_str()),
                ("Once", "Hm.")
            );
            assert_eq!(message.calls, []);
            assert_eq!(
                message.thoughts,
                [],
                "they go back only with what they led to"
            );
            assert_eq!(usages, usize::from(reported.is_some()));
            assert_eq!(
                machine.facts().answered,
                0,
                "the script's place is the same"
            );
        }
    }
}
