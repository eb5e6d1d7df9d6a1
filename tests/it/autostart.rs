//! What starts with the daemon (`[[autostart]]`): goals once and to their end, servers without a session, and entries
//! that keep the daemon from starting.

use proto::record::GoalOutcome;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::house::example_server;
use tests::{Gate, House, until};

/// An entry for a goal in the project, named `nightly`.
fn goal(house: &House, text: &str, more: &str) -> String {
    let dir = house.project();
    format!(
        "[[autostart]]\nname = \"nightly\"\ngoal = \"{text}\"\ndir = \"{}\"\non_ask = \"allow\"\n{more}\n",
        dir.display()
    )
}

/// The outcomes of the goals of a session, in their order. `place`: of the session among all, from 1.
fn outcomes(house: &House, place: usize) -> Vec<GoalOutcome> {
    let logs = house.logs();
    let bodies = logs[place - 1].bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::GoalEnded(ended) => Some(ended.outcome),
            _ => None,
        })
        .collect()
}

fn ends(house: &House, place: usize, outcome: GoalOutcome) {
    until("the end of the goal", || {
        (!outcomes(house, place).is_empty()).then_some(())
    });
    assert_eq!(outcomes(house, place), [outcome]);
    // Its session is at rest.
    let pid = house.logs()[place - 1].pid();
    let _ = house.reasonix(&["wait", &pid.to_string()]);
}

/// Kills the daemon and starts another one, which says that all entries have started.
fn again(house: &House) {
    let started = |house: &House| house.daemon_log().matches("autostart: started").count();
    let before = started(house);
    if house.daemon_pid().is_some() {
        house.kill_daemon_and_parent();
    }
    house.daemon();
    until("the entries", || (started(house) > before).then_some(()));
}

#[test]
fn goal_starts_with_the_daemon_once_and_goes_on_after_a_kill() {
    let done = json!({"status": "complete", "summary": "done", "evidence": "it is there"});
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("one"))
            .says("One.")
            .calls("update_goal", &done)
            .says("Done."),
    );
    house.settings(&goal(&house, "Do it", "max_turns = 7"));
    again(&house);
    Gate::new(&house, "one").wait();
    let listed = house
        .reasonix(&["ps", "-l", "autostart:nightly", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(listed["processes"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["processes"][0]["goal"]["max_turns"], 7, "{listed}");
    // In the middle of a command.
    again(&house);
    ends(&house, 1, GoalOutcome::Complete);
    let turns = house.log(Pid(1)).check().count("turn.started");
    for _ in 0..2 {
        again(&house);
    }
    let doctor = house.reasonix(&["doctor"]).out;
    let words = "autostart nightly: session 1, the goal has ended";
    assert!(doctor.contains(words), "{doctor}");
    assert_eq!(house.logs().len(), 1, "no other session");
    let log = house.log(Pid(1));
    let log = log.check();
    assert_eq!(
        (log.count("goal.started"), log.count("turn.started")),
        (1, turns)
    );
}

#[test]
fn ended_goal_is_not_started_again_and_another_text_is_another_goal() {
    let house = House::playing(
        &Script::new()
            .says("One.")
            .runs(&Gate::command("two"))
            // After the kill, so that its goal goes on until it is stopped.
            .runs(&Gate::command("three")),
    );
    let first = goal(&house, "First", "max_turns = 1");
    house.settings(&first);
    let providers = std::fs::read_to_string(house.home_file("config.toml")).expect("config");
    let with = |text: &str| {
        let entry = goal(&house, text, "max_turns = 9");
        house.config_text(&providers.replace(&first, &entry));
    };
    again(&house);
    ends(&house, 1, GoalOutcome::OutOfTurns);
    // Its options count for new sessions only.
    with("First");
    again(&house);
    assert_eq!((house.logs().len(), outcomes(&house, 1).len()), (1, 1));
    with("Second");
    again(&house);
    Gate::new(&house, "two").wait();
    assert_eq!(house.logs().len(), 2);
    // The next one takes the place of a goal that has not ended.
    with("Third");
    again(&house);
    ends(&house, 2, GoalOutcome::Stopped);
    assert_eq!(house.logs().len(), 3);
    let third = house.logs()[2].pid().to_string();
    let _ = house.reasonix(&["kill", &third]);
}

#[test]
fn required_entry_that_fails_keeps_the_daemon_from_starting() {
    let house = House::playing(&Script::new().says("One."));
    let mcp = json!({"mcpServers": {"broken": {"command": "/bin/false"}}});
    std::fs::write(house.home_file("mcp.json"), mcp.to_string()).expect("mcp.json");
    let config = std::fs::read_to_string(house.home_file("config.toml")).expect("config");
    let unknown = format!(
        "name = \"a\"\ngoal = \"x\"\ndir = \"{}\"\nmodel = \"no-such-model\"",
        house.project().display()
    );
    let absent = "name = \"a\"\ngoal = \"x\"\ndir = \"~/absent\"";
    for (entry, why) in [
        (absent, "absent` does not exist"),
        (
            "name = \"a\"\nserver = \"docs\"",
            "you have configured no MCP server `docs`, only broken",
        ),
        (
            "name = \"a\"\nserver = \"broken\"",
            "the autostart entry `a` did not start: ",
        ),
        (
            "name = \"a\"\nserver = \"broken\"\nsize = 3",
            "unknown field `size` (it may have name, goal",
        ),
        (unknown.as_str(), "no-such-model"),
    ] {
        let with = |required: bool| {
            house.config_text(&format!(
                "# A comment\n[[autostart]]\n{entry}\nrequired = {required}\n{config}"
            ));
        };
        with(true);
        let refused = house.reasonix(&["ls"]).expect_code(69);
        let place = format!("{}:2", house.home_file("config.toml").display());
        assert!(
            refused.err.contains(&place) && refused.err.contains(why),
            "{why}: {}",
            refused.err
        );
        assert!(refused.err.contains("It is required"), "{}", refused.err);
        with(false);
        let _ = house.reasonix(&["ls"]).expect_code(0);
        until("the report of the doctor", || {
            let doctor = house.reasonix(&["doctor"]).out;
            (doctor.contains(&place) && doctor.contains("autostart")).then_some(())
        });
        let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    }
    assert!(house.logs().is_empty(), "no session was made");
}

/// The state of the server `docs` in the project.
fn state(house: &House) -> Value {
    let listed = house.reasonix(&["mcp", "list", "--json"]).expect_code(0);
    listed.json()["servers"][0]["state"].clone()
}

#[test]
fn server_is_kept_running_without_a_session() {
    let house = House::playing(&Script::new());
    let mcp = json!({"mcpServers": {"docs": {"command": example_server()}}});
    std::fs::write(house.home_file("mcp.json"), mcp.to_string()).expect("mcp.json");
    let entry = format!(
        "[[autostart]]\nname = \"docs\"\nserver = \"docs\"\nrequired = true\ndir = \"{}\"",
        house.project().display()
    );
    house.settings(&entry);
    house.daemon();
    assert_eq!(state(&house), "ready", "it was waited for");
    assert!(house.logs().is_empty());
    let doctor = house.reasonix(&["doctor"]).out;
    let words = "autostart docs: the MCP server `docs` is ready";
    assert!(doctor.contains(words), "{doctor}");
    let shown = house
        .reasonix(&["config", "get", "autostart"])
        .expect_code(0);
    assert!(shown.out.contains("autostart.docs"), "{}", shown.out);
}

#[test]
fn autostart_server_prevents_idle_exit_until_it_fails() {
    let houses = [(); 2].map(|()| House::playing(&Script::new()));
    for house in &houses {
        house.settings("[daemon]\nidle_exit_minutes = 0.01");
    }
    let [house, without] = &houses;
    let server = |command: &Value| {
        let mcp = json!({"mcpServers": {"docs": {"command": command}}});
        std::fs::write(house.home_file("mcp.json"), mcp.to_string()).expect("mcp.json");
    };
    house.settings("[[autostart]]\nname = \"docs\"\nserver = \"docs\"");
    server(&json!(example_server()));
    house.daemon();
    let daemon = house.daemon_pid().expect("a daemon");
    let ready = || house.daemon_log().contains("autostart: started");
    until("the server to be ready", || ready().then_some(()));
    // Meanwhile a daemon without an autostart server exits twice.
    for _ in 0..2 {
        without.daemon();
        until("the daemon of the other home to go", || {
            without.processes().is_empty().then_some(())
        });
    }
    assert_eq!(house.daemon_pid(), Some(daemon));
    house.stop_daemon();
    server(&json!("/nonexistent/server"));
    house.daemon();
    until("the daemon to go", || {
        house.processes().is_empty().then_some(())
    });
}

#[test]
fn autostart_of_a_project_counts_for_nothing() {
    let done = json!({"status": "complete", "summary": "done", "evidence": "I looked"});
    let house = House::playing(&Script::new().calls("update_goal", &done).says("Done."));
    let theirs = "[goal]\ncheck = [\"touch ran\"]\n[[autostart]]\nname = \"evil\"\ngoal = \"x\"\ndir = \"/tmp\"\n";
    house.files(&format!("//- reasonix.toml\n{theirs}"));
    std::fs::create_dir(house.project().join(".git")).expect("a repository");
    // In a directory that is not trusted, a goal works by the user's settings.
    house.settings(&goal(&house, "Look", ""));
    again(&house);
    ends(&house, 1, GoalOutcome::Complete);
    assert!(!house.project().join("ran").exists());
    let checked = house.reasonix(&["config", "check"]);
    let words = "reasonix.toml:3: `autostart` counts only in your own config; it is ignored";
    assert!(checked.out.contains(words), "{}", checked.out);
    let _ = house.reasonix(&["trust", "--yes"]);
    again(&house);
    assert_eq!(house.logs().len(), 1);
}
