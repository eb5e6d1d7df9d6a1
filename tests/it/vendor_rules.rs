//! Rules of single vendors, held by strict fakes over ten rounds of tools each.

use proto::hello::Role;
use serde_json::json;
use testkit::model::{Answer, Fault, Gate, Model, NAME, Place, Request, Script, VendorRule};
use tests::{House, until};

use crate::scripted::{RunOutput, run};

const ROUNDS: usize = 10;

/// Ten calls, each in an answer of its own, and an end in words.
fn rounds(answer: impl Fn(Answer) -> Answer) -> Vec<Answer> {
    let call = |round| Answer::call("ls", json!({"path": format!("d{round}")}));
    let calls = (1..=ROUNDS).map(|round| answer(call(round)));
    calls.chain([Answer::text("All done.")]).collect()
}

/// Runs a session against the model, whose entry has this line.
fn session(model: &Model, line: &str) -> RunOutput {
    session_of(model, NAME, line)
}

/// The same, where the model has this name.
fn session_of(model: &Model, name: &str, line: &str) -> RunOutput {
    let house = House::new();
    let entry = model.entry("vendor", None).replace(NAME, name);
    house.provider(&format!("{entry}{line}"));
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

/// The model need not think before each call, and the vendor takes an empty text for a missing one.
#[test]
fn kimi_gets_a_blank_where_a_call_came_without_reasoning() {
    let model = Model::start(rounds(|answer| answer));
    model.demand(VendorRule::Kimi);
    session_of(&model, "kimi-k2.5", "sends_reasoning = true\n");
    assert_eq!(model.count(), ROUNDS + 1);
    model.assert_strict();
}

#[test]
fn mistral_gets_call_ids_of_nine_characters() {
    let model = Model::start(rounds(|answer| answer));
    model.demand(VendorRule::Mistral);
    session_of(&model, "mistral-large-latest", "strict_roles = true\n");
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

/// A compaction leaves user messages side by side; an interrupted turn ends with a tool result.
#[test]
fn mistral_gets_alternating_roles() {
    let summary = |request: &Request| request.last_text().contains("Write a summary");
    let gate = Gate::new();
    let held = gate.clone();
    let answer = move |request: &Request| match request.last()["role"].as_str() {
        Some("tool") => Answer::text("Too late.").held(Place::Before, &held),
        _ if summary(request) => Answer::text("SUMMARY: it went on."),
        _ if request.last_text().contains("Look.") => Answer::call("ls", json!({"path": "."})),
        _ => Answer::text(format!("An answer. {}", "words ".repeat(4_000))),
    };
    let model = Model::start(Script::by(answer));
    model.demand(VendorRule::Mistral);
    let house = House::new();
    let entry = model.entry("vendor", None);
    let entry = entry.replace(NAME, "mistral-large-latest");
    house.provider(&format!("{entry}strict_roles = true\n"));
    house.settings("[network]\nidle_seconds = 60\n");
    house.daemon();
    let pid = run(&house, &[], "FACT-0 is blue.")
        .expect(0, "completed")
        .pid();
    for fact in 1..=3 {
        let prompt = format!("FACT-{fact} is green.");
        run(&house, &["-s", &pid], &prompt).expect(0, "completed");
    }
    let compacted = house.reasonix(&["compact", &pid]);
    assert_eq!(compacted.code(), Some(0), "{compacted:?}");
    let waiting = house.start(&["run", "-s", &pid, "--output-format", "jsonl", "Look."]);
    until("the tool result to be sent", || {
        gate.is_reached().then_some(())
    });
    let mut raw = house.raw_as(Role::Drive);
    raw.call("session.interrupt", &json!({"session": pid}))
        .expect("interrupt");
    let ended = waiting.done();
    assert!(ended.out.contains("\"interrupted\""), "{ended:?}");
    gate.open();
    run(&house, &["-s", &pid], "And now?").expect(0, "completed");
    let last = model.requests().pop().expect("requests");
    let sent = String::from_utf8_lossy(&last.body).into_owned();
    for kept in [
        "FACT-0 is blue.",
        "FACT-1 is green.",
        "SUMMARY: it went on.",
        "Look.",
    ] {
        assert_eq!(sent.matches(kept).count(), 1, "{kept}");
    }
    assert!(
        sent.contains("Understood."),
        "an answer after the tool result: {sent}"
    );
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
    let received = model.requests()[1].last_text().to_owned();
    assert!(received.contains("<function=ls>"), "{received}");
}
