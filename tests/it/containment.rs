//! Commands that do not want to end, by every trick: nothing of them is left three seconds after their turn, their
//! session or their daemon (I12, I18). They are found by a mark in their environment, and by their names.

use std::time::{Duration, Instant};

use proto::Pid;
use proto::hello::Role;
use proto::params::session::CreateOutput;
use proto::state::OnAsk;
use serde_json::json;
use testkit::Script;
use tests::processes::{self, Process};
use tests::{House, until};

/// What the contract gives a tree to be gone in.
const GONE: Duration = Duration::from_secs(3);
/// Room for a machine that is busy with other tests.
const ROOM: Duration = Duration::from_secs(3);

/// How a command tries to outlive its end. `NAP` is replaced by a number of seconds that nobody else sleeps; each says
/// that it is there by a file `ready`, and how many are to be seen.
const ESCAPES: [(&str, &str, usize); 7] = [
    (
        "a background child in a session of its own",
        r#"sh -c 'setsid sh -c "sleep NAP &" &'; touch ready; sleep NAP"#,
        2,
    ),
    (
        "a double fork",
        "(setsid sh -c '(sleep NAP &); sleep NAP' &); touch ready; sleep NAP",
        3,
    ),
    (
        "deaf to every signal that can be ignored",
        "trap '' TERM INT HUP QUIT; setsid sh -c 'trap \"\" TERM INT HUP QUIT; sleep NAP; :' & touch ready; sleep NAP; :",
        2,
    ),
    (
        "killed by its child",
        "setsid sh -c 'sleep NAP; :' & touch ready; setsid sh -c \"kill -9 $$; sleep NAP; :\" ; sleep NAP",
        0,
    ),
    (
        "killing what holds it",
        "setsid sh -c 'sleep NAP; :' & touch ready; kill -9 $PPID; sleep NAP",
        0,
    ),
    (
        "without the mark",
        "env -i /bin/sh -c '/bin/sleep NAP; :' & touch ready; sleep NAP",
        2,
    ),
    (
        "with every descriptor closed",
        "setsid sh -c 'exec 0<&- 1>&- 2>&-; sleep NAP; :' & touch ready; sleep NAP",
        2,
    ),
];

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Interrupt,
    Signal(&'static str),
    /// The daemon proper is killed; its parent starts another.
    Daemon,
    /// Both are.
    Both,
}

/// The marks of one test.
struct Marks {
    nap: String,
    entry: String,
}

impl Marks {
    fn of(test: u32, escape: usize) -> Self {
        let own = std::process::id();
        Self {
            nap: format!("98{own}{test}{escape:02}"),
            entry: format!("RX_ESCAPE={own}.{test}.{escape}"),
        }
    }

    /// Everything that carries a mark. Names are needed where a process has no environment of ours.
    fn found(&self) -> Vec<Process> {
        let mut found = processes::marked(&self.entry);
        let named = processes::saying(&format!("sleep {}", self.nap));
        for process in named {
            if !found.iter().any(|known| known.pid == process.pid) {
                found.push(process);
            }
        }
        found
    }

    fn sleepers(&self) -> usize {
        let sleep = format!("sleep {}", self.nap);
        self.found()
            .iter()
            .filter(|process| process.command.trim_start_matches("/bin/") == sleep)
            .count()
    }
}

/// One house with a session for each escape, all at work.
fn begin(test: u32) -> (House, Vec<(CreateOutput, Marks)>) {
    let house = House::new();
    let mut script = Script::new();
    let all: Vec<Marks> = (0..ESCAPES.len())
        .map(|escape| Marks::of(test, escape))
        .collect();
    for (number, (_, command, _)) in ESCAPES.iter().enumerate() {
        let command = command.replace("NAP", &all[number].nap);
        script = script.runs(&command).when(&format!("escape {number}."));
    }
    house.cassette(&script.says("Over.").jsonl());
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut begun = Vec::new();
    for (number, marks) in all.into_iter().enumerate() {
        let place = house.project().join(number.to_string());
        std::fs::create_dir(&place).expect("a directory");
        let mut params = house.create(&format!("escape {number}."));
        params.options.on_ask = Some(OnAsk::Allow);
        params.cwd = place.to_string_lossy().into_owned();
        let (name, value) = marks.entry.split_once('=').expect("an entry");
        params.env.insert(name.to_owned(), value.to_owned());
        let params = serde_json::to_value(params).expect("JSON");
        let created = raw.call("session.create", &params).expect("create");
        begun.push((serde_json::from_value(created).expect("an answer"), marks));
    }
    for (number, (_, marks)) in begun.iter().enumerate() {
        let (what, _, wanted) = ESCAPES[number];
        until(&format!("the command that is {what}"), || {
            let ready = house.project().join(format!("{number}/ready")).exists();
            (ready && marks.sleepers() >= wanted).then_some(())
        });
    }
    (house, begun)
}

fn end(house: &House, pid: Pid, end: End) {
    let session = pid.to_string();
    let mut raw = house.raw_as(Role::Drive);
    let (method, params) = match end {
        End::Signal(signal) => (
            "session.signal",
            json!({"session": session, "signal": signal}),
        ),
        _ => ("session.interrupt", json!({"session": session})),
    };
    raw.call(method, &params).expect("stop it");
}

fn contained(test: u32, how: End) {
    let (house, begun) = begin(test);
    let since = Instant::now();
    match how {
        End::Daemon => house.kill_daemon(),
        End::Both => house.kill_daemon_and_parent(),
        _ => {
            for (created, _) in &begun {
                end(&house, created.pid, how);
            }
        }
    }
    for (number, (_, marks)) in begun.iter().enumerate() {
        let mut left = Vec::new();
        tests::wait::within((GONE + ROOM).saturating_sub(since.elapsed()), &mut || {
            left = marks.found();
            left.is_empty().then_some(())
        });
        for process in &left {
            process.signal(rustix::process::Signal::KILL);
        }
        assert!(
            left.is_empty(),
            "{how:?}: still there after {:?}, {}: {left:#?}",
            since.elapsed(),
            ESCAPES[number].0
        );
    }
    if how == End::Daemon {
        house.wait_for_daemon();
    }
}

#[test]
fn nothing_is_left_of_an_interrupted_turn() {
    contained(1, End::Interrupt);
}

#[test]
fn nothing_is_left_of_a_session_that_got_term() {
    contained(2, End::Signal("TERM"));
}

#[test]
fn nothing_is_left_of_a_killed_session() {
    contained(3, End::Signal("KILL"));
}

#[test]
fn nothing_is_left_of_a_killed_daemon() {
    contained(4, End::Daemon);
}

#[test]
fn nothing_is_left_of_a_daemon_killed_with_its_parent() {
    contained(5, End::Both);
}

#[test]
fn processes_left_by_a_call_are_killed_when_the_session_is_closed() {
    let marks = Marks::of(6, 0);
    let command = format!(
        "setsid sh -c 'trap \"\" TERM; sleep {nap}; :' & (setsid sleep {nap} &); echo started",
        nap = marks.nap
    );
    let house = House::playing(&Script::new().runs(&command).says("Done."));
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut params = house.create("go");
    params.options.on_ask = Some(OnAsk::Allow);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    raw.call("session.close", &json!({"session": "1"}))
        .expect("close");
    let since = Instant::now();
    until("what the call left to be gone", || {
        marks.found().is_empty().then_some(())
    });
    assert!(since.elapsed() < GONE + ROOM, "{:?}", since.elapsed());
    assert_eq!(house.log(Pid(1)).check().count("turn.ended"), 1);
}
