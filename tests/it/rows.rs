//! Rows of `docs/features.md` from end to end, with the real programs, where other tests show their parts.

use proto::Pid;
use proto::hello::Role;
use serde_json::json;
use testkit::Script;
use testkit::model::{self, Answer, Model, Place};
use tests::{Gate, House, until};

use crate::scripted::run;

#[test]
fn a_session_whose_daemon_was_killed_in_a_stream_is_listed_at_rest_and_goes_on() {
    let gate = model::Gate::new();
    let model = Model::start([
        Answer::text("This is cut off in its middle.").held(Place::Middle, &gate),
        Answer::text("And on."),
    ]);
    let house = House::new();
    house.settings("[daemon]\nrecover = \"idle\"");
    house.provider(&model.entry("model", None));
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(house.create("Begin.")).expect("JSON");
    raw.call("session.create", &params).expect("create");
    until("the stream", || gate.is_reached().then_some(()));
    house.kill_daemon_and_parent();
    gate.open();
    house.daemon();
    let listed = house
        .reasonix(&["ps", "-a", "--json"])
        .expect_code(0)
        .json();
    let first = &listed["processes"][0];
    assert_eq!(
        (&first["pid"], &first["state"], &first["cut_off"]),
        (&json!(1), &json!("idle"), &json!("interrupted")),
        "{listed}"
    );
    assert_eq!(model.count(), 1, "nothing is asked without a person");
    run(&house, &["-s", "1"], "Go on.").expect(0, "completed");
    assert_eq!(house.log(Pid(1)).check().count("turn.ended"), 2);
}

#[test]
fn killing_a_session_that_has_ended_says_so_and_is_no_failure() {
    let house = House::playing(&Script::new().says("Done."));
    run(&house, &[], "work").expect(0, "completed");
    let first = house.reasonix(&["kill", "1"]).expect_code(0);
    assert_eq!(
        first.err, "1: nothing to stop\n",
        "a run has ended by itself"
    );
    let before = house.log(Pid(1)).lines.len();
    let second = house.reasonix(&["kill", "1"]).expect_code(0);
    assert_eq!(second.err, first.err);
    assert_eq!(house.log(Pid(1)).lines.len(), before, "nothing is written");
}

#[test]
fn a_trace_that_was_followed_to_the_end_is_the_trace_of_the_log() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("gate"))
            .says("Done.")
            .in_pieces(2, std::time::Duration::from_millis(1)),
    );
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "work"])
        .expect_code(0);
    gate.wait();
    let following = house.start(&["strace", "-f", "1"]);
    following.line("the call", |line| line.contains("bash"));
    gate.open();
    let live = following.done().expect_code(0).out;
    let later = house.reasonix(&["strace", "1"]).expect_code(0).out;
    assert_eq!(live, later);
    assert!(
        later.contains("bash") && later.contains("exited"),
        "{later}"
    );
}

#[test]
fn a_log_is_followed_as_it_grows_and_read_from_some_time_ago() {
    let house = House::playing(&Script::new().says("The first.").says("The second."));
    run(&house, &[], "one").expect(0, "completed");
    let following = house.start(&["logs", "-f", "1"]);
    following.line("what was there", |line| line.contains("The first."));
    run(&house, &["-s", "1"], "two").expect(0, "completed");
    following.line("what came", |line| line.contains("The second."));
    following.signal(rustix::process::Signal::INT);
    let followed = following.done().expect_code(130).out;
    let since = house.reasonix(&["logs", "--since", "10m", "1"]);
    assert_eq!(since.expect_code(0).out, followed);
    let from_now = house.reasonix(&["logs", "--since", "2099-01-01", "1"]);
    assert_eq!(from_now.expect_code(0).out, "");
}

#[test]
fn inbox_wait_returns_at_the_first_open_question_of_any_session() {
    let house = House::playing(&Script::new().runs("touch made").says("It is made."));
    house.turn_off_sandbox();
    house.daemon();
    let waiting = house.start(&["inbox", "--wait", "--json"]);
    let asks = ["run", "--detach", "--on-ask", "wait", "make it"];
    let quiet = ["run", "--detach", "--on-ask", "deny", "make it"];
    let _ = house.reasonix(&quiet).expect_code(0);
    let _ = house.reasonix(&["wait", "1"]);
    let second = house.reasonix(&asks).expect_code(0).out;
    let listed = waiting.done().expect_code(0).json();
    assert_eq!(listed[0]["session"].to_string(), second.trim(), "{listed}");
    assert_eq!(listed[0]["request"]["subject"], "touch made");
    // One that waits already is no reason to wait.
    let again = house
        .reasonix(&["inbox", "--wait", "--json"])
        .expect_code(0);
    assert_eq!(again.json(), listed);
}

#[test]
fn a_fork_at_the_fifth_turn_has_five_and_says_where_it_is_from() {
    let script = (1..=7).fold(Script::new(), |script, number| {
        script.says(&format!("Answer {number}."))
    });
    let house = House::playing(&script);
    run(&house, &[], "Prompt 1.").expect(0, "completed");
    for number in 2..=7 {
        run(&house, &["-s", "1"], &format!("Prompt {number}.")).expect(0, "completed");
    }
    let forked = house
        .reasonix(&["fork", "1", "--at-turn", "5"])
        .expect_code(0);
    let fork = forked.out.trim().to_owned();
    let page = house.reasonix(&["export", &fork]).expect_code(0).out;
    for number in 1..=7 {
        let found = page.contains(&format!("Prompt {number}."));
        assert_eq!(found, number <= 5, "{number}: {page}");
        let found = page.contains(&format!("Answer {number}."));
        assert_eq!(found, number <= 5, "{number}: {page}");
    }
    let log = house.log(Pid(fork.parse().expect("a pid")));
    let origin = log.created().origin.expect("where it comes from");
    assert_eq!((origin.pid, origin.turn), (Pid(1), 5));
}

#[test]
fn sessions_of_all_projects_are_named_found_and_written_out() {
    let house = House::playing(&Script::new().says("A needle:\n\n```text\n# no title\n```"));
    run(&house, &[], "look in here").expect(0, "completed");
    let elsewhere = house.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("another project");
    let there = |arguments: &[&str]| {
        let mut command = house.command(arguments);
        tests::program::run(command.current_dir(&elsewhere)).expect_code(0)
    };
    let _ = there(&["run", "look there"]);
    let found = there(&["search", "--json", "needle"]).json();
    let hits = found.as_array().or(found["hits"].as_array()).expect("hits");
    let pids: Vec<_> = hits.iter().map(|hit| hit["pid"].to_string()).collect();
    assert_eq!(pids, ["2", "1"], "{found}");
    let own = there(&["search", "--json", "--here", "needle"]).json();
    let hits = own.as_array().or(own["hits"].as_array()).expect("hits");
    let pids: Vec<_> = hits.iter().map(|hit| hit["pid"].to_string()).collect();
    assert_eq!(pids, ["2"], "{own}");
    let _ = there(&["rename", "1", "the-first"]);
    let listed = there(&["ls", "--json"]).out;
    assert!(listed.contains("\"the-first\""), "{listed}");
    // Read again: each prompt and each answer, whole, and no heading that is none.
    let page = there(&["export", "the-first"]).out;
    assert!(page.contains("> look in here\n"), "{page}");
    assert!(
        page.contains("A needle:\n\n```text\n# no title\n```\n"),
        "{page}"
    );
    let file = elsewhere.join("page.md");
    let _ = there(&["export", "the-first", "-o", "page.md"]);
    assert_eq!(std::fs::read_to_string(file).expect("the page"), page);
}
