//! The terminal that a person sits at: how wide it is, and the lines typed there.

use std::io::{self, BufRead, IsTerminal};
use std::os::fd::AsFd;

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetwinsize,
    tcsetattr,
};
use tokio::sync::mpsc;

/// Lines that may wait to be read; more stay in the terminal or pipe.
const LINES_MAX: usize = 16;

/// Whether a person sits there who can be asked: terminal on standard input and standard error.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What can be shown on standard output, and read on standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// One of them is not a terminal.
    None,
    /// Lines alone: the terminal is a dumb one.
    Lines,
    /// The whole screen, and keys.
    Whole,
}

/// What the terminal can show.
pub fn screen() -> Screen {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Screen::None;
    }
    match std::env::var_os("TERM") {
        Some(term) if !term.is_empty() && term != "dumb" => Screen::Whole,
        _ => Screen::Lines,
    }
}

/// The width of the terminal on standard output; `None` if there is none.
pub fn columns() -> Option<usize> {
    columns_of(&io::stdout())
}

/// The width of the terminal on this stream; `None` if there is none.
pub fn columns_of(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Lines of standard input, read by a thread of their own from the moment this is made.
pub struct Lines {
    lines: mpsc::Receiver<String>,
}

impl Lines {
    /// Starts reading.
    pub fn start() -> Self {
        let (sender, lines) = mpsc::channel(LINES_MAX);
        // It blocks in `read` for ever if nobody types; the end of the process ends it.
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Self { lines }
    }

    /// The next line; `None` at the end. Cancel-safe.
    pub async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Discards input typed up to now, for a question that is about to be drawn.
    pub fn flush(&mut self) {
        if io::stdin().is_terminal() {
            // If it fails nothing was typed ahead that could be taken for an answer but a whole line, dropped next.
            let _ = tcflush(io::stdin(), QueueSelector::IFlush);
            while self.lines.try_recv().is_ok() {}
        }
    }
}

/// A terminal that does not echo typed input, until this is dropped.
pub struct EchoOffGuard {
    before: Option<Termios>,
}

impl EchoOffGuard {
    /// Turns off the echo of standard input from now on.
    ///
    /// # Errors
    /// The terminal does not let itself be changed.
    pub fn start() -> io::Result<Self> {
        let input = io::stdin();
        if !input.is_terminal() {
            return Ok(Self { before: None });
        }
        let before = tcgetattr(&input)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        // The end of the line is shown: the cursor moves on.
        hidden.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(&input, OptionalActions::Flush, &hidden)?;
        Ok(Self {
            before: Some(before),
        })
    }
}

impl Drop for EchoOffGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Input typed since the last line, perhaps part of a key, is not left for the shell. It is all that can be
            // done where this fails: the terminal is gone.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, before);
        }
    }
}
