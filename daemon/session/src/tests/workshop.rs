//! A home, a project in a git work tree, and a model that follows its script: its tools change real files.

use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use contract::provider::{Part, Provider, ProviderError, Request};
use contract::spawn::ChildControl;
use contract::{
    ArgumentUse, CallContext, Child, ChildEvent, ChildExit, Codec, Family, Outcome, Preview, Spawn,
    SpawnError, Tool, ToolSet, ToolSpec,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use proto::item::{CallStatus, Display, Finish, ToolCall};
use proto::params::history::{RewindOutput, RewindParams, What};
use proto::params::session::{CreateParams, Until};
use proto::record::{RewoundResult, SessionCreated};
use proto::state::{ApprovalMode, OnAsk};
use proto::{CallId, Failure, Pid, Record, SessionId, SessionOptions};
use serde_json::{Map, Value, json};
use store::home::Home;

use super::fixtures::{self, prompt, supervise};
use crate::assembly::setup::{Assembly, Effort, Setup};
use crate::{Client, ProfileChoice, ResidencyLimits, SessionHandle, Supervisor};

/// What the model says next: calls, or the end of its turn.
type Says = Vec<(&'static str, Value)>;

struct Model {
    says: Arc<Mutex<VecDeque<Says>>>,
    sent: Arc<Mutex<Vec<String>>>,
    calls: Arc<Mutex<u64>>,
}

impl Provider for Model {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let body = String::from_utf8(request.body.to_vec()).unwrap();
        self.sent.lock().unwrap().push(body);
        let says = self.says.lock().unwrap().pop_front().unwrap_or_default();
        let mut parts = vec![Ok(Part::Text("I see.".into()))];
        for (name, arguments) in &says {
            let mut calls = self.calls.lock().unwrap();
            *calls += 1;
            parts.push(Ok(Part::Call(ToolCall {
                id: CallId(format!("c{calls}")),
                name: (*name).to_owned(),
                arguments: arguments.to_string(),
                cut: false,
                found: false,
            })));
        }
        let finish = if says.is_empty() {
            Finish::Stop
        } else {
            Finish::ToolCalls
        };
        parts.push(Ok(Part::Done(finish)));
        stream::iter(parts).boxed()
    }
}

/// The files of a project: a word for each path.
pub type Tree = BTreeMap<String, String>;

/// What a call left at the places that it wrote; `None`: nothing.
pub type Left = BTreeMap<String, Option<String>>;

/// The same of each call.
type Seen = Arc<Mutex<Vec<Left>>>;

/// `put`, `drop`, `move`: files; `sh`: a command.
struct Hand {
    spec: ToolSpec,
    seen: Seen,
}

impl Hand {
    fn tool(name: &'static str, family: Family, seen: &Seen) -> Arc<dyn Tool> {
        let arguments: &[_] = match name {
            "put" | "drop" => &[("path", ArgumentUse::Edit)],
            "move" => &[
                ("source", ArgumentUse::Edit),
                ("destination", ArgumentUse::Create),
            ],
            _ => &[("command", ArgumentUse::Command)],
        };
        let spec = ToolSpec::new(name, "Works.", json!({"type": "object"}), family)
            .with_arguments(arguments);
        let seen = Arc::clone(seen);
        Arc::new(Self { spec, seen })
    }
}

fn works(name: &str, arguments: &Map<String, Value>, cwd: &Path) -> std::io::Result<()> {
    let word = |key: &str| arguments[key].as_str().unwrap().to_owned();
    match name {
        "put" => {
            let path = cwd.join(word("path"));
            std::fs::create_dir_all(path.parent().unwrap())?;
            std::fs::write(path, word("content"))
        }
        "drop" => {
            let path = cwd.join(word("path"));
            if path.symlink_metadata()?.is_dir() {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            }
        }
        "move" => std::fs::rename(cwd.join(word("source")), cwd.join(word("destination"))),
        _ => {
            let mut shell = std::process::Command::new("/bin/sh");
            let done = shell.arg("-c").arg(word("command")).current_dir(cwd);
            let done = done.output()?;
            assert!(done.status.success(), "{done:?}");
            Ok(())
        }
    }
}

impl Tool for Hand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        Ok(arguments.clone())
    }

    fn preview(&self, _: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        Ok(Preview {
            display: Display::Line {
                text: "work".into(),
            },
        })
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let (name, seen) = (Arc::clone(&self.spec.name), Arc::clone(&self.seen));
        async move {
            let work = move || {
                let before = stamps(&context.cwd);
                let done = works(&name, &arguments, &context.cwd);
                seen.lock().unwrap().push(left(&context.cwd, &before));
                done
            };
            match tokio::task::spawn_blocking(work).await.unwrap() {
                Ok(()) => Outcome::with_status(CallStatus::Ok, "done"),
                Err(error) => Outcome::failed(error.to_string()),
            }
        }
        .boxed()
    }
}

/// Starts programs for real.
#[derive(Default)]
pub struct Programs {
    /// Those that run now, and the most that ever ran at once.
    pub running: Arc<Mutex<(usize, usize)>>,
}

struct NoControl;

impl ChildControl for NoControl {
    fn stop(&self, _: u64) {}
}

impl Spawn for Programs {
    fn spawn(
        &self,
        _: Pid,
        command: contract::Command,
    ) -> BoxFuture<'static, Result<Child, SpawnError>> {
        let running = Arc::clone(&self.running);
        async move {
            {
                let mut running = running.lock().unwrap();
                running.0 += 1;
                running.1 = running.1.max(running.0);
            }
            let work = move || {
                std::process::Command::new(&command.argv[0])
                    .args(&command.argv[1..])
                    .current_dir(&command.cwd)
                    .env_clear()
                    .envs(command.env)
                    .output()
            };
            let done = tokio::task::spawn_blocking(work).await.unwrap().unwrap();
            running.lock().unwrap().0 -= 1;
            let exit = ChildExit {
                code: done.status.code(),
                signal: None,
                swept: 0,
                over_memory: None,
            };
            let events = [
                ChildEvent::Stdout(done.stdout),
                ChildEvent::Stderr(done.stderr),
                ChildEvent::Exited(exit),
            ];
            Ok(Child {
                os_pid: 0,
                events: stream::iter(events).boxed(),
                control: Box::new(NoControl),
            })
        }
        .boxed()
    }

    fn running(&self, _: Pid) -> Vec<proto::params::process::ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

struct Outside {
    codec: Arc<dyn Codec>,
    model: Arc<dyn Provider>,
    home: PathBuf,
    seen: Seen,
}

impl Outside {
    fn setup(&self) -> Setup {
        let tools = [
            ("put", Family::Edit),
            ("drop", Family::Edit),
            ("move", Family::Edit),
            ("sh", Family::Bash),
        ];
        let tools = tools.map(|(name, family)| Hand::tool(name, family, &self.seen));
        let (codec, model) = (Arc::clone(&self.codec), Arc::clone(&self.model));
        Setup {
            options: SessionOptions {
                approval_mode: Some(ApprovalMode::Yolo),
                ..SessionOptions::default()
            },
            ..fixtures::setup(fixtures::profile(
                codec,
                model,
                ToolSet::new(tools.to_vec()),
            ))
        }
    }
}

impl Assembly for Outside {
    fn create(
        &self,
        _: &Path,
        _: Option<&str>,
        _: Effort<'_>,
        _: &[&str],
    ) -> Result<Setup, Failure> {
        Ok(self.setup())
    }

    fn resume(&self, _: &SessionCreated) -> Setup {
        self.setup()
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::new(Programs::default())
    }

    fn tool_memory(&self, _: Arc<workspace::Workspace>) -> Arc<dyn contract::ToolMemory> {
        Arc::new(())
    }

    fn masked(&self) -> Vec<PathBuf> {
        vec![self.home.clone()]
    }

    fn user_home(&self) -> PathBuf {
        PathBuf::from("/nonexistent")
    }
}

/// Whether there is a git here.
pub fn has_git() -> bool {
    let asked = std::process::Command::new("git").arg("--version").output();
    asked.is_ok_and(|asked| asked.status.success())
}

pub struct Workshop {
    pub project: PathBuf,
    pub handle: SessionHandle,
    pub home: Arc<Home>,
    /// What the model was sent.
    pub sent: Arc<Mutex<Vec<String>>>,
    says: Arc<Mutex<VecDeque<Says>>>,
    supervisor: Arc<Supervisor>,
    outside: Arc<Outside>,
    _dir: tempfile::TempDir,
}

impl Workshop {
    /// A session that has said nothing yet. `prepare` fills the project.
    pub async fn open(git: bool, prepare: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let project = project.canonicalize().unwrap();
        prepare(&project);
        if git {
            run(
                &project,
                "git init -q . && git add -A && git -c user.name=n -c user.email=e commit -q --allow-empty -m one",
            );
        }
        let home = Arc::new(Home::open(&dir.path().join("home")).unwrap());
        let (codec, _) = replay::open(replay::Cassette::default());
        let (says, sent) = (Arc::default(), Arc::default());
        let model = Model {
            says: Arc::clone(&says),
            sent: Arc::clone(&sent),
            calls: Arc::default(),
        };
        let outside = Arc::new(Outside {
            codec,
            model: Arc::new(model),
            home: dir.path().join("home"),
            seen: Seen::default(),
        });
        let supervisor = supervise(&home, outside.clone(), ResidencyLimits::default());
        let request = CreateParams {
            session: SessionId::new(),
            cwd: project.to_string_lossy().into_owned(),
            options: SessionOptions {
                on_ask: Some(OnAsk::Allow),
                ..SessionOptions::default()
            },
            env: BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]),
            ..CreateParams::default()
        };
        let client = Client {
            name: "test".into(),
        };
        let made = supervisor
            .create(request, &client, &ProfileChoice::default())
            .await
            .unwrap();
        let handle = supervisor.find(&made.pid.to_string()).await.unwrap();
        Self {
            project,
            handle,
            home,
            sent,
            says,
            supervisor,
            outside,
            _dir: dir,
        }
    }

    /// The daemon stops and starts again.
    pub async fn restart(&mut self) {
        self.restart_over(|_| ()).await;
    }

    /// As `restart`; in between, this is done, with the session's directory.
    pub async fn restart_over(&mut self, work: impl FnOnce(&Path)) {
        self.supervisor.shutdown().await;
        work(&self.home.session_dir(self.handle.id()));
        self.supervisor = supervise(&self.home, self.outside.clone(), ResidencyLimits::default());
        let pid = self.handle.pid().to_string();
        self.handle = self.supervisor.find(&pid).await.unwrap();
    }

    /// A turn in which the model makes these calls, one an answer.
    pub async fn turn(&self, calls: &[(&'static str, Value)]) {
        self.begin_turn(calls).await;
        self.handle.wait(Until::Turn).await.unwrap();
    }

    /// As `turn`, without waiting for its end.
    pub async fn begin_turn(&self, calls: &[(&'static str, Value)]) {
        {
            let mut says = self.says.lock().unwrap();
            says.clear();
            says.extend(calls.iter().map(|call| vec![call.clone()]));
        }
        let words = format!("do {} things", calls.len());
        self.handle
            .prompt(prompt(&words), "test".into())
            .await
            .unwrap();
    }

    pub async fn rewind(&self, to_turn: u64, what: What) -> RewindOutput {
        let params = RewindParams {
            to_turn: Some(to_turn),
            what,
            ..RewindParams::default()
        };
        self.handle.rewind(params, "ann".into()).await.unwrap()
    }

    pub async fn undo(&self) -> RewindOutput {
        let params = RewindParams {
            undo: true,
            ..RewindParams::default()
        };
        self.handle.rewind(params, "ann".into()).await.unwrap()
    }

    pub fn records(&self) -> Vec<Record> {
        fixtures::records(&self.home.session_dir(self.handle.id()))
    }

    pub fn write(&self, path: &str, content: &str) {
        std::fs::write(self.project.join(path), content).unwrap();
    }

    /// All files of the project: path and kind.
    pub fn tree(&self) -> Tree {
        tree(&self.project)
    }

    /// What each call left since this was asked last.
    pub fn seen(&self) -> Vec<Left> {
        std::mem::take(&mut self.outside.seen.lock().unwrap())
    }
}

fn tree(project: &Path) -> Tree {
    let mut found = Tree::new();
    look(project, project, &mut found);
    found
}

/// Shows whether a file was written, also with the same bytes: its inode and times.
type Stamp = (u64, (i64, i64), (i64, i64));

/// Those of all there is. A directory has none: its times depend on its content.
fn stamps(project: &Path) -> BTreeMap<String, Option<Stamp>> {
    let stamp = |name: &str| {
        // A name that is not UTF-8 was converted: no file has the converted name.
        let meta = project.join(name).symlink_metadata().ok()?;
        let modified = (meta.mtime(), meta.mtime_nsec());
        let changed = (meta.ctime(), meta.ctime_nsec());
        (!meta.is_dir()).then(|| (meta.ino(), modified, changed))
    };
    let names = tree(project).into_keys();
    names.map(|name| (name.clone(), stamp(&name))).collect()
}

/// The files at the places that were written since.
fn left(project: &Path, before: &BTreeMap<String, Option<Stamp>>) -> Left {
    let (now, found) = (stamps(project), tree(project));
    let places = before.keys().chain(now.keys());
    let written = places.filter(|place| before.get(*place) != now.get(*place));
    written
        .map(|place| (place.clone(), found.get(place).cloned()))
        .collect()
}

pub fn look(top: &Path, dir: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .strip_prefix(top)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        if name == ".git" {
            continue;
        }
        let meta = path.symlink_metadata().unwrap();
        let what = if meta.is_dir() {
            look(top, &path, found);
            "directory".to_owned()
        } else if meta.is_symlink() {
            format!("link to {}", std::fs::read_link(&path).unwrap().display())
        } else {
            let mode = meta.permissions().mode() & 0o7777;
            let bytes = std::fs::read(&path).unwrap();
            format!("{mode:o} {}", String::from_utf8_lossy(&bytes))
        };
        found.insert(name, what);
    }
}

/// Runs a line of shell.
pub fn run(dir: &Path, line: &str) {
    let mut shell = std::process::Command::new("/bin/sh");
    let done = shell.arg("-c").arg(line).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{line}: {done:?}");
}

/// Path (from the project) and result of each file of a rewind, less those that are directories.
pub fn results(shop: &Workshop, output: &RewindOutput) -> Vec<(String, RewoundResult)> {
    let files = output.files.iter();
    let files = files.map(|file| {
        let path = Path::new(&file.path).strip_prefix(&shop.project).unwrap();
        (path.to_string_lossy().into_owned(), file.result.clone())
    });
    files.collect()
}
