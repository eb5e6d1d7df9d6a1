//! Global keys, and every command: the resulting effects.

use std::collections::HashSet;

use proto::hello::Role;
use proto::params::history::{StatsOutput, StatsParams, StatsRow, What};
use proto::params::session::{InspectPart, Signal, When};
use proto::state::{ApprovalMode, Mode};
use proto::{Pid, SessionId};

use super::scene::{attached, busy, call, fresh, press, say, take, toast};
use crate::effect::{Answer, Call, Effect, ErrorReport};
use crate::event::{Event, SessionUpdate};
use crate::keymap::{Action, BINDINGS, Context};
use crate::model::list::ListOf;
use crate::model::pager::PagerContent;
use crate::model::transcript::tests::scene::message;
use crate::model::{Dialog, Model};
use crate::slash::{COMMANDS, Command};

/// Something is to be done.
fn to_do(model: &mut Model) {
    let todo = serde_json::json!({"content": "one", "active_form": "one", "status": "pending"});
    let todo = serde_json::from_value(todo).unwrap();
    model.session.as_mut().unwrap().todos = vec![todo];
}

/// A key of [`Context::Everywhere`], pressed, and what must be so then.
fn everywhere(action: Action) {
    let mut model = busy();
    match action {
        Action::Interrupt => {
            assert!(matches!(
                call(&press(&mut model, &["ctrl-c"])),
                Call::Interrupt { .. }
            ));
            let left = press(&mut model, &["ctrl-c"]);
            assert!(matches!(&left[..], [Effect::Leave(leave)] if leave.code == 130));
        }
        Action::Suspend => assert_eq!(press(&mut model, &["ctrl-z"]), [Effect::Suspend]),
        Action::Redraw => assert_eq!(press(&mut model, &["ctrl-l"]), [Effect::Redraw]),
        Action::Help => {
            press(&mut model, &["f1"]);
            let help =
                |pager: &crate::model::pager::Pager| matches!(pager.what, PagerContent::Help);
            assert!(matches!(&model.dialog, Some(Dialog::Pager(pager)) if help(pager)));
        }
        Action::Parent => {
            assert_eq!(press(&mut model, &["ctrl-x"]), []);
            assert!(toast(&model).contains("/agents"));
            if let Some(session) = &mut model.session {
                session.parent = Some(proto::Pid(3));
            }
            let effects = press(&mut model, &["ctrl-x"]);
            assert!(
                matches!(&effects[..], [Effect::Follow { session, .. }] if session == "3"),
                "{effects:?}"
            );
        }
        Action::Sessions => {
            let effects = press(&mut model, &["ctrl-p"]);
            assert!(matches!(call(&effects), Call::Sessions(_)));
            assert!(is_list(&model, |of| matches!(
                of,
                ListOf::Sessions { here: false }
            )));
        }
        Action::Attention => {
            assert!(matches!(
                call(&press(&mut model, &["ctrl-q"])),
                Call::Waiting
            ));
            assert!(is_list(&model, |of| matches!(of, ListOf::Inbox)));
        }
        Action::ApprovalMode => {
            let effects = press(&mut model, &["ctrl-o"]);
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.approval_mode == Some(ApprovalMode::Auto))
            );
            if let Some(session) = &mut model.session {
                session.options.approval_mode = Some(ApprovalMode::Auto);
            }
            let effects = press(&mut model, &["ctrl-o"]);
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.approval_mode == Some(ApprovalMode::Ask))
            );
        }
        Action::Mode => {
            let effects = press(&mut model, &["shift-tab"]);
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.mode == Some(Mode::Plan))
            );
            if let Some(session) = &mut model.session {
                session.options.mode = Some(Mode::Plan);
            }
            let effects = press(&mut model, &["shift-tab"]);
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.mode == Some(Mode::Normal))
            );
        }
        Action::Todos => {
            to_do(&mut model);
            let before = model.look.todos;
            assert!(press(&mut model, &["ctrl-t"]).is_empty());
            assert_ne!(model.look.todos, before);
        }
        Action::Output => {
            assert_eq!(press(&mut model, &["ctrl-b"]), [Effect::Reprint]);
            assert!(model.look.output);
        }
        Action::Reasoning => {
            assert_eq!(press(&mut model, &["ctrl-r"]), [Effect::Reprint]);
            assert!(model.look.reasoning);
        }
        other => panic!("{other:?} has a key everywhere, and no script"),
    }
}

fn is_read(model: &Model, is: impl Fn(&PagerContent) -> bool) -> bool {
    matches!(&model.dialog, Some(Dialog::Pager(pager)) if is(&pager.what))
}

fn is_list(model: &Model, is: impl Fn(&ListOf) -> bool) -> bool {
    matches!(&model.dialog, Some(Dialog::List(list)) if is(&list.what))
}

/// `/memory` with each of its words.
fn facts_are_changed(model: &mut Model) {
    for wrong in [
        "forget",
        "forget two words",
        "add tabs",
        "edit",
        "lose tabs",
    ] {
        let effects = say(model, &format!("/memory {wrong}"));
        assert!(effects.is_empty(), "{wrong}: {effects:?}");
    }
    let session = model.session.as_ref().map(|session| session.id.to_string());
    let effects = say(model, "/memory add tabs Use tabs, not blanks.");
    let Call::WriteFact(added) = call(&effects) else {
        panic!("{effects:?}");
    };
    assert!(added.create && added.session == session && added.cwd.is_none());
    assert_eq!(added.content, "Use tabs, not blanks.");
    assert_eq!(added.description, added.content);
    for (word, said) in [
        ("restore", "restored tabs"),
        ("forget", "archived tabs; `/memory restore tabs`"),
    ] {
        let effects = say(model, &format!("/memory {word} tabs"));
        let answer = Answer::Done(call(&effects).clone());
        assert!(
            matches!(
                &answer,
                Answer::Done(Call::ForgetFact(_) | Call::RestoreFact(_))
            ),
            "{answer:?}"
        );
        take(model, vec![Event::Answered { follow: 0, answer }]);
        assert!(toast(model).contains(said), "{word}: {}", toast(model));
    }
    let effects = say(model, "/memory edit tabs");
    assert!(matches!(call(&effects), Call::ReadFact(params) if params.name == "tabs"));
    let fact = serde_json::json!({"fact": {"name": "tabs", "description": "Tabs.", "type": "user",
        "scope": "user", "file": "/home/memory/tabs.md", "expires": "2030-01-01"}, "content": "Use tabs.\n"});
    let fact: Box<proto::params::memory::FactOutput> = serde_json::from_value(fact).unwrap();
    let answer = Answer::Fact(fact.clone());
    let effects = take(model, vec![Event::Answered { follow: 0, answer }]);
    assert_eq!(effects, [Effect::EditFact(fact.clone())]);
    let answered = |text: &str| {
        let (fact, text) = (fact.clone(), Ok(text.to_owned()));
        let answer = Answer::FactEdited { fact, text };
        vec![Event::Answered { follow: 0, answer }]
    };
    assert_eq!(take(model, answered("Use tabs.")), []);
    assert!(toast(model).contains("tabs is unchanged"));
    let effects = take(model, answered("Use blanks.\n"));
    let Call::WriteFact(changed) = call(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(changed.content, "Use blanks.\n");
    assert_eq!(changed.description, "Tabs.");
    assert_eq!(changed.expires.as_deref(), Some("2030-01-01"));
}

#[test]
fn every_key_that_works_everywhere_has_a_script() {
    for row in BINDINGS
        .iter()
        .filter(|row| row.context == Context::Everywhere)
    {
        everywhere(row.action);
    }
}

/// The effects of the answers to `/resume 75`.
fn resumed(model: &mut Model) {
    let unknown = ErrorReport {
        what: "There is no session `75`.".into(),
        hint: "Did you mean `7`, `5`? List sessions with `reasonix ls`.".into(),
        name: Some(proto::ErrorName::NotFound),
    };
    let find = || Call::Find("75".to_owned());
    let failed = Answer::Failed {
        call: find(),
        trouble: unknown,
    };
    take(
        model,
        vec![Event::Answered {
            follow: 0,
            answer: failed,
        }],
    );
    assert_eq!(
        toast(model),
        "There is no session `75`. · Did you mean `7`, `5`? List sessions with `/sessions`."
    );
    let mut found = crate::model::list::fixtures::summary(75, "The other", 3);
    found.title = "The other".into();
    let id = found.session.to_string();
    let answer = Answer::Found(Box::new(found));
    let effects = take(model, vec![Event::Answered { follow: 0, answer }]);
    assert!(
        matches!(&effects[..], [Effect::Follow { session, .. }] if *session == id),
        "{effects:?}"
    );
}

/// A command, said, and what must come of it.
#[allow(clippy::too_many_lines, reason = "a row for each command")]
fn said(command: Command) {
    let mut model = attached();
    match command {
        Command::Help => {
            say(&mut model, "/help");
            assert!(is_read(&model, |what| matches!(what, PagerContent::Help)));
        }
        Command::New => {
            assert_eq!(say(&mut model, "/new"), [Effect::Unfollow]);
            assert!(model.session.is_none());
            assert_eq!(toast(&model), "new session: your next prompt starts it");
            let effects = say(&mut model, "hello");
            assert!(
                matches!(call(&effects), Call::Create(_)),
                "the next prompt makes one"
            );
        }
        Command::Goal => {
            let effects = say(&mut model, "/goal make the tests pass");
            let starts = |what: &Call| matches!(what, Call::StartGoal(goal) if goal.text == "make the tests pass");
            assert!(starts(call(&effects)), "{effects:?}");
            goal_in_progress_is_replaced_after_a_yes(&mut model);
            let effects = say(&mut model, "/goal clear");
            assert!(matches!(call(&effects), Call::StopGoal(_)), "{effects:?}");
            let effects = say(&mut model, "/goal");
            assert!(matches!(call(&effects), Call::GoalStatus(_)), "{effects:?}");
            let effects = say(&mut model, "/goal --change turns 80 --budget-usd 2");
            let changes = |what: &Call| {
                matches!(what, Call::ChangeGoal(limits) if limits.max_turns == Some(80)
                    && limits.budget.is_some_and(|budget| budget.cost_micros == Some(2_000_000)))
            };
            assert!(changes(call(&effects)), "{effects:?}");
            for wrong in ["", " turns", " turns many", " days 2"] {
                assert_eq!(say(&mut model, &format!("/goal --change{wrong}")), []);
                assert!(toast(&model).contains("/goal --change turns 80"), "{wrong}");
            }
            assert_eq!(say(&mut model, "/goal --unknown x"), []);
            let options = "`--research`, `--simple`, `--change`";
            assert!(toast(&model).contains(options), "{}", toast(&model));
            let effects = say(&mut model, "/goal -- --unknown x");
            let starts =
                |what: &Call| matches!(what, Call::StartGoal(goal) if goal.text == "--unknown x");
            assert!(starts(call(&effects)), "{effects:?}");
        }
        Command::Clear => {
            say(&mut model, "/clear");
            let effects = press(&mut model, &["y"]);
            let hides = |what: &Call| matches!(what, Call::Rewind(to) if to.to_turn == Some(0) && to.what == What::Conversation);
            assert!(hides(call(&effects)));
        }
        Command::Resume => {
            say(&mut model, "/resume");
            assert!(is_list(&model, |of| matches!(
                of,
                ListOf::Sessions { here: true }
            )));
            let mut model = attached();
            let effects = say(&mut model, "/resume 75");
            assert_eq!(call(&effects), &Call::Find("75".to_owned()));
            assert!(model.session.is_some(), "until it is found nothing is left");
            resumed(&mut model);
        }
        Command::Sessions => {
            say(&mut model, "/sessions");
            assert!(is_list(&model, |of| matches!(
                of,
                ListOf::Sessions { here: false }
            )));
        }
        Command::Top => {
            say(&mut model, "/top");
            assert!(is_list(&model, |of| matches!(of, ListOf::Processes)));
        }
        Command::Agents => {
            let effects = say(&mut model, "/agents");
            let below = |what: &Call| matches!(what, Call::Processes(list) if list.below == Some(proto::Pid(7)) && list.all);
            assert!(below(call(&effects)), "{effects:?}");
            assert!(is_list(&model, |of| matches!(of, ListOf::Agents)));
        }
        Command::Inbox => {
            say(&mut model, "/inbox");
            assert!(is_list(&model, |of| matches!(of, ListOf::Inbox)));
        }
        Command::Forget => {
            say(&mut model, "/forget");
            assert!(press(&mut model, &["n"]).is_empty() && model.dialog.is_none());
            say(&mut model, "/forget");
            let effects = press(&mut model, &["y"]);
            assert!(matches!(call(&effects), Call::Delete(delete) if delete.confirm));
        }
        Command::Fork => {
            let effects = say(&mut model, "/fork other");
            assert!(
                matches!(call(&effects), Call::Fork(fork) if fork.name.as_deref() == Some("other"))
            );
        }
        Command::Rewind => {
            say(&mut model, "/rewind");
            assert!(is_list(&model, |of| matches!(of, ListOf::Turns)));
        }
        Command::Undo => {
            let effects = say(&mut model, "/undo");
            assert!(matches!(call(&effects), Call::Checkpoints { .. }));
        }
        Command::Redo => {
            let effects = say(&mut model, "/redo");
            assert!(matches!(call(&effects), Call::Rewind(to) if to.undo));
        }
        Command::Queue => {
            say(&mut model, "/queue");
            assert!(is_list(&model, |of| matches!(of, ListOf::Queue)));
        }
        Command::Steer => {
            assert!(say(&mut model, "/steer").is_empty());
            assert!(toast(&model).contains("/steer TEXT"));
            let effects = say(&mut model, "/steer left");
            let steers = |call: &Call| matches!(call, Call::Prompt { params, .. } if params.when == When::Steer && params.text == "left");
            assert!(steers(call(&effects)));
        }
        Command::Pause => {
            let effects = say(&mut model, "/pause");
            assert!(
                matches!(call(&effects), Call::Signal(params) if params.signal == Signal::Pause)
            );
        }
        Command::Continue => {
            let effects = say(&mut model, "/continue");
            assert!(
                matches!(call(&effects), Call::Signal(params) if params.signal == Signal::Resume)
            );
            let effects = say(&mut model, "/continue steps 20");
            assert!(
                matches!(call(&effects), Call::ResumeWork(params) if params.add_steps == Some(20) && params.add_ms.is_none())
            );
            let effects = say(&mut model, "/continue minutes 1.5");
            assert!(
                matches!(call(&effects), Call::ResumeWork(params) if params.add_ms == Some(90_000) && params.add_steps.is_none())
            );
            for wrong in ["/continue steps", "/continue steps few", "/continue 20"] {
                assert!(say(&mut model, wrong).is_empty(), "{wrong}");
                assert!(toast(&model).contains("/continue steps 20"), "{wrong}");
            }
        }
        Command::Rename => {
            let effects = say(&mut model, "/rename two words");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.name.as_deref() == Some("two words"))
            );
        }
        Command::Compact => {
            let effects = say(&mut model, "/compact keep the colours");
            assert!(
                matches!(call(&effects), Call::Compact(params) if params.instructions.as_deref() == Some("keep the colours"))
            );
            let effects = say(&mut model, "/compact undo");
            assert!(matches!(call(&effects), Call::Compact(params) if params.undo));
            let effects = say(&mut model, "/compact preview");
            assert!(
                matches!(call(&effects), Call::Compact(params) if params.preview && params.request_id.is_none())
            );
        }
        Command::Reload => {
            let effects = say(&mut model, "/reload");
            let Call::Reload(params) = call(&effects) else {
                panic!("it reloads");
            };
            assert!(!params.confirm, "the price is shown first");
            let answer = Answer::Failed {
                call: Call::Reload(params.clone()),
                trouble: ErrorReport {
                    what: "The cache will be lost.".into(),
                    hint: String::new(),
                    name: Some(proto::ErrorName::ConfirmNeeded),
                },
            };
            let asked = Event::Answered { follow: 0, answer };
            assert!(super::scene::take(&mut model, vec![asked]).is_empty());
            let effects = press(&mut model, &["y"]);
            assert!(matches!(call(&effects), Call::Reload(params) if params.confirm));
        }
        Command::Pin => {
            let effects = say(&mut model, "/pin 2");
            assert!(matches!(call(&effects), Call::Pin(params) if params.item.0 == "m2"));
        }
        Command::Model => {
            say(&mut model, "/model");
            assert!(is_list(&model, |of| matches!(of, ListOf::Models)));
            press(&mut model, &["esc"]);
            let effects = say(&mut model, "/model other/one");
            let Call::Set(set) = call(&effects) else {
                panic!("it sets the model");
            };
            assert_eq!(set.options.model.as_deref(), Some("other/one"));
            let trouble = ErrorReport {
                what: "The cache will be lost.".into(),
                hint: String::new(),
                name: Some(proto::ErrorName::ConfirmNeeded),
            };
            let answer = Answer::Failed {
                call: Call::Set(set.clone()),
                trouble,
            };
            let asked = Event::Answered { follow: 0, answer };
            assert!(
                super::scene::take(&mut model, vec![asked]).is_empty(),
                "it asks first"
            );
            let effects = press(&mut model, &["y"]);
            assert!(matches!(call(&effects), Call::Set(set) if set.confirm));
        }
        Command::Effort => {
            let effects = say(&mut model, "/effort auto");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.effort.as_deref() == Some(""))
            );
        }
        Command::Preset => {
            let effects = say(&mut model, "/preset smart");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.preset.as_deref() == Some("smart"))
            );
        }
        Command::ExtractReasoning => {
            let effects = say(&mut model, "/extract-reasoning on");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.extract_reasoning == Some(true))
            );
            assert!(say(&mut model, "/extract-reasoning perhaps").is_empty());
        }
        Command::Samples => {
            let effects = say(&mut model, "/samples 3");
            assert!(matches!(call(&effects), Call::Set(set) if set.options.samples == Some(3)));
            assert!(say(&mut model, "/samples 9").is_empty());
        }
        Command::ApprovalMode => {
            assert!(say(&mut model, "/approval-mode").is_empty(), "it shows");
            assert!(toast(&model).contains("approval mode: ask"));
            let effects = say(&mut model, "/approval-mode auto");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.approval_mode == Some(ApprovalMode::Auto))
            );
            assert!(
                say(&mut model, "/approval-mode yolo").is_empty(),
                "it asks first"
            );
            let effects = press(&mut model, &["y"]);
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.approval_mode == Some(ApprovalMode::Yolo))
            );
        }
        Command::Skills => {
            say(&mut model, "/skills");
            assert!(is_list(&model, |of| matches!(of, ListOf::Skills)));
        }
        Command::Search => {
            let effects = say(&mut model, "/search two words");
            assert!(matches!(call(&effects), Call::Search(params) if params.query == "two words"));
            assert!(is_list(&model, |of| matches!(of, ListOf::Search)));
        }
        Command::Commands => {
            let effects = say(&mut model, "/commands");
            assert!(matches!(call(&effects), Call::CustomCommands(_)));
        }
        Command::Memory => {
            facts_are_changed(&mut model);
            let effects = say(&mut model, "/memory");
            assert!(
                matches!(call(&effects), Call::Memory(params) if params.archived && params.session.is_some())
            );
            let fact = |archived: serde_json::Value| {
                serde_json::json!({
                    "name": "tabs", "description": "Use \u{1b}[2Jtabs", "type": "user",
                    "scope": "user", "file": "/home/memory/tabs.md", "archived": archived,
                    "expires": "2020-01-01", "stale": true,
                })
            };
            let facts = [fact(serde_json::json!(1)), fact(serde_json::Value::Null)];
            let output = serde_json::json!({"facts": facts, "problems": ["`x.md` is left out."]});
            let answer = Answer::Memory(serde_json::from_value(output).unwrap());
            take(&mut model, vec![Event::Answered { follow: 0, answer }]);
            let Some(Dialog::Pager(pager)) = &model.dialog else {
                panic!("the facts are shown");
            };
            let PagerContent::Lines { lines, .. } = &pager.what else {
                panic!("as lines");
            };
            let wanted = [
                "tabs · user",
                "  ! expired on 2020-01-01",
                "Archived:",
                "tabs 1 · user",
            ];
            let places = wanted.map(|wanted| lines.iter().position(|line| line == wanted));
            assert!(
                places.iter().all(Option::is_some) && places.is_sorted(),
                "{lines:#?}"
            );
            assert!(
                lines.iter().all(|line| !line.contains('\u{1b}')),
                "{lines:#?}"
            );
            assert_eq!(
                lines.last().map(String::as_str),
                Some("`x.md` is left out.")
            );
        }
        Command::Hooks => {
            let effects = say(&mut model, "/hooks");
            assert!(matches!(call(&effects), Call::Hooks(_)));
            let effects = say(&mut model, "/hooks reload");
            assert!(
                matches!(call(&effects), Call::ReloadHooks(params) if !params.session.is_empty())
            );
        }
        Command::Mcp => {
            let effects = say(&mut model, "/mcp restart");
            assert!(effects.is_empty(), "{effects:?}");
            let effects = say(&mut model, "/mcp restart web");
            let Call::RestartServer(params) = call(&effects) else {
                panic!("{effects:?}");
            };
            assert!(params.name == "web" && params.cwd.is_some());
            let pid = model.session.as_ref().map(|session| session.pid);
            assert!(params.session == pid && pid.is_some());
            let answer = Answer::Done(Call::RestartServer(params.clone()));
            take(&mut model, vec![Event::Answered { follow: 0, answer }]);
            assert!(toast(&model).contains("restarting web"));
            let effects = say(&mut model, "/mcp");
            assert!(matches!(call(&effects), Call::Servers(params) if params.cwd.is_some()));
            let server = |name: &str, more: serde_json::Value| {
                let mut server = serde_json::json!({
                    "name": name, "scope": "user", "source": "/home/mcp.json", "target": "serve \u{1b}[2Jit",
                    "state": "ready", "tools": [],
                });
                for (key, value) in more.as_object().unwrap() {
                    server[key] = value.clone();
                }
                server
            };
            let tools = serde_json::json!({"tools": ["mcp__web__get", "mcp__web__put"]});
            let fault =
                serde_json::json!({"state": "failed", "reason": "it exited \u{1b}]0;x\u{7}"});
            let output = serde_json::json!({
                "servers": [server("web", tools), server("bad", fault)],
                "problems": ["`x` is left out."],
            });
            let answer = Answer::Servers(serde_json::from_value(output).unwrap());
            take(&mut model, vec![Event::Answered { follow: 0, answer }]);
            let Some(Dialog::Pager(pager)) = &model.dialog else {
                panic!("no list of servers");
            };
            let PagerContent::Lines { lines, .. } = &pager.what else {
                panic!("as lines");
            };
            for wanted in [
                "web · ready",
                "  tools (2): mcp__web__get, mcp__web__put",
                "bad · failed",
                "  no tools are known yet",
                "`x` is left out.",
            ] {
                assert!(lines.iter().any(|line| line == wanted), "{lines:#?}");
            }
            assert!(
                lines
                    .iter()
                    .any(|line| line.contains("does not work: it exited"))
                    && lines.iter().all(|line| !line.contains('\u{1b}')),
                "{lines:#?}"
            );
        }
        Command::Permissions => {
            let effects = say(&mut model, "/permissions");
            assert!(matches!(call(&effects), Call::Rules(params) if params.session.is_some()));
        }
        Command::Plan => {
            let effects = say(&mut model, "/plan");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.mode == Some(Mode::Plan))
            );
        }
        Command::Normal => {
            let effects = say(&mut model, "/normal");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.mode == Some(Mode::Normal))
            );
        }
        Command::Safe => {
            let effects = say(&mut model, "/safe");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.read_only == Some(true))
            );
            let effects = say(&mut model, "/safe off");
            assert!(
                matches!(call(&effects), Call::Set(set) if set.options.read_only == Some(false))
            );
        }
        Command::Trust => {
            let effects = say(&mut model, "/trust");
            assert!(
                matches!(call(&effects), Call::Trust { params, unasked: false } if params.cwd == "/proj")
            );
        }
        Command::Todos => {
            let before = model.look.todos;
            say(&mut model, "/todos");
            assert!(toast(&model).contains("no todo list"));
            assert_eq!(model.look.todos, before);
            to_do(&mut model);
            say(&mut model, "/todos");
            assert_ne!(model.look.todos, before);
        }
        Command::View => {
            say(&mut model, "/view");
            assert!(is_read(&model, |what| matches!(
                what,
                PagerContent::Transcript
            )));
        }
        Command::Copy => {
            assert!(say(&mut model, "/copy").is_empty());
            assert!(toast(&model).contains("no answer"));
            let answer = message(2, "", "The answer.", "stop");
            model.transcript.fold(&answer);
            assert_eq!(
                say(&mut model, "/copy"),
                [Effect::Copy("The answer.".to_owned())]
            );
        }
        Command::Diff => {
            assert!(say(&mut model, "/diff").is_empty());
            assert!(toast(&model).contains("not changed any files"));
        }
        Command::Context => {
            let effects = say(&mut model, "/context");
            assert!(matches!(call(&effects), Call::Inspect(_)));
        }
        Command::Budget => {
            let effects = say(&mut model, "/budget");
            assert!(
                matches!(call(&effects), Call::Inspect(params) if params.part == InspectPart::Budget)
            );
            let effects = say(&mut model, "/budget usd 2");
            let Call::Set(set) = call(&effects) else {
                panic!("{effects:?}");
            };
            assert_eq!(
                set.options.budget.and_then(|budget| budget.cost_micros),
                Some(2_000_000)
            );
            // The outcome is shown.
            let asked = Event::Answered {
                follow: 0,
                answer: super::scene::was_set(set, |_| {}),
            };
            let effects = super::scene::take(&mut model, vec![asked]);
            assert!(
                matches!(call(&effects), Call::Inspect(params) if params.part == InspectPart::Budget)
            );
            for wrong in ["/budget 2", "/budget usd much", "/budget days 2"] {
                assert!(say(&mut model, wrong).is_empty());
                let shown = toast(&model);
                let begin = format!("`{wrong}` does not name a limit and its amount");
                assert!(shown.starts_with(&begin), "{shown}");
                assert!(shown.contains("/budget tokens 100k"), "{shown}");
            }
        }
        Command::Cost => {
            let effects = say(&mut model, "/cost");
            assert!(matches!(call(&effects), Call::Stats(params) if params.session.is_some()));
        }
        Command::Stats => {
            let effects = say(&mut model, "/stats");
            assert!(matches!(call(&effects), Call::Stats(params) if params.session.is_none()));
        }
        Command::Export => {
            let effects = say(&mut model, "/export out.md");
            let file = |effects: &[Effect]| match effects {
                [Effect::Call(Call::Export { file, .. })] => file.display().to_string(),
                other => panic!("{other:?}"),
            };
            assert_eq!(file(&effects), "/proj/out.md");
        }
        Command::Theme => {
            assert_eq!(say(&mut model, "/theme light"), [Effect::Reprint]);
            assert_eq!(model.look.theme.name(), "light");
            assert!(say(&mut model, "/theme nosuch").is_empty());
            assert!(toast(&model).contains("auto, dark"), "{}", toast(&model));
            model.look.auto_theme = crate::theme::Theme::Sixteen;
            assert_eq!(say(&mut model, "/theme auto"), [Effect::Reprint]);
            assert_eq!(model.look.theme.name(), "16");
            assert!(
                toast(&model).contains("tui.theme auto"),
                "{}",
                toast(&model)
            );
        }
        Command::Language => {
            assert_eq!(say(&mut model, "/language zh"), [Effect::Reprint]);
            assert!(toast(&model).contains("简体中文"));
        }
        Command::Vim => {
            say(&mut model, "/vim");
            assert!(model.look.vim);
            model.composer.set("word");
            press(&mut model, &["esc", "x"]);
            assert_eq!(model.composer.text(), "wor");
            model.composer.set("");
            say(&mut model, "/vim");
            assert!(!model.look.vim && !model.composer.is_normal());
        }
        Command::Editor => {
            assert_eq!(say(&mut model, "/editor"), [Effect::Edit(String::new())]);
        }
        Command::Detach => {
            let mut model = busy();
            assert!(matches!(
                &say(&mut model, "/detach")[..],
                [Effect::Leave(_)]
            ));
        }
        Command::Quit => {
            assert!(matches!(&say(&mut model, "/quit")[..], [Effect::Leave(_)]));
            let mut model = busy();
            assert!(say(&mut model, "/quit").is_empty(), "a turn runs: it asks");
            let effects = press(&mut model, &["y"]);
            let stops = matches!(effects.first(), Some(Effect::Call(Call::Interrupt { .. })));
            assert!(stops && matches!(effects.last(), Some(Effect::Leave(_))));
        }
    }
}

#[test]
fn every_command_has_a_script() {
    let mut seen = HashSet::new();
    for row in COMMANDS {
        seen.insert(row.command);
        said(row.command);
    }
    assert_eq!(seen.len(), COMMANDS.len());
}

#[test]
fn the_first_prompt_makes_the_session_and_is_not_lost_where_that_fails() {
    let mut model = fresh();
    let effects = say(&mut model, "hello");
    assert!(
        matches!(call(&effects), Call::Create(params) if params.prompt.as_deref() == Some("hello"))
    );
    assert!(model.composer.is_empty());
    assert!(say(&mut model, "again").is_empty(), "one is on its way");
    model.composer.set("");
    let failed = Answer::Failed {
        call: call(&effects).clone(),
        trouble: ErrorReport::new("no provider", "`reasonix setup`"),
    };
    let now = model.now;
    super::update(
        &mut model,
        Event::Answered {
            follow: 0,
            answer: failed,
        },
        now,
    );
    assert_eq!(model.composer.text(), "hello");
    assert!(toast(&model).contains("no provider"));
}

#[test]
fn a_draft_stays_with_its_session() {
    let arrives = |model: &mut Model, session: SessionId, pid: u64| {
        let update = SessionUpdate::Attached {
            session,
            pid: Pid(pid),
        };
        let follow = model.follow;
        super::scene::take(model, vec![Event::Session { follow, update }]);
    };
    let mut model = super::scene::attached();
    let seven = model.session.as_ref().map(|session| session.id).unwrap();
    model.composer.set("for seven");
    super::daemon::go_to(&mut model, "8");
    assert_eq!(model.composer.text(), "");
    arrives(&mut model, SessionId::new(), 8);
    model.composer.set("for eight");
    super::daemon::fresh(&mut model);
    assert_eq!(model.composer.text(), "");
    model.composer.set("for a new one");
    super::daemon::go_to(&mut model, "7");
    arrives(&mut model, seven, 7);
    assert_eq!(model.composer.text(), "for seven");
    super::daemon::fresh(&mut model);
    assert_eq!(model.composer.text(), "for a new one");
    // The new session is created: text typed meanwhile goes with it.
    let made = Answer::Created(proto::params::session::CreateOutput {
        session: SessionId::new(),
        pid: Pid(9),
        model: "fake/model".to_owned(),
        prompt_id: None,
    });
    let follow = model.follow;
    let event = Event::Answered {
        follow,
        answer: made,
    };
    super::scene::take(&mut model, vec![event]);
    assert_eq!(model.composer.text(), "for a new one");
}

#[test]
fn options_before_the_first_prompt_count_for_the_session_that_it_makes() {
    let mut model = fresh();
    for (line, said) in [
        ("/effort low", "effort: low"),
        (
            "/preset smart",
            "new sessions of this window use preset: smart",
        ),
        (
            "/effort high",
            "new sessions of this window use effort: high",
        ),
        ("/samples 3", "3 samples for each request"),
        ("/extract-reasoning on", "extract"),
        ("/approval-mode auto", "approval mode: auto"),
        (
            "/model near/chat",
            "new sessions of this window use near/chat",
        ),
    ] {
        assert!(say(&mut model, line).is_empty(), "{line}");
        assert!(toast(&model).contains(said), "{line}: {}", toast(&model));
    }
    let effects = say(&mut model, "hello");
    let Call::Create(params) = call(&effects) else {
        panic!("{effects:?}")
    };
    let options = &params.options;
    assert_eq!(params.preset.as_deref(), Some("smart"));
    assert_eq!(options.effort.as_deref(), Some("high"));
    assert_eq!(
        (options.samples, options.extract_reasoning),
        (Some(3), Some(true))
    );
    assert_eq!(
        options.approval_mode,
        Some(proto::state::ApprovalMode::Auto)
    );
    assert_eq!(options.model.as_deref(), Some("near/chat"));
    let mut loading = fresh();
    super::daemon::go_to(&mut loading, "7");
    assert!(say(&mut loading, "/effort high").is_empty());
    assert!(toast(&loading).contains("is loading"));
    assert_eq!(loading.place.template.options.effort, None);
}

#[test]
fn nothing_is_sent_while_a_session_is_being_loaded() {
    let mut model = fresh();
    super::daemon::go_to(&mut model, "7");
    assert!(say(&mut model, "hello").is_empty(), "no session is made");
    assert_eq!(model.composer.text(), "hello");
    assert!(toast(&model).contains("is loading"));
    assert!(press(&mut model, &["ctrl-o"]).is_empty());
    assert_eq!(model.place.template.options.approval_mode, None);
}

#[test]
fn an_answer_about_a_session_that_was_left_changes_nothing_of_the_next() {
    let mut model = attached();
    assert!(matches!(
        call(&say(&mut model, "/undo")),
        Call::Checkpoints { undo: true, .. }
    ));
    super::daemon::go_to(&mut model, "8");
    let answered = |answer| Event::Answered { follow: 0, answer };
    let turns = Answer::Checkpoints {
        undo: true,
        output: proto::params::history::CheckpointsOutput {
            turns: vec![proto::params::history::TurnCheckpoint {
                turn: 1,
                at: proto::Stamp(0),
                prompt: String::new(),
                cause: None,
                files: Vec::new(),
                notes: Vec::new(),
            }],
            undo: false,
        },
    };
    assert!(super::scene::take(&mut model, vec![answered(turns)]).is_empty());
    let forked = Answer::Forked(proto::params::history::ForkOutput {
        session: proto::SessionId::new(),
        pid: proto::Pid(9),
        at_turn: 1,
        forecast: None,
    });
    assert!(super::scene::take(&mut model, vec![answered(forked)]).is_empty());
    assert!(toast(&model).contains("session 9"));
    assert_eq!(model.follow, 1);
}

#[test]
fn without_a_session_ctrl_c_does_not_speak_of_one() {
    let mut model = fresh();
    press(&mut model, &["ctrl-c"]);
    assert_eq!(toast(&model), "press Ctrl-C again to quit");
    let mut model = attached();
    press(&mut model, &["ctrl-c"]);
    assert_eq!(
        toast(&model),
        "press Ctrl-C again to quit (the session stays)"
    );
}

#[test]
fn a_signal_that_changes_nothing_is_reported() {
    for (signal, words) in [
        (
            Signal::Resume,
            "nothing to continue: the session is not paused",
        ),
        (Signal::Pause, "the session is already paused"),
    ] {
        let mut model = attached();
        let answer = Answer::NotDelivered(signal);
        super::scene::take(&mut model, vec![Event::Answered { follow: 0, answer }]);
        assert_eq!(toast(&model), words);
    }
}

#[test]
fn the_cost_of_one_request_is_in_the_singular() {
    for (requests, words) in [(1, "1 request · "), (2, "2 requests · ")] {
        let mut model = attached();
        let session = model.session.as_ref().unwrap().id.to_string();
        let params = StatsParams {
            session: Some(session),
            ..StatsParams::default()
        };
        let mut total = StatsRow::default();
        total.usage.requests = requests;
        let output = Box::new(StatsOutput {
            total,
            days: Vec::new(),
            models: Vec::new(),
            sessions: Vec::new(),
            hooks: Vec::new(),
            purposes: Vec::new(),
            repairs: None,
            tools: Vec::new(),
        });
        let answer = Answer::Stats { params, output };
        super::scene::take(&mut model, vec![Event::Answered { follow: 0, answer }]);
        let entries = format!("{:?} {:?}", model.transcript.entries, model.toast);
        assert!(entries.contains(words), "{entries}");
    }
}

#[test]
fn hints_of_the_daemon_name_the_commands_of_the_interface() {
    for (hint, typed) in [
        (
            "Rewind with `reasonix rewind SESSION TURN`.",
            "Rewind with `/rewind`.",
        ),
        (
            "Start one with `reasonix goal -s 7 \"TEXT\"`.",
            "Start one with `/goal TEXT`.",
        ),
        ("See `reasonix commands`.", "See `/commands`."),
    ] {
        let mut model = attached();
        model.trouble(&ErrorReport::new("It is refused.", hint));
        assert_eq!(toast(&model), format!("It is refused. · {typed}"));
    }
}

#[test]
fn a_key_in_between_makes_the_second_ctrl_c_a_first() {
    let mut model = attached();
    model.composer.set("a draft");
    press(&mut model, &["ctrl-c"]);
    assert!(model.composer.is_empty());
    press(&mut model, &["x"]);
    assert!(
        press(&mut model, &["ctrl-c"]).is_empty(),
        "it does not leave"
    );
    assert!(matches!(
        &press(&mut model, &["ctrl-c"])[..],
        [Effect::Leave(_)]
    ));
    let mut model = attached();
    press(&mut model, &["ctrl-c"]);
    let paste = Event::Paste("words".to_owned());
    super::scene::take(&mut model, vec![paste]);
    assert!(press(&mut model, &["ctrl-c"]).is_empty());
}

#[test]
fn what_was_not_sent_is_printed_when_leaving() {
    let words = |model: &mut Model| {
        press(model, &["ctrl-c"]);
        match &press(model, &["ctrl-c"])[..] {
            [Effect::Leave(report)] => report.words.join("\n"),
            other => panic!("it leaves, and not {other:?}"),
        }
    };
    let mut model = attached();
    model.composer.set("a draft\nof two lines");
    assert!(words(&mut model).ends_with("not sent:\na draft\nof two lines"));
    let mut model = attached();
    model.composer.set("an older one");
    press(&mut model, &["ctrl-c", "x", "enter"]);
    assert!(!words(&mut model).contains("not sent"));
    // An earlier prompt that is only looked at.
    let mut model = attached();
    say(&mut model, "sent before");
    press(&mut model, &["up"]);
    assert_eq!(model.composer.text(), "sent before");
    assert!(!words(&mut model).contains("not sent"));
}

#[test]
fn an_unknown_command_stays_in_the_composer_and_is_reported() {
    let mut model = attached();
    model.composer.menu.commands_came(Vec::new(), Role::Drive);
    assert!(say(&mut model, "/expotr file").is_empty());
    assert_eq!(model.composer.text(), "/expotr file");
    assert!(toast(&model).contains("/export"), "{}", toast(&model));
}

#[test]
fn watcher_cannot_prompt_fork_interrupt_or_change_the_approval_mode() {
    let mut model = busy();
    model.place.role = Role::Watch;
    assert!(say(&mut model, "do it").is_empty());
    assert!(say(&mut model, "/fork").is_empty());
    assert!(press(&mut model, &["ctrl-o"]).is_empty());
    assert!(press(&mut model, &["ctrl-c"]).is_empty());
    assert!(matches!(
        &press(&mut model, &["ctrl-c"])[..],
        [Effect::Leave(_)]
    ));
}

#[test]
fn esc_twice_on_an_empty_line_goes_back_to_a_turn() {
    let mut model = attached();
    assert!(press(&mut model, &["esc"]).is_empty());
    let effects = press(&mut model, &["esc"]);
    assert!(matches!(call(&effects), Call::Checkpoints { .. }));
}

#[test]
fn the_hint_for_a_second_press_goes_after_another_key() {
    let mut model = attached();
    press(&mut model, &["ctrl-c"]);
    assert!(toast(&model).contains("Ctrl-C again"));
    press(&mut model, &["x"]);
    assert_eq!(toast(&model), "");
    press(&mut model, &["ctrl-c", "ctrl-b"]);
    assert!(toast(&model).contains("tool output"));
}

#[test]
fn the_nearest_command_is_named() {
    let table = [
        ("/sess", "/sessions?"),
        ("/undp", "/undo?"),
        ("/modle", "/model?"),
        ("/rewnid", "/rewind?"),
        ("/exi", "/exit?"),
        ("/xyzzy", "`/help`"),
    ];
    for (said, named) in table {
        let mut model = attached();
        model.composer.menu.commands_came(Vec::new(), Role::Drive);
        assert!(say(&mut model, said).is_empty());
        assert!(toast(&model).contains(named), "{said}: {}", toast(&model));
        assert_eq!(model.composer.text(), said);
    }
}

#[test]
fn arguments_that_a_command_refuses_stay_in_the_composer() {
    let table = [
        ("/copy 0", "/copy [N|code]"),
        ("/copy all", "/copy [N|code]"),
        ("/export", "/export FILE"),
        ("/new fix the bug", "/new takes no arguments"),
        ("/approval-mode maybe", "/approval-mode"),
        ("/theme nosuch", "/theme"),
    ];
    for (written, message) in table {
        let mut model = attached();
        assert!(say(&mut model, written).is_empty(), "{written}");
        assert_eq!(model.composer.text(), written);
        assert!(
            toast(&model).contains(message),
            "{written}: {}",
            toast(&model)
        );
        assert!(model.session.is_some());
    }
}

/// Adds this many answers of the model.
fn answered(count: u64) -> Model {
    let mut model = attached();
    for n in 0..count {
        let said = serde_json::json!({
            "item": format!("i{n}"), "text": format!("answer {n}"), "finish": "stop",
        });
        let said: proto::Body = proto::Body::Assistant(serde_json::from_value(said).unwrap());
        super::scene::take(&mut model, vec![super::scene::record(n + 1, &said)]);
    }
    model
}

#[test]
fn copying_a_missing_answer_reports_how_many_there_are() {
    let mut model = answered(2);
    assert_eq!(
        say(&mut model, "/copy 2"),
        [Effect::Copy("answer 0".to_owned())]
    );
    assert!(say(&mut model, "/copy 99").is_empty());
    assert!(
        toast(&model).contains("only 2 answers"),
        "{}",
        toast(&model)
    );
    assert_eq!(model.composer.text(), "/copy 99");
    let mut model = answered(1);
    assert!(say(&mut model, "/copy 2").is_empty());
    assert!(toast(&model).contains("only one answer"));
    let mut model = answered(0);
    assert!(say(&mut model, "/copy 99").is_empty());
    assert!(toast(&model).contains("no answer"));
}

#[test]
fn an_undo_is_written_only_where_it_changes_a_file() {
    use proto::params::history::{CheckpointsOutput, RewindOutput, TurnCheckpoint};
    use proto::record::{FileState, RewoundFile, RewoundResult};
    let happened = |files: Vec<RewoundResult>| {
        let mut model = attached();
        say(&mut model, "/undo");
        let turn = |turn| TurnCheckpoint {
            turn,
            at: proto::Stamp(0),
            prompt: String::new(),
            cause: None,
            files: Vec::new(),
            notes: Vec::new(),
        };
        let output = CheckpointsOutput {
            turns: vec![turn(1), turn(3)],
            undo: false,
        };
        let answer = |answer| vec![Event::Answered { follow: 0, answer }];
        let undo = true;
        let effects = super::scene::take(&mut model, answer(Answer::Checkpoints { undo, output }));
        let Call::Rewind(params) = call(&effects).clone() else {
            panic!("{effects:?}")
        };
        assert!(params.dry_run && params.to_turn == Some(1) && params.what == What::Code);
        let file = |result| RewoundFile {
            path: "/proj/a".to_owned(),
            result,
            before: FileState::Absent,
            after: FileState::Absent,
        };
        let output = RewindOutput {
            seq: None,
            turn: 1,
            turns: 0,
            files: files.into_iter().map(file).collect(),
            notes: Vec::new(),
        };
        let effects = super::scene::take(&mut model, answer(Answer::Rewound { params, output }));
        (effects, toast(&model).to_owned())
    };
    for nothing in [vec![], vec![RewoundResult::Same]] {
        let (effects, notice) = happened(nothing);
        assert!(
            effects.is_empty() && notice.starts_with("nothing to undo"),
            "{notice}"
        );
    }
    for something in [RewoundResult::Restored, RewoundResult::ChangedSince] {
        let (effects, _) = happened(vec![RewoundResult::Same, something]);
        assert!(
            matches!(call(&effects), Call::Rewind(to) if !to.dry_run && to.request_id.is_some())
        );
    }
}

#[test]
fn the_window_is_named_again_when_the_shell_brings_us_back() {
    let mut model = attached();
    super::scene::take(&mut model, vec![Event::Focus(true)]);
    let now = model.now;
    let continued = Event::Signal(crate::event::Signal::Continue);
    let effects = super::update(&mut model, continued, now);
    assert_eq!(
        effects,
        [Effect::Title("reasonix".to_owned()), Effect::Redraw]
    );
}

fn goal_in_progress_is_replaced_after_a_yes(model: &mut Model) {
    let line = serde_json::json!({"text": "tidy up", "turn": 1, "max_turns": 0});
    let line: proto::params::goal::GoalLine = serde_json::from_value(line).unwrap();
    let session = model.session.as_mut().unwrap();
    session.goal = Some(crate::model::goal::Goal::from(&line));
    assert_eq!(say(model, "/goal another one"), []);
    let Some(Dialog::Confirm(confirm)) = &model.dialog else {
        panic!("it asks first")
    };
    assert!(confirm.words[0].contains("tidy up"), "{:?}", confirm.words);
    let effects = press(model, &["y"]);
    let starts = |what: &Call| matches!(what, Call::StartGoal(goal) if goal.text == "another one");
    assert!(starts(call(&effects)), "{effects:?}");
    model.session.as_mut().unwrap().goal = None;
}
