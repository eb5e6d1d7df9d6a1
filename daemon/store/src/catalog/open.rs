//! Opens the catalog, or creates a new one if the old one is unusable.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use super::{Catalog, CatalogError, SqlContext};
use crate::disk::{DiskError, IoContext, private, reason, remove_file};
use crate::home::Home;

/// Increase it when the table or the required fields of a summary change.
const VERSION: i64 = 5;

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
        totals TEXT NOT NULL,
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

/// How long to wait for another process that locks the database, such as a backup.
const BUSY: Duration = Duration::from_secs(5);

/// Whether the catalog has to be filled from the logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogState {
    /// It exists and is filled.
    Filled,
    /// It exists, but `mark_filled` was not called after it was created or cleared.
    Unfilled,
    /// It did not exist.
    New,
    /// The old one was unusable and is now `reasonix.db.unusable`.
    Rebuilt { why: String },
}

/// An opened catalog.
#[derive(Debug)]
pub struct OpenedCatalog {
    pub catalog: Catalog,
    pub state: CatalogState,
}

impl Catalog {
    /// Opens the catalog of a home. Creates a new one if there is none or the old one is unusable.
    ///
    /// # Errors
    /// The disk refuses a new one, or another process keeps the database locked.
    pub fn open(home: &Home) -> Result<OpenedCatalog, CatalogError> {
        let path = home.catalog();
        let (connection, state) = match attempt(&path) {
            Ok((connection, true)) => (connection, CatalogState::New),
            Ok((connection, false)) => (connection, CatalogState::Filled),
            Err(AttemptError::Unusable(why)) => {
                move_unusable(&path)?;
                match attempt(&path) {
                    Ok((connection, _)) => (connection, CatalogState::Rebuilt { why }),
                    Err(AttemptError::Unusable(why)) => return Err(CatalogError::Unusable { why }),
                    Err(AttemptError::Error(error)) => return Err(error),
                }
            }
            Err(AttemptError::Error(error)) => return Err(error),
        };
        let state = match state {
            CatalogState::Filled if !is_filled(&connection)? => CatalogState::Unfilled,
            state => state,
        };
        let catalog = Self {
            connection: Mutex::new(connection),
        };
        Ok(OpenedCatalog { catalog, state })
    }

    /// Checks the whole file, and replaces it if it is damaged. The new one has to be filled.
    /// Returns the damage.
    ///
    /// This takes longer for larger files, so it must not delay the first answer of a daemon.
    ///
    /// # Errors
    /// The disk refuses a new one, or another process keeps the database locked.
    pub fn verify(&self, home: &Home) -> Result<Option<String>, CatalogError> {
        let mut connection = self.lock();
        let verdict = connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
            .doing("check");
        let why = match verdict.map_err(AttemptError::from) {
            Ok(verdict) if verdict == "ok" => return Ok(None),
            Ok(verdict) | Err(AttemptError::Unusable(verdict)) => verdict,
            Err(AttemptError::Error(error)) => return Err(error),
        };
        // The old file must be closed before it is moved. Other callers wait for the mutex
        // meanwhile.
        *connection = Connection::open_in_memory().doing("open")?;
        connection.execute_batch(SCHEMA).doing("make")?;
        move_unusable(&home.catalog())?;
        match attempt(&home.catalog()) {
            Ok((new, _)) => *connection = new,
            Err(AttemptError::Unusable(why)) => return Err(CatalogError::Unusable { why }),
            Err(AttemptError::Error(error)) => return Err(error),
        }
        Ok(Some(why))
    }

    /// A catalog in memory, for a home whose disk refuses one.
    ///
    /// # Errors
    /// SQLite cannot allocate it.
    pub fn in_memory() -> Result<OpenedCatalog, CatalogError> {
        let connection = Connection::open_in_memory().doing("open")?;
        connection.execute_batch(SCHEMA).doing("make")?;
        let catalog = Self {
            connection: Mutex::new(connection),
        };
        let state = CatalogState::New;
        Ok(OpenedCatalog { catalog, state })
    }
}

enum AttemptError {
    /// A new file may help.
    Unusable(String),
    /// A new file would fail the same way.
    Error(CatalogError),
}

fn is_filled(connection: &Connection) -> Result<bool, CatalogError> {
    let sql = "SELECT filled FROM made";
    connection
        .query_row(sql, [], |row| row.get(0))
        .doing("read")
}

impl From<CatalogError> for AttemptError {
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

/// Opens the file and checks that this build can use it. Returns whether it is new.
fn attempt(path: &Path) -> Result<(Connection, bool), AttemptError> {
    // SQLite would create the file readable for others. Its `-wal` and `-shm` files get the mode of
    // this one.
    let file = private().read(true).append(true).create(true).open(path);
    let found = file.and_then(|file| file.metadata()).at("open", path);
    let new = found
        .map_err(|fault| AttemptError::Error(fault.into()))?
        .len()
        == 0;
    let connection = Connection::open(path).doing("open")?;
    connection.busy_timeout(BUSY).doing("open")?;
    if !new {
        let version: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .doing("check")?;
        if version != VERSION {
            let why = format!("its version is {version}, and this build needs {VERSION}");
            return Err(AttemptError::Unusable(why));
        }
        connection.prepare(PROBE).doing("check")?;
        is_filled(&connection)?;
    }
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .doing("open")?;
    // A session's marker is removed once the catalog has the end of its turn. That order must
    // survive a power cut.
    connection
        .pragma_update(None, "synchronous", "FULL")
        .doing("open")?;
    // What is deleted is overwritten: rows have the words of users and models.
    connection
        .pragma_update(None, "secure_delete", true)
        .doing("open")?;
    if new {
        let make = format!("BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;");
        connection.execute_batch(&make).doing("make")?;
    }
    Ok((connection, new))
}

/// Renames an unusable catalog. Keeps the newest such file for inspection.
fn move_unusable(path: &Path) -> Result<(), DiskError> {
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for side in [with("-wal"), with("-shm")] {
        remove_file(&side).at("remove", &side)?;
    }
    std::fs::rename(path, with(".unusable")).at("set aside", path)
}
