//! `reasonix daemon`: start it, stop it, ask how it is.

use clap::Subcommand;
use client::start::{StartError, find_program, log_tail, program_version};
use client::version::{Skew, skew};
use client::{CallError, Client, ConnectError, Start};
use proto::hello::Role;
use proto::methods::{DaemonStatus, ProcessList};
use proto::params::Empty;
use proto::params::daemon::{ShutdownMode, StatusOutput};
use proto::params::process::ListParams;
use proto::record::ChildKind;
use proto::state::State;
use proto::{ErrorName, Pid};
use schemars::JsonSchema;
use serde::Serialize;

use crate::exit::{self, Error};
use crate::messages::daemon::Msg;
use crate::messages::{Label, translated};
use crate::signals::{OsSignal, Signals};
use crate::{output, reach, text};

/// Start, stop and inspect the daemon.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Start the daemon if it is not running.
    Start,
    /// Stop the daemon: interrupts running turns and lists them.
    Stop {
        /// Let running turns finish first; start no new ones.
        #[arg(long)]
        idle: bool,
    },
    /// Restart with the installed version: running turns pause before their next step and continue afterwards.
    ///
    /// A running command has 5 seconds to finish; then it is ended, and the model is told so. Background commands are
    /// ended.
    Restart,
    /// Show versions, uptime, memory, sessions and clients.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the end of the daemon log.
    Logs {
        /// Number of lines.
        #[arg(short = 'n', long, default_value_t = 100, value_parser = crate::numbers::whole::<usize>(0..=u64::MAX, 100))]
        lines: usize,
    },
}

/// Does it.
pub async fn run(args: Args) -> Result<u8, Error> {
    match args.action {
        Action::Start => start().await,
        Action::Stop { idle } => stop(idle).await,
        Action::Restart => restart().await,
        Action::Status { json } => status(json).await,
        Action::Logs { lines } => logs(lines),
    }
}

async fn start() -> Result<u8, Error> {
    let client = reach::daemon("daemon start").await?;
    let hello = client.hello().await;
    output::progress(&say!(
        Msg::Running,
        hello.daemon.pid,
        text::line(&hello.daemon.version)
    ));
    Ok(0)
}

/// A client of the daemon that runs, whatever its version: the calls made here are the same in all versions.
async fn present(verb: &str) -> Result<Option<Client>, Error> {
    let client = reach::with(verb, |options| {
        options.start = Start::Never;
        options.protocol = [0, u32::MAX];
    });
    match client.await {
        Ok(client) => Ok(Some(client)),
        Err(Error::Call(CallError::Connect(ConnectError::Absent { .. }))) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn stop(idle: bool) -> Result<u8, Error> {
    let mut signals = Signals::listen()?;
    let Some(client) = present("daemon stop").await? else {
        output::progress(say!(Msg::NoDaemon));
        return Ok(0);
    };
    let work = Work::of(&client).await;
    if idle {
        report(say!(Msg::WaitingUntil), &work.sessions);
        report(say!(Msg::WaitingUntil), &work.foreground);
        report(say!(Msg::WaitingUntil), &work.background);
        if let Some(code) = gone(&client, ShutdownMode::Idle, &mut signals).await? {
            return Ok(code);
        }
    } else {
        report(say!(Msg::ToBeEnded), &work.foreground);
        report(say!(Msg::ToBeEnded), &work.background);
        client.stop(ShutdownMode::Now).await?;
        report(say!(Msg::Interrupted), &work.sessions);
    }
    output::progress(say!(Msg::Stopped));
    Ok(0)
}

/// Hands over: the old daemon puts its turns to sleep and goes, the new one wakes them.
async fn restart() -> Result<u8, Error> {
    let mut signals = Signals::listen()?;
    let Some(client) = present("daemon restart").await? else {
        output::progress(say!(Msg::NoDaemon));
        return start().await;
    };
    fits(&client.hello().await.daemon.version).await?;
    let work = Work::of(&client).await;
    report(say!(Msg::HandedOver), &work.sessions);
    report(say!(Msg::ToBeEndedUnless), &work.foreground);
    report(say!(Msg::ToBeEnded), &work.background);
    let gone = match gone(&client, ShutdownMode::HandOver, &mut signals).await {
        // It is too old to know how.
        Err(Error::Call(CallError::Failure(failure)))
            if failure.name == ErrorName::InvalidParams && work.is_empty() =>
        {
            gone(&client, ShutdownMode::Idle, &mut signals).await
        }
        Err(Error::Call(CallError::Failure(failure)))
            if failure.name == ErrorName::InvalidParams =>
        {
            return Err(Error::Failed {
                what: say!(Msg::TooOld).to_owned(),
                hint: say!(Msg::TooOldHint).to_owned(),
            });
        }
        gone => gone,
    };
    match gone? {
        Some(code) => Ok(code),
        None => start().await,
    }
}

/// Looks at what would be started, before anything is stopped: without it there would be no daemon afterwards, and an
/// older one must not take over what a newer one wrote.
async fn fits(running: &str) -> Result<(), Error> {
    let program = find_program().ok_or(ConnectError::from(StartError::NotFound))?;
    let Some(installed) = program_version().await else {
        return Err(ConnectError::from(StartError::Mute { program }).into());
    };
    if skew(&installed, running) == Skew::DaemonNewer {
        return Err(Error::Failed {
            what: say!(Msg::Newer, text::line(running), text::line(&installed)),
            hint: say!(Msg::NewerHint).to_owned(),
        });
    }
    Ok(())
}

/// Waits until the daemon is gone, however long its turns take; a signal ends the waiting and changes nothing.
async fn gone(
    client: &Client,
    mode: ShutdownMode,
    signals: &mut Signals,
) -> Result<Option<u8>, Error> {
    let arrived = tokio::select! {
        gone = client.stop(mode) => return Ok(gone.map(|()| None)?),
        arrived = signals.next() => arrived,
    };
    output::progress(say!(Msg::StillStops));
    Ok(Some(match arrived {
        OsSignal::Int => exit::INTERRUPTED,
        OsSignal::Term => exit::TERMINATED,
        OsSignal::Hup => 0,
    }))
}

/// What a daemon runs.
struct Work {
    /// Sessions that run or wait, by pid and directory.
    sessions: Vec<String>,
    /// Commands that calls wait for, by session: a hand-over lets them finish within a few seconds.
    foreground: Vec<String>,
    /// Commands in the background, by number and session.
    background: Vec<String>,
}

impl Work {
    /// Asks; a daemon that does not answer has none that we could report.
    async fn of(client: &Client) -> Self {
        let list = client.call::<ProcessList>(&ListParams::default()).await;
        let (processes, children) = list.map_or_else(
            |_| Default::default(),
            |list| (list.processes, list.children),
        );
        let sessions = processes
            .iter()
            .filter(|session| matches!(session.state, State::Running | State::Waiting))
            .map(|session| say!(Msg::SessionIn, session.pid, text::line(&session.cwd)));
        // Servers are started again when a session needs them.
        let owned = children
            .iter()
            .filter(|child| child.session != Pid(0) && !child.server);
        let (mut foreground, mut background) = (Vec::new(), Vec::new());
        for child in owned {
            let number = child.pid.map_or_else(String::new, |pid| format!(" {pid}"));
            let (session, line) = (child.session, text::line(&child.command));
            match child.kind {
                ChildKind::Shell => background.push(say!(Msg::ChildOf, number, session, line)),
                ChildKind::Command => foreground.push(say!(Msg::CommandOf, session, line)),
            }
        }
        Self {
            sessions: sessions.collect(),
            foreground,
            background,
        }
    }

    fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.foreground.is_empty() && self.background.is_empty()
    }
}

/// Says on standard error what happens to sessions or commands, a line each.
fn report(fate: &str, items: &[String]) {
    for item in items {
        output::progress(&format!("· {fate}: {item}"));
    }
}

/// What `daemon status --json` prints.
#[derive(Serialize, JsonSchema)]
pub struct Status {
    running: bool,
    /// Absent where none runs.
    #[serde(flatten)]
    status: Option<StatusOutput>,
}

async fn status(json: bool) -> Result<u8, Error> {
    let Some(client) = reach::running("daemon status", Role::Watch).await? else {
        reach::report_no_daemon(&client::paths::from_env()?);
        if json {
            output::json(&Status {
                running: false,
                status: None,
            })?;
        }
        return Ok(0);
    };
    let status = client.call::<DaemonStatus>(&Empty {}).await?;
    if json {
        output::json(&Status {
            running: true,
            status: Some(status),
        })?;
    } else {
        print(&status)?;
    }
    Ok(0)
}

fn print(status: &StatusOutput) -> Result<(), Error> {
    let sessions = &status.sessions;
    let rows = [
        (Label::Pid, status.pid.to_string()),
        (Label::Version, status.version.clone()),
        (Label::Uptime, output::seconds(status.uptime_s)),
        (Label::Home, status.home.clone()),
        (Label::Socket, status.socket.clone()),
        (
            Label::Memory,
            format!("{} MB", status.memory_bytes / 1_000_000),
        ),
        (
            Label::Sessions,
            say!(
                Msg::Counts,
                sessions.stored,
                sessions.loaded,
                sessions.running,
                sessions.waiting
            ),
        ),
        (
            Label::Confinement,
            translated(&status.confinement).into_owned(),
        ),
    ];
    for (name, value) in rows {
        output::fact(name, &value)?;
    }
    for client in &status.clients {
        let words = say!(
            Msg::ClientRow,
            client.name,
            client.kind,
            client.pid,
            client.connected_s
        );
        output::fact(Label::Client, &words)?;
    }
    for problem in &status.problems {
        output::fact(Label::Problem, &translated(problem))?;
    }
    Ok(())
}

fn logs(lines: usize) -> Result<u8, Error> {
    let path = client::paths::from_env()?.log();
    if !path.exists() {
        output::progress(&say!(Msg::NoLogYet, path.display()));
        return Ok(0);
    }
    for line in log_tail(&path, lines) {
        output::line(&text::line(&line))?;
    }
    Ok(0)
}
