//! The newest prompts that users wrote in some sessions.

use proto::params::history::MessageRole;
use proto::{Seq, SessionId};
use rusqlite::Connection;
use store::home::Home;

use crate::database::{self, IndexError, SqlContext, from_sql, to_sql};
use crate::log_tail::{self, role_number};

/// Prompts that are answered.
pub const PROMPTS_MAX: usize = 100;
/// Bytes of a longer prompt are hardly typed: it is left out.
const LENGTH_MAX: usize = 16 * 1024;

/// The newest prompts of these sessions, newest last and each once. `sessions`: newest first; those of a newer session
/// count as newer. What a rewind hides was written all the same.
///
/// # Errors
/// There is no index, or it cannot be read.
pub fn newest_prompts(home: &Home, sessions: &[SessionId]) -> Result<Vec<String>, IndexError> {
    let connection = database::open_to_read(home)?;
    let transaction = connection.unchecked_transaction().doing("read")?;
    let mut prompts: Vec<String> = Vec::new();
    'sessions: for session in sessions {
        for place in places(&transaction, *session)? {
            if prompts.len() == PROMPTS_MAX {
                break 'sessions;
            }
            let text = log_tail::text_at(home, *session, place.seq, place.start, place.length);
            let text = text.filter(|text| text.len() <= LENGTH_MAX && !prompts.contains(text));
            prompts.extend(text);
        }
    }
    prompts.reverse();
    Ok(prompts)
}

struct Place {
    seq: Seq,
    start: u64,
    length: u64,
}

/// Where the newest messages of a session's user are in its log, newest first.
fn places(connection: &Connection, session: SessionId) -> Result<Vec<Place>, IndexError> {
    let sql = "SELECT m.seq, m.start, m.length FROM message m
         WHERE m.session = (SELECT id FROM session WHERE session = ?1) AND m.role = ?2
         ORDER BY m.seq DESC LIMIT ?3";
    let mut statement = connection.prepare_cached(sql).doing("read")?;
    let role = role_number(MessageRole::User);
    let values = (session.to_string(), role, to_sql(PROMPTS_MAX as u64));
    let rows = statement.query_map(values, |row| {
        Ok(Place {
            seq: Seq(from_sql(row.get(0)?)),
            start: from_sql(row.get(1)?),
            length: from_sql(row.get(2)?),
        })
    });
    let places: rusqlite::Result<Vec<Place>> = rows.and_then(Iterator::collect);
    places.doing("read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::IndexFixture;

    #[test]
    fn newest_prompts_come_last_and_once() {
        let past = IndexFixture::new();
        let mut old = past.session(1, "/a");
        old.user("first");
        old.user("again");
        old.assistant("an answer");
        let mut new = past.session(2, "/a");
        new.user("second");
        new.user(&"x".repeat(LENGTH_MAX + 1));
        new.user("again");
        for session in [&mut old, &mut new] {
            session.save();
        }
        past.settle();
        let prompts = |sessions: &[SessionId]| newest_prompts(&past.home, sessions).unwrap();
        assert_eq!(
            prompts(&[new.session, old.session]),
            ["first", "second", "again"]
        );
        assert_eq!(prompts(&[old.session]), ["first", "again"]);
        assert!(prompts(&[SessionId::new()]).is_empty());
    }

    #[test]
    fn only_so_many_prompts_are_read() {
        let past = IndexFixture::new();
        let mut sessions: Vec<_> = (1..4).map(|pid| past.session(pid, "/a")).collect();
        for (session, at) in sessions.iter_mut().zip(0..) {
            for number in 0..60 {
                session.user(&format!("prompt {at}.{number}"));
            }
            session.save();
        }
        past.settle();
        let newest_first: Vec<_> = sessions.iter().rev().map(|one| one.session).collect();
        let prompts = newest_prompts(&past.home, &newest_first).unwrap();
        assert_eq!(prompts.len(), PROMPTS_MAX);
        assert_eq!(
            (&*prompts[0], &*prompts[99]),
            ("prompt 1.20", "prompt 2.59")
        );
    }
}
