//! Opens the catalog, or makes a new one where the old one cannot be used.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::{Catalog, CatalogError, Doing};
use crate::disk::{At, Fault, private, reason};
use crate::home::Home;

/// Changes with the table, and with what a summary must have.
const VERSION: i64 = 4;

const SCHEMA: &str = "
    CREATE TABLE session (
        pid INTEGER PRIMARY KEY,
        session TEXT NOT NULL UNIQUE,
        name TEXT,
        cwd TEXT NOT NULL,
        state TEXT NOT NULL,
        labels TEXT NOT NULL,
        active_at INTEGER NOT NULL,
        summary TEXT NOT NULL
    ) STRICT;
    CREATE TABLE usage (
        session TEXT NOT NULL,
        quarter INTEGER NOT NULL,
        model TEXT NOT NULL,
        purpose TEXT NOT NULL,
        turns INTEGER NOT NULL,
        requests INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        reasoning_tokens INTEGER NOT NULL,
        cost_micros INTEGER NOT NULL,
        unknown_cost_calls INTEGER NOT NULL,
        cache_write_tokens INTEGER NOT NULL,
        PRIMARY KEY (session, quarter, model, purpose)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE counted (
        session TEXT PRIMARY KEY,
        seq INTEGER NOT NULL,
        end INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE made (filled INTEGER NOT NULL) STRICT;
    INSERT INTO made VALUES (0);
    CREATE INDEX session_name ON session (name) WHERE name IS NOT NULL;";

const PROBE: &str =
    "SELECT pid, session, name, cwd, state, labels, active_at, summary FROM session LIMIT 0";

/// How long to wait for another process that has the database, such as a backup.
const BUSY: Duration = Duration::from_secs(5);

/// Whether the catalog has to be filled from the logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// It was there.
    No,
    /// It was there, but nobody has called `mark_filled` since it was made or cleared.
    Unfinished,
    /// There was none.
    New,
    /// There was one that could not be used; it stands beside the new one as `reasonix.db.unusable`.
    Remade { why: String },
}

/// A catalog that was opened.
#[derive(Debug)]
pub struct Opened {
    pub catalog: Catalog,
    pub fresh: Fresh,
}

impl Catalog {
    /// Opens the catalog of a home, and makes a new one where there is none that can be used.
    ///
    /// # Errors
    /// The disk does not want one, or another process keeps it locked.
    pub fn open(home: &Home) -> Result<Opened, CatalogError> {
        let path = home.catalog();
        let (connection, fresh) = match attempt(&path) {
            Ok((connection, true)) => (connection, Fresh::New),
            Ok((connection, false)) => (connection, Fresh::No),
            Err(Refused::Unusable(why)) => {
                set_aside(&path)?;
                match attempt(&path) {
                    Ok((connection, _)) => (connection, Fresh::Remade { why }),
                    Err(Refused::Unusable(why)) => return Err(CatalogError::Unusable { why }),
                    Err(Refused::Error(error)) => return Err(error),
                }
            }
            Err(Refused::Error(error)) => return Err(error),
        };
        let fresh = match fresh {
            Fresh::No if !is_filled(&connection)? => Fresh::Unfinished,
            fresh => fresh,
        };
        let catalog = Self {
            connection: Mutex::new(connection),
        };
        Ok(Opened { catalog, fresh })
    }

    /// Reads the whole file through, and makes a new one in the place of one that is damaged: it has to be filled then.
    /// Takes longer the more there is, so that it does not belong before the first answer. `Some`: what was wrong.
    ///
    /// # Errors
    /// The disk does not want a new one, or another process keeps the database locked.
    pub fn verify(&self, home: &Home) -> Result<Option<String>, CatalogError> {
        let mut connection = self.lock();
        let verdict = connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
            .doing("check");
        let why = match verdict.map_err(Refused::from) {
            Ok(verdict) if verdict == "ok" => return Ok(None),
            Ok(verdict) | Err(Refused::Unusable(verdict)) => verdict,
            Err(Refused::Error(error)) => return Err(error),
        };
        // The old file is closed before it is moved; whoever asks meanwhile waits for the lock.
        *connection = Connection::open_in_memory().doing("open")?;
        connection.execute_batch(SCHEMA).doing("make")?;
        set_aside(&home.catalog())?;
        match attempt(&home.catalog()) {
            Ok((new, _)) => *connection = new,
            Err(Refused::Unusable(why)) => return Err(CatalogError::Unusable { why }),
            Err(Refused::Error(error)) => return Err(error),
        }
        Ok(Some(why))
    }

    /// A catalog that is gone with the process: for a home whose disk does not want one.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn in_memory() -> Result<Opened, CatalogError> {
        let connection = Connection::open_in_memory().doing("open")?;
        connection.execute_batch(SCHEMA).doing("make")?;
        let catalog = Self {
            connection: Mutex::new(connection),
        };
        let fresh = Fresh::New;
        Ok(Opened { catalog, fresh })
    }
}

enum Refused {
    /// A new one would do better.
    Unusable(String),
    /// A new one would fare no better.
    Error(CatalogError),
}

fn is_filled(connection: &Connection) -> Result<bool, CatalogError> {
    let sql = "SELECT filled FROM made";
    connection
        .query_row(sql, [], |row| row.get(0))
        .doing("read")
}

impl From<CatalogError> for Refused {
    fn from(error: CatalogError) -> Self {
        let CatalogError::Sqlite { source, .. } = &error else {
            return Self::Error(error);
        };
        match source.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen,
            ) => Self::Error(error),
            _ => Self::Unusable(reason(&error)),
        }
    }
}

/// Opens the file and checks that it is ours. Returns whether it is new.
fn attempt(path: &Path) -> Result<(Connection, bool), Refused> {
    // SQLite would make the file readable for others; its side files take the mode of this one.
    let file = private().read(true).append(true).create(true).open(path);
    let found = file.and_then(|file| file.metadata()).at("open", path);
    let new = found.map_err(|fault| Refused::Error(fault.into()))?.len() == 0;
    let connection = Connection::open(path).doing("open")?;
    connection.busy_timeout(BUSY).doing("open")?;
    if !new {
        let version: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .doing("check")?;
        if version != VERSION {
            let why = format!("it is of version {version}, and this build makes {VERSION}");
            return Err(Refused::Unusable(why));
        }
        connection.prepare(PROBE).doing("check")?;
        is_filled(&connection)?;
    }
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .doing("open")?;
    // A session's marker is removed once the catalog knows the end of its turn; that must be true
    // after a power cut too.
    connection
        .pragma_update(None, "synchronous", "FULL")
        .doing("open")?;
    if new {
        let make = format!("BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;");
        connection.execute_batch(&make).doing("make")?;
    }
    Ok((connection, new))
}

/// Takes the name from a catalog that cannot be used. The newest such file is kept, for whoever wants to look.
fn set_aside(path: &Path) -> Result<(), Fault> {
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for side in [with("-wal"), with("-shm")] {
        match std::fs::remove_file(&side) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).at("remove", &side);
            }
            _ => {}
        }
    }
    std::fs::rename(path, with(".unusable")).at("set aside", path)
}
