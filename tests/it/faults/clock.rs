//! Time that does not pass as it should: the system clock jumps by years, the machine sleeps, and one processor is shared
//! with many others. Order, ids, limits and questions do not notice.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::{Body, Pid};
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::Script;
use testkit::model::{self, Answer, Fault, Model, Request};
use tests::interactions::{raw_decide, raw_first, raw_list};
use tests::log::Log;
use tests::program::run;
use tests::terminal::Terminal;
use tests::wait::pace;
use tests::{Gate, House, Raw, Running, processes, skip, until};

/// A system clock for the daemon alone, which a test sets.
pub(crate) struct Clock {
    file: PathBuf,
    library: String,
}

impl Clock {
    /// The daemon proper runs with this clock. `None`: it cannot be had here.
    pub(crate) fn begin(house: &House) -> Option<Self> {
        let asked = Command::new("faketime")
            .args(["-m", "-f", "+0", "sh", "-c", "printf %s \"$LD_PRELOAD\""])
            .stdin(Stdio::null())
            .output();
        let library = asked.map(|done| String::from_utf8_lossy(&done.stdout).into_owned());
        let library = library.unwrap_or_default();
        if skip::unless(!library.is_empty(), "`faketime`") {
            return None;
        }
        let file = house.root().join("clock");
        let clock = Self { file, library };
        clock.set("+0");
        clock.daemon(house);
        Some(clock)
    }

    /// Starts a daemon with this clock.
    fn daemon(&self, house: &House) {
        let words = [
            "env".to_owned(),
            format!("LD_PRELOAD={}", self.library),
            format!("FAKETIME_TIMESTAMP_FILE={}", self.file.display()),
            "FAKETIME_NO_CACHE=1".to_owned(),
            "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
        ];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(
            house.daemon_under(&words),
            "a daemon with a clock of its own"
        );
    }

    /// How far it is off, in seconds, with its sign.
    pub(crate) fn set(&self, off: &str) {
        // In one step: the daemon reads it all the time.
        let fresh = self.file.with_extension("fresh");
        std::fs::write(&fresh, format!("{off}\n")).expect("write the clock");
        std::fs::rename(&fresh, &self.file).expect("set the clock");
    }
}

fn create(house: &House, raw: &mut Raw, prompt: &str, on_ask: &str) -> String {
    let mut params = serde_json::to_value(house.create(prompt)).expect("JSON");
    params["on_ask"] = json!(on_ask);
    if prompt.is_empty() {
        params["prompt"] = Value::Null;
    }
    let created = raw.call("session.create", &params).expect("create");
    created["session"].as_str().expect("an id").to_owned()
}

fn wait(raw: &mut Raw, session: &str) -> Value {
    raw.call("session.wait", &json!({"session": session}))
        .expect("wait")
}

/// The years in which the records of a log were written, by their own word.
fn years(log: &Log) -> BTreeSet<String> {
    let text = std::fs::read_to_string(&log.path).expect("the log");
    let years = text
        .lines()
        .filter_map(|line| Some(line.split_once("\"at\":\"")?.1[..4].to_owned()));
    years.collect()
}

/// Thirty years, in seconds.
const AHEAD: &str = "+946080000";
const BEHIND: &str = "-946080000";

#[test]
fn f56_a_wall_clock_that_jumps_by_years_in_a_turn_changes_no_order_and_ends_nothing() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("one"))
            .runs(&Gate::command("two"))
            .runs(&Gate::command("three"))
            .says("Done."),
    );
    house.settings("[sessions]\nkeep_days = 30");
    let Some(clock) = Clock::begin(&house) else {
        return;
    };
    let mut raw = house.raw_as(Role::Drive);
    let gated = create(&house, &mut raw, "gated", "allow");
    for (name, off) in [("one", AHEAD), ("two", BEHIND), ("three", "+3600")] {
        let gate = Gate::new(&house, name);
        gate.wait();
        clock.set(off);
        // Sessions are made under every clock, and each is distinguished from the others.
        let _ = create(&house, &mut raw, "", "allow");
        gate.open();
    }
    assert_eq!(wait(&mut raw, &gated)["exit_code"], 0);
    let log = house.log(Pid(1));
    // Numbers are contiguous, states move as they may: see `Log::check`.
    let log = log.check();
    let years = years(log);
    assert!(years.len() >= 3, "the clock has jumped: {years:?}");
    let mut ids: Vec<String> = house
        .logs()
        .iter()
        .map(|log| log.created().session.to_string())
        .collect();
    let prompts = log.bodies().into_iter().filter_map(|body| match body {
        Body::PromptQueued(queued) => Some(queued.prompt_id.to_string()),
        _ => None,
    });
    ids.extend(prompts);
    let count = ids.len();
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>().len(), count);
    // Lists and statistics still work, and all sessions are there.
    let listed = raw.call("session.list", &json!({})).expect("a list");
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(4));
    for arguments in [
        &["stats"][..],
        &["ps"],
        &["ls"],
        &["steps", "1"],
        &["strace", "1"],
    ] {
        let _ = house.reasonix(arguments).expect_code(0);
    }
}

#[test]
fn f56_limits_and_questions_do_not_follow_the_wall_clock() {
    let house = House::playing(
        &Script::new()
            .calls(
                "bash",
                &json!({"command": "touch begun; sleep 331", "timeout_ms": 1_500}),
            )
            .runs("touch made")
            .says("Done."),
    );
    let Some(clock) = Clock::begin(&house) else {
        return;
    };
    let mut raw = house.raw_as(Role::Drive);
    let session = create(&house, &mut raw, "work", "wait");
    let answer = |raw: &mut Raw| {
        let params = raw_decide(&raw_first(raw), "allow_once");
        raw.call("interaction.answer", &params).expect("an answer");
    };
    answer(&mut raw);
    until("the command", || {
        house.project().join("begun").exists().then_some(())
    });
    let begun = Instant::now();
    clock.set(BEHIND);
    // It ends at its limit, neither at once nor never; then there is a question.
    let second = raw_first(&mut raw);
    assert!(
        begun.elapsed() >= Duration::from_millis(1_000),
        "{:?}",
        begun.elapsed()
    );
    clock.set(AHEAD);
    // Still open after thirty years, and still the same.
    let open = &raw_list(&mut raw)[0];
    assert_eq!(open["interaction_id"], second["interaction_id"]);
    answer(&mut raw);
    assert_eq!(wait(&mut raw, &session)["exit_code"], 0);
    assert!(house.project().join("made").exists());
    let log = house.log(Pid(1));
    let log = log.check();
    assert_eq!(log.results().len(), 2);
    assert!(years(log).len() >= 2, "the clock has jumped");
}

/// Ten days, in seconds.
const TEN_DAYS_AHEAD: &str = "+864000";
const TEN_DAYS_BEHIND: &str = "-864000";

fn create_bounded(house: &House, raw: &mut Raw, budget_ms: u64) -> String {
    let mut params = serde_json::to_value(house.create("work")).expect("JSON");
    params["on_ask"] = json!("allow");
    params["kind"] = json!("headless");
    params["budget"] = json!({"ms": budget_ms});
    let created = raw.call("session.create", &params).expect("create");
    created["session"].as_str().expect("an id").to_owned()
}

#[test]
fn f56_a_clock_that_jumps_by_ten_days_uses_up_no_time_of_a_turn() {
    let gates = ["one", "two", "three"];
    let script = gates.iter().fold(Script::new(), |script, name| {
        script.runs(&Gate::command(name))
    });
    let house = House::playing(&script.says("Done."));
    let Some(clock) = Clock::begin(&house) else {
        return;
    };
    let mut raw = house.raw_as(Role::Drive);
    let begun = Instant::now();
    let session = create_bounded(&house, &mut raw, 600_000);
    for (name, off) in gates
        .into_iter()
        .zip([TEN_DAYS_AHEAD, TEN_DAYS_BEHIND, "+0"])
    {
        let gate = Gate::new(&house, name);
        gate.wait();
        clock.set(off);
        let nodes = raw
            .call(
                "session.inspect",
                &json!({"session": session, "part": "budget"}),
            )
            .expect("the budget");
        let used = nodes["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .map(|node| node["spent"]["ms"].as_u64().expect("milliseconds"));
        assert!(used.max() < Some(600_000), "{name}: {nodes}");
        gate.open();
    }
    assert_eq!(wait(&mut raw, &session)["exit_code"], 0);
    let took = u64::try_from(begun.elapsed().as_millis()).expect("a time");
    let log = house.log(Pid(1));
    let ended = log
        .check()
        .bodies()
        .into_iter()
        .find_map(|body| match body {
            Body::TurnEnded(ended) => Some(ended.duration_ms),
            _ => None,
        });
    let ended = ended.expect("an end");
    assert!(ended <= took + 1_000, "{ended} of {took} ms");
}

#[test]
fn f56_a_clock_that_goes_back_by_ten_days_leaves_the_limit_of_a_turn_in_force() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("one"))
            .runs("touch made")
            .says("Done."),
    );
    let Some(clock) = Clock::begin(&house) else {
        return;
    };
    let mut raw = house.raw_as(Role::Drive);
    let session = create_bounded(&house, &mut raw, 1_000);
    let gate = Gate::new(&house, "one");
    gate.wait();
    clock.set(TEN_DAYS_BEHIND);
    // The turn's time passes: the test measures this.
    pace(Instant::now() + Duration::from_millis(1_100));
    gate.open();
    let ended = wait(&mut raw, &session);
    assert_eq!(ended["ended"]["outcome"], "budget_exceeded", "{ended}");
    assert!(!house.project().join("made").exists());
}

#[test]
fn f56_a_clock_that_jumps_by_ten_days_over_a_crash_uses_up_no_time_of_a_turn() {
    let house = House::playing(
        &Script::new()
            .runs("true")
            .runs(&Gate::command("one"))
            .says("Done.")
            .says("Done."),
    );
    let Some(clock) = Clock::begin(&house) else {
        return;
    };
    let mut raw = house.raw_as(Role::Drive);
    let session = create_bounded(&house, &mut raw, 600_000);
    Gate::new(&house, "one").wait();
    clock.set(TEN_DAYS_AHEAD);
    // A record after the jump.
    raw.call(
        "session.set",
        &json!({"session": session, "name": "jumped"}),
    )
    .expect("a name");
    house.kill_daemon();
    clock.daemon(&house);
    let mut raw = house.raw_as(Role::Drive);
    let ended = wait(&mut raw, &session);
    assert_eq!(ended["exit_code"], 0, "{ended}");
}

/// Answers that take about two seconds, some of them with a call before.
fn streaming() -> Model {
    Model::start(testkit::model::Script::by(|request: &Request| {
        Answer::text(format!("Answer {}. ", request.number).repeat(20))
            .paced(4, Duration::from_millis(20))
    }))
}

#[test]
fn f55_a_daemon_that_was_frozen_in_streams_goes_on_with_each_once() {
    const SESSIONS: usize = 4;
    let model = streaming();
    let house = House::new();
    house.settings("[network]\nidle_seconds = 1\n[internal]\nclient_stuck_seconds = 1\nhello_seconds = 1\nretry_base_ms = 10");
    house.provider(&model.entry("model", None));
    house.daemon();
    let daemon = house.daemon_pid().expect("a daemon");
    let parent = house
        .processes()
        .into_iter()
        .find(|process| process.pid == daemon);
    let parent = parent.expect("the daemon").ppid;
    let mut raw = house.raw_as(Role::Drive);
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        sessions.push(create(
            &house,
            &mut raw,
            &format!("prompt {number}"),
            "allow",
        ));
    }
    let mut watcher = house.raw_as(Role::Watch);
    let attach = json!({"session": sessions[0], "subscription": "s", "after_seq": 0});
    watcher.call("session.attach", &attach).expect("attach");
    until("all streams", || (model.count() >= SESSIONS).then_some(()));
    for pid in [parent, daemon] {
        processes::send(pid, Signal::STOP);
    }
    // Longer than anything that is waited for: this is the fault.
    pace(Instant::now() + Duration::from_millis(2_500));
    for pid in [daemon, parent] {
        processes::send(pid, Signal::CONT);
    }
    // The same connections go on.
    for session in &sessions {
        assert_eq!(wait(&mut raw, session)["exit_code"], 0);
    }
    assert_eq!(house.daemon_pid(), Some(daemon));
    watcher
        .call("daemon.status", &json!({}))
        .expect("a follower that is still there");
    for log in house.logs() {
        let log = log.check();
        assert_eq!((log.count("turn.started"), log.count("turn.ended")), (1, 1));
        assert_eq!(log.count("message.assistant"), 1, "{:?}", log.kinds());
    }
    assert_eq!(model.count(), SESSIONS, "no request is made twice");
}

#[test]
fn f57_on_one_processor_with_many_others_clients_find_their_daemon() {
    const OTHERS: usize = 16;
    if skip::unless(skip::works(&["taskset", "-c", "0", "true"]), "`taskset`") {
        return;
    }
    let house = House::playing(&Script::new().says("Done."));
    let pinned = |program: &str| {
        let mut command = house.program(std::path::Path::new("taskset"));
        command.args(["-c", "0", program]);
        command
    };
    let others: Vec<Running> = (0..OTHERS)
        .map(|_| Running::start(pinned("sh").args(["-c", "while :; do :; done"])))
        .collect();
    let reasonix = tests::house::client_program();
    let reasonix = reasonix.to_string_lossy();
    // The first one starts the daemon, with five seconds for it.
    let first = run(pinned(&reasonix).args(["run", "hello"])).expect_code(0);
    assert_eq!(first.out, "Done.\n");
    let daemon = house.daemon_pid();
    for _ in 0..5 {
        let _ = run(pinned(&reasonix).arg("ls")).expect_code(0);
    }
    assert_eq!(
        house.daemon_pid(),
        daemon,
        "it is the same daemon throughout"
    );
    drop(others);
}

/// The variable of a key that expires in the night.
const VARIABLE: &str = "NIGHT_API_KEY";

/// A model that wants a command, whose next request is refused unless it comes with the new key.
fn expiring() -> Model {
    let complete = json!({"status": "complete", "summary": "done", "evidence": "it ran"});
    Model::start(model::Script::by(move |request: &Request| {
        let key = request.authorization.as_deref().unwrap_or_default();
        match (request.answered(), key.ends_with("sk-new")) {
            (0, _) => Answer::call("bash", json!({"command": Gate::command("night")})),
            (_, false) => {
                Answer::text("").fault(Fault::refusal(401, "this key has expired", "expired"))
            }
            (1, true) => Answer::call("update_goal", complete.clone()),
            (_, true) => Answer::text("Done."),
        }
    }))
}

/// A way by which a key comes to the daemon.
type Brings = fn(&House, &str);

#[test]
fn goal_left_overnight_waits_for_one_thing_and_goes_on_with_a_new_key() {
    let by_client: Brings = |house, key| {
        let _ = run(house.command(&["ps"]).env(VARIABLE, key)).expect_code(0);
    };
    let by_login: Brings = |house, key| {
        let set = json!({"variable": VARIABLE, "value": key});
        let mut raw = house.raw_as(Role::Drive);
        raw.call("credential.set", &set).expect("a login");
    };
    for (brings, is_stored) in [(by_client, false), (by_login, true)] {
        let model = expiring();
        let house = House::new();
        house.settings("credentials_store = \"file\"\n[internal]\nretry_base_ms = 10");
        house.provider(&model.entry("model", Some(VARIABLE)));
        let Some(clock) = Clock::begin(&house) else {
            return;
        };
        let arguments = ["goal", "--detach", "--on-ask", "allow", "Watch it"];
        let mut started = house.command(&arguments);
        if is_stored {
            brings(&house, "sk-old");
        } else {
            started.env(VARIABLE, "sk-old");
        }
        let _ = run(&mut started).expect_code(0);
        let gate = Gate::new(&house, "night");
        gate.wait();
        let terminals = [(100, 40), (80, 24)]
            .map(|(columns, rows)| Terminal::reasonix(&house, &["attach", "1"], columns, rows));
        for terminal in &terminals {
            terminal.wait_text("Watch it");
        }
        // Every terminal is closed, the machine sleeps for ten hours, and the key expires.
        drop(terminals);
        let daemon = house.daemon_pid().expect("a daemon");
        processes::send(daemon, Signal::STOP);
        clock.set("+36000");
        processes::send(daemon, Signal::CONT);
        gate.open();
        until("the session to wait", || {
            let listed = house.reasonix(&["ps"]).expect_code(0);
            listed.out.contains("waiting: key").then_some(())
        });
        let status = house.reasonix(&["goal", "status", "1"]).expect_code(0).out;
        assert!(
            status.contains("waiting: `reasonix inbox` shows"),
            "{status}"
        );
        let inbox = house.reasonix(&["inbox"]).expect_code(0).out;
        let words = "waits for a key (`model` answered 401: this key has expired)";
        assert!(inbox.contains(words), "{inbox}");
        let rows = inbox.lines().filter(|line| line.starts_with("1 "));
        assert_eq!(rows.count(), 1, "one thing: {inbox}");
        // The expired key again changes nothing, and asks for nothing.
        let asked = model.count();
        brings(&house, "sk-old");
        // Nor does the death of the daemon.
        house.kill_daemon();
        clock.daemon(&house);
        brings(&house, "sk-new");
        let done = house
            .reasonix(&["wait", "--timeout", "60", "1"])
            .expect_code(0);
        assert_eq!(done.err, "", "{done:?}");
        let log = house.log(Pid(1));
        let log = log.check();
        let outcomes = log.bodies().into_iter().filter_map(|body| match body {
            Body::GoalEnded(ended) => Some(ended.outcome),
            _ => None,
        });
        let complete = [proto::record::GoalOutcome::Complete];
        assert_eq!(outcomes.collect::<Vec<_>>(), complete);
        assert_eq!(log.count("tool.started"), 2, "nothing ran twice");
        // Of the daemon that was killed the next one may have asked again.
        assert!((asked + 2..=asked + 3).contains(&model.count()));
        let inbox = house.reasonix(&["inbox"]);
        assert!(!inbox.out.contains("waits for a key"), "{inbox:?}");
    }
}
