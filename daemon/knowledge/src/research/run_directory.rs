//! The directory of a research run: its name, and the texts of its files.
//!
//! `brief.md` says what is to be reached and is written once; the model keeps `plan.md`, `journal.md` and
//! `findings.md`; `state.json` is the daemon's.

use proto::{Seq, SessionId, Stamp};
use serde::{Deserialize, Serialize};

/// Where the directories of runs are, below the session's directory (contract, chapter 70).
const RUNS: &str = ".reasonix/autoresearch/";

/// The most characters of a slug.
const SLUG_MAX: usize = 40;

/// Name of the file with the state of a run.
pub const STATE_FILE: &str = "state.json";

/// Name of the file that says what is to be reached. A directory without it is not that of a run.
pub const BRIEF_FILE: &str = "brief.md";

/// How far a run is: the content of its `state.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    pub goal: String,
    /// The session that works on it, or did so last.
    pub session: SessionId,
    /// `running`, or how the goal ended.
    pub status: String,
    /// Number of its newest turn in this session, from 1; 0: none has started.
    pub turn: u64,
    /// Why that turn started, or the goal ended.
    pub why: String,
    /// The session's record that says so.
    pub record: Seq,
    /// Time, RFC 3339 in UTC.
    pub updated_at: String,
}

/// The directory of a new run, below the session's directory: `.reasonix/autoresearch/YYYYMMDD-HHMMSS-slug`. `number`:
/// 1, or a higher one where that name is taken.
#[must_use]
pub fn new_directory(goal: &str, at: Stamp, number: u32) -> String {
    let date: String = at.to_string().chars().take(19).collect();
    let date = date.replace(['-', ':'], "").replace('T', "-");
    let mut name = format!("{RUNS}{date}-{}", slug(goal));
    if number > 1 {
        name = format!("{name}-{number}");
    }
    name
}

/// The words of a goal's first line, with `-` between them.
fn slug(goal: &str) -> String {
    let mut slug = String::new();
    let line = goal.trim().lines().next().unwrap_or_default();
    for letter in line.to_lowercase().chars() {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let cut: String = slug.chars().take(SLUG_MAX).collect();
    match cut.trim_end_matches('-') {
        "" => "goal".to_owned(),
        cut => cut.to_owned(),
    }
}

/// The directory of an earlier run that a goal's text names, below the session's directory.
#[must_use]
pub fn named_directory(goal: &str) -> Option<String> {
    let rest = &goal[goal.find(RUNS)? + RUNS.len()..];
    let ends = |letter: char| !(letter.is_alphanumeric() || letter == '-');
    let name = &rest[..rest.find(ends).unwrap_or(rest.len())];
    (!name.is_empty()).then(|| format!("{RUNS}{name}"))
}

/// The files of a new run but for its state, by their names.
#[must_use]
pub fn starting_files(goal: &str, checks: &[String]) -> Vec<(&'static str, String)> {
    let mut brief = format!("# Brief\n\n{}\n", goal.trim());
    if !checks.is_empty() {
        brief.push_str("\n## Commands that must succeed\n\n");
        for check in checks {
            brief.push_str(&format!("    {}\n", check.replace('\n', "\n    ")));
        }
    }
    vec![
        (BRIEF_FILE, brief),
        ("plan.md", "# Plan\n".to_owned()),
        ("journal.md", "# Journal\n".to_owned()),
        ("findings.md", "# Findings\n".to_owned()),
    ]
}
