//! What a sandboxed command can and cannot reach, end to end: the real daemon, and a scripted model that
//! calls `bash`. Each layer that holds everything is played by itself; the partial one shows its gaps, and
//! that the user is notified.

mod arrivals;
mod attacks;
mod cases;
mod honest;
mod limits;
mod partial;
mod repositories;

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use proto::hello::Role;
use proto::item::CallStatus;
use serde_json::json;
use testkit::Script;
use tests::{Done, House, skip};

/// The layers that hold files, processes and network.
const FULL: [&str; 2] = ["bubblewrap", "direct"];

/// A house whose daemon sandboxes commands with one layer only, and the surroundings of its project.
struct SandboxHouse {
    house: House,
    layer: &'static str,
}

impl SandboxHouse {
    /// One for each full layer that works here.
    fn all() -> Vec<Self> {
        FULL.into_iter().filter_map(Self::held_fully_by).collect()
    }

    /// `None`, and counted: the layer does not work here.
    fn held_fully_by(layer: &'static str) -> Option<Self> {
        Self::held_fully_with(layer, "")
    }

    /// The same, with more lines of settings; `$SOCKET` there is the daemon's socket.
    fn held_fully_with(layer: &'static str, more: &str) -> Option<Self> {
        let place = Self::with(&format!("layer = \"{layer}\"\n{more}"), layer);
        let status = place.confinement();
        let full = !status.contains("partial sandbox") && !status.contains("no sandbox");
        let lacks = skip::unless(full, &format!("the sandbox's layer `{layer}` ({status})"));
        (!lacks).then_some(place)
    }

    /// The layer that holds files alone. `None`, and counted: it does not work here.
    fn held_partly() -> Option<Self> {
        Self::held_partly_with("")
    }

    /// The same, with more lines of settings; `$SOCKET` there is the daemon's socket.
    fn held_partly_with(more: &str) -> Option<Self> {
        let layer = "landlock";
        let place = Self::with(&format!("layer = \"{layer}\"\n{more}"), layer);
        let status = place.confinement();
        let there = status.contains("partial sandbox: Landlock");
        (!skip::unless(there, &format!("Landlock ({status})"))).then_some(place)
    }

    /// With a daemon that runs, whatever the layer holds.
    fn held_by(layer: &'static str) -> Self {
        Self::with(&format!("layer = \"{layer}\""), layer)
    }

    /// A house without a sandbox.
    fn without_sandbox() -> Self {
        Self::with("bash = \"off\"", "off")
    }

    fn with(setting: &str, layer: &'static str) -> Self {
        let house = House::below(Path::new("/var/tmp"));
        let setting = setting.replace("$SOCKET", &house.socket().display().to_string());
        house.settings(&format!("[sandbox]\n{setting}\n"));
        house.cassette(&Script::new().says("Nothing.").jsonl());
        fs::create_dir(house.root().join("out")).expect("a directory outside");
        fs::write(house.root().join("out/canary"), "CANARY\n").expect("a file outside");
        fs::create_dir(house.root().join("scripts")).expect("a directory for scripts");
        house.daemon();
        Self { house, layer }
    }

    /// How the daemon says that it holds commands, once it has tried.
    fn confinement(&self) -> String {
        let mut raw = self.house.raw_as(Role::Watch);
        tests::until("how commands are held", || {
            let status = raw.call("daemon.status", &json!({})).expect("a status");
            let confinement = status["confinement"].as_str().expect("its confinement");
            let is_known = !confinement.contains("not known yet");
            is_known.then(|| confinement.to_owned())
        })
    }

    /// Lays a script down outside the project, so that policy sees nothing of it and no command changes it. The command
    /// that runs it.
    fn script(&self, name: &str, body: &str) -> String {
        let path = self.house.root().join("scripts").join(name);
        fs::write(&path, body).expect("a script");
        format!("sh {}", path.display())
    }

    /// The words that every script may use.
    fn words(&self) -> String {
        let house = &self.house;
        let out = house.root().join("out");
        let words = [
            ("WS", house.project()),
            ("OUT", out),
            ("RXHOME", house.home()),
            ("USERHOME", house.user_home()),
            ("SOCK", house.socket()),
            ("RX", tests::house::client_program()),
            ("RXD", tests::house::daemon_program()),
            ("TEMPORARY", self.temporary()),
        ];
        let mut text: String = words
            .iter()
            .map(|(name, value)| format!("{name}='{}'\n", value.display()))
            .collect();
        let pid = house.daemon_pid().expect("the daemon");
        text.push_str(&format!("DAEMON={pid}\n"));
        text
    }

    /// Where the sessions have their temporary directories.
    fn temporary(&self) -> PathBuf {
        let note = self.house.home().join("run").join("temporary");
        PathBuf::from(fs::read_to_string(note).expect("its place").trim_end())
    }

    /// Runs a script of a model to its end, with nobody there; more arguments before the prompt.
    fn run(&self, script: &Script, arguments: &[&str]) -> Done {
        self.house.cassette(&script.jsonl());
        let line = [&["run"], arguments, &["go"]].concat();
        self.house.reasonix(&line)
    }

    /// The same, with everything allowed that no person must say: how the calls ended, with their words.
    fn results(&self, script: &Script) -> Vec<(CallStatus, String)> {
        let done = self.run(
            &script.clone().says("Done."),
            &["--approval-mode", "yolo", "--on-ask", "allow"],
        );
        let logs = self.house.logs();
        let log = logs
            .last()
            .unwrap_or_else(|| panic!("no session: {done:?}"));
        let results = log.check().results();
        results
            .into_iter()
            .map(|result| (result.status, result.text))
            .collect()
    }

    /// What one command printed, which must end well.
    fn sh(&self, command: &str) -> String {
        let (status, text) = self.results(&Script::new().runs(command)).remove(0);
        assert_eq!(status, CallStatus::Ok, "{}: {command}: {text}", self.layer);
        text
    }
}

/// Sockets of other programs of this user, which a command must not talk to.
fn foreign_socket(path: PathBuf) -> UnixListener {
    UnixListener::bind(&path).unwrap_or_else(|error| panic!("bind {}: {error}", path.display()))
}
