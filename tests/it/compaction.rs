//! Compaction and other models in a session, with the real programs: what the provider sees before and after.
//!
//! The model is strict: a request that any vendor would refuse fails the test.

use serde_json::Value;
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script, Usage, Wire};
use tests::House;

use crate::scripted::{FAST_RETRIES, house, run};

fn works(house: &House, arguments: &[&str]) {
    let done = house.reasonix(arguments);
    assert_eq!(done.code(), Some(0), "{arguments:?}: {done:?}");
}

/// Longer than what stays of the newest messages: a fifth of a window of 100,000 tokens.
const LONG: usize = 60_000;

fn text(request: &Request) -> String {
    String::from_utf8(request.body.to_vec()).expect("a request is text")
}

fn is_summary_request(request: &Request) -> bool {
    request.last_text().contains("Write a summary")
}

/// Long answers, and numbered summaries. Tokens are a quarter of the bytes.
fn talkative() -> Script {
    let (mut summaries, mut answers) = (0, 0);
    Script::by(move |request: &Request| {
        let prompt = request.body.len() as u64 / 4;
        let usage = Usage {
            prompt,
            cached: 0,
            output: 9,
            reasoning: 0,
        };
        if is_summary_request(request) {
            summaries += 1;
            return Answer::text(format!("SUMMARY-{summaries}: it went on.")).usage(usage);
        }
        answers += 1;
        Answer::text(format!("ANSWER-{answers} {}", "words ".repeat(LONG / 6))).usage(usage)
    })
}

/// Who speaks in each message of a request, and how it begins.
fn outline(request: &Request) -> Vec<String> {
    let messages = request.messages().iter().skip(1);
    let line = |message: &Value| {
        let content = message["content"].as_str().unwrap_or_default();
        let said = content.rsplit("</context>").next().unwrap_or_default();
        let words: String = said.trim().chars().take(8).collect();
        format!("{}: {words}", message["role"].as_str().unwrap_or_default())
    };
    messages.map(line).collect()
}

#[test]
fn user_messages_and_earlier_summaries_survive_five_compactions() {
    let model = Model::start(talkative());
    let house = house(&model);
    let pid = run(&house, &[], "FACT-0 is blue.")
        .expect(0, "completed")
        .pid();
    for round in 1..=5 {
        for turn in 0..3 {
            let prompt = format!("FACT-{round}{turn} is green.");
            run(&house, &["-s", &pid], &prompt).expect(0, "completed");
        }
        works(&house, &["compact", &pid]);
    }
    run(&house, &["-s", &pid], "And now?").expect(0, "completed");
    let last = model.requests().pop().expect("requests");
    let sent = text(&last);
    for fact in ["FACT-0 is blue."].into_iter().map(str::to_owned).chain(
        (1..=5).flat_map(|round| (0..3).map(move |turn| format!("FACT-{round}{turn} is green."))),
    ) {
        assert_eq!(
            sent.matches(&fact).count(),
            1,
            "{fact} is kept word for word"
        );
    }
    for summary in 1..=5 {
        let words = format!("SUMMARY-{summary}: it went on.");
        assert_eq!(sent.matches(&words).count(), 1, "summary {summary} stays");
    }
    assert!(!sent.contains("ANSWER-1 "), "folded messages are gone");
    model.assert_strict();
    let log = house.log(proto::Pid(pid.parse().expect("a pid")));
    assert_eq!(log.check().count("cache.reset"), 5);
}

#[test]
fn an_undone_compaction_leaves_the_exact_bytes_of_before() {
    let model = Model::start(talkative());
    let house = house(&model);
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Second.").expect(0, "completed");
    run(&house, &["-s", &pid], "Third.").expect(0, "completed");
    let before = model.requests().pop().expect("requests");
    works(&house, &["compact", &pid, "keep", "the", "colours"]);
    let asked = model.requests().pop().expect("the summary request");
    assert!(asked.last_text().contains("keep the colours"));
    assert!(
        text(&asked).starts_with(
            text(&before)
                .trim_end_matches(']')
                .rsplit_once("]")
                .map_or("", |(head, _)| head)
        ),
        "the summary request extends the conversation as it is: the provider's cache serves it"
    );
    // Also the next life of the daemon knows it.
    house.kill_daemon_and_parent();
    house.daemon();
    works(&house, &["compact", &pid, "--undo"]);
    run(&house, &["-s", &pid], "Fourth.").expect(0, "completed");
    let after = model.requests().pop().expect("requests");
    assert_eq!(
        after.messages()[..before.messages().len()],
        *before.messages()
    );
    let head = text(&before);
    let upto = head.find("Third.").expect("the third prompt");
    assert_eq!(text(&after).get(..upto), head.get(..upto), "to the byte");
    let again = house.reasonix(&["compact", &pid, "--undo"]);
    assert_ne!(again.code(), Some(0), "once only: {again:?}");
    model.assert_strict();
}

#[test]
fn a_context_that_is_nearly_full_is_compacted_before_the_next_request() {
    let model = Model::start(talkative());
    let house = house(&model);
    let pid = run(&house, &[], "FACT-1 is red.")
        .expect(0, "completed")
        .pid();
    let mut last = 0;
    for turn in 2..=8 {
        let ran =
            run(&house, &["-s", &pid], &format!("FACT-{turn} is red.")).expect(0, "completed");
        last = ran
            .all("usage")
            .last()
            .and_then(|usage| usage["prompt_tokens"].as_u64())
            .unwrap_or(0);
        assert!(last < 100_000, "never beyond the window");
    }
    let requests = model.requests();
    let summaries = requests
        .iter()
        .filter(|request| is_summary_request(request))
        .count();
    assert_eq!(summaries, 1, "at four fifths, once");
    let at = requests
        .iter()
        .position(is_summary_request)
        .expect("a summary request");
    let next = &requests[at + 1];
    assert!(
        next.body.len() as u64 / 4 < 60_000,
        "it lands under 60 %: {:?}",
        outline(next)
    );
    assert!(last > 0 && text(next).contains("FACT-1 is red."));
    model.assert_strict();
}

/// As llama.cpp's server in Python and some gateways.
#[test]
fn a_provider_that_reports_no_usage_is_compacted_by_our_own_count() {
    let mut answers = 0;
    let model = Model::start(Script::by(move |request: &Request| {
        if is_summary_request(request) {
            return Answer::text("SUMMARY: it went on.").unreported();
        }
        answers += 1;
        Answer::text(format!("ANSWER-{answers} {}", "words ".repeat(LONG / 6))).unreported()
    }));
    let house = house(&model);
    let pid = run(&house, &[], "FACT-1 is red.")
        .expect(0, "completed")
        .pid();
    for turn in 2..=7 {
        run(&house, &["-s", &pid], &format!("FACT-{turn} is red.")).expect(0, "completed");
    }
    let requests = model.requests();
    let asked = requests
        .iter()
        .filter(|request| is_summary_request(request));
    assert_eq!(asked.count(), 1, "at four fifths of the window, once");
    let last = text(requests.last().expect("requests"));
    assert!(last.contains("SUMMARY: it went on.") && last.contains("FACT-1 is red."));
    let inspected = house.reasonix(&["inspect", &pid, "context"]);
    assert_eq!(inspected.code(), Some(0), "{inspected:?}");
    let words = "estimated: the provider reports no usage";
    assert!(inspected.out.contains(words), "{inspected:?}");
    model.assert_strict();
}

#[test]
fn a_failed_summary_changes_nothing() {
    let mut said = 0;
    let model = Model::start(Script::by(move |request: &Request| {
        if is_summary_request(request) {
            return Answer::text("").reasoning("Only thoughts.");
        }
        said += 1;
        Answer::text(format!("ANSWER-{said} {}", "words ".repeat(LONG / 6)))
    }));
    let house = house(&model);
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Second.").expect(0, "completed");
    run(&house, &["-s", &pid], "Third.").expect(0, "completed");
    let failed = house.reasonix(&["compact", &pid]);
    assert_ne!(failed.code(), Some(0), "{failed:?}");
    run(&house, &["-s", &pid], "Fourth.").expect(0, "completed");
    let asked: Vec<_> = model
        .requests()
        .into_iter()
        .filter(|request| !is_summary_request(request))
        .collect();
    let (before, after) = (&asked[asked.len() - 2], &asked[asked.len() - 1]);
    assert_eq!(
        after.messages()[..before.messages().len()],
        *before.messages()
    );
    // After two failures a list is put together without the model.
    assert_ne!(house.reasonix(&["compact", &pid]).code(), Some(0));
    works(&house, &["compact", &pid]);
    run(&house, &["-s", &pid], "Fifth.").expect(0, "completed");
    let last = model.requests().pop().expect("requests");
    assert!(text(&last).contains("no summary") || text(&last).contains("No summary"));
    assert!(text(&last).contains("First."));
    model.assert_strict();
}

#[test]
fn a_fork_of_a_compacted_session_asks_with_its_bytes() {
    let model = Model::start(talkative());
    let house = house(&model);
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Second.").expect(0, "completed");
    run(&house, &["-s", &pid], "Third.").expect(0, "completed");
    works(&house, &["compact", &pid]);
    run(&house, &["-s", &pid], "Fourth.").expect(0, "completed");
    run(&house, &["-s", &pid], "The origin's way.").expect(0, "completed");
    let origin = text(&model.requests().pop().expect("requests"));
    works(&house, &["fork", &pid, "--at-turn", "4", "--name", "other"]);
    run(&house, &["-s", "other"], "Another way.").expect(0, "completed");
    let fork = text(&model.requests().pop().expect("requests"));
    let upto = origin
        .find("The origin's way.")
        .expect("the origin's prompt");
    assert_eq!(fork.get(..upto), origin.get(..upto), "to the byte");
    model.assert_strict();
}

/// Two vendors with separate wire formats; each recognises its own signatures.
fn two_vendors(first: &Model, second: &Model) -> House {
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&first.entry_of(Wire::Messages, "first", None));
    house.provider(&second.entry_of(Wire::Responses, "second", None));
    house.daemon();
    house
}

#[test]
fn a_session_goes_on_with_another_vendor_and_back() {
    let thinks = |words: &'static str| {
        Script::by(move |request: &Request| {
            let number = request.answered();
            match number % 2 {
                0 => Answer::call("glob", serde_json::json!({"pattern": "*.none"}))
                    .reasoning("Let me see."),
                _ => Answer::text(format!("{words} {number}.")).reasoning("So it is."),
            }
        })
    };
    let (first, second) = (
        Model::start(thinks("One says")),
        Model::start(thinks("Two says")),
    );
    let house = two_vendors(&first, &second);
    let pid = run(&house, &[], "Prompt A.").expect(0, "completed").pid();
    let refused = house.reasonix(&["model", &pid, "second"]);
    assert_ne!(
        refused.code(),
        Some(0),
        "the cache starts empty: {refused:?}"
    );
    works(&house, &["model", &pid, "second", "--yes"]);
    run(&house, &["-s", &pid], "Prompt B.").expect(0, "completed");
    house.kill_daemon_and_parent();
    house.daemon();
    run(&house, &["-s", &pid], "Prompt C.").expect(0, "completed");
    let asked = second.requests();
    assert!(
        text(&asked[0]).contains("One says 1."),
        "{:?}",
        outline(&asked[0])
    );
    second.assert_prefix();
    // Back to before the other vendor was asked: rendered for it all the same.
    works(&house, &["rewind", &pid, "1", "--conversation"]);
    run(&house, &["-s", &pid], "Prompt D.").expect(0, "completed");
    let last = second.requests().pop().expect("requests");
    let sent = text(&last);
    assert!(sent.contains("Prompt A.") && sent.contains("Prompt D."));
    assert!(!sent.contains("Prompt B."), "hidden messages stay hidden");
    works(&house, &["model", &pid, "first", "--yes"]);
    run(&house, &["-s", &pid], "Prompt E.").expect(0, "completed");
    let back = text(&first.requests().pop().expect("requests"));
    assert!(back.contains("Prompt D.") && !back.contains("Prompt C."));
    first.assert_strict();
    second.assert_strict();
}

/// Every second answer is words with a thought; the others look for a file.
fn thoughtful() -> Script {
    Script::by(|request: &Request| match request.answered() % 2 {
        0 => {
            Answer::call("glob", serde_json::json!({"pattern": "*.none"})).reasoning("Let me see.")
        }
        number => Answer::text(format!("Said {number}.")).reasoning("So it is."),
    })
}

#[test]
fn a_fork_goes_back_to_before_another_vendor_was_asked() {
    let (first, second) = (Model::start(thoughtful()), Model::start(thoughtful()));
    let house = two_vendors(&first, &second);
    let pid = run(&house, &[], "Prompt A.").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Prompt B.").expect(0, "completed");
    works(&house, &["model", &pid, "second", "--yes"]);
    run(&house, &["-s", &pid], "Prompt C.").expect(0, "completed");
    works(&house, &["fork", &pid, "--name", "other"]);
    works(&house, &["rewind", "other", "1", "--conversation"]);
    run(&house, &["-s", "other"], "Prompt D.").expect(0, "completed");
    let last = text(&second.requests().pop().expect("requests"));
    assert!(last.contains("Prompt A.") && last.contains("Prompt D."));
    assert!(!last.contains("Prompt B.") && !last.contains("Prompt C."));
    first.assert_strict();
    second.assert_strict();
}

#[test]
fn thoughts_of_another_entry_of_the_same_kind_are_left_out() {
    for wire in [Wire::Messages, Wire::Responses] {
        let (first, second) = (Model::start(thoughtful()), Model::start(thoughtful()));
        let house = House::new();
        house.settings(FAST_RETRIES);
        let entry = first.entry_of(wire, "first", None);
        let models = "models = [\"model-1\", \"other\"]";
        house.provider(&entry.replace("model = \"model-1\"", models));
        house.provider(&second.entry_of(wire, "second", None));
        house.daemon();
        let pid = run(&house, &[], "Prompt A.").expect(0, "completed").pid();
        // The confirmation counts the omitted reasoning, but not if the provider stays the same.
        let asked = |model: &str| house.reasonix(&["model", &pid, model]).expect_code(1).err;
        let omitted = "The new model will not receive the reasoning of earlier answers (2).";
        assert!(asked("second").contains(omitted), "{}", asked("second"));
        let other = asked("first/other");
        assert!(!other.contains("not receive"), "{other}");
        works(&house, &["model", &pid, "second", "--yes"]);
        run(&house, &["-s", &pid], "Prompt B.").expect(0, "completed");
        works(&house, &["rewind", &pid, "1", "--conversation"]);
        run(&house, &["-s", &pid], "Prompt C.").expect(0, "completed");
        first.assert_strict();
        second.assert_strict();
    }
}

#[test]
fn a_dropped_long_prompt_is_named_in_the_summary_request() {
    let model = Model::start(talkative());
    let house = house(&model);
    let long = format!("Build the tower.\n{}", "stones ".repeat(5_000));
    let pid = run(&house, &[], &long).expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Second.").expect(0, "completed");
    run(&house, &["-s", &pid], "Third.").expect(0, "completed");
    works(&house, &["compact", &pid]);
    let asked = model.requests().pop().expect("the summary request");
    assert!(
        asked.last_text().contains("- Build the tower."),
        "{}",
        asked.last_text()
    );
    model.assert_strict();
}

#[test]
fn a_fork_right_after_a_compaction_includes_it() {
    let model = Model::start(talkative());
    let house = house(&model);
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Second.").expect(0, "completed");
    run(&house, &["-s", &pid], "Third.").expect(0, "completed");
    works(&house, &["compact", &pid]);
    works(&house, &["fork", &pid, "--name", "other"]);
    run(&house, &["-s", "other"], "Fourth.").expect(0, "completed");
    let sent = text(&model.requests().pop().expect("requests"));
    assert!(sent.contains("SUMMARY-1") && !sent.contains("ANSWER-1 "));
    model.assert_strict();
}

#[test]
fn a_summary_request_is_shorter_than_the_one_the_vendor_refused() {
    // Its window is unknown; it refuses longer requests than this.
    const MOST: usize = 150_000;
    let (mut answers, mut refused) = (0, false);
    let model = Model::start(Script::by(move |request: &Request| {
        if request.body.len() > MOST {
            assert!(!refused, "once, and not the summary too");
            refused = true;
            let full = Fault::refusal(400, "too long", "context_length_exceeded");
            return Answer::text("").fault(full);
        }
        if is_summary_request(request) {
            return Answer::text("SUMMARY: it went on.");
        }
        answers += 1;
        Answer::text(format!("ANSWER-{answers} {}", "words ".repeat(LONG / 6)))
    }));
    let house = House::new();
    house.settings(FAST_RETRIES);
    let entry = model.entry("model", None);
    let entry: Vec<_> = entry
        .lines()
        .filter(|line| !line.contains("context_window"))
        .collect();
    house.provider(&format!("{}\n", entry.join("\n")));
    house.daemon();
    let pid = run(&house, &[], "FACT-1 is red.")
        .expect(0, "completed")
        .pid();
    for turn in 2..=4 {
        run(&house, &["-s", &pid], &format!("FACT-{turn} is red.")).expect(0, "completed");
    }
    let requests = model.requests();
    let summaries: Vec<_> = requests
        .iter()
        .filter(|request| is_summary_request(request))
        .collect();
    assert_eq!(summaries.len(), 1);
    assert!(text(summaries[0]).contains("The beginning of the conversation is too long"));
    let sent = text(requests.last().expect("requests"));
    assert!(sent.contains("FACT-1 is red.") && sent.contains("SUMMARY: it went on."));
    model.assert_strict();
}

#[test]
fn a_running_summary_is_visible_and_can_be_stopped() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(
        move |request: &Request| match is_summary_request(request) {
            true => Answer::text("SUMMARY.").held(Place::Before, &held),
            false => Answer::text("words ".repeat(LONG / 6)),
        },
    ));
    let house = house(&model);
    let pid = run(&house, &[], "First.").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "Second.").expect(0, "completed");
    run(&house, &["-s", &pid], "Third.").expect(0, "completed");
    let before = model.requests().pop().expect("requests");
    let compacting = house.start(&["compact", &pid]);
    house.block_on(gate.reached());
    let shown = house.reasonix(&["ls"]).expect_code(0);
    assert!(shown.out.contains("compacting"), "{shown:?}");
    works(&house, &["kill", "-s", "INT", &pid]);
    assert_ne!(compacting.done().code(), Some(0));
    let shown = house.reasonix(&["ls"]).expect_code(0);
    assert!(!shown.out.contains("compacting"), "{shown:?}");
    gate.open();
    run(&house, &["-s", &pid], "Fourth.").expect(0, "completed");
    let after = model.requests().pop().expect("requests");
    assert_eq!(
        after.messages()[..before.messages().len()],
        *before.messages()
    );
}

#[test]
fn shortening_the_models_context_leaves_export_and_logs_complete() {
    const FILES: usize = 16;
    let model = Model::start(Script::by(|request: &Request| {
        let read = request.answered();
        let answer = match read < FILES {
            true => Answer::call(
                "bash",
                serde_json::json!({"command": format!("cat f{read}")}),
            ),
            false => Answer::text("All of it is read."),
        };
        let prompt = request.body.len() as u64 / 4;
        answer.usage(Usage {
            prompt,
            ..Usage::default()
        })
    }));
    let house = house(&model);
    for number in 0..FILES {
        let lines = "a line of a file\n".repeat(800);
        let text = format!("{lines}MIDDLE-{number}.\n{lines}");
        std::fs::write(house.project().join(format!("f{number}")), text).expect("write");
    }
    let ran = run(&house, &[], "Read it all.").expect(0, "completed");
    let last = model.requests().pop().expect("requests");
    assert!(
        text(&last).contains("characters were left out"),
        "{:?}",
        outline(&last)
    );
    assert!(!text(&last).contains("MIDDLE-0."));
    assert!(
        !model.requests().iter().any(is_summary_request),
        "shorter results were enough"
    );
    let exported = house.reasonix(&["export", &ran.pid()]).expect_code(0).out;
    for number in 0..FILES {
        assert!(exported.contains(&format!("MIDDLE-{number}.")), "{number}");
    }

    // After a summary as well: a repeated command prints the same output.
    let logs = || house.reasonix(&["logs", &ran.pid()]).expect_code(0).out;
    let before = logs();
    let shown = house.reasonix(&["compact", &ran.pid()]).expect_code(0).err;
    let words: Vec<&str> = shown.split_whitespace().collect();
    let at = words
        .iter()
        .position(|word| *word == "about")
        .expect("tokens");
    let tokens = [1, 3].map(|after| words[at + after].parse::<u64>().expect("a number"));
    assert!(
        tokens[0] > tokens[1] && words[at + 4].starts_with("tokens"),
        "{shown}"
    );
    assert!(logs().starts_with(&before), "{before}");
    let again = house.reasonix(&["export", &ran.pid()]).expect_code(0).out;
    assert!(again.contains("MIDDLE-0."));
}

/// F29: the daemon is killed while the model writes a summary, and again right after the record that holds it.
#[test]
fn f29_a_daemon_that_dies_over_a_compaction_has_the_old_view_or_the_new_one() {
    let gate = Gate::new();
    let held = gate.clone();
    let mut summaries = 0;
    let model = Model::start(Script::by(move |request: &Request| {
        if !is_summary_request(request) {
            return Answer::text("words ".repeat(LONG / 6));
        }
        summaries += 1;
        let summary = Answer::text(format!("SUMMARY-{summaries}."));
        match summaries {
            1 => summary.held(Place::Middle, &held),
            _ => summary,
        }
    }));
    let house = house(&model);
    let pid = run(&house, &[], "FACT-1 is red.")
        .expect(0, "completed")
        .pid();
    for turn in 2..=3 {
        let prompt = format!("FACT-{turn} is red.");
        run(&house, &["-s", &pid], &prompt).expect(0, "completed");
    }
    let before = model.requests().pop().expect("requests");
    let compacting = house.start(&["compact", &pid]);
    house.block_on(gate.reached());
    // Its client would ask again.
    drop(compacting);
    house.kill_daemon();
    house.wait_for_daemon();
    gate.open();
    // The old view, whole.
    let resets = |house: &House| house.logs()[0].check().count("cache.reset");
    assert_eq!(resets(&house), 0);
    run(&house, &["-s", &pid], "FACT-4 is red.").expect(0, "completed");
    let after = model.requests().pop().expect("requests");
    assert_eq!(
        after.messages()[..before.messages().len()],
        *before.messages()
    );
    // The new one.
    works(&house, &["compact", &pid]);
    house.kill_daemon();
    house.wait_for_daemon();
    assert_eq!(resets(&house), 1);
    run(&house, &["-s", &pid], "FACT-5 is red.").expect(0, "completed");
    let sent = text(model.requests().last().expect("requests"));
    for fact in 1..=5 {
        assert!(sent.contains(&format!("FACT-{fact} is red.")), "{fact}");
    }
    assert!(
        sent.contains("SUMMARY-2."),
        "{:?}",
        outline(&model.requests().pop().expect("requests"))
    );
    model.assert_strict();
}

/// What llama.cpp's server answers to a request beyond its window.
fn beyond_window(tokens: u64) -> Fault {
    let body = serde_json::json!({"error": {
        "code": 400,
        "message": format!("request (9999 tokens) exceeds the available context size ({tokens} tokens), try increasing it"),
        "type": "exceed_context_size_error", "n_prompt_tokens": 9999, "n_ctx": tokens,
    }});
    Fault::Status {
        status: 400,
        retry_after: None,
        body: body.to_string(),
    }
}

#[test]
fn a_local_servers_window_is_learned_from_its_refusal_and_from_the_config() {
    let mut refused = false;
    let model = Model::start(Script::by(move |request: &Request| {
        let usage = Usage {
            prompt: request.body.len() as u64 / 4,
            cached: 0,
            output: 9,
            reasoning: 0,
        };
        let answer = match request.last_text() {
            summary if summary.contains("Write a summary") => Answer::text("SUMMARY: it went on."),
            two if two.contains("two") && !refused => {
                refused = true;
                Answer::text("").fault(beyond_window(8_192))
            }
            _ => Answer::text("words ".repeat(1_333)),
        };
        answer.usage(usage)
    }));
    let house = House::new();
    let entry = model.entry("local", None);
    let entry = entry.replace("context_window = 100000\n", "");
    house.config_text(&format!("{FAST_RETRIES}[[providers]]\n{entry}"));
    house.daemon();
    let one = run(&house, &[], "one").expect(0, "completed");
    let pid = one.pid();
    assert_eq!(one.all("session.created")[0]["context_window"], 0);
    run(&house, &["-s", &pid], "more").expect(0, "completed");
    let two = run(&house, &["-s", &pid], "two").expect(0, "completed");
    let windows: Vec<_> = two
        .all("session.set")
        .into_iter()
        .map(|set| set["context_window"].clone())
        .collect();
    assert_eq!(
        windows,
        [serde_json::json!({"tokens": 8192, "refused": true})]
    );
    let resets = two.all("cache.reset");
    assert_eq!(resets.len(), 1, "{resets:?}");
    assert_eq!(resets[0]["compaction"]["trigger"], "too_long");
    let after = resets[0]["compaction"]["tokens_after"].as_u64();
    assert!(
        after.is_some_and(|after| after < 8_192 * 60 / 100),
        "{resets:?}"
    );
    // Who writes it into the config is heard in sessions that live.
    house.config_text(&format!(
        "{FAST_RETRIES}[[providers]]\n{entry}context_window = 50000\n"
    ));
    run(&house, &["-s", &pid], "three").expect(0, "completed");
    tests::until("the window of the config to count", || {
        let listed = house.reasonix(&["ls", "--json"]).out;
        listed.contains("\"context_window\":50000").then_some(())
    });
}
