//! Questions of MCP servers: asked in the session whose call runs, answered from any client, and closed with the call.

use client::Client;
use proto::hello::Role;
use proto::methods::{SessionCreate, SessionInterrupt};
use proto::params::elicitation::{ElicitationDecision, FieldType};
use proto::params::interaction::{
    AnswerParams, Interaction, InteractionAnswer, InteractionRequest, Reply,
};
use proto::params::session::OneParams;
use proto::{ErrorName, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::follow::{from_the_start, to_rest};
use tests::house::example_server;
use tests::interactions::{answer, answer_with, first_opened, list};
use tests::{House, until};

use crate::mcp::{calling, faulty, result_of, servers};
use crate::scripted::{house, run};

/// A session whose model calls this tool of a server, which asks.
async fn asked(house: &House, client: &Client, allow: &str) -> (Pid, Interaction) {
    let mut params = house.create("Go.");
    params.options.rules = Some(proto::record::Rules {
        allow: vec![allow.to_owned()],
        ..proto::record::Rules::default()
    });
    let created = client.call::<SessionCreate>(&params).await;
    let pid = created.expect("create").pid;
    (pid, first_opened(client, pid).await)
}

fn accept(open: &Interaction, replies: &[Value]) -> AnswerParams {
    let replies = replies.iter().cloned().map(|reply| {
        let reply: Result<Reply, _> = serde_json::from_value(reply);
        reply.expect("a reply")
    });
    let answer = InteractionAnswer::Elicitation {
        decision: ElicitationDecision::Accept,
        replies: replies.collect(),
    };
    answer_with(open, answer)
}

fn refuse(open: &Interaction, decision: ElicitationDecision) -> AnswerParams {
    let replies = Vec::new();
    answer_with(open, InteractionAnswer::Elicitation { decision, replies })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_question_is_asked_in_its_session_and_the_answer_goes_back() {
    let model = calling("mcp__s__ask", json!({}));
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let one = house.client("one", Role::Drive).await;
    let two = house.client("two", Role::Approve).await;
    let (pid, open) = asked(&house, &one, "mcp__s").await;
    let InteractionRequest::Elicitation(question) = &open.request else {
        panic!("a question of a server: {open:?}");
    };
    // The server's text is without escapes, and says whose it is.
    assert_eq!(
        (&*question.server, &*question.message),
        ("s", "Who are you?")
    );
    let names = question.fields.iter().map(|field| &*field.name);
    assert_eq!(names.collect::<Vec<_>>(), ["name", "colour", "age"]);
    assert!(matches!(question.fields[1].value, FieldType::Choice { .. }));
    assert_eq!(list(&two).await, std::slice::from_ref(&open));
    for wrong in [
        vec![],
        vec![json!({"other": "A"}), json!({}), json!({})],
        vec![
            json!({"other": "Ann"}),
            json!({"labels": ["Green"]}),
            json!({}),
        ],
        vec![json!({"other": "Ann"}), json!({}), json!({"other": "old"})],
    ] {
        let refused = answer(&two, &accept(&open, &wrong)).await;
        let refused = refused.expect_err("it does not fit");
        assert_eq!(refused.name, ErrorName::InvalidParams, "{refused:?}");
    }
    // Whoever comes later is asked too.
    drop(one);
    let right = [
        json!({"other": "Ann"}),
        json!({"labels": ["Blue"]}),
        json!({"other": "30"}),
    ];
    answer(&two, &accept(&open, &right)).await.expect("answer");
    let late = answer(&two, &refuse(&open, ElicitationDecision::Decline)).await;
    assert_eq!(late.expect_err("too late").name, ErrorName::AlreadyResolved);
    let mut follow = from_the_start(&two, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    log.check();
    let said: Value = serde_json::from_str(&log.results()[0].text).expect("the server's answer");
    assert_eq!(
        said["result"],
        json!({"action": "accept", "content": {"name": "Ann", "colour": "b", "age": 30}})
    );
    model.assert_prefix();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_question_goes_back_as_declined_or_cancelled() {
    for (decision, action) in [
        (ElicitationDecision::Decline, "decline"),
        (ElicitationDecision::Cancel, "cancel"),
    ] {
        let model = calling("mcp__s__ask", json!({"plain": true}));
        let house = house(&model);
        servers(&house, &json!({"s": faulty(&["ok"])}));
        let client = house.client("one", Role::Drive).await;
        let (pid, open) = asked(&house, &client, "mcp__s").await;
        answer(&client, &refuse(&open, decision))
            .await
            .expect("answer");
        let mut follow = from_the_start(&client, pid).await;
        to_rest(&mut follow).await;
        let said: Value = serde_json::from_str(&house.log(pid).results()[0].text).expect("JSON");
        assert_eq!(said["result"], json!({"action": action}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_newest_protocol_asks_before_it_finishes_a_call() {
    let model = calling("mcp__example__introduce", json!({}));
    let house = house(&model);
    servers(
        &house,
        &json!({"example": {"command": example_server(), "args": ["newest"]}}),
    );
    let client = house.client("one", Role::Drive).await;
    let (pid, open) = asked(&house, &client, "mcp__example").await;
    answer(&client, &accept(&open, &[json!({"other": "Ann"})]))
        .await
        .expect("answer");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    assert_eq!(house.log(pid).results()[0].text, "The user is Ann.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_and_the_death_of_the_daemon_close_a_servers_question() {
    let model = calling("mcp__s__ask", json!({}));
    let house = house(&model);
    let mut entry = faulty(&["ok"]);
    // One that sessions share could not ask the second one: see below.
    entry["shared"] = json!(false);
    servers(&house, &json!({"s": entry}));
    let client = house.client("one", Role::Drive).await;
    let (pid, open) = asked(&house, &client, "mcp__s").await;
    let session = pid.to_string();
    client
        .call::<SessionInterrupt>(&OneParams { session })
        .await
        .expect("interrupt");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let late = answer(&client, &refuse(&open, ElicitationDecision::Cancel)).await;
    assert_eq!(late.expect_err("over").name, ErrorName::AlreadyResolved);
    house.log(pid).check();

    let (pid, open) = asked(&house, &client, "mcp__s").await;
    drop(client);
    house.kill_daemon_and_parent();
    house.daemon();
    let client = house.client("two", Role::Drive).await;
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    assert_eq!(list(&client).await, []);
    let late = answer(&client, &refuse(&open, ElicitationDecision::Cancel)).await;
    assert_eq!(late.expect_err("over").name, ErrorName::AlreadyResolved);
    let log = house.log(pid);
    log.check();
    let results = log.results();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(
        results[0]
            .text
            .contains("daemon stopped while this call ran"),
        "{results:?}"
    );
}

#[test]
fn without_a_user_a_servers_question_is_cancelled_at_once() {
    let model = calling("mcp__s__ask", json!({}));
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    run(&house, &["--allow", "mcp__s", "--on-ask", "deny"], "Go.").expect(0, "completed");
    let said: Value = serde_json::from_str(&result_of(&model)).expect("JSON");
    assert_eq!(said["result"], json!({"action": "cancel"}));
    assert_eq!(house.logs()[0].count("interaction.opened"), 0);
}

/// The protocol does not say which call asks: where several run, another session could be asked.
#[test]
fn a_question_that_may_be_of_several_calls_is_refused_with_the_reason() {
    let model = Model::start(Script::by(|request: &Request| match request.answered() {
        0 => Answer::call("mcp__s__ask_of_two", json!({"n": 1}))
            .and_call("mcp__s__ask_of_two", json!({"n": 2})),
        _ => Answer::text("Done."),
    }));
    let house = house(&model);
    let mut entry = faulty(&["ok"]);
    entry["read_only_policy"] = json!("read_only");
    servers(&house, &json!({"s": entry}));
    run(&house, &["--on-ask", "wait"], "Go.").expect(0, "completed");
    let requests = model.requests();
    for (_, text) in requests.last().expect("a request").results() {
        assert!(text.contains("2 calls are in flight"), "{text}");
    }
    assert_eq!(house.logs()[0].count("interaction.opened"), 0);
}

#[test]
fn question_that_may_be_of_another_sessions_call_is_shown_in_no_session() {
    let model = Model::start(Script::by(|request: &Request| match request.answered() {
        0 if request.last_text().contains("Ask.") => Answer::call("mcp__s__ask", json!({})),
        0 => Answer::call("mcp__s__add", json!({"a": 1, "b": 1})),
        _ => Answer::text(request.last_text().to_owned()),
    }));
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let options = ["--on-ask", "wait", "--allow", "mcp__s"];
    run(&house, &options, "Add.").expect(0, "completed");
    // The server could as well ask for the call of the first session.
    run(&house, &options, "Ask.").expect(0, "completed");
    let refused = result_of(&model);
    assert!(
        refused.contains("a call of another session ended a moment ago")
            && refused.contains("shared = false"),
        "{refused}"
    );
    for log in house.logs() {
        assert_eq!(log.count("interaction.opened"), 0);
    }
    let logs = house.reasonix(&["mcp", "logs", "s"]).expect_code(0);
    assert!(logs.out.contains("a request was refused"), "{logs:?}");
}

#[test]
fn a_servers_question_is_answered_on_the_command_line() {
    let model = calling("mcp__s__ask", json!({}));
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let detached = [
        "run", "--detach", "--on-ask", "wait", "--allow", "mcp__s", "Go.",
    ];
    let _ = house.reasonix(&detached).expect_code(0);
    let client = house.block_on(house.client("one", Role::Watch));
    let id = until("the question", || {
        let open = house.block_on(list(&client));
        Some(open.first()?.interaction_id.to_string())
    });
    let denied = house.reasonix(&["inbox", "deny", &id, "because"]);
    assert!(denied.err.contains("no note can be sent"), "{denied:?}");
    // Without answers it is only shown.
    let shown = house.reasonix(&["inbox", "answer", &id]).expect_code(0);
    let how = format!("reasonix inbox answer {id} N N N");
    assert!(
        shown.err.contains("Who are you?") && shown.err.contains(&how),
        "{shown:?}"
    );
    let done = house.reasonix(&["inbox", "answer", &id, "Ann", "-", "30"]);
    let done = done.expect_code(0);
    for shown in [
        "the MCP server `s` asks",
        "? │ Who are you?",
        "the server wrote this text",
        "1. │ Red",
        "│ Your name",
    ] {
        assert!(done.err.contains(shown), "{shown}: {done:?}");
    }
    until("the answer", || {
        let requests = model.requests();
        let last = requests.last()?.results();
        let (_, text) = last.last()?;
        let has_age = text.contains("\"age\":30") && !text.contains("colour");
        has_age.then_some(())
    });
}
