//! Programs that run beside a test: started, fed, signalled, and read to their end, with a bound on everything.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use crate::wait::{BOUND, until};

/// The outcome of a program.
#[derive(Debug)]
pub struct Done {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Done {
    /// The exit code; `None` where a signal ended it.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The same, where the test wants it to have ended so.
    ///
    /// # Panics
    /// It ended with another code; the message shows both streams.
    #[must_use]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code(),
            Some(code),
            "exit code; stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Standard output as one JSON value.
    ///
    /// # Panics
    /// It is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// Standard output as JSON lines.
    ///
    /// # Panics
    /// A line is none.
    #[must_use]
    pub fn lines(&self) -> Vec<serde_json::Value> {
        let read = |line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("no JSON ({error}): `{line}` of {self:?}"))
        };
        self.out.lines().map(read).collect()
    }
}

/// A program that runs; both streams are read as they come. Dropped: it is killed.
pub struct Running {
    child: Child,
    out: Arc<Stream>,
    err: Arc<Stream>,
}

impl Running {
    /// Starts it. Its standard output and error are taken; its standard input is what the command says.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("start {command:?}: {error}"));
        let out = Stream::drain(child.stdout.take());
        let err = Stream::drain(child.stderr.take());
        Self { child, out, err }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// It is gone already.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("signal a program that runs");
    }

    /// Writes to its standard input, which must be a pipe.
    ///
    /// # Panics
    /// It is none, or nobody reads it.
    pub fn say(&mut self, text: &str) {
        let stdin = self
            .child
            .stdin
            .as_mut()
            .expect("a standard input that is a pipe");
        stdin
            .write_all(text.as_bytes())
            .expect("write to a program's standard input");
    }

    /// Closes its standard input.
    pub fn hang_up(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits until a line of standard output fits, and returns it.
    ///
    /// # Panics
    /// None came in time, or the output ended before.
    pub fn line(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        self.out.line(fits).unwrap_or_else(|| {
            panic!(
                "no line came: {what}; stdout:\n{}\nstderr:\n{}",
                self.out.text(),
                self.err.text()
            )
        })
    }

    /// The same on standard error.
    ///
    /// # Panics
    /// None came in time, or the stream ended before.
    pub fn err_line(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        self.err.line(fits).unwrap_or_else(|| {
            panic!(
                "no line came: {what}; stdout:\n{}\nstderr:\n{}",
                self.out.text(),
                self.err.text()
            )
        })
    }

    /// Whether it runs.
    ///
    /// # Panics
    /// The system does not say.
    pub fn runs(&mut self) -> bool {
        self.child
            .try_wait()
            .expect("ask for a program's state")
            .is_none()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// It did not come in time.
    #[must_use]
    pub fn done(mut self) -> Done {
        let (child, out, err) = (&mut self.child, &self.out, &self.err);
        let look = &mut || child.try_wait().expect("ask for a program's state");
        let status = crate::wait::within(BOUND, look).unwrap_or_else(|| {
            panic!(
                "it did not end; stdout:\n{}\nstderr:\n{}",
                out.text(),
                err.text()
            )
        });
        Done {
            status,
            out: self.out.whole(),
            err: self.err.whole(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Gone already in the usual case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Done {
    Running::start(command).done()
}

/// One stream of a program, read by a thread of its own.
#[derive(Default)]
struct Stream {
    read: Mutex<Text>,
    more: Condvar,
}

#[derive(Default)]
struct Text {
    lines: Vec<String>,
    ended: bool,
}

impl Stream {
    fn drain(stream: Option<impl Read + Send + 'static>) -> Arc<Self> {
        let ours = Arc::new(Self::default());
        let theirs = Arc::clone(&ours);
        std::thread::spawn(move || {
            if let Some(stream) = stream {
                let mut reader = BufReader::new(stream);
                let mut line = Vec::new();
                while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
                    theirs
                        .lock()
                        .lines
                        .push(String::from_utf8_lossy(&line).into_owned());
                    theirs.more.notify_all();
                    line.clear();
                }
            }
            theirs.lock().ended = true;
            theirs.more.notify_all();
        });
        ours
    }

    fn lock(&self) -> MutexGuard<'_, Text> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn text(&self) -> String {
        self.lock().lines.concat()
    }

    fn line(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        let begun = Instant::now();
        let mut text = self.lock();
        let mut seen = 0;
        loop {
            if let Some(line) = text.lines[seen..].iter().find(|line| fits(line.trim_end())) {
                return Some(line.trim_end().to_owned());
            }
            seen = text.lines.len();
            let left = BOUND.checked_sub(begun.elapsed())?;
            if text.ended {
                return None;
            }
            text = self
                .more
                .wait_timeout(text, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Everything, once the stream has ended. One that a grandchild keeps open is a bug worth finding.
    fn whole(&self) -> String {
        until("the end of a program's output", || {
            self.lock().ended.then_some(())
        });
        self.text()
    }
}
