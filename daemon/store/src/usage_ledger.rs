//! The usage ledger, `<home>/usage/YYYY-MM.jsonl`: usage of deleted sessions, so that deleting one
//! lowers no total.
//!
//! An entry is written before its session is deleted. It does not count while the session still
//! exists, because the session's own log counts then. Lines never change. If two lines have the
//! same key, the later one counts.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use proto::outcome::UsageTotals;
use proto::record::Purpose;
use proto::{Pid, SessionId, Stamp};
use serde::{Deserialize, Serialize};

use crate::disk::{DiskError, IoContext, entries, private, sync_dir};
use crate::home::Home;

/// Milliseconds of usage in one row: 15 minutes. All time zones differ by whole quarters of an
/// hour, so rows can be summed into days for any of them.
pub const QUARTER_MS: i64 = 15 * 60 * 1000;

/// Usage of one session, model and purpose in one quarter of an hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Start of the quarter.
    pub at: Stamp,
    pub session: SessionId,
    pub pid: Pid,
    pub cwd: String,
    /// `provider/model`, as requested. Older lines have the session's model. Empty if the entry
    /// only counts turns.
    pub model: String,
    pub usage: UsageTotals,
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
    /// Turns that ended.
    #[serde(default)]
    pub turns: u64,
    /// The session's workspace root. Empty in lines written before this field existed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
}

/// Rounds a time down to the start of its quarter.
#[must_use]
pub fn quarter_start(at: Stamp) -> Stamp {
    Stamp(at.0.div_euclid(QUARTER_MS) * QUARTER_MS)
}

/// Appends entries to the ledger, durably.
///
/// # Errors
/// The entries may not be on disk.
pub fn append(home: &Home, entries: &[LedgerEntry]) -> Result<(), DiskError> {
    let mut months: BTreeMap<String, String> = BTreeMap::new();
    for entry in entries {
        let month: String = entry.at.to_string().chars().take(7).collect();
        let lines = months.entry(month).or_default();
        // Entries are numbers and texts, so they always serialize.
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
    // If a power cut truncated the last line, the new one starts on a line after it.
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let begin = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{begin}{lines}").as_bytes())?;
    file.sync_data()
}

/// All entries, each once. Skips invalid lines.
///
/// # Errors
/// A ledger file cannot be read.
pub fn read(home: &Home) -> Result<Vec<LedgerEntry>, DiskError> {
    let mut known = BTreeMap::new();
    for path in ledger_files(&home.usage())? {
        let mut bytes = Vec::new();
        let file = private().read(true).open(&path).at("open", &path)?;
        (&file).read_to_end(&mut bytes).at("read", &path)?;
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(entry) = serde_json::from_slice::<LedgerEntry>(line) {
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

fn ledger_files(dir: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let mut paths: Vec<_> = entries(dir)?.iter().map(DirEntry::path).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests;
