//! Questions of the model: asked once, answered from any client, kept over the death of the daemon, and never waited for
//! where nobody is.

use client::Client;
use proto::hello::Role;
use proto::methods::{QuestionAnswer, QuestionList, SessionCreate, SessionGet, SessionInterrupt};
use proto::params::question::{AnswerParams, ListParams, Question, Reply};
use proto::params::session::OneParams;
use proto::state::{State, WaitingFor};
use proto::{Body, ErrorName, Failure, Pid, RequestId};
use serde_json::json;
use testkit::Script;
use tests::follow::{body, from_the_start, to_rest};
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

async fn open(client: &Client, pid: Pid) -> Question {
    let mut follow = from_the_start(client, pid).await;
    match body(&mut follow, "question.asked").await {
        Body::QuestionAsked(question) => question,
        other => panic!("questions, not {other:?}"),
    }
}

async fn answer(client: &Client, question: &Question, replies: Vec<Reply>) -> Result<(), Failure> {
    let params = AnswerParams {
        question_id: question.question_id.clone(),
        replies,
        request_id: Some(RequestId::new()),
    };
    let answered = client.call::<QuestionAnswer>(&params).await;
    answered.map(|_| ()).map_err(|error| {
        error
            .failure()
            .unwrap_or_else(|| panic!("no answer at all: {error}"))
            .clone()
    })
}

async fn begun(house: &House, client: &Client) -> (Pid, Question) {
    let wish = house.create("paint it");
    let pid = client
        .call::<SessionCreate>(&wish)
        .await
        .expect("create")
        .pid;
    let question = open(client, pid).await;
    (pid, question)
}

#[tokio::test]
async fn answers_of_one_client_reach_the_model_and_all_others() {
    let house = House::playing(&asking());
    house.daemon();
    let one = house.client("one", Role::Drive).await;
    let two = house.client("two", Role::Approve).await;
    let three = house.client("three", Role::Watch).await;
    let (pid, question) = begun(&house, &one).await;
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
            summary.pending_questions
        ),
        (State::Waiting, Some(WaitingFor::Question), 1)
    );
    let listed = three.call::<QuestionList>(&ListParams::default()).await;
    assert_eq!(
        listed.expect("list").questions,
        std::slice::from_ref(&question)
    );

    let refused = answer(&three, &question, replies("red")).await;
    assert_eq!(
        refused.expect_err("a watcher watches").name,
        ErrorName::NotAllowed
    );
    for (wrong, why) in [
        (vec![], "too few"),
        (replies("green"), "no such option"),
        (vec![Reply::default(), Reply::default()], "nothing is said"),
    ] {
        let refused = answer(&two, &question, wrong).await.expect_err(why);
        assert_eq!(refused.name, ErrorName::InvalidParams, "{why}");
        assert!(!refused.hint.is_empty(), "{refused:?}");
    }
    answer(&two, &question, replies("red"))
        .await
        .expect("the first answer");
    let late = answer(&one, &question, replies("blue")).await;
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
    let (pid, question) = begun(&house, &client).await;
    drop(client);
    house.kill_daemon_and_parent();
    house.daemon();
    let client = house.client("two", Role::Drive).await;
    let listed = client.call::<QuestionList>(&ListParams::default()).await;
    assert_eq!(
        listed.expect("list").questions,
        std::slice::from_ref(&question)
    );
    answer(&client, &question, replies("blue"))
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
    let (pid, question) = begun(&house, &client).await;
    let session = pid.to_string();
    client
        .call::<SessionInterrupt>(&OneParams { session })
        .await
        .expect("interrupt");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let late = answer(&client, &question, replies("red")).await;
    assert_eq!(late.expect_err("over").name, ErrorName::AlreadyResolved);
    house.log(pid).check();
}

#[test]
fn where_nobody_is_the_model_is_told_so_and_goes_on() {
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
    let listed = house
        .block_on(later.call::<QuestionList>(&ListParams::default()))
        .expect("list");
    let question = &listed.questions[0];
    house
        .block_on(answer(&later, question, replies("red")))
        .expect("answer");
    until("the run ends", || {
        let which = OneParams {
            session: question.session.to_string(),
        };
        let get = later.call::<SessionGet>(&which);
        (house.block_on(get).expect("get").state == State::Exited).then_some(())
    });
}
