//! Running the program, with a bound on everything.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longer than anything here may take, on a busy machine.
const BOUND: Duration = Duration::from_secs(60);

/// The program with a clean environment and this home.
pub fn reasonix(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reasonix"));
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .env("REASONIX_HOME", home)
        .env("REASONIX_DAEMON", "/nonexistent/reasonixd")
        .current_dir("/tmp")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A program that runs, its output being read.
pub struct Running {
    pub child: Child,
    out: mpsc::Receiver<String>,
    err: mpsc::Receiver<String>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("start reasonix");
        let out = drain(child.stdout.take());
        let err = drain(child.stderr.take());
        Self { child, out, err }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal)
            .expect("send a signal");
    }

    /// Writes to its standard input, which must be a pipe.
    pub fn say(&mut self, text: &str) {
        self.child
            .stdin
            .as_mut()
            .expect("a pipe")
            .write_all(text.as_bytes())
            .expect("write");
    }

    /// Waits for its end.
    pub fn done(mut self) -> Done {
        let out = self.out.recv_timeout(BOUND);
        let err = self.err.recv_timeout(BOUND);
        if out.is_err() || err.is_err() {
            let _ = self.child.kill();
            panic!("it did not end: {out:?} {err:?}");
        }
        let code = self.child.wait().expect("wait").code();
        Done {
            code,
            out: out.unwrap_or_default(),
            err: err.unwrap_or_default(),
        }
    }
}

fn drain(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        sender.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    receiver
}

/// Runs it to its end.
pub fn run(command: &mut Command) -> Done {
    Running::start(command).done()
}

/// A pseudo-terminal: our end and the program's.
pub fn terminal() -> (OwnedFd, OwnedFd) {
    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("open a terminal");
    grantpt(&ours).expect("grant");
    unlockpt(&ours).expect("unlock");
    let theirs = ioctl_tiocgptpeer(&ours, OpenptFlags::RDWR | OpenptFlags::NOCTTY)
        .expect("open its other end");
    (ours, theirs)
}
