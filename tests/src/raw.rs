//! A connection without the client library: any bytes in, frames out. For tests of the protocol itself.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use proto::Failure;
use proto::hello::Role;
use serde_json::{Value, json};

use crate::wait::BOUND;

/// A connection.
#[derive(Debug)]
pub struct Raw {
    reader: BufReader<UnixStream>,
    next_id: u64,
    /// Notifications that came while an answer was waited for.
    events: VecDeque<Value>,
}

impl Raw {
    /// Connects, without a word.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn connect(socket: &Path) -> std::io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(BOUND))?;
        stream.set_write_timeout(Some(BOUND))?;
        Ok(Self::of(stream))
    }

    /// A connection that is there already; its time limits are as they are.
    #[must_use]
    pub fn of(stream: UnixStream) -> Self {
        Self {
            reader: BufReader::new(stream),
            next_id: 1,
            events: VecDeque::new(),
        }
    }

    /// Says hello; the whole answer.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub fn hello(&mut self, role: Role) -> Result<Value, Failure> {
        self.call("daemon.hello", &hello_params("raw", role))
    }

    /// Makes a call and waits for its answer. Notifications that come before it are kept for [`Raw::event`].
    ///
    /// # Errors
    /// The error that the daemon answers.
    ///
    /// # Panics
    /// The connection ends instead.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.try_call(method, params)
            .unwrap_or_else(|| panic!("the connection ended before the answer of `{method}`"))
    }

    /// The same where the daemon may die meanwhile; `None`: the connection has ended.
    pub fn try_call(&mut self, method: &str, params: &Value) -> Option<Result<Value, Failure>> {
        let id = self.next_id;
        self.next_id += 1;
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.bytes(format!("{call}\n").as_bytes()).ok()?;
        loop {
            let frame = self.frame()?;
            if frame.get("method").is_some() {
                self.events.push_back(frame);
                continue;
            }
            assert_eq!(
                frame["id"],
                json!(id),
                "an answer to something else: {frame}"
            );
            return Some(answer(&frame));
        }
    }

    /// Sends a call and does not wait; its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.line(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    /// Sends a line.
    ///
    /// # Panics
    /// The connection is gone.
    pub fn line(&mut self, text: &str) {
        self.bytes(format!("{text}\n").as_bytes())
            .expect("write to the daemon");
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// The next frame, whatever it is; `None`: the daemon has closed the connection, or died in the middle of a frame.
    ///
    /// # Panics
    /// Nothing came in time, or no JSON.
    pub fn frame(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(_) if !line.ends_with('\n') => None,
            Ok(_) => Some(
                serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("no JSON ({error}): {line}")),
            ),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
                ) =>
            {
                None
            }
            Err(error) => panic!("read from the daemon: {error}"),
        }
    }

    /// Bytes of a frame, if any come before patience is over; `None`: the connection has ended, or nothing came.
    pub fn some(&mut self) -> Option<usize> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).ok()?;
        (!line.is_empty()).then_some(line.len())
    }

    /// The next notification's parameters: `{subscription, event}`.
    ///
    /// # Panics
    /// Something else comes, or nothing.
    pub fn event(&mut self) -> Value {
        let mut frame = match self.events.pop_front() {
            Some(frame) => frame,
            None => self
                .frame()
                .expect("an event, not the end of the connection"),
        };
        assert_eq!(frame["method"], "event", "a notification, not {frame}");
        frame["params"].take()
    }

    /// Whether the daemon has closed the connection without another word.
    pub fn is_closed(&mut self) -> bool {
        self.frame().is_none()
    }

    /// Says no more, and waits until the daemon has had enough too. Whatever it still says is passed over.
    pub fn hang_up(mut self) {
        // Closed already where the daemon was faster.
        let _ = self.reader.get_ref().shutdown(Shutdown::Write);
        let mut rest = Vec::new();
        let _ = self.reader.read_to_end(&mut rest);
    }

    /// Changes how long reads wait.
    ///
    /// # Panics
    /// Never: the system takes any time but zero.
    pub fn patience(&mut self, time: Duration) {
        self.reader
            .get_ref()
            .set_read_timeout(Some(time))
            .expect("set a time-out");
    }
}

/// The answer in a frame.
///
/// # Errors
/// The error in it.
///
/// # Panics
/// It holds neither.
pub fn answer(frame: &Value) -> Result<Value, Failure> {
    if let Some(result) = frame.get("result") {
        return Ok(result.clone());
    }
    let error = frame
        .get("error")
        .unwrap_or_else(|| panic!("neither result nor error: {frame}"));
    let code = error["code"]
        .as_i64()
        .and_then(|code| i32::try_from(code).ok())
        .expect("an error code");
    Err(Failure::from_rpc(
        code,
        error["message"].as_str().unwrap_or_default(),
        error.get("data"),
    ))
}

/// Parameters of hello.
#[must_use]
pub fn hello_params(name: &str, role: Role) -> Value {
    json!({
        "client": {"name": name, "version": "0", "kind": "test", "pid": std::process::id(), "interactive": false},
        "protocol": proto::PROTOCOL, "role": role,
    })
}
