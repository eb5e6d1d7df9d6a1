//! Many sessions on one key, and a vendor that asks to wait: they wait together, one looks, and all come to their turn.
//! Who waits too long fails.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::methods::{SessionCreate, SessionWait};
use proto::params::session::{Until, WaitParams};
use proto::state::{Kind, OnAsk};
use serde_json::json;
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script};
use tests::{House, soon, until};
use tokio::task::JoinSet;

use crate::scripted::{RunOutput, run};

const SESSIONS: usize = 40;
/// How many times the vendor asks to wait, and how long.
const RATE_LIMITS: usize = 3;
const WAIT: Duration = Duration::from_secs(1);
/// Requests at a time.
const LIMIT: usize = 8;

/// The vendor's side: its refusals and the requests that it got.
#[derive(Default)]
struct Vendor {
    /// The end of the current rate limit, and how many rate limits there were.
    until: Option<Instant>,
    rate_limits: usize,
    /// Requests that began a rate limit or came during one.
    refused: usize,
    /// Answers in their order: whether it was the session's first.
    firsts: Vec<bool>,
}

impl Vendor {
    fn answer(&mut self, request: &Request) -> Answer {
        let now = Instant::now();
        if self.until.is_some_and(|until| now < until) {
            self.refused += 1;
            return refusal();
        }
        // Refuses the first request, and later the probe.
        if self.rate_limits < RATE_LIMITS {
            self.rate_limits += 1;
            self.refused += 1;
            self.until = Some(now + WAIT - Duration::from_millis(50));
            return refusal();
        }
        let first = request.answered() == 0;
        self.firsts.push(first);
        if first {
            return Answer::call("ls", json!({"path": "."}));
        }
        Answer::text("There.")
    }
}

fn refusal() -> Answer {
    Answer::text("").fault(Fault::rate_limit("1"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_sessions_wait_out_rate_limits_together_and_all_are_served() {
    let seen = Arc::new(Mutex::new(Vendor::default()));
    let vendor = Arc::clone(&seen);
    let model = Model::start(Script::by(move |request| {
        vendor.lock().expect("a lock").answer(request)
    }));
    let house = House::new();
    let entry = model.entry("vendor", Some("VENDOR_KEY"));
    house.provider(&format!("{entry}max_concurrent = {LIMIT}\n"));
    house.daemon_with(&[("VENDOR_KEY", "key-of-the-vendor".as_ref())]);
    let client = house.client("driver", Role::Drive).await;
    let begun = Instant::now();
    let mut sessions = JoinSet::new();
    for number in 0..SESSIONS {
        let (client, mut params) = (client.clone(), house.create(&format!("prompt {number}")));
        (params.options.kind, params.options.on_ask) = (Some(Kind::Headless), Some(OnAsk::Allow));
        sessions.spawn(async move {
            let created = client.call::<SessionCreate>(&params).await.expect("create");
            let wait = WaitParams {
                session: created.pid.to_string(),
                until: Until::Exit,
                timeout_ms: None,
            };
            let waited = client.call::<SessionWait>(&wait).await.expect("wait");
            (waited.exit_code, begun.elapsed())
        });
    }
    // `ps` shows why the sessions wait.
    until("`ps` to show the wait", || {
        let listed = house.reasonix(&["ps", "--json"]).out;
        let expected = ["vendor asks to wait, ", " sessions are ahead of this one"];
        expected
            .iter()
            .all(|words| listed.contains(words))
            .then_some(())
    });
    let ended = soon("all sessions", sessions.join_all()).await;
    let seen = seen.lock().expect("a lock");
    assert!(ended.iter().all(|(code, _)| *code == 0), "{ended:?}");
    assert_eq!(seen.firsts.len(), SESSIONS * 2);
    // No session gets two answers before every session has one. Exceptions: probes that were refused and tried again.
    let early = seen.firsts[..SESSIONS].iter().filter(|first| **first);
    assert!(early.count() >= SESSIONS - RATE_LIMITS, "{:?}", seen.firsts);
    // Nobody asks while the gate is closed: the first rate limit refuses all requests in flight, and each later one
    // refuses only the probe.
    assert!(
        seen.refused < LIMIT + RATE_LIMITS,
        "{} requests were refused",
        seen.refused
    );
    let first = ended.iter().map(|(_, at)| *at).min().expect("sessions");
    assert!(first >= WAIT * 2, "{first:?}");
    model.assert_strict();
}

#[test]
fn request_queued_too_long_fails_without_being_queued_again() {
    let gate = Gate::new();
    let model = Model::start([Answer::text("Slow.").held(Place::Before, &gate)]);
    let house = House::new();
    house.settings("[internal]\nqueue_seconds = 1");
    let entry = model.entry("model", None);
    house.provider(&format!("{entry}max_concurrent = 1\n"));
    house.daemon();
    let first = house.start(&["run", "--output-format", "jsonl", "first"]);
    until("the first request", || gate.is_reached().then_some(()));
    let begun = Instant::now();
    let second = run(&house, &[], "second").expect(1, "failed");
    assert!(begun.elapsed() < Duration::from_secs(15), "it waited once");
    let error = &second.result["error"];
    let message = error["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("not sent within 1 s") && message.contains("(1) is reached"),
        "{error}"
    );
    assert_eq!(error["tries"], 0, "it was no try");
    let waits = second.all("session.state");
    let waits = waits.iter().filter(|state| state["state"] == "waiting");
    assert_eq!(waits.count(), 1);
    gate.open();
    RunOutput::of(&first.done()).expect(0, "completed");
    assert_eq!(model.count(), 1);
}

#[test]
fn single_failures_after_a_refusal_do_not_close_the_gate_for_longer_and_longer() {
    let mut requests = 0;
    let model = Model::start(Script::by(move |_: &Request| {
        requests += 1;
        match requests {
            1 => refusal(),
            number if number % 2 == 1 => Answer::text("").fault(Fault::status(500)),
            _ => Answer::text("Good."),
        }
    }));
    let house = House::new();
    house.settings("[internal]\nretry_base_ms = 10\nretry_tries = 4\n");
    house.provider(&model.entry("model", None));
    house.daemon();
    let pid = run(&house, &[], "One.").expect(0, "completed").pid();
    for _ in 0..7 {
        let ran = run(&house, &["-s", &pid], "Again.").expect(0, "completed");
        let waits = ran
            .all("session.state")
            .into_iter()
            .filter_map(|state| state["retry_in_ms"].as_u64());
        let longest = waits.max().unwrap_or(0);
        assert!(
            longest < 500,
            "a failure between two successes: {longest} ms"
        );
    }
}
