//! A disk without space, or without inodes: the sessions of the home are on a separate small file system, which
//! is seen by the daemon alone.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};

use proto::hello::Role;
use proto::{ErrorName, Failure};
use serde_json::{Value, json};
use testkit::Script;
use tests::house::daemon_program;
use tests::{House, Raw, skip, until};

/// How a namespace of our own is made, if it can be.
fn unshare() -> Option<Vec<&'static str>> {
    let ways = [vec!["unshare", "-m"], vec!["unshare", "-Urm"]];
    ways.into_iter().find(|way| {
        skip::works(&[way.as_slice(), &["mount", "-t", "tmpfs", "none", "/mnt"]].concat())
    })
}

/// A daemon whose sessions are on a small disk, and a shell beside it that sees that disk.
struct Small {
    /// Closed first: the shell ends then, and the daemon with it.
    orders: ChildStdin,
    done: BufReader<ChildStdout>,
    house: House,
}

impl Small {
    /// `None`: it cannot be had here.
    fn begin(options: &str, settings: &str, script: &Script) -> Option<Self> {
        let way = unshare();
        if skip::unless(way.is_some(), "a mount namespace (`unshare -m` or `-Urm`)") {
            return None;
        }
        let way = way?;
        let house = House::playing(script);
        house.settings(settings);
        let sessions = house.home().join("sessions");
        std::fs::create_dir_all(&sessions).expect("a directory");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&sessions, mode).expect("close it");
        let orders = format!(
            "mount -t tmpfs -o {options},mode=0700 none '{dir}' || exit 9\n'{daemon}' serve >/dev/null 2>>'{said}' &\ncd '{dir}'; while read -r order; do eval \"$order\" 2>&1; echo \"done $?\"; done; kill $!; wait",
            dir = sessions.display(),
            daemon = daemon_program().display(),
            said = house.root().join("said").display(),
        );
        let mut command = house.program(std::path::Path::new(way[0]));
        command
            .args(&way[1..])
            .args(["sh", "-c", &orders])
            .current_dir(house.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("a namespace");
        let orders = child.stdin.take().expect("its input");
        let done = BufReader::new(child.stdout.take().expect("its output"));
        house.adopt(child);
        until("the daemon to answer", || house.daemon_pid());
        Some(Self {
            orders,
            done,
            house,
        })
    }

    /// Runs a command where the disk is seen; whether it went well.
    fn order(&mut self, command: &str) -> bool {
        writeln!(self.orders, "{command}").expect("give an order");
        loop {
            let mut line = String::new();
            let read = self.done.read_line(&mut line).expect("hear of it");
            assert!(read > 0, "the shell is gone");
            if let Some(code) = line.trim().strip_prefix("done ") {
                return code == "0";
            }
        }
    }

    fn create(&self, raw: &mut Raw, prompt: &str) -> Result<Value, Failure> {
        let params = serde_json::to_value(self.house.create(prompt)).expect("JSON");
        raw.call("session.create", &params)
    }
}

fn prompt(raw: &mut Raw, session: &Value, text: &str) -> Result<Value, Failure> {
    raw.call("session.prompt", &json!({"session": session, "text": text}))
}

fn wait(raw: &mut Raw, session: &Value) -> Value {
    raw.call(
        "session.wait",
        &json!({"session": session, "timeout_ms": 20_000}),
    )
    .expect("wait")
}

/// Fills the disk, checks the refusals, makes room, checks that work continues without a restart.
fn full_and_free(options: &str, fill: &str, free: &str) {
    let script = (0..12).fold(Script::new(), |script, number| {
        script.says(&format!("Answer {number}."))
    });
    let Some(mut small) = Small::begin(options, "", &script) else {
        return;
    };
    let daemon = small.house.daemon_pid();
    let mut raw = small.house.raw_as(Role::Drive);
    let session = small.create(&mut raw, "first").expect("create")["session"].clone();
    wait(&mut raw, &session);
    // Until nothing more goes in.
    small.order(fill);
    let mut acknowledged = vec!["first".to_owned()];
    let mut refused = None;
    for number in 0..40 {
        let text = format!("prompt {number} {}", "x".repeat(3_000));
        match prompt(&mut raw, &session, &text) {
            Ok(_) => acknowledged.push(text),
            Err(failure) => refused = Some(failure),
        }
        if refused.is_some() {
            break;
        }
        wait(&mut raw, &session);
    }
    let made = small.create(&mut raw, "another");
    // Inodes are used up by new sessions only; space by both.
    let refusal = refused.clone().or(made.err()).expect("a full disk refuses");
    assert_eq!(refusal.name, ErrorName::Storage, "{refusal:?}");
    assert!(!refusal.hint.is_empty(), "{refusal:?}");
    assert_eq!(small.house.daemon_pid(), daemon, "the daemon lives");
    let page = raw
        .call("session.read", &json!({"session": session, "from_seq": 1}))
        .expect("reading works");
    assert!(
        page["events"]
            .as_array()
            .is_some_and(|events| events.len() > 5)
    );

    assert!(small.order(free), "room is made");
    // Without a restart: new sessions, and the one that was refused.
    let fresh = small
        .create(&mut raw, "after")
        .expect("a new session works again");
    assert_eq!(wait(&mut raw, &fresh["session"])["exit_code"], 0);
    prompt(&mut raw, &session, "and on").expect("the session itself works again (I16)");
    wait(&mut raw, &session);
    let mut text = String::new();
    let mut next = Some(1);
    while let Some(from) = next {
        let page = json!({"session": session, "from_seq": from});
        let page = raw.call("session.read", &page).expect("read");
        text.push_str(&page["events"].to_string());
        next = page["next"].as_u64();
    }
    for prompt in &acknowledged {
        assert!(
            text.contains(prompt.as_str()),
            "acknowledged, and lost: {prompt:.40}"
        );
    }
    assert!(text.contains("and on"));
    assert_eq!(small.house.daemon_pid(), daemon, "the daemon lives");
}

#[test]
fn f13_f14_a_full_disk_refuses_and_goes_on_when_there_is_room_again() {
    full_and_free(
        "size=256k",
        "head -c 1000000 /dev/zero > fill; truncate -s -4096 fill",
        "rm fill",
    );
}

#[test]
fn f15_a_disk_without_inodes_refuses_and_goes_on() {
    full_and_free(
        "size=8m,nr_inodes=24",
        "i=0; while touch fill$i; do i=$((i+1)); done",
        "rm fill*",
    );
}

#[test]
fn f16_a_disk_that_turns_read_only_refuses_and_goes_on_when_it_takes_writes_again() {
    let script = Script::new().says("One.").says("Two.").says("Three.");
    let Some(mut small) = Small::begin("size=8m", "[internal]\nevict_minutes = 0.01", &script)
    else {
        return;
    };
    let daemon = small.house.daemon_pid();
    let mut raw = small.house.raw_as(Role::Drive);
    let session = small.create(&mut raw, "first").expect("create")["session"].clone();
    wait(&mut raw, &session);
    let dir = small.house.home().join("sessions");
    // With a source, `mount` does not repeat the options of before: in a user's own namespace the system refuses those.
    let remount = |how: &str| format!("mount -o remount,{how} none '{}'", dir.display());
    // A log that is open for writing keeps the disk from turning: sessions that rest leave in a moment.
    until("the disk to turn read-only", || {
        small.order(&remount("ro")).then_some(())
    });
    let refused = small
        .create(&mut raw, "another")
        .expect_err("nothing is taken");
    assert_eq!(refused.name, ErrorName::Storage, "{refused:?}");
    assert!(!refused.hint.is_empty(), "{refused:?}");
    let refused = prompt(&mut raw, &session, "more").expect_err("nothing is taken");
    assert_eq!(refused.name, ErrorName::Storage, "{refused:?}");
    let page = json!({"session": session, "from_seq": 1});
    raw.call("session.read", &page).expect("reading works");
    assert!(small.order(&remount("rw")), "it takes writes again");
    let fresh = small.create(&mut raw, "after").expect("a new session");
    assert_eq!(wait(&mut raw, &fresh["session"])["exit_code"], 0);
    until("the session itself to go on", || {
        prompt(&mut raw, &session, "and on").ok()
    });
    wait(&mut raw, &session);
    assert_eq!(small.house.daemon_pid(), daemon, "the daemon lives");
}

#[test]
fn home_that_is_read_only_from_the_start_is_named_with_what_to_do() {
    let way = unshare();
    if skip::unless(way.is_some(), "a mount namespace (`unshare -m` or `-Urm`)") {
        return;
    }
    let way = way.expect("a way");
    let house = House::playing(&Script::new());
    let ask = |arguments: &str| {
        let orders = format!(
            "mount --bind '{home}' '{home}' && mount -o remount,bind,ro '{home}' || exit 9\nexec '{program}' {arguments}",
            home = house.home().display(),
            program = tests::house::client_program().display(),
        );
        let mut command = house.program(std::path::Path::new(way[0]));
        command.args(&way[1..]).args(["sh", "-c", &orders]);
        tests::program::run(command.current_dir(house.project()))
    };
    let home = house.home().display().to_string();
    let doctor = ask("doctor").expect_code(1).out;
    let why = format!("home: {home} cannot be written to: Read-only file system");
    assert!(doctor.contains(&why), "{doctor}");
    assert!(
        doctor.contains("set `REASONIX_HOME` to a directory of your own that you can write to"),
        "{doctor}"
    );
    let run = ask("run hello").expect_code(69).err;
    assert!(
        run.contains("Read-only file system") && run.contains(&home),
        "{run}"
    );
    assert!(run.contains("`reasonix doctor`"), "{run}");
}
