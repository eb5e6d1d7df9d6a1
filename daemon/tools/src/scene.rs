//! The stage of the tools' scenes: a workspace in a temporary directory, and a spawner that starts real processes.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract::spawn::ChildControl;
use contract::tool::{Cancel, Progress, SkillLibrary, SkillLoad};
use contract::{
    CallContext, Child, ChildEvent, ChildExit, Command, Outcome, Spawn, SpawnError, Tool,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use knowledge::memory::FactStores;
use proto::item::{CallStatus, Display};
use proto::{CallId, Pid, SessionId};
use rustix::process::{Signal, kill_process_group};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::sync::{mpsc, watch};
use workspace::{Workspace, WorkspaceOptions};

use crate::Memory;

/// `top/ws` is the workspace, `top/out/canary` a file outside, `top/home` the user's home.
pub(crate) struct Scene {
    /// Held: dropping it deletes the files.
    _dir: TempDir,
    pub(crate) top: PathBuf,
    pub(crate) context: CallContext,
    pub(crate) memory: Arc<Memory>,
    pub(crate) shown: Arc<RecordedProgress>,
    pub(crate) cancel: watch::Sender<bool>,
    pub(crate) numbers: Arc<Numbers>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for name in ["ws", "out/d", "home/.reasonix/spill", "extra"] {
            std::fs::create_dir_all(top.join(name)).unwrap();
        }
        std::fs::write(top.join("out/canary"), "CANARY\n").unwrap();
        let workspace = Workspace::open(WorkspaceOptions {
            temp: None,
            root: top.join("ws"),
            cwd: top.join("ws"),
            extra_writable: vec![top.join("extra")],
            masked: vec![top.join("home/.reasonix")],
            readable: vec![top.join("home/.reasonix/spill")],
            deny_read: vec!["denied/**".into()],
            user_home: top.join("home"),
        })
        .unwrap();
        let facts = FactStores::new(
            top.join("home/.reasonix/memory"),
            top.join("home/.reasonix/project/memory"),
        );
        let memory = Memory::with_facts(Arc::new(workspace), facts);
        let shown = Arc::new(RecordedProgress::default());
        let (cancel, cancelled) = watch::channel(false);
        let numbers = Arc::new(Numbers::default());
        let path = std::env::var("PATH").unwrap_or_default();
        let context = CallContext {
            session: Pid(1),
            session_id: SessionId::default(),
            call: CallId::from("call-1"),
            cwd: top.join("ws"),
            env: Arc::new(vec![
                ("PATH".into(), path),
                ("HOME".into(), top.join("home").to_string_lossy().into()),
            ]),
            spill_dir: top.join("home/.reasonix/spill"),
            spawn: Arc::new(Processes),
            memory: memory.clone(),
            tools: crate::BuiltIn::default().set(crate::Options::default()),
            progress: shown.clone(),
            questions: Arc::new(()),
            cancel: Arc::new(Cancelled(cancelled)),
            shells: numbers.clone(),
            agents: Arc::new(()),
            skills: Arc::new(NoSkills),
            history: Arc::new(()),
            sandbox: None,
            path: None,
        };
        Self {
            _dir: dir,
            top,
            context,
            memory,
            shown,
            cancel,
            numbers,
        }
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.top.join("ws").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.top.join("ws").join(name)).unwrap()
    }

    /// One call, as the engine makes it: parsed, then run.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Outcome {
        let tool = tool_named(tool);
        match tool.parse(&object(arguments)) {
            Ok(arguments) => tool.run(arguments, self.context.clone()).await,
            Err(outcome) => outcome,
        }
    }

    /// The text of a call that must succeed.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> String {
        let outcome = self.call(tool, arguments).await;
        assert_eq!(outcome.status, CallStatus::Ok, "{}", outcome.text);
        outcome.text
    }

    /// The text of a call that must fail.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> String {
        let outcome = self.call(tool, arguments).await;
        assert!(
            matches!(outcome.status, CallStatus::Failed | CallStatus::Refused),
            "{}",
            outcome.text
        );
        outcome.text
    }

    /// What a person would be shown before the call.
    pub(crate) fn preview(&self, tool: &str, arguments: Value) -> Result<Display, Outcome> {
        let tool = tool_named(tool);
        let arguments = tool.parse(&object(arguments))?;
        tool.preview(&arguments, &self.context)
            .map(|preview| preview.display)
    }
}

pub(crate) fn tool_named(name: &str) -> Arc<dyn Tool> {
    let tools = crate::BuiltIn::default().set(crate::Options::default());
    Arc::clone(tools.get(name).unwrap())
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The output that was shown while tools ran.
#[derive(Default)]
pub(crate) struct RecordedProgress(Mutex<String>);

impl RecordedProgress {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Progress for RecordedProgress {
    fn output(&self, text: &str) {
        let mut shown = self.0.lock().unwrap();
        // Enough for every scene; a flood is not kept.
        if shown.len() < 1 << 20 {
            shown.push_str(text);
        }
    }
}

/// Numbers from 1 on, and the reports of children.
#[derive(Default)]
pub(crate) struct Numbers {
    pub(crate) last: std::sync::atomic::AtomicU64,
    pub(crate) spawned: Mutex<Vec<proto::record::ChildSpawned>>,
    pub(crate) exited: Mutex<Vec<proto::record::ChildExited>>,
}

impl contract::tool::Shells for Numbers {
    fn number(&self) -> BoxFuture<'static, Result<Pid, String>> {
        let number = self.last.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        async move { Ok(Pid(number)) }.boxed()
    }

    fn spawned(&self, child: proto::record::ChildSpawned) {
        self.spawned.lock().unwrap().push(child);
    }

    fn exited(&self, child: proto::record::ChildExited) {
        self.exited.lock().unwrap().push(child);
    }

    fn quarantined(&self, _: Vec<contract::Quarantined>) {}
}

struct Cancelled(watch::Receiver<bool>);

impl Cancel for Cancelled {
    fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        let mut cancelled = self.0.clone();
        async move {
            if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
                std::future::pending().await
            }
        }
        .boxed()
    }
}

/// Starts each command in a process group of its own.
struct Processes;

struct Group {
    id: rustix::process::Pid,
}

impl ChildControl for Group {
    fn stop(&self, grace_ms: u64) {
        let id = self.id;
        let _ = kill_process_group(
            id,
            if grace_ms == 0 {
                Signal::KILL
            } else {
                Signal::TERM
            },
        );
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(grace_ms)).await;
            let _ = kill_process_group(id, Signal::KILL);
        });
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(self.id, Signal::KILL);
    }
}

impl Spawn for Processes {
    fn spawn(&self, _: Pid, command: Command) -> BoxFuture<'static, Result<Child, SpawnError>> {
        async move { start(&command) }.boxed()
    }

    fn running(&self, _: Pid) -> Vec<proto::params::process::ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

fn start(command: &Command) -> Result<Child, SpawnError> {
    let failed = |reason: String| SpawnError::Start {
        program: command.argv[0].clone(),
        reason,
    };
    assert!(
        command.argv[0].starts_with('/'),
        "the shell is named by its absolute path"
    );
    assert!(command.merge_stderr, "what it writes arrives in order");
    let (output, input) = std::io::pipe().unwrap();
    let errors = input.try_clone().unwrap();
    let mut child = tokio::process::Command::new(&command.argv[0])
        .args(&command.argv[1..])
        .current_dir(&command.cwd)
        .env_clear()
        .envs(command.env.iter().cloned())
        .stdin(Stdio::null())
        .stdout(input)
        .stderr(errors)
        .process_group(0)
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let os_pid = child.id().unwrap();
    let id = rustix::process::Pid::from_raw(os_pid.try_into().unwrap()).unwrap();
    // Bounded: the child waits while nobody takes its output.
    let (events, taken) = mpsc::channel(4);
    let mut output = tokio::net::unix::pipe::Receiver::from_owned_fd(output.into()).unwrap();
    let taken_events = events.clone();
    let pump = tokio::spawn(async move {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = output.read(&mut buffer).await {
            let _ = taken_events
                .send(ChildEvent::Stdout(buffer[..count].to_vec()))
                .await;
        }
    });
    tokio::spawn(async move {
        use std::os::unix::process::ExitStatusExt;
        let status = child.wait().await.unwrap();
        let swept = u32::from(kill_process_group(id, Signal::KILL).is_ok());
        let _ = pump.await;
        let exit = ChildExit {
            code: status.code(),
            signal: status.signal(),
            swept,
            over_memory: None,
        };
        let _ = events.send(ChildEvent::Exited(exit)).await;
    });
    let events = futures::stream::unfold(taken, |mut taken| async move {
        Some((taken.recv().await?, taken))
    });
    Ok(Child {
        os_pid,
        events: events.boxed(),
        control: Box::new(Group { id }),
    })
}

/// A session without skills.
struct NoSkills;

impl SkillLibrary for NoSkills {
    fn load(&self, name: &str, arguments: &str) -> Result<SkillLoad, Outcome> {
        Err(Outcome::refused(format!("no skill `{name}` ({arguments})")))
    }
}
