//! Writes the index: what came to a session's log, and that a session is gone.

use std::path::Path;

use proto::SessionId;
use rusqlite::{Connection, OptionalExtension, params};
use store::home::Home;
use store::log::LogPosition;

use crate::database::{IndexError, SqlContext, from_sql, to_sql};
use crate::log_tail::{self, Entry, LogMark, Message, role_number};

/// Entries that are written in one transaction, and the bytes of their words.
const BATCH: usize = 2_000;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// A session in the index.
struct IndexedSession {
    id: i64,
    mark: LogMark,
}

fn indexed(
    connection: &Connection,
    session: SessionId,
) -> Result<Option<IndexedSession>, IndexError> {
    let sql = "SELECT id, seq, end, tail FROM session WHERE session = ?1";
    let mut statement = connection.prepare_cached(sql).doing("read")?;
    let found = statement.query_row([session.to_string()], |row| {
        Ok(IndexedSession {
            id: row.get(0)?,
            mark: LogMark {
                position: LogPosition {
                    seq: proto::Seq(from_sql(row.get(1)?)),
                    end: from_sql(row.get(2)?),
                },
                tail: row.get(3)?,
            },
        })
    });
    found.optional().doing("read")
}

/// All sessions that the index has.
pub(crate) fn sessions(connection: &Connection) -> Result<Vec<SessionId>, IndexError> {
    let mut statement = connection
        .prepare("SELECT session FROM session")
        .doing("read")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0));
    let found: rusqlite::Result<Vec<String>> = rows.and_then(Iterator::collect);
    let found = found.doing("read")?;
    Ok(found.iter().filter_map(|id| id.parse().ok()).collect())
}

/// Takes in what came to a session's log, up to and including `upto`. Returns the number of messages.
///
/// # Errors
/// The log cannot be read or the index cannot be written.
pub(crate) fn catch_up(
    connection: &mut Connection,
    home: &Home,
    session: SessionId,
    upto: proto::Seq,
) -> Result<u64, IndexError> {
    let dir = home.session_dir(session);
    if !dir.join(store::log::LOG_NAME).exists() {
        remove(connection, session)?;
        return Ok(0);
    }
    let mut known = indexed(connection, session)?;
    // It was cut, repaired or restored since.
    if known.as_ref().is_some_and(|known| !known.mark.fits(&dir)) {
        remove(connection, session)?;
        known = None;
    }
    let is_known = known.is_some();
    let from = known.map(|known| known.mark).unwrap_or_default();
    let mut batch = Batch {
        connection,
        dir: &dir,
        session,
        is_known,
        entries: Vec::new(),
        bytes: 0,
        messages: 0,
        failed: None,
    };
    let reached = log_tail::read(&dir, &from, upto, &mut |entry, position| {
        batch.take(entry, position);
    })?;
    if reached == from {
        return Ok(0);
    }
    batch.write(&reached)?;
    Ok(batch.messages)
}

/// Entries on their way to the index.
struct Batch<'a> {
    connection: &'a mut Connection,
    dir: &'a Path,
    session: SessionId,
    /// Its first record was read. Of a log that begins with another one nothing is taken.
    is_known: bool,
    entries: Vec<Entry>,
    bytes: usize,
    messages: u64,
    /// The first failure: nothing is written after it.
    failed: Option<IndexError>,
}

impl Batch<'_> {
    fn take(&mut self, entry: Entry, position: LogPosition) {
        self.is_known |= matches!(entry, Entry::Created { .. });
        if self.failed.is_some() || !self.is_known {
            return;
        }
        if let Entry::Message(message) = &entry {
            self.bytes += message.words.len();
            self.messages += 1;
        }
        self.entries.push(entry);
        if self.entries.len() < BATCH && self.bytes < BATCH_BYTES {
            return;
        }
        let mark = LogMark::at(self.dir, position);
        if let Err(error) = self.write(&mark) {
            self.failed = Some(error);
        }
    }

    fn write(&mut self, mark: &LogMark) -> Result<(), IndexError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let transaction = self.connection.transaction().doing("write to")?;
        for entry in self.entries.drain(..) {
            put(&transaction, self.session, &entry).doing("write to")?;
        }
        self.bytes = 0;
        let sql = "UPDATE session SET seq = ?2, end = ?3, tail = ?4 WHERE session = ?1";
        let LogPosition { seq, end } = mark.position;
        let session = self.session.to_string();
        transaction
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.execute(params![session, to_sql(seq.0), to_sql(end), mark.tail])
            })
            .doing("write to")?;
        transaction.commit().doing("write to")
    }
}

fn put(connection: &Connection, session: SessionId, entry: &Entry) -> rusqlite::Result<()> {
    match entry {
        Entry::Created { pid, root, epoch } => {
            let sql = "INSERT INTO session (session, pid, root, epoch, seq, end, tail)
                VALUES (?1, ?2, ?3, ?4, 0, 0, '')";
            let values = params![session.to_string(), to_sql(*pid), root, to_sql(*epoch)];
            connection.prepare_cached(sql)?.execute(values).map(drop)
        }
        Entry::Message(message) => put_message(connection, session, message),
        Entry::Shown { seq, runs } => {
            let sql = "UPDATE message SET hidden = 1 WHERE session = ?1 AND seq < ?2";
            let id = id(connection, session)?;
            connection.execute(sql, params![id, to_sql(seq.0)])?;
            let sql = "UPDATE message SET hidden = 0 WHERE session = ?1 AND seq BETWEEN ?2 AND ?3";
            for (first, last) in runs {
                let last = last.0.min(seq.0);
                connection.prepare_cached(sql)?.execute(params![
                    id,
                    to_sql(first.0),
                    to_sql(last)
                ])?;
            }
            Ok(())
        }
    }
}

fn id(connection: &Connection, session: SessionId) -> rusqlite::Result<i64> {
    let sql = "SELECT id FROM session WHERE session = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([session.to_string()], |row| row.get(0))
}

fn put_message(
    connection: &Connection,
    session: SessionId,
    message: &Message,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO message (session, seq, turn, at, role, start, length, same)
        VALUES ((SELECT id FROM session WHERE session = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    connection.prepare_cached(sql)?.execute(params![
        session.to_string(),
        to_sql(message.seq.0),
        message.turn.map(to_sql),
        message.at.0,
        role_number(message.role),
        to_sql(message.start),
        to_sql(message.length),
        message.same,
    ])?;
    let sql = "INSERT INTO text (rowid, words) VALUES (?1, ?2)";
    let row = connection.last_insert_rowid();
    connection
        .prepare_cached(sql)?
        .execute(params![row, message.words])
        .map(drop)
}

/// Removes a session, if the index has it.
///
/// # Errors
/// The index cannot be written.
pub(crate) fn remove(connection: &mut Connection, session: SessionId) -> Result<(), IndexError> {
    let Some(known) = indexed(connection, session)? else {
        return Ok(());
    };
    let transaction = connection.transaction().doing("write to")?;
    for sql in [
        "DELETE FROM text WHERE rowid IN (SELECT id FROM message WHERE session = ?1)",
        "DELETE FROM message WHERE session = ?1",
        "DELETE FROM session WHERE id = ?1",
    ] {
        transaction.execute(sql, [known.id]).doing("write to")?;
    }
    transaction.commit().doing("write to")
}

/// Takes the words of removed sessions out of the file: until then only their rows are gone, and the words stay in the index
/// until it happens to be merged.
///
/// # Errors
/// The index cannot be written.
pub(crate) fn forget_words(connection: &Connection) -> Result<(), IndexError> {
    let merge = "INSERT INTO text (text) VALUES ('optimize')";
    connection.execute(merge, []).doing("write to")?;
    // It waits for searches that run.
    let emptied = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection
        .query_row(emptied, [], |_| Ok(()))
        .doing("write to")
}
