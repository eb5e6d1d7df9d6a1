//! Finds damaged session logs: reads the newest ones whole, within bounds.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use proto::params::config::Check;
use proto::{Seq, SessionId};
use session::tasks;
use store::home::Home;

use super::{ok, warning};
use crate::daemon::Daemon;

/// So many logs are read, the newest first.
const LOGS_MAX: usize = 200;
/// No further log is begun after this time.
const TIME_MAX: Duration = Duration::from_secs(2);
/// A log that is larger is left out: reading it could take longer than everything else.
const SIZE_MAX: u64 = 128 * 1024 * 1024;

/// A log that ends before a record that had been saved.
#[derive(Debug, PartialEq, Eq)]
struct LostEnd {
    session: SessionId,
    last: Seq,
    known: Seq,
}

/// The result of reading logs.
#[derive(Debug, Default, PartialEq, Eq)]
struct LogSurvey {
    sound: usize,
    /// The session, and its damage.
    damaged: Vec<(SessionId, String)>,
    /// Cut, or restored from a backup.
    lost: Vec<LostEnd>,
    /// Not read: beyond the count, the time, or the size.
    left_out: usize,
}

/// How much is read.
struct Bounds {
    logs: usize,
    time: Duration,
    size: u64,
}

/// Reads the newest logs, and names those that are damaged.
pub async fn check(daemon: &Daemon) -> Vec<Check> {
    let (home, supervisor) = (daemon.home.clone(), Arc::clone(&daemon.supervisor));
    let known = supervisor.newest_records().await;
    let bounds = Bounds {
        logs: LOGS_MAX,
        time: TIME_MAX,
        size: SIZE_MAX,
    };
    let read = tasks::blocking(move || look(&home, &known, &bounds));
    match read.await {
        Ok(Ok(found)) => checks_of(&found),
        Ok(Err(error)) => vec![warning(
            "logs",
            store::reason(&error),
            "Check the disk that holds the home.",
        )],
        Err(error) => vec![warning(
            "logs",
            format!("the logs could not be read: {error}"),
            "See the daemon's log for details, and please report this.",
        )],
    }
}

fn checks_of(found: &LogSurvey) -> Vec<Check> {
    let mut checks: Vec<_> = found
        .damaged
        .iter()
        .map(|(session, what)| {
            warning(
                "logs",
                format!("session {session}: {what}"),
                "Read the intact part with `reasonix logs`; the file was not changed.",
            )
        })
        .collect();
    checks.extend(found.lost.iter().map(|lost| {
        warning(
            "logs",
            format!(
                "session {}: its log ends at record {}, but record {} had been saved: it was cut, or restored from a backup",
                lost.session, lost.last, lost.known
            ),
            "Put back the newer log if you have it, before the session is used again; otherwise it continues from that record.",
        )
    }));
    let left_out = match found.left_out {
        0 => String::new(),
        count => format!("; {count} older or very large ones were not checked"),
    };
    checks.push(ok(
        "logs",
        format!("{} logs are intact{left_out}", found.sound),
    ));
    checks
}

/// Reads logs, newest first, until a bound is reached. Takes no lock and repairs nothing.
fn look(
    home: &Home,
    known: &HashMap<SessionId, Seq>,
    bounds: &Bounds,
) -> Result<LogSurvey, store::DiskError> {
    let begun = Instant::now();
    let mut logs: Vec<(SystemTime, u64, SessionId)> = home
        .session_ids()?
        .into_iter()
        .map(|session| {
            let (changed, size) = stamp(&home.session_dir(session));
            (changed, size, session)
        })
        .collect();
    logs.sort_by(|one, two| two.0.cmp(&one.0).then(two.2.cmp(&one.2)));
    let mut found = LogSurvey::default();
    for (number, (_, size, session)) in logs.into_iter().enumerate() {
        if number >= bounds.logs || begun.elapsed() >= bounds.time || size > bounds.size {
            found.left_out += 1;
            continue;
        }
        match store::log::read(&home.session_dir(session), &mut |_| ()) {
            // A torn tail is the end of records that were never acknowledged, or a line that is just being written.
            Ok(scan) if scan.damaged() => {
                let why = scan.invalid.unwrap_or_default();
                let what = format!("its log is damaged after record {}: {why}", scan.last);
                found.damaged.push((session, what));
            }
            Ok(scan) if scan.last == Seq(0) => {
                let what = "its log has no complete record".to_owned();
                found.damaged.push((session, what));
            }
            Ok(scan) => match known.get(&session) {
                Some(known) if *known > scan.last => found.lost.push(LostEnd {
                    session,
                    last: scan.last,
                    known: *known,
                }),
                Some(_) | None => found.sound += 1,
            },
            Err(error) => found.damaged.push((session, store::reason(&error))),
        }
    }
    Ok(found)
}

/// When a session's log was changed last, and how large it is; one without a log counts as the oldest.
fn stamp(dir: &Path) -> (SystemTime, u64) {
    let meta = std::fs::metadata(dir.join("log.jsonl"));
    let changed = meta.as_ref().ok().and_then(|meta| meta.modified().ok());
    (
        changed.unwrap_or(SystemTime::UNIX_EPOCH),
        meta.map_or(0, |meta| meta.len()),
    )
}

#[cfg(test)]
mod tests;
