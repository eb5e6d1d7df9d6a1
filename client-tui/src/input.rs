//! User and system input as events: keys, pastes, the window, signals.
//!
//! Terminals without bracketed paste (an old Windows console, some ssh setups) deliver a paste as keys, as if it were
//! typed: the first Enter in it would send half a prompt. So keys that all wait at the same moment and hold an Enter
//! followed by more keys are taken for a paste. Once a terminal has marked a paste, this is off: keys are keys,
//! however fast they arrive.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crossterm::event::{
    Event as Raw, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind,
};
use futures::Stream;
use tokio::signal::unix::{Signal as Listener, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::event::{Event, Signal};

/// Events that are taken from the terminal at a time.
const TAKEN_MAX: usize = 4_096;

/// Fewer keys at once are no paste.
const PASTE_MIN: usize = 3;

/// How often to check that the terminal still exists. Usually SIGHUP reports it, unless it is ignored.
const LOOK: Duration = Duration::from_secs(5);

/// The input side of the terminal.
pub struct Input<S = EventStream> {
    /// `None` while something else reads from the terminal, or after it ended.
    stream: Option<S>,
    ready: VecDeque<Event>,
    /// The terminal marks pastes.
    bracketed: bool,
    ended: bool,
    /// Keys come from standard input, and it can be looked whether that is still a terminal.
    watched: bool,
    look: Interval,
}

impl Input {
    /// Reads from the terminal of this process. Only within the runtime.
    #[must_use]
    pub fn terminal() -> Self {
        Self {
            watched: crate::terminal::is_there(),
            ..Self::of(EventStream::new())
        }
    }

    /// Stops reading: a program that is given the terminal would lose keys to us.
    pub fn pause(&mut self) {
        self.stream = None;
    }

    /// Reads again.
    pub fn resume(&mut self) {
        if !self.ended && self.stream.is_none() {
            self.stream = Some(EventStream::new());
        }
    }
}

impl<S: Stream<Item = io::Result<Raw>> + Unpin> Input<S> {
    /// Reads from a stream of what a terminal says. Only within the runtime.
    pub fn of(stream: S) -> Self {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        look.reset();
        Self {
            stream: Some(stream),
            ready: VecDeque::new(),
            bracketed: false,
            ended: false,
            watched: false,
            look,
        }
    }

    /// The next event. The end of input is a hang-up, once; then nothing comes any more. Dropping the future loses
    /// nothing: events read from the terminal are buffered in here.
    pub async fn next(&mut self) -> Event {
        poll_fn(|context| self.poll(context)).await
    }

    /// The next event if it is there already.
    ///
    /// It must be awaited in the task that awaits [`Input::next`]: crossterm wakes only the first task that found nothing
    /// until it has woken it, so a look without a task would leave the next wait asleep beside a key that has come.
    pub async fn pending(&mut self) -> Option<Event> {
        poll_fn(|context| {
            let event = self.poll(context);
            Poll::Ready(match event {
                Poll::Ready(event) => Some(event),
                Poll::Pending => None,
            })
        })
        .await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        if let Some(event) = self.ready.pop_front() {
            return Poll::Ready(event);
        }
        self.take(context);
        while self.look.poll_tick(context).is_ready() {
            if self.watched && !self.ended && crate::terminal::is_gone() {
                self.end();
            }
        }
        match self.ready.pop_front() {
            Some(event) => Poll::Ready(event),
            None => Poll::Pending,
        }
    }

    /// Takes all that waits.
    fn take(&mut self, context: &mut Context<'_>) {
        let mut run = Vec::new();
        while self.ready.len() + run.len() < TAKEN_MAX {
            let Some(stream) = &mut self.stream else {
                break;
            };
            match Pin::new(stream).poll_next(context) {
                Poll::Pending => {
                    if self.watched {
                        crate::terminal::remind();
                    }
                    break;
                }
                Poll::Ready(Some(Ok(raw))) => self.read_raw(raw, &mut run),
                Poll::Ready(Some(Err(_)) | None) => {
                    self.flush(&mut run);
                    self.end();
                }
            }
        }
        self.flush(&mut run);
    }

    fn read_raw(&mut self, raw: Raw, run: &mut Vec<KeyEvent>) {
        match raw {
            Raw::Key(key) if key.kind == KeyEventKind::Release => {}
            Raw::Key(key) if written(&key).is_some() => run.push(key),
            other => {
                self.flush(run);
                self.bracketed |= matches!(other, Raw::Paste(_));
                self.push(other);
            }
        }
    }

    /// Takes any event except a plain character key. Several resizes or wheel turns at once are merged into one.
    fn push(&mut self, raw: Raw) {
        let event = match raw {
            Raw::Key(key) => Event::Key(key),
            // As keys would come: most terminals give the ends of lines as the Enter key, CR.
            Raw::Paste(text) => Event::Paste(text.replace("\r\n", "\n").replace('\r', "\n")),
            Raw::Resize(columns, rows) => Event::Resize(columns, rows),
            Raw::FocusGained => Event::Focus(true),
            Raw::FocusLost => Event::Focus(false),
            Raw::Mouse(mouse) => match mouse.kind {
                MouseEventKind::ScrollUp => Event::Wheel(-1),
                MouseEventKind::ScrollDown => Event::Wheel(1),
                _ => return,
            },
        };
        match (self.ready.back_mut(), event) {
            (Some(Event::Wheel(before)), Event::Wheel(turns)) => {
                *before = before.saturating_add(turns);
            }
            (Some(before @ Event::Resize(..)), event @ Event::Resize(..)) => *before = event,
            (_, event) => self.ready.push_back(event),
        }
    }

    /// Keys that waited together: a paste, or keys.
    fn flush(&mut self, run: &mut Vec<KeyEvent>) {
        let enter = run.iter().position(|key| written(key) == Some('\n'));
        let more = enter.is_some_and(|enter| enter + 1 < run.len());
        if more && run.len() >= PASTE_MIN && !self.bracketed {
            let text = run.drain(..).filter_map(|key| written(&key)).collect();
            self.ready.push_back(Event::Paste(text));
        }
        self.ready.extend(run.drain(..).map(Event::Key));
    }

    fn end(&mut self) {
        self.stream = None;
        self.ended = true;
        self.ready.push_back(Event::Signal(Signal::HangUp));
    }
}

/// The character that the key writes: of a paste that comes as keys there are no others.
fn written(key: &KeyEvent) -> Option<char> {
    let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Char('j') if key.modifiers == KeyModifiers::CONTROL => Some('\n'),
        KeyCode::Char(character) if plain => Some(character),
        KeyCode::Enter if key.modifiers.is_empty() => Some('\n'),
        KeyCode::Tab if key.modifiers.is_empty() => Some('\t'),
        _ => None,
    }
}

/// The signals that this process handles itself, in place of their default actions.
pub struct Signals {
    listeners: [(Signal, Listener); 4],
}

impl Signals {
    /// Begins to listen. Only within the runtime.
    ///
    /// # Errors
    ///
    /// The system does not let us.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            listeners: [
                (Signal::HangUp, signal(SignalKind::hangup())?),
                (Signal::Terminate, signal(SignalKind::terminate())?),
                (Signal::Interrupt, signal(SignalKind::interrupt())?),
                (Signal::Continue, signal(SignalKind::from_raw(CONTINUE))?),
            ],
        })
    }

    /// The next signal. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            for (name, listener) in &mut self.listeners {
                if listener.poll_recv(context).is_ready() {
                    return Poll::Ready(*name);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Its number differs between systems.
const CONTINUE: i32 = rustix::process::Signal::CONT.as_raw();

#[cfg(test)]
mod tests;
