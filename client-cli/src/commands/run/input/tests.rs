//! Lines as programs write them.

use proto::params::interaction::ApprovalDecision;
use serde_json::json;

use super::*;

/// What becomes of each line of this input.
fn lines(input: &[u8]) -> Vec<(u64, Result<InputCommand, String>)> {
    let mut found = Vec::new();
    read_lines(input, |line| {
        found.push((line.number, line.wanted.map_err(|bad| bad.message)));
        true
    });
    found
}

#[test]
fn lines_are_numbered_and_a_bad_one_ends_nothing() {
    let input = b"{\"kind\":\"prompt\",\"text\":\"one\"}\n\n\xff\n{\"kind\":\"interrupt\"}";
    let found = lines(input);
    let numbers: Vec<_> = found.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 3, 4]);
    let prompt = InputCommand::Prompt {
        text: "one".to_owned(),
        steer: false,
    };
    assert_eq!(found[0].1, Ok(prompt));
    assert!(found[1].1.as_ref().unwrap_err().contains("not valid JSON"));
    assert_eq!(found[2].1, Ok(InputCommand::Interrupt));
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let mut input = vec![b'x'; frame::INBOUND_MAX + 10];
    input.extend_from_slice(b"\n{\"kind\":\"interrupt\"}\n");
    let found = lines(&input);
    assert!(found[0].1.as_ref().unwrap_err().contains("more than 4 MiB"));
    assert_eq!(found[1], (2, Ok(InputCommand::Interrupt)));
}

#[test]
fn invalid_json_input_line_is_refused_with_the_reason() {
    for (line, why) in [
        ("[]", "not a JSON object"),
        ("{}", "no `kind`"),
        (
            "{\"kind\":\"promt\",\"text\":\"x\"}",
            "unknown kind `promt`",
        ),
        ("{\"kind\":\"prompt\"}", "no `text`"),
        (
            "{\"kind\":\"prompt\",\"text\":\"x\",\"ster\":true}",
            "has no `ster`",
        ),
        (
            "{\"kind\":\"prompt\",\"text\":\"x\",\"steer\":1}",
            "neither true nor false",
        ),
        ("{\"kind\":\"answer\",\"decision\":\"deny\"}", "no `id`"),
        ("{\"kind\":\"interrupt\",\"now\":true}", "has no `now`"),
    ] {
        let refused = parse(line.as_bytes()).unwrap_err().message;
        assert!(refused.contains(why), "{line}: {refused}");
    }
}

#[test]
fn an_answer_is_read_by_the_kind_of_its_question() {
    let read = |written: Value, kind: &str| {
        let Value::Object(written) = written else {
            panic!("an object")
        };
        answer(written, kind).map_err(|bad| bad.message)
    };
    let yes = read(json!({"decision": "allow_once"}), "approval");
    assert!(matches!(
        yes,
        Ok(InteractionAnswer::Approval {
            decision: ApprovalDecision::AllowOnce,
            ..
        })
    ));
    assert!(read(json!({"type": "plan", "decision": "approve"}), "plan").is_ok());
    assert!(read(json!({"replies": [{"labels": ["A"]}]}), "questions").is_ok());
    for (written, kind, why) in [
        (json!({"decision": "yes"}), "approval", "no answer"),
        (
            json!({"type": "plan", "decision": "approve"}),
            "approval",
            "of type `approval`",
        ),
        (
            json!({"decision": "deny", "not": "no"}),
            "approval",
            "no `not`",
        ),
        (json!({}), "questions", "no answer"),
    ] {
        let refused = read(written, kind).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}
