//! Clients that ask and read nothing: frames that wait for them are bounded, others are served meanwhile, and the memory is
//! given back.

use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use proto::hello::Role;
use serde_json::json;
use testkit::Script;
use tests::processes::resident;
use tests::wait::within;
use tests::{House, Raw, until};

const MIB: u64 = 1024 * 1024;

/// A session with a record of so many bytes; the number of that record.
fn large_record(house: &House, bytes: usize) -> u64 {
    let mut raw = house.raw_as(Role::Drive);
    let create = serde_json::to_value(house.create(&"words ".repeat(bytes / 6))).expect("JSON");
    raw.call("session.create", &create).expect("create");
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let log = house.log(proto::Pid(1));
    let queued = log
        .kinds()
        .iter()
        .position(|kind| *kind == "prompt.queued")
        .expect("the prompt");
    queued as u64 + 1
}

/// A client that sends calls and reads no answer.
struct Deaf {
    stream: UnixStream,
    rest: Vec<u8>,
}

impl Deaf {
    fn new(house: &House, calls: u64, method: &str, params: &serde_json::Value) -> Self {
        let mut stream = UnixStream::connect(house.socket()).expect("connect");
        let mut raw = Raw::of(stream.try_clone().expect("a second end"));
        raw.hello(Role::Watch).expect("hello");
        stream
            .set_nonblocking(true)
            .expect("a stream that does not block");
        let rest = (0..calls).flat_map(|id| {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            format!("{call}\n").into_bytes()
        });
        let rest = rest.collect();
        stream.flush().expect("nothing waits");
        Self { stream, rest }
    }

    /// Sends as much as the socket takes; returns how much that was.
    fn push(&mut self) -> usize {
        match self.stream.write(&self.rest) {
            Ok(count) => {
                self.rest.drain(..count);
                count
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => panic!("send a call: {error}"),
        }
    }
}

/// Lets them send for as long as the daemon takes anything, and a little longer; another client is answered all the
/// time. The most memory that the daemon had.
fn send_all(daemon: u32, deaf: &mut [Deaf], others: &mut Raw, enough: u64) -> u64 {
    /// A daemon that takes calls again takes one within this time.
    const QUIET: Duration = Duration::from_secs(2);
    let mut most = 0;
    let mut took = Instant::now();
    while took.elapsed() < QUIET && most < enough {
        let asked = Instant::now();
        others.call("daemon.status", &json!({})).expect("status");
        assert!(
            asked.elapsed() < Duration::from_secs(10),
            "another client waits"
        );
        if deaf.iter_mut().map(Deaf::push).sum::<usize>() > 0 {
            took = Instant::now();
        }
        most = most.max(resident(daemon));
    }
    most
}

/// Waits until the daemon holds at most so much.
fn given_back(daemon: u32, most: u64) {
    let mut last = 0;
    let found = within(tests::BOUND, &mut || {
        last = resident(daemon);
        (last <= most).then_some(())
    });
    assert!(
        found.is_some(),
        "{} MiB stay, of {}",
        last / MIB,
        most / MIB
    );
}

#[test]
fn a_client_that_asks_for_large_pages_and_reads_none_costs_bounded_memory() {
    let house = House::playing(&Script::new().says("Done."));
    house.daemon();
    let seq = large_record(&house, 400_000);
    let mut others = house.raw_as(Role::Watch);
    let daemon = house.daemon_pid().expect("a daemon");
    let before = resident(daemon);
    let page = json!({"session": "1", "from_seq": seq, "limit": 1});
    let mut deaf = [Deaf::new(&house, 6_000, "session.read", &page)];
    let bound = before + 64 * MIB;
    let most = send_all(daemon, &mut deaf, &mut others, bound);
    assert!(
        most < bound,
        "{} MiB, and then {} MiB",
        before / MIB,
        most / MIB
    );
    assert!(!deaf[0].rest.is_empty(), "its calls are not read meanwhile");
    drop(deaf);
    given_back(daemon, before + 24 * MIB);
}

#[test]
fn memory_for_clients_that_read_no_answers_is_bounded_in_total() {
    const DEAF: usize = 40;
    let house = House::playing(&Script::new().says("Done."));
    house.daemon();
    let seq = large_record(&house, 400_000);
    let mut others = house.raw_as(Role::Watch);
    let daemon = house.daemon_pid().expect("a daemon");
    let before = resident(daemon);
    let page = json!({"session": "1", "from_seq": seq, "limit": 1});
    let mut deaf: Vec<Deaf> = (0..DEAF)
        .map(|_| Deaf::new(&house, 40, "session.read", &page))
        .collect();
    let bound = before + 160 * MIB;
    let most = send_all(daemon, &mut deaf, &mut others, bound);
    assert!(
        most < bound,
        "{} MiB, and then {} MiB",
        before / MIB,
        most / MIB
    );
    // Each of them gets all its answers as soon as it reads.
    let mut one = deaf.remove(0);
    drop(deaf);
    one.stream
        .set_nonblocking(false)
        .expect("a stream that blocks");
    let mut answers = Raw::of(one.stream.try_clone().expect("a second end"));
    let rest = std::mem::take(&mut one.rest);
    let sending = std::thread::spawn(move || one.stream.write_all(&rest).expect("the rest"));
    let mut ids: Vec<u64> = (0..40)
        .map(|_| {
            let frame = answers.frame().expect("an answer");
            assert_eq!(frame["result"]["events"][0]["seq"], seq);
            frame["id"].as_u64().expect("an id")
        })
        .collect();
    sending.join().expect("all were sent");
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..40), "each has one answer");
    given_back(daemon, before + 48 * MIB);
}

#[test]
fn subscriptions_that_nobody_reads_cost_bounded_memory_and_catch_up() {
    const SESSIONS: usize = 16;
    const PROMPTS: usize = 10;
    let script =
        (0..SESSIONS * (PROMPTS + 1)).fold(Script::new(), |script, _| script.says("Done."));
    let house = House::playing(&script);
    house.daemon();
    let mut others = house.raw_as(Role::Drive);
    let mut deaf = house.raw_as(Role::Watch);
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let create = serde_json::to_value(house.create("hello")).expect("JSON");
        let created = others.call("session.create", &create).expect("create");
        let session = created["session"].as_str().expect("an id").to_owned();
        others
            .call("session.wait", &json!({"session": session}))
            .expect("wait");
        let attach = json!({"session": session, "subscription": number.to_string(), "after_seq": 0, "ephemeral": true});
        deaf.call("session.attach", &attach).expect("attach");
        sessions.push(session);
    }
    let daemon = house.daemon_pid().expect("a daemon");
    let before = resident(daemon);
    let text = "words ".repeat(300_000 / 6);
    for _ in 0..PROMPTS {
        for session in &sessions {
            let prompt =
                json!({"session": session, "text": text, "request_id": proto::RequestId::new()});
            others.call("session.prompt", &prompt).expect("prompt");
        }
    }
    // The queued prompts have 48 MiB, in the sessions and in frames that wait for the client; the history index takes a few more.
    let most = resident(daemon);
    assert!(
        most < before + 128 * MIB,
        "{} MiB, and then {} MiB",
        before / MIB,
        most / MIB
    );
    // All of it comes, in order, to who begins to read.
    let mut next = [1; SESSIONS];
    let mut queued = 0;
    while queued < SESSIONS * (PROMPTS + 1) {
        let mut params = deaf.event();
        let number: usize = params["subscription"]
            .as_str()
            .and_then(|name| name.parse().ok())
            .expect("a name");
        let event = params["event"].take();
        if let Some(seq) = event["seq"].as_u64() {
            assert_eq!(seq, next[number]);
            next[number] += 1;
        }
        queued += usize::from(event["kind"] == "prompt.queued");
    }
    drop(deaf);
    until("the daemon to be at rest", || {
        let status = others.call("daemon.status", &json!({})).expect("status");
        (status["sessions"]["running"] == 0).then_some(())
    });
}

#[test]
fn exports_that_nobody_reads_are_made_once_and_go_with_their_clients() {
    const DEAF: usize = 8;
    let house = House::playing(&Script::new().says("Done."));
    house.daemon();
    large_record(&house, 900_000);
    let mut others = house.raw_as(Role::Watch);
    let daemon = house.daemon_pid().expect("a daemon");
    let before = resident(daemon);
    let whole = json!({"session": "1", "format": "jsonl", "offset": 0});
    let mut deaf: Vec<Deaf> = (0..DEAF)
        .map(|_| Deaf::new(&house, 300, "session.export", &whole))
        .collect();
    let bound = before + 160 * MIB;
    let most = send_all(daemon, &mut deaf, &mut others, bound);
    assert!(
        most < bound,
        "{} MiB, and then {} MiB",
        before / MIB,
        most / MIB
    );
    drop(deaf);
    until("them to be forgotten", || {
        let status = others.call("daemon.status", &json!({})).expect("status");
        (status["clients"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
    given_back(daemon, before + 48 * MIB);
}
