//! The signals that a waiting command listens to.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Error;
use crate::messages::common::Msg;

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OsSignal {
    /// Ctrl-C.
    Int,
    /// Somebody wants us to end.
    Term,
    /// The terminal is gone.
    Hup,
}

/// INT, TERM and HUP, from the moment this is made.
pub struct Signals {
    int: Signal,
    term: Signal,
    hup: Signal,
}

impl Signals {
    /// Starts listening; from now on these signals do not end the process by themselves.
    pub fn listen() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|source| Error::io(say!(Msg::DoSignals), source));
        Ok(Self {
            int: listen(SignalKind::interrupt())?,
            term: listen(SignalKind::terminate())?,
            hup: listen(SignalKind::hangup())?,
        })
    }

    /// The next one. Cancel-safe: a signal that is not taken stays.
    pub async fn next(&mut self) -> OsSignal {
        tokio::select! {
            _ = self.int.recv() => OsSignal::Int,
            _ = self.term.recv() => OsSignal::Term,
            _ = self.hup.recv() => OsSignal::Hup,
        }
    }
}
