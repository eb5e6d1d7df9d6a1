//! Signals end to end: PAUSE and RESUME from each state and across the death of the daemon, KILL that comes together
//! with a natural end, signals to all sessions with a label, and interrupts at any moment.

use std::time::{Duration, Instant};

use client::{Client, Follow};
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::{
    SessionCreate, SessionGet, SessionInterrupt, SessionPrompt, SessionSignal, SessionWait,
};
use proto::outcome::OutcomeKind;
use proto::params::session::{
    OneParams, PromptParams, Signal, SignalParams, Until, WaitParams, When,
};
use proto::state::{OnAsk, State};
use proto::{Body, Pid, RequestId};
use rustix::process::Signal as OsSignal;
use serde_json::json;
use testkit::Script;
use testkit::model::{Answer, Gate, Model, Place, Request};
use tests::follow::{from_the_start, to, to_end_of_turn, to_rest};
use tests::interactions::{allow_once, answer, list};
use tests::{Chance, House, Running, soon, until};

fn house(model: &Model) -> House {
    let house = House::new();
    house.settings("[daemon]\nrecover = \"continue\"\n");
    house.provider(&model.entry("model", None));
    house.daemon();
    house
}

async fn create(house: &House, client: &Client, on_ask: OnAsk) -> Pid {
    let mut params = house.create("Begin.");
    params.options.on_ask = Some(on_ask);
    soon("a session", client.call::<SessionCreate>(&params))
        .await
        .expect("create")
        .pid
}

async fn signal(client: &Client, pid: Pid, signal: Signal) {
    let params = SignalParams {
        session: pid.to_string(),
        signal,
        tree: false,
        request_id: Some(RequestId::new()),
    };
    let output = soon("a signal", client.call::<SessionSignal>(&params)).await;
    assert!(output.expect("signal").delivered, "{signal:?}");
}

async fn state(client: &Client, pid: Pid) -> State {
    let one = OneParams {
        session: pid.to_string(),
    };
    let summary = soon("a summary", client.call::<SessionGet>(&one)).await;
    summary.expect("get").state
}

/// Waits for a record of this kind that holds this text.
async fn record(follow: &mut Follow, kind: &str, text: &str) {
    to(follow, &format!("`{kind}` with `{text}`"), |event| {
        event.seq.is_some() && event.kind == kind && event.data.get().contains(text)
    })
    .await;
}

/// The paused session stays paused, and asks the model nothing, also over a death of the daemon; resumed, it comes to
/// the end of its turn.
async fn paused_until_resumed(house: &House, model: &Model, pid: Pid, requests: usize, dies: bool) {
    if dies {
        house.kill_daemon_and_parent();
        house.daemon();
    }
    let client = house.client("after", Role::Drive).await;
    assert_eq!(state(&client, pid).await, State::Paused);
    assert_eq!(model.count(), requests, "a paused session asks nothing");
    let begun = house.project().join("ran.txt");
    assert!(!begun.exists(), "a paused session runs nothing");
    signal(&client, pid, Signal::Resume).await;
    let mut follow = from_the_start(&client, pid).await;
    let events = to_end_of_turn(&mut follow).await;
    let last = events.last().expect("an end").data.get();
    assert!(last.contains(r#""completed""#), "{last}");
    to_rest(&mut follow).await;
    let text = std::fs::read_to_string(&begun).unwrap_or_default();
    assert_eq!(text, "once\n", "its command ran once");
    let log = house.log(pid);
    assert_eq!(log.check().count("turn.ended"), 1);
}

fn run_once() -> Answer {
    Answer::call("bash", json!({"command": "echo once >> ran.txt"}))
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_idle_session_queues_prompts_and_starts_no_turn() {
    for dies in [false, true] {
        let model = Model::start([run_once(), Answer::text("Done.")]);
        let house = house(&model);
        let client = house.client("driver", Role::Drive).await;
        let mut params = house.create("");
        (params.prompt, params.options.on_ask) = (None, Some(OnAsk::Allow));
        let created = client.call::<SessionCreate>(&params).await.expect("create");
        signal(&client, created.pid, Signal::Pause).await;
        let prompt = PromptParams {
            untyped: Vec::new(),
            on_ask: None,
            session: created.pid.to_string(),
            text: "Begin.".into(),
            when: When::Queue,
            credentials: Default::default(),
            env: Default::default(),
            request_id: Some(RequestId::new()),
        };
        client.call::<SessionPrompt>(&prompt).await.expect("prompt");
        paused_until_resumed(&house, &model, created.pid, 0, dies).await;
        model.assert_prefix();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pause_during_a_stream_finishes_the_answer_and_runs_none_of_its_calls() {
    for dies in [false, true] {
        let gate = Gate::new();
        let first = Answer::text("Let me run something for you.")
            .and_call("bash", json!({"command": "echo once >> ran.txt"}));
        let model = Model::start([first.held(Place::Middle, &gate), Answer::text("Done.")]);
        let house = house(&model);
        let client = house.client("driver", Role::Drive).await;
        let pid = create(&house, &client, OnAsk::Allow).await;
        let mut follow = from_the_start(&client, pid).await;
        gate.reached().await;
        signal(&client, pid, Signal::Pause).await;
        gate.open();
        record(&mut follow, "message.assistant", "for you.").await;
        paused_until_resumed(&house, &model, pid, 1, dies).await;
        model.assert_prefix();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pause_during_a_call_lets_the_call_finish_and_sends_no_request() {
    for dies in [false, true] {
        let gate = tests::Gate::command("gate");
        let model = Model::start([
            Answer::call("bash", json!({"command": gate})),
            run_once(),
            Answer::text("Done."),
        ]);
        let house = house(&model);
        let gate = tests::Gate::new(&house, "gate");
        let client = house.client("driver", Role::Drive).await;
        let pid = create(&house, &client, OnAsk::Allow).await;
        let mut follow = from_the_start(&client, pid).await;
        tokio::task::block_in_place(|| gate.wait());
        signal(&client, pid, Signal::Pause).await;
        gate.open();
        record(&mut follow, "message.tool", "through").await;
        paused_until_resumed(&house, &model, pid, 1, dies).await;
        model.assert_prefix();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn session_paused_at_an_approval_accepts_the_answer_and_runs_nothing() {
    for dies in [false, true] {
        let model = Model::start([run_once(), Answer::text("Done.")]);
        let house = house(&model);
        let client = house.client("driver", Role::Drive).await;
        let pid = create(&house, &client, OnAsk::Wait).await;
        let mut follow = from_the_start(&client, pid).await;
        record(&mut follow, "interaction.opened", "once").await;
        signal(&client, pid, Signal::Pause).await;
        let open = &list(&client).await[0];
        answer(&client, &allow_once(open)).await.expect("a yes");
        paused_until_resumed(&house, &model, pid, 1, dies).await;
        model.assert_prefix();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_racing_with_the_end_of_a_turn_leaves_one_turn_end_and_one_exit() {
    const SESSIONS: u64 = 40;
    let house = House::playing(
        &Script::new()
            .says("It is done, in some words.")
            .in_pieces(6, std::time::Duration::from_millis(1)),
    );
    house.daemon();
    let client = house.client("driver", Role::Drive).await;
    let mut chance = Chance::of(7);
    let mut racing = Vec::new();
    for _ in 0..SESSIONS {
        let mut params = house.create("Say it.");
        params.options.kind = Some(proto::state::Kind::Headless);
        let pause = std::time::Duration::from_micros(chance.below(40_000));
        let client = client.clone();
        racing.push(tokio::spawn(async move {
            let created = client.call::<SessionCreate>(&params).await.expect("create");
            let due = std::time::Instant::now() + pause;
            while std::time::Instant::now() < due {
                tests::wait::step().await;
            }
            let kill = SignalParams {
                session: created.pid.to_string(),
                signal: Signal::Kill,
                tree: false,
                request_id: Some(RequestId::new()),
            };
            client.call::<SessionSignal>(&kill).await.expect("signal");
        }));
    }
    for race in racing {
        soon("a session and its kill", race).await.expect("a race");
    }
    until("all sessions to have exited", || {
        house
            .logs()
            .iter()
            .all(|log| log.count("session.exited") > 0)
            .then_some(())
    });
    let mut outcomes = std::collections::BTreeMap::new();
    for log in house.logs() {
        log.check();
        assert_eq!(log.count("session.exited"), 1, "{:?}", log.kinds());
        assert_eq!(log.count("turn.ended"), 1, "{:?}", log.kinds());
        let last = log.lines.last().expect("a record");
        assert_eq!(last.kind, "session.exited", "nothing follows the end");
        let outcome = if last.data.contains("killed") {
            "killed"
        } else {
            "completed"
        };
        *outcomes.entry(outcome).or_insert(0) += 1;
    }
    assert_eq!(outcomes.values().sum::<u64>(), SESSIONS);
}

#[test]
fn signals_reach_all_sessions_with_a_label_and_no_other() {
    let script = Script::new().runs("sleep 4177").says("Never said.");
    let house = House::playing(&script);
    house.daemon();
    for label in ["blue", "blue", "red"] {
        let _ = house
            .reasonix(&[
                "run", "--detach", "--on-ask", "allow", "--label", label, "x",
            ])
            .expect_code(0);
    }
    let _ = house.reasonix(&["pause", "--label", "red"]).expect_code(0);
    let _ = house
        .reasonix(&["kill", "-s", "KILL", "--label", "blue"])
        .expect_code(0);
    let ended = |pid: u64| house.log(Pid(pid)).count("session.exited");
    until("the blue ones to have exited", || {
        (ended(1) == 1 && ended(2) == 1).then_some(())
    });
    let left = house.reasonix(&["ps", "--json"]).expect_code(0).json();
    let left = left["processes"].as_array().expect("processes");
    let left: Vec<_> = left
        .iter()
        .map(|session| (session["pid"].clone(), session["state"].clone()))
        .collect();
    assert_eq!(left, [(json!(3), json!("paused"))]);
    let _ = house.reasonix(&["kill", "-s", "KILL", "3"]).expect_code(0);
    house.log(Pid(3)).check();
}

#[test]
fn interrupt_of_strace_follow_does_not_stop_the_session() {
    let house = House::playing(
        &Script::new()
            .runs(&tests::Gate::command("gate"))
            .says("Done."),
    );
    house.daemon();
    let gate = tests::Gate::new(&house, "gate");
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "work"])
        .expect_code(0);
    gate.wait();
    let looking = house.start(&["strace", "-f", "1"]);
    looking.line("the turn", |line| line.contains("turn 1 start"));
    looking.signal(rustix::process::Signal::INT);
    let _ = looking.done();
    gate.open();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    let traced = house.reasonix(&["strace", "1"]).expect_code(0).out;
    assert!(traced.contains("turn 1 end completed"), "{traced}");
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupts_at_any_moment_leave_a_conversation_that_is_accepted() {
    const TIMES: usize = 50;
    let model = Model::start(testkit::model::Script::by(|request: &Request| {
        let pace = Duration::from_millis(2);
        if request.last()["role"] == "tool" {
            return Answer::text("That is how it is, in some words.").paced(5, pace);
        }
        let call = |part| json!({"command": format!("sleep 0.02; echo {} {part}", request.number)});
        let first = Answer::text("I look.").and_call("bash", call("one"));
        first.and_call("bash", call("two")).paced(9, pace)
    }));
    let house = house(&model);
    let client = house.client("driver", Role::Drive).await;
    let mut params = house.create("");
    (params.prompt, params.options.on_ask) = (None, Some(OnAsk::Allow));
    let created = client.call::<SessionCreate>(&params).await.expect("create");
    let session = created.pid.to_string();
    let one = OneParams {
        session: session.clone(),
    };
    let at_rest = WaitParams {
        session: session.clone(),
        until: Until::Turn,
        timeout_ms: None,
    };
    let mut chance = Chance::of(50);
    for number in 0..=TIMES {
        let prompt = PromptParams {
            untyped: Vec::new(),
            on_ask: None,
            session: session.clone(),
            text: format!("prompt {number}"),
            when: When::Queue,
            credentials: Default::default(),
            env: Default::default(),
            request_id: Some(RequestId::new()),
        };
        client.call::<SessionPrompt>(&prompt).await.expect("prompt");
        let due = Instant::now() + Duration::from_micros(chance.below(150_000));
        // The last one is let come to its end.
        if number < TIMES {
            while Instant::now() < due {
                tests::wait::step().await;
            }
            let stopped = client.call::<SessionInterrupt>(&one).await;
            stopped.expect("interrupt");
        }
        let ended = soon("rest", client.call::<SessionWait>(&at_rest)).await;
        assert!(ended.expect("wait").done);
    }
    model.assert_strict();
    let log = house.log(created.pid);
    let outcomes = log
        .check()
        .bodies()
        .into_iter()
        .filter_map(|body| match body {
            Body::TurnEnded(ended) => Some(ended.outcome),
            _ => None,
        });
    let outcomes: Vec<_> = outcomes.collect();
    assert_eq!(outcomes.last(), Some(&OutcomeKind::Completed));
    let interrupted = outcomes
        .iter()
        .filter(|end| **end == OutcomeKind::Interrupted);
    // How many of them came in time depends on the machine.
    assert!(interrupted.count() >= TIMES / 5, "{outcomes:?}");
    let cut = log
        .results()
        .into_iter()
        .filter(|result| result.status == CallStatus::Interrupted);
    assert!(cut.count() > 0, "some calls were cut off");
}

/// A session with the name `shared`, whose turn another client's run waits for.
struct BusySession {
    house: House,
    model: Model,
    gate: Gate,
    running: Running,
}

impl BusySession {
    fn start() -> Self {
        let gate = Gate::new();
        let model = Model::start([Answer::text("First.").held(Place::Before, &gate)]);
        let house = house(&model);
        let running = house.start(&["run", "--name", "shared", "One."]);
        until("the first request", || gate.is_reached().then_some(()));
        // That did not wait for the disk, from which the name is known.
        until("the name", || {
            let found = house.reasonix(&["queue", "shared"]);
            (found.code() == Some(0)).then_some(())
        });
        Self {
            house,
            model,
            gate,
            running,
        }
    }

    /// Lets the turn end, and checks that nothing has disturbed it.
    fn finish(self) {
        self.gate.open();
        let done = self.running.done().expect_code(0);
        assert_eq!(done.out, "First.\n");
        assert_eq!(self.model.count(), 1, "only the first prompt is sent");
        let waited = self.house.reasonix(&["wait", "shared"]);
        let _ = waited.expect_code(0);
    }
}

#[test]
fn run_whose_prompt_waits_takes_it_back_when_it_is_stopped_and_leaves_the_turn_of_others() {
    for (signal, code) in [(OsSignal::INT, 130), (OsSignal::TERM, 143)] {
        let busy = BusySession::start();
        let waiting = busy.house.start(&["run", "-s", "shared", "Two."]);
        until("the second prompt", || {
            let queue = busy.house.reasonix(&["queue", "shared"]).expect_code(0);
            queue.out.contains("Two.").then_some(())
        });
        waiting.signal(signal);
        let stopped = waiting.done().expect_code(code);
        assert!(
            stopped.err.contains("busy: the prompt waits"),
            "{stopped:?}"
        );
        assert!(stopped.err.contains("removed"), "{stopped:?}");
        busy.finish();
    }
}

#[test]
fn goal_that_waits_ends_when_it_is_stopped_and_leaves_the_turn_of_others() {
    let busy = BusySession::start();
    let waiting = busy.house.start(&["goal", "-s", "shared", "Reach it."]);
    until("the goal", || {
        let status = busy.house.reasonix(&["goal", "status", "shared"]);
        status.out.contains("no turn yet").then_some(())
    });
    waiting.signal(OsSignal::INT);
    let stopped = waiting.done().expect_code(130);
    assert!(stopped.err.contains("busy: the goal waits"), "{stopped:?}");
    busy.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn run_in_a_paused_session_says_what_its_prompt_waits_for() {
    let model = Model::start([Answer::text("Done.")]);
    let house = house(&model);
    let client = house.client("driver", Role::Drive).await;
    let mut params = house.create("");
    params.prompt = None;
    let created = client.call::<SessionCreate>(&params).await.expect("create");
    signal(&client, created.pid, Signal::Pause).await;
    let pid = created.pid.to_string();
    let waiting = house.start(&["run", "-s", &pid, "Begin."]);
    until("the prompt", || {
        let queue = house.reasonix(&["queue", &pid]).expect_code(0);
        queue.out.contains("Begin.").then_some(())
    });
    let _ = house.reasonix(&["resume", &pid]).expect_code(0);
    let done = waiting.done().expect_code(0);
    assert_eq!(done.out, "Done.\n");
    assert!(done.err.contains("is paused: the prompt waits"), "{done:?}");
}
