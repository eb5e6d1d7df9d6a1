//! Compactions by the provider itself (`server_compaction`), with the real programs: what it is asked, what requests are
//! made of afterwards, and what happens where it does not compact.
//!
//! The model is strict: it recognises its compactions, wants them in the first place, and wants the beta's header where a
//! request uses it and nowhere else. All bodies are checked against the types of the vendors' SDKs.

use proto::record::{Purpose, Usage as Booked};
use proto::reset::CacheReset;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, COMPACT, Fault, Gate, Model, Place, Request, Script, Usage, Wire};
use tests::{House, until};

use crate::scripted::{FAST_RETRIES, run};
use crate::vendor_schemas::assert_valid;

const WIRES: [Wire; 2] = [Wire::Messages, Wire::Responses];

/// Longer than what stays of the newest messages: a fifth of a window of 100,000 tokens.
const LONG: usize = 60_000;

/// What the provider takes for a compaction.
const TAKEN: Usage = Usage {
    prompt: 7_000,
    cached: 6_400,
    output: 321,
    reasoning: 0,
};

fn works(house: &House, arguments: &[&str]) {
    let done = house.reasonix(arguments);
    assert_eq!(done.code(), Some(0), "{arguments:?}: {done:?}");
}

fn text(request: &Request) -> String {
    String::from_utf8(request.body.to_vec()).expect("a request is text")
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).expect("a body of JSON")
}

fn asks_the_provider(request: &Request) -> bool {
    request.last_text().starts_with(COMPACT)
}

fn asks_the_model(request: &Request) -> bool {
    request.last_text().contains("Write a summary") && !asks_the_provider(request)
}

/// Long answers with signed reasoning, a call for `Look.`, and numbered compactions as this function has them.
fn script(compacts: impl Fn(usize) -> Answer + Send + 'static) -> Script {
    let (mut compactions, mut answers) = (0, 0);
    Script::by(move |request: &Request| {
        let usage = Usage {
            prompt: request.body.len() as u64 / 4,
            cached: 0,
            output: 9,
            reasoning: 0,
        };
        if asks_the_provider(request) {
            compactions += 1;
            return compacts(compactions);
        }
        if asks_the_model(request) {
            return Answer::text("OWN SUMMARY: it went on.").usage(usage);
        }
        if request.last()["role"] == "user" && request.last_text().ends_with("Look.") {
            return Answer::call("ls", json!({"path": "."}))
                .reasoning("I look.")
                .usage(usage);
        }
        answers += 1;
        Answer::text(format!("ANSWER-{answers} {}", "words ".repeat(LONG / 6)))
            .reasoning("It is simple.")
            .usage(usage)
    })
}

fn made(number: usize) -> Answer {
    Answer::compaction(&format!("SUMMARY-{number}: it went on.")).usage(TAKEN)
}

/// A house with this model as its provider, which compacts or not.
fn house(model: &Model, wire: Wire, on: bool) -> House {
    let house = House::new();
    house.settings(FAST_RETRIES);
    let entry = model.entry_of(wire, "vendor", None);
    house.provider(&format!("{entry}server_compaction = {on}\n"));
    house.daemon();
    house
}

/// A session of these prompts.
fn session(house: &House, prompts: &[&str]) -> String {
    let (first, rest) = prompts.split_first().expect("a prompt");
    let pid = run(house, &[], first).expect(0, "completed").pid();
    for prompt in rest {
        run(house, &["-s", &pid], prompt).expect(0, "completed");
    }
    pid
}

fn bodies(house: &House) -> Vec<Body> {
    house.log(Pid(1)).bodies()
}

fn resets(house: &House) -> Vec<CacheReset> {
    let resets = bodies(house).into_iter().filter_map(|body| match body {
        Body::CacheReset(reset) => Some(reset),
        _ => None,
    });
    resets.collect()
}

fn summaries_booked(house: &House) -> Vec<Booked> {
    let usage = bodies(house).into_iter().filter_map(|body| match body {
        Body::Usage(usage) if usage.purpose == Purpose::Summary => Some(usage),
        _ => None,
    });
    usage.collect()
}

fn notices(house: &House) -> Vec<String> {
    let notices = bodies(house).into_iter().filter_map(|body| match body {
        Body::Notice(notice) => Some(notice.text),
        _ => None,
    });
    notices.collect()
}

/// The provider's compactions in a request, in their order, where they stand.
fn compactions(request: &Request) -> Vec<(usize, String)> {
    let body = body(request);
    let (parts, member) = match request.wire {
        Wire::Responses => (body["input"].clone(), "encrypted_content"),
        Wire::Messages | Wire::Chat => {
            let messages = body["messages"].as_array().into_iter().flatten();
            let blocks = messages.flat_map(|message| message["content"].as_array().into_iter());
            (blocks.flatten().cloned().collect(), "content")
        }
    };
    let parts = parts.as_array().cloned().unwrap_or_default();
    let found = parts.iter().enumerate().filter_map(|(at, part)| {
        let text = part[member].as_str().unwrap_or_default();
        (part["type"] == "compaction").then(|| (at, text.to_owned()))
    });
    found.collect()
}

fn newest(model: &Model) -> Request {
    model.requests().pop().expect("a request")
}

fn assert_all_valid(model: &Model) {
    model.assert_strict();
    model.requests().iter().for_each(assert_valid);
}

#[test]
fn the_providers_compaction_stands_first_and_the_users_words_follow() {
    for wire in WIRES {
        let model = Model::start(script(made));
        let house = house(&model, wire, true);
        let pid = session(
            &house,
            &["FACT-1 is blue.", "FACT-2 is green.", "FACT-3: Look."],
        );
        let before = newest(&model);
        works(&house, &["compact", &pid]);
        let asked = newest(&model);
        assert!(asks_the_provider(&asked), "{wire:?}");
        let field = match wire {
            Wire::Messages => body(&asked)["compaction"] == json!({"type": "summarize"}),
            _ => text(&asked).contains(r#",{"type":"compaction_trigger"}]"#),
        };
        assert!(field, "{wire:?}: {}", text(&asked));
        // It extends the conversation, so that the provider's cache serves it.
        assert_eq!(
            asked.messages()[..before.messages().len()],
            *before.messages(),
            "{wire:?}"
        );
        assert!(body(&asked)["tool_choice"] == body(&before)["tool_choice"]);
        // The next life of the daemon has it, to the byte.
        run(&house, &["-s", &pid], "FACT-4 is red.").expect(0, "completed");
        let first = newest(&model);
        house.kill_daemon_and_parent();
        house.daemon();
        run(&house, &["-s", &pid], "FACT-5 is grey.").expect(0, "completed");
        let second = newest(&model);
        wire.check_prefix([&*first.body, &*second.body])
            .unwrap_or_else(|why| panic!("{wire:?}: {why}"));
        let sent = text(&second);
        let [(0, _)] = compactions(&second)[..] else {
            panic!("{wire:?}: the compaction is the first of all: {sent:.2000}");
        };
        for fact in [
            "FACT-1 is blue.",
            "FACT-2 is green.",
            "FACT-3: Look.",
            "FACT-4",
            "FACT-5",
        ] {
            assert_eq!(
                sent.matches(fact).count(),
                1,
                "{wire:?}: {fact} in its words"
            );
        }
        assert!(!sent.contains("ANSWER-1 "), "{wire:?}: answers are folded");
        assert!(sent.contains("ANSWER-4 "), "{wire:?}: later ones are not");
        // The newest answer stays; not so its signed reasoning, where the vendor binds it to what stood before.
        let thoughts = if wire == Wire::Messages { 1 } else { 2 };
        assert!(sent.contains("ANSWER-3 "), "{wire:?}: the newest stays");
        assert_eq!(sent.matches("It is simple.").count(), thoughts, "{wire:?}");
        // It was logged as a reset, and booked as it was billed.
        let resets = resets(&house);
        assert_eq!(resets.len(), 1, "{wire:?}");
        let done = resets[0].compaction.as_ref().expect("a compaction");
        assert!(
            done.server && !done.mechanical && done.folded > 0,
            "{done:?}"
        );
        let booked = summaries_booked(&house);
        assert_eq!(booked.len(), 1, "{wire:?}");
        assert_eq!(
            (
                booked[0].prompt_tokens,
                booked[0].cached_tokens,
                booked[0].output_tokens
            ),
            (TAKEN.prompt, TAKEN.cached, TAKEN.output),
            "{wire:?}"
        );
        let served = model.served();
        let billed: u64 = served
            .iter()
            .filter_map(|served| Some(served.usage?.prompt))
            .sum();
        let stats = house.reasonix(&["stats", "--json"]).expect_code(0).json();
        assert_eq!(stats["promptTokens"], json!(billed), "{wire:?}: {stats}");
        assert_eq!(notices(&house), Vec::<String>::new(), "{wire:?}");
        assert_all_valid(&model);
    }
}

#[test]
fn earlier_compactions_and_the_users_words_survive_the_next_ones() {
    for wire in WIRES {
        let model = Model::start(script(made));
        let house = house(&model, wire, true);
        let pid = session(&house, &["FACT-00 is blue."]);
        let mut opaque = Vec::new();
        for round in 1..=3 {
            for turn in 0..3 {
                let prompt = format!("FACT-{round}{turn} is green.");
                run(&house, &["-s", &pid], &prompt).expect(0, "completed");
            }
            works(&house, &["compact", &pid]);
            run(&house, &["-s", &pid], &format!("NEXT-{round}.")).expect(0, "completed");
            let found = compactions(&newest(&model));
            opaque.push(found.last().expect("a compaction").1.clone());
        }
        let last = newest(&model);
        let sent = text(&last);
        let facts = (1..=3).flat_map(|round| (0..3).map(move |turn| (round, turn)));
        for (round, turn) in facts.chain([(0, 0)]) {
            let fact = format!("FACT-{round}{turn} is");
            assert_eq!(sent.matches(&fact).count(), 1, "{wire:?}: {fact}");
        }
        let found = compactions(&last);
        match wire {
            // It takes one only, signed; the earlier ones are in words.
            Wire::Messages => {
                assert_eq!(found, [(0, "SUMMARY-3: it went on.".to_owned())]);
                for earlier in ["SUMMARY-1: it went on.", "SUMMARY-2: it went on."] {
                    assert_eq!(sent.matches(earlier).count(), 1, "{earlier}");
                }
            }
            // Only the provider can read them: they go back as they came, the newest last.
            _ => {
                let all: Vec<_> = opaque.iter().cloned().enumerate().collect();
                assert_eq!(found, all);
            }
        }
        assert_eq!(resets(&house).len(), 3);
        assert_all_valid(&model);
    }
}

#[test]
fn a_context_that_is_nearly_full_is_compacted_by_the_provider_in_a_turn() {
    for wire in WIRES {
        let model = Model::start(script(made));
        let house = house(&model, wire, true);
        let prompts: Vec<_> = (1..=7).map(|turn| format!("FACT-{turn}: Look.")).collect();
        let prompts: Vec<_> = prompts.iter().map(String::as_str).collect();
        session(&house, &prompts);
        let requests = model.requests();
        let asked = requests.iter().filter(|request| asks_the_provider(request));
        assert_eq!(asked.count(), 1, "{wire:?}: at four fifths, once");
        assert!(!requests.iter().any(asks_the_model), "{wire:?}");
        let last = text(&newest(&model));
        for turn in 1..=7 {
            let fact = format!("FACT-{turn}: Look.");
            assert_eq!(last.matches(&fact).count(), 1, "{wire:?}: {fact}");
        }
        assert_all_valid(&model);
    }
}

#[test]
fn rewind_fork_and_undo_treat_it_as_any_compaction() {
    for wire in WIRES {
        let model = Model::start(script(made));
        let house = house(&model, wire, true);
        let pid = session(&house, &["First.", "Second.", "Third."]);
        let before = newest(&model);
        works(&house, &["compact", &pid]);
        works(&house, &["compact", &pid, "--undo"]);
        run(&house, &["-s", &pid], "Fourth.").expect(0, "completed");
        let undone = newest(&model);
        wire.check_prefix([&*before.body, &*undone.body])
            .unwrap_or_else(|why| panic!("{wire:?}, undone: {why}"));
        works(&house, &["compact", &pid]);
        run(&house, &["-s", &pid], "Fifth.").expect(0, "completed");
        let fifth = newest(&model);
        assert_eq!(compactions(&fifth).len(), 1, "{wire:?}");
        works(&house, &["fork", &pid, "--name", "other"]);
        run(&house, &["-s", "other"], "Another way.").expect(0, "completed");
        let forked = newest(&model);
        wire.check_prefix([&*fifth.body, &*forked.body])
            .unwrap_or_else(|why| panic!("{wire:?}, forked: {why}"));
        works(&house, &["rewind", &pid, "3", "--conversation"]);
        run(&house, &["-s", &pid], "Back.").expect(0, "completed");
        let back = newest(&model);
        wire.check_prefix([&*before.body, &*back.body])
            .unwrap_or_else(|why| panic!("{wire:?}, rewound: {why}"));
        assert!(compactions(&back).is_empty() && !text(&back).contains("Fourth."));
        assert_all_valid(&model);
    }
}

#[test]
fn without_the_setting_no_byte_differs_and_the_model_writes_the_summary() {
    for wire in WIRES {
        let model = Model::start(script(made));
        let house = House::new();
        house.settings(FAST_RETRIES);
        for (name, more) in [("on", "server_compaction = true\n"), ("off", "")] {
            house.provider(&format!("{}{more}", model.entry_of(wire, name, None)));
        }
        house.daemon();
        let mut sent: Vec<Vec<String>> = Vec::new();
        for name in ["on", "off"] {
            let from = model.count();
            let pid = run(&house, &["--model", name], "First.")
                .expect(0, "completed")
                .pid();
            run(&house, &["-s", &pid], "Second.").expect(0, "completed");
            works(&house, &["compact", &pid]);
            let asked = newest(&model);
            assert_eq!(asks_the_provider(&asked), name == "on", "{wire:?}");
            assert_eq!(asks_the_model(&asked), name == "off", "{wire:?}");
            let key = body(&asked)["prompt_cache_key"].as_str().map(str::to_owned);
            let bodies = model.requests()[from..from + 2]
                .iter()
                .map(text)
                .collect::<Vec<_>>();
            // The model numbers its reasoning and its answers by its requests.
            let (reasoning, said) = (
                format!("rs_{}\"", from + 1),
                format!("ANSWER-{} ", sent.len() * 2 + 1),
            );
            let key = key.unwrap_or_else(|| "no key".to_owned());
            let bare = bodies.iter().map(|body| {
                let body = body.replace(&key, "KEY").replace(&reasoning, "rs\"");
                body.replace(&said, "ANSWER ")
            });
            let bodies: Vec<String> = bare.collect();
            sent.push(bodies);
        }
        assert_eq!(sent[0], sent[1], "{wire:?}");
        assert_all_valid(&model);
    }
}

/// Refused, or answered without a compaction.
fn refusals() -> Vec<(Answer, &'static str, bool)> {
    let refused = |status, message| Answer::text("").fault(Fault::refusal(status, message, ""));
    vec![
        (refused(404, "no such route"), "no such route", true),
        (
            refused(400, "compaction: Extra inputs are not permitted"),
            "Extra inputs",
            true,
        ),
        (Answer::text("I do not know how."), "without one", false),
        (Answer::text("").finish("length").usage(TAKEN), "", false),
    ]
}

#[test]
fn the_model_writes_the_summary_where_the_provider_does_not_compact() {
    for wire in WIRES {
        for (answer, why, for_good) in refusals() {
            let model = Model::start(script(move |_| answer.clone()));
            let house = house(&model, wire, true);
            let pid = session(
                &house,
                &["FACT-1 is blue.", "FACT-2 is green.", "FACT-3 is red."],
            );
            works(&house, &["compact", &pid]);
            for turn in 4..=6 {
                run(&house, &["-s", &pid], &format!("FACT-{turn} is red.")).expect(0, "completed");
            }
            works(&house, &["compact", &pid]);
            run(&house, &["-s", &pid], "And now?").expect(0, "completed");
            let sent = text(&newest(&model));
            assert_eq!(sent.matches("OWN SUMMARY").count(), 2, "{wire:?}, {why}");
            assert!(sent.contains("FACT-1 is blue."));
            let requests = model.requests();
            let asked = requests
                .iter()
                .filter(|request| asks_the_provider(request))
                .count();
            assert_eq!(asked, if for_good { 1 } else { 2 }, "{wire:?}, {why}");
            let notices = notices(&house);
            assert_eq!(notices.len(), asked, "{wire:?}: {notices:?}");
            assert!(
                notices[0].starts_with("The provider did not compact the conversation (")
                    && notices[0].contains(why),
                "{notices:?}"
            );
            let resets = resets(&house);
            let done = resets.iter().filter_map(|reset| reset.compaction.as_ref());
            assert!(done.clone().count() == 2 && done.clone().all(|done| !done.server));
            assert_all_valid(&model);
        }
    }
}

#[test]
fn daemon_killed_during_server_compaction_changes_nothing() {
    for wire in WIRES {
        let gate = Gate::new();
        let held = gate.clone();
        let model = Model::start(script(move |number| match number {
            1 => made(number).held(Place::Before, &held),
            _ => made(number),
        }));
        let house = house(&model, wire, true);
        let pid = session(&house, &["First.", "Second.", "Third."]);
        let before = newest(&model);
        let compacting = house.start(&["compact", &pid]);
        until("the request for the compaction to be sent", || {
            gate.is_reached().then_some(())
        });
        house.kill_daemon_and_parent();
        drop(compacting.done());
        house.daemon();
        run(&house, &["-s", &pid], "Fourth.").expect(0, "completed");
        let after = newest(&model);
        wire.check_prefix([&*before.body, &*after.body])
            .unwrap_or_else(|why| panic!("{wire:?}: {why}"));
        works(&house, &["compact", &pid]);
        run(&house, &["-s", &pid], "Fifth.").expect(0, "completed");
        assert_eq!(compactions(&newest(&model)).len(), 1, "{wire:?}");
        assert_all_valid(&model);
    }
}

#[test]
fn another_provider_is_sent_words_in_place_of_a_compaction() {
    for wire in WIRES {
        let model = Model::start(script(made));
        let house = House::new();
        house.settings(FAST_RETRIES);
        let entry = model.entry_of(wire, "vendor", None);
        let entry = entry.replace(
            "model = \"model-1\"\n",
            "models = [\"model-1\", \"model-2\"]\n",
        );
        house.provider(&format!("{entry}server_compaction = true\n"));
        house.provider(&model.entry_of(Wire::Chat, "other", None));
        house.daemon();
        let pid = session(
            &house,
            &["FACT-1 is blue.", "FACT-2 is green.", "FACT-3 is red."],
        );
        works(&house, &["compact", &pid]);
        run(&house, &["-s", &pid], "Go on.").expect(0, "completed");
        // Another model of the provider: only what is signed, and not encrypted, is for all of them.
        works(&house, &["model", &pid, "vendor/model-2", "--yes"]);
        run(&house, &["-s", &pid], "And you?").expect(0, "completed");
        let kept = if wire == Wire::Messages { 1 } else { 0 };
        assert_eq!(compactions(&newest(&model)).len(), kept, "{wire:?}");
        works(&house, &["model", &pid, "other", "--yes"]);
        run(&house, &["-s", &pid], "And others?").expect(0, "completed");
        let sent = text(&newest(&model));
        let words = match wire {
            Wire::Messages => "SUMMARY-1: it went on.",
            _ => "Only the provider can read its own summary.",
        };
        assert_eq!(sent.matches(words).count(), 1, "{wire:?}");
        for fact in ["FACT-1 is blue.", "FACT-2 is green.", "FACT-3 is red."] {
            assert_eq!(sent.matches(fact).count(), 1, "{wire:?}: {fact}");
        }
        assert_all_valid(&model);
    }
}

#[test]
fn words_of_the_user_for_the_summary_are_not_lost() {
    for wire in WIRES {
        let model = Model::start(script(made));
        let house = house(&model, wire, true);
        let pid = session(&house, &["First.", "Second.", "Third."]);
        works(&house, &["compact", &pid, "keep", "the", "colours"]);
        let asked = newest(&model);
        assert!(asked.last_text().contains("keep the colours"), "{wire:?}");
        // OpenAI's takes no prompt for it, so the model writes that summary.
        assert_eq!(
            asks_the_provider(&asked),
            wire == Wire::Messages,
            "{wire:?}"
        );
        assert_all_valid(&model);
    }
}

#[test]
fn server_compaction_is_refused_for_unsupported_provider_kinds() {
    let model = Model::start([Answer::text("Never.")]);
    let house = house(&model, Wire::Chat, true);
    let refused = house.reasonix(&["run", "Hello."]);
    assert_ne!(refused.code(), Some(0), "{refused:?}");
    let said = format!("{refused:?}");
    assert!(
        said.contains("server_compaction: only the APIs of the kinds `anthropic` and"),
        "{said}"
    );
    assert_eq!(model.count(), 0);
}
