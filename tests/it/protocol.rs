//! The socket as strangers see it: whatever comes in gets its error, and nobody else notices.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use proto::hello::Role;
use proto::{ErrorName, Pid, SessionId, frame};
use serde_json::{Value, json};
use testkit::{RaiseOnDrop, Script};
use tests::raw::{answer, hello_params};
use tests::{House, Raw, skip, until};

/// The JSON-RPC error code of a frame.
fn code(frame: &Value) -> i64 {
    frame["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("an error: {frame}"))
}

fn ping(raw: &mut Raw) {
    let status = raw
        .call("daemon.status", &json!({}))
        .expect("a connection that lives on");
    assert_eq!(status["version"], proto::VERSION);
}

#[test]
fn garbage_gets_its_error_and_the_connection_lives_on() {
    let house = House::new();
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let deep = "[".repeat(100_000);
    for (line, expected) in [
        ("nonsense", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\":", -32700),
        ("\u{0}\u{1}\u{2}", -32700),
        (deep.as_str(), -32700),
        ("", -32700),
        ("{}", -32600),
        ("17", -32600),
        ("null", -32600),
        ("{\"id\": 5, \"method\": \"daemon.status\"}", -32600),
        (
            "{\"jsonrpc\": \"1.0\", \"id\": 5, \"method\": \"daemon.status\"}",
            -32600,
        ),
        ("{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": 7}", -32600),
        (
            "[{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"daemon.status\"}]",
            -32600,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"no.such\"}",
            -32601,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"session.get\", \"params\": {\"session\": 5}}",
            -32602,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"session.get\", \"params\": {}}",
            -32602,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"session.get\"}",
            -32602,
        ),
        (
            "{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"session.get\", \"params\": [1, 2]}",
            -32602,
        ),
    ] {
        raw.line(line);
        let frame = raw
            .frame()
            .unwrap_or_else(|| panic!("the connection ended after {line:.60}"));
        assert_eq!(code(&frame), expected, "{line:.60}: {frame}");
        let hint = frame["error"]["data"]["hint"].as_str().unwrap_or_default();
        assert!(!hint.is_empty(), "what to do about it: {frame}");
        ping(&mut raw);
    }
    // Bytes that are no UTF-8, and a notification, which gets no answer at all.
    raw.bytes(b"\xff\xfe{\n").expect("write");
    assert_eq!(code(&raw.frame().expect("an error")), -32700);
    raw.line("{\"jsonrpc\": \"2.0\", \"method\": \"daemon.status\"}");
    ping(&mut raw);
    // Fields that nobody knows are passed over, in the envelope and in parameters.
    raw.line("{\"jsonrpc\": \"2.0\", \"id\": \"text\", \"method\": \"session.list\", \"params\": {\"limit\": 1, \"newer\": true}, \"trace\": 1}");
    let frame = raw.frame().expect("an answer");
    assert_eq!(
        (&frame["id"], &frame["result"]["sessions"]),
        (&json!("text"), &json!([]))
    );
}

#[test]
fn half_a_frame_and_then_nothing_hurts_nobody() {
    let house = House::new();
    house.daemon();
    let mut good = house.raw_as(Role::Watch);
    let mut half = house.raw_as(Role::Drive);
    half.bytes(b"{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"daemon.shutdown\", \"params\": {\"mode\": \"now\"}}").expect("write");
    drop(half);
    until("the connection to be forgotten", || {
        let status = good.call("daemon.status", &json!({})).expect("status");
        (status["clients"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
}

#[test]
fn a_frame_that_is_too_long_is_refused_and_the_connection_closed() {
    let house = House::new();
    house.daemon();
    let mut good = house.raw_as(Role::Watch);
    let mut raw = house.raw_as(Role::Drive);
    let text = "x".repeat(5 * 1024 * 1024);
    let line = json!({"jsonrpc": "2.0", "id": 9, "method": "session.prompt", "params": {"session": "1", "text": text}}).to_string();
    // The daemon may close before it has read all of it.
    let _ = raw.bytes(line.as_bytes()).and_then(|()| raw.bytes(b"\n"));
    let refused = raw.frame().expect("an error before the end");
    assert_eq!(
        answer(&refused).expect_err("an error").name,
        ErrorName::Limit
    );
    assert!(raw.is_closed());
    ping(&mut good);
    // The largest that is allowed is taken: it names an unknown session, but it was read.
    let mut raw = house.raw_as(Role::Drive);
    let envelope = json!({"jsonrpc": "2.0", "id": 9, "method": "session.prompt", "params": {"session": "1", "text": ""}}).to_string();
    let text = "x".repeat(frame::INBOUND_MAX - envelope.len());
    let failure = raw
        .call(
            "session.prompt",
            &json!({"session": "1", "text": text[..text.len() - 8]}),
        )
        .expect_err("no session");
    assert_eq!(failure.name, ErrorName::NotFound);
    ping(&mut raw);
}

#[test]
fn hello_comes_first_and_once() {
    let house = House::new();
    house.daemon();
    let mut raw = house.raw();
    assert_eq!(
        raw.call("daemon.status", &json!({}))
            .expect_err("too early")
            .name,
        ErrorName::NotReady
    );
    let strange = raw.call(
        "daemon.hello",
        &json!({"client": {"name": "x", "version": "1"}, "protocol": [90, 99], "role": "watch"}),
    );
    let strange = strange.expect_err("no version in common");
    assert_eq!(strange.name, ErrorName::ProtocolMismatch);
    assert_eq!(strange.details.get("client"), Some(&json!([90, 99])));
    assert_eq!(strange.details.get("daemon"), Some(&json!(proto::PROTOCOL)));
    assert!(
        strange.message.contains("90") && strange.hint.contains("daemon"),
        "which side to upgrade: {strange:?}"
    );
    let hello = raw.hello(Role::Watch).expect("hello, at last");
    assert_eq!(
        (&hello["role"], &hello["protocol"]),
        (&json!("watch"), &json!(proto::PROTOCOL[1]))
    );
    // A second hello does not give more than the first.
    let again = raw.hello(Role::Drive).expect("an answer");
    assert_eq!(again["role"], hello["role"], "the role that it has");
    let refused = raw
        .call("session.close", &json!({"session": "1"}))
        .expect_err("a watcher");
    assert_eq!(refused.name, ErrorName::NotAllowed);
}

#[test]
fn each_role_may_do_what_the_table_says() {
    let house = House::new();
    house.daemon();
    let mut generator = schemars::SchemaGenerator::default();
    for (role, name) in [
        (Role::Watch, "watch"),
        (Role::Approve, "approve"),
        (Role::Drive, "drive"),
    ] {
        let mut raw = house.raw_as(role);
        for row in proto::methods::rows(&mut generator) {
            // Calls without their parameters change nothing; the role is looked at before them.
            if [
                "daemon.hello",
                "daemon.status",
                "session.list",
                "process.list",
                "interaction.list",
                "stats.query",
                "hook.list",
                "mcp.list",
                "mcp.resources",
                "provider.list",
                "config.check",
                "doctor.run",
            ]
            .contains(&row.name)
            {
                raw.call(
                    row.name,
                    &if row.name == "daemon.hello" {
                        hello_params("again", role)
                    } else {
                        json!({})
                    },
                )
                .expect(row.name);
                continue;
            }
            // It can do without: nothing is old enough, as nothing is there.
            if row.name == "session.prune" && row.role <= role {
                continue;
            }
            let failure = raw.call(row.name, &json!({})).expect_err("no parameters");
            let expected = if row.role <= role {
                ErrorName::InvalidParams
            } else {
                ErrorName::NotAllowed
            };
            assert_eq!(
                failure.name, expected,
                "{} as {name}: {failure:?}",
                row.name
            );
        }
    }
}

#[test]
fn sixty_four_connections_of_garbage_do_not_disturb_a_well_behaved_one() {
    let house = House::playing(
        &Script::new()
            .runs("echo one")
            .runs("echo two")
            .says("Done."),
    );
    house.daemon();
    let socket = house.socket();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = RaiseOnDrop(&stop);
        for number in 0..64_u64 {
            let (socket, stop) = (&socket, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    vandal(socket, number);
                }
            });
        }
        let done = house
            .reasonix(&["run", "--on-ask", "allow", "work"])
            .expect_code(0);
        assert_eq!(done.out, "Done.\n");
        let mut good = house.raw_as(Role::Drive);
        for _ in 0..100 {
            ping(&mut good);
        }
    });
    let mut good = house.raw_as(Role::Watch);
    until("all others to be forgotten", || {
        let status = good.call("daemon.status", &json!({})).expect("status");
        (status["clients"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
    house.log(Pid(1)).check();
}

/// One connection that behaves badly, in its own way.
fn vandal(socket: &Path, number: u64) {
    let Ok(mut raw) = Raw::connect(socket) else {
        return;
    };
    // The daemon may close its connection at any time.
    let mut noise: Vec<u8> = (0..4096_u64)
        .map(|at| u8::try_from((at * (number + 7) * 31) % 251).unwrap_or(0))
        .collect();
    match number % 4 {
        0 => noise.retain(|byte| *byte != b'\n'),
        1 => noise = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\"}\n".repeat(20),
        2 => {
            let _ = raw.hello(Role::Drive);
            noise = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.attach\",\"params\":{\"session\":\"1\",\"subscription\":\"x\"}}\n".repeat(20);
        }
        _ => {}
    }
    let _ = raw.bytes(&noise);
    // So that there are sixty-four and not as many as a machine can make.
    raw.hang_up();
}

#[test]
fn the_socket_and_the_home_are_closed_to_others() {
    let house = House::new();
    house.daemon();
    let mode = |path: &Path| std::fs::symlink_metadata(path).expect("it exists").mode() & 0o777;
    assert_eq!(mode(&house.socket()), 0o600);
    for directory in ["", "run", "sessions", "logs", "open", "usage", "projects"] {
        assert_eq!(mode(&house.home().join(directory)), 0o700, "{directory}");
    }
    let _ = house.reasonix(&["run", "x"]);
    let open: Vec<_> = walk(&house.home())
        .into_iter()
        .filter(|path| mode(path) & 0o077 != 0)
        .collect();
    let made_by_the_test = ["config.toml", "cassette.jsonl"];
    let open: Vec<_> = open
        .iter()
        .filter(|path| !made_by_the_test.iter().any(|name| path.ends_with(name)))
        .collect();
    assert!(open.is_empty(), "others can get at {open:?}");
}

/// Everything below a directory.
fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(walk(&entry.path()));
        }
    }
    found
}

#[test]
fn a_daemon_does_not_start_where_others_can_write() {
    for directory in ["", "run"] {
        let house = House::new();
        let path = house.home().join(directory);
        std::fs::create_dir_all(&path).expect("a directory");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).expect("open it");
        let done = house.reasonix(&["ls"]).expect_code(69);
        assert!(done.err.contains("daemon"), "{done:?}");
        let mut child = house.spawn_daemon(&["serve"]);
        assert_eq!(
            child.wait().expect("its end").code(),
            Some(1),
            "{directory}"
        );
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("close it");
    }
}

#[test]
fn another_user_gets_no_answer() {
    if skip::unless_root("becoming another user") {
        return;
    }
    let house = House::new();
    house.daemon();
    assert_eq!(
        as_nobody(&house.socket())
            .expect_err("closed by its modes")
            .kind(),
        std::io::ErrorKind::PermissionDenied
    );
    // Even where the modes let them in, the daemon does not talk to them.
    for path in [
        house.root().to_path_buf(),
        house.home(),
        house.home().join("run"),
        house.socket(),
    ] {
        let mode = if path == house.socket() { 0o666 } else { 0o711 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("open it");
    }
    let mut stranger = as_nobody(&house.socket()).expect("a connection that the modes allow");
    stranger.ask_quietly("daemon.hello", &hello_params("stranger", Role::Drive));
    assert!(stranger.0.is_closed(), "not a word");
    for path in [
        house.home().join("run"),
        house.home(),
        house.root().to_path_buf(),
    ] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("close it");
    }
    let mut own = house.raw_as(Role::Drive);
    ping(&mut own);
}

#[derive(Debug)]
struct Stranger(Raw);

impl Stranger {
    /// Sends a call; the daemon may have hung up already.
    fn ask_quietly(&mut self, method: &str, params: &Value) {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let _ = self.0.bytes(format!("{line}\n").as_bytes());
    }
}

/// Connects as user 65534. The kernel reports to the daemon who connected, not who reads later.
fn as_nobody(socket: &Path) -> std::io::Result<Stranger> {
    let socket = socket.to_path_buf();
    let thread = std::thread::spawn(move || {
        let nobody = rustix::process::Uid::from_raw(65_534);
        // Of this thread alone, which ends here.
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody)?;
        Raw::connect(&socket)
    });
    thread
        .join()
        .expect("a thread that ends well")
        .map(Stranger)
}

#[test]
fn a_repeated_request_is_executed_once() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let create = serde_json::to_value(house.create("work")).expect("JSON");
    let first = raw.call("session.create", &create).expect("create");
    // As a client does whose connection broke before the answer came.
    let mut again = house.raw_as(Role::Drive);
    assert_eq!(
        again
            .call("session.create", &create)
            .expect("the same session"),
        first
    );
    // Another prompt is not dropped in silence.
    let mut other = create.clone();
    other["prompt"] = json!("other work");
    let refused = again
        .call("session.create", &other)
        .expect_err("another prompt under the same id");
    assert_eq!(refused.name, ErrorName::RequestIdReused, "{refused:?}");
    let prompt = json!({"session": "1", "text": "more", "request_id": SessionId::new()});
    let one = raw.call("session.prompt", &prompt).expect("a prompt");
    let two = again
        .call("session.prompt", &prompt)
        .expect("the same prompt");
    assert_eq!(
        (&one["prompt_id"], &one["seq"]),
        (&two["prompt_id"], &two["seq"])
    );
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let log = house.log(Pid(1));
    assert_eq!(log.count("message.user"), 2);
    assert_eq!(house.logs().len(), 1);
}

#[test]
fn the_socket_takes_no_more_than_its_connections_and_says_so() {
    let house = House::new();
    house.daemon();
    let idle: Vec<UnixStream> = (0..512)
        .map(|_| UnixStream::connect(house.socket()).expect("connect"))
        .collect();
    let refused = until("a refusal", || {
        let mut raw = house.raw();
        let frame = raw.frame()?;
        Some(answer(&frame).expect_err("an error"))
    });
    assert_eq!(refused.name, ErrorName::Limit);
    drop(idle);
    until("room for others", || house.daemon_pid());
}

#[test]
fn a_watcher_looks_at_the_index_and_does_not_rebuild_it() {
    let house = House::new();
    house.daemon();
    let mut raw = house.raw_as(Role::Watch);
    raw.call("doctor.run", &json!({})).expect("a look");
    let refused = raw
        .call("doctor.run", &json!({"rebuild_index": true}))
        .expect_err("only with `drive`");
    assert_eq!(refused.name, ErrorName::NotAllowed);
    let mut raw = house.raw_as(Role::Drive);
    raw.call("doctor.run", &json!({"rebuild_index": true}))
        .expect("made again");
}

#[test]
fn reading_from_the_last_number_there_is_hurts_nobody() {
    let house = House::playing(&Script::new().says("Done."));
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let params = json!({"session": "0189aaaa-0000-7000-8000-000000000001", "cwd": house.project()});
    let session = &raw.call("session.create", &params).expect("create")["session"];
    let attach = json!({"session": session, "subscription": "far", "after_seq": u64::MAX, "ephemeral": false});
    let _ = raw.call("session.attach", &attach);
    ping(&mut raw);
}
