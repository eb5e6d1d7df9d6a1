//! The signals the helper listens to, and those it takes only so that the command does not inherit them
//! as ignored.

use std::io;

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that a daemon started by `nohup`, a shell's `&` or a test runner may have been told to ignore.
/// A handler, unlike "ignored", goes away with exec: the command finds all of them as they should be.
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
            // The handler stays when the listener goes.
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

    /// A child may have ended. Cancel-safe; several ends may come as one.
    pub async fn child(&mut self) {
        self.child.recv().await;
    }

    /// Somebody wants us gone, or a child may have ended. Cancel-safe.
    pub async fn any(&mut self) -> Heard {
        tokio::select! {
            _ = self.child.recv() => Heard::Child,
            _ = self.go_on.recv() => Heard::GoOn,
            _ = self.terminate.recv() => Heard::End,
            _ = self.interrupt.recv() => Heard::End,
            _ = self.hang_up.recv() => Heard::End,
            _ = self.quit.recv() => Heard::End,
        }
    }
}

/// What a signal means to us.
pub(super) enum Heard {
    Child,
    /// The daemon woke us, or the kernel did because the daemon has died.
    GoOn,
    End,
}
