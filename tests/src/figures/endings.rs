//! How long an end takes: of a killed session with its processes, of an interrupted command, of a client.

use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::state::OnAsk;
use serde_json::{Value, json};
use testkit::Script;

use super::Size;
use super::table::{Figure, median, ms, plain};
use crate::processes::saying;
use crate::{House, Raw, Terminal, until};

/// A number of seconds that nobody else sleeps.
const NAP: &str = "4393.25";

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let rounds = size.rounds.min(15);
    let tree = format!("trap '' TERM; setsid sleep {NAP} & sleep {NAP}; :");
    let hears = format!("sleep {NAP} & sleep {NAP}");
    let killed = |raw: &mut Raw, session: &Value| {
        signal(raw, session, "KILL");
    };
    let interrupted = |raw: &mut Raw, session: &Value| {
        raw.call("session.interrupt", &json!({"session": session}))
            .expect("interrupt");
    };
    vec![
        shown(
            "KILL of a session → its tree is gone, also what is deaf",
            gone(rounds, &tree, killed),
            "1 s",
        ),
        shown(
            "interrupt → a command that hears it is gone with its child",
            gone(rounds, &hears, interrupted),
            "300 ms",
        ),
        shown(
            "Ctrl-C twice in a turn → the interface has ended",
            left(rounds, &hears),
            "1 s",
        ),
    ]
}

fn shown(what: &'static str, took: Vec<Duration>, budget: &'static str) -> Figure {
    plain(what, ms(median(took).as_secs_f64()), budget)
}

fn signal(raw: &mut Raw, session: &Value, signal: &str) {
    raw.call(
        "session.signal",
        &json!({"session": session, "signal": signal}),
    )
    .expect("a signal");
}

fn house(command: &str) -> (House, Raw) {
    let house = House::playing(&Script::new().runs(command).says("Never said."));
    house.daemon();
    let raw = house.raw_as(Role::Drive);
    (house, raw)
}

/// A session whose command runs, with both its processes.
fn begin(house: &House, raw: &mut Raw) -> Value {
    let mut params = house.create("work");
    params.options.on_ask = Some(OnAsk::Allow);
    let params = serde_json::to_value(params).expect("JSON");
    let created = raw.call("session.create", &params).expect("create");
    until("the command", || (sleepers() == 2).then_some(()));
    json!(created["pid"].to_string())
}

fn sleepers() -> usize {
    let wanted = format!("sleep {NAP}");
    let found = saying(&wanted).into_iter();
    found.filter(|process| process.command == wanted).count()
}

fn gone(rounds: usize, command: &str, end: impl Fn(&mut Raw, &Value)) -> Vec<Duration> {
    let (house, mut raw) = house(command);
    let took = (0..rounds).map(|_| {
        let session = begin(&house, &mut raw);
        let begun = Instant::now();
        end(&mut raw, &session);
        until("its processes to be gone", || {
            (sleepers() == 0).then_some(())
        });
        begun.elapsed()
    });
    took.collect()
}

fn left(rounds: usize, command: &str) -> Vec<Duration> {
    let (house, mut raw) = house(command);
    let took = (0..rounds).map(|_| {
        let session = begin(&house, &mut raw);
        let pid = session.as_str().expect("a pid");
        let mut terminal = Terminal::reasonix(&house, &["attach", pid], 80, 24);
        terminal.wait_text(NAP);
        let begun = Instant::now();
        terminal.press_all(&["ctrl-c", "ctrl-c"]);
        assert_eq!(terminal.exit_code(), 130);
        let took = begun.elapsed();
        signal(&mut raw, &session, "KILL");
        until("its processes to be gone", || {
            (sleepers() == 0).then_some(())
        });
        took
    });
    took.collect()
}
