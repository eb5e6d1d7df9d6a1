//! Commands as the daemon runs them, from start to nothing left.
//!
//! Each scene starts real processes and waits for what must become true. A process is followed by a number
//! that nothing else uses: the argument of a `sleep`, or a mark in its environment. All of them are played
//! in both ways in which commands are held: see the two files above this folder.

mod cost;
mod limits;
mod nothing_left;
mod refused;
mod start;
mod stop;
mod survive;
mod whole;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{Child, ChildEvent, ChildExit, Command, Spawn};
use futures::StreamExt;
use procs::{Helper, Limits, Namespaces, Options, Procs};
use proto::Pid;

use crate::{HOST, WAY};

const SESSION: Pid = Pid(7);
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn options() -> Options {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_procs-probe"));
    let helper = Helper {
        program,
        arguments: vec!["child".into()],
    };
    Options {
        helper,
        limits: Limits::default(),
        umask: None,
        namespaces: WAY,
        warden: None,
    }
}

fn procs() -> Arc<Procs> {
    Procs::start(options()).unwrap()
}

fn command(argv: &[&str]) -> Command {
    Command {
        argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
        cwd: PathBuf::from("/"),
        env: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
        title: argv.join(" "),
        number: None,
    }
}

fn sh(script: &str) -> Command {
    command(&["sh", "-c", script])
}

/// What a command came to.
#[derive(Debug, Default, PartialEq)]
struct Done {
    out: String,
    err: String,
    exit: Option<ChildExit>,
}

async fn finish(mut child: Child) -> Done {
    let mut done = Done::default();
    let all = async {
        while let Some(event) = child.events.next().await {
            assert!(
                done.exit.is_none(),
                "something came after the exit: {event:?}"
            );
            match event {
                ChildEvent::Stdout(bytes) => done.out.push_str(&String::from_utf8_lossy(&bytes)),
                ChildEvent::Stderr(bytes) => done.err.push_str(&String::from_utf8_lossy(&bytes)),
                ChildEvent::Exited(exit) => done.exit = Some(exit),
            }
        }
    };
    tokio::time::timeout(PATIENCE, all)
        .await
        .expect("the child ends");
    done
}

async fn run(command: Command) -> Done {
    let procs = procs();
    let done = finish(procs.spawn(SESSION, command).await.unwrap()).await;
    assert_eq!(procs.count(), 0);
    done
}

async fn refused(command: Command) -> String {
    let procs = procs();
    let Err(error) = procs.spawn(SESSION, command).await else {
        panic!("it started")
    };
    assert_eq!(procs.count(), 0);
    error.to_string()
}

fn code(done: &Done) -> Option<i32> {
    done.exit.and_then(|exit| exit.code)
}

/// Waits until a line is printed.
async fn line(child: &mut Child) -> String {
    let mut text = String::new();
    let read = async {
        while !text.contains('\n') {
            match child.events.next().await {
                Some(ChildEvent::Stdout(bytes)) => text.push_str(&String::from_utf8_lossy(&bytes)),
                other => panic!("no line, but {other:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, read)
        .await
        .expect("a line is printed");
    text
}

/// Processes (no zombies) with this text among their arguments, in the test's process or anywhere else.
fn with_argument(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        let arguments = std::fs::read(path.join("cmdline")).unwrap_or_default();
        if arguments
            .split(|byte| *byte == 0)
            .any(|argument| argument == text.as_bytes())
        {
            found.push(format!(
                "{}: {}",
                path.display(),
                String::from_utf8_lossy(&arguments)
            ));
        }
    }
    found
}

async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A number of seconds that only one scene sleeps for.
fn mark(scene: u32) -> String {
    format!(
        "{}",
        1_000_000_000_u64 + u64::from(std::process::id()) * 100 + u64::from(scene)
    )
}

/// Processes (no zombies) whose environment says `MARK=<mark>`.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("MARK={mark}");
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let environment = std::fs::read(path.join("environ")).ok()?;
            let is_marked = environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == wanted.as_bytes());
            path.file_name()?
                .to_str()?
                .parse()
                .ok()
                .filter(|_| is_marked)
        })
        .collect()
}

fn marked_sh(script: &str, mark: &str) -> Command {
    let mut command = sh(script);
    command.env.push(("MARK".to_owned(), mark.to_owned()));
    command
}

/// Waits until nothing bears the mark, for as long as an end may take.
async fn gone(mark: &str) {
    let begun = Instant::now();
    while !marked(mark).is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(3),
            "left: {:?}",
            marked(mark)
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The process that holds a command: its parent, by our numbers.
fn holder(os_pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{os_pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_whitespace().nth(1).unwrap().to_owned()
}

fn kill(signal: &str, os_pid: &str) -> bool {
    std::process::Command::new("kill")
        .args([signal, os_pid])
        .status()
        .unwrap()
        .success()
}

/// Whether commands get a namespace here; the tests that need one say so where there is none.
async fn in_a_namespace(procs: &Procs) -> bool {
    finish(procs.spawn(SESSION, sh("true")).await.unwrap()).await;
    let mechanism = procs.mechanism();
    let is = matches!(mechanism, procs::Mechanism::Namespace { .. });
    if !is && WAY == Namespaces::Auto {
        say(&format!("SKIPPED, no process namespace here: {mechanism}"));
    }
    is
}

/// For who runs the tests, whether they pass or not: a figure, or what was skipped.
fn say(text: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
}
