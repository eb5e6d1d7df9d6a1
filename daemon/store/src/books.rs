//! The usage books: what deleted sessions used, so that deleting one lowers no sum. `<home>/usage/YYYY-MM.jsonl`.
//!
//! Written before the session goes. A line of a session that is still there does not count: then the session itself
//! tells. Lines are never changed; of two that say the same thing of a session the later one counts.

use std::collections::BTreeMap;
use std::fs::read_dir;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use proto::outcome::UsageTotals;
use proto::record::Purpose;
use proto::{Pid, SessionId, Stamp};
use serde::{Deserialize, Serialize};

use crate::disk::{At, Fault, private, sync_dir};
use crate::home::Home;

/// Milliseconds that one row tells of: a quarter of an hour. Every clock on earth is ahead of another by whole ones, so
/// that days can be told from them anywhere.
pub const QUARTER_MS: i64 = 15 * 60 * 1000;

/// What a session used of a model, for one purpose, in a quarter of an hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When the quarter began.
    pub at: Stamp,
    pub session: SessionId,
    pub pid: Pid,
    pub cwd: String,
    /// `provider/model`, as it was asked; of lines of before that was noted: the session's. Empty: of turns alone.
    pub model: String,
    pub usage: UsageTotals,
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
    /// Turns that ended.
    #[serde(default)]
    pub turns: u64,
    /// The session's workspace root; empty in lines of before it was noted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
}

/// The beginning of the quarter that a moment is in.
#[must_use]
pub fn quarter(at: Stamp) -> Stamp {
    Stamp(at.0.div_euclid(QUARTER_MS) * QUARTER_MS)
}

/// Puts entries into their books, durably.
///
/// # Errors
/// They may not be on disk.
pub fn append(home: &Home, entries: &[Entry]) -> Result<(), Fault> {
    let mut months: BTreeMap<String, String> = BTreeMap::new();
    for entry in entries {
        let month: String = entry.at.to_string().chars().take(7).collect();
        let lines = months.entry(month).or_default();
        // An entry is numbers and texts: always JSON.
        lines.push_str(&serde_json::to_string(entry).unwrap_or_default());
        lines.push('\n');
    }
    let dir = home.usage();
    for (month, lines) in &months {
        let path = dir.join(format!("{month}.jsonl"));
        write(&path, lines).at("write", &path)?;
    }
    sync_dir(&dir)
}

fn write(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = private().read(true).append(true).create(true).open(path)?;
    // A line that a power cut has torn must not swallow the next one.
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let begin = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{begin}{lines}").as_bytes())?;
    file.sync_data()
}

/// All entries, each once. Lines that are none are passed over.
///
/// # Errors
/// A book cannot be read.
pub fn read(home: &Home) -> Result<Vec<Entry>, Fault> {
    let mut known = BTreeMap::new();
    for path in books(&home.usage())? {
        let mut bytes = Vec::new();
        let file = private().read(true).open(&path).at("open", &path)?;
        (&file).read_to_end(&mut bytes).at("read", &path)?;
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(entry) = serde_json::from_slice::<Entry>(line) {
                let key = (
                    entry.session,
                    entry.at.0,
                    entry.model.clone(),
                    entry.purpose,
                );
                known.insert(key, entry);
            }
        }
    }
    Ok(known.into_values().collect())
}

fn books(dir: &Path) -> Result<Vec<PathBuf>, Fault> {
    let entries = read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let paths = entries.at("read the directory", dir)?;
    let mut paths: Vec<_> = paths.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests;
