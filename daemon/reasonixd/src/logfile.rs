//! The daemon's own log: one file, turned over by size, so many kept.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::Metadata;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// A file is turned over when it has this many bytes: 5 MiB.
const SIZE_MAX: u64 = 5 * 1024 * 1024;
/// Old files that are kept beside the current one.
const KEPT: usize = 5;

/// What the SDK of MCP may say: at `info` it quotes each notification of a server, and at `debug`, where it logs in, the
/// codes of logins. A user can ask for more of other parts (`REASONIX_LOG=rmcp::service=debug`).
const SDK: [&str; 2] = ["rmcp=warn", "rmcp::transport::auth=warn"];
/// Events about MCP servers, by the crates that report them: servers can cause as many as they want.
const BOUNDED: [&str; 2] = ["rmcp", "mcp"];
/// Events of one of these crates in a minute; the others are counted.
const EVENTS_MAX: u32 = 100;
/// Bytes of one of them: some quote what a server sent.
const EVENT_BYTES_MAX: usize = 4 * 1024;
/// The time in which they are counted.
const EVENTS_IN: Duration = Duration::from_secs(60);

/// What to do with a home that cannot be written to.
const READ_ONLY: &str =
    "; to read its sessions, copy the home to a writable place and set REASONIX_HOME to the copy";

/// Sends everything that is traced into `<home>/logs/reasonixd.log`.
///
/// # Errors
/// The file cannot be opened.
pub fn start(path: &Path, level: &str) -> io::Result<()> {
    let wanted = std::env::var("REASONIX_LOG").ok();
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    let filter = filter(wanted.as_deref().unwrap_or(level))?;
    let file = Current::open(path).map_err(|source| {
        let text = format!("cannot open the log `{}`: {source}", path.display());
        let hint = match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => READ_ONLY,
            _ => "",
        };
        io::Error::new(source.kind(), format!("{text}{hint}"))
    })?;
    let file = Rotating(Mutex::new(file));
    let subscriber = tracing_subscriber::fmt()
        .with_writer(file)
        .with_env_filter(filter)
        .with_ansi(false)
        // It would print to standard error, which may be a pipe that nobody reads any more: and that is a panic.
        .log_internal_errors(false)
        .finish();
    // A second daemon in one process (tests) keeps the first one's log.
    let _ = tracing::subscriber::set_global_default(subscriber);
    std::panic::set_hook(Box::new(|info| {
        tracing::error!("{info}\n{}", std::backtrace::Backtrace::force_capture())
    }));
    Ok(())
}

/// What is traced. A text that is not understood is as `info`.
fn filter(wanted: &str) -> io::Result<EnvFilter> {
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new("info"));
    SDK.iter().try_fold(filter, |filter, directive| {
        Ok(filter.add_directive(directive.parse().map_err(io::Error::other)?))
    })
}

struct Rotating(Mutex<Current>);

struct Current {
    path: PathBuf,
    file: File,
    size: u64,
    /// Events that could not be written: reported when the disk takes writes again.
    lost: u64,
    /// The events of each crate of [`BOUNDED`].
    bounds: [EventBound; BOUNDED.len()],
}

/// The events of a crate in the current minute.
#[derive(Clone, Copy, Default)]
struct EventBound {
    since: Option<Instant>,
    count: u32,
    left_out: u64,
}

impl EventBound {
    /// An event comes. Whether it is written, and how many before it were not.
    fn take(&mut self, now: Instant) -> (bool, u64) {
        let is_over = self
            .since
            .is_none_or(|since| now.duration_since(since) >= EVENTS_IN);
        let before = match is_over {
            true => std::mem::take(self).left_out,
            false => 0,
        };
        self.since.get_or_insert(now);
        self.count = self.count.saturating_add(1);
        let is_written = self.count <= EVENTS_MAX;
        self.left_out += u64::from(!is_written);
        (is_written, before)
    }
}

impl Current {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path)?;
        let size = file.metadata()?.len();
        Ok(Self {
            path: path.to_path_buf(),
            file,
            size,
            lost: 0,
            bounds: Default::default(),
        })
    }

    fn turn_over(&mut self) -> io::Result<()> {
        for number in (1..KEPT).rev() {
            let (from, to) = (
                numbered(&self.path, number),
                numbered(&self.path, number + 1),
            );
            if from.exists() {
                fs::rename(from, to)?;
            }
        }
        fs::rename(&self.path, numbered(&self.path, 1))?;
        let (lost, bounds) = (self.lost, self.bounds);
        *self = Self::open(&self.path)?;
        (self.lost, self.bounds) = (lost, bounds);
        Ok(())
    }

    /// Writes an event about MCP servers, unless there were too many of its crate.
    fn take_bounded(&mut self, bound: usize, text: &str, now: Instant) {
        let Some(events) = self.bounds.get_mut(bound) else {
            return;
        };
        let (is_written, left_out) = events.take(now);
        if left_out > 0 {
            let name = BOUNDED.get(bound).unwrap_or(&"");
            let minute = EVENTS_IN.as_secs();
            let notice = format!(
                "{left_out} lines of `{name}` were left out: it may write {EVENTS_MAX} in {minute} s\n"
            );
            self.take(notice.as_bytes());
        }
        if !is_written {
            return;
        }
        match text.len() > EVENT_BYTES_MAX {
            false => self.take(text.as_bytes()),
            true => {
                let end = text.floor_char_boundary(EVENT_BYTES_MAX);
                let kept = text.get(..end).unwrap_or_default();
                self.take(format!("{kept}…\n").as_bytes());
            }
        }
    }

    /// Writes an event. A disk that is full, or at a limit, costs this event and no more.
    fn take(&mut self, bytes: &[u8]) {
        if self.size + bytes.len() as u64 > SIZE_MAX {
            // If it cannot be rotated, the file grows: better than to lose lines.
            let _ = self.turn_over();
        }
        if self.lost > 0 {
            let notice = format!("{} lines of this log could not be written\n", self.lost);
            if self.file.write_all(notice.as_bytes()).is_ok() {
                self.size += notice.len() as u64;
                self.lost = 0;
            }
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.size += bytes.len() as u64,
            Err(_) => self.lost += 1,
        }
    }
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    path.with_added_extension(number.to_string())
}

impl<'a> MakeWriter<'a> for Rotating {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line {
            log: self,
            bound: None,
        }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Line<'a> {
        let name = event.target().split("::").next();
        Line {
            log: self,
            bound: BOUNDED.iter().position(|bounded| name == Some(bounded)),
        }
    }
}

/// Writes one event.
struct Line<'a> {
    log: &'a Rotating,
    /// Of which crate of [`BOUNDED`] it is.
    bound: Option<usize>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Each event comes in one piece. The log contains no key, whoever quoted it: nor does the message of a panic (I11).
        let text = contract::scrub(&String::from_utf8_lossy(bytes));
        let mut current = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        match self.bound {
            Some(bound) => current.take_bounded(bound, &text, Instant::now()),
            None => current.take(text.as_bytes()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
