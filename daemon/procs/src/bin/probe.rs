//! The helper for this crate's tests, and small stand-ins for the daemon and its parent that can be killed.
//!
//! `procs-probe child …` is the helper. `procs-probe host <program> <argument>…` starts a command as the
//! daemon would, prints its process id, and then waits until it is killed; `host-off` does without a process
//! namespace. `procs-probe walled <layers> <walls> <script> [<before>]` runs a script within walls. Several commands are parted by `--`. `procs-probe parent <what> …` starts `procs-probe <what> …` as the daemon's parent would, and
//! again when it was killed, up to `LIVES` (2) times.

use std::io::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use contract::{Command, Spawn};
use futures::StreamExt;
use procs::warden::Ward;
use procs::{Layers, Options, Procs};

type Error = Box<dyn std::error::Error>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let did = match arguments.next().as_deref() {
        Some("child") => std::process::exit(procs::child::child_main()),
        Some("host") => host(arguments.collect(), Layers::Auto),
        Some("host-direct") => host(arguments.collect(), Layers::Direct),
        Some("host-off") => host(arguments.collect(), Layers::Off),
        Some("walled") => walled(arguments.collect()),
        Some("parent") => parent(arguments.collect()),
        other => Err(format!("there is no {other:?}").into()),
    };
    if let Err(error) = did {
        let _ = writeln!(std::io::stderr(), "{error}");
        std::process::exit(1);
    }
}

fn host(argv: Vec<String>, layers: Layers) -> Result<(), Error> {
    procs::harden::daemon()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let procs = Procs::start(Options {
            layers,
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
                walls: None,
                stdin: None,
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

/// Runs `sh -c <script>` within walls, by this layer; prints what it prints, and ends as it ends.
fn walled(arguments: Vec<String>) -> Result<(), Error> {
    let (layers, walls, script, before) = match arguments.as_slice() {
        [layers, walls, script] => (layers, walls, script, ""),
        [layers, walls, script, before] => (layers, walls, script, before.as_str()),
        _ => return Err("walled <layers> <walls> <script> [<before>]".into()),
    };
    let walls: contract::Walls = serde_json::from_str(walls)?;
    let cwd = walls.write.first().cloned().ok_or("no place to write")?;
    procs::harden::daemon()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(async {
        let procs = Procs::start(Options {
            layers: layers_of(layers)?,
            ..Options::of_this_binary()?
        })?;
        let walls = Arc::new(walls);
        let command = |script: &str| Command {
            argv: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
            cwd: cwd.clone(),
            env: environment(),
            title: "walled".to_owned(),
            number: None,
            walls: Some(Arc::clone(&walls)),
            stdin: None,
        };
        let mut running = None;
        if !before.is_empty() {
            let mut child = procs.spawn(proto::Pid(1), command(before)).await?;
            // Its first line says that it is ready.
            child.events.next().await;
            running = Some(child);
        }
        let mut child = procs.spawn(proto::Pid(1), command(script)).await?;
        let mut code = None;
        while let Some(event) = child.events.next().await {
            match event {
                contract::ChildEvent::Stdout(bytes) => std::io::stdout().write_all(&bytes)?,
                contract::ChildEvent::Stderr(bytes) => std::io::stderr().write_all(&bytes)?,
                contract::ChildEvent::Exited(exit) => code = exit.code,
            }
        }
        drop(running);
        procs.shutdown(0).await;
        Ok::<_, Error>(code)
    })?;
    std::process::exit(code.unwrap_or(1))
}

fn layers_of(name: &str) -> Result<Layers, Error> {
    match name {
        "Auto" => Ok(Layers::Auto),
        "Bubblewrap" => Ok(Layers::Bubblewrap),
        "Direct" => Ok(Layers::Direct),
        "Landlock" => Ok(Layers::Landlock),
        "Off" => Ok(Layers::Off),
        other => Err(format!("there is no layer {other}").into()),
    }
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
