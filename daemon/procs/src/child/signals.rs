//! The signals that the helper handles, and those that it catches only so that the command does not
//! inherit them as ignored.

use std::io;

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that may be ignored if `nohup`, a shell's `&` or a test runner started the daemon. Exec
/// resets a caught signal, but not an ignored one, so the command gets the defaults.
const TAKEN: [Number; 9] = [
    Number::USR1,
    Number::USR2,
    Number::ALARM,
    Number::TSTP,
    Number::TTIN,
    Number::TTOU,
    Number::XCPU,
    Number::XFSZ,
    Number::WINCH,
];

pub(super) struct Signals {
    child: Signal,
    go_on: Signal,
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    quit: Signal,
}

impl Signals {
    pub fn take() -> io::Result<Self> {
        for number in TAKEN {
            // The handler stays installed after the listener is dropped.
            drop(signal(SignalKind::from_raw(number.as_raw()))?);
        }
        Ok(Self {
            child: signal(SignalKind::child())?,
            go_on: signal(SignalKind::from_raw(Number::CONT.as_raw()))?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits until a child may have ended. Cancel-safe. Several ends may be merged.
    pub async fn child(&mut self) {
        self.child.recv().await;
    }

    /// Waits until we should end, or a child may have ended. Cancel-safe.
    pub async fn any(&mut self) -> SignalEvent {
        tokio::select! {
            _ = self.child.recv() => SignalEvent::Child,
            _ = self.go_on.recv() => SignalEvent::GoOn,
            _ = self.terminate.recv() => SignalEvent::End,
            _ = self.interrupt.recv() => SignalEvent::End,
            _ = self.hang_up.recv() => SignalEvent::End,
            _ = self.quit.recv() => SignalEvent::End,
        }
    }
}

/// The meaning of a signal.
pub(super) enum SignalEvent {
    Child,
    /// The daemon woke us, or the kernel did because the daemon died.
    GoOn,
    End,
}
