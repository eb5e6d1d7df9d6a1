//! Which model is asked, how hard it thinks, and what takes its place when it is down: with the real programs.

use serde_json::json;
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script, Usage};
use tests::House;

use crate::scripted::{FAST_RETRIES, RunOutput, run};

/// Two providers with a model each; `one` is the default. The arguments are more lines of their entries.
fn house_of(one: (&Model, &str), two: (&Model, &str)) -> House {
    let house = House::new();
    house.settings(FAST_RETRIES);
    for (name, (model, more)) in [("one", one), ("two", two)] {
        house.provider(&format!("{}{more}", model.entry(name, None)));
    }
    house.daemon();
    house
}

fn models() -> [Model; 2] {
    [1, 2].map(|number| {
        let answers = (1..9).map(|answer| Answer::text(format!("Answer {answer} of {number}.")));
        Model::start(answers.collect::<Vec<_>>())
    })
}

/// Does a command that has to work.
fn done(house: &House, line: &[&str]) {
    let done = house.reasonix(line);
    assert_eq!(done.code(), Some(0), "{done:?}");
}

#[test]
fn the_effort_of_a_run_is_sent_logged_and_kept() {
    let [one, two] = models();
    let house = house_of((&one, "effort = \"high\"\n"), (&two, ""));
    let effort = |request: usize| one.requests()[request].json["reasoning_effort"].clone();
    let by_entry = run(&house, &[], "hello").expect(0, "completed");
    assert_eq!(effort(0), "high");
    assert_eq!(by_entry.all("session.created")[0]["effort"], "high");
    let low = run(&house, &["--effort", "low"], "hello").expect(0, "completed");
    assert_eq!(effort(1), "low");
    assert_eq!(low.all("session.created")[0]["effort"], "low");
    let by_itself = run(&house, &["--effort", ""], "hello").expect(0, "completed");
    assert!(effort(2).is_null());
    assert!(by_itself.all("session.created")[0]["effort"].is_null());
    // Also in the next life of the daemon, and whatever the entry says.
    house.kill_daemon_and_parent();
    house.daemon();
    run(&house, &["-s", &by_itself.pid()], "again").expect(0, "completed");
    assert!(effort(3).is_null());
    done(
        &house,
        &["model", &by_itself.pid(), "--effort", "medium", "--yes"],
    );
    run(&house, &["-s", &by_itself.pid()], "again").expect(0, "completed");
    assert_eq!(effort(4), "medium");
    done(
        &house,
        &["model", &by_itself.pid(), "--effort", "", "--yes"],
    );
    run(&house, &["-s", &by_itself.pid()], "again").expect(0, "completed");
    assert!(effort(5).is_null());
    one.assert_strict();
}

#[test]
fn a_level_that_a_model_lacks_is_refused_before_anything_is_asked() {
    let [one, two] = models();
    let house = house_of((&one, "efforts = [\"low\", \"high\"]\n"), (&two, ""));
    for line in [
        ["run", "--effort", "hihg", "hello"].as_slice(),
        &["run", "--model", "two", "--effort", "hihg", "hello"],
    ] {
        let refused = house.reasonix(line).expect_code(64);
        assert!(refused.err.contains("hihg"), "{refused:?}");
        assert!(refused.err.contains("low"), "{refused:?}");
        assert!(!refused.err.contains("config"), "{refused:?}");
    }
    assert_eq!((one.count(), two.count()), (0, 0));
    let pid = run(&house, &["--effort", "high"], "hello")
        .expect(0, "completed")
        .pid();
    let refused = house
        .reasonix(&["model", &pid, "--effort", "max", "--yes"])
        .expect_code(64);
    assert!(refused.err.contains("low, high"), "{refused:?}");
}

#[test]
fn another_model_keeps_the_effort_only_where_it_knows_it() {
    let [one, two] = models();
    let house = house_of(
        (&one, "efforts = [\"low\", \"ultra\"]\n"),
        (
            &two,
            "efforts = [\"low\", \"medium\"]\neffort = \"medium\"\n",
        ),
    );
    let pid = run(&house, &["--effort", "low"], "hello")
        .expect(0, "completed")
        .pid();
    done(&house, &["model", &pid, "two", "--yes"]);
    run(&house, &["-s", &pid], "again").expect(0, "completed");
    assert_eq!(two.requests()[0].json["reasoning_effort"], "low");
    let pid = run(&house, &["--effort", "ultra"], "hello")
        .expect(0, "completed")
        .pid();
    let set = house
        .reasonix(&["model", &pid, "two", "--yes"])
        .expect_code(0);
    assert!(set.err.contains("effort medium"), "{set:?}");
    run(&house, &["-s", &pid], "again").expect(0, "completed");
    assert_eq!(two.requests()[1].json["reasoning_effort"], "medium");
    let log = house.log(proto::Pid(pid.parse().expect("a pid")));
    let bodies = format!("{:?}", log.bodies());
    assert!(
        bodies.contains("does not support the effort `ultra`"),
        "{bodies}"
    );
}

#[test]
fn two_sessions_ask_two_providers_at_once() {
    let (first, second) = (Gate::new(), Gate::new());
    let held = |text: &str, gate| Model::start([Answer::text(text).held(Place::Middle, gate)]);
    let (one, two) = (
        held("The first said it.", &first),
        held("The second said it.", &second),
    );
    let house = house_of((&one, ""), (&two, ""));
    let running = ["one", "two"].map(|name| house.start(&["run", "--model", name, "hello"]));
    tests::until("both to be asked", || {
        (first.is_reached() && second.is_reached()).then_some(())
    });
    // Neither waits for the other: the one that was asked first may be done last.
    let [of_one, of_two] = running;
    second.open();
    assert_eq!(of_two.done().expect_code(0).out, "The second said it.\n");
    first.open();
    assert_eq!(of_one.done().expect_code(0).out, "The first said it.\n");
    assert_eq!((one.count(), two.count()), (1, 1));
}

/// What each answer of the fallback takes.
const TAKES: Usage = Usage {
    prompt: 10_000,
    cached: 0,
    output: 0,
    reasoning: 0,
};
/// Dollars for a million tokens.
const PRICES: [&str; 2] = [
    "price = { input = 1.0, output = 1.0 }\n",
    "price = { input = 7.0, output = 7.0 }\n",
];

/// The fallback is `two`, after so many tries.
fn falls_back(tries: u32) -> String {
    let network = FAST_RETRIES.replace("retry_tries = 4", &format!("retry_tries = {tries}"));
    format!("{network}[agent]\nfallback_model = \"two\"\n")
}

/// A house in which `two` is the fallback of `one`, with as many tries of a request.
fn guarded(one: &Model, two: &Model, tries: u32) -> House {
    let house = House::new();
    house.settings(&falls_back(tries));
    for (name, model, price) in [("one", one, PRICES[0]), ("two", two, PRICES[1])] {
        house.provider(&format!("{}{price}", model.entry(name, None)));
    }
    house.daemon();
    house
}

/// Down for the first requests, and there again.
fn down_for(requests: usize) -> Model {
    Model::start(Script::by(move |request: &Request| {
        let answer = Answer::text("From the first.").usage(TAKES);
        match request.number <= requests {
            true => answer.fault(Fault::status(500)),
            false => answer,
        }
    }))
}

fn texts(ran: &RunOutput, kind: &str) -> Vec<String> {
    let texts = ran.all(kind).into_iter();
    texts
        .map(|data| data["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_fallback_answers_at_its_price_and_the_next_turn_asks_the_first_again() {
    let one = down_for(2);
    let two = Model::start([
        Answer::call("read_file", json!({"path": "a.txt"})).usage(TAKES),
        Answer::text("From the fallback.").usage(TAKES),
    ]);
    let house = guarded(&one, &two, 2);
    house.files("//- a.txt\nold words\n");
    let first = run(&house, &[], "hello").expect(0, "completed");
    assert_eq!(first.text(), "From the fallback.");
    assert_eq!((one.count(), two.count()), (2, 2));
    let notices = texts(&first, "notice").join(" ");
    assert!(
        notices.contains("`one/model`") || notices.contains("one/"),
        "{notices}"
    );
    assert!(
        notices.contains("two/") && notices.contains("500"),
        "{notices}"
    );
    let usage = first.all("usage");
    let by: Vec<_> = usage
        .iter()
        .map(|usage| (usage["provider"].as_str(), usage["cost_micros"].as_u64()))
        .collect();
    assert_eq!(by, [(Some("two"), Some(70_000)); 2]);
    let second = run(&house, &["-s", &first.pid()], "again").expect(0, "completed");
    assert_eq!(second.text(), "From the first.");
    assert_eq!((one.count(), two.count()), (3, 2));
    let usage = second.all("usage");
    assert_eq!(usage[0]["cost_micros"], 10_000);
    // The sum is by hand: twice at the fallback's price, and once at the first one's.
    let listed = house.reasonix(&["ls", "--json"]).expect_code(0).json();
    assert_eq!(listed[0]["usage"]["cost_micros"], 150_000, "{listed}");
    one.assert_strict();
    two.assert_strict();
    let log = house.log(proto::Pid(first.pid().parse().expect("a pid")));
    assert_eq!(log.check().count("cache.reset"), 2);
}

#[test]
fn where_the_fallback_is_down_too_the_cause_is_the_first_ones() {
    let one = down_for(9);
    let two = Model::start([Answer::text("Never.").fault(Fault::refusal(
        400,
        "No such thing.",
        "invalid",
    ))]);
    let house = guarded(&one, &two, 2);
    let ran = run(&house, &[], "hello").expect(1, "failed");
    let error = ran.result["error"]["message"].to_string();
    assert!(
        error.contains("500") && error.contains("No such thing"),
        "{error}"
    );
    assert!(error.find("500") < error.find("No such thing"), "{error}");
}

#[test]
fn a_fallback_without_a_key_is_reported_and_not_waited_for() {
    let one = down_for(9);
    let two = Model::start([Answer::text("Never.")]);
    let house = House::new();
    house.settings(&falls_back(1));
    house.provider(&one.entry("one", None));
    house.provider(&two.entry("two", Some("NOBODY_HAS_IT")));
    house.daemon();
    let ran = run(&house, &[], "hello").expect(1, "failed");
    let notices = texts(&ran, "notice").join(" ");
    assert!(notices.contains("no key for `two`"), "{notices}");
    assert_eq!(two.count(), 0);
}

#[test]
fn a_daemon_that_dies_while_the_fallback_answers_goes_on_with_it() {
    let one = down_for(1);
    let gate = Gate::new();
    let two = Model::start([
        Answer::text("Cut.").held(Place::Before, &gate),
        Answer::text("From the fallback."),
    ]);
    let house = guarded(&one, &two, 1);
    let pid = house
        .reasonix(&["run", "--detach", "hello"])
        .expect_code(0)
        .out
        .trim()
        .to_owned();
    tests::until("the fallback is asked", || gate.is_reached().then_some(()));
    house.kill_daemon_and_parent();
    gate.open();
    house.daemon();
    done(&house, &["wait", &pid]);
    assert_eq!((one.count(), two.count()), (1, 2));
    run(&house, &["-s", &pid], "again").expect(0, "completed");
    assert_eq!((one.count(), two.count()), (2, 2));
    house.log(proto::Pid(pid.parse().expect("a pid"))).check();
}

#[test]
fn a_fork_after_a_fallback_turn_asks_the_first_model_again() {
    let one = down_for(2);
    let two = Model::start([Answer::text("From the fallback.").usage(TAKES)]);
    let house = guarded(&one, &two, 2);
    let pid = run(&house, &[], "hello").expect(0, "completed").pid();
    done(&house, &["fork", &pid, "--name", "other"]);
    let forked = run(&house, &["-s", "other"], "again").expect(0, "completed");
    assert_eq!(forked.text(), "From the first.");
    assert_eq!(two.count(), 1);
}

#[test]
fn a_summary_is_requested_from_the_model_chosen_last() {
    let talks = || {
        Model::start(Script::by(|request: &Request| {
            let is_summary = request.last_text().contains("Write a summary");
            let words = if is_summary {
                "So it went."
            } else {
                &*"words ".repeat(4_000)
            };
            Answer::text(words.to_owned()).usage(TAKES)
        }))
    };
    let (one, two) = (talks(), talks());
    let house = house_of((&one, ""), (&two, ""));
    let pid = run(&house, &[], "hello").expect(0, "completed").pid();
    run(&house, &["-s", &pid], "more").expect(0, "completed");
    run(&house, &["-s", &pid], "more").expect(0, "completed");
    done(&house, &["model", &pid, "two", "--yes"]);
    done(&house, &["compact", &pid]);
    assert_eq!((one.count(), two.count()), (3, 1));
}
