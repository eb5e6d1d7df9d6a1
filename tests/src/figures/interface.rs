//! Is the interface quick? Keys, streams, the first frame and the way to another session, in a terminal of its own.
//!
//! A time is from the moment at which a key's byte (or the process) was sent off until the bytes that show its frame are
//! here; how long the emulator takes to make a screen of them is in it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::{Value, json};

use super::endpoint::{Endpoint, LAST, Round};
use super::spent::processor_time;
use super::table::{Figure, compared, median, p95, plain, row};
use super::{Size, load};
use crate::{House, Raw, Terminal, until};

const COLUMNS: u16 = 120;
const ROWS: u16 = 50;

/// Answers that make up a long transcript. Few: the interface begins with the newest 400 records.
const ANSWERS: usize = 40;

/// Records that the interface begins with.
const BACKLOG: usize = 400;

/// Letters that are typed until the line is emptied.
const LINE: usize = 40;

/// Page up, as terminals send it.
const PAGE_UP: &[u8] = b"\x1b[5~";

/// Two hundred tokens a second.
const EVERY: Duration = Duration::from_millis(5);

/// Who has had no processor for so long does nothing.
const IDLE: Duration = Duration::from_millis(200);

/// Keys count so long after a question has appeared.
const READ: Duration = Duration::from_millis(350);

/// What begins a frame.
pub(super) const FRAME: &[u8] = b"\x1b[?2026h";

/// All rows of the interface.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = &Endpoint::start();
    let mut figures = starts(size, endpoint);
    figures.push(switches(size, endpoint));
    figures.push(closes(size, endpoint));
    figures.push(modes(size, endpoint));
    figures.extend(stream(size, endpoint));
    figures.extend(keys(size, endpoint));
    figures
}

/// A house with a daemon, and a way to make sessions in it.
pub(super) fn house(endpoint: &Endpoint) -> (House, Raw) {
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    house.settings("[tui]\ntheme = \"dark\"\n");
    house.daemon();
    let raw = house.raw_as(Role::Drive);
    (house, raw)
}

/// A session that one prompt was answered in; its number.
fn begin(house: &House, raw: &mut Raw) -> String {
    let mut params = house.create("");
    params.prompt = None;
    params.options.model = Some("test".to_owned());
    let params = serde_json::to_value(params).expect("JSON");
    let created = raw.call("session.create", &params).expect("create");
    load::prompt(raw, &created["session"], "go on");
    created["pid"].to_string()
}

/// The interface of a session.
fn attach(house: &House, pid: &str, more: &[&str]) -> Terminal {
    let arguments = [&["attach", pid], more].concat();
    Terminal::reasonix(house, &arguments, COLUMNS, ROWS)
}

/// Whether there is a line for prompts, and nothing in it.
fn at_rest(screen: &str) -> bool {
    screen
        .lines()
        .any(|row| row.starts_with("> ") && row.contains("`/`"))
}

/// Process start → first frame, with nothing to show and with a session.
fn starts(size: Size, endpoint: &Endpoint) -> Vec<Figure> {
    let (house, mut raw) = house(endpoint);
    endpoint.play(vec![Round::Lines(40)]);
    let pid = begin(&house, &mut raw);
    let (mut floors, mut bare, mut attached) = (Vec::new(), Vec::new(), Vec::new());
    // In turn, so that whatever else the machine does falls on all.
    for _ in 0..size.starts {
        let begun = Instant::now();
        let mut version = house.command(&["--version"]);
        let status = version.stdout(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.success()), "a version");
        floors.push(begun.elapsed());
        for (arguments, times) in [
            (vec![], &mut bare),
            (vec!["attach", pid.as_str()], &mut attached),
        ] {
            let begun = Instant::now();
            let terminal = Terminal::reasonix(&house, &arguments, COLUMNS, ROWS);
            let first = terminal.wait_for("a first frame", at_rest);
            times.push(first.saturating_duration_since(begun));
        }
    }
    let floor = median(floors);
    vec![
        row(
            "`reasonix` → first frame, daemon warm (floor: `--version`)",
            median(bare),
            floor,
            "50 ms",
        ),
        row(
            "`reasonix attach` → first frame (floor: `--version`)",
            median(attached),
            floor,
            "50 ms",
        ),
    ]
}

/// From one live session to the next through the list, and back.
fn switches(size: Size, endpoint: &Endpoint) -> Figure {
    let (house, mut raw) = house(endpoint);
    endpoint.play(vec![Round::Lines(9); 3]);
    let first = begin(&house, &mut raw);
    begin(&house, &mut raw);
    begin(&house, &mut raw);
    let terminal = attach(&house, &first, &[]);
    terminal.wait_text(LAST);
    let mut shown = newest(&terminal.screen()).expect("words of the first session");
    let mut times = Vec::new();
    // The list marks the newest session that is not the one here: from the first to the second, to the third, and back.
    let keys: [&[&str]; 3] = [&["down", "enter"], &["enter"], &["down", "enter"]];
    for keys in keys.iter().cycle().take(size.starts.max(3)) {
        let begun = Instant::now();
        terminal.press("ctrl-p");
        // Keys that come before the sessions would find none.
        terminal.wait_text("▸");
        terminal.press_all(keys);
        let there = terminal.wait_for("the words of another session", |screen| {
            at_rest(screen) && newest(screen).is_some_and(|words| words != shown)
        });
        times.push(there.saturating_duration_since(begun));
        shown = newest(&terminal.screen()).expect("words of a session");
    }
    row(
        "to another live session: Ctrl-P, Down, Enter (floor: a key)",
        median(times),
        median(echo(size)),
        "100 ms",
    )
}

/// From the key that answers a question in one interface until it has left the screen of another one.
fn closes(size: Size, endpoint: &Endpoint) -> Figure {
    const OPEN: &str = "y yes";
    let questions = size.rounds.min(24);
    let (house, mut raw) = house(endpoint);
    let mut script = vec![Round::Asks; questions];
    script.push(Round::Words(1));
    endpoint.play(script);
    let mut params = house.create("ask me");
    params.options.model = Some("test".to_owned());
    let params = serde_json::to_value(params).expect("JSON");
    let created = raw.call("session.create", &params).expect("create");
    let pid = created["pid"].to_string();
    let (one, two) = (attach(&house, &pid, &[]), attach(&house, &pid, &[]));
    // The floor: a client that only listens.
    let listen = json!({"session": pid, "subscription": "bare", "after_seq": 0, "ephemeral": true});
    raw.call("session.attach", &listen).expect("attach");
    let (mut closed, mut notified) = (Vec::new(), Vec::new());
    for number in 0..questions {
        let asks =
            |screen: &str| screen.contains(&format!("asked_{number}")) && screen.contains(OPEN);
        let next = format!("asked_{}", number + 1);
        for terminal in [&one, &two] {
            terminal.wait_for("the question", asks);
        }
        // Keys that come before a person can have read it are no answer.
        assert!(one.quiet(READ), "a question is at rest");
        let begun = Instant::now();
        one.press("y");
        while raw.event()["event"]["kind"] != "interaction.resolved" {}
        notified.push(begun.elapsed());
        let gone = two.wait_for("an answer from elsewhere", |screen| {
            !screen.contains(OPEN) || screen.contains(&next)
        });
        closed.push(gone.saturating_duration_since(begun));
    }
    row(
        "a question answered in one interface → gone from another (floor: a bare client is notified)",
        median(closed),
        median(notified),
        "100 ms",
    )
}

/// From the change of a session's mode by another client until it is in the status line.
fn modes(size: Size, endpoint: &Endpoint) -> Figure {
    let (house, mut raw) = house(endpoint);
    endpoint.play(vec![Round::Lines(9)]);
    let pid = begin(&house, &mut raw);
    let terminal = attach(&house, &pid, &[]);
    terminal.wait_for("rest", |screen| screen.contains(LAST) && at_rest(screen));
    // The floor: a client that only listens.
    let listen = json!({"session": pid, "subscription": "bare", "after_seq": 0, "ephemeral": true});
    raw.call("session.attach", &listen).expect("attach");
    let is_planning = |screen: &str| matches!(screen.trim_end().lines().last(), Some(row) if row.contains("plan"));
    let (mut shown, mut notified) = (Vec::new(), Vec::new());
    for mode in ["plan", "normal"].iter().cycle().take(size.rounds.min(24)) {
        wait_idle(&terminal);
        let begun = Instant::now();
        raw.call("session.set", &json!({"session": pid, "mode": mode}))
            .expect("a mode");
        while raw.event()["event"]["kind"] != "session.set" {}
        notified.push(begun.elapsed());
        let there = terminal.wait_for("another mode", |screen| {
            is_planning(screen) == (*mode == "plan")
        });
        shown.push(there.saturating_duration_since(begun));
    }
    row(
        "another mode of the session → in its status line (floor: a bare client is notified)",
        median(shown),
        median(notified),
        "100 ms",
    )
}

/// Which of the sessions spoke last on this screen.
fn newest(screen: &str) -> Option<String> {
    let mut rows = screen.lines().rev();
    rows.find(|row| row.contains(" of answer "))
        .map(str::to_owned)
}

/// What a stream at a usual pace costs the interface, and the line mode beside it.
fn stream(size: Size, endpoint: &Endpoint) -> Vec<Figure> {
    let tokens = size.tokens / 20;
    let (house, mut raw) = house(endpoint);
    endpoint.play(vec![Round::Lines(40)]);
    let pid = begin(&house, &mut raw);
    let terminal = attach(&house, &pid, &[]);
    terminal.wait_for("rest", |screen| screen.contains(LAST) && at_rest(screen));
    let lines = attach(&house, &pid, &["--plain"]);
    lines.wait_scrolled(LAST);
    wait_idle(&terminal);
    endpoint.play(vec![Round::Paced {
        tokens,
        every: EVERY,
    }]);
    let written = terminal.written();
    let before = [processor_time(terminal.id()), processor_time(lines.id())];
    let begun = Instant::now();
    load::prompt(&mut raw, &json!(pid), "go on");
    let last = format!("word{} ", tokens - 2);
    for terminal in [&terminal, &lines] {
        terminal.wait_for("the end of the answer", |screen| {
            screen.contains(last.trim_end()) && screen.contains(LAST)
        });
    }
    terminal.wait_for("rest", at_rest);
    let seconds = begun.elapsed().as_secs_f64();
    let after = [processor_time(terminal.id()), processor_time(lines.id())];
    let shares = [0, 1].map(|which: usize| (after[which] - before[which]) / seconds);
    let bytes = terminal.raw_bytes();
    let bytes = bytes.get(written..).unwrap_or_default();
    let frames = bytes.windows(FRAME.len()).filter(|part| *part == FRAME);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let per_second = |count: usize| count as f64 / seconds;
    vec![
        compared(
            "200 tokens a second: the interface's share of a core (floor: `attach --plain`)",
            shares,
            percent,
            "5 %",
        ),
        plain(
            "… frames written",
            format!("{:.1}/s", per_second(frames.count())),
            "30/s",
        ),
        plain(
            "… bytes written",
            format!("{:.1} KB/s", per_second(bytes.len()) / 1e3),
            "–",
        ),
    ]
}

/// Waits until the interface is ready and does nothing: its background loading at start is finished.
fn wait_idle(terminal: &Terminal) {
    let mut seen = (processor_time(terminal.id()), Instant::now());
    until("the interface to do nothing", || {
        let now = processor_time(terminal.id());
        if now > seen.0 {
            seen = (now, Instant::now());
        }
        (seen.1.elapsed() >= IDLE).then_some(())
    });
}

/// Keys in a session with a long transcript, and how long it takes until that is there.
fn keys(size: Size, endpoint: &Endpoint) -> Vec<Figure> {
    let (house, mut raw) = house(endpoint);
    endpoint.play(vec![Round::Lines(size.lines / ANSWERS); ANSWERS]);
    let pid = begin(&house, &mut raw);
    for _ in 1..ANSWERS {
        load::prompt(&mut raw, &Value::from(pid.as_str()), "go on");
    }
    let records = house.logs()[0].bodies().len();
    assert!(
        records <= BACKLOG,
        "{records} records: too many to be shown"
    );
    let floor = echo(size);
    let (floor, floor_p95) = (median(floor.clone()), p95(floor));
    let mut figures = Vec::new();
    let mut opened = Vec::new();
    let last = format!(" of answer {}", ANSWERS - 1);
    for (mode, what, what_p95) in [
        (
            "--inline",
            "100,000 lines: key → frame, inline, p50 (floor: `cat`)",
            "… p95",
        ),
        (
            "--fullscreen",
            "100,000 lines: key → frame, full screen, p50 (floor: `cat`)",
            "… p95",
        ),
    ] {
        let begun = Instant::now();
        let terminal = attach(&house, &pid, &[mode]);
        let there = terminal.wait_for("the end of the transcript", |screen| {
            screen.contains(&last) && screen.contains(LAST) && at_rest(screen)
        });
        opened.push(there.saturating_duration_since(begun));
        wait_idle(&terminal);
        let times = type_letters(&terminal, size.keys, "> ");
        figures.push(row(what, median(times.clone()), floor, "16 ms"));
        figures.push(row(what_p95, p95(times), floor_p95, "–"));
        if mode == "--fullscreen" {
            terminal.press("ctrl-u");
            let times = scroll(&terminal);
            let what = "100,000 lines: PageUp → frame, up to the first, p50 (floor: `cat`)";
            figures.push(row(what, median(times.clone()), floor, "16 ms"));
            figures.push(row("… p95", p95(times), floor_p95, "–"));
        }
    }
    let [inline, whole] = opened[..] else {
        return figures;
    };
    figures.push(row(
        "`attach` to 100,000 lines → the last of them, in full screen (floor: inline)",
        whole,
        inline,
        "–",
    ));
    figures
}

/// Types letters one after the other, each when the one before is shown; how long each took.
fn type_letters(terminal: &Terminal, count: usize, mark: &str) -> Vec<Duration> {
    let mut typed = mark.to_owned();
    let mut times = Vec::new();
    for letter in (b'a'..=b'z').cycle().take(count) {
        if typed.len() >= mark.len() + LINE {
            terminal.press("ctrl-u");
            terminal.wait_gone(&typed);
            typed.truncate(mark.len());
        }
        typed.push(char::from(letter));
        let begun = Instant::now();
        terminal.send(&[letter]);
        let shown = terminal.wait_text(&typed);
        times.push(shown.saturating_duration_since(begun));
    }
    times
}

/// Goes up page by page, to the first line of all, which must be there.
fn scroll(terminal: &Terminal) -> Vec<Duration> {
    terminal.wait_for("an empty line", at_rest);
    let mut times = Vec::new();
    let mut before = terminal.screen();
    while !before.contains("Part 0 of answer 0") {
        let begun = Instant::now();
        terminal.send(PAGE_UP);
        let shown = terminal.wait_for("another page", |screen| screen != before);
        times.push(shown.saturating_duration_since(begun));
        before = terminal.screen();
    }
    times
}

/// The floor: letters that `cat` says again, in a terminal that does not.
fn echo(size: Size) -> Vec<Duration> {
    let mut cat = Command::new("/bin/sh");
    cat.args(["-c", "stty raw -echo; printf 'cat: '; exec cat"]);
    let terminal = Terminal::start(cat, COLUMNS, ROWS);
    terminal.wait_text("cat:");
    type_letters(&terminal, size.keys.min(LINE), "cat: ")
}
