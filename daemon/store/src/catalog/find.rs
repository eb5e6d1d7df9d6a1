//! Finds the session that a user's text refers to.

use proto::params::session::SessionSummary;
use proto::{Pid, SessionId, near};
use rusqlite::{Connection, params};

use super::{CatalogError, SqlContext, from_sql, summary, to_sql};

/// Minimum length of a UUID prefix.
const PREFIX_MIN: usize = 4;
/// Longest text that can name a session.
const TEXT_MAX: usize = 256;
/// How many candidates to list.
const SUGGESTED_MAX: usize = 5;
/// How many of the newest names to compare for suggestions.
const COMPARED_MAX: i64 = 500;

/// Result of a look-up.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionLookup {
    One(Box<SessionSummary>),
    /// Several sessions match. The newest ones, as a pid with the name if there is one: `12
    /// (build)`.
    Many(Vec<String>),
    /// No session matches. Similar names.
    None(Vec<String>),
}

pub(super) fn find(connection: &Connection, text: &str) -> Result<SessionLookup, CatalogError> {
    let bad = |why| CatalogError::BadName {
        text: text.chars().take(40).collect(),
        why,
    };
    if text.trim().is_empty() {
        return Err(bad("it is empty"));
    }
    if text.len() > TEXT_MAX {
        return Err(bad("it is too long"));
    }
    if text.contains(['/', '\\']) || text.contains(char::is_control) {
        return Err(bad("it has characters that no session's name has"));
    }
    if let Some(pid) = pid(text)
        && let Some(summary) = summary(connection, "pid", to_sql(pid))?
    {
        return Ok(SessionLookup::One(Box::new(summary)));
    }
    if let Some(session) = uuid(text) {
        let summary = summary(connection, "session", session.to_string())?;
        return Ok(summary.map_or(SessionLookup::None(Vec::new()), |one| {
            SessionLookup::One(Box::new(one))
        }));
    }
    let fits = candidates(connection, text)?;
    match &fits[..] {
        [] => Ok(SessionLookup::None(nearest(connection, text)?)),
        [(pid, _)] => match summary(connection, "pid", to_sql(*pid))? {
            Some(summary) => Ok(SessionLookup::One(Box::new(summary))),
            None => Ok(SessionLookup::None(Vec::new())),
        },
        several => Ok(SessionLookup::Many(several.iter().map(describe).collect())),
    }
}

/// Parses a pid without leading zeros. Only a UUID can begin with a zero.
fn pid(text: &str) -> Option<Pid> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let shown = digits && !text.starts_with('0');
    text.parse().ok().filter(|_| shown).map(Pid)
}

/// Parses a whole UUID with hyphens.
fn uuid(text: &str) -> Option<SessionId> {
    text.parse().ok().filter(|_| text.len() == 36)
}

/// Sessions whose UUID starts with `text` or whose name is `text`, newest first. If both kinds
/// match, all are returned.
fn candidates(
    connection: &Connection,
    text: &str,
) -> Result<Vec<(Pid, Option<String>)>, CatalogError> {
    let hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let prefix = (text.len() >= PREFIX_MIN && text.bytes().all(hex)).then(|| text.to_lowercase());
    // Every id with this prefix sorts before the prefix followed by a character that no UUID has.
    let past_prefix = prefix.as_ref().map(|prefix| format!("{prefix}g"));
    let mut statement = connection
        .prepare_cached(
            "SELECT pid, name FROM session
             WHERE (session >= ?1 AND session < ?2) OR name = ?3
             ORDER BY pid DESC LIMIT ?4",
        )
        .doing("read")?;
    let limit = i64::try_from(SUGGESTED_MAX).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![prefix, past_prefix, text, limit], |row| {
        Ok((from_sql(row.get(0)?), row.get(1)?))
    });
    rows.and_then(Iterator::collect).doing("read")
}

fn describe((pid, name): &(Pid, Option<String>)) -> String {
    match name {
        Some(name) => format!("{pid} ({name})"),
        None => pid.to_string(),
    }
}

/// Names of sessions that are like `text`.
fn nearest(connection: &Connection, text: &str) -> Result<Vec<String>, CatalogError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT name FROM session WHERE name IS NOT NULL ORDER BY pid DESC LIMIT ?1",
        )
        .doing("read")?;
    let rows = statement.query_map([COMPARED_MAX], |row| row.get(0));
    let names: rusqlite::Result<Vec<String>> = rows.and_then(Iterator::collect);
    let names = names.doing("read")?;
    let near = near::nearest(text, names.iter().map(String::as_str));
    Ok(near.into_iter().map(str::to_owned).collect())
}
