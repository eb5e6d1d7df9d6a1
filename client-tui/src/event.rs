//! Events of the interface. Everything that changes the model comes as one of these.

use client::DecodedEvent;
use crossterm::event::KeyEvent;
use proto::Failure;

use crate::effect::Answer;
use crate::model::overview::Overview;

/// An event.
#[derive(Debug)]
pub enum Event {
    Key(KeyEvent),
    /// A paste, unchanged except that line ends are newlines.
    Paste(String),
    /// Columns and rows.
    Resize(u16, u16),
    /// Whether the terminal's window has the focus.
    Focus(bool),
    /// Turns of the mouse wheel in full screen, up where negative.
    Wheel(i16),
    /// Time has passed; sent while something is animated or will expire.
    Tick,
    /// An event of the followed session. `follow` numbers the subscription; events of earlier ones are stale.
    Session {
        follow: u64,
        update: SessionUpdate,
    },
    /// The answer to an effect. `follow`: the subscription when the effect was requested.
    Answered {
        follow: u64,
        answer: Answer,
    },
    Signal(Signal),
    /// All sessions at work, as they are now.
    Overview(Box<Overview>),
}

/// Events from a session's subscription.
#[derive(Debug)]
pub enum SessionUpdate {
    /// Attached to this session.
    Attached {
        session: proto::SessionId,
        pid: proto::Pid,
    },
    Record(Box<DecodedEvent>),
    /// The connection was lost and is being made again. `stopped`: the daemon was asked to stop.
    Lost {
        stopped: bool,
    },
    /// Connected again. A `sync`, or a `snapshot`, follows.
    Reconnected,
    /// The log cannot be written at present.
    Unwritable(Box<Failure>),
    /// The daemon is missing and nobody starts one: the reason and a hint. The client keeps looking for it.
    Away(crate::effect::ErrorReport),
    /// It can no longer be followed: the reason and a hint.
    Ended(crate::effect::ErrorReport),
}

/// A signal to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Interrupt,
    Terminate,
    /// The terminal is gone.
    HangUp,
    /// The shell has moved us back to the foreground.
    Continue,
}
