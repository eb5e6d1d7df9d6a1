//! The stems of English words, by the tokenizer of the index (Porter's, of SQLite's FTS5): what is marked in a hit, and
//! what other searches take for one word, are the words that the index finds.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::words::visit;

/// Bytes that a stem has in common with its word.
const START: usize = 2;

/// Knows the stems of words that may be those of wanted words.
#[derive(Debug)]
pub struct Stemmer {
    /// How the wanted words start.
    starts: HashSet<String>,
    known: HashMap<String, String>,
    /// In memory. `None`: not needed yet.
    tables: Option<Connection>,
}

impl Stemmer {
    /// A stemmer that knows these words.
    #[must_use]
    pub fn new<'a>(wanted: impl Iterator<Item = &'a str>) -> Self {
        let wanted: Vec<&str> = wanted.collect();
        let starts = wanted.iter().filter_map(|word| start(word));
        let mut stemmer = Self {
            starts: starts.map(str::to_owned).collect(),
            known: HashMap::new(),
            tables: None,
        };
        stemmer.learn(wanted.into_iter());
        stemmer
    }

    /// The stem of a word: of one that was not learned, the word itself.
    #[must_use]
    pub fn stem<'a>(&'a self, word: &'a str) -> &'a str {
        self.known.get(word).map_or(word, String::as_str)
    }

    /// Learns the words of a text.
    pub(crate) fn learn_text(&mut self, text: &str) {
        let mut new = HashSet::new();
        visit(text, &mut |word, _, _| {
            if self.may_match(word) && !new.contains(word) {
                new.insert(word.to_owned());
            }
        });
        self.learn(new.iter().map(String::as_str));
    }

    /// Learns words. If SQLite fails, they are their own stems.
    pub fn learn<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        let words: HashSet<&str> = words.filter(|word| self.may_match(word)).collect();
        if words.is_empty() {
            return;
        }
        let words: Vec<&str> = words.into_iter().collect();
        let found = tables(&mut self.tables).and_then(|tables| tokenized(tables, &words));
        self.known.extend(found.unwrap_or_default());
    }

    fn may_match(&self, word: &str) -> bool {
        start(word).is_some_and(|start| self.starts.contains(start))
            && !self.known.contains_key(word)
    }
}

/// How a word starts. `None`: it is short, or no English word, and so its own stem.
fn start(word: &str) -> Option<&str> {
    let is_english = word.bytes().all(|letter| letter.is_ascii_lowercase());
    word.get(..START)
        .filter(|_| is_english && word.len() > START)
}

fn tables(opened: &mut Option<Connection>) -> Result<&mut Connection, rusqlite::Error> {
    let connection = match opened.take() {
        Some(connection) => connection,
        None => {
            let connection = Connection::open_in_memory()?;
            connection.execute_batch(
                "CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter ascii');
                 CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'instance');",
            )?;
            connection
        }
    };
    Ok(opened.insert(connection))
}

fn tokenized(
    tables: &mut Connection,
    words: &[&str],
) -> Result<HashMap<String, String>, rusqlite::Error> {
    // Nothing of it stays: the rows are those of this look alone.
    let rows = tables.transaction()?;
    let mut insert = rows.prepare_cached("INSERT INTO words(rowid, word) VALUES (?1, ?2)")?;
    for (row, word) in (0_i64..).zip(words) {
        insert.execute((row, word))?;
    }
    let mut query = rows.prepare_cached("SELECT doc, term FROM terms")?;
    let found = query.query_map((), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut stems = HashMap::new();
    for row in found {
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
        let words = ["tab", "indented", "12", "ab", "世界", "copy"];
        let mut stemmer = Stemmer::new(words.into_iter());
        stemmer.learn(["tabs", "other"].into_iter());
        stemmer.learn_text("Indenting 世界, it copies and copied.");
        let stem = |word| stemmer.stem(word);
        assert_eq!(stem("tabs"), stem("tab"));
        assert_eq!(stem("indented"), stem("indenting"));
        assert_eq!(
            (stem("copies"), stem("copied")),
            (stem("copy"), stem("copy"))
        );
        assert_eq!((stem("12"), stem("ab"), stem("世界")), ("12", "ab", "世界"));
        assert_eq!(stem("other"), "other");
    }
}
