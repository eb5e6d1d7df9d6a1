//! Opens the database of the index, or creates a new one if the old one is missing, damaged or of another build.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use store::home::Home;

/// Increase it when the tables change, or how texts are split into words.
const VERSION: i64 = 3;

/// `session.tail` has the last bytes of the log before `end`: a log that was changed is read again. Rows of `message` and
/// `text` have the same number. `text` stores words only; the texts are in the logs.
const SCHEMA: &str = "
    CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        session TEXT NOT NULL UNIQUE,
        pid INTEGER NOT NULL,
        root TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        end INTEGER NOT NULL,
        tail TEXT NOT NULL
    ) STRICT;
    CREATE TABLE message (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        turn INTEGER,
        at INTEGER NOT NULL,
        role INTEGER NOT NULL,
        start INTEGER NOT NULL,
        length INTEGER NOT NULL,
        same INTEGER NOT NULL,
        hidden INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE UNIQUE INDEX message_place ON message (session, seq);
    CREATE VIRTUAL TABLE text USING fts5(
        words, content='', contentless_delete=1, tokenize='porter ascii'
    );
    CREATE INDEX session_root ON session (root);";

const PROBE: &str =
    "SELECT count(*) FROM session, (SELECT m.id, m.session, m.seq, m.turn, m.at, m.role, m.start,
    m.length, m.same, m.hidden FROM message m JOIN text t ON t.rowid = m.id LIMIT 0)";

/// How long to wait for another process that locks the database, such as a backup.
const BUSY: Duration = Duration::from_secs(5);
/// A larger file is not read through when it is opened: damage is then found by what meets it.
const CHECKED_MAX: u64 = 64 * 1024 * 1024;
/// A search reads as many rows of `message` as it has matches, most of them from pages of their own: a page of this size has
/// twenty of them, and is read twice as fast as one of SQLite's usual size.
const PAGE_BYTES: i64 = 1024;
/// KiB of pages that a search keeps in memory while it runs.
const SEARCH_CACHE_KIB: i64 = 16 * 1024;

/// Why the index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("cannot {doing} the history index")]
    Sqlite {
        doing: &'static str,
        source: rusqlite::Error,
    },
    /// It is damaged, or of another build. It has to be made again.
    #[error("the history index is unusable: {why}")]
    Unusable { why: String },
    #[error("cannot {doing} `{}`", .path.display())]
    Disk {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Log(#[from] store::DiskError),
    /// There is no index yet.
    #[error("the history index does not exist yet")]
    Missing,
}

impl IndexError {
    /// Whether only a new database helps.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Unusable { .. } => true,
            Self::Sqlite { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(
                    ErrorCode::DatabaseCorrupt
                        | ErrorCode::NotADatabase
                        | ErrorCode::SchemaChanged
                        | ErrorCode::ConstraintViolation
                        | ErrorCode::TypeMismatch
                        | ErrorCode::Unknown
                )
            ),
            Self::Disk { .. } | Self::Log(_) | Self::Missing => false,
        }
    }
}

/// Adds the failed operation to SQLite errors.
pub(crate) trait SqlContext<T> {
    fn doing(self, doing: &'static str) -> Result<T, IndexError>;
}

impl<T> SqlContext<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, IndexError> {
        self.map_err(|source| IndexError::Sqlite { doing, source })
    }
}

/// SQLite has signed numbers only. Ours are far below its maximum.
pub(crate) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number that `to_sql` wrote.
pub(crate) fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Opens the index for its writer. Creates a new one if the old one is unusable.
///
/// # Errors
/// The disk refuses, or another process keeps the database locked.
pub(crate) fn open(home: &Home) -> Result<Connection, IndexError> {
    let path = home.history();
    match attempt(&path) {
        Err(error) if error.is_damage() => {
            tracing::warn!(error = %store::reason(&error), "the history index is made again");
            remove(home)?;
            attempt(&path)
        }
        opened => opened,
    }
}

fn attempt(path: &Path) -> Result<Connection, IndexError> {
    let new = make_private(path)? == 0;
    let connection = Connection::open(path).doing("open")?;
    connection.busy_timeout(BUSY).doing("open")?;
    if !new {
        check(&connection, path)?;
    }
    if new {
        connection
            .pragma_update(None, "page_size", PAGE_BYTES)
            .doing("create")?;
    }
    let how = [
        ("journal_mode", "WAL"),
        ("synchronous", "NORMAL"),
        // Words of deleted sessions are overwritten.
        ("secure_delete", "ON"),
    ];
    for (name, value) in how {
        connection.pragma_update(None, name, value).doing("open")?;
    }
    if new {
        let make = format!("BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;");
        connection.execute_batch(&make).doing("create")?;
    }
    Ok(connection)
}

/// SQLite would create the file readable for others. Its `-wal` and `-shm` files get the mode of this one. Returns the
/// length of the file.
fn make_private(path: &Path) -> Result<u64, IndexError> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    std::fs::OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)
        .and_then(|file| file.metadata())
        .map(|found| found.len())
        .map_err(|source| IndexError::Disk {
            doing: "open",
            path: path.to_owned(),
            source,
        })
}

fn check(connection: &Connection, path: &Path) -> Result<(), IndexError> {
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .doing("check")?;
    if version != VERSION {
        let why = format!("its version is {version}, and this build needs {VERSION}");
        return Err(IndexError::Unusable { why });
    }
    connection.prepare(PROBE).doing("check")?;
    if path.metadata().is_ok_and(|found| found.len() > CHECKED_MAX) {
        return Ok(());
    }
    let verdict: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .doing("check")?;
    match verdict.as_str() {
        "ok" => Ok(()),
        _ => Err(IndexError::Unusable { why: verdict }),
    }
}

/// Opens the index for a search.
///
/// # Errors
/// There is none, or it cannot be used.
pub(crate) fn open_to_read(home: &Home) -> Result<Connection, IndexError> {
    let path = home.history();
    if !path.exists() {
        return Err(IndexError::Missing);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).doing("open")?;
    connection.busy_timeout(BUSY).doing("open")?;
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .doing("read")?;
    if version != VERSION {
        return Err(IndexError::Missing);
    }
    for (name, value) in [("query_only", 1), ("cache_size", -SEARCH_CACHE_KIB)] {
        connection.pragma_update(None, name, value).doing("open")?;
    }
    Ok(connection)
}

/// Looks whether the index can be used. One that does not exist yet can be made. Blocks.
///
/// # Errors
/// It is damaged, or cannot be read.
pub fn look(home: &Home) -> Result<(), IndexError> {
    match open_to_read(home) {
        Ok(connection) => check(&connection, &home.history()),
        Err(IndexError::Missing) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes the database. The next `open` creates a new one.
///
/// # Errors
/// The disk refuses.
pub(crate) fn remove(home: &Home) -> Result<(), IndexError> {
    for suffix in ["", "-wal", "-shm"] {
        let mut path = home.history().into_os_string();
        path.push(suffix);
        let path = PathBuf::from(path);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                let doing = "remove";
                return Err(IndexError::Disk {
                    doing,
                    path,
                    source,
                });
            }
            _ => {}
        }
    }
    Ok(())
}
