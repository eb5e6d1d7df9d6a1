//! Answers as models write them.

use super::*;

fn value(answer: &str) -> Result<Value, String> {
    read(answer)
}

#[test]
fn json_is_found_alone_or_in_its_only_fence() {
    let one = serde_json::json!({"a": 1});
    for answer in [
        "{\"a\": 1}",
        "\n  {\"a\": 1}\n",
        "```json\n{\"a\": 1}\n```",
        "```JSON\n{\n\"a\": 1\n}\n```\n",
        "```\n{\"a\": 1}\n```",
        "Here it is:\n\n```json\n{\"a\": 1}\n```\nDone.",
        "```sh\nls\n```\n```json\n{\"a\": 1}\n```",
    ] {
        assert_eq!(value(answer), Ok(one.clone()), "{answer}");
    }
    assert_eq!(value("\"``` is no fence\""), Ok("``` is no fence".into()));
}

#[test]
fn answer_that_is_not_json_is_refused_with_the_reason() {
    for (answer, why) in [
        ("", "the answer is empty"),
        ("Sure!", "the answer is not valid JSON"),
        ("{\"a\": 1} and more", "the answer is not valid JSON"),
        (
            "```json\n{\"a\": \n```",
            "the fenced block of the answer is not valid JSON",
        ),
        (
            "```json\n1\n```\n```json\n2\n```",
            "the answer has 2 fenced blocks",
        ),
        ("```json\n{\"a\": 1}", "the answer is not valid JSON"),
    ] {
        let refused = value(answer).unwrap_err();
        assert!(refused.starts_with(why), "{answer}: {refused}");
    }
}
