//! `reasonix daemon`: start it, stop it, ask how it is.

use clap::Subcommand;
use client::Start;
use client::start::log_tail;
use proto::hello::Role;
use proto::methods::DaemonStatus;
use proto::params::Empty;
use proto::params::daemon::{ShutdownMode, StatusOutput};
use serde_json::json;

use crate::exit::Error;
use crate::{output, reach, text};

/// Start and stop the daemon, and see how it is.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Start it, unless it runs.
    Start,
    /// Stop it: running turns are interrupted.
    Stop,
    /// Show versions, uptime, memory, sessions and clients.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the end of its log.
    Logs {
        /// So many lines.
        #[arg(short = 'n', long, default_value_t = 100)]
        lines: usize,
    },
}

/// Does it.
pub async fn run(args: Args) -> Result<u8, Error> {
    match args.action {
        Action::Start => start().await,
        Action::Stop => stop().await,
        Action::Status { json } => status(json).await,
        Action::Logs { lines } => logs(lines),
    }
}

async fn start() -> Result<u8, Error> {
    let client = reach::daemon("daemon start").await?;
    let hello = client.hello().await;
    output::progress(&format!(
        "daemon {} runs, version {}",
        hello.daemon.pid,
        text::line(&hello.daemon.version)
    ));
    Ok(0)
}

async fn stop() -> Result<u8, Error> {
    let client = reach::with("daemon stop", |options| options.start = Start::Never).await;
    let client = match client {
        Ok(client) => client,
        Err(Error::Call(client::CallError::Connect(client::ConnectError::Absent { .. }))) => {
            output::progress("no daemon runs");
            return Ok(0);
        }
        Err(error) => return Err(error),
    };
    client.stop(ShutdownMode::Now).await?;
    output::progress("the daemon has stopped");
    Ok(0)
}

async fn status(json: bool) -> Result<u8, Error> {
    let Some(client) = reach::running("daemon status", Role::Watch).await? else {
        reach::say_none(&client::paths::from_env()?);
        if json {
            output::json(&json!({"running": false}))?;
        }
        return Ok(0);
    };
    let status = client.call::<DaemonStatus>(&Empty {}).await?;
    if json {
        let mut value = serde_json::to_value(&status)
            .map_err(|source| Error::io("write JSON", source.into()))?;
        if let Some(object) = value.as_object_mut() {
            object.insert("running".to_owned(), true.into());
        }
        output::json(&value)?;
    } else {
        print(&status)?;
    }
    Ok(0)
}

fn print(status: &StatusOutput) -> Result<(), Error> {
    let sessions = &status.sessions;
    let rows = [
        ("pid", status.pid.to_string()),
        ("version", status.version.clone()),
        ("uptime", format!("{} s", status.uptime_s)),
        ("home", status.home.clone()),
        ("socket", status.socket.clone()),
        ("memory", format!("{} MB", status.memory_bytes / 1_000_000)),
        (
            "sessions",
            format!(
                "{} stored, {} loaded, {} running, {} waiting",
                sessions.stored, sessions.loaded, sessions.running, sessions.waiting
            ),
        ),
        ("confinement", status.confinement.clone()),
    ];
    for (name, value) in rows {
        output::line(&format!("{name:<12} {}", text::line(&value)))?;
    }
    for client in &status.clients {
        let words = format!(
            "{} (process {}, {} s)",
            client.name, client.pid, client.connected_s
        );
        output::line(&format!("{:<12} {}", "client", text::line(&words)))?;
    }
    for problem in &status.problems {
        output::line(&format!("{:<12} {}", "problem", text::line(problem)))?;
    }
    Ok(())
}

fn logs(lines: usize) -> Result<u8, Error> {
    let path = client::paths::from_env()?.log();
    if !path.exists() {
        output::progress(&format!("there is no log yet at `{}`", path.display()));
        return Ok(0);
    }
    for line in log_tail(&path, lines) {
        output::line(&text::line(&line))?;
    }
    Ok(0)
}
