//! Commands that a user changed before they ran: which command runs, which is refused, what the log and the model say, and what a
//! killed daemon does with them.

use std::fs;

use client::Client;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::SessionCreate;
use proto::params::interaction::{AnswerParams, ApprovalDecision, Interaction, InteractionAnswer};
use proto::record::{PolicyDecided, ToolStarted, Verdict};
use proto::state::Mode;
use proto::{Body, ErrorName, Pid};
use serde_json::{Value, json};
use testkit::Script;
use testkit::model::{Answer, Model};
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{allow_once, answer, answer_with, approval, decide, first_opened};
use tests::log::Log;
use tests::{House, until};

/// A house whose model runs these commands, a turn.
fn house<const N: usize>(answers: [Answer; N]) -> (House, Model) {
    let model = Model::start(answers);
    let house = House::new();
    house.provider(&model.entry("model", None));
    (house, model)
}

fn runs(command: &str) -> Answer {
    Answer::call("bash", json!({ "command": command }))
}

/// A house whose model wants to make a file.
fn touching() -> (House, Model) {
    house([runs("touch original"), Answer::text("It is made.")])
}

async fn begun(house: &House, client: &Client) -> (Pid, Interaction) {
    let created = client.call::<SessionCreate>(&house.create("make it")).await;
    let pid = created.expect("create").pid;
    (pid, first_opened(client, pid).await)
}

fn edit(open: &Interaction, command: &str) -> AnswerParams {
    let answer = InteractionAnswer::Approval {
        decision: ApprovalDecision::AllowOnce,
        scope: None,
        note: None,
        edited_command: Some(command.to_owned()),
    };
    answer_with(open, answer)
}

async fn at_rest(house: &House, client: &Client, pid: Pid) -> Log {
    let mut follow = from_the_start(client, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    log.check();
    log
}

fn decisions(log: &Log) -> Vec<PolicyDecided> {
    let decided = |body| match body {
        Body::PolicyDecided(decided) => Some(decided),
        _ => None,
    };
    log.bodies().into_iter().filter_map(decided).collect()
}

fn started(log: &Log) -> Vec<ToolStarted> {
    let started = |body| match body {
        Body::ToolStarted(started) => Some(started),
        _ => None,
    };
    log.bodies().into_iter().filter_map(started).collect()
}

/// The newest text that the model got.
fn newest_result(model: &Model) -> String {
    let requests = model.requests();
    let last = requests.last().expect("a request");
    let (_, text) = last.results().pop().expect("a result");
    text
}

fn is_there(house: &House, file: &str) -> bool {
    house.project().join(file).exists()
}

#[tokio::test]
async fn the_edited_command_runs_and_log_and_model_say_who_changed_what() {
    let (house, model) = touching();
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    assert!(approval(&open).editable, "{open:?}");
    let first = edit(&open, "touch edited && echo done");
    answer(&client, &first).await.expect("an edited yes");
    // The repeat of a lost answer is the same one.
    answer(&client, &first).await.expect("a repeat");
    let log = at_rest(&house, &client, pid).await;

    assert!(is_there(&house, "edited") && !is_there(&house, "original"));
    let resolved = log.resolved().remove(0);
    assert_eq!(resolved.by, "ann");
    assert_eq!(resolved.answer, Some(first.answer));
    let change = resolved.edit.expect("the change");
    let arguments = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    assert_eq!(change.tool, "bash");
    assert_eq!(arguments(&change.original)["command"], "touch original");
    assert_eq!(
        arguments(&change.edited)["command"],
        "touch edited && echo done"
    );
    let decided = decisions(&log);
    let judged: Vec<_> = decided.iter().map(|it| it.subject.as_str()).collect();
    assert_eq!(judged, ["touch original", "touch edited && echo done"]);
    assert_ne!(
        decided[0].input_sha256, decided[1].input_sha256,
        "it is hashed again"
    );
    let started = started(&log);
    assert_eq!(started.len(), 1, "{started:?}");
    assert_eq!(started[0].subject, "touch edited && echo done");
    assert_eq!(log.count("interaction.opened"), 1, "it is asked once");
    let result = newest_result(&model);
    for words in [
        "ann",
        "changed the command",
        "touch edited && echo done",
        "done",
    ] {
        assert!(result.contains(words), "{words}: {result}");
    }
    model.assert_prefix();
}

#[tokio::test]
async fn a_deny_rule_refuses_the_edited_command() {
    let (house, model) = touching();
    house.settings("[permissions]\ndeny = [\"Bash(rm:*)\"]");
    house.files("//- kept\nprecious\n");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let answered = answer(&client, &edit(&open, "true; rm kept")).await;
    answered.expect("an answer");
    let log = at_rest(&house, &client, pid).await;
    assert!(is_there(&house, "kept") && !is_there(&house, "original"));
    assert_eq!(log.results()[0].status, CallStatus::Denied);
    assert_eq!(started(&log), []);
    let last = decisions(&log).pop().expect("a decision");
    assert_eq!(
        (last.verdict, last.subject.as_str()),
        (Verdict::Deny, "true; rm kept")
    );
    let result = newest_result(&model);
    for words in ["changed the command", "rm kept", "Bash(rm:*)"] {
        assert!(result.contains(words), "{words}: {result}");
    }
}

#[tokio::test]
async fn a_hook_is_asked_again_about_the_edited_command() {
    let (house, model) = touching();
    let blocks = "if grep -q forbidden; then echo not that >&2; exit 2; fi";
    let hooks = json!({"hooks": {"PreToolUse": [{"command": blocks}]}});
    fs::write(house.home_file("settings.json"), hooks.to_string()).expect("write the hook");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let answered = answer(&client, &edit(&open, "touch forbidden")).await;
    answered.expect("an answer");
    let log = at_rest(&house, &client, pid).await;
    assert!(!is_there(&house, "forbidden") && !is_there(&house, "original"));
    assert_eq!(log.count("hook.finished"), 2);
    assert!(
        newest_result(&model).contains("not that"),
        "{}",
        newest_result(&model)
    );
}

#[tokio::test]
async fn an_unchanged_command_is_a_plain_yes() {
    let (house, model) = touching();
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let answered = answer(&client, &edit(&open, "touch original")).await;
    answered.expect("an answer");
    let log = at_rest(&house, &client, pid).await;
    assert!(is_there(&house, "original"));
    let resolved = log.resolved().remove(0);
    assert_eq!(resolved.edit, None);
    assert_eq!(resolved.answer, Some(allow_once(&open).answer));
    assert!(!newest_result(&model).contains("changed the command"));
}

#[tokio::test]
async fn invalid_command_edits_are_refused_with_the_reason_and_a_hint() {
    let (house, _model) = touching();
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let watcher = house.client("eve", Role::Watch).await;
    let refused = answer(&watcher, &edit(&open, "touch edited")).await;
    assert_eq!(
        refused.expect_err("a watcher only watches").name,
        ErrorName::NotAllowed
    );
    for (command, decision, why) in [
        ("", ApprovalDecision::AllowOnce, "empty"),
        (" \n", ApprovalDecision::AllowOnce, "empty"),
        ("a\0b", ApprovalDecision::AllowOnce, "zero byte"),
        ("ls", ApprovalDecision::AllowSession, "only be allowed once"),
        ("ls", ApprovalDecision::Deny, "only be allowed once"),
    ] {
        let mut params = edit(&open, command);
        if let InteractionAnswer::Approval { decision: of, .. } = &mut params.answer {
            *of = decision;
        }
        let refused = answer(&client, &params).await.expect_err(why);
        assert_eq!(refused.name, ErrorName::InvalidParams, "{refused:?}");
        assert!(refused.message.contains(why), "{refused:?}");
        assert!(!refused.hint.is_empty(), "{refused:?}");
    }
    let mut stale = edit(&open, "touch edited");
    stale.shown_hash = "0".repeat(64);
    let refused = answer(&client, &stale).await.expect_err("a stale hash");
    assert_eq!(refused.name, ErrorName::Stale);
    assert_eq!(house.log(pid).resolved(), [], "it is still open");
    let id = open.interaction_id.to_string();
    let empty = house.reasonix(&["inbox", "allow", &id, "--edit", ""]);
    assert_ne!(empty.code(), Some(0), "{empty:?}");
    assert!(
        empty.err.contains("The changed command is empty"),
        "{empty:?}"
    );
    answer(&client, &decide(&open, ApprovalDecision::Deny))
        .await
        .expect("a no");
    let log = at_rest(&house, &client, pid).await;
    assert_eq!(started(&log), []);
}

#[tokio::test]
async fn only_commands_are_edited() {
    let questions = json!({"questions": [{"question": "Which?", "header": "H", "options": [
        {"label": "a", "description": ""}, {"label": "b", "description": ""}]}]});
    let script = Script::new()
        .calls("make_dir", &json!({"path": "made"}))
        .when("call")
        .calls("ask", &questions)
        .when("questions")
        .calls("exit_plan_mode", &json!({"plan": "1. wait"}))
        .when("plan");
    let house = House::playing(&script);
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    for (kind, why) in [
        ("call", "no command that can be changed"),
        ("questions", "This is a question from the model."),
        ("plan", "This is a plan from the model."),
    ] {
        let mut params = house.create(kind);
        params.options.mode = (kind == "plan").then_some(Mode::Plan);
        let created = client.call::<SessionCreate>(&params).await;
        let open = first_opened(&client, created.expect("create").pid).await;
        let refused = answer(&client, &edit(&open, "ls")).await.expect_err(kind);
        assert_eq!(refused.name, ErrorName::InvalidParams);
        assert!(refused.message.contains(why), "{refused:?}");
        let id = open.interaction_id.to_string();
        let done = house.reasonix(&["inbox", "allow", &id, "--edit", "ls"]);
        assert_ne!(done.code(), Some(0), "{done:?}");
        assert!(done.err.contains(why), "{done:?}");
    }
}

/// Kills daemon and parent between the answer, which is on disk, and the start of the call.
async fn killed_behind_the_answer(recover: &str) -> (House, Model, Client, Pid) {
    let (house, model) = touching();
    house.settings(&format!("[daemon]\nrecover = \"{recover}\""));
    // The hook that looks at the edited command holds it back.
    let holds = "if grep -q edited; then touch held; while [ ! -e open ]; do sleep 0.01; done; fi";
    let hooks = json!({"hooks": {"PreToolUse": [{"command": holds, "timeout": 60_000}]}});
    fs::write(house.home_file("settings.json"), hooks.to_string()).expect("write the hook");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let answered = answer(&client, &edit(&open, "echo edited >> edited")).await;
    answered.expect("an answer");
    until("the hook that holds the call", || {
        is_there(&house, "held").then_some(())
    });
    house.kill_daemon_and_parent();
    assert_eq!(started(&house.log(pid)), [], "it has not started");
    house.files("//- open\n\n");
    house.daemon();
    (house, model, client, pid)
}

#[tokio::test]
async fn a_daemon_killed_behind_the_answer_runs_the_edited_command_once() {
    let (house, model, client, pid) = killed_behind_the_answer("continue").await;
    let log = at_rest(&house, &client, pid).await;
    assert_eq!(house.read("edited"), "edited\n", "it ran once");
    assert!(!is_there(&house, "original"), "the original never ran");
    let started = started(&log);
    assert_eq!(started.len(), 1, "{started:?}");
    assert_eq!(started[0].subject, "echo edited >> edited");
    assert_eq!(log.count("interaction.opened"), 1, "it was asked once");
    assert!(newest_result(&model).contains("changed the command"));
}

#[tokio::test]
async fn idle_after_crash_setting_runs_neither_original_nor_edited_command() {
    let (house, _model, client, pid) = killed_behind_the_answer("idle").await;
    let log = at_rest(&house, &client, pid).await;
    assert!(!is_there(&house, "edited") && !is_there(&house, "original"));
    let result = &log.results()[0];
    assert_eq!(result.status, CallStatus::Interrupted);
    assert!(result.text.contains("echo edited >> edited"), "{result:?}");
}

#[tokio::test]
async fn the_inbox_and_a_plain_attachment_edit_too() {
    let original = || runs("touch original");
    let (house, _model) = house([original(), original(), Answer::text("Done.")]);
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let id = open.interaction_id.to_string();
    let done = house.reasonix(&["inbox", "allow", &id, "--edit", "touch inbox"]);
    let done = done.expect_code(0);
    assert!(
        done.err.contains("allowed with the changed command"),
        "{done:?}"
    );
    let second = until("the second question", || {
        house.log(pid).opened().into_iter().nth(1)
    });
    assert_eq!(approval(&second).subject, "touch original");
    let mut attached = house.start(&["attach", "--plain", &pid.to_string()]);
    attached.line("the question", |line| line.contains("/change"));
    attached.say("/change touch attached && echo so\n");
    attached.line("the change", |line| {
        line.contains("with the command changed to: touch attached && echo so")
    });
    let _ = at_rest(&house, &client, pid).await;
    attached.say("/quit\n");
    let _ = attached.done().expect_code(0);
    assert!(is_there(&house, "inbox") && is_there(&house, "attached"));
    assert!(!is_there(&house, "original"));
    // Both plain ways of reading the log say it.
    let shown = house.reasonix(&["strace", &pid.to_string()]).expect_code(0);
    assert!(shown.out.contains("edited to: touch inbox"), "{shown:?}");
}
