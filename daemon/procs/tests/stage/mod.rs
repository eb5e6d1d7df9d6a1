//! Shared by all tests: commands, their results, and finding remaining processes.
#![allow(dead_code, unused_imports, reason = "each test file uses only a part")]

pub mod room;

pub use std::path::PathBuf;
pub use std::sync::Arc;
pub use std::time::{Duration, Instant};

pub use contract::{Child, ChildEvent, ChildExit, Command, Spawn, Stdin};
pub use futures::StreamExt;
pub use procs::{BackendChoice, HelperProgram, Procs, ProcsOptions, ResourceLimits};
pub use proto::Pid;

pub use crate::{BACKEND, HOST};

pub const SESSION: Pid = Pid(7);
/// Longer than any test takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub fn options() -> ProcsOptions {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_procs-probe"));
    let helper = HelperProgram {
        program,
        arguments: vec!["child".into()],
    };
    ProcsOptions {
        helper,
        limits: ResourceLimits::default(),
        umask: None,
        layers: BACKEND,
        // A room has its own. This one nobody can make: one that all tests shared would belong to one user.
        quarantine: PathBuf::from("/dev/null/quarantine"),
        memory_groups: true,
        commands_max: 1_000,
        supervisor: None,
    }
}

pub fn procs() -> Arc<Procs> {
    Procs::start(options()).unwrap()
}

pub fn command(argv: &[&str]) -> Command {
    Command {
        argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
        cwd: PathBuf::from("/"),
        env: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
        title: argv.join(" "),
        number: None,
        sandbox: None,
        stdin: contract::Stdin::Empty,
        merge_stderr: false,
    }
}

pub fn sh(script: &str) -> Command {
    command(&["sh", "-c", script])
}

/// The result of a command.
#[derive(Debug, Default, PartialEq)]
pub struct CommandResult {
    pub out: String,
    pub err: String,
    pub exit: Option<ChildExit>,
    /// Paths of what was moved away.
    pub quarantined: Vec<String>,
}

pub async fn finish(mut child: Child) -> CommandResult {
    let mut done = CommandResult::default();
    let all = async {
        while let Some(event) = child.events.next().await {
            assert!(
                done.exit.is_none(),
                "something came after the exit: {event:?}"
            );
            match event {
                ChildEvent::Stdout(bytes) => done.out.push_str(&String::from_utf8_lossy(&bytes)),
                ChildEvent::Stderr(bytes) => done.err.push_str(&String::from_utf8_lossy(&bytes)),
                ChildEvent::Quarantined(items) => {
                    let paths = items.into_iter().map(|item| item.path);
                    done.quarantined.extend(paths);
                }
                ChildEvent::Exited(exit) => done.exit = Some(exit),
            }
        }
    };
    tokio::time::timeout(PATIENCE, all)
        .await
        .expect("the child ends");
    done
}

pub async fn run(command: Command) -> CommandResult {
    let procs = procs();
    let done = finish(procs.spawn(SESSION, command).await.unwrap()).await;
    assert_eq!(procs.count(), 0);
    done
}

pub async fn refused(command: Command) -> String {
    let procs = procs();
    let Err(error) = procs.spawn(SESSION, command).await else {
        panic!("it started")
    };
    assert_eq!(procs.count(), 0);
    error.to_string()
}

pub fn code(done: &CommandResult) -> Option<i32> {
    done.exit.and_then(|exit| exit.code)
}

/// Waits until a line is printed.
pub async fn line(child: &mut Child) -> String {
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

/// Processes (except zombies) with this text in their arguments, in this test or anywhere else.
pub fn with_argument(text: &str) -> Vec<String> {
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

pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A number of seconds that only one test sleeps for.
pub fn mark(scene: u32) -> String {
    format!(
        "{}",
        1_000_000_000_u64 + u64::from(std::process::id()) * 100 + u64::from(scene)
    )
}

/// Processes (except zombies) with `MARK=<mark>` in their environment.
pub fn marked(mark: &str) -> Vec<u32> {
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

pub fn marked_sh(script: &str, mark: &str) -> Command {
    let mut command = sh(script);
    command.env.push(("MARK".to_owned(), mark.to_owned()));
    command
}

/// Waits until no process has the mark, up to the time limit of a cleanup.
pub async fn gone(mark: &str) {
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

/// The helper of a command: its parent, by process ids outside.
pub fn holder(os_pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{os_pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_whitespace().nth(1).unwrap().to_owned()
}

pub fn kill(signal: &str, os_pid: &str) -> bool {
    std::process::Command::new("kill")
        .args([signal, os_pid])
        .status()
        .unwrap()
        .success()
}

/// Whether commands get a namespace here. Tests that need one report it if not.
pub async fn in_a_namespace(procs: &Procs) -> bool {
    finish(procs.spawn(SESSION, sh("true")).await.unwrap()).await;
    let mechanism = procs.mechanism();
    let is = matches!(mechanism, procs::Mechanism::Namespace { .. });
    if BACKEND == BackendChoice::Auto {
        testkit::skip::unless(is, &format!("a process namespace ({mechanism})"));
    }
    is
}

/// Prints a figure or a skipped test for whoever runs the tests, even if they pass.
pub fn say(text: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
}
