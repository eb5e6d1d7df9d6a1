//! An endpoint that never stops talking: its answer is bounded, ends as a failure, and the session goes on.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tests::House;
use tests::processes::resident;

use crate::scripted::{FAST_RETRIES, run};

const MIB: u64 = 1024 * 1024;

/// An endpoint, its requests, and whether it still answers without end.
#[derive(Default)]
struct Endless {
    requests: AtomicUsize,
    is_tame: AtomicBool,
}

/// Reads one request to its end.
fn hear(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()
}

fn event(text: &str) -> String {
    let delta = json!({"choices": [{"delta": {"content": text}}]});
    format!("data: {delta}\n\n")
}

impl Endless {
    /// Answers with these words, again and again. The port.
    fn start(self: &Arc<Self>, words: &str) -> u16 {
        self.start_with(event(&words.repeat(4_000)))
    }

    /// Sends these lines, again and again. The port.
    fn start_with(self: &Arc<Self>, event: String) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let endless = Arc::clone(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (endless, event) = (Arc::clone(&endless), event.clone());
                std::thread::spawn(move || endless.serve(stream, &event));
            }
        });
        port
    }

    fn serve(&self, mut stream: TcpStream, words: &str) {
        if hear(&stream).is_none() {
            return;
        }
        self.requests.fetch_add(1, Ordering::SeqCst);
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        if self.is_tame.load(Ordering::SeqCst) {
            let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
            let answer = format!("{}data: {end}\n\ndata: [DONE]\n\n", event("Well again."));
            let _ = stream.write_all(answer.as_bytes());
            return;
        }
        while stream.write_all(words.as_bytes()).is_ok() {}
    }
}

/// A run against an endpoint that repeats these words without end: it fails for that reason, and the next one works.
fn ends(words: &str) {
    ends_with(event(&words.repeat(4_000)));
}

/// The same with lines of a stream.
fn ends_with(lines: String) {
    let endless = Arc::new(Endless::default());
    let port = endless.start_with(lines);
    let house = House::new();
    house.settings(&format!(
        "{}\n",
        FAST_RETRIES.replace("[internal]", "answer_max_mb = 2\n[internal]")
    ));
    house.provider(&format!(
        "name = \"endless\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"\ncontext_window = 10000000"
    ));
    house.daemon();
    let daemon = house.daemon_pid().expect("a daemon");
    let before = resident(daemon);
    let ran = run(&house, &[], "hello").expect(1, "failed");
    let error = &ran.result["error"];
    assert_eq!(error["name"], "provider_failed", "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("more than 2 MB"), "{message}");
    let requests = endless.requests.load(Ordering::SeqCst);
    assert!(requests <= 2, "{requests} requests");
    let after = resident(daemon);
    assert!(
        after < before + 128 * MIB,
        "{} MiB, and then {} MiB",
        before / MIB,
        after / MIB
    );
    endless.is_tame.store(true, Ordering::SeqCst);
    let ran = run(&house, &["-s", "1"], "and now?").expect(0, "completed");
    assert!(ran.result["text"].to_string().contains("Well again."));
}

#[test]
fn an_endpoint_that_never_stops_talking_is_ended_and_the_session_goes_on() {
    ends("words ");
}

#[test]
fn characters_that_a_record_writes_as_six_count_as_six() {
    ends("\u{1}\u{2}\"\\");
}

#[test]
fn keep_alives_without_end_are_ended_too() {
    ends_with(format!(": {}\n\n", "k".repeat(16_000)));
}

#[test]
fn an_endless_answer_does_not_outlast_the_timeout_of_a_run() {
    let endless = Arc::new(Endless::default());
    // Events without content: the bound on bytes is far.
    let port = endless.start("");
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&format!(
        "name = \"endless\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"\ncontext_window = 100000"
    ));
    house.daemon();
    let ran = house.reasonix(&["run", "--timeout", "2", "hello"]);
    assert!(!ran.status.success());
    assert!(endless.requests.load(Ordering::SeqCst) <= 2);
}
