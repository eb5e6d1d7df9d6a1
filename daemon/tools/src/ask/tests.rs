//! Scenes.

use contract::CallAction;
use serde_json::{Value, json};

use crate::scene::{Scene, object, tool_named};

fn question(labels: &[&str]) -> Value {
    let options: Vec<Value> = labels
        .iter()
        .map(|label| json!({ "label": label }))
        .collect();
    json!({"question": "Which one?", "header": "Colour", "options": options})
}

#[test]
fn questions_are_given_to_the_session() {
    let tool = tool_named("ask");
    let mut many = question(&["red", " blue "]);
    many["multiSelect"] = json!(true);
    let arguments = tool
        .parse(&object(
            json!({"questions": [question(&["red", "blue"]), many]}),
        ))
        .unwrap();
    let CallAction::AskUser(asked) = tool.action(&arguments).unwrap() else {
        panic!("the user is asked");
    };
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].options[1].label, "blue");
    assert!(asked[1].multi_select && !asked[0].multi_select);
}

#[tokio::test]
async fn unaskable_questions_are_refused_with_a_reason() {
    let scene = Scene::new();
    let with = |key: &str, value: &str| {
        let mut question = question(&["a", "b"]);
        question[key] = json!(value);
        question
    };
    let five: Vec<Value> = (0..5).map(|_| question(&["a", "b"])).collect();
    for (questions, words) in [
        (json!([]), "there are 0 questions"),
        (json!(five), "there are 5 questions"),
        (json!([with("question", " ")]), "question 1 is empty"),
        (json!([with("header", "")]), "a header of 0 characters"),
        (
            json!([with("header", &"é".repeat(25))]),
            "a header of 25 characters",
        ),
        (json!([question(&["a"])]), "has 1 options"),
        (
            json!([question(&["a", "b", "c", "d", "e"])]),
            "has 5 options",
        ),
        (json!([question(&["a", " "])]), "an option without a label"),
        (
            json!([question(&["a", "b"]), question(&["a", "a "])]),
            "question 2 has two options of the same label",
        ),
    ] {
        let text = scene.fails("ask", json!({ "questions": questions })).await;
        assert!(text.contains(words), "{text}");
    }
}
