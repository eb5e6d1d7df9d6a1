//! The helper for this crate's tests, and small stand-ins for the daemon and its parent that tests
//! can kill.
//!
//! - `procs-probe child …` is the helper.
//! - `procs-probe host <program> <argument>…` starts a command like the daemon, prints its process
//!   id, and waits until it is killed. `host-off` uses no process namespace. `--` separates several
//!   commands.
//! - `procs-probe sandboxed <backend> <spec> <script> [<before>]` runs a script in a sandbox. Its
//!   quarantine is beside the temporary directory.
//! - `procs-probe parent <what> …` starts `procs-probe <what> …` like the daemon's parent, and
//!   again after it was killed, up to `LIVES` (2) times.

use std::io::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use contract::{Command, SandboxSpec, Spawn};
use futures::StreamExt;
use procs::supervisor::DaemonSupervisor;
use procs::{BackendChoice, Procs, ProcsOptions};

type Error = Box<dyn std::error::Error>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let did = match arguments.next().as_deref() {
        Some("child") => std::process::exit(procs::child::child_main()),
        Some("host") => host(arguments.collect(), BackendChoice::Auto),
        Some("host-direct") => host(arguments.collect(), BackendChoice::Direct),
        Some("host-off") => host(arguments.collect(), BackendChoice::Off),
        Some("sandboxed") => sandboxed(arguments.collect()),
        Some("parent") => parent(arguments.collect()),
        other => Err(format!("there is no {other:?}").into()),
    };
    if let Err(error) = did {
        let _ = writeln!(std::io::stderr(), "{error}");
        std::process::exit(1);
    }
}

fn host(argv: Vec<String>, layers: BackendChoice) -> Result<(), Error> {
    procs::harden::daemon()?;
    runtime()?.block_on(async {
        let procs = Procs::start(ProcsOptions {
            layers,
            // Without a sandbox nothing comes into it.
            ..ProcsOptions::of_this_binary(std::env::temp_dir())?
        })?;
        let (mut os_pids, mut events) = (Vec::new(), Vec::new());
        for argv in argv.split(|argument| argument == "--") {
            let command = command(argv.to_vec(), PathBuf::from("/"), None);
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
        // The processes of a killed command are cleaned up, and the daemon keeps running.
        std::future::pending::<()>().await;
        Ok(())
    })
}

/// Runs `sh -c <script>` in a sandbox of this backend. Prints its output and exits with its code.
fn sandboxed(arguments: Vec<String>) -> Result<(), Error> {
    let (layers, sandbox, script, before) = match arguments.as_slice() {
        [layers, sandbox, script] => (layers, sandbox, script, ""),
        [layers, sandbox, script, before] => (layers, sandbox, script, before.as_str()),
        _ => return Err("sandboxed <layers> <sandbox> <script> [<before>]".into()),
    };
    let sandbox: SandboxSpec = serde_json::from_str(sandbox)?;
    let cwd = sandbox.write.first().cloned().ok_or("no place to write")?;
    let quarantine = sandbox.temp.with_file_name("quarantine");
    procs::harden::daemon()?;
    let code = runtime()?.block_on(async {
        let procs = Procs::start(ProcsOptions {
            layers: layers_of(layers)?,
            ..ProcsOptions::of_this_binary(quarantine)?
        })?;
        let sandbox = Arc::new(sandbox);
        let command = |script: &str| {
            let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
            command(argv, cwd.clone(), Some(Arc::clone(&sandbox)))
        };
        let mut running = None;
        if !before.is_empty() {
            let mut child = procs.spawn(proto::Pid(1), command(before)).await?;
            // Its first line reports that it is ready.
            child.events.next().await;
            running = Some(child);
        }
        let mut child = procs.spawn(proto::Pid(1), command(script)).await?;
        let mut code = None;
        while let Some(event) = child.events.next().await {
            match event {
                contract::ChildEvent::Stdout(bytes) => std::io::stdout().write_all(&bytes)?,
                contract::ChildEvent::Stderr(bytes) => std::io::stderr().write_all(&bytes)?,
                contract::ChildEvent::Quarantined(items) => {
                    for item in items {
                        writeln!(std::io::stderr(), "quarantined {}", item.path)?;
                    }
                }
                contract::ChildEvent::Exited(exit) => code = exit.code,
            }
        }
        drop(running);
        procs.shutdown(0).await;
        Ok::<_, Error>(code)
    })?;
    std::process::exit(code.unwrap_or(1))
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build()
}

fn command(argv: Vec<String>, cwd: PathBuf, sandbox: Option<Arc<SandboxSpec>>) -> Command {
    Command {
        argv,
        cwd,
        env: environment(),
        title: "hosted".to_owned(),
        number: None,
        sandbox,
        stdin: contract::Stdin::Empty,
        merge_stderr: false,
    }
}

fn layers_of(name: &str) -> Result<BackendChoice, Error> {
    match name {
        "Auto" => Ok(BackendChoice::Auto),
        "Bubblewrap" => Ok(BackendChoice::Bubblewrap),
        "Direct" => Ok(BackendChoice::Direct),
        "Landlock" => Ok(BackendChoice::Landlock),
        "Off" => Ok(BackendChoice::Off),
        other => Err(format!("there is no layer {other}").into()),
    }
}

/// `PATH`, the number of the host's life, and the mark that the host itself must not have.
fn environment() -> Vec<(String, String)> {
    [("PATH", "PATH"), ("LIFE", "LIFE"), ("HOSTED", "MARK")]
        .into_iter()
        .filter_map(|(here, there)| Some((there.to_owned(), std::env::var(here).ok()?)))
        .collect()
}

fn parent(arguments: Vec<String>) -> Result<(), Error> {
    let ward = DaemonSupervisor::begin();
    let lives = std::env::var("LIVES").map_or(Ok(2), |lives| lives.parse())?;
    for life in 1..=lives {
        let mut command = std::process::Command::new(procs::options::this_binary()?);
        command.args(&arguments).env("LIFE", life.to_string());
        ward.start(command)?;
        let status = ward.wait()?;
        let clear = ward.kill_leftovers();
        writeln!(std::io::stdout(), "life {life} ended, all clear: {clear}")?;
        if status.signal().is_none() {
            break;
        }
    }
    Ok(())
}
