//! The stems of English words, by the tokenizer that the history index uses (Porter's, of SQLite's FTS5), so that both
//! searches take the same words for one.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

/// Bytes that a stem has in common with its word.
const START: usize = 2;

/// The stem of each word that has one, as far as it may be that of a wanted word. SQLite works in memory here; if it
/// fails, words are compared as they are written.
pub(super) fn stems<'a>(
    words: impl Iterator<Item = &'a str>,
    wanted: &HashSet<String>,
) -> HashMap<String, String> {
    let starts: HashSet<&str> = wanted.iter().filter_map(|word| start(word)).collect();
    let may_match = |word: &&str| start(word).is_some_and(|start| starts.contains(start));
    let words: Vec<&str> = words
        .filter(may_match)
        .collect::<HashSet<_>>()
        .into_iter()
        .collect();
    if words.is_empty() {
        return HashMap::new();
    }
    tokenized(&words).unwrap_or_default()
}

/// How a word starts. `None`: it is short, or no English word, and so its own stem.
fn start(word: &str) -> Option<&str> {
    let is_english = word.bytes().all(|letter| letter.is_ascii_lowercase());
    word.get(..START)
        .filter(|_| is_english && word.len() > START)
}

fn tokenized(words: &[&str]) -> Result<HashMap<String, String>, rusqlite::Error> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter ascii');
         CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'instance');",
    )?;
    let filling = connection.transaction()?;
    let mut insert = filling.prepare("INSERT INTO words(rowid, word) VALUES (?1, ?2)")?;
    for (row, word) in (0_i64..).zip(words) {
        insert.execute((row, word))?;
    }
    drop(insert);
    filling.commit()?;
    let mut query = connection.prepare("SELECT doc, term FROM terms")?;
    let rows = query.query_map((), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut stems = HashMap::new();
    for row in rows {
        let (row, stem) = row?;
        let word = usize::try_from(row).ok().and_then(|at| words.get(at));
        stems.extend(word.map(|word| ((*word).to_owned(), stem)));
    }
    Ok(stems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_words_have_one_stem_and_others_are_left() {
        let words = [
            "tab",
            "tabs",
            "indented",
            "indenting",
            "12",
            "ab",
            "世界",
            "other",
        ];
        let wanted = words
            .iter()
            .take(7)
            .map(|word| (*word).to_owned())
            .collect();
        let found = stems(words.iter().copied(), &wanted);
        assert_eq!(found.get("tabs"), found.get("tab"));
        assert_eq!(found.get("indented"), found.get("indenting"));
        assert!(found.contains_key("tab"));
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
