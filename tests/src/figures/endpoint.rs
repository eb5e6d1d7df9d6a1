//! A model endpoint that costs as little as can be: one thread a connection, answers made beforehand, three clock readings
//! a request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wait;

/// What one answer is.
#[derive(Clone, Debug)]
pub enum Round {
    /// So many tokens of text, one an event.
    Words(usize),
    /// So many reads at once.
    Reads(usize),
    /// A command that does nothing.
    Runs,
    /// These calls at once, after a few words.
    Calls(Vec<(&'static str, Value)>),
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

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The first byte was there.
    pub begun: Instant,
    /// All of it was there.
    pub arrived: Instant,
    /// The answer had been written.
    pub answered: Instant,
    /// When the writing of each piece began, of an answer at a pace.
    pub pieces: Vec<Instant>,
}

#[derive(Default)]
struct Shared {
    /// Requests whose answers are on their way.
    answering: AtomicUsize,
    script: Mutex<Vec<Made>>,
    exchanges: Mutex<Vec<Exchange>>,
    /// Whether bodies are kept.
    keeps: AtomicBool,
    bodies: Mutex<Vec<Vec<u8>>>,
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

    /// Sets what the next requests get, and forgets the exchanges so far.
    pub fn play(&self, script: Vec<Round>) {
        let answers = script
            .into_iter()
            .enumerate()
            .rev()
            .map(|(number, round)| answer(number, round))
            .collect();
        *self.shared.script.lock().expect("no panic") = answers;
        self.shared.exchanges.lock().expect("no panic").clear();
    }

    /// Keeps the bodies of requests from now on.
    pub fn keep(&self) {
        self.shared.keeps.store(true, Ordering::SeqCst);
    }

    /// The bodies that were kept, which are kept no more.
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        self.shared.keeps.store(false, Ordering::SeqCst);
        std::mem::take(&mut *self.shared.bodies.lock().expect("no panic"))
    }

    /// From each answer's end to the next request.
    pub fn gaps(&self) -> Vec<Duration> {
        let exchanges = self.exchanges();
        let pairs = exchanges.windows(2);
        pairs
            .map(|pair| pair[1].arrived.duration_since(pair[0].answered))
            .collect()
    }

    /// The requests and their answers. A client may be done before the last is noted.
    pub fn exchanges(&self) -> Vec<Exchange> {
        crate::until("the answers to be noted", || {
            let answering = self.shared.answering.load(Ordering::SeqCst);
            (answering == 0).then_some(())
        });
        self.shared.exchanges.lock().expect("no panic").clone()
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    stream.set_nodelay(true).ok();
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let mut writer = stream;
    let mut body = Vec::new();
    while reader.fill_buf().is_ok_and(|bytes| !bytes.is_empty()) {
        let begun = Instant::now();
        let Some(length) = head(&mut reader) else {
            return;
        };
        let Some(length) = length else {
            // A look at the list of models is no part of a script.
            if writer.write_all(NO_LIST).is_err() {
                return;
            }
            continue;
        };
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
        if shared.keeps.load(Ordering::SeqCst) {
            shared.bodies.lock().expect("no panic").push(body.clone());
        }
        let written = write(&mut writer, &answer);
        if let Ok(pieces) = written {
            let exchange = Exchange {
                begun,
                arrived,
                answered: Instant::now(),
                pieces,
            };
            shared.exchanges.lock().expect("no panic").push(exchange);
            shared.answering.fetch_sub(1, Ordering::SeqCst);
        } else {
            shared.answering.fetch_sub(1, Ordering::SeqCst);
            return;
        }
    }
}

/// Writes an answer; when each piece was begun, of one at a pace.
fn write(writer: &mut impl Write, answer: &Made) -> std::io::Result<Vec<Instant>> {
    let mut due = Instant::now();
    let mut begun = Vec::new();
    for piece in &answer.pieces {
        if !answer.every.is_zero() {
            wait::pace(due);
            begun.push(Instant::now());
            due += answer.every;
        }
        writer.write_all(piece)?;
    }
    Ok(begun)
}

/// The answer where there is nothing.
const NO_LIST: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// The head of a request: how long its body is; `Some(None)`: it has none. `None`: the connection is at its end.
fn head(reader: &mut impl BufRead) -> Option<Option<usize>> {
    let mut first = String::new();
    if reader.read_line(&mut first).ok()? == 0 {
        return None;
    }
    let length = fields(reader)?;
    Some((!first.starts_with("GET ")).then_some(length))
}

/// The length of a body, from the fields of its head.
fn fields(reader: &mut impl BufRead) -> Option<usize> {
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
            // No two are the same: one that repeats others is held back.
            let read = |index| {
                let path = format!("read_{index}.txt");
                ("read_file", json!({"path": path, "limit": 100 + number}))
            };
            events.extend(calls(number, (0..count).map(read)));
            "tool_calls"
        }
        Round::Runs => {
            events.extend(calls(
                number,
                // As with reads.
                [("bash", json!({"command": format!("true {number}")}))],
            ));
            "tool_calls"
        }
        Round::Asks => {
            let command = json!({"command": format!("touch asked_{number}")});
            events.extend(calls(number, [("bash", command)]));
            "tool_calls"
        }
        Round::Calls(wanted) => {
            events.extend((0..6).map(|_| text("word ")));
            events.extend(calls(number, wanted));
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
    event(&json!({"content": words}))
}

/// Events of a stream: a call each.
fn calls(
    answer: usize,
    wanted: impl IntoIterator<Item = (&'static str, Value)>,
) -> impl Iterator<Item = String> {
    let wanted = wanted.into_iter().enumerate();
    wanted.map(move |(index, (name, arguments))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let id = format!("c{answer}_{index}");
        let call = json!({"index": index, "id": id, "type": "function", "function": function});
        event(&json!({"tool_calls": [call]}))
    })
}

fn event(delta: &Value) -> String {
    let event = json!({"choices": [{"index": 0, "delta": delta}]});
    format!("data: {event}\n\n")
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
