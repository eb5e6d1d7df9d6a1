//! A model endpoint that costs as little as can be: one thread a connection, answers made beforehand, two clock readings
//! a request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::wait;

/// What one answer is.
#[derive(Clone, Copy, Debug)]
pub enum Round {
    /// So many tokens of text, one an event.
    Words(usize),
    /// So many reads at once.
    Reads(usize),
    /// A command that does nothing.
    Runs,
    /// A command that a person is asked about, with the answer's number in it.
    Asks,
    /// So many lines of Markdown, one an event, and [`LAST`].
    Lines(usize),
    /// So many tokens of text at a pace, and [`LAST`].
    Paced { tokens: usize, every: Duration },
}

/// What long answers end with.
pub const LAST: &str = "This is the end.";

/// An answer, made beforehand.
struct Made {
    /// Written one after the other, the first one at once.
    pieces: Vec<Vec<u8>>,
    /// The time between two of them.
    every: Duration,
}

/// When each request was there whole, and when its answer had been written.
type Times = Vec<(Instant, Instant)>;

#[derive(Default)]
struct Shared {
    /// Requests whose answers are on their way.
    answering: AtomicUsize,
    script: Mutex<Vec<Made>>,
    times: Mutex<Times>,
}

/// The endpoint. Its threads end with the process.
pub struct Endpoint {
    port: u16,
    shared: Arc<Shared>,
}

impl Endpoint {
    /// Listens on a free port of loopback.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared::default());
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { port, shared }
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the endpoint");
        stream.set_nodelay(true).expect("no delay");
        stream
    }

    /// Sets what the next requests get, and forgets the times so far.
    pub fn play(&self, script: Vec<Round>) {
        let answers = script
            .into_iter()
            .enumerate()
            .rev()
            .map(|(number, round)| answer(number, round))
            .collect();
        *self.shared.script.lock().expect("no panic") = answers;
        self.shared.times.lock().expect("no panic").clear();
    }

    /// When each request came and its answer was out. A client may be done before that is noted.
    pub fn arrivals(&self) -> Times {
        crate::until("the answers to be noted", || {
            let answering = self.shared.answering.load(Ordering::SeqCst);
            (answering == 0).then_some(())
        });
        self.shared.times.lock().expect("no panic").clone()
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    stream.set_nodelay(true).ok();
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let mut writer = stream;
    let mut body = Vec::new();
    while let Some(length) = head(&mut reader) {
        body.resize(length, 0);
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let arrived = Instant::now();
        shared.answering.fetch_add(1, Ordering::SeqCst);
        let answer = shared
            .script
            .lock()
            .expect("no panic")
            .pop()
            .unwrap_or_else(|| answer(0, Round::Words(1)));
        let written = write(&mut writer, &answer);
        if written.is_ok() {
            let noted = (arrived, Instant::now());
            shared.times.lock().expect("no panic").push(noted);
        }
        shared.answering.fetch_sub(1, Ordering::SeqCst);
        if written.is_err() {
            return;
        }
    }
}

fn write(writer: &mut impl Write, answer: &Made) -> std::io::Result<()> {
    let mut due = Instant::now();
    for piece in &answer.pieces {
        wait::pace(due);
        writer.write_all(piece)?;
        due += answer.every;
    }
    Ok(())
}

/// Reads a head; the length of the body. `None`: the connection has ended.
fn head(reader: &mut impl BufRead) -> Option<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            return Some(length);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
}

fn answer(number: usize, round: Round) -> Made {
    let mut events = Vec::new();
    let mut every = Duration::ZERO;
    let finish = match round {
        Round::Words(count) => {
            events.extend((0..count).map(|_| text("word ")));
            "stop"
        }
        Round::Reads(count) => {
            for index in 0..count {
                events.push(format!(
                    "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"c{number}_{index}\",\"type\":\"function\",\"function\":{{\"name\":\"read_file\",\"arguments\":\"{{\\\"path\\\":\\\"read_{index}.txt\\\"}}\"}}}}]}}}}]}}\n\n"
                ));
            }
            "tool_calls"
        }
        Round::Runs | Round::Asks => {
            let command = match round {
                Round::Runs => "true".to_owned(),
                _ => format!("touch asked_{number}"),
            };
            let arguments = serde_json::json!({ "command": command }).to_string();
            let call = serde_json::json!({"index": 0, "id": format!("c{number}"), "type": "function",
                "function": {"name": "bash", "arguments": arguments}});
            let delta =
                serde_json::json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            events.push(format!("data: {delta}\n\n"));
            "tool_calls"
        }
        Round::Lines(count) => {
            events.extend((0..count).map(|line| text(&markdown(number, line))));
            events.push(text(&format!("\n\n{LAST}")));
            "stop"
        }
        Round::Paced {
            tokens,
            every: pace,
        } => {
            every = pace;
            events.extend((0..tokens).map(|token| text(&word(token))));
            events.push(text(&format!("\n\n{LAST}")));
            "stop"
        }
    };
    events.push(format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{finish}\"}}],\"usage\":{{\"prompt_tokens\":10,\"completion_tokens\":5}}}}\n\ndata: [DONE]\n\n"
    ));
    let length: usize = events.iter().map(String::len).sum();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    );
    let pieces = match every.is_zero() {
        true => vec![(head + &events.concat()).into_bytes()],
        false => std::iter::once(head)
            .chain(events)
            .map(String::into_bytes)
            .collect(),
    };
    Made { pieces, every }
}

/// An event of a stream: so much text more.
fn text(words: &str) -> String {
    let delta = serde_json::json!({"choices": [{"index": 0, "delta": {"content": words}}]});
    format!("data: {delta}\n\n")
}

/// A line of a long answer: a row of the screen at least. A paragraph, a list and code take turns.
fn markdown(answer: usize, line: usize) -> String {
    match line % 25 {
        0 => format!("\n\nPart {line} of answer {answer}, with **some** words:\n\n"),
        10 => format!("\n```rust\nfn number_{line}() {{\n"),
        11..=19 => format!("    let value_{line} = compute({line}, \"text\");\n"),
        20 => "}\n```\n\n".to_owned(),
        _ => format!("- item {line} of a list that has `code` in it\n"),
    }
}

/// A token of an answer that comes at a pace: sentences in paragraphs.
fn word(token: usize) -> String {
    match token % 60 {
        59 => format!("and{token}.\n\n"),
        _ => format!("word{token} "),
    }
}
