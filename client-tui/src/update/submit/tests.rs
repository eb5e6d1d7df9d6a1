//! Lines that are sent: the user's own commands, and custom commands whose list has not come yet.

use client::prompt::Prompt;
use proto::hello::Role;
use proto::params::command::ListOutput;
use proto::params::session::CreateOutput;
use proto::record::{ChildKind, ChildSpawned, UserCommand};
use proto::{CallId, Pid, SessionId};

use crate::effect::{Answer, Call, Effect};
use crate::event::Event;
use crate::messages::Language;
use crate::model::Model;
use crate::update::scene::{attached, busy, call, fresh, press, say, toast};

fn answered(model: &mut Model, answer: Answer) -> Vec<Effect> {
    let (now, follow) = (model.now, model.follow);
    let mut effects = crate::update::update(model, Event::Answered { follow, answer }, now);
    effects.retain(|effect| matches!(effect, Effect::Call(_)));
    effects
}

fn command(effects: &[Effect]) -> String {
    match call(effects) {
        Call::Shell(params) => params.command.clone(),
        other => panic!("no command of the user: {other:?}"),
    }
}

fn runs(model: &mut Model) {
    let child = ChildSpawned {
        pid: Pid(9),
        kind: ChildKind::Shell,
        call: CallId("user-9".into()),
        command: "ls".into(),
        user: Some(UserCommand {
            line: "ls".into(),
            by: "ann".into(),
            request_id: None,
        }),
    };
    model.session.as_mut().unwrap().children.push(child);
}

#[test]
fn whatever_is_sent_scrolls_to_the_end_of_the_transcript() {
    let mut model = attached();
    for line in ["hello", "!ls", "/cost"] {
        model.scroll = 20;
        say(&mut model, line);
        assert_eq!(model.scroll, 0, "{line}");
    }
    // Enter on an empty line sends nothing.
    model.scroll = 20;
    say(&mut model, "");
    assert_eq!(model.scroll, 20);
}

#[test]
fn a_line_after_an_exclamation_mark_is_the_users_own_command() {
    let mut model = attached();
    assert_eq!(command(&say(&mut model, "! ls -la ")), "ls -la");
    assert!(model.composer.is_empty());
    // After a blank it is a prompt.
    assert!(matches!(
        call(&say(&mut model, " !important")),
        Call::Prompt { .. }
    ));
    // And it stays one when it comes back from the session, or was sent elsewhere.
    for _ in 0..2 {
        model
            .composer
            .remember(&Prompt::typed("!important"), Language::English);
    }
    press(&mut model, &["up"]);
    assert_eq!(model.composer.text(), " !important");
    assert!(matches!(
        call(&press(&mut model, &["enter"])),
        Call::Prompt { .. }
    ));
    assert!(say(&mut model, "!").is_empty());
    assert!(toast(&model).contains('!'), "{}", toast(&model));
}

/// Whoever pipes or pastes a text has not typed its first character.
#[test]
fn text_of_a_chip_is_no_command() {
    let mut quoted = Prompt::default();
    quoted.push_untyped("!touch x", proto::TextOrigin::Stdin);
    let sent = |model: &mut Model| match call(&press(model, &["enter"])) {
        Call::Prompt { params, .. } => (params.text.clone(), params.untyped.len()),
        other => panic!("no prompt: {other:?}"),
    };
    let mut model = attached();
    model.composer.prepend(&quoted, Language::English);
    assert_eq!(sent(&mut model), ("!touch x".to_owned(), 1));
    press(&mut model, &["up"]);
    assert_eq!(sent(&mut model), ("!touch x".to_owned(), 1));
    let mut model = attached();
    model.composer.remember(&quoted, Language::English);
    press(&mut model, &["up"]);
    assert_eq!(sent(&mut model), ("!touch x".to_owned(), 1));
    for begin in ["!touch x\n", "/compact\n"] {
        let mut model = attached();
        let pasted = begin.repeat(20);
        model.composer.paste(&pasted, Language::English);
        assert_eq!(sent(&mut model), (pasted.trim().to_owned(), 0));
    }
}

#[test]
fn blank_before_a_slash_makes_text() {
    let mut model = attached();
    for (line, text) in [
        (" /compact", " /compact"),
        ("  /hello a", " /hello a"),
        ("//hello", " /hello"),
    ] {
        let effects = say(&mut model, line);
        let Call::Prompt { params, .. } = call(&effects) else {
            panic!("{line}: {effects:?}")
        };
        assert_eq!(params.text, text, "{line}");
    }
}

#[test]
fn a_command_waits_for_nothing_and_can_be_stopped() {
    let mut model = busy();
    assert!(say(&mut model, "!ls").is_empty());
    assert_eq!(model.composer.text(), "!ls", "it stays written");
    assert!(toast(&model).contains("turn"), "{}", toast(&model));
    let mut model = attached();
    runs(&mut model);
    assert!(say(&mut model, "!ls").is_empty());
    let _ = model.composer.take();
    assert!(matches!(
        call(&press(&mut model, &["ctrl-c"])),
        Call::Interrupt { .. }
    ));
    let mut model = attached();
    model.place.role = Role::Watch;
    assert!(
        say(&mut model, "!ls").is_empty(),
        "who watches runs nothing"
    );
}

#[test]
fn the_first_command_makes_a_session_without_a_prompt() {
    let mut model = fresh();
    let effects = say(&mut model, "!ls");
    let Call::Create(params) = call(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(params.prompt, None);
    let created = CreateOutput {
        session: SessionId::new(),
        pid: Pid(3),
        prompt_id: None,
        model: String::new(),
    };
    let effects = answered(&mut model, Answer::Created(created));
    assert_eq!(command(&effects), "ls");
}

#[test]
fn a_pasted_command_waits_for_the_list_of_custom_commands() {
    let mut model = attached();
    assert!(matches!(
        call(&say(&mut model, "/greet ann")),
        Call::Commands(_)
    ));
    assert_eq!(model.composer.text(), "/greet ann");
    let listed: ListOutput = serde_json::from_value(serde_json::json!({
        "commands": [{"name": "greet", "description": "Greet", "source": "project", "trusted": true, "file": "greet.md"}],
        "problems": [],
    }))
    .unwrap();
    let effects = answered(&mut model, Answer::Commands(listed));
    assert!(
        matches!(call(&effects), Call::Prompt { params, .. } if params.text == "/greet ann"),
        "{effects:?}"
    );
    assert!(model.composer.is_empty());
    // By now it is known that this command does not exist.
    assert!(say(&mut model, "/expotr x").is_empty());
    assert!(toast(&model).contains("/export"), "{}", toast(&model));
}
