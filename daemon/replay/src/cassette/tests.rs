//! Parsing scripts.

use super::*;

fn said(cassette: &Cassette, index: usize) -> &AnswerContent {
    cassette.answers[index].said.as_ref().expect("an answer")
}

#[test]
fn a_line_says_everything_it_holds() {
    let script = concat!(
        r#"{"text":"a","reasoning":"r","tool_calls":[{"name":"read","arguments":{"b": 1.0, "a":[ ]}},"#,
        r#"{"name":"bash","arguments":"{\"command\"","id":"x"},{"name":"ls"}],"#,
        r#""when":{"contains":"go"},"chunk_bytes":3,"delay_ms":7,"usage":{"prompt":9,"cached":4}}"#
    );
    let cassette = Cassette::parse(script).expect("parses");
    let answer = &cassette.answers[0];
    assert_eq!((answer.chunk_bytes, answer.delay.as_millis()), (3, 7));
    assert_eq!(answer.contains.as_deref(), Some("go"));
    let said = said(&cassette, 0);
    assert_eq!((said.text.as_str(), said.reasoning.as_str()), ("a", "r"));
    assert_eq!(
        said.usage,
        Some(Usage {
            prompt: 9,
            cached: 4,
            output: 0
        })
    );
    let arguments: Vec<_> = said
        .calls
        .iter()
        .map(|call| call.arguments.as_str())
        .collect();
    assert_eq!(arguments, [r#"{"b": 1.0, "a":[ ]}"#, r#"{"command""#, "{}"]);
    assert_eq!(said.calls[1].id.as_deref(), Some("x"));
}

#[test]
fn a_wrong_line_is_named_by_its_number() {
    for (script, line, reason) in [
        ("{\"text\":\"a\"}\n\n{\"txt\":\"b\"}", 3, "txt"),
        ("nonsense", 1, "expected"),
        ("{\"fault\":\"http:200\"}", 1, "http:STATUS"),
        ("{\"fault\":\"http:429:soon\"}", 1, "http:STATUS"),
        ("{\"fault\":\"explode\"}", 1, "garbage"),
        (
            "{\"tool_calls\":[{\"name\":\"a\",\"arguments\":3}]}",
            1,
            "object or a string",
        ),
        (
            "{\"fault\":\"cut\",\"when\":{\"contains\":\"a\"}}",
            1,
            "beside the fault",
        ),
    ] {
        let error = Cassette::parse(script).expect_err(script).to_string();
        assert!(
            error.starts_with(&format!("cassette line {line}: ")),
            "{error}"
        );
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn faults_belong_to_the_answer_after_them() {
    let script = "{\"fault\":\"http:429:1\"}\n{\"fault\":\"cut\"}\n{\"text\":\"a\",\"fault\":\"stall\"}\n{\"fault\":\"http:500\"}";
    let cassette = Cassette::parse(script).expect("parses");
    let faults: Vec<_> = cassette
        .answers
        .iter()
        .map(|answer| answer.faults.clone())
        .collect();
    let limited = ScriptedFault::Http {
        status: 429,
        retry_after: Some(1),
    };
    assert_eq!(
        faults[0],
        [limited, ScriptedFault::Cut, ScriptedFault::Stall]
    );
    assert_eq!(
        faults[1],
        [ScriptedFault::Http {
            status: 500,
            retry_after: None
        }]
    );
    assert_eq!(cassette.answers[1].said, None);
}

#[test]
fn a_file_is_read_and_a_missing_one_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.jsonl");
    std::fs::write(&path, "{\"text\":\"a\"}\n").expect("written");
    assert_eq!(Cassette::read(&path).expect("parses").answers.len(), 1);
    let missing = Cassette::read(&dir.path().join("b.jsonl"))
        .expect_err("missing")
        .to_string();
    assert!(missing.contains("b.jsonl"), "{missing}");
}
