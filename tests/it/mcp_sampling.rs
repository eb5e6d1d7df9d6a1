//! Servers that ask for more than values: an address for the user to open, and an answer of the session's model.

use client::Client;
use proto::Pid;
use proto::hello::Role;
use proto::methods::{SessionCreate, SessionInterrupt};
use proto::params::elicitation::{Elicitation, ElicitationDecision, ElicitationKind};
use proto::params::interaction::{
    AnswerParams, Interaction, InteractionAnswer, InteractionRequest,
};
use proto::params::session::OneParams;
use proto::record::Purpose;
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Wire};
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{answer, answer_with, first_opened, list};
use tests::{House, until};

use crate::mcp::{calling, faulty, result_of, servers};
use crate::scripted::{FAST_RETRIES, house, run};

/// Whether a request is of a server: it has no tools.
fn is_sample(request: &Request) -> bool {
    request.json.get("tools").is_none()
}

/// A model that calls `sample`, and answers the server's text once the gate is open.
fn sampled(gate: &Gate) -> Model {
    let gate = gate.clone();
    Model::start(Script::by(move |request: &Request| {
        if is_sample(request) {
            return Answer::text("Seven coins.").held(Place::Before, &gate);
        }
        match request.answered() {
            0 => Answer::call("mcp__s__sample", json!({})),
            _ => Answer::text("Done."),
        }
    }))
}

fn open_gate() -> Gate {
    let gate = Gate::new();
    gate.open();
    gate
}

async fn asked(house: &House, client: &Client) -> (Pid, Interaction, Elicitation) {
    let mut params = house.create("Go.");
    params.options.rules = Some(proto::record::Rules {
        allow: vec!["mcp__s".to_owned()],
        ..proto::record::Rules::default()
    });
    let created = client.call::<SessionCreate>(&params).await;
    let pid = created.expect("create").pid;
    let open = first_opened(client, pid).await;
    let InteractionRequest::Elicitation(question) = open.request.clone() else {
        panic!("a question of a server: {open:?}");
    };
    (pid, open, question)
}

fn decide(open: &Interaction, decision: ElicitationDecision) -> AnswerParams {
    let replies = Vec::new();
    answer_with(open, InteractionAnswer::Elicitation { decision, replies })
}

async fn at_rest(client: &Client, pid: Pid) {
    let mut follow = from_the_start(client, pid).await;
    to_rest(&mut follow).await;
}

/// What the server got, as its tool's result says.
fn got(house: &House, pid: Pid) -> Value {
    let log = house.log(pid);
    log.check();
    serde_json::from_str(&log.results()[0].text).expect("what the server got")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_answers_a_server_once_the_user_approves_and_the_session_pays() {
    let model = sampled(&open_gate());
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let client = house.client("one", Role::Drive).await;
    let (pid, open, question) = asked(&house, &client).await;
    assert_eq!(question.kind, ElicitationKind::Sampling { max_tokens: 100 });
    assert_eq!(
        question.message,
        "System: Be brief.\n\nUser: How much is it?"
    );
    // Nothing is asked before.
    assert!(!model.requests().iter().any(is_sample));
    let accepted = decide(&open, ElicitationDecision::Accept);
    answer(&client, &accepted).await.expect("answer");
    at_rest(&client, pid).await;
    let said = &got(&house, pid)["result"];
    assert_eq!(said["content"]["text"], "Seven coins.");
    assert_eq!(
        (&said["role"], &said["stopReason"]),
        (&json!("assistant"), &json!("endTurn"))
    );

    let requests = model.requests();
    let samples: Vec<_> = requests
        .iter()
        .filter(|request| is_sample(request))
        .collect();
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How much is it?"},
    ]);
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0].json["messages"], messages);
    let log = house.log(pid);
    let of_server = log.bodies().into_iter().filter(|body| match body {
        proto::Body::Usage(usage) => usage.purpose == Purpose::Server,
        _ => false,
    });
    assert_eq!(of_server.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_declined_learns_it_and_no_model_is_asked() {
    let model = sampled(&open_gate());
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let client = house.client("one", Role::Drive).await;
    let (pid, open, _) = asked(&house, &client).await;
    let declined = decide(&open, ElicitationDecision::Decline);
    answer(&client, &declined).await.expect("answer");
    at_rest(&client, pid).await;
    assert_eq!(got(&house, pid)["error"]["code"], -1);
    assert!(!model.requests().iter().any(is_sample));
}

#[test]
fn without_a_user_a_servers_text_is_declined_at_once() {
    let model = sampled(&open_gate());
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    run(&house, &["--allow", "mcp__s", "--on-ask", "deny"], "Go.").expect(0, "completed");
    let said: Value = serde_json::from_str(&result_of(&model)).expect("JSON");
    assert_eq!(said["error"]["code"], -1);
    assert!(!model.requests().iter().any(is_sample));
    assert_eq!(house.logs()[0].count("interaction.opened"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_request_for_a_server() {
    let gate = Gate::new();
    let model = sampled(&gate);
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let client = house.client("one", Role::Drive).await;
    let (pid, open, _) = asked(&house, &client).await;
    let accepted = decide(&open, ElicitationDecision::Accept);
    answer(&client, &accepted).await.expect("answer");
    gate.reached().await;
    let session = OneParams {
        session: pid.to_string(),
    };
    let interrupt = client.call::<SessionInterrupt>(&session);
    interrupt.await.expect("interrupt");
    at_rest(&client, pid).await;
    gate.open();
    let log = house.log(pid);
    log.check();
    assert_eq!(log.results().len(), 1);
    assert_eq!(list(&client).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_a_server_is_shown_with_its_host_and_only_the_decision_goes_back() {
    let model = calling("mcp__s__link", json!({}));
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let client = house.client("one", Role::Drive).await;
    let (pid, open, question) = asked(&house, &client).await;
    assert_eq!(
        question.kind,
        ElicitationKind::Link {
            url: "https://pay.example/now?id=1".to_owned(),
            host: "pay.example".to_owned(),
        }
    );
    let accepted = decide(&open, ElicitationDecision::Accept);
    answer(&client, &accepted).await.expect("answer");
    at_rest(&client, pid).await;
    assert_eq!(got(&house, pid)["result"], json!({"action": "accept"}));
}

#[test]
fn a_link_is_answered_on_the_command_line_and_one_that_hides_its_host_is_refused() {
    let model = calling("mcp__s__link", json!({}));
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
    let done = house.reasonix(&["inbox", "answer", &id, "accept"]);
    let done = done.expect_code(0);
    for shown in [
        "the MCP server `s` asks you to open a link",
        "https://pay.example/now?id=1",
        "the link leads to `pay.example`",
    ] {
        assert!(done.err.contains(shown), "{shown}: {done:?}");
    }
    until("the answer", || {
        let requests = model.requests();
        let last = requests.last()?.results();
        let (_, text) = last.last()?;
        text.contains("\"action\":\"accept\"").then_some(())
    });

    let model = calling(
        "mcp__s__link",
        json!({"url": "https://bank.example@evil.example/"}),
    );
    let house = crate::scripted::house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    run(&house, &["--allow", "mcp__s", "--on-ask", "wait"], "Go.").expect(0, "completed");
    assert!(
        result_of(&model).contains("not shown"),
        "{}",
        result_of(&model)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_wants_a_link_opened_first_shows_it_and_can_be_made_again() {
    let model = Model::start([
        Answer::call("mcp__s__gated", json!({})),
        Answer::call("mcp__s__gated", json!({})),
        Answer::text("Done."),
    ]);
    let house = house(&model);
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let client = house.client("one", Role::Drive).await;
    let (pid, open, question) = asked(&house, &client).await;
    assert_eq!(
        question.kind,
        ElicitationKind::Link {
            url: "https://pay.example/now?id=1".to_owned(),
            host: "pay.example".to_owned(),
        }
    );
    let accepted = decide(&open, ElicitationDecision::Accept);
    answer(&client, &accepted).await.expect("answer");
    at_rest(&client, pid).await;
    let log = house.log(pid);
    log.check();
    let results = log.results();
    assert_eq!(
        results[0].text,
        "The MCP server `s` wants the user to open https://pay.example/now?id=1 first, and did nothing. The user was shown the link and opens it. Make the same call again; if the server asks for the same again, the user is not done there: ask them, and wait for their answer."
    );
    assert_eq!(results[1].text, "opened");
}

#[test]
fn a_link_that_nobody_sees_is_named_to_the_model_and_one_that_hides_its_host_is_not() {
    for (url, said, unsaid) in [
        (
            "https://pay.example/now?id=1",
            "open https://pay.example/now?id=1 first, and did nothing. The user has not seen it.",
            "bank",
        ),
        (
            "https://bank.example@evil.example/",
            "with a user's name in it is not shown to users",
            "evil.example",
        ),
    ] {
        let model = calling("mcp__s__gated", json!({"url": url}));
        let house = house(&model);
        servers(&house, &json!({"s": faulty(&["ok"])}));
        run(&house, &["--allow", "mcp__s", "--on-ask", "deny"], "Go.").expect(0, "completed");
        let result = result_of(&model);
        assert!(
            result.contains(said) && !result.contains(unsaid),
            "{result}"
        );
    }
}

/// The limits of the request for the server: what a server wants is never more than the entry allows.
#[tokio::test(flavor = "multi_thread")]
async fn max_tokens_of_an_mcp_sampling_request_limits_the_model_request() {
    for (wire, more, member, limit) in [
        (Wire::Messages, "", "max_tokens", 100),
        (Wire::Responses, "", "max_output_tokens", 100),
        (
            Wire::Responses,
            "max_output_tokens = 70\n",
            "max_output_tokens",
            70,
        ),
        (
            Wire::Chat,
            "extra = { max_tokens = 500 }\n",
            "max_tokens",
            100,
        ),
    ] {
        let model = sampled(&open_gate());
        let house = House::new();
        house.settings(FAST_RETRIES);
        house.provider(&format!("{}{more}", model.entry_of(wire, "model", None)));
        house.daemon();
        servers(&house, &json!({"s": faulty(&["ok"])}));
        let client = house.client("one", Role::Drive).await;
        let (pid, open, _) = asked(&house, &client).await;
        let accepted = decide(&open, ElicitationDecision::Accept);
        answer(&client, &accepted).await.expect("answer");
        at_rest(&client, pid).await;
        assert_eq!(
            got(&house, pid)["result"]["content"]["text"],
            "Seven coins."
        );
        let requests = model.requests();
        let sample = requests.iter().find(|request| is_sample(request));
        let body = &sample.expect("a sample").body;
        let body: Value = serde_json::from_slice(body).expect("JSON");
        assert_eq!(body[member], limit, "{wire:?} {more}");
        model.assert_strict();
    }
}
