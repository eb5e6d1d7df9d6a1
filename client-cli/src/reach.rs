//! From a command's name to a connected client, and small questions that several commands ask of it.

use std::path::{Path, PathBuf};

use client::{
    CallError, Client, ConnectError, DecodedEvent, Listener, Options, Paths, SilenceNotice, Start,
};
use futures::future::BoxFuture;
use proto::Seq;
use proto::hello::Role;
use proto::methods::SessionList;
use proto::params::session::{ListParams, SessionSummary};
use proto::state::State;

use crate::exit::Error;
use crate::messages::common::Msg;
use crate::output;

/// Connects as `reasonix <verb>`, starting a daemon if none answers.
pub async fn daemon(verb: &str) -> Result<Client, Error> {
    with(verb, |_| {}).await
}

/// The same with other options.
pub async fn with(verb: &str, change: impl FnOnce(&mut Options)) -> Result<Client, Error> {
    let name = called(&format!("reasonix {verb}"));
    let mut options = Options::new(client::paths::from_env()?, &name);
    options.listener = Some(Listener::new(report));
    change(&mut options);
    connect(options).await
}

/// Boxed, so that its code is built once and not for each caller of [`with`].
fn connect(options: Options) -> BoxFuture<'static, Result<Client, Error>> {
    Box::pin(async { Ok(Client::connect(options).await?) })
}

/// The name under which others see this client's actions: the user's, or the program's if the environment has none.
pub fn called(program: &str) -> String {
    let names = ["USER", "LOGNAME"].into_iter();
    let mut names = names.filter_map(|name| std::env::var(name).ok());
    let name = names.find(|name| !name.trim().is_empty());
    name.unwrap_or_else(|| program.to_owned())
}

/// Says that the daemon does not answer, while we wait for it.
fn report(state: SilenceNotice) {
    match state {
        SilenceNotice::NoAnswer { after } => {
            output::progress(&say!(Msg::NoAnswerYet, after.as_secs()))
        }
        SilenceNotice::Answers => output::progress(say!(Msg::AnswersAgain)),
    }
}

/// Every durable event of a session from one on, whole, page by page.
pub async fn read(
    client: &Client,
    session: &str,
    from: Seq,
    mut each: impl FnMut(&DecodedEvent) -> Result<(), Error>,
) -> Result<(), Error> {
    client.read(session, from, None, |event| each(&event)).await
}

/// Refuses a turn that a session has not begun yet.
pub async fn has_turn(client: &Client, session: &str, turn: u64) -> Result<(), Error> {
    let summary = client.session(session).await?;
    if (1..=summary.turns).contains(&turn) {
        return Ok(());
    }
    let hint = match summary.turns {
        0 => say!(Msg::NoTurns).to_owned(),
        1 => say!(Msg::OneTurn).to_owned(),
        turns => say!(Msg::ManyTurns, turns),
    };
    Err(Error::usage(say!(Msg::TurnMissing, turn), hint))
}

/// Connects only if a daemon runs.
pub async fn running(verb: &str, role: Role) -> Result<Option<Client>, Error> {
    let client = with(verb, |options| {
        options.start = Start::Never;
        options.role = role;
    });
    match client.await {
        Ok(client) => Ok(Some(client)),
        Err(Error::Call(CallError::Connect(ConnectError::Absent { .. }))) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Says that no daemon runs, and the sessions that ran when it ended.
pub fn report_no_daemon(paths: &Paths) {
    output::progress(say!(Msg::NoDaemon));
    let open: Vec<String> = std::fs::read_dir(paths.home.join("open"))
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect()
        })
        .unwrap_or_default();
    if !open.is_empty() {
        output::progress(&say!(Msg::Unfinished, crate::text::line(&open.join(", "))));
        output::progress(say!(Msg::StartContinues));
    }
}

/// The working directory, as a session stores it.
pub fn cwd(asked: Option<&Path>) -> Result<PathBuf, Error> {
    match asked {
        None => std::env::current_dir().map_err(|source| Error::io(say!(Msg::DoCwd), source)),
        Some(path) => directory(path, "--cwd"),
    }
}

/// A directory, absolute and without links. `option`: where the user named it.
pub fn directory(path: &Path, option: &str) -> Result<PathBuf, Error> {
    let refused = |hint| Error::usage(say!(Msg::NotDirectory, path.display()), hint);
    let real = path
        .canonicalize()
        .map_err(|_| refused(say!(Msg::DirectoryExists, option)))?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(refused(say!(Msg::NeedsDirectory, option))),
    }
}

/// The directory as text: the protocol speaks UTF-8.
pub fn utf8(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::usage(
            say!(Msg::PathNotUtf8, path.display()),
            say!(Msg::PathNotUtf8Hint),
        )
    })
}

/// The session of a directory that was active last.
pub async fn last_session(client: &Client, cwd: &str) -> Result<SessionSummary, Error> {
    let last = last_if_any(client, cwd).await?;
    last.ok_or_else(|| no_session_error(cwd))
}

/// The same for a caller that creates one if there is none: `None` only if that is certain.
pub async fn last_if_any(client: &Client, cwd: &str) -> Result<Option<SessionSummary>, Error> {
    Ok(active_last(newest(client, cwd).await?))
}

/// The error for a directory without a session.
pub fn no_session_error(cwd: &str) -> Error {
    Error::usage(say!(Msg::NoSessionHere, cwd), say!(Msg::NoSessionHereHint))
}

/// The one that was active last, whatever the others do.
fn active_last(sessions: Vec<SessionSummary>) -> Option<SessionSummary> {
    let at = |session: &SessionSummary| std::cmp::Reverse(session.active_at);
    sessions.into_iter().min_by_key(at)
}

/// Whether a session of a directory is at work, or waits, however many are newer.
pub async fn any_live(client: &Client, cwd: &str) -> Result<bool, Error> {
    for state in [State::Running, State::Waiting, State::Paused] {
        let params = ListParams {
            cwd: Some(cwd.to_owned()),
            state: Some(state),
            limit: 1,
            ..ListParams::default()
        };
        let found = client.call::<SessionList>(&params).await?.sessions;
        if !found.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sessions among which the one that was active last is looked for: they come by their age.
const NEWEST: u64 = 100;

async fn newest(client: &Client, cwd: &str) -> Result<Vec<SessionSummary>, Error> {
    let params = ListParams {
        cwd: Some(cwd.to_owned()),
        limit: NEWEST,
        ..ListParams::default()
    };
    Ok(client.call::<SessionList>(&params).await?.sessions)
}

#[cfg(test)]
mod tests;
