//! What the system tells the daemon by signals. Taken from the first moment on: one that came during recovery would
//! otherwise kill it, and its parent would take that for a crash.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::gate::{Gate, Leave};

/// Takes the signals, from within a runtime. TERM and INT end the daemon; a second one hastens that. HUP (a terminal
/// that closes), USR1 and USR2 are told in the log. XFSZ must not kill: the write that came upon a limit fails, and is
/// dealt with where it was made. PIPE is ignored by every Rust program.
///
/// # Errors
/// The system takes no handler.
pub fn listen(gate: &Arc<Gate>) -> io::Result<()> {
    let mut taken = Taken {
        term: signal(SignalKind::terminate())?,
        int: signal(SignalKind::interrupt())?,
        hup: signal(SignalKind::hangup())?,
        usr1: signal(SignalKind::user_defined1())?,
        usr2: signal(SignalKind::user_defined2())?,
        xfsz: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
    };
    let gate = Arc::clone(gate);
    tokio::spawn(async move {
        loop {
            match taken.next().await {
                Told::End => end(&gate),
                Told::Nothing(name) => tracing::info!(name, "a signal that changes nothing"),
                // Not even told: the write to the log may be the one that is over the limit.
                Told::TooLarge => {}
            }
        }
    });
    Ok(())
}

/// Asks for the end, and where that was asked for already, for haste.
fn end(gate: &Gate) {
    if gate.leaves() >= Some(Leave::HandOver) {
        tracing::info!("told to end a second time");
        gate.hurry();
    }
    gate.ask(Leave::Now);
}

struct Taken {
    term: Signal,
    int: Signal,
    hup: Signal,
    usr1: Signal,
    usr2: Signal,
    xfsz: Signal,
}

enum Told {
    End,
    Nothing(&'static str),
    TooLarge,
}

impl Taken {
    async fn next(&mut self) -> Told {
        // Each arm only takes a signal that has come: dropping another one loses nothing.
        tokio::select! {
            _ = self.term.recv() => Told::End,
            _ = self.int.recv() => Told::End,
            _ = self.hup.recv() => Told::Nothing("HUP"),
            _ = self.usr1.recv() => Told::Nothing("USR1"),
            _ = self.usr2.recv() => Told::Nothing("USR2"),
            _ = self.xfsz.recv() => Told::TooLarge,
        }
    }
}
