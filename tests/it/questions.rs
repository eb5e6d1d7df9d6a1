//! Questions of the model: asked once, answered from any client, kept over the death of the daemon, and never waited for
//! without an attached user.

use client::Client;
use proto::hello::Role;
use proto::methods::{SessionCreate, SessionGet, SessionInterrupt};
use proto::params::interaction::{
    AnswerParams, Interaction, InteractionAnswer, InteractionKind, Reply,
};
use proto::params::session::OneParams;
use proto::state::{State, WaitingFor};
use proto::{ErrorName, Pid};
use serde_json::json;
use testkit::Script;
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{answer, answer_with, first_opened, list};
use tests::{House, until};

fn asking() -> Script {
    Script::new()
        .calls(
            "ask",
            &json!({"questions": [
                {"question": "Which colour shall it have?", "header": "Colour",
                 "options": [{"label": "red", "description": "like a rose"}, {"label": "blue", "description": ""}]},
                {"question": "Which parts?", "header": "Parts", "multi_select": true,
                 "options": [{"label": "door", "description": ""}, {"label": "roof", "description": ""}]},
            ]}),
        )
        .says("So be it.")
}

fn replies(colour: &str) -> Vec<Reply> {
    let colour = Reply {
        labels: vec![colour.into()],
        other: None,
    };
    let parts = Reply {
        labels: vec!["door".into(), "roof".into()],
        other: Some("and the fence".into()),
    };
    vec![colour, parts]
}

fn reply(open: &Interaction, replies: Vec<Reply>) -> AnswerParams {
    answer_with(open, InteractionAnswer::Questions { replies })
}

async fn begun(house: &House, client: &Client) -> (Pid, Interaction) {
    let params = house.create("paint it");
    let pid = client
        .call::<SessionCreate>(&params)
        .await
        .expect("create")
        .pid;
    (pid, first_opened(client, pid).await)
}

#[tokio::test]
async fn answers_of_one_client_reach_the_model_and_all_others() {
    let house = House::playing(&asking());
    house.daemon();
    let one = house.client("one", Role::Drive).await;
    let two = house.client("two", Role::Approve).await;
    let three = house.client("three", Role::Watch).await;
    let (pid, open) = begun(&house, &one).await;
    let summary = one
        .call::<SessionGet>(&OneParams {
            session: pid.to_string(),
        })
        .await
        .expect("get");
    assert_eq!(
        (
            summary.state,
            summary.waiting_for,
            summary.pending_interactions
        ),
        (
            State::Waiting,
            Some(WaitingFor::Interaction(InteractionKind::Questions)),
            1
        )
    );
    assert_eq!(open.request.kind(), InteractionKind::Questions);
    assert_eq!(list(&three).await, std::slice::from_ref(&open));

    let refused = answer(&three, &reply(&open, replies("red"))).await;
    assert_eq!(
        refused.expect_err("a watcher watches").name,
        ErrorName::NotAllowed
    );
    for (wrong, why) in [
        (vec![], "too few"),
        (replies("green"), "no such option"),
        (vec![Reply::default(), Reply::default()], "nothing is said"),
    ] {
        let refused = answer(&two, &reply(&open, wrong)).await.expect_err(why);
        assert_eq!(refused.name, ErrorName::InvalidParams, "{why}");
        assert!(!refused.hint.is_empty(), "{refused:?}");
    }
    answer(&two, &reply(&open, replies("red")))
        .await
        .expect("the first answer");
    let late = answer(&one, &reply(&open, replies("blue"))).await;
    let late = late.expect_err("too late");
    assert_eq!(late.name, ErrorName::AlreadyResolved);
    assert_eq!(late.details.get("by"), Some(&json!("two")));

    let mut follow = from_the_start(&one, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    log.check();
    let result = &log.results()[0];
    for words in ["Which colour", "red", "door", "roof", "and the fence"] {
        assert!(result.text.contains(words), "{words}: {}", result.text);
    }
}

#[tokio::test]
async fn questions_outlive_the_daemon_and_are_answered_in_its_next_life() {
    let house = House::playing(&asking());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    drop(client);
    house.kill_daemon_and_parent();
    house.daemon();
    let client = house.client("two", Role::Drive).await;
    assert_eq!(list(&client).await, std::slice::from_ref(&open));
    answer(&client, &reply(&open, replies("blue")))
        .await
        .expect("answer");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    log.check();
    assert!(log.results()[0].text.contains("blue"));
}

#[tokio::test]
async fn an_interrupt_takes_the_questions_back() {
    let house = House::playing(&asking());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let session = pid.to_string();
    client
        .call::<SessionInterrupt>(&OneParams { session })
        .await
        .expect("interrupt");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let late = answer(&client, &reply(&open, replies("red"))).await;
    assert_eq!(late.expect_err("over").name, ErrorName::AlreadyResolved);
    house.log(pid).check();
}

#[test]
fn without_a_user_the_model_is_notified_and_continues() {
    let house = House::playing(&asking());
    let done = house.reasonix(&["run", "--on-ask", "sandboxed", "paint it"]);
    let done = done.expect_code(0);
    assert!(done.out.contains("So be it."), "{}", done.out);
    let log = &house.logs()[0];
    log.check();
    assert!(
        log.results()[0].text.contains("Nobody is there"),
        "{}",
        log.results()[0].text
    );
}

#[test]
fn a_parked_run_leaves_its_questions_for_later() {
    let house = House::playing(&asking());
    let _ = house
        .reasonix(&["run", "--on-ask", "park", "paint it"])
        .expect_code(75);
    let client = || house.block_on(house.client("later", Role::Drive));
    let later = client();
    let open = &house.block_on(list(&later))[0];
    house
        .block_on(answer(&later, &reply(open, replies("red"))))
        .expect("answer");
    until("the run ends", || {
        let which = OneParams {
            session: open.session.to_string(),
        };
        let get = later.call::<SessionGet>(&which);
        (house.block_on(get).expect("get").state == State::Exited).then_some(())
    });
}
