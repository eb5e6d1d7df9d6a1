//! Which functions the programs run in usual work: those that `functions.txt` of each program lists are linked beside each
//! other (decision 63). `UPDATE=1` writes the lists. It builds the programs, and valgrind needs a minute for them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::Size;
use super::edits::script;
use super::endpoint::{Endpoint, LAST, Round};
use super::instructions::{daemon_under_valgrind, has_valgrind, under_valgrind};
use super::sizes::built_by;
use super::spent::resident;
use super::table::{Figure, mb, plain};
use crate::{House, Terminal, until};

/// The lists, from the root of the repository.
const CLIENT_LIST: &str = "client-cli/functions.txt";
const DAEMON_LIST: &str = "daemon/reasonixd/functions.txt";

/// How the client is called. In valgrind no sandbox works, so that commands would be asked about.
const EDITS: [&str; 6] = [
    "run",
    "--approval-mode",
    "yolo",
    "--on-ask",
    "allow",
    "edit them",
];

const HEAD: &str = "\
# Functions that usual work runs, made by `UPDATE=1 cargo bench -p tests -- functions`. The linker puts them beside each other.
";

/// The programs of a release. Those of this package are built with other features, and so have other names in them.
struct Release {
    client: PathBuf,
    daemon: PathBuf,
}

/// Rows for both programs. Without a valgrind that is new enough there are none.
pub fn figures(size: Size) -> Vec<Figure> {
    if !has_valgrind() {
        return Vec::new();
    }
    let [client, daemon] = ["reasonix", "reasonixd"].map(|name| built_by(&["--release"], name));
    let release = Release { client, daemon };
    // Each has a house of its own, with its endpoint in the config.
    let parent = release.of_parent(&House::new());
    let (daemon, run) = release.of_edits(&House::new(), size);
    let interface = release.of_interface(&House::new());
    let daemon = compared(
        DAEMON_LIST,
        "functions that `reasonixd` runs in the edit session",
        &[parent, daemon],
    );
    let client = compared(
        CLIENT_LIST,
        "functions that `reasonix` runs in it, and as an interface",
        &[run, interface],
    );
    let memory = plain(
        "memory of both programs of a release at the end of the session, with the daemon's parent",
        mb(release.memory(&House::new(), size) as f64),
        "–",
    );
    [&daemon[..], &client, &[memory]].concat()
}

/// How many functions run, and how many of them the list had before it is written again.
fn compared(list: &str, what: &'static str, parts: &[BTreeSet<String>; 2]) -> [Figure; 2] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(list);
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let listed: BTreeSet<&str> = listed.lines().collect();
    let run: BTreeSet<&String> = parts.iter().flatten().collect();
    let known = run.iter().filter(|name| listed.contains(name.as_str()));
    let share = known.count() as f64 / run.len() as f64;
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, written(parts)).expect("the list is written");
    }
    [
        plain(what, run.len().to_string(), "–"),
        plain(
            "… of which its list had",
            format!("{:.0} %", share * 100.0),
            "–",
        ),
    ]
}

/// The functions of each part that none before it has, by name.
fn written(parts: &[BTreeSet<String>]) -> String {
    let mut text = HEAD.to_owned();
    let mut listed = BTreeSet::new();
    for name in parts.iter().flatten() {
        if listed.insert(name) {
            text.push_str(name);
            text.push('\n');
        }
    }
    text
}

impl Release {
    /// Those of the daemon's parent. It starts its own program, which is valgrind's then, and so no daemon: it ends at once,
    /// and has run what it always runs.
    fn of_parent(&self, house: &House) -> BTreeSet<String> {
        let counts = house.root().join("parent");
        let mut parent = under_valgrind(house, &counts, &self.daemon);
        // Descriptors of valgrind are no reason to begin again.
        parent.env("REASONIX_SHED", "1").stderr(Stdio::null());
        let status = parent.status();
        assert!(!status.expect("start strace").success(), "no daemon");
        functions(&counts, &self.daemon)
    }

    /// Those of daemon and client in a session that edits files.
    fn of_edits(&self, house: &House, size: Size) -> (BTreeSet<String>, BTreeSet<String>) {
        let endpoint = edit_script(house, size);
        let counts = ["daemon", "client"].map(|name| house.root().join(name));
        let mut daemon = daemon_under_valgrind(house, &counts[0], &self.daemon)
            .spawn()
            .expect("start strace");
        until("the daemon to answer", || house.daemon_pid());
        let mut client = under_valgrind(house, &counts[1], &self.client);
        let run = client
            .args(EDITS)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let status = run.status().expect("start strace");
        assert!(status.success(), "a session");
        drop(house.reasonix(&["daemon", "stop"]).expect_code(0));
        daemon.wait().expect("the daemon ends");
        drop(endpoint);
        (
            functions(&counts[0], &self.daemon),
            functions(&counts[1], &self.client),
        )
    }

    /// Those of the interface in a session with one prompt.
    fn of_interface(&self, house: &House) -> BTreeSet<String> {
        let endpoint = Endpoint::start();
        house.provider_config(&endpoint.base_url());
        house.daemon();
        endpoint.play(vec![Round::Lines(40)]);
        let counts = house.root().join("interface");
        let command = under_valgrind(house, &counts, &self.client);
        let mut terminal = Terminal::start(command, 120, 50);
        terminal.wait_text("`/`");
        terminal.type_text("say much");
        terminal.wait_text("say much");
        terminal.press("enter");
        terminal.wait_text(LAST);
        terminal.wait_text("`/`");
        terminal.press("ctrl-d");
        assert_eq!(terminal.exit_code(), 0);
        house.stop_daemon();
        functions(&counts, &self.client)
    }

    /// Bytes of client, daemon and parent when the session that edits files is about to end, without valgrind.
    fn memory(&self, house: &House, size: Size) -> u64 {
        let endpoint = edit_script(house, size);
        let mut client = house.program(&self.client);
        client
            .args(EDITS)
            .env("REASONIX_DAEMON", &self.daemon)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut client = client.spawn().expect("start the client");
        let mut newest = 0;
        let programs = [&self.client, &self.daemon];
        until("the session's end", || {
            let processes = house.processes().into_iter().filter(|process| {
                let program = std::fs::read_link(format!("/proc/{}/exe", process.pid));
                program.is_ok_and(|program| programs.contains(&&program))
            });
            let memory = processes.map(|process| resident(process.pid)).sum();
            let has_ended = client.try_wait().expect("its end").is_some();
            newest = if has_ended { newest } else { memory };
            has_ended.then_some(())
        });
        house.stop_daemon();
        drop(endpoint);
        newest
    }
}

/// An endpoint that plays the session that edits files, in a house with these files.
fn edit_script(house: &House, size: Size) -> Endpoint {
    let endpoint = Endpoint::start();
    house.provider_config(&endpoint.base_url());
    script::plant(&house.project());
    endpoint.play(script::rounds(size.edits));
    endpoint
}

/// The program's own functions in the counts of valgrind.
fn functions(counts: &Path, program: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(counts).expect("the counts");
    let mut names = CompressedNames::default();
    let mut objects = CompressedNames::default();
    let (mut is_own, mut found) = (false, BTreeSet::new());
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            is_own = Path::new(objects.whole(object)) == program;
        } else if let Some(object) = line.strip_prefix("cob=") {
            objects.whole(object);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            names.whole(name);
        } else if let Some(name) = line.strip_prefix("fn=") {
            // A function that calls itself is counted a second time, with a mark.
            let name = names.whole(name).split('\'').next().unwrap_or_default();
            // One without a symbol is an address, or described in words.
            if is_own && !name.starts_with("0x") && !name.contains(' ') {
                found.insert(name.to_owned());
            }
        }
    }
    assert!(found.len() > 100, "functions of {}", program.display());
    found
}

/// Names that are whole the first time, `(7) name`, and then only numbers, `(7)`.
#[derive(Default)]
struct CompressedNames(HashMap<String, String>);

impl CompressedNames {
    fn whole(&mut self, field: &str) -> &str {
        let (number, name) = field.split_once(' ').unwrap_or((field, ""));
        let known = self.0.entry(number.to_owned()).or_default();
        if !name.is_empty() {
            name.clone_into(known);
        }
        known
    }
}
