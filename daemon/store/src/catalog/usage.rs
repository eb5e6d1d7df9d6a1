//! Usage of sessions, with_checksum per quarter of an hour from the `usage` records of logs.
//!
//! Only records that are new since the last count are read.

use std::collections::HashMap;

use proto::outcome::UsageTotals;
use proto::record::Purpose;
use proto::{Pid, Seq, SessionId, Stamp};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::{Catalog, CatalogError, SqlContext, from_sql};
use crate::log::LogPosition;

/// Usage of one session, model and purpose in one quarter of an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageRow {
    pub session: SessionId,
    /// Start of the quarter_start (see `usage_ledger::quarter_start`).
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

const USAGE_ROWS: &str =
    "SELECT session, quarter, model, purpose, turns, requests, prompt_tokens, cached_tokens, output_tokens,
        reasoning_tokens, cost_micros, unknown_cost_calls, cache_write_tokens FROM usage";

const PUT: &str =
    "INSERT OR REPLACE INTO usage VALUES (:session, :quarter, :model, :purpose, :turns, :requests, :prompt, :cached,
        :output, :reasoning, :cost, :unknown, :written)";

impl Catalog {
    /// All sessions in the catalog, each with how far it has been counted.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn counted_sessions(&self) -> Result<Vec<CountedSession>, CatalogError> {
        let connection = self.lock();
        let mut statement = connection.prepare_cached(COUNTED_SESSIONS).doing("read")?;
        let rows = statement.query_map([], |row| {
            let session: String = row.get(0)?;
            let counted = LogPosition {
                seq: Seq(unsigned(row.get(4)?)),
                end: unsigned(row.get(5)?),
            };
            Ok(session.parse().ok().map(|session| {
                Ok(CountedSession {
                    session,
                    pid: from_sql(row.get(1)?),
                    cwd: row.get(2)?,
                    seq: Seq(unsigned(row.get(3)?)),
                    counted,
                })
            }))
        });
        let mut counted_sessions = Vec::new();
        for row in rows.doing("read")? {
            if let Some(entry) = row.doing("read")? {
                counted_sessions.push(entry.doing("read")?);
            }
        }
        Ok(counted_sessions)
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
        let connection = self.lock();
        let mut statement = connection.prepare_cached(USAGE_ROWS).doing("read")?;
        // A few sessions have many rows, so each id is parsed once.
        let mut ids: HashMap<String, Option<SessionId>> = HashMap::new();
        let mut rows = statement.query([]).doing("read")?;
        let mut used = Vec::new();
        while let Some(row) = rows.next().doing("read")? {
            let name: String = row.get(0).doing("read")?;
            let session = *ids.entry(name).or_insert_with_key(|name| name.parse().ok());
            if let Some(session) = session {
                used.push(UsageRow {
                    session,
                    at: Stamp(row.get(1).doing("read")?),
                    model: row.get(2).doing("read")?,
                    purpose: purpose(row).doing("read")?,
                    turns: unsigned(row.get(4).doing("read")?),
                    usage: totals(row).doing("read")?,
                });
            }
        }
        Ok(used)
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
    let done = put.execute(named_params! {
        ":session": session,
        ":quarter": used.at.0,
        ":model": used.model,
        ":purpose": used.purpose.as_str(),
        ":turns": signed(turns.saturating_add(used.turns)),
        ":requests": signed(sum.requests),
        ":prompt": signed(sum.prompt_tokens),
        ":cached": signed(sum.cached_tokens),
        ":output": signed(sum.output_tokens),
        ":reasoning": signed(sum.reasoning_tokens),
        ":cost": signed(sum.cost_micros),
        ":unknown": signed(sum.unknown_cost_calls),
        ":written": signed(sum.cache_write_tokens),
    });
    done.map(drop).doing("write to")
}

fn totals(row: &Row<'_>) -> rusqlite::Result<UsageTotals> {
    Ok(UsageTotals {
        requests: unsigned(row.get(5)?),
        prompt_tokens: unsigned(row.get(6)?),
        cached_tokens: unsigned(row.get(7)?),
        output_tokens: unsigned(row.get(8)?),
        reasoning_tokens: unsigned(row.get(9)?),
        cost_micros: unsigned(row.get(10)?),
        unknown_cost_calls: unsigned(row.get(11)?),
        cache_write_tokens: unsigned(row.get(12)?),
    })
}

fn purpose(row: &Row<'_>) -> rusqlite::Result<Purpose> {
    let text: String = row.get(3)?;
    let known = Purpose::ALL.into_iter();
    // Only this build writes to this database.
    Ok(known
        .into_iter()
        .find(|purpose| purpose.as_str() == text)
        .unwrap_or_default())
}

/// SQLite integers are signed: a sum saturates.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
