//! Usage of sessions, summed per quarter of an hour from the `usage` records of logs.
//!
//! Only records that are new since the last count are read.

use std::collections::HashMap;

use proto::outcome::UsageTotals;
use proto::record::Purpose;
use proto::{Pid, Seq, SessionId, Stamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Catalog, CatalogError, SqlContext, from_sql};
use crate::log::LogPosition;

/// Usage of one session, model and purpose in one quarter of an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageRow {
    pub session: SessionId,
    /// Start of the quarter (see `usage_ledger::quarter_start`).
    pub at: Stamp,
    /// `provider/model`, as requested. Empty if the row counts turns, which have no model.
    pub model: String,
    pub purpose: Purpose,
    /// Turns that ended.
    pub turns: u64,
    pub usage: UsageTotals,
}

/// A session, as usage sums need it.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedSession {
    pub session: SessionId,
    pub pid: Pid,
    pub cwd: String,
    /// Its newest record when the catalog was updated.
    pub seq: Seq,
    /// How far its log has been counted.
    pub counted: LogPosition,
}

const COUNTED_SESSIONS: &str =
    "SELECT session.session, pid, cwd, coalesce(json_extract(summary, '$.seq'), 0),
        coalesce(counted.seq, 0), coalesce(counted.end, 0)
    FROM session LEFT JOIN counted ON counted.session = session.session";

const USAGE_ROWS: &str = "SELECT session, quarter, model, purpose, turns, totals FROM usage";

const PUT: &str = "INSERT OR REPLACE INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

impl Catalog {
    /// All sessions in the catalog, each with how far it has been counted.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn counted_sessions(&self) -> Result<Vec<CountedSession>, CatalogError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(COUNTED_SESSIONS)?;
            let mut rows = statement.query([])?;
            let mut counted_sessions = Vec::new();
            while let Some(row) = rows.next()? {
                let Ok(session) = row.get::<_, String>(0)?.parse() else {
                    continue;
                };
                counted_sessions.push(CountedSession {
                    session,
                    pid: from_sql(row.get(1)?),
                    cwd: row.get(2)?,
                    seq: Seq(unsigned(row.get(3)?)),
                    counted: LogPosition {
                        seq: Seq(unsigned(row.get(4)?)),
                        end: unsigned(row.get(5)?),
                    },
                });
            }
            Ok(counted_sessions)
        })
    }

    /// Adds a session's usage between `from` and `upto`. If `from` is the start of the log, earlier
    /// counts are dropped first.
    ///
    /// Returns false and changes nothing if another caller has counted past `from` meanwhile.
    ///
    /// # Errors
    /// The write fails.
    pub fn count_usage(
        &self,
        session: SessionId,
        from: LogPosition,
        upto: LogPosition,
        used: &[UsageRow],
    ) -> Result<bool, CatalogError> {
        let mut connection = self.lock();
        let transaction = connection.transaction().doing("write to")?;
        let name = session.to_string();
        if from == LogPosition::default() {
            let sql = "DELETE FROM usage WHERE session = ?1";
            transaction.execute(sql, [&name]).doing("write to")?;
        } else {
            let sql = "SELECT seq FROM counted WHERE session = ?1";
            let counted = transaction.query_row(sql, [&name], |row| row.get::<_, i64>(0));
            let counted = counted.optional().doing("read")?.map_or(0, unsigned);
            if counted != from.seq.0 {
                return Ok(false);
            }
        }
        for used in used {
            add(&transaction, &name, used)?;
        }
        let sql = "INSERT OR REPLACE INTO counted VALUES (?1, ?2, ?3)";
        let values = params![name, signed(upto.seq.0), signed(upto.end)];
        transaction.execute(sql, values).doing("write to")?;
        transaction.commit().doing("write to")?;
        Ok(true)
    }

    /// All usage rows.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn used(&self) -> Result<Vec<UsageRow>, CatalogError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(USAGE_ROWS)?;
            // A few sessions have many rows, so each id is parsed once.
            let mut ids: HashMap<String, Option<SessionId>> = HashMap::new();
            let mut rows = statement.query([])?;
            let mut used = Vec::new();
            while let Some(row) = rows.next()? {
                let name: String = row.get(0)?;
                let session = *ids.entry(name).or_insert_with_key(|name| name.parse().ok());
                let purpose: String = row.get(3)?;
                let Some(session) = session else { continue };
                used.push(UsageRow {
                    session,
                    at: Stamp(row.get(1)?),
                    model: row.get(2)?,
                    purpose: Purpose::named(&purpose).unwrap_or_default(),
                    turns: unsigned(row.get(4)?),
                    usage: totals(row)?,
                });
            }
            Ok(used)
        })
    }
}

fn add(connection: &Connection, session: &str, used: &UsageRow) -> Result<(), CatalogError> {
    let sql =
        format!("{USAGE_ROWS} WHERE session = ?1 AND quarter = ?2 AND model = ?3 AND purpose = ?4");
    let key = params![session, used.at.0, used.model, used.purpose.as_str()];
    let before = connection
        .prepare_cached(&sql)
        .doing("read")?
        .query_row(key, |row| Ok((unsigned(row.get(4)?), totals(row)?)))
        .optional();
    let (turns, mut sum) = before.doing("read")?.unwrap_or_default();
    sum.add(&used.usage);
    let mut put = connection.prepare_cached(PUT).doing("write to")?;
    let turns = signed(turns.saturating_add(used.turns));
    let sum = serde_json::to_string(&sum)?;
    let (at, purpose) = (used.at.0, used.purpose.as_str());
    let done = put.execute(params![session, at, used.model, purpose, turns, sum]);
    done.map(drop).doing("write to")
}

fn totals(row: &Row<'_>) -> rusqlite::Result<UsageTotals> {
    let text: String = row.get(5)?;
    // Only this build writes to this database.
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

/// SQLite integers are signed: a sum saturates.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
