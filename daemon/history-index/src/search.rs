//! Searches the index.
//!
//! A word that more than [`MATCHES_MAX`] messages have says little: if the query has others, it only adds to the rank of
//! their matches. If it has none, the newest messages with all its words are the matches.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use proto::params::history::MessageRole;
use proto::{Pid, Seq, SessionId, Stamp};
use rusqlite::{Connection, Row, ToSql};
use store::home::Home;

use crate::database::{self, IndexError, SqlContext, from_sql, to_sql};
use crate::log_tail::{self, role_number, role_of};
use crate::query::{Term, all_of, any_of, apart, words_of};
use crate::ranking::{Candidate, is_common, rank};
use crate::snippet::{Snippet, snippet};
use crate::stems::Stemmer;

/// Matches that are ranked. If there are more, the answer says so.
pub const MATCHES_MAX: usize = 20_000;

/// Sessions that are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SearchScope {
    /// All.
    #[default]
    Global,
    /// Those of a workspace root.
    Root(String),
    /// One.
    Session(SessionId),
}

/// What to find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// See [`crate::query::parse`].
    pub terms: Vec<Term>,
    pub scope: SearchScope,
    pub role: Option<MessageRole>,
    pub since: Option<Stamp>,
    /// Maximum number of hits.
    pub limit: usize,
}

/// What was found, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    pub hits: Vec<IndexHit>,
    /// Matches without copies in forks.
    pub matches: u64,
    /// There are more than [`MATCHES_MAX`] matches: only the newest were ranked.
    pub has_too_many: bool,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexHit {
    pub session: SessionId,
    pub pid: Pid,
    pub seq: Seq,
    pub turn: Option<u64>,
    pub at: Stamp,
    pub role: MessageRole,
    pub snippet: Snippet,
}

/// Searches the index of a home.
///
/// # Errors
/// There is no index, or it cannot be read.
pub fn search(home: &Home, wanted: &Search) -> Result<SearchResult, IndexError> {
    let connection = database::open_to_read(home)?;
    // One state of the index for all its statements.
    let transaction = connection.unchecked_transaction().doing("read")?;
    let mut wanted = Cow::Borrowed(wanted);
    let mut found = candidates(&transaction, &wanted)?;
    if found.candidates.is_empty()
        && let Some(terms) = apart(&wanted.terms)
    {
        wanted.to_mut().terms = terms;
        found = candidates(&transaction, &wanted)?;
    }
    let Found {
        candidates,
        common,
        has_too_many,
    } = found;
    let count = u32::try_from(wanted.terms.len()).unwrap_or(u32::MAX);
    let copies = candidates.len();
    let ranked = rank(candidates, common, count);
    let mut result = SearchResult {
        hits: Vec::new(),
        matches: ranked.len().min(copies) as u64,
        has_too_many,
    };
    let mut stemmer = Stemmer::new(words_of(&wanted.terms));
    for candidate in &ranked {
        if result.hits.len() >= wanted.limit {
            break;
        }
        // A log that has just been changed or deleted: the index follows soon.
        result.hits.extend(hit(
            &transaction,
            home,
            candidate,
            &wanted.terms,
            &mut stemmer,
        )?);
    }
    Ok(result)
}

struct Found {
    candidates: Vec<Candidate>,
    /// A bit for each common term.
    common: u32,
    has_too_many: bool,
}

/// The rows that have a term, if they are not too many.
struct TermRows {
    rows: Vec<i64>,
    has_too_many: bool,
}

fn candidates(connection: &Connection, wanted: &Search) -> Result<Found, IndexError> {
    let all: i64 = connection
        .query_row("SELECT coalesce(max(id), 0) FROM message", [], |row| {
            row.get(0)
        })
        .doing("read")?;
    if let Some(found) = only_phrase(connection, wanted, from_sql(all))? {
        return Ok(found);
    }
    let mut terms = Vec::new();
    for term in &wanted.terms {
        terms.push(rows_with(connection, &term.expression())?);
    }
    let is_common =
        |rows: &TermRows| rows.has_too_many || is_common(rows.rows.len() as u64, from_sql(all));
    let common = bits(&terms, |_, rows| is_common(rows));
    let selective = |rows: &&TermRows| !rows.has_too_many;
    if terms.iter().any(|rows| selective(&rows)) {
        return selective_search(connection, wanted, &terms, (common, from_sql(all)));
    }
    // A word alone is not left out for being common.
    let common_only = |expression: &str| newest(connection, wanted, &RowSource::All(expression));
    let (mut found, mut has_too_many) = common_only(&all_of(wanted.terms.iter()))?;
    if found.is_empty() && wanted.terms.len() > 1 {
        (found, has_too_many) = common_only(&any_of(wanted.terms.iter()))?;
    }
    Ok(Found {
        candidates: found,
        common: 0,
        has_too_many,
    })
}

/// The matches of a single phrase that is looked for everywhere. To look for it costs as much as to rank what it finds, so
/// its messages are not counted before. `None`: it is another query, or has too many matches.
fn only_phrase(
    connection: &Connection,
    wanted: &Search,
    all: u64,
) -> Result<Option<Found>, IndexError> {
    let [phrase] = &wanted.terms[..] else {
        return Ok(None);
    };
    let is_everywhere =
        wanted.scope == SearchScope::Global && wanted.role.is_none() && wanted.since.is_none();
    if phrase.is_word() || !is_everywhere {
        return Ok(None);
    }
    let (mut candidates, has_too_many) =
        newest(connection, wanted, &RowSource::Ranked(&phrase.expression()))?;
    if has_too_many {
        return Ok(None);
    }
    for candidate in &mut candidates {
        candidate.terms = 1;
    }
    Ok(Some(Found {
        common: u32::from(is_common(candidates.len() as u64, all)),
        candidates,
        has_too_many: false,
    }))
}

fn bits(terms: &[TermRows], holds: impl Fn(usize, &TermRows) -> bool) -> u32 {
    let bit = |number: usize| u32::try_from(number).map_or(0, |number| 1_u32 << (number % 32));
    let held = terms
        .iter()
        .enumerate()
        .filter(|(number, rows)| holds(*number, rows));
    held.fold(0, |bits, (number, _)| bits | bit(number))
}

/// Rows with an expression, at most one more than [`MATCHES_MAX`].
fn rows_with(connection: &Connection, expression: &str) -> Result<TermRows, IndexError> {
    let sql = "SELECT rowid FROM text WHERE text MATCH ?1 LIMIT ?2";
    let mut statement = connection.prepare_cached(sql).doing("read")?;
    let limit = to_sql(MATCHES_MAX as u64 + 1);
    let rows = statement.query_map((expression, limit), |row| row.get(0));
    let rows: rusqlite::Result<Vec<i64>> = rows.and_then(Iterator::collect);
    let rows = rows.doing("read")?;
    Ok(TermRows {
        has_too_many: rows.len() > MATCHES_MAX,
        rows,
    })
}

/// Messages with any of the terms that not too many have. Words are ranked by BM25. A phrase is not looked for again to be
/// ranked, which would cost more than all the rest: it counts as a word that stands once in a message of average length.
fn selective_search(
    connection: &Connection,
    wanted: &Search,
    terms: &[TermRows],
    (common, all): (u32, u64),
) -> Result<Found, IndexError> {
    let pairs = || wanted.terms.iter().zip(terms);
    let selective = || pairs().filter(|(_, rows)| !rows.has_too_many);
    let words = any_of(
        selective()
            .map(|(term, _)| term)
            .filter(|term| term.is_word()),
    );
    let (mut candidates, mut has_too_many) = match words.is_empty() {
        true => (Vec::new(), false),
        false => newest(connection, wanted, &RowSource::Ranked(&words))?,
    };
    let mut phrases: BTreeMap<i64, f64> = BTreeMap::new();
    for (_, found) in selective().filter(|(term, _)| !term.is_word()) {
        let relevance = phrase_relevance(found.rows.len() as u64, all);
        for row in &found.rows {
            *phrases.entry(*row).or_default() += relevance;
        }
    }
    if !phrases.is_empty() {
        add_phrases(connection, wanted, &mut candidates, phrases)?;
        has_too_many |= candidates.len() > MATCHES_MAX;
        candidates.truncate(MATCHES_MAX);
    }
    let selective = any_of(selective().map(|(term, _)| term));
    let mut has: HashMap<i64, u32> = HashMap::new();
    for (number, (term, rows)) in pairs().enumerate() {
        let bit = 1_u32
            .checked_shl(u32::try_from(number).unwrap_or(32))
            .unwrap_or(0);
        let both;
        let rows = match rows.has_too_many {
            false => &rows.rows,
            true => {
                both = rows_with(
                    connection,
                    &format!("({selective}) AND {}", term.expression()),
                )?;
                &both.rows
            }
        };
        for row in rows {
            *has.entry(*row).or_default() |= bit;
        }
    }
    for candidate in &mut candidates {
        candidate.terms = has.get(&candidate.row).copied().unwrap_or(0);
    }
    Ok(Found {
        candidates,
        common,
        has_too_many,
    })
}

/// Adds the relevance of phrases to the candidates, and the messages in scope that have phrases only. The newest come
/// first. `phrases`: their rows, with the relevance of those that each has.
fn add_phrases(
    connection: &Connection,
    wanted: &Search,
    candidates: &mut Vec<Candidate>,
    mut phrases: BTreeMap<i64, f64>,
) -> Result<(), IndexError> {
    for candidate in candidates.iter_mut() {
        candidate.relevance += phrases.remove(&candidate.row).unwrap_or_default();
    }
    let rows: Vec<i64> = phrases.keys().copied().collect();
    let (others, _) = newest(connection, wanted, &RowSource::Rows(&rows))?;
    candidates.extend(others.into_iter().map(|other| Candidate {
        relevance: phrases.get(&other.row).copied().unwrap_or_default(),
        ..other
    }));
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.row));
    Ok(())
}

/// What BM25 gives for a word that stands once in a message of average length: FTS5's weight of words that few messages have.
#[allow(clippy::cast_precision_loss)]
fn phrase_relevance(messages: u64, all: u64) -> f64 {
    let without = all.saturating_sub(messages) as f64;
    ((without + 0.5) / (messages as f64 + 0.5)).ln().max(1e-6)
}

/// Where matches come from.
enum RowSource<'a> {
    /// Those of an expression, ranked by their words.
    Ranked(&'a str),
    /// Those of an expression, all of which have all terms.
    All(&'a str),
    /// These rows.
    Rows(&'a [i64]),
}

/// The newest messages of a source that are in scope and not hidden, and whether there are more than [`MATCHES_MAX`].
fn newest(
    connection: &Connection,
    wanted: &Search,
    source: &RowSource<'_>,
) -> Result<(Vec<Candidate>, bool), IndexError> {
    let mut values: BTreeMap<&str, Box<dyn ToSql>> = BTreeMap::new();
    values.insert(":limit", Box::new(to_sql(MATCHES_MAX as u64 + 1)));
    let of_text = "text CROSS JOIN message m ON m.id = text.rowid";
    let (relevance, from, condition, row) = match source {
        RowSource::Ranked(_) => ("-bm25(text)", of_text, "text MATCH :source", "text.rowid"),
        RowSource::All(_) => ("1.0", of_text, "text MATCH :source", "text.rowid"),
        RowSource::Rows(_) => (
            "1.0",
            "json_each(:source) r CROSS JOIN message m ON m.id = r.value",
            "true",
            "m.id",
        ),
    };
    let given: Box<dyn ToSql> = match source {
        RowSource::Ranked(expression) | RowSource::All(expression) => {
            Box::new((*expression).to_owned())
        }
        RowSource::Rows(rows) => Box::new(format!("{rows:?}")),
    };
    values.insert(":source", given);
    let mut sql = format!(
        "SELECT m.id, s.pid, m.seq, m.at, m.role, m.same, {relevance}
         FROM {from} CROSS JOIN session s ON s.id = m.session
         WHERE {condition} AND m.hidden = 0"
    );
    match &wanted.scope {
        SearchScope::Global => {}
        SearchScope::Root(root) => {
            sql.push_str(" AND s.root = :root");
            values.insert(":root", Box::new(root.clone()));
        }
        SearchScope::Session(session) => {
            // Its rows are few and near each other: the words are not looked at outside of them.
            sql.push_str(&format!(
                " AND s.session = :session AND {row} BETWEEN
                 (SELECT min(o.id) FROM message o, session p WHERE o.session = p.id AND p.session = :session) AND
                 (SELECT max(o.id) FROM message o, session p WHERE o.session = p.id AND p.session = :session)",
            ));
            values.insert(":session", Box::new(session.to_string()));
        }
    }
    if let Some(role) = wanted.role {
        sql.push_str(" AND m.role = :role");
        values.insert(":role", Box::new(role_number(role)));
    }
    if let Some(since) = wanted.since {
        sql.push_str(" AND m.at >= :since");
        values.insert(":since", Box::new(since.0));
    }
    sql.push_str(&format!(" ORDER BY {row} DESC LIMIT :limit"));
    let mut statement = connection.prepare(&sql).doing("read")?;
    let values: Vec<(&str, &dyn ToSql)> = values
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    let terms = match source {
        RowSource::All(_) => u32::MAX,
        RowSource::Ranked(_) | RowSource::Rows(_) => 0,
    };
    let rows = statement.query_map(&values[..], |row| candidate(row, terms));
    let found: rusqlite::Result<Vec<Candidate>> = rows.and_then(Iterator::collect);
    let mut found = found.doing("read")?;
    let has_too_many = found.len() > MATCHES_MAX;
    found.truncate(MATCHES_MAX);
    Ok((found, has_too_many))
}

fn candidate(row: &Row<'_>, terms: u32) -> rusqlite::Result<Candidate> {
    Ok(Candidate {
        row: row.get(0)?,
        pid: from_sql(row.get(1)?),
        seq: from_sql(row.get(2)?),
        at: row.get(3)?,
        is_tool: role_of(row.get(4)?) == MessageRole::Tool,
        same: row.get(5)?,
        relevance: row.get(6)?,
        terms,
    })
}

/// A candidate with its text. `None`: the log has no such message any more.
fn hit(
    connection: &Connection,
    home: &Home,
    candidate: &Candidate,
    terms: &[Term],
    stemmer: &mut Stemmer,
) -> Result<Option<IndexHit>, IndexError> {
    let sql = "SELECT s.session, m.turn, m.role, m.start, m.length
        FROM message m JOIN session s ON s.id = m.session WHERE m.id = ?1";
    let mut statement = connection.prepare_cached(sql).doing("read")?;
    let found = statement.query_row([candidate.row], |row| {
        let place: (String, Option<i64>, i64, i64, i64) = (
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
        );
        Ok(place)
    });
    let (session, turn, role, start, length) = found.doing("read")?;
    let Ok(session) = session.parse::<SessionId>() else {
        return Ok(None);
    };
    let seq = Seq(candidate.seq);
    let text = log_tail::text_at(home, session, seq, from_sql(start), from_sql(length));
    Ok(text.map(|text| IndexHit {
        session,
        pid: Pid(candidate.pid),
        seq,
        turn: turn.map(from_sql),
        at: Stamp(candidate.at),
        role: role_of(role),
        snippet: snippet(&text, terms, stemmer),
    }))
}

#[cfg(test)]
mod tests;
