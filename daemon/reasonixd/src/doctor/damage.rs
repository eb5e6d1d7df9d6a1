//! Finds damaged session logs: reads the newest ones whole, within bounds.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use proto::SessionId;
use proto::params::config::Check;
use store::home::Home;

use super::{ok, warning};

/// So many logs are read, the newest first.
const LOGS_MAX: usize = 200;
/// No further log is begun after this time.
const TIME_MAX: Duration = Duration::from_secs(2);
/// A log that is larger is left out: reading it could take longer than everything else.
const SIZE_MAX: u64 = 128 * 1024 * 1024;

/// The result of reading logs.
#[derive(Debug, Default, PartialEq, Eq)]
struct LogSurvey {
    sound: usize,
    /// The session, and what is wrong.
    damaged: Vec<(SessionId, String)>,
    /// Not read: beyond the count, the time, or the size.
    left_out: usize,
}

/// Reads the newest logs, and names those that are damaged.
pub async fn check(home: &Home) -> Vec<Check> {
    let home = home.clone();
    let read = tokio::task::spawn_blocking(move || look(&home, LOGS_MAX, TIME_MAX, SIZE_MAX));
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
    logs_max: usize,
    time_max: Duration,
    size_max: u64,
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
        if number >= logs_max || begun.elapsed() >= time_max || size > size_max {
            found.left_out += 1;
            continue;
        }
        match store::log::read(&home.session_dir(session), &mut |_| ()) {
            // A torn tail is the end of what was never acknowledged, or a line that is just being written.
            Ok(scan) if scan.damaged() => {
                let why = scan.invalid.unwrap_or_default();
                let what = format!("its log is damaged after record {}: {why}", scan.last);
                found.damaged.push((session, what));
            }
            Ok(scan) if scan.last == proto::Seq(0) => {
                let what = "its log has no complete record".to_owned();
                found.damaged.push((session, what));
            }
            Ok(_) => found.sound += 1,
            Err(error) => found.damaged.push((session, store::reason(&error))),
        }
    }
    Ok(found)
}

/// When a session's log was changed last, and how large it is; what has no log is the oldest.
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
