use client::queue::Queue;
use proto::params::config::TrustGetParams;
use proto::params::history::What as Which;
use proto::params::session::UnqueueParams;
use proto::{Pid, PromptId, SessionId};

use super::*;
use crate::effect::ErrorReport;
use crate::event::{Event, SessionUpdate};
use crate::model::Dialog;
use crate::model::interaction::InputFocus;
use crate::model::interaction::scene::{Scene, approval};
use crate::model::list::ListOf;
use crate::model::pager::PagerContent;
use crate::update::scene::{
    attached, busy, call, fresh, press, record, say, take as taken, toast, was_set,
};

fn answered(model: &mut Model, follow: u64, answer: Answer) -> Vec<Effect> {
    taken(model, vec![Event::Answered { follow, answer }])
}

fn arrives(model: &mut Model, session: SessionId, pid: u64) {
    let pid = Pid(pid);
    let update = SessionUpdate::Attached { session, pid };
    let follow = model.follow;
    taken(model, vec![Event::Session { follow, update }]);
}

#[test]
fn escape_in_a_turn_returns_queued_prompts_to_the_composer() {
    let mut model = busy();
    let session = model.session.as_mut().unwrap();
    let waiting = ["first", "second"].map(|text| {
        let queued = serde_json::json!({"prompt_id": PromptId::new(), "text": text, "steer": false, "by": "ann"});
        serde_json::from_value(queued).unwrap()
    });
    session.queue = Queue::new(proto::Seq(1), waiting.to_vec());
    let id = session.id.to_string();
    model.composer.set("a draft");
    let effects = press(&mut model, &["esc"]);
    let Call::Interrupt { queue, .. } = call(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!(
        queue.len(),
        2,
        "they are taken back before the turn is stopped"
    );
    // They are in the composer: no line says of each that it was removed.
    let removals = queue.iter().map(|queued| {
        let prompt_id = queued.prompt_id;
        proto::Body::PromptUnqueued(proto::record::PromptUnqueued { prompt_id })
    });
    let removals = (20..).zip(removals).map(|(seq, body)| record(seq, &body));
    taken(&mut model, removals.collect());
    assert!(model.transcript.entries.is_empty());
    let answer = Answer::Interrupted {
        session: id,
        ran: true,
        taken_back: queue
            .iter()
            .map(|queued| Prompt::typed(&queued.text))
            .collect(),
    };
    let follow = model.follow;
    answered(&mut model, follow, answer);
    assert_eq!(model.composer.text(), "first\n\nsecond\n\na draft");
}

/// What nobody typed is sent as such again, whatever is written around it.
#[test]
fn untyped_text_of_a_returned_prompt_stays_untyped_when_resent() {
    let mut model = busy();
    let id = model.session.as_ref().unwrap().id.to_string();
    let mut prompt = Prompt::typed("Look at this:\n\n");
    prompt.push_untyped("@secret\nline", proto::TextOrigin::Quoted);
    let mut first = Prompt::default();
    first.push_untyped("/quit", proto::TextOrigin::Quoted);
    let answer = Answer::Interrupted {
        session: id,
        ran: true,
        taken_back: vec![first.clone(), prompt.clone()],
    };
    let follow = model.follow;
    answered(&mut model, follow, answer);
    let shown = model.composer.chips.shown(model.composer.buffer.as_str());
    assert_eq!(
        shown,
        "[quoted 5 characters #1]\n\nLook at this:\n\n[quoted 2 lines #2]"
    );
    model.composer.buffer.insert(" @typed ");
    let effects = press(&mut model, &["enter"]);
    let Call::Prompt { params, .. } = call(&effects) else {
        panic!("{effects:?}")
    };
    let mut wanted = first;
    wanted.text.push_str("\n\n");
    wanted.push(&prompt);
    wanted.text.push_str(" @typed");
    let sent = Prompt {
        text: params.text.clone(),
        untyped: params.untyped.clone(),
    };
    assert_eq!(sent, wanted);
    // Also when it could not be sent, or comes out of an editor, and from the history.
    let call = call(&effects).clone();
    let trouble = ErrorReport {
        what: String::new(),
        hint: String::new(),
        name: None,
    };
    answered(&mut model, follow, Answer::Failed { call, trouble });
    assert_eq!(model.composer.prompt(), wanted);
    let text = format!("{} and more", wanted.text);
    answered(&mut model, follow, Answer::Edited(Ok(text)));
    wanted.text.push_str(" and more");
    assert_eq!(model.composer.prompt(), wanted);
    model.composer.take();
    assert!(model.composer.older());
    assert_eq!(model.composer.prompt(), wanted);
}

#[test]
fn a_prompt_that_was_taken_back_waits_in_its_session() {
    let unqueued = |session: SessionId| {
        Answer::Done(Call::Unqueue {
            params: UnqueueParams {
                session: session.to_string(),
                prompt_id: PromptId::new(),
            },
            following: Vec::new(),
            edit: Some(Prompt::typed("words")),
        })
    };
    let mut model = attached();
    let seven = model.session.as_ref().unwrap().id;
    daemon::go_to(&mut model, "8");
    arrives(&mut model, SessionId::new(), 8);
    answered(&mut model, 0, unqueued(seven));
    assert_eq!(model.composer.text(), "");
    daemon::go_to(&mut model, "7");
    // The answer may also come when its session is here again.
    arrives(&mut model, seven, 7);
    assert_eq!(model.composer.text(), "words");
    model.composer.set("");
    answered(&mut model, 0, unqueued(seven));
    assert_eq!(model.composer.text(), "words");
    // The text typed there meanwhile is not lost.
    model.composer.set("draft");
    daemon::fresh(&mut model);
    answered(&mut model, 0, unqueued(seven));
    daemon::go_to(&mut model, "7");
    arrives(&mut model, seven, 7);
    assert_eq!(model.composer.text(), "draft");
    assert!(model.composer.older());
    assert_eq!(model.composer.text(), "words");
}

#[test]
fn a_failed_rewind_is_reported_even_after_its_session_was_left() {
    let rewind = |dry_run, what| {
        Call::Rewind(RewindParams {
            dry_run,
            what,
            ..RewindParams::default()
        })
    };
    let checkpoints = |undo| {
        let session = String::new();
        Call::Checkpoints { session, undo }
    };
    let cases = [
        (rewind(false, Which::Both), true),
        (rewind(true, Which::Code), true),
        (checkpoints(true), true),
        // Requests of a list that is closed.
        (rewind(true, Which::Both), false),
        (checkpoints(false), false),
    ];
    for (call, shown) in cases {
        let mut model = attached();
        daemon::go_to(&mut model, "8");
        let what = format!("{call:?}");
        let trouble = ErrorReport::new("the disk is full", "");
        answered(&mut model, 0, Answer::Failed { call, trouble });
        assert_eq!(toast(&model).contains("the disk is full"), shown, "{what}");
    }
}

#[test]
fn a_confirmation_over_a_question_keeps_its_text() {
    let mut scene = Scene::of(vec![approval(1, "ls")], Vec::new());
    scene.press(&["n", "w", "h", "y"]);
    let trust = TrustOutput {
        directory: Some("/p".to_owned()),
        trusted: false,
        held_back: vec!["a hook".to_owned()],
        hash: "00".to_owned(),
        instructions: vec!["AGENTS.md".to_owned()],
    };
    let answer = Answer::Trust {
        params: TrustGetParams {
            cwd: "/p".to_owned(),
        },
        unasked: false,
        output: trust,
    };
    answered(&mut scene.model, 0, answer);
    let Some(Dialog::Confirm(confirm)) = &scene.model.dialog else {
        panic!("{:?}", scene.model.dialog)
    };
    let shown = confirm.words.join("\n");
    let instructions = "The model reads the project's instructions all the same (AGENTS.md)";
    assert!(shown.contains(instructions), "{shown}");
    scene.press(&["esc"]);
    let Some(Dialog::Interaction(dialog)) = &scene.model.dialog else {
        panic!("{:?}", scene.model.dialog)
    };
    let InputFocus::Words(note) = &dialog.part else {
        panic!("{:?}", dialog.part)
    };
    assert_eq!(note.text(), "why");
}

#[test]
fn a_dialog_opened_while_a_session_is_created_stays_open() {
    let made = |session| {
        Answer::Created(CreateOutput {
            session,
            pid: Pid(9),
            model: "fake/model".to_owned(),
            prompt_id: None,
        })
    };
    let forked = || {
        Answer::Forked(ForkOutput {
            session: SessionId::new(),
            pid: Pid(9),
            at_turn: 1,
            forecast: None,
        })
    };
    let mut model = fresh();
    list::open(&mut model, ListOf::Inbox);
    let effects = answered(&mut model, 0, made(SessionId::new()));
    assert!(matches!(effects[..], [Effect::Follow { .. }]));
    assert!(matches!(model.dialog, Some(Dialog::List(_))));
    let mut model = attached();
    pager::open(&mut model, PagerContent::Help);
    answered(&mut model, 0, forked());
    assert!(matches!(model.dialog, Some(Dialog::Pager(_))));
    // Lists of the session that was left close with it.
    for what in [ListOf::Turns, ListOf::Queue] {
        let mut model = attached();
        list::open(&mut model, what);
        answered(&mut model, 0, forked());
        assert!(model.dialog.is_none(), "{what:?}");
    }
}

#[test]
fn a_text_too_long_to_edit_comes_back_as_a_chip() {
    let mut model = attached();
    let long = "words of a log\n".repeat(10_000);
    answered(&mut model, 0, Answer::Edited(Ok(long.clone())));
    assert_eq!(model.composer.text(), long);
    assert_eq!(model.composer.buffer.as_str().chars().count(), 1);
    model.composer.set("");
    let short = "a line that was written in the editor\n".repeat(30);
    answered(&mut model, 0, Answer::Edited(Ok(short.clone())));
    assert_eq!(model.composer.buffer.as_str(), short);
}

/// Does what a command asks for, and returns what is said of it.
fn outcome_of(command: &str, summary: impl FnOnce(&mut SessionSummary)) -> String {
    let mut model = attached();
    let effects = say(&mut model, command);
    let Call::Set(params) = call(&effects) else {
        panic!("{effects:?}")
    };
    answered(&mut model, 0, was_set(params, summary));
    toast(&model).to_owned()
}

#[test]
fn changed_effort_samples_and_preset_are_reported() {
    let nothing = |_: &mut SessionSummary| {};
    assert_eq!(
        outcome_of("/samples 3", nothing),
        "3 samples for each request: each is billed"
    );
    assert_eq!(
        outcome_of("/samples 1", nothing),
        "1 answer for each request"
    );
    assert_eq!(outcome_of("/effort high", nothing), "effort: high");
    assert_eq!(
        outcome_of("/effort auto", nothing),
        "effort: the model's default"
    );
    assert_eq!(
        outcome_of("/extract-reasoning on", nothing),
        "reasoning extraction: on"
    );
    let preset = outcome_of("/preset max", |summary| {
        summary.model = "near/chat".to_owned();
        summary.effort = Some("high".to_owned());
        summary.samples = 3;
    });
    assert_eq!(
        preset,
        "model: near/chat; effort: high; 3 samples for each request: each is billed"
    );
    assert_eq!(outcome_of("/rename shop", nothing), "renamed to `shop`");
}

#[test]
fn question_before_a_cache_reset_says_what_changes() {
    for (command, line) in [
        ("/effort high", "effort: high"),
        ("/preset smart", "preset: smart"),
        ("/model near/chat", "model: near/chat"),
    ] {
        let mut model = attached();
        let effects = say(&mut model, command);
        let trouble = ErrorReport {
            what: "This resets the cache.".into(),
            hint: String::new(),
            name: Some(proto::ErrorName::ConfirmNeeded),
        };
        let failed = Answer::Failed {
            call: call(&effects).clone(),
            trouble,
        };
        answered(&mut model, 0, failed);
        let Some(Dialog::Confirm(confirm)) = &model.dialog else {
            panic!("{command}: it asks first")
        };
        assert_eq!(confirm.words, [line, "This resets the cache."]);
    }
}

#[test]
fn a_failed_summary_adds_only_advice_to_the_notice_of_the_session() {
    let mut model = attached();
    let effects = say(&mut model, "/compact");
    let failed = Answer::Failed {
        call: call(&effects).clone(),
        trouble: ErrorReport {
            what: "The model did not write a summary.".into(),
            hint: "Describe what the summary should keep (`reasonix compact SESSION WORDS`), or continue: nothing was lost.".into(),
            name: Some(proto::ErrorName::ProviderFailed),
        },
    };
    answered(&mut model, 0, failed);
    assert_eq!(
        toast(&model),
        "Describe what the summary should keep (`/compact WORDS`), or continue: nothing was lost."
    );
}
