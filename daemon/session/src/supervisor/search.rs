//! Finds words in what was said: reads the logs, newest sessions first, within bounds of time and bytes.
//!
//! A line is looked at as bytes first, and taken apart only where the words may stand in it. What a rewind has hidden is
//! not found. A log that is damaged hides nothing of the others.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proto::item::Voice;
use proto::params::history::{Hit, SearchOutput, SearchParams};
use proto::params::session::SessionSummary;
use proto::{Body, ErrorName, Failure, Record, Seq};
use store::format::decode;
use store::home::Home;

use crate::supervisor::Supervisor;
use crate::tasks::blocking;

/// Hits where the caller does not say.
const LIMIT: u64 = 50;
/// Hits at most.
const LIMIT_MAX: u64 = 1_000;
/// How long it looks.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Bytes of logs that it reads: 1 GiB.
const BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Messages that it finds before some are left out.
const FOUND_MAX: usize = 20_000;
/// SearchWords of a question.
const WORDS_MAX: usize = 32;
/// Characters of a place, and of them before the word.
const SNIPPET: usize = 200;
const BEFORE: usize = 60;

impl Supervisor {
    /// See `history.search`. Dropping the future ends the search.
    ///
    /// # Errors
    /// `invalid_params`: no words, or too many; `storage`: the catalog cannot be read.
    pub async fn search(&self, params: SearchParams) -> Result<SearchOutput, Failure> {
        let words = SearchWords::of(&params.text)?;
        let mut sessions = self.everything().await?;
        sessions.retain(|summary| params.cwd.as_ref().is_none_or(|cwd| *cwd == summary.cwd));
        sessions.sort_by_key(|summary| std::cmp::Reverse((summary.active_at, summary.pid)));
        let limit = match params.limit {
            0 => LIMIT,
            limit => limit.min(LIMIT_MAX),
        };
        let loaded: Vec<_> = self.handles().iter().map(|handle| handle.id()).collect();
        let given_up = GiveUp::default();
        let mut look = LogSearch {
            words,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            due: Instant::now() + TIME_MAX,
            bytes: 0,
            found: 0,
            given_up: Arc::clone(&given_up.0),
        };
        let home = Arc::clone(&self.services.home);
        blocking(move || {
            let (mut hits, mut complete) = (Vec::new(), true);
            for (place, summary) in sessions.iter().enumerate() {
                // Behind the newest durable record a file may hold what is never acknowledged.
                let upto = match loaded.contains(&summary.session) {
                    true => summary.seq,
                    false => Seq(u64::MAX),
                };
                complete &= look.session(&home, summary, upto, &mut hits);
                if !complete || hits.len() >= look.limit {
                    complete &= hits.len() <= look.limit && place + 1 == sessions.len();
                    break;
                }
            }
            hits.truncate(look.limit);
            SearchOutput { hits, complete }
        })
        .await
    }
}

/// Notifies the thread that nobody waits for it any more.
#[derive(Default)]
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One search.
struct LogSearch {
    words: SearchWords,
    limit: usize,
    due: Instant,
    bytes: u64,
    found: usize,
    given_up: Arc<AtomicBool>,
}

impl LogSearch {
    /// Looks through one session; its newest messages come first. False: a bound was met.
    fn session(
        &mut self,
        home: &Home,
        summary: &SessionSummary,
        upto: Seq,
        hits: &mut Vec<Hit>,
    ) -> bool {
        let path = home.session_dir(summary.session).join(store::log::LOG_NAME);
        let mut log = Log::default();
        let whole = match self.read(&path, upto, &mut log) {
            Ok(whole) => whole,
            // It may just have been deleted; what is wrong with others `doctor` tells.
            Err(error) => {
                tracing::debug!(pid = %summary.pid, %error, "a log cannot be searched");
                true
            }
        };
        let shown = log
            .found
            .into_iter()
            .filter(|found| log.view.shows(found.seq));
        let found: Vec<_> = shown.collect();
        hits.extend(found.into_iter().rev().map(|found| Hit {
            session: summary.session,
            pid: summary.pid,
            name: summary.name.clone(),
            cwd: summary.cwd.clone(),
            seq: found.seq,
            turn: found.turn,
            at: found.at,
            role: found.role.to_owned(),
            text: found.text,
        }));
        whole
    }

    fn read(&mut self, path: &Path, upto: Seq, log: &mut Log) -> std::io::Result<bool> {
        let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?);
        let (mut line, mut lower) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(true);
            }
            self.bytes += read as u64;
            let over = self.bytes > BYTES_MAX
                || self.found >= FOUND_MAX
                || Instant::now() > self.due
                || self.given_up.load(Ordering::Relaxed);
            if over {
                return Ok(false);
            }
            line.pop_if(|last| *last == b'\n');
            let Some(kind) = kind_of(&line) else { continue };
            let message = matches!(
                kind,
                b"message.user" | b"message.assistant" | b"message.tool"
            );
            let rewound = kind == b"session.rewound";
            if !(rewound || message && self.words.may_stand_in(&line, &mut lower)) {
                continue;
            }
            // A line that is damaged says nothing.
            let Ok(Ok(record)) = decode(&line).map(|raw| raw.record()) else {
                continue;
            };
            if record.seq > upto {
                return Ok(true);
            }
            self.found += usize::from(log.take(&record, &self.words));
        }
    }
}

/// The kind of a line, where it is one: members stand in a fixed order, and before the kind there are only numbers and a
/// time.
fn kind_of(line: &[u8]) -> Option<&[u8]> {
    const MEMBER: &[u8] = b",\"kind\":\"";
    let head = line.get(..line.len().min(160))?;
    let at = head.windows(MEMBER.len()).position(|part| part == MEMBER)?;
    let rest = head.get(at + MEMBER.len()..)?;
    rest.split(|byte| *byte == b'"').next()
}

/// What was found in a log, and what of it is shown.
#[derive(Default)]
struct Log {
    found: Vec<Match>,
    view: ShownRecords,
}

struct Match {
    seq: Seq,
    turn: Option<u64>,
    at: proto::Stamp,
    role: &'static str,
    text: String,
}

/// The records that the newest rewind has left.
#[derive(Default)]
struct ShownRecords {
    runs: Vec<(Seq, Seq)>,
    since: Seq,
}

impl ShownRecords {
    fn shows(&self, seq: Seq) -> bool {
        seq > self.since
            || self
                .runs
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&seq))
    }
}

impl Log {
    /// Takes a record in. Whether it is a message with all the words.
    fn take(&mut self, record: &Record, words: &SearchWords) -> bool {
        let (role, text) = match &record.body {
            Body::User(message) if message.voice != Voice::Daemon => ("user", &message.text),
            Body::Assistant(message) => ("assistant", &message.text),
            Body::Tool(message) => ("tool", &message.text),
            Body::SessionRewound(rewound) => {
                if let Some(shown) = &rewound.shown {
                    self.view = ShownRecords {
                        runs: shown.clone(),
                        since: record.seq,
                    };
                }
                return false;
            }
            _ => return false,
        };
        let Some(text) = words.find(text) else {
            return false;
        };
        self.found.push(Match {
            seq: record.seq,
            turn: record.turn,
            at: record.at,
            role,
            text,
        });
        true
    }
}

/// What is searched for.
struct SearchWords {
    /// In small letters.
    words: Vec<String>,
    /// What stands in a line of the log wherever the word does: the longest part of each that is written there as it is.
    signs: Vec<Vec<u8>>,
}

impl SearchWords {
    fn of(text: &str) -> Result<Self, Failure> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() || words.len() > WORDS_MAX {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                match words.is_empty() {
                    true => "No search words were given.".to_owned(),
                    false => format!("There are more than {WORDS_MAX} words."),
                },
                "Give words that appear in the message, in any order.",
            ));
        }
        let signs = words.iter().map(|word| sign(word)).collect();
        Ok(Self { words, signs })
    }

    /// Whether a line may hold all of them. `lower` is room to work in.
    fn may_stand_in(&self, line: &[u8], lower: &mut Vec<u8>) -> bool {
        lower.clear();
        lower.extend_from_slice(line);
        lower.make_ascii_lowercase();
        let Ok(lower) = std::str::from_utf8(lower) else {
            return false;
        };
        // The only characters beyond ASCII whose small forms are within.
        if lower.contains(['\u{212a}', '\u{130}']) {
            return true;
        }
        let holds =
            |sign: &Vec<u8>| std::str::from_utf8(sign).is_ok_and(|sign| lower.contains(sign));
        self.signs.iter().all(holds)
    }

    /// The place of the first word, where all of them stand in the text.
    fn find(&self, text: &str) -> Option<String> {
        let lower = text.to_lowercase();
        let all = self.words.iter().all(|word| lower.contains(word.as_str()));
        let first = lower.find(self.words.first()?.as_str())?;
        all.then(|| snippet(text, char_at(text, first)))
    }
}

/// The longest part of a word that the log writes as it is, whatever its case was: JSON escapes some characters, and the
/// case of most letters beyond ASCII is not known from bytes.
fn sign(word: &str) -> Vec<u8> {
    let caseless = |letter: char| {
        !letter.is_ascii()
            && letter.is_alphabetic()
            && !letter.is_lowercase()
            && !letter.is_uppercase()
    };
    let plain = |letter: char| {
        letter.is_ascii_graphic() && !matches!(letter, '"' | '\\') || caseless(letter)
    };
    let parts = word.split(|letter| !plain(letter));
    let longest = parts.max_by_key(|part| part.len());
    longest.unwrap_or_default().as_bytes().to_vec()
}

/// The number of the character that a byte of the text in small letters belongs to.
fn char_at(text: &str, in_lower: usize) -> usize {
    let mut bytes = 0;
    for (place, letter) in text.chars().enumerate() {
        bytes += letter.to_lowercase().map(char::len_utf8).sum::<usize>();
        if bytes > in_lower {
            return place;
        }
    }
    0
}

/// SearchWords around a character, in one line without control characters.
fn snippet(text: &str, at: usize) -> String {
    let from = at.saturating_sub(BEFORE);
    let cut = |letter: char| letter.is_control() || letter.is_whitespace();
    let mut line = String::new();
    let mut letters = text.chars().skip(from);
    // One less at either end, for the signs that something was left out.
    let mut left = SNIPPET - 2;
    let mut blank = true;
    for letter in letters.by_ref() {
        let gap = cut(letter);
        if gap && blank {
            continue;
        }
        line.push(if gap { ' ' } else { letter });
        blank = gap;
        left -= 1;
        if left == 0 {
            break;
        }
    }
    let more = letters.any(|letter| !cut(letter));
    let head = if from > 0 { "…" } else { "" };
    let tail = if more { "…" } else { "" };
    format!("{head}{}{tail}", line.trim_end())
}

#[cfg(test)]
mod tests;
