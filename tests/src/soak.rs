//! Everything at once for a long time, by a seed: sessions with a scripted endpoint (streams, faults, calls with
//! children, questions, compaction), sub-agents, goals, MCP servers, clients and people at terminals that come and go, processes
//! that are killed, and the daemon among them.
//!
//! What the daemon holds is measured all the while. Between the first deaths of the daemon and the last one there is a
//! long life, in which descriptors, threads, children and memory must not grow. At the end every log has a history that
//! can be, `doctor` finds nothing, and no process is left.

mod client;
mod held;
mod person;
mod vendor;

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proto::Body;
use proto::hello::Role;
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::RaiseOnDrop;

use crate::log::Log;
use crate::wait::{BOUND, pace, until, within};
use crate::{Chance, House, Raw};

pub use held::{Resources, flat};

/// The load, and its duration.
#[derive(Clone, Debug)]
pub struct Plan {
    pub time: Duration,
    pub seed: u64,
    /// Between two measurements.
    pub every: Duration,
    /// Sessions at a time; one that has had its prompts makes room for another.
    pub sessions: usize,
    pub clients: u64,
    /// People at terminals.
    pub people: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(1_200),
            seed: 1,
            every: Duration::from_secs(30),
            sessions: 30,
            clients: 15,
            people: 3,
        }
    }
}

/// The outcome of a soak.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub prompts: u64,
    pub answers: u64,
    /// How often a person opened a session in the interface.
    pub visits: u64,
    pub requests: usize,
    /// Processes that were killed, the daemon not among them.
    pub kills: u64,
    pub deaths: u64,
    /// Sessions whose creation a death cut off.
    pub unborn: u64,
    pub sessions: usize,
    pub turns: usize,
    pub compactions: usize,
    pub approvals: usize,
    pub goals: usize,
    pub agents: usize,
    /// Calls of tools of MCP servers.
    pub server_calls: usize,
}

/// What all threads of a soak share.
pub(crate) struct Shared<'a> {
    pub house: &'a House,
    pub stop: AtomicBool,
    /// The sessions in use: pid, and prompts so far.
    pub slots: Mutex<Vec<(u64, u32)>>,
    pub prompts: AtomicU64,
    pub answers: AtomicU64,
    pub visits: AtomicU64,
}

/// When the daemon is killed, in parts of the whole: at the beginning, for recovery, and shortly before the end. A parent
/// starts it again three times a minute at most, so that in a short run it is killed once.
fn deaths(time: Duration) -> &'static [f64] {
    if time < Duration::from_secs(300) {
        &[0.5]
    } else {
        &[0.05, 0.1, 0.15, 0.94]
    }
}

/// Settings: sessions leave memory quickly, go on after a crash, and a stalled stream is over soon.
const SETTINGS: &str = "[daemon]\nrecover = \"continue\"\n[network]\nidle_seconds = 1\n[internal]\nevict_minutes = 0.05\nretry_base_ms = 10\nretry_tries = 4\n";

/// Runs a plan; `report_line` gets a line for each measurement, and a last one.
///
/// # Panics
/// Whatever does not hold.
pub fn run(plan: &Plan, mut report_line: impl FnMut(&str)) -> Report {
    let model = vendor::start(plan.seed);
    let house = House::new();
    house.outlast(plan.time);
    house.settings(SETTINGS);
    house.provider(&vendor::entry(&model));
    house.files(&vendor::files());
    let servers = vendor::servers().to_string();
    std::fs::write(house.home_file("mcp.json"), servers).expect("write the servers");
    house.daemon();
    let shared = Shared {
        house: &house,
        stop: AtomicBool::new(false),
        slots: Mutex::default(),
        prompts: AtomicU64::new(0),
        answers: AtomicU64::new(0),
        visits: AtomicU64::new(0),
    };
    let mut report = Report::default();
    let mut curve = Vec::new();
    std::thread::scope(|scope| {
        // Whatever breaks here, the clients must hear of the end, or they are waited for in vain.
        let _end = RaiseOnDrop(&shared.stop);
        client::fill(&shared, plan.sessions);
        for number in 0..plan.clients {
            let (shared, seed) = (&shared, plan.seed.wrapping_mul(1_000) + number);
            scope.spawn(move || client::live(shared, Chance::of(seed)));
        }
        for number in 0..plan.people {
            let (shared, seed) = (&shared, plan.seed.wrapping_mul(1_000) + 500 + number);
            scope.spawn(move || person::live(shared, Chance::of(seed)));
        }
        (report.kills, report.deaths) = stir(plan, &shared, &mut |begun| {
            model.forget();
            let held = Resources::look(&house, begun);
            report_line(&format!("{held} requests {}", model.count()));
            curve.push(held);
        });
    });
    report.prompts = shared.prompts.load(Ordering::SeqCst);
    report.answers = shared.answers.load(Ordering::SeqCst);
    report.visits = shared.visits.load(Ordering::SeqCst);
    report.requests = model.count();
    rest(&house);
    let held = Resources::look(&house, Duration::ZERO);
    report_line(&format!("at rest: {held}"));
    check(&house, &mut report);
    model.assert_strict();
    report_line(&format!("{report:?}"));
    match flat(&curve) {
        Ok(why) => report_line(&why),
        Err(why) => panic!("{why}"),
    }
    report
}

/// Kills and measures until the time is over: how many processes were killed, and how often the daemon.
fn stir(plan: &Plan, shared: &Shared, measure: &mut impl FnMut(Duration)) -> (u64, u64) {
    let begun = Instant::now();
    let mut chance = Chance::of(plan.seed);
    let mut deaths = deaths(plan.time)
        .iter()
        .map(|part| plan.time.mul_f64(*part));
    let (mut death, mut measured) = (deaths.next(), Duration::ZERO);
    let (mut kills, mut died) = (0, 0);
    let mut due = begun;
    while begun.elapsed() < plan.time {
        due += Duration::from_millis(500);
        pace(due);
        if let Some(victim) = victim(shared.house, &mut chance) {
            victim.signal(Signal::KILL);
            kills += 1;
        }
        if death.is_some_and(|death| begun.elapsed() >= death) {
            shared.house.kill_daemon();
            shared.house.wait_for_daemon();
            died += 1;
            death = deaths.next();
        }
        if begun.elapsed() >= measured + plan.every {
            measured = begun.elapsed();
            measure(measured);
        }
    }
    (kills, died)
}

/// Some process of the house that is neither the daemon nor its parent: a command, its children, a helper, a client.
fn victim(house: &House, chance: &mut Chance) -> Option<crate::processes::Process> {
    let mut all = house.processes();
    all.retain(|process| {
        let mut words = process.command.split(' ');
        let program = words.next().unwrap_or_default();
        !program.ends_with("reasonixd") || words.next() == Some("child")
    });
    let at = chance.index(all.len());
    all.into_iter().nth(at)
}

/// Ends every session, and waits until nothing runs and everything has left memory.
fn rest(house: &House) {
    let mut raw = house.raw_as(Role::Drive);
    until("all sessions to be over", || {
        let listed = raw.call("process.list", &json!({})).expect("list");
        let open = listed["processes"].as_array().expect("processes");
        for session in open {
            let params = json!({"session": session["pid"].to_string(), "signal": "TERM"});
            // One that ends by itself meanwhile does not mind.
            let _ = raw.call("session.signal", &params);
        }
        open.is_empty().then_some(())
    });
    let mut loaded = json!(null);
    let left = within(BOUND, &mut || {
        let status = raw.call("daemon.status", &json!({})).expect("status");
        loaded = status["sessions"].clone();
        (loaded["loaded"] == 0).then_some(())
    });
    if left.is_none() {
        let listed = raw.call("process.list", &json!({"all": true}));
        panic!(
            "sessions stay in memory: {loaded}, {listed:#?}\n{}",
            house.daemon_log()
        );
    }
    until("all other clients to be forgotten", || {
        let status = raw.call("daemon.status", &json!({})).expect("status");
        (status["clients"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
    drop(raw);
}

/// Checks the stored data and adds its counts to the report.
fn check(house: &House, report: &mut Report) {
    let sessions = std::fs::read_dir(house.home().join("sessions")).expect("the sessions");
    for session in sessions.flatten() {
        let path = session.path().join("log.jsonl");
        // Its creation was cut off by the daemon's death, and never acknowledged.
        if std::fs::metadata(&path).is_ok_and(|meta| meta.len() == 0) {
            report.unborn += 1;
            continue;
        }
        let log = Log::read(&path);
        log.check();
        report.sessions += 1;
        report.turns += log.count("turn.ended");
        report.compactions += log.count("cache.reset");
        report.approvals += log.count("interaction.opened");
        report.goals += log.count("goal.started");
        report.agents += usize::from(log.created().agent.is_some());
        let of_server = |body: &Body| match body {
            Body::ToolStarted(started) => started.tool.starts_with("mcp__"),
            _ => false,
        };
        report.server_calls += log.bodies().iter().filter(|body| of_server(body)).count();
    }
    assert!(
        report.unborn <= report.deaths,
        "logs without a record: {report:?}"
    );
    let doctor = house.reasonix(&["doctor", "--json"]);
    let doubts = doubts(&doctor.json());
    assert!(doubts.is_empty(), "{doubts}");
}

/// What `doctor` finds wrong, a line each.
fn doubts(doctor: &Value) -> String {
    let mut lines = String::new();
    for check in doctor["checks"].as_array().into_iter().flatten() {
        if check["status"] == "fail" {
            // Writing to a text cannot fail.
            let _ = writeln!(lines, "{check}");
        }
    }
    lines
}

/// A connection that has said hello; `None`: nobody answers just now.
pub(crate) fn connect(house: &House) -> Option<Raw> {
    let mut raw = Raw::connect(&house.socket()).ok()?;
    let params = crate::raw::hello_params("soak", Role::Drive);
    let hello = raw.try_call("daemon.hello", &params)?;
    hello.is_ok().then_some(raw)
}
