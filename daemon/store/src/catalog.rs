//! The catalog of sessions: the data for listings and look-ups without opening logs.
//!
//! The catalog is derived from logs and is rebuilt whenever it cannot be used. It has one
//! connection in a mutex. Call it only from threads that may block.

mod find;
mod open;
mod usage;

use std::sync::{Mutex, MutexGuard, PoisonError};

use proto::params::process;
use proto::params::session::{ListOutput, ListParams, SessionSummary};
use proto::{Pid, Seq};
use proto::{SessionId, state::State};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};

use crate::disk::DiskError;

pub use find::SessionLookup;
pub use open::{CatalogState, OpenedCatalog};
pub use usage::{CountedSession, UsageRow};

/// Default page size.
const PAGE: u64 = 100;
/// Maximum page size.
const PAGE_MAX: u64 = 1000;
/// A page ends before it exceeds this many bytes, so that it fits a frame.
const PAGE_BYTES: usize = 512 * 1024;

/// Why a catalog operation failed.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Text that can never name a session.
    #[error("`{}` cannot name a session: {why}", .text.escape_debug())]
    BadName { text: String, why: &'static str },
    #[error("cannot {doing} the catalog")]
    Sqlite {
        doing: &'static str,
        source: rusqlite::Error,
    },
    /// Even a newly created catalog is unusable.
    #[error("the catalog cannot be created: {why}")]
    Unusable { why: String },
    #[error("the catalog entry of a session is unreadable")]
    Entry(#[from] serde_json::Error),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Adds the failed operation to SQLite errors.
trait SqlContext<T> {
    fn doing(self, doing: &'static str) -> Result<T, CatalogError>;
}

impl<T> SqlContext<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, CatalogError> {
        self.map_err(|source| CatalogError::Sqlite { doing, source })
    }
}

/// The catalog of a home.
#[derive(Debug)]
pub struct Catalog {
    connection: Mutex<Connection>,
}

const PUT: &str = "INSERT OR REPLACE INTO session
    (pid, session, name, cwd, state, labels, active_at, summary)
    VALUES (:pid, :session, :name, :cwd, :state, :labels, :active_at, :summary)";

const LIST: &str = "SELECT pid, summary FROM session
    WHERE pid < :before
      AND (:state IS NULL OR state = :state)
      AND (:cwd IS NULL OR cwd = :cwd)
      AND (:label IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE value = :label))
    ORDER BY pid DESC LIMIT :limit";

const PROCESSES: &str = "SELECT pid, summary FROM session
    WHERE (:all OR state <> :exited)
      AND (:label IS NULL OR EXISTS (SELECT 1 FROM json_each(labels) WHERE value = :label))
    ORDER BY pid";

impl Catalog {
    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic of another thread leaves the connection usable: SQLite rolls back uncommitted
        // changes.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, CatalogError> {
        read(&self.lock()).doing("read")
    }

    /// Adds or updates a session, durably.
    ///
    /// # Errors
    /// The write fails.
    pub fn put(&self, summary: &SessionSummary) -> Result<(), CatalogError> {
        put(&self.lock(), summary)
    }

    /// Like `put`, but without waiting for the disk. For changes that the next start recovers from
    /// a marker anyway.
    ///
    /// # Errors
    /// The write fails.
    pub fn put_lazy(&self, summary: &SessionSummary) -> Result<(), CatalogError> {
        let connection = self.lock();
        let synchronous = |how| connection.pragma_update(None, "synchronous", how);
        synchronous("NORMAL").doing("write to")?;
        let done = put(&connection, summary);
        synchronous("FULL").doing("write to")?;
        done
    }

    /// Adds or updates many sessions in one transaction.
    ///
    /// # Errors
    /// The write fails.
    pub fn put_all(&self, summaries: &[SessionSummary]) -> Result<(), CatalogError> {
        let mut connection = self.lock();
        let transaction = connection.transaction().doing("write to")?;
        for summary in summaries {
            put(&transaction, summary)?;
        }
        transaction.commit().doing("write to")
    }

    /// Removes a session if the catalog has it.
    ///
    /// # Errors
    /// The write fails.
    pub fn remove(&self, session: SessionId) -> Result<(), CatalogError> {
        let mut connection = self.lock();
        let transaction = connection.transaction().doing("write to")?;
        let session = session.to_string();
        for table in ["session", "usage", "counted"] {
            let sql = format!("DELETE FROM {table} WHERE session = ?1");
            transaction.execute(&sql, [&session]).doing("write to")?;
        }
        transaction.commit().doing("write to")?;
        // Nothing of it stays in the write-ahead log either. Who reads now puts that off until the next checkpoint.
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        emptied.doing("write to")
    }

    /// Removes all sessions and marks the catalog as unfilled.
    ///
    /// # Errors
    /// The write fails.
    pub fn clear(&self) -> Result<(), CatalogError> {
        let mut connection = self.lock();
        let transaction = connection.transaction().doing("write to")?;
        let sql = "DELETE FROM session; DELETE FROM usage; DELETE FROM counted; UPDATE made SET filled = 0;";
        transaction.execute_batch(sql).doing("write to")?;
        transaction.commit().doing("write to")
    }

    /// Records that the catalog holds every session, so that the next start does not fill it again.
    ///
    /// # Errors
    /// The write fails.
    pub fn mark_filled(&self) -> Result<(), CatalogError> {
        let done = self.lock().execute("UPDATE made SET filled = 1", []);
        done.map(drop).doing("write to")
    }

    /// The ids of all sessions in the catalog, for comparison with the session directories.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn ids(&self) -> Result<Vec<SessionId>, CatalogError> {
        let texts: Vec<String> = self.read(|connection| {
            let mut statement = connection.prepare("SELECT session FROM session")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        Ok(texts.iter().filter_map(|text| text.parse().ok()).collect())
    }

    /// The newest record of each session that the catalog knows. Unreadable entries are left out.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn newest_records(&self) -> Result<Vec<(SessionId, Seq)>, CatalogError> {
        let rows: Vec<_> = self.read(|connection| {
            let mut statement = connection.prepare("SELECT pid, summary FROM session")?;
            statement.query_map([], entry)?.collect()
        })?;
        let summaries = rows.iter().filter_map(|(pid, text)| readable(*pid, text));
        Ok(summaries
            .map(|summary| (summary.session, summary.seq))
            .collect())
    }

    /// Raises the newest known record of sessions to these, where the catalog knows older ones.
    ///
    /// # Errors
    /// The database cannot be read or written.
    pub fn raise_newest_records(&self, known: &[(SessionId, Seq)]) -> Result<(), CatalogError> {
        let mut connection = self.lock();
        let transaction = connection.transaction().doing("write to")?;
        for (session, seq) in known {
            let found = summary(&transaction, "session", session.to_string())?;
            if let Some(mut summary) = found.filter(|summary| summary.seq < *seq) {
                summary.seq = *seq;
                put(&transaction, &summary)?;
            }
        }
        transaction.commit().doing("write to")
    }

    /// The session with this id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn get(&self, session: SessionId) -> Result<Option<SessionSummary>, CatalogError> {
        summary(&self.lock(), "session", session.to_string())
    }

    /// Looks up a session by pid, UUID, unambiguous UUID prefix of at least 4 characters, or name.
    ///
    /// # Errors
    /// `text` cannot name a session, or the database cannot be read.
    pub fn find(&self, text: &str) -> Result<SessionLookup, CatalogError> {
        find::find(&self.lock(), text)
    }

    /// Returns a page of sessions, newest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn list(&self, filter: &ListParams) -> Result<ListOutput, CatalogError> {
        let limit = match filter.limit {
            0 => PAGE,
            limit => limit.min(PAGE_MAX),
        };
        let before = filter.before.map_or(i64::MAX, to_sql);
        let state = filter.state.map(State::as_str);
        let connection = self.lock();
        let mut statement = connection.prepare_cached(LIST).doing("read")?;
        // One extra row shows whether there is another page.
        let mut rows = statement
            .query(named_params! {
                ":before": before,
                ":state": state,
                ":cwd": filter.cwd,
                ":label": filter.label,
                ":limit": i64::try_from(limit + 1).unwrap_or(i64::MAX),
            })
            .doing("read")?;

        let mut page = ListOutput {
            sessions: Vec::new(),
            next: None,
        };
        let (mut taken, mut bytes, mut oldest) = (0, 0, None);
        while let Some(row) = rows.next().doing("read")? {
            let (pid, summary) = entry(row).doing("read")?;
            if taken == limit || (taken > 0 && bytes + summary.len() > PAGE_BYTES) {
                page.next = oldest;
                break;
            }
            taken += 1;
            bytes += summary.len();
            oldest = Some(pid);
            page.sessions.extend(readable(pid, &summary));
        }
        Ok(page)
    }

    /// Returns the sessions that have not exited, or all of them, ordered by pid.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn processes(
        &self,
        filter: &process::ListParams,
    ) -> Result<Vec<SessionSummary>, CatalogError> {
        let wanted = named_params! {
            ":all": filter.all, ":exited": State::Exited.as_str(), ":label": filter.label,
        };
        let rows: Vec<_> = self.read(|connection| {
            let mut statement = connection.prepare_cached(PROCESSES)?;
            statement.query_map(wanted, entry)?.collect()
        })?;
        let sessions = rows
            .iter()
            .filter_map(|(pid, summary)| readable(*pid, summary));
        Ok(sessions.collect())
    }

    /// The number of sessions in the catalog.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn count(&self) -> Result<u64, CatalogError> {
        let sql = "SELECT count(*) FROM session";
        let count: i64 = self.read(|connection| connection.query_row(sql, [], |row| row.get(0)))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// The highest pid of any session, or 0 if there are none.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn highest_pid(&self) -> Result<Pid, CatalogError> {
        let sql = "SELECT coalesce(max(pid), 0) FROM session";
        let pid = self.read(|connection| connection.query_row(sql, [], |row| row.get(0)))?;
        Ok(from_sql(pid))
    }
}

fn put(connection: &Connection, summary: &SessionSummary) -> Result<(), CatalogError> {
    let mut statement = connection.prepare_cached(PUT).doing("write to")?;
    let done = statement.execute(named_params! {
        ":pid": to_sql(summary.pid),
        ":session": summary.session.to_string(),
        ":name": summary.name,
        ":cwd": summary.cwd,
        ":state": summary.state.as_str(),
        ":labels": serde_json::to_string(&summary.labels)?,
        ":active_at": summary.active_at.0,
        ":summary": serde_json::to_string(summary)?,
    });
    done.map(drop).doing("write to")
}

/// The session whose `column` has this value.
fn summary(
    connection: &Connection,
    column: &str,
    value: impl ToSql,
) -> Result<Option<SessionSummary>, CatalogError> {
    let sql = format!("SELECT summary FROM session WHERE {column} = ?1");
    let mut statement = connection.prepare_cached(&sql).doing("read")?;
    let found = statement.query_row([value], |row| row.get::<_, String>(0));
    let found = found.optional().doing("read")?;
    Ok(found.as_deref().map(serde_json::from_str).transpose()?)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<(Pid, String)> {
    Ok((from_sql(row.get(0)?), row.get(1)?))
}

/// Skips an unreadable entry, so that it does not hide the others.
fn readable(pid: Pid, summary: &str) -> Option<SessionSummary> {
    serde_json::from_str(summary)
        .inspect_err(|error| tracing::warn!(%pid, %error, "an entry of the catalog is unreadable"))
        .ok()
}

/// SQLite integers are signed. The pid counter never reaches such high numbers.
fn to_sql(pid: Pid) -> i64 {
    i64::try_from(pid.0).unwrap_or(i64::MAX)
}

fn from_sql(pid: i64) -> Pid {
    Pid(u64::try_from(pid).unwrap_or(0))
}

#[cfg(test)]
mod tests;
