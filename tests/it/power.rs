//! The power is cut: the home is on a separate file system, which forgets everything that was not synced, in the
//! middle of a session under load. Acknowledged data is there afterwards (I3).
//!
//! By hand, as root: `REASONIX_POWER_CUTS=20 cargo test -p tests --test it -- --ignored power`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proto::hello::Role;
use proto::{Body, SessionId};
use serde_json::{Value, json};
use testkit::{RaiseOnDrop, Script};
use tests::{Chance, House, until};

/// Sessions under load at once.
const SESSIONS: usize = 4;

/// How the power is cut: the ioctl's flag. 1: the journal still reaches the disk (metadata newer than data); 2: nothing
/// more does.
const FLAGS: [u32; 3] = [2, 2, 1];

fn sh(command: &str) {
    let done = Command::new("sh").args(["-ec", command]).output();
    let done = done.expect("run a shell");
    assert!(
        done.status.success(),
        "`{command}`: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// A small disk that is mounted over a directory.
struct Disk {
    image: PathBuf,
    place: PathBuf,
}

impl Disk {
    fn new(image: PathBuf, place: PathBuf) -> Self {
        let disk = Self { image, place };
        sh(&format!(
            "truncate -s 96M '{image}'; mkfs.ext4 -q -F '{image}'",
            image = disk.image.display()
        ));
        disk.mount();
        sh(&format!("chmod 700 '{}'", disk.place.display()));
        disk
    }

    fn mount(&self) {
        sh(&format!(
            "mount -o loop '{}' '{}'",
            self.image.display(),
            self.place.display()
        ));
    }

    fn unmount(&self) {
        sh(&format!("umount '{}'", self.place.display()));
    }

    /// Cuts the power: `EXT4_IOC_SHUTDOWN`, `_IOR('X', 125, __u32)`.
    fn cut(&self, flag: u32) {
        let program = format!(
            "import fcntl,os,struct; fcntl.ioctl(os.open({:?}, os.O_RDONLY), 0x8004587d, struct.pack('I', {flag}))",
            self.place.display().to_string()
        );
        let done = Command::new("python3").args(["-c", &program]).output();
        let done = done.expect("run python3");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whatever the test came to: nothing stays mounted.
        let _ = Command::new("umount").arg("-l").arg(&self.place).output();
    }
}

/// What a client knows about one session.
#[derive(Clone, Debug, Default)]
struct Acknowledged {
    session: Option<SessionId>,
    prompts: Vec<String>,
    /// Turns that the client saw end.
    turns: usize,
}

/// Prompts a session until its daemon is gone; records acknowledgements.
fn load(house: &House, acknowledged: &Mutex<Acknowledged>, cut: &AtomicBool) {
    let mut raw = house.raw();
    let mut id = 0;
    // A connection that ends is the end of it.
    let mut say = |method: &str, params: &Value| -> Option<Value> {
        id += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        raw.bytes(format!("{line}\n").as_bytes()).ok()?;
        raw.frame()?.get("result").cloned()
    };
    if say(
        "daemon.hello",
        &tests::raw::hello_params("load", Role::Drive),
    )
    .is_none()
    {
        return;
    }
    let mut params = house.create("");
    params.prompt = None;
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    let create = serde_json::to_value(&params).expect("JSON");
    if say("session.create", &create).is_none() {
        return;
    }
    acknowledged.lock().expect("no panic").session = Some(params.session);
    for number in 0.. {
        if cut.load(Ordering::SeqCst) {
            return;
        }
        let prompt = json!({"session": params.session, "text": format!("prompt {number}")});
        let Some(output) = say("session.prompt", &prompt) else {
            return;
        };
        let prompt = output["prompt_id"].as_str().expect("an id").to_owned();
        acknowledged.lock().expect("no panic").prompts.push(prompt);
        let wait = json!({"session": params.session, "timeout_ms": 5_000});
        let Some(output) = say("session.wait", &wait) else {
            return;
        };
        if output["done"] == true && output["exit_code"] == 0 {
            acknowledged.lock().expect("no panic").turns += 1;
        }
    }
}

fn script() -> Script {
    (0..400).fold(Script::new(), |script, number| {
        let append = json!({"path": "written.txt", "content": "x\n", "append": true});
        script
            .calls_all(&[
                ("read_file", json!({"path": "notes.txt"})),
                ("write_file", append),
            ])
            .says(&format!("Answer {number}."))
    })
}

fn round(number: u64, chance: &mut Chance) -> (usize, usize) {
    let house = House::new();
    let disk = Disk::new(house.root().join("disk"), house.home());
    house.cassette(&script().jsonl());
    house.settings("[daemon]\nrecover = \"continue\"");
    house.files("//- notes.txt\nsome notes\n");
    sh("sync");
    house.daemon_alone();
    let acknowledged: Vec<Mutex<Acknowledged>> = (0..SESSIONS).map(|_| Mutex::default()).collect();
    let cut = AtomicBool::new(false);
    let mut before = Vec::new();
    let flag = FLAGS[usize::try_from(number).unwrap_or(0) % FLAGS.len()];
    let pid = house.daemon_pid().expect("a daemon");
    std::thread::scope(|scope| {
        let end = RaiseOnDrop(&cut);
        for acknowledged in &acknowledged {
            let (house, cut) = (&house, &cut);
            scope.spawn(move || load(house, acknowledged, cut));
        }
        // Each fourth time right after the first word of a session.
        let begun = std::time::Instant::now();
        let wait = if number.is_multiple_of(4) {
            Duration::ZERO
        } else {
            Duration::from_millis(50 + chance.below(1_500))
        };
        until("the moment", || {
            let any = acknowledged
                .iter()
                .any(|acknowledged| acknowledged.lock().expect("no panic").session.is_some());
            (any && begun.elapsed() >= wait).then_some(())
        });
        // Acknowledgements during the ioctl do not count: a sync that waits in the kernel at that moment may
        // return as if it had gone well, and a machine without power sends nothing.
        before = acknowledged
            .iter()
            .map(|acknowledged| acknowledged.lock().expect("no panic").clone())
            .collect();
        disk.cut(flag);
        drop(end);
        tests::processes::send(pid, rustix::process::Signal::KILL);
    });
    until("the daemon to be gone", || {
        house.processes().is_empty().then_some(())
    });
    disk.unmount();
    disk.mount();
    house.daemon_alone();
    let counts = check(&house, &before);
    house.stop_daemon();
    disk.unmount();
    counts
}

/// Checks that everything acknowledged is there; returns how much.
fn check(house: &House, acknowledged: &[Acknowledged]) -> (usize, usize) {
    let mut raw = house.raw_as(Role::Drive);
    let (mut prompts, mut turns) = (0, 0);
    for acknowledged in acknowledged {
        let Some(session) = acknowledged.session else {
            continue;
        };
        raw.call(
            "session.wait",
            &json!({"session": session, "timeout_ms": 20_000}),
        )
        .unwrap_or_else(|failure| panic!("session {session}: {failure:?}"));
        let log = log_of(&house.home(), session);
        let bodies = log.check().bodies();
        for prompt in &acknowledged.prompts {
            let there = bodies.iter().any(|body| {
                matches!(body, Body::PromptQueued(queued) if queued.prompt_id.to_string() == *prompt)
            });
            assert!(there, "prompt {prompt} was acknowledged, and is gone");
        }
        let ended = bodies
            .iter()
            .filter(|body| matches!(body, Body::TurnEnded(_)))
            .count();
        assert!(
            ended >= acknowledged.turns,
            "{} ends were acknowledged, {ended} are there",
            acknowledged.turns
        );
        prompts += acknowledged.prompts.len();
        turns += acknowledged.turns;
    }
    (prompts, turns)
}

fn log_of(home: &Path, session: SessionId) -> tests::log::Log {
    let directory = home.join("sessions").join(session.to_string());
    tests::log::Log::read(&directory.join("log.jsonl"))
}

#[test]
#[ignore = "needs root and a loop device: it mounts a disk and cuts its power"]
#[allow(clippy::print_stderr, reason = "by hand, somebody reads it")]
fn what_was_acknowledged_survives_a_power_cut() {
    let rounds = std::env::var("REASONIX_POWER_CUTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(5);
    let mut chance = Chance::of(u64::from(std::process::id()));
    for number in 0..rounds {
        let (prompts, turns) = round(number, &mut chance);
        eprintln!(
            "cut {number}: {prompts} prompts and {turns} turns were acknowledged, and are there"
        );
    }
}
