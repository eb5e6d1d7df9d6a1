//! Approvals of tool calls: who may answer, the call that an answer is bound to, and sessions without an attached user.

use std::time::{Duration, Instant};

use client::Client;
use proto::hello::Role;
use proto::item::{CallStatus, Display};
use proto::methods::{SessionCreate, SessionGet};
use proto::params::interaction::{
    AnswerParams, ApprovalDecision, Interaction, InteractionAnswer, InteractionKind, Scope,
};
use proto::params::session::OneParams;
use proto::state::{ApprovalMode, Mode, State, WaitingFor};
use proto::{Body, ErrorName, Pid};
use serde_json::json;
use testkit::Script;
use testkit::model::{Answer, Model};
use tests::follow::{durable, from_the_start, to_rest};
use tests::interactions::{
    allow_once, answer, answer_with, approval, decide, first_opened, list, next_opened,
};
use tests::wait::pace;
use tests::{House, until};

fn touching() -> Script {
    Script::new().runs("touch made").says("It is made.")
}

#[tokio::test]
async fn first_approval_answer_counts_and_is_recorded_with_its_client() {
    let house = House::playing(&touching());
    house.daemon();
    let one = house.client("one", Role::Drive).await;
    let two = house.client("two", Role::Approve).await;
    let three = house.client("three", Role::Watch).await;
    let pid = one
        .call::<SessionCreate>(&house.create("make it"))
        .await
        .expect("create")
        .pid;
    let mut follows = Vec::new();
    for client in [&one, &two, &three] {
        follows.push(from_the_start(client, pid).await);
    }
    let open = first_opened(&one, pid).await;
    let asked = approval(&open);
    assert_eq!(
        (asked.tool.as_str(), asked.subject.as_str()),
        ("bash", "touch made")
    );
    assert!(!asked.scopes.is_empty(), "{asked:?}");
    let summary = one
        .call::<SessionGet>(&OneParams {
            session: pid.to_string(),
        })
        .await
        .expect("get");
    assert_eq!(
        (summary.state, summary.waiting_for),
        (
            State::Waiting,
            Some(WaitingFor::Interaction(InteractionKind::Approval))
        )
    );
    assert_eq!(summary.pending_interactions, 1);

    let watcher = answer(&three, &allow_once(&open))
        .await
        .expect_err("a watcher only watches");
    assert_eq!(watcher.name, ErrorName::NotAllowed);
    let blind = AnswerParams {
        shown_hash: "0".repeat(64),
        ..allow_once(&open)
    };
    assert_eq!(
        answer(&two, &blind).await.expect_err("a stale hash").name,
        ErrorName::Stale
    );
    let foreign = Scope {
        rule: "Bash".into(),
        words: "everything".into(),
        always: false,
    };
    let wide = answer_with(
        &open,
        InteractionAnswer::Approval {
            decision: ApprovalDecision::AllowSession,
            scope: Some(foreign),
            note: None,
            edited_command: None,
        },
    );
    assert_eq!(
        answer(&two, &wide)
            .await
            .expect_err("a scope that was not offered")
            .name,
        ErrorName::InvalidParams
    );
    assert!(
        !house.project().join("made").exists(),
        "nothing has run yet"
    );

    let first = allow_once(&open);
    answer(&two, &first).await.expect("the first answer counts");
    let late = answer(&one, &decide(&open, ApprovalDecision::Deny))
        .await
        .expect_err("too late");
    assert_eq!(late.name, ErrorName::AlreadyResolved);
    assert_eq!(late.details.get("by"), Some(&json!("two")));
    assert_eq!(late.details.get("decision"), Some(&json!("allow_once")));
    assert!(late.details.contains_key("at"), "{late:?}");
    // A repeated answer, as after a lost connection, is not a second one.
    answer(&two, &first)
        .await
        .expect("a repeat of the same request");

    let mut seen = Vec::new();
    for follow in &mut follows {
        seen.push(durable(&to_rest(follow).await));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    assert!(house.project().join("made").exists());
    let log = house.log(pid);
    let resolved: Vec<_> = log
        .check()
        .resolved()
        .into_iter()
        .map(|resolved| (resolved.answer, resolved.by, resolved.unattended))
        .collect();
    assert_eq!(resolved, [(Some(first.answer), "two".to_owned(), false)]);
    assert_eq!(list(&one).await, []);
}

#[tokio::test]
async fn interactions_of_all_kinds_and_sessions_are_listed_oldest_first() {
    let questions = json!({"questions": [{"question": "Which?", "header": "H", "options": [
        {"label": "a", "description": ""}, {"label": "b", "description": ""}]}]});
    let house = House::playing(
        &Script::new()
            .runs("touch made")
            .when("approval")
            .calls("ask", &questions)
            .when("questions")
            .calls("exit_plan_mode", &json!({"plan": "1. wait"}))
            .when("plan"),
    );
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let mut sessions = Vec::new();
    for kind in ["questions", "questions", "approval", "approval", "plan"] {
        let mut params = house.create("");
        params.prompt = None;
        params.options.mode = (kind == "plan").then_some(Mode::Plan);
        let created = client.call::<SessionCreate>(&params).await;
        sessions.push((created.expect("create").pid, kind));
    }
    let mut opened = Vec::new();
    for at in [3, 0, 4, 1, 2] {
        let (session, prompt) = sessions[at];
        let params = json!({"session": session.to_string(), "text": prompt});
        let prompted = client.call_raw("session.prompt", &params).await;
        prompted.expect("prompt");
        let open = first_opened(&client, session).await;
        assert_eq!(open.request.kind().as_str(), prompt);
        // Times are kept in milliseconds.
        pace(Instant::now() + Duration::from_millis(2));
        opened.push(open);
    }
    assert_eq!(list(&client).await, opened);
}

#[tokio::test]
async fn a_no_reaches_the_model_with_its_reason() {
    let house = House::playing(
        &Script::new()
            .runs("touch made")
            .says("Left alone.")
            .when("not on a Friday"),
    );
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client
        .call::<SessionCreate>(&house.create("make it"))
        .await
        .expect("create")
        .pid;
    let open = first_opened(&client, pid).await;
    let no = InteractionAnswer::Approval {
        decision: ApprovalDecision::Deny,
        scope: None,
        note: Some("not on a Friday".into()),
        edited_command: None,
    };
    let no = answer_with(&open, no);
    answer(&client, &no).await.expect("a no");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    let results = log.check().results();
    assert_eq!(results[0].status, CallStatus::Denied);
    assert!(
        results[0].text.contains("not on a Friday"),
        "{}",
        results[0].text
    );
    assert!(!house.project().join("made").exists());
    let Some(Body::Assistant(last)) = log
        .bodies()
        .into_iter()
        .rfind(|body| body.kind() == "message.assistant")
    else {
        panic!("no answer: {:?}", log.kinds());
    };
    assert_eq!(last.text, "Left alone.");
}

#[tokio::test]
async fn a_yes_for_the_session_covers_what_it_said_and_no_more() {
    let house = House::playing(
        &Script::new()
            .runs("touch made")
            .runs("touch made")
            .runs("touch other")
            .says("Done."),
    );
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client
        .call::<SessionCreate>(&house.create("make it"))
        .await
        .expect("create")
        .pid;
    let open = first_opened(&client, pid).await;
    let narrowest = InteractionAnswer::Approval {
        decision: ApprovalDecision::AllowSession,
        scope: approval(&open).scopes.first().cloned(),
        note: None,
        edited_command: None,
    };
    answer(&client, &answer_with(&open, narrowest))
        .await
        .expect("a yes");
    let second = until("the question about the other command", || {
        house.log(pid).opened().into_iter().nth(1)
    });
    assert_eq!(
        approval(&second).subject,
        "touch other",
        "the second `touch made` was covered"
    );
    answer(&client, &decide(&second, ApprovalDecision::Deny))
        .await
        .expect("a no");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let statuses: Vec<_> = house
        .log(pid)
        .check()
        .results()
        .iter()
        .map(|result| result.status)
        .collect();
    assert_eq!(
        statuses,
        [CallStatus::Ok, CallStatus::Ok, CallStatus::Denied]
    );
}

#[tokio::test]
async fn an_edit_is_shown_as_its_diff_before_anything_changes() {
    let edit = json!({"path": "a.txt", "old_string": "old", "new_string": "new"});
    let house = House::playing(
        &Script::new()
            .calls("read_file", &json!({"path": "a.txt"}))
            .calls("edit_file", &edit)
            .says("Done."),
    );
    house.files("//- a.txt\nan old line\n");
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client
        .call::<SessionCreate>(&house.create("edit"))
        .await
        .expect("create")
        .pid;
    let open = first_opened(&client, pid).await;
    let Display::Diff {
        diff,
        added,
        removed,
        ..
    } = &approval(&open).preview
    else {
        panic!("a diff, not {open:?}")
    };
    assert!(
        diff.contains("-an old line") && diff.contains("+an new line"),
        "{diff}"
    );
    assert_eq!((*added, *removed), (1, 1));
    assert_eq!(house.read("a.txt"), "an old line\n");
    answer(&client, &allow_once(&open)).await.expect("a yes");
    until("the edit", || {
        (house.read("a.txt") == "an new line\n").then_some(())
    });
}

#[tokio::test]
async fn an_open_question_survives_the_death_of_the_daemon() {
    let house = House::playing(&touching());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client
        .call::<SessionCreate>(&house.create("make it"))
        .await
        .expect("create")
        .pid;
    let open = first_opened(&client, pid).await;
    house.kill_daemon();
    house.wait_for_daemon();
    assert_eq!(
        list(&client).await,
        std::slice::from_ref(&open),
        "the same question, with the same hash"
    );
    answer(&client, &allow_once(&open)).await.expect("a yes");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    assert!(house.project().join("made").exists());
    let log = house.log(pid);
    assert_eq!(log.check().count("tool.started"), 1, "it ran once");
    assert_eq!(log.count("interaction.opened"), 1, "it was asked once");
}

/// A session that asks about an edit of `a.txt`, which it has read.
async fn asks_about_an_edit() -> (House, Client, Pid, Interaction) {
    let edit = json!({"path": "a.txt", "old_string": "old", "new_string": "new"});
    let again = json!({"path": "a.txt", "old_string": "new", "new_string": "newer"});
    let house = House::playing(
        &Script::new()
            .calls("read_file", &json!({"path": "a.txt"}))
            .calls("edit_file", &edit)
            .calls("edit_file", &again)
            .says("Done."),
    );
    house.files("//- a.txt\nan old line\n");
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let create = client.call::<SessionCreate>(&house.create("edit")).await;
    let pid = create.expect("create").pid;
    let open = first_opened(&client, pid).await;
    (house, client, pid, open)
}

/// How the calls of a session went, once it rests.
async fn went(house: &House, client: &Client, pid: Pid) -> Vec<(String, CallStatus)> {
    let mut follow = from_the_start(client, pid).await;
    to_rest(&mut follow).await;
    let bodies = house.log(pid).check().bodies().into_iter();
    let finished = bodies.filter_map(|body| match body {
        Body::ToolFinished(finished) => Some((finished.tool, finished.status)),
        _ => None,
    });
    finished.collect()
}

#[tokio::test]
async fn an_edit_that_is_allowed_after_the_daemon_died_is_made() {
    let (house, client, pid, open) = asks_about_an_edit().await;
    house.kill_daemon_and_parent();
    house.daemon();
    answer(&client, &allow_once(&open)).await.expect("a yes");
    until("the edit", || {
        (house.read("a.txt") == "an new line\n").then_some(())
    });
    // After a restart the daemon still knows the earlier records.
    let mut follow = from_the_start(&client, pid).await;
    assert_eq!(next_opened(&mut follow).await, open);
    let second = next_opened(&mut follow).await;
    house.kill_daemon_and_parent();
    house.daemon();
    answer(&client, &allow_once(&second)).await.expect("a yes");
    let went = went(&house, &client, pid).await;
    let ok = |tool: &str| (tool.to_owned(), CallStatus::Ok);
    assert_eq!(went, [ok("read_file"), ok("edit_file"), ok("edit_file")]);
    assert_eq!(house.read("a.txt"), "an newer line\n");
}

#[tokio::test]
async fn approved_edit_fails_if_the_file_changed_while_the_daemon_was_dead() {
    let (house, client, pid, open) = asks_about_an_edit().await;
    house.kill_daemon_and_parent();
    // As long as before: its length says nothing.
    house.files("//- a.txt\nmy old line\n");
    house.daemon();
    let _ = answer(&client, &allow_once(&open)).await;
    let went = went(&house, &client, pid).await;
    assert_eq!(went[1], ("edit_file".to_owned(), CallStatus::Failed));
    assert_eq!(house.read("a.txt"), "my old line\n");
}

#[tokio::test]
async fn an_open_question_is_answered_from_another_terminal_after_a_crash() {
    let house = House::playing(&Script::new().runs("echo ran >> made").says("It is made."));
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client
        .call::<SessionCreate>(&house.create("make it"))
        .await
        .expect("create")
        .pid;
    let open = first_opened(&client, pid).await;
    // Whoever made the session is gone, and so is the daemon with its parent.
    drop(client);
    house.kill_daemon_and_parent();
    house.daemon();
    let listed = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
    assert_eq!(listed.trim(), open.interaction_id.to_string());
    let _ = house
        .reasonix(&["inbox", "allow", listed.trim()])
        .expect_code(0);
    let other = house.client("two", Role::Watch).await;
    let mut follow = from_the_start(&other, pid).await;
    to_rest(&mut follow).await;
    assert_eq!(house.read("made"), "ran\n", "it ran once");
    let log = house.log(pid);
    assert_eq!(log.check().count("tool.started"), 1);
    assert_eq!(log.count("interaction.opened"), 1, "it was asked once");
    // Killed again: the answered question stays answered.
    house.kill_daemon_and_parent();
    house.daemon();
    assert_eq!(house.reasonix(&["inbox", "-q"]).expect_code(0).out, "");
    let late = house.reasonix(&["inbox", "allow", listed.trim()]);
    assert_ne!(late.code(), Some(0), "too late: {late:?}");
    assert_eq!(house.read("made"), "ran\n", "it still ran once");
}

#[tokio::test]
async fn an_interactive_session_without_anybody_waits() {
    let house = House::playing(&touching());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let mut params = house.create("make it");
    params.options.approval_mode = Some(ApprovalMode::Ask);
    let pid = client
        .call::<SessionCreate>(&params)
        .await
        .expect("create")
        .pid;
    drop(client);
    let later = house.client("later", Role::Approve).await;
    let open = first_opened(&later, pid).await;
    assert!(!house.project().join("made").exists());
    answer(&later, &allow_once(&open)).await.expect("a yes");
    until("the command", || {
        house.project().join("made").exists().then_some(())
    });
}

#[tokio::test]
async fn a_turn_that_is_interrupted_takes_its_questions_with_it() {
    let house = House::playing(&touching());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client
        .call::<SessionCreate>(&house.create("make it"))
        .await
        .expect("create")
        .pid;
    let open = first_opened(&client, pid).await;
    client
        .call_raw("session.interrupt", &json!({"session": pid.to_string()}))
        .await
        .expect("interrupt");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let late = answer(&client, &allow_once(&open))
        .await
        .expect_err("nothing is open any more");
    assert_eq!(late.name, ErrorName::AlreadyResolved);
    house.log(pid).check();
    assert!(!house.project().join("made").exists());
}

#[test]
fn a_command_that_was_started_by_a_tool_can_look_but_not_answer() {
    let house = House::new();
    house.turn_off_sandbox();
    let program = tests::house::client_program();
    let command = format!(
        "{program} inbox -q > seen; {program} inbox allow $(cat seen) > said 2>&1; echo code $?; {program} run --detach x >> said 2>&1; echo code $?",
        program = program.display()
    );
    house.cassette(
        &Script::new()
            .runs("touch made")
            .when("make it")
            .runs(&command)
            .when("look")
            .says("Over.")
            .jsonl(),
    );
    house.daemon();
    // One session waits for its answer; another one's command tries to give it.
    let waiting = house.start(&["run", "--on-ask", "wait", "make it"]);
    let id = until("a question in the inbox", || {
        house
            .reasonix(&["inbox", "-q"])
            .expect_code(0)
            .out
            .lines()
            .next()
            .map(str::to_owned)
    });
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "look"])
        .expect_code(0);
    assert_eq!(house.read("seen").trim(), id, "it may look");
    let said = house.read("said");
    assert!(
        said.contains("needs the role `approve`") && said.contains("needs the role `drive`"),
        "{said}"
    );
    let log = house.log(Pid(2));
    assert!(
        log.results()[0].text.contains("code 77\ncode 77"),
        "{}",
        log.results()[0].text
    );
    assert!(!house.project().join("made").exists());
    let _ = house.reasonix(&["inbox", "deny", &id]).expect_code(0);
    let _ = waiting.done();
    assert_eq!(house.logs().len(), 2, "and it made no session");
}

#[tokio::test]
async fn three_hundred_questions_of_one_answer_take_one_no() {
    let command = |number: u32| json!({"command": format!("touch made-{number}")});
    let first = Answer::call("bash", command(0));
    let calls = (1..300).fold(first, |calls, number| {
        calls.and_call("bash", command(number))
    });
    let model = Model::start([calls, Answer::text("Nothing is made.")]);
    let house = House::new();
    house.provider(&model.entry("model", None));
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let create = house.create("make them");
    let created = client.call::<SessionCreate>(&create).await;
    let pid = created.expect("create").pid;
    let open = first_opened(&client, pid).await;
    assert_eq!(approval(&open).following, 299);
    let id = &open.interaction_id.0;
    let denied = house
        .reasonix(&["inbox", "deny", id, "--rest", "not now"])
        .expect_code(0);
    let shown = "further calls of the same answer that may need approval: 299";
    assert!(denied.err.contains(shown), "{denied:?}");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    let results = log.check().results();
    assert_eq!((log.count("interaction.opened"), results.len()), (1, 300));
    for result in &results {
        assert_eq!(result.status, CallStatus::Denied, "{}", result.text);
    }
    assert!(
        results[0].text.ends_with(": not now"),
        "{}",
        results[0].text
    );
    let rest = "Denied: the user denied every call of that answer";
    assert!(results[299].text.starts_with(rest), "{}", results[299].text);
    let is_there = |number: u32| house.project().join(format!("made-{number}")).exists();
    assert!(!(0..300).any(is_there));
}
