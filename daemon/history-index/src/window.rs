//! The messages before and after one of a session, as they are shown.

use proto::params::history::MessageRole;
use proto::{Seq, SessionId, Stamp};
use rusqlite::Connection;
use store::home::Home;

use crate::database::{self, IndexError, SqlContext, from_sql, to_sql};
use crate::log_tail::{self, role_of};

/// A message of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowMessage {
    pub seq: Seq,
    pub turn: Option<u64>,
    pub at: Stamp,
    pub role: MessageRole,
    /// Whole.
    pub text: String,
}

/// Messages of a session in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub messages: Vec<WindowMessage>,
    /// There are messages before the first one.
    pub has_earlier: bool,
    /// There are messages after the last one.
    pub has_later: bool,
}

/// The message at `seq`, or if there is none the one after it, with so many before and after it.
/// Empty if there is no such message.
///
/// # Errors
/// There is no index, or it cannot be read.
pub fn window(
    home: &Home,
    session: SessionId,
    seq: Seq,
    (before, after): (usize, usize),
) -> Result<Window, IndexError> {
    let connection = database::open_to_read(home)?;
    let transaction = connection.unchecked_transaction().doing("read")?;
    let earlier = "m.seq < ?2 ORDER BY m.seq DESC";
    let later = "m.seq >= ?2 ORDER BY m.seq";
    // One more of each: it says whether there are more.
    let mut first = places(&transaction, session, seq, (earlier, before + 1))?;
    let mut last = places(&transaction, session, seq, (later, after + 2))?;
    if last.is_empty() {
        return Ok(Window::default());
    }
    let (has_earlier, has_later) = (first.len() > before, last.len() > after + 1);
    first.truncate(before);
    last.truncate(after + 1);
    first.reverse();
    let messages = first.into_iter().chain(last).filter_map(|place| {
        let text = log_tail::text_at(home, session, place.seq, place.start, place.length)?;
        Some(WindowMessage {
            seq: place.seq,
            turn: place.turn,
            at: place.at,
            role: place.role,
            text,
        })
    });
    Ok(Window {
        messages: messages.collect(),
        has_earlier,
        has_later,
    })
}

struct Place {
    seq: Seq,
    turn: Option<u64>,
    at: Stamp,
    role: MessageRole,
    start: u64,
    length: u64,
}

fn places(
    connection: &Connection,
    session: SessionId,
    seq: Seq,
    (side, limit): (&str, usize),
) -> Result<Vec<Place>, IndexError> {
    let sql = format!(
        "SELECT m.seq, m.turn, m.at, m.role, m.start, m.length FROM message m
         WHERE m.session = (SELECT id FROM session WHERE session = ?1) AND m.hidden = 0 AND {side} LIMIT ?3"
    );
    let mut statement = connection.prepare(&sql).doing("read")?;
    let values = (session.to_string(), to_sql(seq.0), to_sql(limit as u64));
    let rows = statement.query_map(values, |row| {
        Ok(Place {
            seq: Seq(from_sql(row.get(0)?)),
            turn: row.get::<_, Option<i64>>(1)?.map(from_sql),
            at: Stamp(row.get(2)?),
            role: role_of(row.get(3)?),
            start: from_sql(row.get(4)?),
            length: from_sql(row.get(5)?),
        })
    });
    let places: rusqlite::Result<Vec<Place>> = rows.and_then(Iterator::collect);
    places.doing("read")
}
