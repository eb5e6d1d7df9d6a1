//! Sessions over the other wires: what a vendor signs goes back unchanged, requests extend each other, and a restart
//! changes nothing. The model is strict: it recognises its signatures.

use proto::Body;
use proto::item::CallStatus;
use serde_json::{Value, json};
use testkit::model::{Answer, Fault, Gate, Model, Place, Usage, Wire};
use tests::House;

use crate::scripted::{FAST_RETRIES, RunOutput, command_is_gone, command_runs, run, shown};

const WIRES: [Wire; 2] = [Wire::Messages, Wire::Responses];

/// Tries enough for everything that can befall an answer.
const PATIENT: &str =
    "[network]\nidle_seconds = 60\n[internal]\nretry_base_ms = 10\nretry_tries = 9\n";

fn house(model: &Model, wire: Wire, more: &str) -> House {
    let house = House::new();
    house.settings(PATIENT);
    house.provider(&format!("{}{more}", model.entry_of(wire, "model", None)));
    house.daemon();
    house
}

fn usage(prompt: u64, cached: u64, output: u64) -> Usage {
    Usage {
        prompt,
        cached,
        output,
        reasoning: 0,
    }
}

fn read(path: &str) -> Answer {
    Answer::call("read_file", json!({"path": path}))
}

#[test]
fn two_turns_with_tools_extend_each_other_across_a_restart() {
    for wire in WIRES {
        let usage = Usage {
            prompt: 1000,
            cached: 640,
            output: 70,
            reasoning: 0,
        };
        let model = Model::start([
            read("a.txt")
                .and_call("read_file", json!({"path": "none.txt"}))
                .reasoning("Grüße: \"where\"\nis it?"),
            Answer::text("There it is. ").reasoning("So."),
            Answer::text("I look again.")
                .and_call("read_file", json!({"path": "a.txt"}))
                .reasoning("Again, 世界."),
            Answer::text("All done.").usage(usage),
        ]);
        let house = house(&model, wire, "");
        house.files("//- a.txt\nold words\n");
        let first = run(&house, &[], "Look at it.").expect(0, "completed");
        assert_eq!(first.text(), "There it is. ");
        house.kill_daemon_and_parent();
        house.daemon();
        let second = run(&house, &["-s", &first.pid()], "And again.").expect(0, "completed");
        assert_eq!(second.text(), "All done.");
        let figures = ["prompt_tokens", "cached_tokens", "output_tokens"];
        let reported = second
            .all("usage")
            .last()
            .map(|usage| figures.map(|name| usage[name].as_u64()));
        assert_eq!(reported, Some([1000, 640, 70].map(Some)), "{wire:?}");
        model.assert_prefix();
        assert_eq!(model.count(), 4);
        let requests = model.requests();
        assert!(requests.iter().all(|request| request.wire == wire));
        let last = requests.last().expect("requests");
        assert!(
            last.results()[0].1.contains("old words"),
            "{:?}",
            last.results()
        );
        let reasoning: Vec<_> = last
            .messages()
            .iter()
            .filter_map(|message| message["reasoning_content"].as_str())
            .collect();
        assert_eq!(
            reasoning,
            ["Grüße: \"where\"\nis it?", "So.", "Again, 世界."],
            "the signed part went back"
        );
        let log = &house.logs()[0];
        log.check();
        let thoughts = log.bodies().into_iter().filter_map(|body| match body {
            Body::Assistant(said) => Some(said.thoughts),
            _ => None,
        });
        assert!(
            thoughts
                .flatten()
                .all(|thought| thought.kind == wire.kind()),
            "{wire:?}"
        );
    }
}

#[test]
fn a_broken_answer_is_asked_for_again_and_a_cut_call_does_not_run() {
    for wire in WIRES {
        let model = Model::start([
            Answer::text("")
                .and_call("write_file", json!({"path": "b.txt", "content": "made\n"}))
                .reasoning("I think for quite a while, so that it comes in pieces.")
                .fault(Fault::Reset)
                .fault(Fault::Eof)
                .fault(Fault::Malformed)
                .fault(Fault::status(529))
                .fault(Fault::CutArguments { by_limit: true }),
            Answer::text("I stop."),
        ]);
        let house = house(&model, wire, "");
        let ran = run(&house, &["--on-ask", "allow"], "Make it.").expect(0, "completed");
        assert_eq!(ran.text(), "I stop.");
        model.assert_strict();
        let log = &house.logs()[0];
        log.check();
        let ends: Vec<_> = log.results().iter().map(|result| result.status).collect();
        assert_eq!(
            ends,
            [CallStatus::Refused, CallStatus::Ok],
            "half a call never ran, and the whole one once"
        );
    }
}

#[test]
fn the_later_of_two_messages_in_one_stream_is_the_answer() {
    let gate = Gate::new();
    let dropped = "Dropped words, of which there are so many that half of the stream is theirs. ";
    let model = Model::start([
        Answer::text("Second words.")
            .usage(usage(1000, 640, 70))
            .replacing(&dropped.repeat(4))
            .held(Place::Middle, &gate),
        Answer::text("The end."),
    ]);
    let house = house(&model, Wire::Messages, "");
    let running = house.start(&["run", "--output-format", "jsonl", "Go."]);
    shown(&running, "Dropped words");
    gate.open();
    let first = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(first.text(), "Second words.");
    let streamed = first.streamed();
    assert_eq!(streamed.len(), 2, "{streamed:?}");
    assert!(streamed[0].starts_with("Dropped words"), "{streamed:?}");
    assert_eq!(streamed[1], "Second words.");
    let partial = first.all("message.partial");
    assert_eq!(partial[0]["superseded"], true);
    assert_eq!(first.all("message.assistant").len(), 1);
    // Both were billed: the first with what had been reported of it.
    let figures = ["prompt_tokens", "cached_tokens", "output_tokens"];
    let reported: Vec<_> = first
        .all("usage")
        .iter()
        .map(|usage| figures.map(|name| usage[name].as_u64()))
        .collect();
    assert_eq!(
        reported,
        [[1000, 640, 1].map(Some), [1000, 640, 70].map(Some)]
    );
    let plain = house.reasonix(&["run", "-s", &first.pid(), "And again."]);
    assert_eq!((plain.code(), plain.out.trim()), (Some(0), "The end."));
    let requests = model.requests();
    let last = String::from_utf8_lossy(&requests[1].body).into_owned();
    assert!(
        last.contains("Second words.") && !last.contains("Dropped words"),
        "{last}"
    );
    assert_eq!(requests.len(), 2, "nothing was asked for again");
    model.assert_strict();
    house.logs()[0].check();
}

#[test]
fn only_the_later_of_two_messages_is_printed() {
    let model = Model::start([Answer::text("Second words.").replacing("Dropped words.")]);
    let house = house(&model, Wire::Messages, "");
    let plain = house.reasonix(&["run", "Go."]);
    assert_eq!((plain.code(), plain.out.trim()), (Some(0), "Second words."));
}

#[test]
fn the_key_goes_to_the_vendor_and_nowhere_else() {
    for (wire, shown) in [
        (Wire::Messages, "sk-canary-77aa88bb99"),
        (Wire::Responses, "Bearer sk-canary-77aa88bb99"),
    ] {
        let echo = r#"{"type":"error","error":{"type":"authentication_error","message":"bad key sk-canary-77aa88bb99"}}"#;
        let refused = Fault::Status {
            status: 401,
            retry_after: None,
            body: echo.to_owned(),
        };
        let model = Model::start([Answer::text("Never.").fault(refused)]);
        let house = House::new();
        house.settings(FAST_RETRIES);
        house.provider(&model.entry_of(wire, "model", Some("WIRE_KEY")));
        house.daemon();
        let mut command = house.command(&["run", "--output-format", "jsonl", "hello"]);
        command.env("WIRE_KEY", "sk-canary-77aa88bb99");
        let ran = RunOutput::of(&tests::program::run(&mut command));
        assert_eq!(ran.result["outcome"], "failed", "{ran:#?}");
        assert_eq!(model.requests()[0].authorization.as_deref(), Some(shown));
        let output = format!("{:?}{}", ran.events, ran.result);
        assert!(
            output.contains("***") && !output.contains("canary"),
            "{output}"
        );
        let log = format!("{:?}", house.logs()[0].bodies());
        assert!(!log.contains("canary"), "{log}");
        model.assert_strict();
    }
}

#[test]
fn an_effort_that_the_models_lack_is_refused_before_anything_is_asked() {
    for wire in WIRES {
        let model = Model::start([Answer::text("Never.")]);
        let house = house(
            &model,
            wire,
            "effort = \"hihg\"\nefforts = [\"low\", \"high\"]\n",
        );
        let done = house.reasonix(&["run", "hello"]);
        assert_ne!(done.code(), Some(0));
        let said = done.err;
        assert!(
            said.contains("hihg") && said.contains("low, high"),
            "{said}"
        );
        assert_eq!(model.count(), 0);
    }
}

/// Answers by the number of its runs; stores its input.
const PROGRAM: &str = r#"
seen="$1"; mkdir -p "$seen"
n=$(ls "$seen" | wc -l)
cat > "$seen/$n.json"
case $((n)) in
0) echo '{"type":"reasoning","text":"Hm."}'
   echo '{"type":"thought","data":{"signed": 1}}'
   echo '{"type":"tool_call","name":"read_file","arguments":{"path": "a.txt"}}' ;;
2) echo '{"type":"tool_call","name":"read_file","arguments":"{\"path\": \"a.txt\"}"}' ;;
4) sleep 4321 ;;
5) echo 'not logged in' >&2; exit 3 ;;
*) echo '{"type":"text","text":"Words '$((n))'."}'
   echo '{"type":"usage","prompt_tokens":10,"cached_tokens":4,"cache_write_tokens":3,"output_tokens":2}' ;;
esac
echo '{"type":"done"}'
"#;

#[test]
fn a_program_is_a_provider() {
    let house = House::new();
    house.settings(PATIENT);
    let (program, seen) = (house.root().join("model.sh"), house.root().join("seen"));
    std::fs::write(&program, PROGRAM).expect("write the program");
    house.provider(&format!(
        "name = \"own\"\nkind = \"command\"\nmodel = \"big\"\ncommand = [\"sh\", {:?}, {:?}]\n",
        program, seen
    ));
    house.files("//- a.txt\nold words\n");
    house.daemon();
    let first = run(&house, &[], "Look at it.").expect(0, "completed");
    assert_eq!(first.text(), "Words 1.");
    house.kill_daemon_and_parent();
    house.daemon();
    let second = run(&house, &["-s", &first.pid()], "And again.").expect(0, "completed");
    assert_eq!(second.text(), "Words 3.");
    assert_eq!(second.all("usage")[1]["cache_write_tokens"], 3);
    let requests: Vec<String> = (0..4)
        .map(|n| std::fs::read_to_string(seen.join(format!("{n}.json"))).expect("a request"))
        .collect();
    for pair in requests.windows(2) {
        let (head, _) = pair[0].rsplit_once("],\"tool_choice\"").expect("an end");
        assert!(pair[1].starts_with(head), "I1:\n{}\n{}", pair[0], pair[1]);
    }
    let last: Value = serde_json::from_str(&requests[3]).expect("JSON");
    let messages = last["messages"].as_array().expect("messages");
    assert_eq!(messages[1]["thoughts"], json!([{"signed": 1}]));
    assert!(
        messages[2]["content"]
            .as_str()
            .is_some_and(|text| text.contains("old words"))
    );
    let running = house.start(&[
        "run",
        "-s",
        &first.pid(),
        "--output-format",
        "jsonl",
        "Wait.",
    ]);
    command_runs(&house, "sleep 4321");
    let _ = house
        .reasonix(&["kill", "-s", "INT", &first.pid()])
        .expect_code(0);
    command_is_gone(&house, "sleep 4321");
    RunOutput::of(&running.done());
    let failed = run(&house, &["-s", &first.pid()], "And now?");
    let error = failed.result["error"].to_string();
    assert!(
        error.contains("exit code 3") && error.contains("not logged in"),
        "{failed:#?}"
    );
    assert_eq!(
        std::fs::read_dir(&seen).expect("its inputs").count(),
        6,
        "tried once"
    );
}
