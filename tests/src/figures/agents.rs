//! What a sub-agent costs: its start beside that of a session, and what a hundred of them leave in the daemon.

use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::{Value, json};

use super::Size;
use super::endpoint::{Endpoint, Round};
use super::load;
use super::spent::resident;
use super::table::{Figure, compared, mb, median, plain, row};
use crate::processes::{descriptors, threads};
use crate::wait::{until, within};
use crate::{House, Raw, skip};

/// Sub-agents before the first look: what is made once is there.
const FIRST: usize = 10;

/// How long files may take to be closed, and threads that do nothing to end.
const SETTLED: Duration = Duration::from_secs(30);

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    // An hundredth of a minute: those that have exited leave memory at once.
    house.settings("[internal]\nevict_minutes = 0.01");
    house.provider_config(&endpoint.base_url());
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let session = load::create(&house, &mut raw, "test", None);
    let own = of_sessions(size, &house, &mut raw, &endpoint);
    let agents = of_agents(size.starts, &mut raw, &endpoint, &session);
    let daemon = house.daemon_pid().expect("a daemon");
    let is_root = !skip::unless_root("counting the daemon's descriptors");
    let look = |raw: &mut Raw| {
        until("the sub-agents to leave memory", || {
            let status = raw.call("daemon.status", &json!({})).expect("a status");
            (status["sessions"]["loaded"].as_u64() <= Some(1)).then_some(())
        });
        let open = is_root.then(|| descriptors(daemon));
        (resident(daemon), open, threads(daemon))
    };
    of_agents(FIRST, &mut raw, &endpoint, &session);
    let early = look(&mut raw);
    of_agents(size.agents, &mut raw, &endpoint, &session);
    let mut late = look(&mut raw);
    // What has just ended closes its files a moment later, and threads without work end by and by.
    let _ = within(SETTLED, &mut || {
        late = look(&mut raw);
        (late.1 <= early.1 && late.2 <= early.2).then_some(())
    });
    let (memory, descriptors, threads) = late;
    vec![
        row(
            "a sub-agent: the answer with its call → its request (floor: a session's creation → its request)",
            agents,
            own,
            "15 ms",
        ),
        compared(
            "resident memory after 100 more sub-agents of a session (floor: before)",
            [memory as f64, early.0 as f64],
            mb,
            "1.2 ×",
        ),
        plain(
            "… descriptors that are left of them",
            match (descriptors, early.1) {
                (Some(late), Some(early)) => late.saturating_sub(early).to_string(),
                _ => "–".to_owned(),
            },
            "0",
        ),
        plain(
            "… threads that are left of them",
            threads.saturating_sub(early.2).to_string(),
            "0",
        ),
    ]
}

/// The median from a session's creation to its first request.
fn of_sessions(size: Size, house: &House, raw: &mut Raw, endpoint: &Endpoint) -> Duration {
    let starts = (0..size.starts).map(|_| {
        endpoint.play(vec![Round::Words(4)]);
        let begun = Instant::now();
        let session = load::create(house, raw, "test", Some("speak"));
        raw.call("session.wait", &json!({"session": session}))
            .expect("wait");
        raw.call("session.close", &json!({"session": session}))
            .expect("close");
        endpoint.exchanges()[0].arrived.duration_since(begun)
    });
    median(starts.collect())
}

/// The median from an answer with a call of a sub-agent to that agent's first request, of so many in a turn.
fn of_agents(count: usize, raw: &mut Raw, endpoint: &Endpoint, session: &Value) -> Duration {
    let mut script = Vec::new();
    for number in 0..count {
        // The same call again and again would be a loop.
        let words = format!("speak, part {number}");
        let task = json!({"agent": "general", "prompt": words, "description": "speaks"});
        script.push(Round::Calls(vec![("task", task)]));
        script.push(Round::Words(4));
    }
    script.push(Round::Words(4));
    endpoint.play(script);
    load::prompt(raw, session, "go on");
    // Every second request is an agent's.
    median(endpoint.gaps().into_iter().step_by(2).collect())
}
