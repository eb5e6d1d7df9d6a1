//! Rules of single vendors, held by strict fakes over ten rounds of tools each.

use serde_json::json;
use testkit::model::{Answer, Fault, Model, Request, Script, VendorRule};
use tests::House;

use crate::scripted::{Ran, run};

const ROUNDS: usize = 10;

/// Ten calls, each in an answer of its own, and an end in words.
fn rounds(answer: impl Fn(Answer) -> Answer) -> Vec<Answer> {
    let call = |round| Answer::call("ls", json!({"path": format!("d{round}")}));
    let calls = (1..=ROUNDS).map(|round| answer(call(round)));
    calls.chain([Answer::text("All done.")]).collect()
}

/// Runs a session against the model, whose entry has this line.
fn session(model: &Model, line: &str) -> Ran {
    let house = House::new();
    house.provider(&format!("{}{line}", model.entry("vendor", None)));
    house.daemon();
    let ran = run(&house, &["--approval-mode", "yolo"], "go").expect(0, "completed");
    assert_eq!(ran.text(), "All done.");
    ran
}

#[test]
fn kimi_gets_the_reasoning_of_each_call() {
    let model = Model::start(rounds(|answer| answer.reasoning("Let me look.")));
    model.demand(VendorRule::Kimi);
    session(&model, "sends_reasoning = true\n");
    assert_eq!(model.count(), ROUNDS + 1);
    model.assert_strict();
}

#[test]
fn gemini_gets_the_signature_of_each_call() {
    let model = Model::start(rounds(|answer| answer));
    model.demand(VendorRule::Gemini);
    session(&model, "");
    assert_eq!(model.count(), ROUNDS + 1);
    model.assert_strict();
}

#[test]
fn llama_cpp_gets_a_text_beside_each_call() {
    let model = Model::start(rounds(|answer| answer));
    model.demand(VendorRule::LlamaCpp);
    session(&model, "");
    assert_eq!(model.count(), ROUNDS + 1);
    model.assert_strict();
}

/// A compaction leaves user messages side by side, and so does an interrupted turn.
#[test]
fn servers_that_demand_alternation_get_consecutive_user_messages_as_one() {
    let summary = |request: &Request| request.last_text().contains("Write a summary");
    let answer = move |request: &Request| match summary(request) {
        true => Answer::text("SUMMARY: it went on."),
        false => Answer::text(format!("An answer. {}", "words ".repeat(4_000))),
    };
    let model = Model::start(Script::by(answer));
    model.demand(VendorRule::Alternation);
    let house = House::new();
    let entry = model.entry("vendor", None);
    house.provider(&format!("{entry}merges_user_messages = true\n"));
    house.daemon();
    let first = run(&house, &[], "FACT-0 is blue.").expect(0, "completed");
    let pid = first.pid();
    for fact in 1..=3 {
        let prompt = format!("FACT-{fact} is green.");
        run(&house, &["-s", &pid], &prompt).expect(0, "completed");
    }
    let compacted = house.reasonix(&["compact", &pid]);
    assert_eq!(compacted.code(), Some(0), "{compacted:?}");
    run(&house, &["-s", &pid], "And now?").expect(0, "completed");
    let last = model.requests().pop().expect("requests");
    let sent = String::from_utf8_lossy(&last.body).into_owned();
    for kept in [
        "FACT-0 is blue.",
        "FACT-1 is green.",
        "SUMMARY: it went on.",
    ] {
        assert_eq!(sent.matches(kept).count(), 1, "{kept}");
    }
    model.assert_strict();
}

/// Each call is refused twice before it is well formed.
#[test]
fn groq_refuses_badly_formed_calls_and_the_model_is_told() {
    let refusal = Fault::Status {
        status: 400,
        retry_after: None,
        body: json!({"error": {
            "message": "Failed to call a function. See 'failed_generation' for more details.",
            "type": "invalid_request_error", "code": "tool_use_failed",
            "failed_generation": "<function=ls>{\"path\": \".\"",
        }})
        .to_string(),
    };
    let fails = |answer: Answer| answer.fault(refusal.clone()).fault(refusal.clone());
    let model = Model::start(rounds(fails));
    session(&model, "");
    assert_eq!(model.count(), 3 * ROUNDS + 1);
    model.assert_strict();
    let told = model.requests()[1].last_text().to_owned();
    assert!(told.contains("<function=ls>"), "{told}");
}
