//! Random requests of several clients, by a seed: for any requests in any order, the log is consistent,
//! everybody sees the same, and nothing is left.

use proto::hello::Role;
use proto::state::State;
use proto::{Body, ErrorName, Failure};
use serde_json::{Value, json};
use testkit::Script;
use tests::interactions::{raw_decide, raw_list};
use tests::{House, Raw, until};

/// Operations of one run.
const STEPS: usize = 120;

/// A small generator of numbers: the same seed, the same run.
pub struct SimRng(pub u64);

impl SimRng {
    pub fn roll(&mut self, sides: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % sides as u64).unwrap_or(0)
    }
}

/// Errors that a request may get.
fn is_expected(failure: &Failure) -> bool {
    matches!(
        failure.name,
        ErrorName::Busy
            | ErrorName::AlreadyResolved
            | ErrorName::NotFound
            | ErrorName::Stale
            | ErrorName::InvalidParams
            | ErrorName::CursorStale
    )
}

/// One random request of a client about one of the sessions.
fn random_request(
    dice: &mut SimRng,
    raw: &mut Raw,
    session: u64,
) -> (&'static str, Result<Value, Failure>) {
    let name = session.to_string();
    let signal = ["INT", "TERM", "KILL"][dice.roll(3)];
    let when = ["now", "queue", "steer"][dice.roll(3)];
    let approval_mode = ["ask", "auto", "yolo"][dice.roll(3)];
    let (method, params) = match dice.roll(14) {
        0..=4 => (
            "session.prompt",
            json!({"session": name, "text": "go on", "when": when}),
        ),
        5 => ("session.interrupt", json!({"session": name})),
        6 => ("session.signal", json!({"session": name, "signal": signal})),
        7 => ("session.close", json!({"session": name})),
        8 => (
            "session.set",
            json!({"session": name, "approval_mode": approval_mode}),
        ),
        9..=11 => return ("interaction.answer", answer(dice, raw)),
        12 => ("session.unqueue", unqueue(raw, &name)),
        _ => (
            "session.wait",
            json!({"session": name, "timeout_ms": dice.roll(20)}),
        ),
    };
    (method, raw.call(method, &params))
}

/// Answers an open approval, if there is one; sometimes with the wrong hash.
fn answer(dice: &mut SimRng, raw: &mut Raw) -> Result<Value, Failure> {
    let open = raw_list(raw);
    let Some(interaction) = open.get(dice.roll(3)) else {
        return Ok(Value::Null);
    };
    let is_stale = dice.roll(5) == 0;
    let decision = ["allow_once", "allow_session", "deny"][dice.roll(3)];
    let mut params = raw_decide(interaction, decision);
    if is_stale {
        params["shown_hash"] = json!("0");
    }
    raw.call("interaction.answer", &params)
}

/// The id of some prompt of this session's past, which may still wait.
fn unqueue(raw: &mut Raw, session: &str) -> Value {
    let page = raw
        .call("session.read", &json!({"session": session, "from_seq": 1}))
        .unwrap_or_default();
    let events = page["events"].as_array().cloned().unwrap_or_default();
    let prompt = events
        .iter()
        .rfind(|event| event["kind"] == "prompt.queued");
    json!({"session": session, "prompt_id": prompt.map(|event| event["data"]["prompt_id"].clone())})
}

/// Plays a seed; with `kills`, the daemon dies now and then.
fn play(seed: u64, kills: bool) {
    let mut script = Script::new();
    for number in 0..200 {
        script = match number % 5 {
            0 => script.runs(&format!("touch file{number}")),
            1 => script
                .runs("echo hello")
                .in_pieces(3, std::time::Duration::from_millis(1)),
            2 => script.calls_all(&[
                ("bash", json!({"command": "ls"})),
                ("bash", json!({"command": "touch more"})),
                ("bash", json!({"command": "pwd"})),
            ]),
            3 => script
                .says("That was that, said in a few words.")
                .in_pieces(5, std::time::Duration::from_millis(1)),
            _ => script.runs("sleep 0.05"),
        };
    }
    let house = House::playing(&script);
    house.daemon();
    let mut dice = SimRng(seed);
    let mut clients: Vec<Raw> = (0..3).map(|_| house.raw_as(Role::Drive)).collect();
    for _ in 0..3 {
        let params = json!({"session": proto::SessionId::new(), "cwd": house.project(), "env": house.tool_environment()});
        clients[0].call("session.create", &params).expect("create");
    }
    let mut pids: Vec<u64> = house.logs().iter().map(|log| log.pid().0).collect();
    pids.dedup();
    for step in 0..STEPS {
        if kills && step % 40 == 39 {
            house.kill_daemon_and_parent();
            house.daemon();
            clients = (0..3).map(|_| house.raw_as(Role::Drive)).collect();
        }
        let (client, pid) = (dice.roll(3), pids[dice.roll(pids.len())]);
        let (method, answered) = random_request(&mut dice, &mut clients[client], pid);
        if let Err(failure) = answered {
            assert!(
                is_expected(&failure),
                "seed {seed}, step {step}, {method}: {failure:?}"
            );
        }
    }
    // Everything that still runs or waits is stopped, with its queue.
    let raw = &mut clients[0];
    until("all sessions to be at rest", || {
        let listed = raw.call("process.list", &json!({})).expect("list");
        let busy: Vec<u64> = listed["processes"]
            .as_array()
            .expect("processes")
            .iter()
            .filter(|session| session["state"] != "idle" || session["queued"] != 0)
            .filter_map(|session| session["pid"].as_u64())
            .collect();
        for pid in &busy {
            let _ = raw.call(
                "session.signal",
                &json!({"session": pid.to_string(), "signal": "TERM"}),
            );
        }
        busy.is_empty().then_some(())
    });
    for log in house.logs() {
        log.check();
        let summary = raw
            .call("session.get", &json!({"session": log.pid().0.to_string()}))
            .expect("get");
        let reported: State = serde_json::from_value(summary["state"].clone()).expect("a state");
        assert_eq!(
            reported,
            last_state(&log.bodies()),
            "seed {seed}: the listing says what the log says"
        );
        assert_eq!(summary["seq"], json!(log.lines.len()), "seed {seed}");
        let mut replay = house.raw_as(Role::Watch);
        replay
            .call(
                "session.attach",
                &json!({"session": log.pid().0.to_string(), "subscription": "all", "after_seq": 0}),
            )
            .expect("attach");
        for line in &log.lines {
            let event = replay.event()["event"].take();
            assert_eq!(
                (&event["seq"], &event["kind"]),
                (&json!(line.seq), &json!(line.kind)),
                "seed {seed}"
            );
        }
    }
}

/// The state that the records lead to.
fn last_state(bodies: &[Body]) -> State {
    let mut states = bodies.iter().rev().filter_map(|body| match body {
        Body::SessionState(state) => Some(state.state),
        Body::SessionExited(_) => Some(State::Exited),
        Body::SessionReopened(_) => Some(State::Idle),
        _ => None,
    });
    states.next().unwrap_or(State::Idle)
}

/// More of them: `REASONIX_SIM_SEEDS=100 cargo test -p tests --test it sim`.
fn seeds() -> u64 {
    std::env::var("REASONIX_SIM_SEEDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2)
}

#[test]
fn random_requests_of_three_clients_leave_valid_logs() {
    for seed in 0..seeds() {
        play(seed, false);
    }
}

#[test]
fn random_requests_across_daemon_restarts_leave_valid_logs() {
    for seed in 1_000..1_000 + seeds() {
        play(seed, true);
    }
}
