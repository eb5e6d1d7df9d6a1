//! A program in a terminal of its own: a pseudo-terminal with a person's fingers at the keys and an emulator that knows
//! the contents of the screen.
//!
//! The program leads its own session there, so that Ctrl-C, Ctrl-Z and the loss of the terminal act as they do for
//! people. Nothing here sleeps: every wait looks again when the program has written something, and has a bound.

pub mod emulator;
pub mod golden;
pub mod keys;
pub mod svg;

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command as AtTerminal, Pty};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, Termios, tcgetattr};

use crate::House;
use crate::wait::{BOUND, until};
use emulator::Emulator;
pub use emulator::{Modes, TerminalFeatures};

/// A terminal with a program in it. Dropped: the program is killed.
pub struct Terminal {
    child: Child,
    ended: Option<ExitStatus>,
    /// Our end. `None`: it was hung up.
    ours: Option<Arc<Pty>>,
    /// The name of the program's end.
    theirs: String,
    shared: Arc<Shared>,
    /// Written to, it ends the reader.
    wake: OwnedFd,
    reader: Option<JoinHandle<()>>,
    before: Termios,
}

struct Shared {
    emulator: Mutex<Emulator>,
    more: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Emulator> {
        self.emulator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long the end of a terminal is waited for once its program has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Terminal {
    /// Starts a program in a terminal of this size. `TERM` is `xterm-256color`, and `COLORTERM` `truecolor`, where the
    /// command does not say something else.
    ///
    /// # Panics
    /// No terminal is available, or the program cannot be started.
    #[must_use]
    pub fn start(command: Command, columns: u16, rows: u16) -> Self {
        Self::start_in(command, columns, rows, TerminalFeatures::default())
    }

    /// The same in another kind of terminal.
    ///
    /// # Panics
    /// No terminal is available, or the program cannot be started.
    #[must_use]
    pub fn start_in(
        mut command: Command,
        columns: u16,
        rows: u16,
        nature: TerminalFeatures,
    ) -> Self {
        for (name, value) in [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")] {
            if !command.get_envs().any(|(known, _)| known == name) {
                command.env(name, value);
            }
        }
        let (ours, theirs) = pty_process::blocking::open().expect("a pseudo-terminal");
        ours.resize(Size::new(rows, columns))
            .expect("set the terminal's size");
        let name = rustix::pty::ptsname(&ours, Vec::new()).expect("the terminal's name");
        let before = tcgetattr(&ours).expect("the terminal's modes");
        // A program that takes nothing must not hold the test for ever.
        let flags = fcntl_getfl(&ours).expect("the terminal's flags");
        fcntl_setfl(&ours, flags | OFlags::NONBLOCK).expect("set the terminal's flags");
        let said = format!("{command:?}");
        let child = AtTerminal::from(command)
            .spawn(theirs)
            .unwrap_or_else(|error| panic!("start {said} in a terminal: {error}"));
        let ours = Arc::new(ours);
        let shared = Arc::new(Shared {
            emulator: Mutex::new(Emulator::new(columns, rows, nature)),
            more: Condvar::new(),
        });
        let (woken, wake) = rustix::pipe::pipe().expect("a pipe");
        let reader = {
            let (ours, shared) = (Arc::clone(&ours), Arc::clone(&shared));
            std::thread::spawn(move || read(&ours, &woken, &shared))
        };
        Self {
            child,
            ended: None,
            ours: Some(ours),
            theirs: name.to_string_lossy().into_owned(),
            shared,
            wake,
            reader: Some(reader),
            before,
        }
    }

    /// Starts `reasonix` with the environment of a house, in its project.
    #[must_use]
    pub fn reasonix(house: &House, arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start(house.command(arguments), columns, rows)
    }

    /// Starts a plain shell with job control, in the project of a house: to control programs from outside, as users do.
    /// Its prompt is `$ `.
    #[must_use]
    pub fn shell(house: &House, columns: u16, rows: u16) -> Self {
        let mut command = house.program(std::path::Path::new("/bin/sh"));
        command.arg("-i").env("PS1", "$ ");
        let shell = Self::start(command, columns, rows);
        shell.wait_text("$");
        shell
    }

    // Fingers.

    /// Presses a key by its name in the key table: `ctrl-p`, `shift-enter`, `G`.
    ///
    /// # Panics
    /// The key is unknown, or the program takes no input.
    pub fn press(&self, name: &str) {
        let disambiguated = self.shared.lock().disambiguates_keys();
        let bytes =
            keys::bytes(name, disambiguated).unwrap_or_else(|| panic!("unknown key `{name}`"));
        self.send(&bytes);
        if bytes == [0x1b] {
            // What follows at once would be taken for the rest of a sequence.
            self.wait_taken();
        }
    }

    /// Presses several keys, one after the other.
    pub fn press_all(&self, names: &[&str]) {
        for name in names {
            self.press(name);
        }
    }

    /// Types text, letter by letter: a line's end is Enter.
    pub fn type_text(&self, text: &str) {
        self.send(text.replace('\n', "\r").as_bytes());
    }

    /// Pastes text, as terminals do it where the program has asked for that; else it is as if it were typed.
    pub fn paste(&self, text: &str) {
        let text = text.replace('\n', "\r");
        match self.modes().bracketed_paste {
            true => self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes()),
            false => self.send(text.as_bytes()),
        }
    }

    /// Reports focus to the program, if it has asked for focus events.
    pub fn focus(&self, looks: bool) {
        if self.modes().focus {
            self.send(if looks { b"\x1b[I" } else { b"\x1b[O" });
        }
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    /// The program takes nothing, or the terminal was hung up.
    pub fn send(&self, bytes: &[u8]) {
        assert!(
            self.offer(bytes),
            "the program takes no keys; its screen:\n{}",
            self.screen()
        );
    }

    /// Sends bytes to a program that may have ended: whether it takes them.
    #[must_use]
    pub fn offer(&self, bytes: &[u8]) -> bool {
        let ours = self.ours.as_deref();
        ours.is_some_and(|ours| write(ours, bytes, BOUND))
    }

    /// Waits until the program has taken all that was typed.
    ///
    /// # Panics
    /// It does not.
    pub fn wait_taken(&self) {
        until("the program to take the input", || {
            let theirs = File::options()
                .read(true)
                .custom_flags(i32::try_from(OFlags::NOCTTY.bits()).unwrap_or_default())
                .open(&self.theirs);
            // A terminal that nobody holds any more takes nothing.
            let Ok(theirs) = theirs else { return Some(()) };
            let left = rustix::io::ioctl_fionread(&theirs);
            left.map_or(true, |left| left == 0).then_some(())
        });
    }

    /// Changes the size, as if the window had been pulled.
    ///
    /// # Panics
    /// The terminal was hung up.
    pub fn resize(&self, columns: u16, rows: u16) {
        let ours = self
            .ours
            .as_deref()
            .expect("a terminal that is not hung up");
        // Locked meanwhile: output for the new size is read at the new size.
        let mut emulator = self.shared.lock();
        emulator.resize(columns, rows);
        ours.resize(Size::new(rows, columns))
            .expect("change the terminal's size");
    }

    // Eyes.

    /// The contents of the screen: its rows without trailing blanks.
    #[must_use]
    pub fn screen(&self) -> String {
        self.shared.lock().rows().join("\n")
    }

    /// Everything that has scrolled off, and the screen. While the other screen is shown, only that one.
    #[must_use]
    pub fn scrollback(&self) -> String {
        self.shared.lock().all_rows().join("\n")
    }

    /// Columns and rows.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        self.shared.lock().size()
    }

    /// The position of the cursor: row and column, from 0; `None`: it is hidden.
    #[must_use]
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let emulator = self.shared.lock();
        (!emulator.vt().hide_cursor()).then(|| emulator.vt().cursor_position())
    }

    /// A cell of the screen, with its colours; `None`: it lies outside.
    #[must_use]
    pub fn cell(&self, row: u16, column: u16) -> Option<vt100::Cell> {
        let emulator = self.shared.lock();
        emulator.vt().cell(row, column).cloned()
    }

    /// All that the program has written.
    #[must_use]
    pub fn raw_bytes(&self) -> Vec<u8> {
        self.shared.lock().raw.clone()
    }

    /// How much it has written.
    #[must_use]
    pub fn written(&self) -> usize {
        self.shared.lock().raw.len()
    }

    /// What the program has set the terminal to.
    #[must_use]
    pub fn modes(&self) -> Modes {
        self.shared.lock().modes()
    }

    /// Sequences that the emulator does not know: none of ours, so they came from somewhere else.
    #[must_use]
    pub fn unknown(&self) -> Vec<String> {
        self.shared.lock().unknown().to_vec()
    }

    #[must_use]
    pub fn bells(&self) -> usize {
        self.shared.lock().bells()
    }

    /// Every title that the window was given.
    #[must_use]
    pub fn titles(&self) -> Vec<String> {
        self.shared.lock().titles().to_vec()
    }

    /// Every notification (OSC 9).
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.shared.lock().notes().to_vec()
    }

    /// Everything that was put on the clipboard, in base 64.
    #[must_use]
    pub fn copied(&self) -> Vec<String> {
        self.shared.lock().copied().to_vec()
    }

    /// Whether the terminal gives the program single keys (raw) instead of whole lines.
    ///
    /// # Panics
    /// The terminal was hung up.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        !self.termios().local_modes.contains(LocalModes::ICANON)
    }

    /// Whether the terminal is as it was before the program: lines and echo, and every mode.
    ///
    /// # Panics
    /// It is not; the message says in what.
    pub fn assert_restored(&self) {
        // Its last output may still be on its way.
        let usual = Modes::default();
        self.wait_since(Instant::now(), "the modes of the terminal", |emulator| {
            (emulator.modes() == usual).then_some(())
        });
        let (now, before) = (self.termios(), &self.before);
        let parts = |termios: &Termios| {
            (
                termios.input_modes,
                termios.output_modes,
                termios.control_modes,
                termios.local_modes,
            )
        };
        assert_eq!(parts(&now), parts(before), "settings of the terminal");
    }

    fn termios(&self) -> Termios {
        let ours = self
            .ours
            .as_deref()
            .expect("a terminal that is not hung up");
        tcgetattr(ours).expect("the terminal's settings")
    }

    // Patience.

    /// Waits until the screen (a whole frame) fits; when what made it fit came.
    ///
    /// # Panics
    /// It does not in time, or the program ends before.
    pub fn wait_for(&self, what: &str, fits: impl Fn(&str) -> bool) -> Instant {
        let begun = Instant::now();
        let mut seen = None;
        loop {
            // Not held while it is looked at: who looks may ask the terminal for more.
            let (screen, fed, written) = self.wait_since(begun, what, |emulator| {
                let is_new = emulator.is_whole() && seen != Some(emulator.raw.len());
                let screen = || emulator.rows().join("\n");
                is_new.then(|| (screen(), emulator.fed, emulator.raw.len()))
            });
            if fits(&screen) {
                return fed;
            }
            seen = Some(written);
        }
    }

    /// Waits until words are on the screen.
    ///
    /// # Panics
    /// They do not in time.
    pub fn wait_text(&self, words: &str) -> Instant {
        self.wait_for(&format!("`{words}` on the screen"), |screen| {
            screen.contains(words)
        })
    }

    /// Waits until words are no longer on the screen.
    ///
    /// # Panics
    /// They stay.
    pub fn wait_gone(&self, words: &str) -> Instant {
        self.wait_for(&format!("`{words}` to leave the screen"), |screen| {
            !screen.contains(words)
        })
    }

    /// Waits until words are on the screen or above it.
    ///
    /// # Panics
    /// They do not in time.
    pub fn wait_scrolled(&self, words: &str) -> Instant {
        self.wait(&format!("`{words}` in the scrollback"), |emulator| {
            let found = emulator.is_whole() && emulator.all_rows().join("\n").contains(words);
            found.then_some(emulator.fed)
        })
    }

    /// Waits until the program has written nothing for this long, and the frame is whole; `false`: it went on to write
    /// until the bound. For pictures, not for conditions.
    #[must_use]
    pub fn quiet(&self, pause: Duration) -> bool {
        let begun = Instant::now();
        let mut emulator = self.shared.lock();
        loop {
            let silent = emulator.fed.elapsed();
            if emulator.ended || (silent >= pause && emulator.is_whole()) {
                return true;
            }
            if begun.elapsed() > BOUND {
                return false;
            }
            let left = pause.saturating_sub(silent).max(Duration::from_millis(1));
            emulator = self.wait_on(emulator, left);
        }
    }

    /// Whether nothing more can come: the program, and everything that it started there, is gone.
    #[must_use]
    pub fn closed(&self) -> bool {
        self.shared.lock().ended
    }

    fn wait<T>(&self, what: &str, look: impl FnMut(&mut Emulator) -> Option<T>) -> T {
        self.wait_since(Instant::now(), what, look)
    }

    fn wait_since<T>(
        &self,
        begun: Instant,
        what: &str,
        mut look: impl FnMut(&mut Emulator) -> Option<T>,
    ) -> T {
        let mut emulator = self.shared.lock();
        loop {
            if let Some(found) = look(&mut emulator) {
                return found;
            }
            let left = BOUND.saturating_sub(begun.elapsed());
            if left.is_zero() || emulator.ended {
                let why = match emulator.ended {
                    true => "the program has ended",
                    false => "it took too long",
                };
                let all = emulator.all_rows().join("\n");
                // Not while it is locked: the values that are dropped on return need it.
                drop(emulator);
                panic!("waited in vain for {what}: {why}; all that was shown:\n{all}");
            }
            emulator = self.wait_on(emulator, left);
        }
    }

    fn wait_on<'a>(
        &self,
        emulator: MutexGuard<'a, Emulator>,
        left: Duration,
    ) -> MutexGuard<'a, Emulator> {
        let waited = self.shared.more.wait_timeout(emulator, left);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    // The end.

    /// The program's process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the program a signal.
    ///
    /// # Panics
    /// It is gone already.
    pub fn kill(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("signal a program that runs");
    }

    /// The same to a program that may have ended.
    pub fn try_kill(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Takes the terminal away, as when its window is closed.
    pub fn hang_up(&mut self) {
        self.stop_reading();
        self.ours = None;
    }

    /// Waits for the program's end, and until all that it wrote is read: its exit code, or the signal that ended it as 128 and more.
    ///
    /// # Panics
    /// It does not end.
    pub fn exit_code(&mut self) -> i32 {
        let status = self.status();
        let signalled = || status.signal().map_or(-1, |signal| 128 + signal);
        status.code().unwrap_or_else(signalled)
    }

    /// Waits for the program's end.
    ///
    /// # Panics
    /// It does not end.
    pub fn status(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        let child = &mut self.child;
        let shared = &self.shared;
        let look = &mut || child.try_wait().expect("ask for a program's state");
        let status = crate::wait::within(BOUND, look).unwrap_or_else(|| {
            let screen = shared.lock().rows().join("\n");
            panic!("the program does not end; its screen:\n{screen}")
        });
        self.ended = Some(status);
        if self.reader.is_some() {
            // What it wrote last is on its way. Others may hold the terminal, from whom more could come.
            let _ = crate::wait::within(LAST_WORDS, &mut || self.closed().then_some(()));
        }
        status
    }

    fn stop_reading(&mut self) {
        if let Some(reader) = self.reader.take() {
            // The reader may have gone by itself, with its end of the pipe.
            let _ = rustix::io::write(&self.wake, &[0]);
            let _ = reader.join();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Gone already in the usual case.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stop_reading();
    }
}

/// Reads what the program writes, until nothing can come any more or somebody wakes it.
fn read(ours: &Pty, woken: &OwnedFd, shared: &Shared) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let mut wanted = [
            PollFd::new(ours, PollFlags::IN),
            PollFd::new(woken, PollFlags::IN),
        ];
        if poll(&mut wanted, None).is_err() {
            continue;
        }
        if !wanted[1].revents().is_empty() {
            break;
        }
        let mut from = ours;
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                let answers = shared.lock().feed(&buffer[..count]);
                shared.more.notify_all();
                // Answers are short; a program that asks reads them.
                let _ = write(ours, &answers, Duration::from_secs(1));
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // The read fails if nobody has the other end open any more.
            Err(_) => break,
        }
    }
    shared.lock().ended = true;
    shared.more.notify_all();
}

/// Writes all of it within a time; whether it could.
fn write(ours: &Pty, bytes: &[u8], bound: Duration) -> bool {
    let begun = Instant::now();
    let mut rest = bytes;
    let mut to = ours;
    while !rest.is_empty() {
        match to.write(rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                if begun.elapsed() > bound {
                    return false;
                }
                let step = Timespec {
                    tv_sec: 0,
                    tv_nsec: 50_000_000,
                };
                let _ = poll(&mut [PollFd::new(ours, PollFlags::OUT)], Some(&step));
            }
            Err(_) => return false,
        }
    }
    true
}
