//! Finds the session that a person means by what they typed.

use proto::params::session::SessionSummary;
use proto::{Pid, SessionId, near};
use rusqlite::{Connection, params};

use super::{CatalogError, Doing, by_id, by_pid, from_sql};

/// The least a prefix of a UUID must have.
const PREFIX_MIN: usize = 4;
/// Nothing that names a session is longer.
const TEXT_MAX: usize = 256;
/// Sessions that are listed when several fit.
const TOLD_MAX: usize = 5;
/// So many of the newest names are compared with one that fits none.
const COMPARED_MAX: i64 = 500;

/// What a look-up came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    One(Box<SessionSummary>),
    /// Several fit. Each as a pid, with its name where it has one: `12 (build)`. The newest ones only.
    Many(Vec<String>),
    /// None fits. Names that are nearly the same.
    None(Vec<String>),
}

pub(super) fn find(connection: &Connection, text: &str) -> Result<Found, CatalogError> {
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
        && let Some(summary) = by_pid(connection, pid)?
    {
        return Ok(Found::One(Box::new(summary)));
    }
    if let Some(session) = uuid(text) {
        let summary = by_id(connection, session)?;
        return Ok(summary.map_or(Found::None(Vec::new()), |one| Found::One(Box::new(one))));
    }
    let fits = candidates(connection, text)?;
    match &fits[..] {
        [] => Ok(Found::None(nearest(connection, text)?)),
        [(pid, _)] => match by_pid(connection, *pid)? {
            Some(summary) => Ok(Found::One(Box::new(summary))),
            None => Ok(Found::None(Vec::new())),
        },
        several => Ok(Found::Many(several.iter().map(told).collect())),
    }
}

/// A pid as it is shown: without leading zeros, which only a UUID can have.
fn pid(text: &str) -> Option<Pid> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let shown = digits && !text.starts_with('0');
    text.parse().ok().filter(|_| shown).map(Pid)
}

/// A whole UUID, with hyphens.
fn uuid(text: &str) -> Option<SessionId> {
    text.parse().ok().filter(|_| text.len() == 36)
}

/// Sessions whose UUID starts with `text` or whose name it is, newest first. A text that is both is
/// not guessed at.
fn candidates(
    connection: &Connection,
    text: &str,
) -> Result<Vec<(Pid, Option<String>)>, CatalogError> {
    let hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let prefix = (text.len() >= PREFIX_MIN && text.bytes().all(hex)).then(|| text.to_lowercase());
    // All that starts with the prefix sorts below the prefix with a character that no UUID has.
    let behind = prefix.as_ref().map(|prefix| format!("{prefix}g"));
    let mut statement = connection
        .prepare_cached(
            "SELECT pid, name FROM session
             WHERE (session >= ?1 AND session < ?2) OR name = ?3
             ORDER BY pid DESC LIMIT ?4",
        )
        .doing("read")?;
    let limit = i64::try_from(TOLD_MAX).unwrap_or(i64::MAX);
    let rows = statement
        .query_map(params![prefix, behind, text, limit], |row| {
            Ok((from_sql(row.get(0)?), row.get(1)?))
        })
        .doing("read")?;
    rows.collect::<Result<_, _>>().doing("read")
}

fn told((pid, name): &(Pid, Option<String>)) -> String {
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
    let rows = statement
        .query_map([COMPARED_MAX], |row| row.get(0))
        .doing("read")?;
    let names: Vec<String> = rows.collect::<Result<_, _>>().doing("read")?;
    let near = near::nearest(text, names.iter().map(String::as_str));
    Ok(near.into_iter().map(str::to_owned).collect())
}
