//! Sets the terminal up while the interface runs, and restores it afterwards, whatever happens in between.
//!
//! The terminal is never queried: an answer may not come, and a late one looks like keys.

pub mod bytes;
pub mod surroundings;

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, kill_current_process_group};
use rustix::stdio;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::Notify;

pub use bytes::{BELL, KEYS_OFF, KEYS_ON, notify, title};
pub use surroundings::TerminalEnvironment;

use crate::screen::Screen;

/// How long after a stop of our own the signal that we go on may come.
const OWN_MAX: Duration = Duration::from_secs(1);

/// How the terminal is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The wheel of the mouse comes as events. Then the terminal selects text only with Shift held.
    pub wheel: bool,
    /// A terminal that knows little: what goes beyond text and colours is left out.
    pub plain: bool,
}

/// The terminal, as long as this lives. Restores it when dropped, and before the words of a panic.
#[derive(Debug)]
pub struct Terminal {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    options: Options,
    /// The terminal's modes must be restored.
    entered: AtomicBool,
    /// The alternate screen is shown; set by the [`Screen`].
    covered: Arc<AtomicBool>,
    /// When we went on after we had stopped ourselves: the signal of that is not news.
    suspended: Mutex<Option<Instant>>,
}

/// For the panic hook, which nobody can hand anything.
static CURRENT: Mutex<Option<Arc<State>>> = Mutex::new(None);

impl Terminal {
    /// Takes the terminal of this process.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn enter(options: Options) -> io::Result<Self> {
        let state = Arc::new(State {
            options,
            entered: AtomicBool::new(false),
            covered: Arc::new(AtomicBool::new(false)),
            suspended: Mutex::new(None),
        });
        hook();
        set_current(Some(state.clone()));
        let terminal = Self { state };
        terminal.resume()?;
        Ok(terminal)
    }

    /// A screen on it, of the size that it has now.
    ///
    /// # Errors
    ///
    /// The size is not known.
    pub fn screen(
        &self,
        surroundings: &TerminalEnvironment,
    ) -> io::Result<Screen<UnbufferedStdout>> {
        let (columns, rows) = size()?;
        let mut screen = Screen::new(UnbufferedStdout, columns, rows);
        screen.colours = surroundings.colours;
        screen.reflows = surroundings.reflows;
        screen.plain = surroundings.plain;
        screen.share(self.state.covered.clone());
        Ok(screen)
    }

    /// Takes it again after [`restore`](Self::restore). Something else (the shell, while this process was stopped)
    /// may have changed the modes, so they are set again; then the whole screen must be redrawn.
    ///
    /// # Errors
    ///
    /// It is gone.
    pub fn resume(&self) -> io::Result<()> {
        let again = self.state.entered.swap(true, Ordering::SeqCst);
        if again {
            // It would be taken for raw, whatever it is.
            crossterm::terminal::disable_raw_mode()?;
        }
        crossterm::terminal::enable_raw_mode()?;
        UnbufferedStdout.write_all(bytes::enter(self.state.options, again).as_bytes())
    }

    /// Restores it. May be called any number of times. The screen must have left before.
    pub fn restore(&self) {
        self.state.restore();
    }

    /// Gives it back and stops the foreground process group, as the terminal itself does on Ctrl-Z outside raw mode.
    /// Returns when the shell continues us, with the terminal taken again.
    ///
    /// # Errors
    ///
    /// It is gone.
    pub fn suspend(&self) -> io::Result<()> {
        self.restore();
        // This fails only if nobody could continue us; then we go on.
        let _ = kill_current_process_group(Signal::TSTP);
        // The signal may stop us a moment later: not with the terminal taken.
        thread::sleep(Duration::from_millis(20));
        *lock(&self.state.suspended) = Some(Instant::now());
        self.resume()
    }

    /// [`Signal::Continue`](crate::event::Signal::Continue) came: takes the terminal again if another process had
    /// stopped this one. Returns whether the whole screen must be redrawn.
    ///
    /// # Errors
    ///
    /// It is gone.
    pub fn continued(&self) -> io::Result<bool> {
        if self.state.is_own(Instant::now()) {
            return Ok(false);
        }
        self.resume()?;
        Ok(true)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore();
        set_current(None);
    }
}

impl State {
    /// Whether the continue signal belongs to our own stop. It comes at once; if nothing had stopped us it never
    /// comes, and one that comes much later was sent by another process.
    fn is_own(&self, now: Instant) -> bool {
        let suspended = lock(&self.suspended).take();
        suspended.is_some_and(|since| now.saturating_duration_since(since) < OWN_MAX)
    }

    /// If the terminal is gone, nobody can read an error.
    fn restore(&self) {
        if !self.entered.swap(false, Ordering::SeqCst) {
            return;
        }
        let covered = self.covered.swap(false, Ordering::SeqCst);
        let _ = UnbufferedStdout.write_all(bytes::restore(self.options, covered).as_bytes());
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

fn set_current(state: Option<Arc<State>>) {
    *lock(&CURRENT) = state;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A panic on any thread: the terminal is not ours any more.
static PANICKED: Notify = Notify::const_new();

/// When something has panicked, on whatever thread: the terminal is restored then, and the interface cannot go on.
pub async fn panicked() {
    PANICKED.notified().await;
}

/// Installs a panic hook, once per process: it restores the terminal before the panic is reported, and wakes waiters
/// on [`panicked`].
fn hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            // A panic while it is locked comes from nowhere: nothing panics in there.
            let current = CURRENT.try_lock().ok().and_then(|state| state.clone());
            if let Some(state) = current {
                state.restore();
                let _ = UnbufferedStdout.write_all(b"\r\n\x1b[J");
            }
            report(what);
            PANICKED.notify_one();
        }));
    });
}

/// Columns and rows of the terminal.
///
/// # Errors
///
/// There is no terminal, or it has no known size.
pub fn size() -> io::Result<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stdio::stdout())?;
    match (size.ws_col, size.ws_row) {
        // Some serial lines and containers have no size: what every terminal has had.
        (0, _) | (_, 0) => Ok((80, 24)),
        size => Ok(size),
    }
}

/// Whether the interface can be used here: both input and output are a terminal.
#[must_use]
pub fn is_there() -> bool {
    stdio::stdin().is_terminal() && stdio::stdout().is_terminal()
}

/// Whether the terminal has gone that keys came from.
#[must_use]
pub fn is_gone() -> bool {
    hung_up(stdio::stdin())
}

/// Makes the terminal report pending keys again, if there are any.
///
/// Crossterm is notified once of pending input. If a new size is reported at the same moment it reads that alone, and
/// keys that came with it would wait until the next key press; so would input beyond one read.
pub fn remind() {
    let stdin = stdio::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    let now = Timespec::default();
    let waits = poll(&mut asked, Some(&now)).is_ok()
        && asked
            .iter()
            .any(|one| one.revents().contains(PollFlags::IN));
    if waits && let Ok(same) = tcgetattr(stdin) {
        // Setting the current attributes again wakes the waiting reader.
        let _ = tcsetattr(stdin, OptionalActions::Now, &same);
    }
}

fn hung_up(input: impl AsFd) -> bool {
    let mut asked = [PollFd::new(&input, PollFlags::empty())];
    let now = Timespec::default();
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut asked, Some(&now)).is_ok() && asked.iter().any(|one| one.revents().intersects(gone))
}

/// Standard output without a buffer: a frame is one write.
#[derive(Clone, Copy, Debug)]
pub struct UnbufferedStdout;

impl Write for UnbufferedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(stdio::stdout(), bytes) {
                // Another program may have left the terminal so that it does not wait.
                Err(rustix::io::Errno::AGAIN) => {
                    let stdout = stdio::stdout();
                    poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None)?;
                }
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
