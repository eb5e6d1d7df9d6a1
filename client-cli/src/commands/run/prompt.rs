//! The prompt: words of the command line, joined by standard input. Never waits for a silent, open pipe for long.

use std::io::{self, ErrorKind, IsTerminal, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::prompt::Prompt;
use proto::outcome::OutcomeKind;
use proto::{Pid, TextOrigin, frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;

use crate::exit::Error;
use crate::messages::run::Msg;
use crate::{output, reach};

/// Maximum bytes of the output of another `run`, with all its events.
const RUN_OUTPUT_MAX: usize = 256 * 1024 * 1024;

/// How long an open pipe may be silent at first, if there is a prompt without it.
const FIRST_MAX: Duration = Duration::from_millis(300);

/// How long it may be silent at first if it is the prompt.
const ONLY_MAX: Duration = Duration::from_secs(10);

/// The prompt of this command line. `hint`: what to say if there is none.
pub fn gather(words: &[String], hint: &str) -> Result<Prompt, Error> {
    let input = io::stdin();
    let waits = words.iter().any(|word| word == "-");
    let typed: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| *word != "-")
        .collect();
    let typed = typed.join(" ");
    let first = if waits {
        None
    } else if input.is_terminal() {
        return join(&typed, None, hint);
    } else if typed.trim().is_empty() {
        Some(ONLY_MAX)
    } else {
        Some(FIRST_MAX)
    };
    let max = match waits {
        true => RUN_OUTPUT_MAX,
        false => frame::INBOUND_MAX,
    };
    let mut piped = read(&input, input.lock(), first, max)?;
    if waits {
        let text = text_to_attach(piped.unwrap_or_default())?;
        check_length(text.len(), frame::INBOUND_MAX)?;
        piped = Some(text);
    }
    join(&typed, piped, hint)
}

/// Last line of the output of `run --output-format json` or `jsonl`.
#[derive(Deserialize)]
struct PipedResult {
    /// Absent: it failed before there was a session.
    pid: Option<Pid>,
    outcome: String,
    text: String,
    /// Required, so that other JSON with the same names is not taken for a result.
    #[serde(rename = "tool_calls")]
    _tool_calls: u64,
}

/// Returns the text to attach for `-`: the answer if the input is the JSON output of a `run`, else the whole input.
///
/// # Errors
/// The input is empty, or the result of a run that did not complete or has no answer. No request is made then.
fn text_to_attach(piped: String) -> Result<String, Error> {
    if piped.trim().is_empty() {
        return Err(Error::usage(
            say!(Msg::StdinNothing),
            say!(Msg::StdinNothingHint),
        ));
    }
    let last = piped.trim_end().lines().next_back().unwrap_or_default();
    let Ok(result) = serde_json::from_str::<PipedResult>(last) else {
        return Ok(piped);
    };
    let is_complete = result.outcome == OutcomeKind::Completed.as_str();
    if is_complete && !result.text.trim().is_empty() {
        return Ok(result.text);
    }
    let outcome = crate::text::line(&result.outcome);
    Err(match result.pid {
        Some(pid) => Error::usage(
            say!(Msg::PipedNoAnswer, pid, outcome),
            say!(Msg::NoAnswerFromHint, pid),
        ),
        None => Error::usage(
            say!(Msg::PipedNoSession, outcome),
            say!(Msg::StdinNothingHint),
        ),
    })
}

/// A prompt that also refers to these files, so that the daemon attaches them.
///
/// # Errors
/// A file does not exist, or its path cannot be written as a reference.
pub fn with_files(mut prompt: Prompt, files: &[PathBuf]) -> Result<Prompt, Error> {
    for (index, file) in files.iter().enumerate() {
        let separator = if index == 0 { "\n\n" } else { "\n" };
        prompt.text.push_str(separator);
        prompt.text.push_str(&reference(file)?);
    }
    Ok(prompt)
}

/// A file as a reference, with its lines if it is written as `PATH:FIRST-LAST`.
fn reference(file: &Path) -> Result<String, Error> {
    let (file, lines) = match file.to_str().and_then(with_lines) {
        Some((path, lines)) if !file.exists() => (Path::new(path), Some(lines)),
        Some(_) | None => (file, None),
    };
    // As it is written: the daemon must see a link to refuse one that leads out of the workspace.
    let written = std::fs::metadata(file).and_then(|_| std::path::absolute(file));
    let written = written.map_err(|source| {
        let what = match source.kind() {
            ErrorKind::NotFound => say!(Msg::NoFileThere, file.display()),
            _ => say!(Msg::NoFile, file.display(), source),
        };
        Error::usage(what, say!(Msg::NoFileHint))
    })?;
    let path = reach::utf8(&written)?;
    if path.contains(['"', '\n']) {
        return Err(Error::usage(
            say!(Msg::FileName, file.display()),
            say!(Msg::FileNameHint),
        ));
    }
    Ok(match lines {
        Some(lines) => format!("@\"{path}\":{lines}"),
        None => format!("@\"{path}\""),
    })
}

/// A path and its lines: `10` or `10-40`.
fn with_lines(text: &str) -> Option<(&str, &str)> {
    let (path, lines) = text.rsplit_once(':')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_lines = match lines.split_once('-') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(lines),
    };
    (is_lines && !path.is_empty()).then_some((path, lines))
}

fn join(typed: &str, piped: Option<String>, hint: &str) -> Result<Prompt, Error> {
    let piped = piped.unwrap_or_default();
    let mut prompt = Prompt::typed(typed);
    match (typed.trim(), piped.trim()) {
        ("", "") => return Err(Error::usage(say!(Msg::NoPrompt), hint)),
        (_, "") => {}
        ("", _) => {
            prompt = Prompt::default();
            prompt.push_untyped(&piped, TextOrigin::Stdin);
        }
        (_, _) => {
            prompt.text.push_str("\n\n");
            prompt.push_untyped(&piped, TextOrigin::Quoted);
        }
    }
    Ok(prompt)
}

/// Reads to the end, at most `max` bytes. `first`: how long the first byte may take; absent: for ever, as what follows it may. A part of what a
/// program writes would be asked about as if it were all.
fn read(
    fd: &impl AsFd,
    mut input: impl Read,
    first: Option<Duration>,
    max: usize,
) -> Result<Option<String>, Error> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut patience = first;
    loop {
        if !ready(fd, patience)? {
            output::progress(say!(Msg::StdinEmpty));
            return Ok(None);
        }
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Error::io(say!(Msg::DoStdin), source)),
        }
        check_length(bytes.len(), max)?;
        patience = None;
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| Error::usage(say!(Msg::StdinUtf8), say!(Msg::StdinUtf8Hint)))
}

fn check_length(length: usize, max: usize) -> Result<(), Error> {
    match length > max {
        true => Err(Error::usage(
            say!(Msg::StdinLong, max / 1024 / 1024),
            say!(Msg::StdinLongHint),
        )),
        false => Ok(()),
    }
}

/// Whether there is something to read, or the end, within this time.
fn ready(fd: &impl AsFd, patience: Option<Duration>) -> Result<bool, Error> {
    let Some(patience) = patience else {
        return Ok(true);
    };
    let until = std::time::Instant::now() + patience;
    loop {
        let left = until.saturating_duration_since(std::time::Instant::now());
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&timeout)) {
            Ok(count) => return Ok(count > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Error::io(say!(Msg::DoWaitStdin), errno.into())),
        }
    }
}

#[cfg(test)]
mod tests;
