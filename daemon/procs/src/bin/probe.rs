//! The helper for this crate's tests, and small stand-ins for the daemon and its parent that can be killed.
//!
//! `procs-probe child …` is the helper. `procs-probe host <program> <argument>…` starts a command as the
//! daemon would, prints its process id, and then waits until it is killed; `host-off` does without a process
//! namespace. Several commands are parted by `--`. `procs-probe parent <what> …` starts `procs-probe <what> …` as the daemon's parent would, and
//! again when it was killed, up to `LIVES` (2) times.

use std::io::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;

use contract::{Command, Spawn};
use futures::StreamExt;
use procs::warden::Ward;
use procs::{Namespaces, Options, Procs};

type Error = Box<dyn std::error::Error>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let did = match arguments.next().as_deref() {
        Some("child") => std::process::exit(procs::child::child_main()),
        Some("host") => host(arguments.collect(), Namespaces::Auto),
        Some("host-off") => host(arguments.collect(), Namespaces::Off),
        Some("parent") => parent(arguments.collect()),
        other => Err(format!("there is no {other:?}").into()),
    };
    if let Err(error) = did {
        let _ = writeln!(std::io::stderr(), "{error}");
        std::process::exit(1);
    }
}

fn host(argv: Vec<String>, namespaces: Namespaces) -> Result<(), Error> {
    procs::harden::daemon()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let procs = Procs::start(Options {
            namespaces,
            ..Options::of_this_binary()?
        })?;
        let (mut os_pids, mut events) = (Vec::new(), Vec::new());
        for argv in argv.split(|argument| argument == "--") {
            let command = Command {
                argv: argv.to_vec(),
                cwd: PathBuf::from("/"),
                env: environment(),
                title: "hosted".to_owned(),
                number: None,
            };
            let child = procs.spawn(proto::Pid(1), command).await?;
            os_pids.push(child.os_pid.to_string());
            events.push(child.events);
        }
        writeln!(std::io::stdout(), "{}", os_pids.join(" "))?;
        let mut events = futures::stream::select_all(events);
        while let Some(event) = events.next().await {
            if let contract::ChildEvent::Exited(exit) = event {
                writeln!(std::io::stdout(), "exited, swept {}", exit.swept)?;
            }
        }
        // What a killed command left is cleared away; the daemon lives on.
        std::future::pending::<()>().await;
        Ok(())
    })
}

/// `PATH`, which life of the host it is, and the mark that the host itself must not bear.
fn environment() -> Vec<(String, String)> {
    [("PATH", "PATH"), ("LIFE", "LIFE"), ("HOSTED", "MARK")]
        .into_iter()
        .filter_map(|(here, there)| Some((there.to_owned(), std::env::var(here).ok()?)))
        .collect()
}

fn parent(arguments: Vec<String>) -> Result<(), Error> {
    let ward = Ward::begin();
    let lives = std::env::var("LIVES").map_or(Ok(2), |lives| lives.parse())?;
    for life in 1..=lives {
        let mut command = std::process::Command::new(procs::options::this_binary()?);
        command.args(&arguments).env("LIFE", life.to_string());
        ward.start(command)?;
        let status = ward.wait()?;
        let clear = ward.bury();
        writeln!(std::io::stdout(), "life {life} ended, all clear: {clear}")?;
        if status.signal().is_none() {
            break;
        }
    }
    Ok(())
}
