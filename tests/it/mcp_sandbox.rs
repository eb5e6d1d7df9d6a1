//! MCP servers in the sandbox: what they reach, and that none starts without one.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use proto::hello::Role;
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::house::faulty_server;
use tests::{House, processes, skip, until};

use crate::mcp::servers;
use crate::scripted::{self, run};

/// A house whose files a sandboxed program can see, which has a `/tmp` of its own. `None`, and counted: no full layer of the
/// sandbox works here.
fn held_house(settings: &str) -> Option<House> {
    let house = bare_house(settings);
    house.daemon();
    let mut raw = house.raw_as(Role::Watch);
    let confinement = until("how commands are held", || {
        let status = raw.call("daemon.status", &json!({})).expect("a status");
        let text = status["confinement"].as_str().expect("it").to_owned();
        (!text.contains("not known yet")).then_some(text)
    });
    let full = !confinement.contains("partial sandbox") && !confinement.contains("no sandbox");
    (!skip::unless(full, &format!("a full sandbox ({confinement})"))).then_some(house)
}

fn bare_house(settings: &str) -> House {
    let house = House::below(Path::new("/var/tmp"));
    house.settings(scripted::FAST_RETRIES);
    house.settings(settings);
    let program = program(&house);
    fs::copy(faulty_server(), program).expect("copy the server");
    house
}

fn program(house: &House) -> PathBuf {
    house.root().join("server")
}

/// The entry of a server that counts its starts in a file of the project, in the sandbox or not.
fn entry(house: &House, name: &str, sandbox: bool) -> Value {
    let count = counted(house, name).to_string_lossy().into_owned();
    let arguments = ["reach", "--count", &count];
    json!({"command": program(house), "args": arguments, "sandbox": sandbox})
}

fn counted(house: &House, name: &str) -> PathBuf {
    house.project().join(format!("starts-{name}"))
}

fn starts(house: &House, name: &str) -> usize {
    let text = fs::read_to_string(counted(house, name)).unwrap_or_default();
    text.lines().count()
}

/// The server's process, by the file in which it counts. Its own number is another one inside a namespace.
fn process_of(house: &House, name: &str) -> Option<u32> {
    let count = counted(house, name);
    let program = program(house);
    let mut found = processes::saying(&count.to_string_lossy()).into_iter();
    let server = found.find(|one| one.command.starts_with(&*program.to_string_lossy()));
    server.map(|process| process.pid)
}

/// What servers of these names say that they reach, in one run.
fn reached(house: &House, names: &'static [&'static str], arguments: &Value) -> Vec<String> {
    let wanted = arguments.clone();
    let model = Model::start(Script::by(move |request: &Request| {
        match names.get(request.answered()) {
            Some(name) => Answer::call(&format!("mcp__{name}__reach"), wanted.clone()),
            None => Answer::text("Done."),
        }
    }));
    static MODELS: AtomicUsize = AtomicUsize::new(0);
    let name = format!("model{}", MODELS.fetch_add(1, Ordering::Relaxed));
    house.provider(&model.entry(&name, None));
    let allowed = names.iter().map(|name| format!("mcp__{name}"));
    let allowed: Vec<_> = allowed
        .flat_map(|rule| ["--allow".to_owned(), rule])
        .collect();
    let allowed = allowed.iter().map(String::as_str);
    let options: Vec<_> = ["--model", &name].into_iter().chain(allowed).collect();
    run(house, &options, "Go.").expect(0, "completed");
    let requests = model.requests();
    let results = requests.last().expect("a request").results();
    results
        .iter()
        .map(|(_, text)| (*text).to_string())
        .collect()
}

/// The same server without its sandbox reaches all of it, or nothing would be shown here.
#[test]
fn a_sandboxed_server_reaches_what_commands_reach_and_nothing_else() {
    let Some(house) = held_house("") else { return };
    let outside = house.root().join("out");
    let keys = house.user_home().join(".ssh");
    for dir in [&outside, &keys] {
        fs::create_dir_all(dir).expect("a directory");
    }
    fs::write(keys.join("id"), "SECRET").expect("a key");
    fs::write(house.project().join("file"), "text").expect("a file");
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let address = listener.local_addr().expect("its address").to_string();
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mine = text(house.project().join("made"));
    let read = text(house.project().join("file"));
    let closed = [
        ("write", text(outside.join("made"))),
        ("write", text(house.user_home().join("made"))),
        ("write", text(house.home_file("made"))),
        ("read", text(keys.join("id"))),
        ("read", text(house.home_file("config.toml"))),
        ("connect", text(house.socket())),
        ("tcp", address),
    ];
    let all = |way: &str| -> Vec<_> {
        let places = closed.iter().filter(|(known, _)| *known == way);
        places.map(|(_, place)| place.clone()).collect()
    };
    let with = |mut places: Vec<String>, more: &String| {
        places.push(more.clone());
        places
    };
    let arguments = json!({
        "write": with(all("write"), &mine),
        "read": with(all("read"), &read),
        "connect": all("connect"),
        "tcp": all("tcp"),
    });
    let entries =
        json!({"held": entry(&house, "held", true), "open": entry(&house, "open", false)});
    servers(&house, &entries);
    let said = reached(&house, &["held", "open"], &arguments);
    let [held, open] = said.as_slice() else {
        panic!("{said:?}")
    };
    for line in [format!("write {mine}: yes"), format!("read {read}: yes")] {
        assert!(held.contains(&line), "{line}: {held}");
    }
    for (way, place) in &closed {
        let line = format!("{way} {place}: ");
        assert!(held.contains(&format!("{line}no")), "{line}: {held}");
        assert!(open.contains(&format!("{line}yes")), "{line}: {open}");
    }
    // It is the same program in the same directory, and another process.
    assert_eq!((starts(&house, "held"), starts(&house, "open")), (1, 1));
    let listed = house.reasonix(&["mcp", "list"]).expect_code(0).out;
    let row = |name: &str| {
        let mut rows = listed.lines();
        let found = rows.find(|line| line.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name}: {listed}"))
    };
    assert!(row("held").contains("ready, sandboxed"), "{listed}");
    assert!(!row("open").contains("sandboxed"), "{listed}");
    let running = house.reasonix(&["ps"]).expect_code(0).out;
    assert!(running.contains("mcp held (sandboxed)"), "{running}");
}

/// What it writes under a protected name would be run or obeyed by others later.
#[test]
fn a_protected_name_that_a_sandboxed_server_makes_is_moved_away_and_noted() {
    let Some(house) = held_house("") else { return };
    servers(&house, &json!({"s": entry(&house, "s", true)}));
    let made = house.project().join(".mcp.json");
    reached(&house, &["s"], &json!({"write": [made]}));
    until("the name to be moved away", || {
        (!made.exists()).then_some(())
    });
    until("the note on it", || {
        let logs = house.reasonix(&["mcp", "logs", "s"]).expect_code(0).out;
        logs.contains("a name that its sandbox protects")
            .then_some(())
    });
    assert!(process_of(&house, "s").is_some(), "it goes on");
}

#[test]
fn a_sandboxed_server_has_the_network_that_commands_have() {
    let Some(house) = held_house("[sandbox]\nnetwork = true") else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let address = listener.local_addr().expect("its address").to_string();
    servers(&house, &json!({"s": entry(&house, "s", true)}));
    let said = reached(&house, &["s"], &json!({"tcp": [address]}));
    assert_eq!(said, [format!("tcp {address}: yes\n")]);
}

#[test]
fn other_settings_of_the_sandbox_count_from_the_next_call_on() {
    let Some(house) = held_house("") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let address = listener.local_addr().expect("its address").to_string();
    servers(&house, &json!({"s": entry(&house, "s", true)}));
    let arguments = json!({"tcp": [address]});
    for (network, answer) in [(false, "no"), (true, "yes"), (false, "no")] {
        house.files(&format!(
            "//- reasonix.toml\n[sandbox]\nnetwork = {network}\n"
        ));
        let _ = house.reasonix(&["trust", "--yes"]).expect_code(0);
        let said = reached(&house, &["s"], &arguments);
        assert_eq!(said, [format!("tcp {address}: {answer}\n")]);
    }
    assert_eq!(starts(&house, "s"), 3);
    // The same settings of now restart nothing.
    reached(&house, &["s"], &arguments);
    assert_eq!(starts(&house, "s"), 3);
}

#[test]
fn a_server_whose_sandbox_is_not_full_here_does_not_start_and_says_what_to_do() {
    let house = bare_house("[sandbox]\nlayer = \"landlock\"\nbash = \"off\"");
    servers(
        &house,
        &json!({"held": entry(&house, "held", true), "open": entry(&house, "open", false)}),
    );
    let tried = house.reasonix(&["mcp", "test", "held"]).expect_code(1);
    for words in [
        "failed, sandboxed",
        "is not started without",
        "reasonix doctor",
    ] {
        let said = format!("{}{}", tried.out, tried.err);
        assert!(said.contains(words), "{words}: {said}");
    }
    let _ = house.reasonix(&["mcp", "test", "open"]).expect_code(0);
    assert_eq!((starts(&house, "held"), starts(&house, "open")), (0, 1));
}

#[test]
fn a_sandboxed_server_comes_back_after_a_kill_and_goes_with_its_daemon() {
    let Some(house) = held_house("") else { return };
    servers(&house, &json!({"s": entry(&house, "s", true)}));
    let _ = house.reasonix(&["mcp", "test", "s"]).expect_code(0);
    let first = process_of(&house, "s").expect("its process");
    processes::send(first, Signal::KILL);
    let second = until("another process", || {
        process_of(&house, "s").filter(|process| *process != first)
    });
    house.kill_daemon();
    until("the server to be gone with the killed daemon", || {
        (!processes::runs(second)).then_some(())
    });
    house.wait_for_daemon();
    let _ = house.reasonix(&["mcp", "test", "s"]).expect_code(0);
    let third = process_of(&house, "s").expect("its process");
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    assert!(!processes::runs(third), "it is gone with the daemon");
}

#[test]
fn the_sandbox_of_a_projects_server_is_shown_before_it_is_trusted_and_its_end_asks_again() {
    let house = bare_house("");
    let theirs = |sandbox: bool| {
        let text = json!({"mcpServers": {"s": entry(&house, "s", sandbox)}}).to_string();
        fs::write(house.project().join(".mcp.json"), text).expect("write the servers");
    };
    theirs(true);
    let shown = house.reasonix(&["trust", "--show"]);
    let said = format!("{}{}", shown.out, shown.err);
    assert!(said.contains("MCP server s: runs in the sandbox"), "{said}");
    let _ = house.reasonix(&["trust", "--yes"]).expect_code(0);
    let listed = || house.reasonix(&["mcp", "list"]).expect_code(0);
    assert!(listed().out.contains(", sandboxed"), "{:?}", listed());
    theirs(false);
    assert!(!listed().out.contains("reach"), "{:?}", listed());
    let shown = house.reasonix(&["trust", "--show"]);
    let said = format!("{}{}", shown.out, shown.err);
    assert!(said.contains("MCP server s: runs /"), "{said}");
}

#[test]
fn mcp_add_writes_the_sandbox_into_the_entry() {
    let house = bare_house("");
    let program = program(&house).to_string_lossy().into_owned();
    let add = ["mcp", "add", "--sandbox", "s", &program, "reach"];
    let _ = house.reasonix(&add).expect_code(0);
    let text = fs::read_to_string(house.home_file("mcp.json")).expect("the servers");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["mcpServers"]["s"]["sandbox"], true);
    let far = ["mcp", "add", "--sandbox", "far", "https://mcp.example/mcp"];
    let refused = house.reasonix(&far);
    assert_ne!(refused.code(), Some(0), "{refused:?}");
    assert!(refused.err.contains("is not started here"), "{refused:?}");
}

#[test]
fn a_sandboxed_server_below_tmp_says_that_it_is_hidden() {
    let Some(house) = held_house("") else { return };
    let dir = tempfile::tempdir_in("/tmp").expect("a directory");
    let program = dir.path().join("server");
    fs::copy(faulty_server(), &program).expect("copy the server");
    let entry = |command: &Path, arguments: Value| json!({"command": command, "args": arguments, "sandbox": true});
    let script = dir.path().join("server.sh");
    fs::write(&script, "exec sleep 9").expect("a script");
    servers(
        &house,
        &json!({
            "program": entry(&program, json!(["ok"])),
            "script": entry(Path::new("/bin/sh"), json!([script])),
        }),
    );
    for (name, file) in [("program", &program), ("script", &script)] {
        let tested = house.reasonix(&["mcp", "test", name]).expect_code(1);
        let said = format!("`{}` is below `/tmp`", file.display());
        assert!(tested.err.contains(&said), "{name}: {tested:?}");
    }
}
