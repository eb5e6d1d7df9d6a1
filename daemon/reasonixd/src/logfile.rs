//! The daemon's own log: one file, turned over by size, so many kept.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// A file is turned over when it has this many bytes: 5 MiB.
const SIZE_MAX: u64 = 5 * 1024 * 1024;
/// Old files that are kept beside the current one.
const KEPT: usize = 5;

/// What the part of the SDK that logs in may say: at `debug` it quotes the codes of logins.
const LOGINS: &str = "rmcp::transport::auth=info";

/// What to do with a home that cannot be written to.
const READ_ONLY: &str =
    "; to read its sessions, copy the home to a writable place and set REASONIX_HOME to the copy";

/// Sends everything that is traced into `<home>/logs/reasonixd.log`.
///
/// # Errors
/// The file cannot be opened.
pub fn start(path: &Path, level: &str) -> io::Result<()> {
    let filter = std::env::var("REASONIX_LOG")
        .ok()
        .filter(|filter| !filter.is_empty());
    let filter = EnvFilter::try_new(filter.as_deref().unwrap_or(level))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    // What it says at `debug` holds the codes of logins.
    let filter = filter.add_directive(LOGINS.parse().map_err(io::Error::other)?);
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

struct Rotating(Mutex<Current>);

struct Current {
    path: PathBuf,
    file: File,
    size: u64,
    /// Events that could not be written: reported when the disk takes writes again.
    lost: u64,
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
        let lost = self.lost;
        *self = Self::open(&self.path)?;
        self.lost = lost;
        Ok(())
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
        Line(self)
    }
}

/// Writes one event.
struct Line<'a>(&'a Rotating);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Each event comes in one piece. The log contains no key, whoever quoted it: nor does the message of a panic (I11).
        let text = contract::scrub(&String::from_utf8_lossy(bytes));
        let mut current = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        current.take(text.as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
