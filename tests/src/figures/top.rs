//! What `reasonix top` costs, and how soon it shows a change, in a terminal of its own.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Size;
use super::endpoint::Endpoint;
use super::interface::{FRAME, house};
use super::spent::processor_time;
use super::table::{Figure, compared, median, row};
use crate::Terminal;

/// Sessions that are listed, and rows for all of them.
const SESSIONS: usize = 50;
const ROWS: u16 = 70;
const COLUMNS: u16 = 120;

/// From one change to the next: ten a second.
const EVERY: Duration = Duration::from_millis(100);

/// All rows.
///
/// # Panics
/// A change is not drawn: a share of a core says nothing of an interface that does not draw.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let (house, mut raw) = house(&endpoint);
    let mut params = house.create("");
    params.prompt = None;
    params.options.model = Some("test".to_owned());
    let sessions: Vec<Value> = (0..size.crowd.min(SESSIONS))
        .map(|_| {
            params.session = proto::SessionId::new();
            let params = serde_json::to_value(&params).expect("JSON");
            raw.call("session.create", &params).expect("create")["session"].clone()
        })
        .collect();
    let terminal = Terminal::reasonix(&house, &["top"], COLUMNS, ROWS);
    terminal.wait_text(&format!("sessions {}", sessions.len()));
    let written = terminal.written();
    let daemon = house.daemon_pid().expect("a daemon");
    let before = [processor_time(terminal.id()), processor_time(daemon)];
    let begun = Instant::now();
    let (mut shown, mut listed) = (Vec::new(), Vec::new());
    let changes = size.starts * 4;
    for (number, session) in sessions.iter().cycle().take(changes).enumerate() {
        let name = format!("renamed_{number}_");
        let changed = Instant::now();
        let set = json!({"session": session, "name": name});
        raw.call("session.set", &set).expect("set");
        let there = terminal.wait_text(&name);
        shown.push(there.saturating_duration_since(changed));
        let asked = Instant::now();
        raw.call("process.list", &json!({})).expect("list");
        listed.push(asked.elapsed());
        // The pace of the load, not a wait for something.
        std::thread::sleep(EVERY.saturating_sub(changed.elapsed()));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let after = [processor_time(terminal.id()), processor_time(daemon)];
    let bytes = terminal.raw_bytes();
    let bytes = bytes.get(written..).unwrap_or_default();
    let frames = bytes.windows(FRAME.len()).filter(|part| *part == FRAME);
    assert!(frames.count() >= changes, "a frame for each change");
    let shares = [0, 1].map(|which: usize| (after[which] - before[which]) / seconds);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    vec![
        row(
            "a change of one of 50 sessions → its row in `top` (floor: `process.list`)",
            median(shown),
            median(listed),
            "500 ms",
        ),
        compared(
            "… the interface's share of a core, at ten changes a second (floor: the daemon's)",
            shares,
            percent,
            "3 %",
        ),
    ]
}
