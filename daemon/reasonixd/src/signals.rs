//! Handles the daemon's signals, from its first moment on: a signal during recovery would otherwise kill it, and its
//! parent would take that for a crash.

use std::io;
use std::sync::Arc;

use session::tasks;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::gate::{Gate, ShutdownReason};

/// Takes the signals, from within a runtime. TERM and INT end the daemon; a second one hastens that. HUP (a terminal
/// that closes), USR1 and USR2 are logged. XFSZ must not kill: the write that came upon a limit fails, and is
/// handled by the caller that made it. PIPE is ignored by every Rust program.
///
/// # Errors
/// The system takes no handler.
pub fn listen(gate: &Arc<Gate>) -> io::Result<()> {
    let mut taken = SignalStreams {
        term: signal(SignalKind::terminate())?,
        int: signal(SignalKind::interrupt())?,
        hup: signal(SignalKind::hangup())?,
        usr1: signal(SignalKind::user_defined1())?,
        usr2: signal(SignalKind::user_defined2())?,
        xfsz: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
    };
    let gate = Arc::clone(gate);
    tasks::spawn(async move {
        loop {
            match taken.next().await {
                Reaction::End => end(&gate),
                Reaction::Log(name) => tracing::info!(name, "a signal that changes nothing"),
                // Not even logged: the write to the log may be the one that is over the limit.
                Reaction::Ignore => {}
            }
        }
    });
    Ok(())
}

/// Asks for the end, and if that was asked for already, for a quick one.
fn end(gate: &Gate) {
    if gate.shutdown_reason() >= Some(ShutdownReason::HandOver) {
        tracing::info!("asked to end a second time");
        gate.hurry();
    }
    gate.ask(ShutdownReason::Now);
}

struct SignalStreams {
    term: Signal,
    int: Signal,
    hup: Signal,
    usr1: Signal,
    usr2: Signal,
    xfsz: Signal,
}

enum Reaction {
    End,
    Log(&'static str),
    Ignore,
}

impl SignalStreams {
    async fn next(&mut self) -> Reaction {
        // Each arm only takes a signal that has come: dropping another one loses nothing.
        tokio::select! {
            _ = self.term.recv() => Reaction::End,
            _ = self.int.recv() => Reaction::End,
            _ = self.hup.recv() => Reaction::Log("HUP"),
            _ = self.usr1.recv() => Reaction::Log("USR1"),
            _ = self.usr2.recv() => Reaction::Log("USR2"),
            _ = self.xfsz.recv() => Reaction::Ignore,
        }
    }
}
