//! A provider over a real socket: streaming, requests, and every kind of failure.
//!
//! The model is strict: a request that any vendor would refuse fails the test.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::model::{Answer, Call, Fault, Gate, Model, Place, Usage};
use tests::House;

use crate::scripted::{FAST_RETRIES, RunOutput, command_is_gone, command_runs, house, run, shown};

fn read(path: &str) -> Answer {
    Answer::call("read_file", json!({"path": path}))
}

fn bash(command: &str) -> Answer {
    Answer::call("bash", json!({"command": command}))
}

#[test]
fn an_answer_is_streamed_kept_and_counted() {
    let text = "Grüße, 世界 – and a longer tail of words, so that it comes in many pieces. ";
    let usage = Usage {
        prompt: 1000,
        cached: 640,
        output: 70,
        reasoning: 30,
    };
    let gate = Gate::new();
    let answer = Answer::text(text)
        .reasoning("Hm, let me see.")
        .usage(usage)
        .held(Place::Before, &gate);
    let model = Model::start([answer]);
    let house = house(&model);
    let running = house.start(&["run", "--output-format", "jsonl", "hello"]);
    running.line("the border to live events", |line| {
        line.contains("\"kind\":\"sync\"")
    });
    gate.open();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.text(), text, "byte for byte, the last blank too");
    assert_eq!(ran.streamed(), [text]);
    let reported = ran.result["usage"].clone();
    let figures = [
        "requests",
        "prompt_tokens",
        "cached_tokens",
        "output_tokens",
        "reasoning_tokens",
    ];
    assert_eq!(
        figures.map(|name| reported[name].as_u64()),
        [1, 1000, 640, 70, 30].map(Some)
    );
    assert_eq!(
        ran.result["cost_usd"],
        Value::Null,
        "an unknown price is not 0"
    );
    let request = model.requests().remove(0);
    assert!(
        request.last_text().ends_with("hello"),
        "the prompt is last: {}",
        request.last_text()
    );
    assert_eq!(
        request.authorization, None,
        "no key is configured, none is sent"
    );
    model.assert_strict();
}

#[test]
fn tools_run_in_rounds_and_their_results_go_back() {
    let model = Model::start([
        read("a.txt").and_call("grep", json!({"pattern": "old"})),
        Answer::call(
            "edit_file",
            json!({"path": "a.txt", "old_string": "old", "new_string": "new"}),
        ),
        Answer::call("write_file", json!({"path": "b.txt", "content": "made\n"})),
        bash("cat a.txt b.txt"),
        Answer::text("All done."),
    ]);
    let house = house(&model);
    house.files("//- a.txt\nold words\n");
    let ran = run(&house, &[], "change it").expect(0, "completed");
    assert_eq!(
        (house.read("a.txt"), house.read("b.txt")),
        ("new words\n".into(), "made\n".into())
    );
    let results = model.requests().pop().expect("requests").results();
    assert_eq!(results.len(), 5);
    assert!(
        results[0].1.contains("old words") && results[1].1.contains("a.txt"),
        "{results:?}"
    );
    assert!(
        results[4].1.contains("new words") && results[4].1.contains("made"),
        "{results:?}"
    );
    assert_eq!(
        (
            ran.result["steps"].as_u64(),
            ran.result["tool_calls"].as_u64()
        ),
        (Some(5), Some(5))
    );
    model.assert_prefix();
}

#[test]
fn four_readers_run_side_by_side_and_answer_in_the_order_of_the_calls() {
    let names = ["one", "two", "three", "four"];
    let mut wanted = Answer::text("");
    for name in names {
        wanted = wanted.and_call_id(name, "bash", json!({"command": format!("cat {name}.pipe")}));
    }
    let model = Model::start([wanted, Answer::text("Read.")]);
    let house = house(&model);
    let pipes = names.map(|name| house.project().join(format!("{name}.pipe")));
    let made = Command::new("mkfifo")
        .args(&pipes)
        .status()
        .expect("run mkfifo");
    assert!(made.success());
    let running = house.start(&["run", "--output-format", "jsonl", "read them"]);
    // Each opens only when its reader runs. The last one is fed first: one after the other, they would wait for ever.
    let mut fed = pipes.each_ref().map(|pipe| {
        OpenOptions::new()
            .write(true)
            .open(pipe)
            .expect("open a pipe")
    });
    for (pipe, name) in fed.iter_mut().zip(names).rev() {
        writeln!(pipe, "words of {name}").expect("feed a pipe");
    }
    drop(fed);
    RunOutput::of(&running.done()).expect(0, "completed");
    let results = model.requests().pop().expect("requests").results();
    let order: Vec<_> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(order, names);
    for (name, (_, text)) in names.iter().zip(&results) {
        assert!(text.contains(&format!("words of {name}")), "{results:?}");
    }
    model.assert_strict();
}

#[test]
fn a_rate_limit_is_waited_out_as_long_as_it_says() {
    let model = Model::start([Answer::text("There.").fault(Fault::rate_limit("1"))]);
    let house = house(&model);
    let begun = std::time::Instant::now();
    let ran = run(&house, &[], "hello").expect(0, "completed");
    assert!(
        begun.elapsed().as_millis() >= 1000,
        "it came back after {:?}",
        begun.elapsed()
    );
    let waits: Vec<_> = ran
        .all("session.state")
        .into_iter()
        .filter(|state| state["waiting_for"] == "retry")
        .collect();
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!(waits[0]["retry_in_ms"], 1000);
    let cause = waits[0]["cause"].as_str().unwrap_or_default();
    assert!(
        cause.contains("429") && cause.contains("slow down"),
        "the wait says why: {cause}"
    );
    assert_eq!(model.count(), 2);
}

#[test]
fn what_fails_before_an_answer_is_tried_again_with_the_same_bytes() {
    let document = json!({"error": {"message": "overloaded", "code": 503}}).to_string();
    for fault in [
        Fault::status(500),
        Fault::status(503),
        Fault::status(408),
        Fault::HangUp,
        Fault::ErrorDocument(document),
    ] {
        let model = Model::start([Answer::text("There.").fault(fault.clone())]);
        let house = house(&model);
        let ran = run(&house, &[], "hello");
        assert_eq!(
            (ran.code, ran.text()),
            (Some(0), "There."),
            "{fault:?}: {ran:#?}"
        );
        let requests = model.requests();
        assert_eq!(requests.len(), 2, "{fault:?}");
        assert_eq!(
            requests[0].body, requests[1].body,
            "{fault:?}: another try is the same request"
        );
    }
}

#[test]
fn a_refused_connection_is_tried_again() {
    let model = Model::unreachable([Answer::text("There.")]);
    let house = House::new();
    // As many tries as it takes until somebody listens.
    house.settings("[internal]\nretry_base_ms = 10\nretry_tries = 100\nretry_cap_seconds = 1\n");
    house.provider(&model.entry("model", None));
    house.daemon();
    let running = house.start(&["run", "--output-format", "jsonl", "hello"]);
    let line = running.line("a wait for another try", |line| {
        line.contains("\"waiting_for\":\"retry\"")
    });
    assert!(line.contains("127.0.0.1"), "it names the address: {line}");
    model.listen();
    RunOutput::of(&running.done()).expect(0, "completed");
}

/// A stream that breaks after words were shown: they are taken back, and the next try's words are the answer.
fn breaks_in_the_middle(fault: Fault, cause: &str) {
    let text = "It is a long answer that breaks in its middle, and is then given in full.";
    let gate = Gate::new();
    let model = Model::start([Answer::text(text)
        .held(Place::Middle, &gate)
        .fault(fault.clone())]);
    let house = House::new();
    house.settings(&FAST_RETRIES.replace("idle_seconds = 30", "idle_seconds = 5"));
    house.provider(&model.entry("model", None));
    house.daemon();
    let running = house.start(&["run", "--output-format", "jsonl", "hello"]);
    shown(&running, "It is a long");
    gate.open();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.text(), text);
    let tries = ran.streamed();
    assert_eq!(
        tries.len(),
        2,
        "{fault:?}: the visible text was taken back once: {tries:?}"
    );
    assert!(
        !tries[0].is_empty() && text.starts_with(&tries[0]),
        "{tries:?}"
    );
    assert_eq!(tries[1], text, "{fault:?}");
    assert!(
        ran.all("message.partial")
            .iter()
            .all(|partial| partial["superseded"] == true)
    );
    assert_eq!(
        ran.all("message.assistant").len(),
        1,
        "only the whole answer is kept"
    );
    let waits: Vec<_> = ran
        .all("session.state")
        .into_iter()
        .filter(|state| state["waiting_for"] == "retry")
        .collect();
    let said = waits[0]["cause"].as_str().unwrap_or_default();
    assert!(said.contains(cause), "{fault:?}: the wait says why: {said}");
    let requests = model.requests();
    assert_eq!(
        (requests.len(), &requests[0].body),
        (2, &requests[1].body),
        "{fault:?}"
    );
    model.assert_strict();
}

#[test]
fn a_reset_connection_takes_back_what_was_shown() {
    breaks_in_the_middle(Fault::Reset, "in the middle of its answer");
}

#[test]
fn a_stream_that_ends_too_early_takes_back_what_was_shown() {
    breaks_in_the_middle(Fault::Eof, "in the middle of its answer");
}

#[test]
fn a_stalled_stream_is_a_failure_and_no_hang() {
    breaks_in_the_middle(Fault::Stall, "silent");
}

#[test]
fn malformed_stream_event_breaks_off_the_answer() {
    breaks_in_the_middle(Fault::Malformed, "not an event");
}

#[test]
fn a_stream_without_its_last_word_is_whole_when_it_gave_a_reason() {
    let model = Model::start([Answer::text("Whole.").without_done().unreported()]);
    let house = house(&model);
    let ran = run(&house, &[], "hello").expect(0, "completed");
    assert_eq!((ran.text(), model.count()), ("Whole.", 1));
    assert_eq!(
        ran.all("usage")[0]["reported"],
        false,
        "nothing was reported, and that is said"
    );
}

#[test]
fn truncated_arguments_never_run_and_the_model_learns_why() {
    for by_limit in [false, true] {
        let write = Answer::call(
            "write_file",
            json!({"path": "x.txt", "content": "a long text that breaks off"}),
        );
        let model = Model::start([
            write.fault(Fault::CutArguments { by_limit }),
            Answer::text("Written."),
        ]);
        let house = house(&model);
        let ran = run(&house, &[], "write it").expect(0, "completed");
        let statuses: Vec<_> = ran
            .all("message.tool")
            .iter()
            .map(|message| message["status"].clone())
            .collect();
        assert_eq!(statuses, ["refused", "ok"], "cut by the limit: {by_limit}");
        let result = model.requests()[1].results().remove(0).1;
        assert!(result.contains("broke off"), "{result}");
        assert_eq!(house.read("x.txt"), "a long text that breaks off");
        assert_eq!(ran.all("tool.started").len(), 1, "half a call never starts");
        model.assert_prefix();
    }
}

#[test]
fn a_call_of_an_unknown_tool_is_refused_with_the_list_of_tools() {
    let model = Model::start([
        Answer::call("fly", json!({"to": "the moon"})),
        Answer::text("I cannot fly."),
    ]);
    let house = house(&model);
    run(&house, &[], "fly").expect(0, "completed");
    let result = model.requests()[1].results().remove(0).1;
    assert!(
        result.contains("`fly`") && result.contains("read_file"),
        "{result}"
    );
    model.assert_prefix();
}

#[test]
fn reused_call_ids_are_made_unique() {
    let again = || Answer::text("").and_call_id("call_0", "read_file", json!({"path": "a.txt"}));
    let model = Model::start([again(), again(), Answer::text("Done.")]);
    let house = house(&model);
    house.files("//- a.txt\nwords\n");
    run(&house, &[], "read it twice").expect(0, "completed");
    let ids: Vec<_> = model.requests()[2]
        .results()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
    model.assert_prefix();
}

#[test]
fn a_refused_key_is_named_and_not_tried_again() {
    let refused = Fault::refusal(
        401,
        "Incorrect API key provided: sk-secret-123",
        "invalid_api_key",
    );
    let model = Model::start([Answer::text("never").fault(refused)]);
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&model.entry("model", Some("SCRIPTED_KEY")));
    house.daemon();
    let mut command = house.command(&["run", "--output-format", "jsonl", "hello"]);
    command.env("SCRIPTED_KEY", "sk-secret-123");
    let ran = RunOutput::of(&tests::program::run(&mut command)).expect(1, "failed");
    assert_eq!(model.count(), 1, "a refused key is not tried again");
    assert_eq!(
        model.requests()[0].authorization.as_deref(),
        Some("Bearer sk-secret-123")
    );
    let error = ran.result["error"].to_string();
    assert!(
        error.contains("SCRIPTED_KEY") && error.contains("`model`") && error.contains("401"),
        "{error}"
    );
    let everything = format!("{:?} {}", ran, house.daemon_log());
    assert!(
        !everything.contains("sk-secret-123"),
        "a key never leaves: {everything}"
    );
    for log in house.logs() {
        let text = std::fs::read_to_string(&log.path).expect("a log");
        assert!(!text.contains("sk-secret-123"), "a key is not in the log");
    }
}

#[test]
fn without_its_key_nothing_is_sent() {
    let model = Model::start([Answer::text("never")]);
    let house = House::new();
    house.provider(&model.entry("model", Some("SCRIPTED_KEY")));
    house.daemon();
    let ran = run(&house, &[], "hello").expect(78, "failed");
    let error = ran.result["error"].to_string();
    assert!(
        error.contains("SCRIPTED_KEY"),
        "it says which variable to set: {error}"
    );
    assert_eq!(model.count(), 0);
}

#[test]
fn permanent_failures_are_not_retried() {
    for (status, words) in [
        (400, "bad"),
        (402, "pay"),
        (403, "no"),
        (404, "gone"),
        (422, "odd"),
    ] {
        let model = Model::start([Answer::text("never").fault(Fault::refusal(status, words, ""))]);
        let house = house(&model);
        let ran = run(&house, &[], "hello").expect(1, "failed");
        assert_eq!(model.count(), 1, "{status}");
        let error = &ran.result["error"];
        let name = match status {
            402 => "out_of_credit",
            _ => "provider_failed",
        };
        assert_eq!(
            (error["name"].as_str(), error["status"].as_u64()),
            (Some(name), Some(status.into()))
        );
        let message = error["message"].as_str().unwrap_or_default();
        assert!(
            message.contains(words) && message.contains("`model`"),
            "{message}"
        );
        assert!(
            !error["hint"].as_str().unwrap_or_default().is_empty(),
            "{status} has a hint"
        );
    }
}

#[test]
fn references_to_models_resolve_and_those_that_do_not_say_what_there_is() {
    let model = Model::start(Vec::new());
    let house = House::new();
    let entry = |name: &str, models: &str| {
        format!(
            "name = \"{name}\"\nkind = \"openai\"\nbase_url = \"{}\"\n{models}",
            model.base_url()
        )
    };
    house.settings("default_model = \"first\"\n");
    house.provider(&entry(
        "first",
        "models = [\"small\", \"shared\"]\ndefault = \"shared\"",
    ));
    house.provider(&entry(
        "second",
        "models = [\"large\", \"shared\", \"a/b\"]",
    ));
    house.daemon();
    for (reference, sent) in [
        (None, "shared"),
        (Some("first"), "shared"),
        (Some("second"), "large"),
        (Some("small"), "small"),
        (Some("a/b"), "a/b"),
        (Some("second/shared"), "shared"),
        (Some("second/a/b"), "a/b"),
    ] {
        model.push([Answer::text("Here.")]);
        let arguments: Vec<_> = reference
            .iter()
            .flat_map(|name| ["--model", name])
            .collect();
        run(&house, &arguments, "hello").expect(0, "completed");
        let request = model.requests().pop().expect("a request");
        assert_eq!(request.json["model"], sent, "`{reference:?}`");
    }
    let asked = model.count();
    for (reference, words) in [
        ("shared", &["first/shared", "second/shared"][..]),
        ("third", &["first", "second"]),
        ("first/large", &["second/large", "more: `reasonix models`"]),
        ("third/small", &["first/small", "more: `reasonix models`"]),
    ] {
        let ran = run(&house, &["--model", reference], "hello").expect(64, "failed");
        let error = ran.result["error"].to_string();
        assert!(
            words.iter().all(|word| error.contains(word)),
            "`{reference}`: {error}"
        );
        assert_eq!(
            ran.result["session"],
            Value::Null,
            "no session is made: {error}"
        );
    }
    assert_eq!(
        model.count(),
        asked,
        "a reference that does not resolve asks nobody"
    );
}

#[test]
fn a_conversation_that_is_too_long_ends_the_turn_and_the_session_goes_on() {
    let full = Fault::refusal(
        400,
        "This model's maximum context length is 10 tokens.",
        "context_length_exceeded",
    );
    let model = Model::start([Answer::text("Again.").fault(full)]);
    let house = house(&model);
    let ran = run(&house, &[], "a long prompt").expect(2, "context_full");
    assert_eq!(model.count(), 1);
    run(&house, &["-s", &ran.pid()], "shorter").expect(0, "completed");
    model.assert_prefix();
}

#[test]
fn a_failed_request_keeps_the_prompt_and_what_was_said() {
    let text =
        "The beginning of an answer that never comes to its end, however often it is asked for.";
    let failing = (0..4).fold(Answer::text(text), |answer, _| answer.fault(Fault::Eof));
    let model = Model::start([failing]);
    let house = house(&model);
    let ran = run(&house, &[], "the first question").expect(1, "failed");
    assert_eq!(model.count(), 4, "as many tries as are set");
    assert_eq!(ran.result["error"]["tries"], 4);
    let partial = ran.text().to_owned();
    assert!(
        !partial.is_empty() && text.starts_with(&partial),
        "the partial answer is in the result: {partial}"
    );
    let kept = ran.all("message.assistant");
    assert_eq!((kept.len(), &kept[0]["finish"]), (1, &json!("interrupted")));
    let again = run(&house, &["-s", &ran.pid()], "go on").expect(0, "completed");
    assert_eq!(again.text(), text);
    let request = model.requests().pop().expect("requests");
    let said: Vec<_> = request.messages()[1..]
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default())
        .collect();
    assert!(said[0].ends_with("the first question"), "{said:?}");
    assert_eq!(said[1..], [&partial, "go on"]);
    model.assert_prefix();
}

#[test]
fn an_answer_of_reasoning_alone_is_continued_once() {
    let silent = || Answer::text("").reasoning("I think, and say nothing.");
    let model = Model::start([silent(), Answer::text("Now I say it.")]);
    let house = house(&model);
    let ran = run(&house, &[], "say it").expect(0, "completed");
    assert_eq!((ran.text(), model.count()), ("Now I say it.", 2));
    model.assert_prefix();

    model.push([silent(), silent()]);
    let ran = run(&house, &[], "say it").expect(1, "failed");
    assert_eq!(model.count(), 4, "continued once, not for ever");
    assert!(
        ran.result["error"]["message"]
            .as_str()
            .is_some_and(|words| words.contains("two empty answers"))
    );
    model.assert_strict();
}

#[test]
fn at_the_step_limit_the_model_sums_up_without_tools() {
    let model = Model::start([
        read("a.txt"),
        read("a.txt"),
        Answer::text("I read it twice; nothing is left."),
    ]);
    let house = house(&model);
    house.files("//- a.txt\nwords\n");
    let ran = run(&house, &["--max-steps", "2"], "read on").expect(2, "max_steps");
    assert_eq!(ran.text(), "I read it twice; nothing is left.");
    let choices: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.json["tool_choice"].clone())
        .collect();
    assert_eq!(choices, ["auto", "auto", "none"]);
    model.assert_prefix();
    model.push([Answer::text("More.")]);
    run(&house, &["-s", &ran.pid(), "--max-steps", "0"], "go on").expect(0, "completed");
    model.assert_prefix();
}

#[test]
fn calls_of_an_answer_that_was_to_sum_up_do_not_run() {
    let write = Answer::call("write_file", json!({"path": "late.txt", "content": "late"}));
    let model = Model::start([read("a.txt"), write, Answer::text("Next.")]);
    let house = house(&model);
    house.files("//- a.txt\nwords\n");
    let ran = run(&house, &["--max-steps", "1"], "read on").expect(2, "max_steps");
    assert!(!house.project().join("late.txt").exists());
    run(&house, &["-s", &ran.pid(), "--max-steps", "0"], "go on").expect(0, "completed");
    model.assert_prefix();
}

#[test]
fn a_run_whose_time_is_up_ends_and_keeps_what_was_said() {
    let gate = Gate::new();
    let model = Model::start([
        Answer::text("A slow beginning of an answer.").held(Place::Middle, &gate),
        Answer::text("Quick."),
    ]);
    let house = House::new();
    house.settings("[network]\nidle_seconds = 60\n");
    house.provider(&model.entry("model", None));
    house.daemon();
    let ran = run(&house, &["--timeout", "0.5"], "hello").expect(124, "interrupted");
    assert!(
        !ran.text().is_empty() && "A slow beginning of an answer.".starts_with(ran.text()),
        "{ran:?}"
    );
    gate.open();
    // The interrupted answer is said again to whoever asks again; the next prompt is another question.
    let again = run(
        &house,
        &["-s", &ran.pid(), "--timeout", "60"],
        "hello again",
    )
    .expect(0, "completed");
    assert!(!again.text().is_empty());
    model.assert_prefix();
}

#[test]
fn an_interrupted_stream_leaves_a_history_that_goes_on() {
    let gate = Gate::new();
    let text = "An answer that is interrupted in its middle by a person.";
    let model = Model::start([Answer::text(text).held(Place::Middle, &gate)]);
    let house = House::new();
    house.provider(&model.entry("model", None));
    house.daemon();
    let running = house.start(&["run", "--output-format", "jsonl", "hello"]);
    shown(&running, "An answer that");
    running.signal(Signal::INT);
    let ran = RunOutput::of(&running.done()).expect(130, "interrupted");
    assert!(
        !ran.text().is_empty() && text.starts_with(ran.text()),
        "{:?}",
        ran.text()
    );
    gate.open();
    run(&house, &["-s", &ran.pid()], "go on").expect(0, "completed");
    model.assert_prefix();
}

#[test]
fn an_interrupted_call_has_its_result_and_its_process_is_gone() {
    let model = Model::start([
        bash("echo begun; sleep 4177").and_call("bash", json!({"command": "touch second"})),
        Answer::text("Stopped."),
    ]);
    let house = house(&model);
    let running = house.start(&[
        "run",
        "--output-format",
        "jsonl",
        "--on-ask",
        "allow",
        "sleep",
    ]);
    command_runs(&house, "sleep 4177");
    running.signal(Signal::INT);
    let ran = RunOutput::of(&running.done()).expect(130, "interrupted");
    command_is_gone(&house, "sleep 4177");
    let statuses: Vec<_> = ran
        .all("message.tool")
        .iter()
        .map(|message| message["status"].clone())
        .collect();
    assert_eq!(statuses, ["interrupted", "interrupted"]);
    run(&house, &["-s", &ran.pid()], "go on").expect(0, "completed");
    let results = model.requests().pop().expect("requests").results();
    assert!(
        results[0].1.contains("begun"),
        "its output is not lost: {results:?}"
    );
    assert!(results[1].1.contains("Not run"), "{results:?}");
    model.assert_prefix();
}

#[test]
fn arguments_go_back_byte_for_byte_as_they_came() {
    let odd = "{ \"path\" :\t\"a.txt\",\"limit\":1.0e1 }  ";
    let call = Call {
        id: None,
        name: "read_file".into(),
        arguments: odd.into(),
    };
    let model = Model::start([
        Answer::text("Trailing blanks  \n").with(call),
        Answer::text("Done."),
    ]);
    let house = house(&model);
    house.files("//- a.txt\nwords\n");
    run(&house, &[], "read it").expect(0, "completed");
    let request = model.requests().pop().expect("requests");
    let answer = &request.messages()[2];
    assert_eq!(answer["content"], "Trailing blanks  \n");
    assert_eq!(answer["tool_calls"][0]["function"]["arguments"], odd);
    model.assert_prefix();
}

#[test]
fn the_tries_of_a_server_that_does_not_run_are_counted_as_they_are_made() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("its address");
    drop(free);
    let house = House::new();
    house.provider(&format!(
        "name = \"local\"\nkind = \"openai\"\nbase_url = \"http://{address}/v1\"\nmodel = \"m\"\n"
    ));
    house.daemon();
    let ran = run(&house, &[], "hello").expect(1, "failed");
    let states = ran.all("session.state");
    let causes: Vec<_> = states
        .iter()
        .filter_map(|state| state["cause"].as_str()?.split_once("(attempt "))
        .filter_map(|(_, counts)| counts.trim_end_matches(')').split_once(" of "))
        .collect();
    let (next, last) = causes.last().expect("it is tried again");
    assert_eq!(
        next, last,
        "the last try is announced as the last: {causes:?}"
    );
    assert!(
        causes.iter().all(|(_, last)| matches!(*last, "4" | "5")),
        "four seconds have no more tries: {causes:?}"
    );
}

#[test]
fn config_check_names_what_would_be_refused_when_a_provider_is_used() {
    let house = House::new();
    let entry = |name: &str, line: &str| {
        format!(
            "[[providers]]\nname = \"{name}\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n{line}\n\n"
        )
    };
    let good = entry("good", "");
    house.config_text(&good);
    let checked = house.reasonix(&["config", "check"]).expect_code(0);
    assert!(!checked.out.contains("cannot be used"), "{}", checked.out);
    let wrong = [
        entry("compacts", "server_compaction = true"),
        entry("extra", "extra = { stream = false }"),
        entry("limit", "max_output_tokens = 9"),
    ];
    house.config_text(&format!("{good}{}", wrong.concat()));
    let checked = house.reasonix(&["config", "check"]).expect_code(78);
    for (number, words) in [
        (
            8,
            "`compacts` cannot be used: provider `compacts`: server_compaction",
        ),
        (
            15,
            "provider `extra`: extra: `stream` is written by the request itself",
        ),
        (22, "provider `limit`: max_output_tokens"),
    ] {
        let place = format!("config.toml:{number}:");
        let reported = checked
            .out
            .lines()
            .any(|text| text.contains(&place) && text.contains(words));
        assert!(reported, "{number}: {words}: {}", checked.out);
    }
    // What to do next is said once for all of them, as other commands say it.
    let fix = format!(
        "  Fix it in {}.",
        house.home().join("config.toml").display()
    );
    assert_eq!(checked.out.lines().last(), Some(&*fix), "{}", checked.out);
    assert_eq!(checked.out.matches("Fix ").count(), 1, "{}", checked.out);
    house.config_text(&format!("colour = \"red\"\n{good}{}", wrong.concat()));
    let checked = house.reasonix(&["config", "check"]).expect_code(78);
    let lines: Vec<_> = checked.out.lines().collect();
    assert!(lines[0].contains("colour"), "{}", checked.out);
    assert_eq!(lines[1], "  Fix the line; until then it has no effect.");
    assert_eq!(lines.last(), Some(&&*fix), "{}", checked.out);
}
