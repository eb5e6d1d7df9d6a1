//! Many at once, and odd ones: what connections, frames and answers cost, and who wins where all want the same.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::{ErrorName, Failure, Pid, frame};
use serde_json::json;
use testkit::Script;
use testkit::model::{Answer, Model, Request};
use tests::interactions::{raw_decide, raw_list};
use tests::wait::pace;
use tests::{House, Raw, processes, skip, until};

/// What the daemon holds: descriptors, and bytes in memory. For root alone.
fn held(house: &House, raw: &mut Raw) -> (usize, u64) {
    let daemon = house.daemon_pid().expect("a daemon");
    (processes::descriptors(daemon), memory(raw))
}

/// The bytes that the daemon holds in memory.
fn memory(raw: &mut Raw) -> u64 {
    let status = raw.call("daemon.status", &json!({})).expect("status");
    status["memory_bytes"].as_u64().expect("bytes")
}

/// Waits until only so many clients are known.
fn alone(raw: &mut Raw, clients: usize) {
    until("the others to be forgotten", || {
        let status = raw.call("daemon.status", &json!({})).expect("status");
        (status["clients"].as_array().map(Vec::len) == Some(clients)).then_some(())
    });
}

const MIB: u64 = 1024 * 1024;

#[test]
fn f59_a_thousand_attachments_leave_no_descriptor_and_no_memory() {
    if skip::unless_root("counting the daemon's descriptors") {
        return;
    }
    let house = House::playing(&Script::new().says("Done."));
    house.daemon();
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    let mut watch = house.raw_as(Role::Watch);
    let attach = json!({"session": "1", "subscription": "s", "after_seq": 0, "ephemeral": true});
    let some = |count: usize| {
        for number in 0..count {
            let mut raw = house.raw_as(Role::Watch);
            raw.call("session.attach", &attach).expect("attach");
            // Some see it out, some go at once.
            if number % 2 == 0 {
                raw.event();
            }
        }
    };
    some(100);
    alone(&mut watch, 1);
    let before = held(&house, &mut watch);
    some(1_000);
    alone(&mut watch, 1);
    until("the descriptors to be given back", || {
        (held(&house, &mut watch).0 <= before.0 + 4).then_some(())
    });
    let after = held(&house, &mut watch);
    assert!(after.1 <= before.1 + 16 * MIB, "{before:?} {after:?}");
    // The same on one connection.
    let detach = json!({"subscription": "s"});
    for _ in 0..1_000 {
        watch.call("session.attach", &attach).expect("attach");
        watch.call("session.detach", &detach).expect("detach");
    }
    let last = held(&house, &mut watch);
    assert!(
        last.0 <= before.0 + 4 && last.1 <= before.1 + 16 * MIB,
        "{before:?} {last:?}"
    );
}

/// The JSON-RPC error code of the next frame.
fn code(raw: &mut Raw, what: &str) -> i64 {
    let frame = raw
        .frame()
        .unwrap_or_else(|| panic!("the connection ended after {what}"));
    frame["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("{what}: an error, not {frame:.200}"))
}

#[test]
fn f64_a_million_levels_a_million_elements_and_many_calls_in_flight_cost_bounded_memory() {
    const CALLS: u64 = 20_000;
    let house = House::new();
    house.daemon();
    let mut watch = house.raw_as(Role::Watch);
    let before = memory(&mut watch);
    let deep = "[".repeat(1_000_000);
    let members = "{\"a\":".repeat(600_000);
    let closed = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let batch = format!("[{}1]", "1,".repeat(999_999));
    let within =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.list\",\"params\":{closed}}}");
    let mut raw = house.raw_as(Role::Drive);
    for (what, line, codes) in [
        ("a million brackets", &deep, &[-32_700][..]),
        ("members in members", &members, &[-32_700]),
        ("a million levels", &closed, &[-32_700, -32_600]),
        ("a million elements", &batch, &[-32_600]),
        (
            "parameters a million levels deep",
            &within,
            &[-32_700, -32_602],
        ),
    ] {
        assert!(line.len() < frame::INBOUND_MAX, "{what}");
        raw.line(line);
        let code = code(&mut raw, what);
        assert!(codes.contains(&code), "{what}: {code}");
    }
    // Far more calls than may be in flight, by somebody who reads nothing meanwhile.
    let mut writer = UnixStream::connect(house.socket()).expect("connect");
    let mut greedy = Raw::of(writer.try_clone().expect("a second end"));
    greedy.hello(Role::Watch).expect("hello");
    let sending = std::thread::spawn(move || {
        for id in 0..CALLS {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "session.list", "params": {}});
            writer
                .write_all(format!("{call}\n").as_bytes())
                .expect("write");
        }
    });
    // Others are served meanwhile.
    for _ in 0..50 {
        watch.call("daemon.status", &json!({})).expect("status");
    }
    let while_full = memory(&mut watch);
    let mut ids: Vec<u64> = (0..CALLS)
        .map(|_| {
            let frame = greedy.frame().expect("an answer");
            assert!(frame.get("result").is_some(), "{frame}");
            frame["id"].as_u64().expect("an id")
        })
        .collect();
    sending.join().expect("all were sent");
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..CALLS), "each has one answer");
    let after = memory(&mut watch);
    for now in [while_full, after] {
        assert!(now <= before + 64 * MIB, "{before} {now}");
    }
}

#[test]
fn f66_hundreds_that_drip_bytes_are_let_go_and_hold_up_nobody() {
    const DRIPPING: usize = 300;
    let house = House::new();
    house.settings("[internal]\nhello_seconds = 1");
    house.daemon();
    let mut good = house.raw_as(Role::Watch);
    let mut dripping: Vec<UnixStream> = (0..DRIPPING)
        .map(|_| UnixStream::connect(house.socket()).expect("connect"))
        .collect();
    let hello = b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"daemon.hello\", \"params\": {}}";
    let begun = Instant::now();
    let mut bytes = hello.iter().cycle();
    while !dripping.is_empty() {
        assert!(
            begun.elapsed() < tests::BOUND,
            "{} are still there",
            dripping.len()
        );
        let byte = *bytes.next().expect("a byte");
        // A blank line would be a frame; these never end.
        dripping.retain_mut(|stream| stream.write_all(&[byte]).is_ok());
        good.call("daemon.status", &json!({})).expect("status");
        pace(Instant::now() + Duration::from_millis(50));
    }
    alone(&mut good, 1);
    let _ = house.reasonix(&["ls"]).expect_code(0);
}

#[test]
fn f67_a_client_that_leaves_before_the_answer_has_its_request_done_and_leaks_nothing() {
    if skip::unless_root("counting the daemon's descriptors") {
        return;
    }
    let house = House::playing(&Script::new().says("Done."));
    house.daemon();
    let mut watch = house.raw_as(Role::Watch);
    let create = serde_json::to_value(house.create("work")).expect("JSON");
    let mut raw = house.raw_as(Role::Drive);
    raw.ask("session.create", &create);
    drop(raw);
    // It was sent whole: it is done.
    until("the session", || {
        let listed = watch.call("session.list", &json!({})).expect("list");
        (listed["sessions"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
    let wait = |until: &str| json!({"session": "1", "until": until});
    watch.call("session.wait", &wait("turn")).expect("wait");
    house.log(Pid(1)).check();
    let before = held(&house, &mut watch);
    for _ in 0..200 {
        let mut raw = house.raw_as(Role::Drive);
        // This one would wait for good.
        raw.ask("session.wait", &wait("exit"));
        raw.ask("session.read", &json!({"session": "1", "from_seq": 1}));
        raw.ask("session.list", &json!({}));
    }
    alone(&mut watch, 1);
    until("the descriptors to be given back", || {
        (held(&house, &mut watch).0 <= before.0 + 4).then_some(())
    });
}

/// How many races: `REASONIX_RACES=1000 cargo test -p tests --test it f68`.
fn races() -> usize {
    let wished = std::env::var("REASONIX_RACES").ok();
    wished.and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn f68_of_two_simultaneous_answers_one_wins_and_the_other_client_learns_whose() {
    let races = races();
    let mut made = 0;
    let model = Model::start(testkit::model::Script::by(move |_: &Request| {
        made += 1;
        if made > races {
            return Answer::text("Done.");
        }
        Answer::call("bash", json!({"command": format!("touch made{made}")}))
    }));
    let house = House::new();
    house.settings("[agent]\nmax_steps = 0\n[repair]\nenabled = false");
    house.provider(&model.entry("model", None));
    house.daemon();
    let mut one = house.raw();
    let mut two = house.raw();
    for (raw, name) in [(&mut one, "one"), (&mut two, "two")] {
        raw.call(
            "daemon.hello",
            &tests::raw::hello_params(name, Role::Approve),
        )
        .expect("hello");
    }
    let mut raw = house.raw_as(Role::Drive);
    let create = serde_json::to_value(house.create("work")).expect("JSON");
    raw.call("session.create", &create).expect("create");
    let (mut yes, mut last) = (0, json!(null));
    for race in 0..races {
        let open = until("another question", || {
            let first = raw_list(&mut raw).into_iter().next()?;
            // Lists are as of the last moment at which all was on disk.
            (first["interaction_id"] != last).then_some(first)
        });
        last = open["interaction_id"].clone();
        let start = Barrier::new(2);
        let answer = |raw: &mut Raw, decision: &str| {
            start.wait();
            raw.call("interaction.answer", &raw_decide(&open, decision))
        };
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| answer(&mut two, "deny"));
            (
                answer(&mut one, "allow_once"),
                other.join().expect("an answer"),
            )
        });
        let (winner, lost): (&str, Failure) = match (first, second) {
            (Ok(_), Err(lost)) => ("one", lost),
            (Err(lost), Ok(_)) => ("two", lost),
            both => panic!("race {race}: one wins, not {both:?}"),
        };
        assert_eq!(
            lost.name,
            ErrorName::AlreadyResolved,
            "race {race}: {lost:?}"
        );
        assert_eq!(
            lost.details.get("by"),
            Some(&json!(winner)),
            "race {race}: {lost:?}"
        );
        yes += usize::from(winner == "one");
        if winner == "two" {
            continue;
        }
        let made = house.project().join(format!("made{}", race + 1));
        until("the command that was allowed", || {
            made.exists().then_some(())
        });
    }
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let log = house.log(Pid(1));
    let log = log.check();
    assert_eq!(log.count("interaction.resolved"), races);
    assert_eq!(
        log.count("tool.started"),
        yes,
        "the allowed call ran, and nothing else"
    );
}

#[test]
fn f70_odd_ids_answers_to_nothing_and_repeated_ids_change_nothing() {
    let house = House::new();
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let list = |id: &str| {
        format!(
            "{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"method\": \"session.list\", \"params\": {{}}}}"
        )
    };
    // Two calls of one id: each has its answer.
    raw.line(&format!("{}\n{}", list("7"), list("7")));
    for _ in 0..2 {
        let frame = raw.frame().expect("an answer");
        assert_eq!(
            (&frame["id"], frame.get("result").is_some()),
            (&json!(7), true)
        );
    }
    for id in ["18446744073709551615", "\"\"", "\"\u{1f980}\"", "0"] {
        raw.line(&list(id));
        let frame = raw.frame().expect("an answer");
        assert_eq!(frame["id"].to_string(), id, "{frame}");
        assert!(frame.get("result").is_some(), "{frame}");
    }
    for id in [
        "{}",
        "[1]",
        "true",
        "-1",
        "1.5",
        "1e400",
        "18446744073709551616",
    ] {
        raw.line(&list(id));
        let refused = code(&mut raw, id);
        assert!([-32_600, -32_700].contains(&refused), "{id}: {refused}");
    }
    // Answers to what nobody asked.
    for line in [
        "{\"jsonrpc\": \"2.0\", \"id\": 99, \"result\": {}}",
        "{\"jsonrpc\": \"2.0\", \"id\": 99, \"error\": {\"code\": 1, \"message\": \"no\"}}",
    ] {
        raw.line(line);
        assert_eq!(code(&mut raw, line), -32_600);
    }
    raw.call("daemon.status", &json!({}))
        .expect("a connection that lives on");
    let listed = raw.call("session.list", &json!({})).expect("list");
    assert_eq!(listed["sessions"], json!([]));
}

#[test]
fn f72_long_titles_and_long_lists_come_in_frames_that_fit() {
    const SESSIONS: u64 = 6;
    let house = House::playing(&Script::new().says(&"A long answer. ".repeat(4_000)));
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let long = "a title without an end ".repeat(45_000);
    let mut params = serde_json::to_value(house.create(&long)).expect("JSON");
    params["name"] = json!(long);
    let refused = raw
        .call("session.create", &params)
        .expect_err("a name of a megabyte");
    assert_eq!(
        refused.name,
        ErrorName::InvalidParams,
        "{}",
        refused.message.len()
    );
    assert!(refused.message.len() < 4_096, "it is not all said again");
    for _ in 0..SESSIONS {
        let params = serde_json::to_value(house.create(&long)).expect("JSON");
        let created = raw.call("session.create", &params).expect("create");
        let renamed = raw.call(
            "session.set",
            &json!({"session": created["session"], "name": long}),
        );
        assert_eq!(
            renamed.expect_err("the same name").name,
            ErrorName::InvalidParams
        );
    }
    for (method, params) in [
        ("session.list", json!({"limit": 1_000_000})),
        ("process.list", json!({"all": true})),
    ] {
        let listed = raw.call(method, &params).expect(method).to_string();
        assert!(
            listed.len() < frame::OUTBOUND_MAX / 8,
            "{method}: {} bytes",
            listed.len()
        );
    }
    for number in 1..=SESSIONS {
        let wait = json!({"session": number.to_string()});
        raw.call("session.wait", &wait).expect("wait");
    }
    // Every event is one frame, however long the prompt was.
    let mut from = Some(1);
    while let Some(seq) = from {
        let page = raw
            .call("session.read", &json!({"session": "1", "from_seq": seq}))
            .expect("read");
        assert!(page.to_string().len() <= frame::OUTBOUND_MAX);
        from = page["next"].as_u64();
    }
    let _ = house.reasonix(&["ls"]).expect_code(0);
}
