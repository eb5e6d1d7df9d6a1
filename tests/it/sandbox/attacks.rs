//! Sandbox escapes, each tried by a separate command: none works.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::Command;

use proto::Pid;
use proto::hello::Role;
use proto::item::CallStatus;
use serde_json::json;
use testkit::Script;
use tests::{House, processes, until};

use super::{FULL, SandboxHouse, foreign_socket};

/// Without the file for it.
pub(super) const READS_THE_KERNELS_LOG: &str = "python3 -c 'import ctypes; exit(ctypes.CDLL(None).klogctl(3, ctypes.create_string_buffer(64), 64) < 1)'";

/// A file that git obeys is watched for, also while the command is waited for.
const STAYS_WHILE_IT_RUNS: &str = "echo .. > .git/commondir; for n in $(seq 200); do test -e .git/commondir || exit; sleep 0.05; done";

/// Ways that make a protected name which did not exist: the command itself succeeds, and the name it made is moved away,
/// reported with this name, and not there when the command has ended.
const MAKES: &[(&str, &str)] = &[
    ("echo .. > .git/commondir", ".git/commondir"),
    ("ln -s ../file .git/config.worktree", ".git/config.worktree"),
    ("> .mcp.json", ".mcp.json"),
    ("> .reasonix/settings.json", ".reasonix"),
    ("mv new .reasonix", ".reasonix"),
];

/// Whether a way came to nothing, by what its command said and what its result reports.
fn is_held(place: &SandboxHouse, way: &str, text: &str) -> bool {
    // What kills everything around it has nobody left who could say so.
    if way.starts_with("kill -") {
        return !text.contains("REACHED");
    }
    let made = MAKES.iter().find(|(part, _)| way.contains(part));
    match made {
        Some((_, name)) => {
            let path = place.house.project().join(name);
            let moved = format!(
                "moved away files that appeared or changed while a command ran: `{}`",
                path.display()
            );
            let stayed = way == STAYS_WHILE_IT_RUNS && text.contains("REACHED");
            text.contains(&moved) && !stayed
        }
        None => text.contains("held") && !text.contains("REACHED"),
    }
}

/// Each is tried in a separate shell and has escaped if it succeeds; those that end with `false` are known by
/// their traces.
const WAYS: &[&str] = &[
    // The daemon's socket, by hand and through the program.
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$SOCK')\"",
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('/proc/1/root$SOCK')\"",
    "cd $RXHOME/run && python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('s')\"",
    "REASONIX_HOME=$RXHOME REASONIX_SOCKET=$SOCK timeout 20 $RX ls",
    "REASONIX_HOME=$RXHOME REASONIX_SOCKET=$SOCK REASONIX_DAEMON=$RXD timeout 20 $RX ls",
    "REASONIX_HOME=$RXHOME REASONIX_SOCKET=$SOCK timeout 20 $RX rpc daemon.shutdown '{\"mode\": \"now\"}'",
    // Sockets of others.
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('\\0rx-inside-$DAEMON')\"",
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$AGENT')\"",
    // The home, its keys, and what other sessions have said.
    "grep -rq CANARY $RXHOME",
    "ls -A $RXHOME | grep -q .",
    "cat $RXHOME/config.toml",
    "cat $RXHOME/credentials.toml",
    "cat /proc/self/root$RXHOME/config.toml",
    "cat /proc/1/root$RXHOME/config.toml",
    "cat /proc/$DAEMON/root$RXHOME/config.toml || cat /proc/$DAEMON/environ",
    "ln $RXHOME/config.toml stolen",
    "ln -s $RXHOME/config.toml link && cat link",
    "cp -r $RXHOME/sessions/. stolen && grep -rq . stolen",
    "touch $RXHOME/new || mv $RXHOME $RXHOME.old || rmdir $RXHOME",
    "umount $RXHOME && cat $RXHOME/config.toml",
    "unshare -Urm sh -c \"umount $RXHOME; cat $RXHOME/config.toml\"",
    "grep -rq OTHERS-MARK $TEMPORARY",
    "grep -rq OTHERS-MARK /tmp",
    // The person's own.
    "cat $USERHOME/.ssh/id",
    "ln -s $USERHOME/.ssh keys && cat keys/id",
    "cat /proc/self/root$USERHOME/.ssh/id",
    "touch $USERHOME/.profile",
    "mv $USERHOME/.ssh $USERHOME/.ssh2",
    // Around the workspace.
    "echo x > $OUT/canary",
    "echo x > /proc/self/root$OUT/canary",
    "rm -f $OUT/canary",
    "mv $OUT/canary taken",
    "chmod 600 $OUT/canary",
    "ln $OUT/canary hard && echo x > hard",
    "ln -s $OUT out && echo x > out/new",
    "touch /etc/rx-inside || touch /usr/rx-inside || touch /var/tmp/rx-inside",
    // Files that run programs later.
    "echo x > .git/hooks/pre-commit",
    "ln -s /bin/true .git/hooks/pre-push",
    "echo '[core]' >> .git/config",
    "git config core.fsmonitor evil",
    "mv .git .git2; mkdir -p .git/hooks && touch .git/hooks/pre-commit",
    "mv .git/hooks h && mkdir .git/hooks && touch .git/hooks/pre-commit",
    "echo .. > .git/commondir",
    "ln -s ../file .git/config.worktree",
    "echo '# x' > reasonix.toml",
    "mv reasonix.toml away",
    "rm -f reasonix.toml; echo '# x' > reasonix.toml",
    "echo x > .mcp.json || mv file .mcp.json || ln -s file .mcp.json",
    "mkdir .reasonix; echo x > .reasonix/settings.json",
    "mkdir -p new && echo x > new/settings.local.json && mv new .reasonix",
    STAYS_WHILE_IT_RUNS,
    // The daemon, and whoever else there is.
    "kill -9 $DAEMON",
    "kill -0 $DAEMON",
    "kill -TERM -1; false",
    "kill -9 -1; false",
    "kill -9 $PPID; kill -9 1; false",
    "python3 -c 'import ctypes; exit(ctypes.CDLL(None).ptrace(16, '$DAEMON', 0, 0) != 0)'",
    // The machine's log.
    READS_THE_KERNELS_LOG,
    "timeout 5 head -c 1 /dev/kmsg | grep -q .",
    "timeout 5 head -c 1 /proc/kmsg | grep -q .",
    "echo x > /dev/kmsg && test -c /dev/kmsg",
    // The network.
    "python3 -c \"import socket; socket.create_connection(('127.0.0.1', $TCP), 3)\"",
    "python3 -c \"import socket; socket.create_connection(('::ffff:127.0.0.1', $TCP), 3)\"",
    "python3 -c \"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', $UDP))\"; false",
    "python3 -c \"import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 53))\"",
];

/// Parts of an attack that would do harm, or cannot do any, without a sandbox: processes that are not ours, the
/// machine's own directories and log, files that exist only in the sandbox, networks that this machine may not have.
const NOT_WITHOUT_WALLS: &[&str] = &[
    "kill ",
    "; false",
    "ptrace",
    "umount",
    "rx-inside ||",
    "daemon.shutdown",
    "/proc/1/root",
    "/proc/$DAEMON",
    "::ffff:",
    "192.0.2.1",
    "OTHERS-MARK /tmp",
    "kmsg",
    "klogctl",
];

/// A project with a repository, and around it what must stay unknown.
fn set_up(place: &SandboxHouse) {
    let house = &place.house;
    house.files("//- file\nx\n//- reasonix.toml\nlanguage = \"en\"\n");
    let made = Command::new("git")
        .args(["init", "-q"])
        .arg(house.project())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(made.expect("git").success());
    fs::create_dir(house.user_home().join(".ssh")).expect("a directory");
    fs::write(house.user_home().join(".ssh/id"), "CANARY").expect("a key");
    fs::write(house.home_file("credentials.toml"), "key = \"CANARY\"\n").expect("a key");
    // Another session, which leaves words in its log and in its temporary directory.
    let leave = "echo OTHERS-MARK > $TMPDIR/mark && echo CANARY\n";
    let said = place.sh(&place.script("leave.sh", leave));
    assert!(said.contains("CANARY"), "{said}");
}

/// Names and contents of a directory, but for those below these.
fn content(top: &Path, without: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![top.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory").flatten() {
            let path = entry.path();
            let name = path
                .strip_prefix(top)
                .expect("below it")
                .display()
                .to_string();
            if without.contains(&name.as_str()) {
                continue;
            }
            let kind = entry.file_type().expect("a kind");
            let bytes = if kind.is_file() {
                fs::read(&path).expect("a file")
            } else {
                Vec::new()
            };
            if kind.is_dir() {
                open.push(path);
            }
            all.insert(name, bytes);
        }
    }
    all
}

/// Who waits outside for somebody to come, and the words by which the ways find them.
struct Listeners {
    tcp: TcpListener,
    udp: UdpSocket,
    sockets: [UnixListener; 2],
    words: String,
}

impl Listeners {
    fn around(place: &SandboxHouse) -> Self {
        let house = &place.house;
        let daemon = house.daemon_pid().expect("the daemon");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let abstract_name = format!("rx-inside-{daemon}");
        let address = SocketAddr::from_abstract_name(abstract_name).expect("an address");
        let abstract_socket = UnixListener::bind_addr(&address).expect("an abstract socket");
        fs::create_dir(house.user_home().join(".gnupg")).expect("a directory");
        let agent = house.user_home().join(".gnupg/S.gpg-agent");
        let agent_socket = foreign_socket(agent.clone());
        let words = format!(
            "{}TCP={}\nUDP={}\nAGENT='{}'\n",
            place.words(),
            tcp.local_addr().expect("its address").port(),
            udp.local_addr().expect("its address").port(),
            agent.display()
        );
        Self {
            tcp,
            udp,
            sockets: [abstract_socket, agent_socket],
            words,
        }
    }

    /// Each has waited for nobody.
    fn heard_nothing(&self, layer: &str) {
        for listener in &self.sockets {
            listener.set_nonblocking(true).expect("a listener");
            assert!(listener.accept().is_err(), "{layer}: a socket");
        }
        self.tcp.set_nonblocking(true).expect("a listener");
        self.udp.set_nonblocking(true).expect("a socket");
        assert!(self.tcp.accept().is_err(), "{layer}: a connection came");
        assert!(self.udp.recv(&mut [0]).is_err(), "{layer}: a packet");
    }
}

/// The command that tries a way, after another one.
fn trying(place: &SandboxHouse, number: usize, before: &str, way: &str) -> String {
    let body = format!(
        "{before}cd \"$WS\" || exit\n( {way} ) >/dev/null 2>&1 && echo REACHED || echo held\n"
    );
    place.script(&format!("{number}.sh"), &body)
}

#[test]
fn no_sandbox_escape_attempt_succeeds() {
    for place in SandboxHouse::all() {
        let house = &place.house;
        set_up(&place);
        let daemon = house.daemon_pid();
        let listeners = Listeners::around(&place);
        let outside = content(&house.root().join("out"), &[]);
        let person = content(&house.user_home(), &[]);
        let git = content(&house.project().join(".git"), &["index", "index.lock"]);
        let script = WAYS
            .iter()
            .enumerate()
            .fold(Script::new(), |script, (number, way)| {
                script.runs(&trying(&place, number, &listeners.words, way))
            });
        let results = place.results(&script);
        assert_eq!(results.len(), WAYS.len());
        let reached: Vec<_> = WAYS
            .iter()
            .zip(&results)
            .filter(|(way, (_, text))| !is_held(&place, way, text))
            .collect();
        assert!(reached.is_empty(), "{}: {reached:#?}", place.layer);

        assert_eq!(house.daemon_pid(), daemon, "the daemon lives");
        listeners.heard_nothing(place.layer);
        assert_eq!(content(&house.root().join("out"), &[]), outside);
        assert_eq!(content(&house.user_home(), &[]), person);
        let now = content(&house.project().join(".git"), &["index", "index.lock"]);
        assert_eq!(now, git, "{}", place.layer);
        assert_eq!(house.read("reasonix.toml"), "language = \"en\"\n");
        for name in [".mcp.json", ".reasonix", ".git2", "stolen"] {
            let there = house.project().join(name).symlink_metadata();
            assert!(there.is_err(), "{}: {name} was made", place.layer);
        }
    }
}

/// Restores what an escape may have changed. No sandbox limits it: if a variable is lost it ends before it deletes
/// anything.
const AS_BEFORE: &str = r#"
set -eu
: "${WS:?}" "${OUT:?}" "${USERHOME:?}" "${KEPT:?}"
find "${WS:?}" "${OUT:?}" -mindepth 1 -delete
rm -rf "${USERHOME:?}/.ssh" "${USERHOME:?}/.ssh2" "${USERHOME:?}/.profile"
cp -a "${KEPT:?}/ws/." "${WS:?}"
cp -a "${KEPT:?}/out/." "${OUT:?}"
cp -a "${KEPT:?}/ssh" "${USERHOME:?}/.ssh"
set +eu
"#;

/// An escape that fails without a sandbox would prove nothing about it.
#[test]
fn every_escape_works_without_a_sandbox() {
    let place = SandboxHouse::without_sandbox();
    let house = &place.house;
    set_up(&place);
    let listeners = Listeners::around(&place);
    let kept = house.root().join("kept");
    fs::create_dir(&kept).expect("a directory");
    let copied = [
        (house.project(), "ws"),
        (house.root().join("out"), "out"),
        (house.user_home().join(".ssh"), "ssh"),
    ];
    for (from, name) in copied {
        let done = Command::new("cp")
            .arg("-a")
            .arg(from)
            .arg(kept.join(name))
            .status();
        assert!(done.expect("cp").success());
    }
    let before = format!("{}KEPT='{}'\n{AS_BEFORE}", listeners.words, kept.display());
    let ways: Vec<_> = WAYS
        .iter()
        .filter(|way| !NOT_WITHOUT_WALLS.iter().any(|part| way.contains(part)))
        .collect();
    let script = ways
        .iter()
        .enumerate()
        .fold(Script::new(), |script, (number, way)| {
            script.runs(&trying(&place, number, &before, way))
        });
    let results = place.results(&script);
    assert_eq!(results.len(), ways.len());
    let held: Vec<_> = ways
        .iter()
        .zip(&results)
        .filter(|(_, (_, text))| !text.contains("REACHED"))
        .collect();
    assert!(held.is_empty(), "these prove nothing: {held:#?}");
}

/// Answers every question that it can see, by hand and through the program, again and again.
const ANSWERS: &str = r#"
cat > /tmp/answer.py <<'END'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect(sys.argv[1])
def call(number, method, params):
    s.send((json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n").encode())
    return json.loads(s.makefile().readline())
call(1, "daemon.hello", json.loads(sys.argv[2]))
for open in call(2, "interaction.list", {})["result"]["interactions"]:
    call(3, "interaction.answer", {"interaction_id": open["interaction_id"], "shown_hash": open["shown_hash"], "answer": {"type": "approval", "decision": "allow_once"}})
print("ANSWERED")
END
while :; do
    python3 /tmp/answer.py $SOCK "$HELLO" >> $WS/answers 2>/dev/null
    export REASONIX_HOME=$RXHOME REASONIX_SOCKET=$SOCK
    timeout 10 $RX inbox --json >> $WS/answers 2>/dev/null
    timeout 10 $RX rpc interaction.list >> $WS/answers 2>/dev/null
    echo tried >> $WS/tries
    sleep 0.1
done
"#;

/// A question of the session stays open, however often a command of it tries to answer.
pub(super) fn assert_question_stays_open(place: &SandboxHouse) {
    let house = &place.house;
    let hello = tests::raw::hello_params("evil", Role::Drive);
    let body = format!("{}HELLO='{hello}'\n{ANSWERS}", place.words());
    let command = place.script("answer.sh", &body);
    let script = Script::new()
        .calls(
            "bash",
            &json!({"command": command, "run_in_background": true}),
        )
        .calls(
            "write_file",
            &json!({"path": "a.code-workspace", "content": "{}"}),
        )
        .says("Done.");
    house.cassette(&script.jsonl());
    let mut raw = house.raw_as(Role::Drive);
    let mut params = house.create("go");
    params.options.approval_mode = Some(proto::state::ApprovalMode::Yolo);
    let params = serde_json::to_value(params).expect("JSON");
    let created = raw.call("session.create", &params).expect("create");
    let pid = Pid(created["pid"].as_u64().expect("a pid"));
    let asked = |raw: &mut tests::Raw| {
        let params = json!({"session": pid.to_string()});
        let open = raw.call("interaction.list", &params).expect("list");
        open["interactions"].as_array().map_or(0, Vec::len)
    };
    until("the question", || (asked(&mut raw) == 1).then_some(()));
    let tries = || {
        let tries = fs::read_to_string(house.project().join("tries"));
        tries.unwrap_or_default().lines().count()
    };
    let before = tries();
    until("some tries to answer it", || {
        (tries() >= before + 3).then_some(())
    });
    assert_eq!(asked(&mut raw), 1, "{}: somebody answered", place.layer);
    // Without a daemon, the answer is that nothing waits.
    let answers = house.read("answers");
    let heard = answers.contains("ANSWERED") || answers.contains("workspace");
    assert!(!heard, "{}: {answers}", place.layer);
    assert_eq!(house.log(pid).resolved(), [], "{}", place.layer);
    assert!(!house.project().join("a.code-workspace").exists());
    let end = json!({"session": pid.to_string(), "signal": "TERM"});
    raw.call("session.signal", &end).expect("end it");
}

#[test]
fn a_command_does_not_answer_the_question_of_its_own_session() {
    for place in SandboxHouse::all() {
        assert_question_stays_open(&place);
    }
}

/// Another daemon of the same user does not know this sandbox, and nothing hides its socket.
#[test]
fn a_command_is_not_spoken_to_by_another_daemon() {
    let other = House::below(Path::new("/var/tmp"));
    other.cassette(&Script::new().says("OTHERS-WORD").jsonl());
    assert_eq!(other.reasonix(&["run", "go"]).code(), Some(0));
    let opened = format!("sockets = ['{}']", other.socket().display());
    let all = ["", &opened].into_iter().flat_map(|more| {
        let held = FULL.map(|layer| SandboxHouse::held_fully_with(layer, more));
        let held = held
            .into_iter()
            .chain([SandboxHouse::held_partly_with(more)]);
        held.flatten().map(move |place| (place, !more.is_empty()))
    });
    for (place, is_open) in all {
        // The sandbox shows the program beside the scripts, wherever it was built: `/tmp` may be private.
        let program = place.house.root().join("scripts/client");
        fs::copy(tests::house::client_program(), &program).expect("a copy of the client");
        let asks = format!(
            "REASONIX_HOME='{}' REASONIX_SOCKET='{}' '{}' ls --json 2>&1\n",
            other.home().display(),
            other.socket().display(),
            program.display()
        );
        let command = place.script("asks.sh", &asks);
        let person = Command::new("sh")
            .args(["-c", &command])
            .output()
            .expect("sh");
        let printed = String::from_utf8_lossy(&person.stdout);
        assert!(
            printed.contains("OTHERS-WORD"),
            "a user gets the answer: {printed}"
        );
        let script = Script::new().runs(&command);
        let (status, text) = place.results(&script).remove(0);
        assert_eq!(status, CallStatus::Failed, "{}: {text}", place.layer);
        // Its socket is closed; if the user opens it, it knows who speaks.
        let why = match is_open {
            true => "sandboxed command",
            false => "or this runs in a sandbox",
        };
        assert!(text.contains(why), "{}: {text}", place.layer);
        assert!(!text.contains("OTHERS"), "{}: {text}", place.layer);
    }
}

#[test]
fn nothing_is_left_of_a_sessions_commands() {
    for (number, place) in SandboxHouse::all().into_iter().enumerate() {
        let nap = format!("97{}{number}", std::process::id());
        let command = format!(
            "setsid sh -c 'trap \"\" TERM HUP; sleep {nap}; :' & (setsid sh -c '(sleep {nap} &)' &); touch ready; sleep {nap}"
        );
        let script = Script::new()
            .calls(
                "bash",
                &json!({"command": command, "run_in_background": true}),
            )
            .says("It runs.");
        place.house.cassette(&script.jsonl());
        let mut raw = place.house.raw_as(Role::Drive);
        let mut params = place.house.create("go");
        params.options.approval_mode = Some(proto::state::ApprovalMode::Yolo);
        let params = serde_json::to_value(params).expect("JSON");
        raw.call("session.create", &params).expect("create");
        let sleepers = || processes::saying(&format!("sleep {nap}")).len();
        until("its processes", || (sleepers() >= 3).then_some(()));
        raw.call("session.wait", &json!({"session": "1"}))
            .expect("wait");
        raw.call("session.close", &json!({"session": "1"}))
            .expect("close");
        until("nothing to be left of them", || {
            (sleepers() == 0).then_some(())
        });
    }
}
