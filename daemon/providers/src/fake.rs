//! A vendor for tests: an HTTP server on loopback that says exactly the bytes it is told, and breaks where it is told.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// What the server does, in order, once a request has come.
pub(crate) enum Act {
    Say(Vec<u8>),
    /// Goes on when the test says so.
    Wait(oneshot::Receiver<()>),
    /// Keeps still until the other side goes away, and tells.
    Hold(oneshot::Sender<()>),
    /// Ends the connection without a word.
    Close,
    /// Ends it with a reset.
    Reset,
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The connection it came on, from 0.
    pub connection: usize,
    pub head: String,
    pub body: Vec<u8>,
}

pub(crate) struct Fake {
    /// Goes into `base_url`.
    pub base: String,
    seen: mpsc::UnboundedReceiver<Seen>,
    task: JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    /// Starts a server that answers its first request by the first script, and so on.
    pub(crate) async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (tell, seen) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let mut scripts = scripts.into_iter();
            let mut connection = 0;
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, connection, &mut scripts, &tell).await;
                connection += 1;
            }
        });
        Self { base, seen, task }
    }

    /// The next request.
    pub(crate) async fn request(&mut self) -> Seen {
        let waiting = tokio::time::timeout(Duration::from_secs(20), self.seen.recv());
        waiting
            .await
            .expect("a request in time")
            .expect("the server lives")
    }

    /// Whether a request came that nobody asked about.
    pub(crate) fn was_asked(&mut self) -> bool {
        self.seen.try_recv().is_ok()
    }
}

/// One connection at a time: a client that opens a second one while the first is held would show.
async fn serve(
    mut stream: TcpStream,
    connection: usize,
    scripts: &mut impl Iterator<Item = Vec<Act>>,
    tell: &mpsc::UnboundedSender<Seen>,
) {
    while let Some((head, body)) = read_request(&mut stream).await {
        let _ = tell.send(Seen {
            connection,
            head,
            body,
        });
        for act in scripts.next().unwrap_or_default() {
            match act {
                Act::Say(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Act::Wait(go) => {
                    let _ = go.await;
                }
                Act::Hold(gone) => {
                    let _ = stream.read(&mut [0; 64]).await;
                    let _ = gone.send(());
                    return;
                }
                Act::Close => return,
                Act::Reset => {
                    let _ = stream.set_zero_linger();
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    let length: usize = length.unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, body))
}

/// The head of an answer of a given status whose body is of known length.
pub(crate) fn plain(status: u16, headers: &str, body: &str) -> Act {
    let length = body.len();
    Act::Say(
        format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
            .into_bytes(),
    )
}

/// The head of an event stream in HTTP chunks.
pub(crate) fn events() -> Act {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    Act::Say(head.as_bytes().to_vec())
}

/// One HTTP chunk.
pub(crate) fn chunk(text: &str) -> Act {
    Act::Say(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// The end of a chunked body.
pub(crate) fn end() -> Act {
    Act::Say(b"0\r\n\r\n".to_vec())
}
