//! The helper for this crate's tests, and a small stand-in for the daemon that can be killed.
//!
//! `procs-probe child …` is the helper. `procs-probe host <program> <argument>…` starts a command as the
//! daemon would, prints its process id, and then waits until it is killed.

use std::io::Write;
use std::path::PathBuf;

use contract::{Command, Spawn};
use futures::StreamExt;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let code = match arguments.next().as_deref() {
        Some("child") => procs::child::child_main(),
        Some("host") => match host(arguments.collect()) {
            Ok(()) => 0,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "{error}");
                1
            }
        },
        _ => 2,
    };
    std::process::exit(code);
}

fn host(argv: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    procs::harden::daemon()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let procs = procs::Procs::start(procs::Options::of_this_binary()?)?;
        let path = ("PATH".to_owned(), std::env::var("PATH")?);
        let command = Command {
            argv,
            cwd: PathBuf::from("/"),
            env: vec![path],
            title: "hosted".to_owned(),
        };
        let mut child = procs.spawn(proto::Pid(1), command).await?;
        writeln!(std::io::stdout(), "{}", child.os_pid)?;
        while child.events.next().await.is_some() {}
        Ok(())
    })
}
