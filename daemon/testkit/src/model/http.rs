//! One HTTP/1.1 connection, as far as a model needs it: requests with a body in, answers and streams out.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A header or body beyond this is a test gone wild.
const MAX: usize = 64 << 20;

/// A request, read.
pub struct Incoming {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Incoming {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

pub struct Connection {
    stream: TcpStream,
    /// What has been read and not used.
    ahead: Vec<u8>,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    /// The next request; `None` at the end of the connection.
    pub async fn read(&mut self) -> io::Result<Option<Incoming>> {
        let end = loop {
            if let Some(end) = find(&self.ahead, b"\r\n\r\n") {
                break end;
            }
            if !self.more().await? {
                return Ok(None);
            }
        };
        let head: Vec<u8> = self.ahead.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let path = first.next().unwrap_or_default().to_owned();
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
            .collect();
        let mut incoming = Incoming {
            method,
            path,
            headers,
            body: Vec::new(),
        };
        incoming.body = match incoming.header("content-length").map(str::parse::<usize>) {
            Some(Ok(length)) => self.take(length).await?,
            Some(Err(_)) => return Err(io::Error::other("a length that is no number")),
            None => Vec::new(),
        };
        Ok(Some(incoming))
    }

    async fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.ahead.len() < length {
            if !self.more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.ahead.drain(..length).collect())
    }

    /// Reads on. False at the end.
    async fn more(&mut self) -> io::Result<bool> {
        if self.ahead.len() > MAX {
            return Err(io::Error::other("too much"));
        }
        Ok(self.stream.read_buf(&mut self.ahead).await? > 0)
    }

    /// Waits until the other side has gone. What it sends in the meantime is kept.
    pub async fn gone(&mut self) {
        while let Ok(true) = self.more().await {}
    }

    pub async fn reply(
        &mut self,
        status: u16,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.write(format!("{head}\r\n{body}").as_bytes()).await
    }

    pub async fn begin_stream(&mut self) -> io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
        self.write(head.as_bytes()).await
    }

    pub async fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.write(&chunk).await
    }

    pub async fn end_stream(&mut self) -> io::Result<()> {
        self.write(b"0\r\n\r\n").await
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Closes it with a reset, not in good order.
    pub fn reset(self) {
        // Where the system does not allow it, it is closed in good order: broken all the same.
        let _ = self.stream.set_zero_linger();
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}
