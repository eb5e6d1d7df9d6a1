//! What this machine can do at best, measured in the same run.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::endpoint::Endpoint;
use super::table::median;

/// Median time of a process that does nothing.
pub fn process_start(count: usize) -> Duration {
    let once = || {
        let begun = Instant::now();
        let status = Command::new("/bin/true")
            .stdin(Stdio::null())
            .status()
            .expect("/bin/true");
        assert!(status.success());
        begun.elapsed()
    };
    median((0..count).map(|_| once()).collect())
}

/// Median time of a request and its answer on an open connection.
pub fn loopback(endpoint: &Endpoint, count: usize) -> Duration {
    endpoint.play(Vec::new());
    let stream = endpoint.connect();
    median((0..count.max(2)).map(|_| exchange(&stream)).collect())
}

/// Time of reading the endpoint's next answer to its end.
pub fn read_answer(endpoint: &Endpoint) -> Duration {
    exchange(&endpoint.connect())
}

fn exchange(stream: &std::net::TcpStream) -> Duration {
    let begun = Instant::now();
    post(stream, b"{}");
    begun.elapsed()
}

/// A request with this body on an open connection; the body of its answer.
pub fn post(mut stream: &std::net::TcpStream, body: &[u8]) -> Vec<u8> {
    let head = format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    // One write: the head alone would be a packet of its own.
    let request = [head.as_bytes(), body].concat();
    stream.write_all(&request).expect("sent");
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a head");
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    body
}

/// Median time of appending a few lines to a file and having them on disk.
pub fn sync(directory: &Path, count: usize) -> Duration {
    let path = directory.join("floor.tmp");
    let mut file = File::create(&path).expect("a file");
    let lines = [b'x'; 4096];
    let once = |file: &mut File| {
        let begun = Instant::now();
        file.write_all(&lines).expect("written");
        file.sync_data().expect("synced");
        begun.elapsed()
    };
    let times = (0..count).map(|_| once(&mut file)).collect();
    std::fs::remove_file(&path).ok();
    median(times)
}

/// Median time of a line that comes back over a Unix socket.
pub fn echo(count: usize) -> Duration {
    let (mut one, two) = UnixStream::pair().expect("a pair");
    let other = std::thread::spawn(move || {
        let mut reader = BufReader::new(&two);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            (&two).write_all(line.as_bytes()).expect("sent back");
            line.clear();
        }
    });
    let mut reader = BufReader::new(one.try_clone().expect("a clone"));
    let mut times = Vec::new();
    for _ in 0..count.max(2) {
        let begun = Instant::now();
        one.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"interaction.list\"}\n")
            .expect("sent");
        let mut line = String::new();
        reader.read_line(&mut line).expect("came back");
        times.push(begun.elapsed());
    }
    one.shutdown(std::net::Shutdown::Both).ok();
    other.join().expect("the echo ends");
    median(times)
}
