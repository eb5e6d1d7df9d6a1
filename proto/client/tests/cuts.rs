//! A daemon whose connections break at any byte, and whose bytes come in any pieces: a follower sees every durable
//! event once, in order and whole.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use client::{Client, FollowEvent, FollowFrom, Options, Start};
use proptest::prelude::*;
use proto::Seq;
use serde_json::{Value, json};
use tempfile::TempDir;

const SESSION: &str = "01890000-0000-7000-8000-000000000003";

/// What the daemon has, and how its connections behave.
#[derive(Clone, Debug)]
struct Script {
    /// Records there are in the end.
    records: u64,
    /// Of them, those that the snapshot includes.
    before: u64,
    /// Each so manieth record is too large for a frame; 0: none is.
    large: u64,
    /// After how many bytes each connection breaks; those beyond hold.
    cuts: Vec<usize>,
    /// Bytes of each write, over and over.
    chunks: Vec<usize>,
    /// Bytes of each piece of a large record.
    piece: usize,
}

impl Script {
    fn data(&self, seq: u64) -> String {
        let words = "wörds ".repeat(usize::try_from(seq % 5).unwrap() + 1);
        json!({"level": "info", "text": format!("{seq} {words}")}).to_string()
    }

    fn event(&self, seq: u64) -> Value {
        let large = self.large > 0 && seq.is_multiple_of(self.large);
        let data = if large {
            json!({"oversized_bytes": 2_000_000})
        } else {
            serde_json::from_str(&self.data(seq)).unwrap()
        };
        json!({"seq": seq, "session": 3, "at": "2026-01-01T00:00:00.000Z", "turn": null, "kind": "notice", "data": data})
    }

    fn piece(&self, params: &Value) -> Value {
        let data = self.data(params["seq"].as_u64().unwrap());
        let start = usize::try_from(params["offset"].as_u64().unwrap()).unwrap();
        let mut end = (start + self.piece).min(data.len());
        while !data.is_char_boundary(end) {
            end += 1;
        }
        let next = (end < data.len()).then_some(end);
        json!({"text": data[start..end], "total": data.len(), "next": next})
    }
}

fn live(kind: &str, data: &Value) -> Value {
    json!({"seq": null, "session": 3, "at": "2026-01-01T00:00:00.000Z", "turn": null, "kind": kind, "data": data})
}

fn summary() -> Value {
    json!({
        "session": SESSION, "pid": 3, "ppid": 0, "cwd": "/tmp", "model": "p/m", "kind": "interactive", "state": "idle",
        "cause": "x", "approval_mode": "ask", "turns": 2, "context_tokens": 0, "context_window": 0, "queued": 0, "attached": 0,
        "usage": {"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0,
                  "cost_micros": 0, "unknown_cost_calls": 0},
        "created_at": "2026-01-01T00:00:00.000Z", "active_at": "2026-01-01T00:00:00.000Z", "last_line": "",
        "pending_interactions": 0, "seq": 0,
    })
}

/// The answer to a request.
fn said(script: &Script, request: &Value) -> Vec<Value> {
    let params = &request["params"];
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    let event = |event: Value| {
        let params = json!({"subscription": params["subscription"], "event": event});
        json!({"jsonrpc": "2.0", "method": "event", "params": params})
    };
    let sync = |seq: u64| {
        event(live(
            "sync",
            &json!({"seq": seq, "epoch": 1, "live": [], "interactions": []}),
        ))
    };
    match request["method"].as_str().unwrap() {
        "daemon.hello" => vec![answer(json!({
            "daemon": {"version": proto::VERSION, "build": "", "pid": 4_000_000, "started_at": "2026-01-01T00:00:00.000Z",
                       "instance": "cut"},
            "protocol": 1, "capabilities": [], "role": "drive", "home": "/cut", "key_variables": [],
        }))],
        "session.attach" => {
            let mut out = vec![answer(
                json!({"session": SESSION, "pid": 3, "epoch": 1, "seq": script.records}),
            )];
            let after = match params["after_seq"].as_u64() {
                // It sends more than was asked for: known events must not come out twice.
                Some(after) => after.saturating_sub(2),
                None => {
                    let state = json!({"seq": script.before, "epoch": 1, "session": summary(), "queue": []});
                    out.extend([event(live("snapshot", &state)), sync(script.before)]);
                    script.before
                }
            };
            for seq in after + 1..=script.records {
                if seq % 4 == 0 {
                    out.push(event(live(
                        "status",
                        &json!({"behind": script.records - seq}),
                    )));
                }
                out.push(event(script.event(seq)));
            }
            out.push(sync(script.records));
            out
        }
        "session.event" => vec![answer(script.piece(params))],
        _ => vec![answer(json!({}))],
    }
}

/// Serves one connection, until so many bytes were written.
fn serve(script: &Script, mut left: Option<usize>, stream: UnixStream) {
    let mut out = stream.try_clone().unwrap();
    let mut chunks = script.chunks.iter().copied().cycle();
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).unwrap();
        let lines: String = said(script, &request)
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        let mut bytes = lines.as_bytes();
        while !bytes.is_empty() {
            let mut count = chunks.next().unwrap().min(bytes.len());
            if let Some(left) = &mut left {
                count = count.min(*left);
                *left -= count;
            }
            if out.write_all(&bytes[..count]).is_err() {
                return;
            }
            bytes = &bytes[count..];
            if left == Some(0) {
                let _ = out.shutdown(std::net::Shutdown::Both);
                return;
            }
        }
    }
}

/// Listens in a home of its own, for as long as the test's process lives.
fn start(script: Arc<Script>) -> TempDir {
    let home = tempfile::Builder::new()
        .prefix("rx")
        .tempdir_in("/tmp")
        .unwrap();
    std::fs::create_dir(home.path().join("run")).unwrap();
    let listener = UnixListener::bind(home.path().join("run/reasonixd.sock")).unwrap();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let script = script.clone();
            thread::spawn(move || serve(&script, script.cuts.get(number).copied(), stream));
        }
    });
    home
}

/// The numbers and the data that a follower sees, up to the last record.
async fn seen(script: &Script, home: &TempDir, from: FollowFrom) -> Vec<(u64, String)> {
    let mut options = Options::new(client::paths::of_home(home.path()), "cuts");
    options.start = Start::Never;
    let client = Client::connect(options).await.unwrap();
    let mut follow = client.follow("3", from, true).await.unwrap();
    let mut seen = Vec::new();
    while seen.last().is_none_or(|(seq, _)| *seq < script.records) {
        if let FollowEvent::Event(event) = follow.next().await.unwrap()
            && let Some(seq) = event.seq
        {
            let event: proto::Event =
                serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
            seen.push((seq.0, event.data.get().to_owned()));
        }
    }
    seen
}

fn scripts() -> impl Strategy<Value = Script> {
    (
        1u64..40,
        0u64..40,
        0u64..4,
        prop::collection::vec(1usize..6_000, 0..6),
        prop::collection::vec(1usize..3_000, 1..5),
        3usize..40,
    )
        .prop_map(|(records, before, large, cuts, chunks, piece)| Script {
            records,
            before: before.min(records - 1),
            large,
            cuts,
            chunks,
            piece,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_event_comes_once_in_order_and_whole(script in scripts(), snapshot in any::<bool>(), threads in any::<bool>()) {
        let runtime = if threads {
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
        } else {
            tokio::runtime::Builder::new_current_thread().enable_all().build()
        };
        let script = Arc::new(script);
        let home = start(script.clone());
        let from = if snapshot { FollowFrom::Snapshot { backlog: 0 } } else { FollowFrom::After(Seq(0)) };
        let first = if snapshot { script.before + 1 } else { 1 };
        let seen = runtime.unwrap().block_on(async {
            tokio::time::timeout(Duration::from_secs(60), seen(&script, &home, from)).await
        });
        let expected: Vec<_> = (first..=script.records).map(|seq| (seq, script.data(seq))).collect();
        prop_assert_eq!(seen.expect("the events come in time"), expected);
    }
}
