//! A model of its own for the summaries of compactions (`agent.compaction_model`).

use proto::Body;
use proto::record::Purpose;
use testkit::model::{Answer, Fault, Model, Request, Script, Usage};
use tests::House;

use crate::scripted::{FAST_RETRIES, run};

/// Longer than what stays of the newest messages: a fifth of a window of 100,000 tokens.
const LONG: usize = 60_000;

fn is_summary_request(request: &Request) -> bool {
    request.last_text().contains("Write a summary")
}

/// Long answers of the session's model, and a summary where it is asked for one. Tokens are a quarter of the bytes.
fn session_model() -> Model {
    let mut answers = 0;
    Model::start(Script::by(move |request: &Request| {
        let usage = Usage {
            prompt: request.body.len() as u64 / 4,
            cached: 0,
            output: 9,
            reasoning: 0,
        };
        answers += 1;
        let text = match is_summary_request(request) {
            true => "OWN SUMMARY".to_owned(),
            false => format!("ANSWER-{answers} {}", "words ".repeat(LONG / 6)),
        };
        Answer::text(text).usage(usage)
    }))
}

/// A session of four turns with a summary by `writer`, as the config has it; the words of its notices.
fn compacted(main: &Model, writer: &str, entries: &[String]) -> (House, Vec<String>) {
    let house = House::new();
    house.settings(&format!(
        "default_model = \"main\"\n{FAST_RETRIES}[agent]\ncompaction_model = \"{writer}\"\n"
    ));
    house.provider(&main.entry("main", None));
    for entry in entries {
        house.provider(entry);
    }
    house.daemon();
    let pid = run(&house, &[], "FACT-1 is blue.")
        .expect(0, "completed")
        .pid();
    for prompt in ["FACT-2 is green.", "FACT-3 is red."] {
        run(&house, &["-s", &pid], prompt).expect(0, "completed");
    }
    let done = house.reasonix(&["compact", &pid]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    run(&house, &["-s", &pid], "And now?").expect(0, "completed");
    main.assert_strict();
    let log = house.log(proto::Pid(1));
    assert_eq!(log.check().count("cache.reset"), 1);
    let notices = log.bodies().into_iter().filter_map(|body| match body {
        Body::Notice(notice) => Some(notice.text),
        _ => None,
    });
    let notices = notices.collect();
    (house, notices)
}

/// Who wrote the summaries, by the usage that was logged.
fn writers(house: &House) -> Vec<String> {
    let bodies = house.log(proto::Pid(1)).bodies().into_iter();
    let usage = bodies.filter_map(|body| match body {
        Body::Usage(usage) if usage.purpose == Purpose::Summary => Some(usage.provider),
        _ => None,
    });
    usage.collect()
}

fn last_of(model: &Model) -> String {
    let last = model.requests().pop().expect("a request");
    String::from_utf8(last.body.to_vec()).expect("a request is text")
}

fn asked_for_summaries(model: &Model) -> usize {
    model
        .requests()
        .iter()
        .filter(|request| is_summary_request(request))
        .count()
}

#[test]
fn summaries_are_written_by_the_model_of_the_config() {
    let main = session_model();
    let small = Model::start(Script::by(|_: &Request| {
        Answer::text("SMALL SUMMARY").usage(Usage {
            prompt: 700,
            cached: 0,
            output: 7,
            reasoning: 0,
        })
    }));
    let (house, notices) = compacted(&main, "small", &[small.entry("small", None)]);
    assert_eq!(notices, Vec::<String>::new());
    assert_eq!((small.count(), asked_for_summaries(&main)), (1, 0));
    let asked = small.requests().pop().expect("a request");
    assert!(asked.last_text().contains("<user>\nFACT-1 is blue."));
    assert!(asked.last_text().contains("ANSWER-1 words"));
    assert!(asked.json["tools"].is_null(), "it has no tools");
    small.assert_strict();
    let sent = last_of(&main);
    assert!(sent.contains("SMALL SUMMARY") && sent.contains("FACT-1 is blue."));
    assert!(!sent.contains("ANSWER-1 words"), "it is folded");
    // Counted for the model that was asked.
    assert_eq!(writers(&house), ["small"]);
    let spent = house.reasonix(&["stats", "--json"]).expect_code(0).json();
    assert!(spent.to_string().contains("small"), "{spent}");
}

#[test]
fn the_sessions_model_writes_the_summary_where_the_other_fails() {
    for (fault, why) in [
        (Fault::refusal(400, "no such thing", ""), "no such thing"),
        (
            Fault::refusal(400, "too long", "context_length_exceeded"),
            "too long",
        ),
    ] {
        let main = session_model();
        let small = Model::start(Script::by(move |_: &Request| {
            Answer::text("").fault(fault.clone())
        }));
        let (house, notices) = compacted(&main, "small", &[small.entry("small", None)]);
        let told: Vec<_> = notices
            .iter()
            .filter(|notice| notice.contains("`agent.compaction_model`"))
            .collect();
        assert_eq!(told.len(), 1, "{notices:?}");
        assert!(told[0].contains(why), "{told:?}");
        assert_eq!((small.count(), asked_for_summaries(&main)), (1, 1));
        assert!(last_of(&main).contains("OWN SUMMARY"));
        assert_eq!(writers(&house), ["main"]);
    }
}

#[test]
fn empty_summary_of_the_compaction_model_is_rejected() {
    let main = session_model();
    let small = Model::start(Script::by(|_: &Request| Answer::text(" ")));
    let (_house, notices) = compacted(&main, "small", &[small.entry("small", None)]);
    assert!(
        notices
            .iter()
            .any(|notice| notice.contains("it wrote no summary")),
        "{notices:?}"
    );
    assert!(last_of(&main).contains("OWN SUMMARY"));
}

#[test]
fn a_compaction_model_that_nobody_knows_is_told_and_not_asked() {
    let main = session_model();
    let (house, notices) = compacted(&main, "nowhere/none", &[]);
    assert!(
        notices
            .iter()
            .any(|notice| notice.contains("`agent.compaction_model`")
                && notice.contains("nowhere")),
        "{notices:?}"
    );
    assert!(last_of(&main).contains("OWN SUMMARY"));
    assert_eq!(writers(&house), ["main"]);
}
