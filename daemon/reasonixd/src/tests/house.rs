//! A home with a daemon in it, and raw connections to that.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use proto::paths::Paths;
use serde_json::{Value, json};
use store::home::Home;
use store::lock::HomeLock;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use crate::gate::Gate;
use crate::lifecycle::{Start, live};
use crate::settings;

/// Nothing here takes longer, unless it hangs.
const BOUND: Duration = Duration::from_secs(20);

/// A home, a project, and a daemon.
pub struct House {
    root: tempfile::TempDir,
    pub gate: Arc<Gate>,
    /// The lock that a real daemon has; a test may let go of it.
    pub lock: Option<HomeLock>,
    life: Option<JoinHandle<anyhow::Result<()>>>,
}

impl House {
    /// With these settings, and a model that plays these lines.
    pub async fn new(config: &str, cassette: &str) -> Self {
        let provider =
            "\n[[providers]]\nname = \"play\"\nkind = \"replay\"\nmodels = [\"cassette.jsonl\"]\n";
        Self::with(&format!("{config}{provider}"), cassette).await
    }

    /// With these settings and no other.
    pub async fn with(config: &str, cassette: &str) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        for name in ["home", "project", "user"] {
            let mut builder = std::fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(root.path().join(name)).expect("a directory");
        }
        let home = root.path().join("home");
        std::fs::write(home.join("config.toml"), config).expect("write");
        std::fs::write(home.join("cassette.jsonl"), cassette).expect("write");
        let mut house = Self {
            root,
            gate: Gate::new(),
            lock: None,
            life: None,
        };
        house.begin();
        // It listens.
        drop(house.connect().await);
        house
    }

    fn begin(&mut self) {
        let home = Arc::new(Home::open(&self.home()).expect("a home"));
        let paths = Paths {
            home: self.home(),
            socket: self.socket(),
            socket_given: true,
        };
        self.lock = Some(HomeLock::acquire(&home, &paths.socket).expect("the lock"));
        let user_home = self.root.path().join("user");
        let tools = settings::tests::known_tools();
        let start = Start {
            loaded: settings::load(home.root(), None, &user_home, &tools),
            tools,
            home,
            paths,
            user_home,
            umask: 0o022,
            layers: procs::BackendChoice::Off,
            gate: Arc::clone(&self.gate),
            key_keeper: Arc::new(crate::key_keeper::ParentKeyKeeper::nobody()),
            is_restarted: false,
        };
        self.life = Some(tokio::spawn(async move { live(&start).await }));
    }

    /// Waits for the daemon's end.
    pub async fn ends(&mut self) {
        let life = self.life.take().expect("a daemon that has not ended yet");
        let ended = tokio::time::timeout(BOUND, life).await;
        ended
            .expect("it ends")
            .expect("no panic")
            .expect("a good end");
    }

    /// Starts the next daemon, after one has ended.
    pub fn again(&mut self) {
        self.lock = None;
        self.gate = Gate::new();
        self.begin();
    }

    /// Whether it lives.
    pub fn lives(&self) -> bool {
        self.life.as_ref().is_some_and(|life| !life.is_finished())
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub fn socket(&self) -> PathBuf {
        self.home().join("run").join("s")
    }

    /// A connection on which nothing was said. Waits until there is one to be had.
    pub async fn connect(&self) -> Raw {
        let socket = self.socket();
        let stream = until("a connection", async || {
            UnixStream::connect(&socket).await.ok()
        })
        .await;
        Raw::of(stream)
    }

    /// A connection with this role.
    pub async fn client(&self, role: &str) -> Raw {
        let mut raw = self.connect().await;
        raw.call("daemon.hello", &hello(role)).await.expect("hello");
        raw
    }
}

/// Parameters of a hello.
pub fn hello(role: &str) -> Value {
    json!({"client": {"name": role, "version": "1"}, "protocol": [1, 1], "role": role})
}

/// Waits for something.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let found = tokio::time::timeout(BOUND, waiting).await;
    found.unwrap_or_else(|_| panic!("it did not come: {what}"))
}

/// A connection: lines in, lines out.
pub struct Raw {
    stream: BufReader<UnixStream>,
    next: u64,
    /// Notifications that came while an answer was awaited.
    notifications: VecDeque<Value>,
}

impl Raw {
    pub fn of(stream: UnixStream) -> Self {
        Self {
            stream: BufReader::new(stream),
            next: 1,
            notifications: VecDeque::new(),
        }
    }

    /// Sends a line as it is.
    pub async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        let sent = self.stream.get_mut().write_all(line.as_bytes()).await;
        sent.expect("write to the daemon");
    }

    /// The next frame; `None`: the daemon has closed the connection.
    pub async fn frame(&mut self) -> Option<Value> {
        let frame = tokio::time::timeout(BOUND, self.read()).await;
        frame.expect("a frame in time")
    }

    async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.stream.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).expect("JSON")),
        }
    }

    /// The next frame that is an answer.
    pub async fn answer(&mut self) -> Value {
        loop {
            let frame = self.frame().await.expect("an answer before the end");
            if frame.get("method").is_none() {
                return frame;
            }
            self.notifications.push_back(frame);
        }
    }

    /// Makes a call; the result, or the error object.
    pub async fn call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.next;
        self.next += 1;
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.say(&call.to_string()).await;
        let answer = self.answer().await;
        assert_eq!(
            answer["id"],
            json!(id),
            "an answer to something else: {answer}"
        );
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Makes a call; `None`: the daemon closed the connection instead of answering.
    pub async fn try_call(&mut self, method: &str, params: &Value) -> Option<Result<Value, Value>> {
        let call = json!({"jsonrpc": "2.0", "id": "try", "method": method, "params": params});
        let line = format!("{call}\n");
        self.stream
            .get_mut()
            .write_all(line.as_bytes())
            .await
            .ok()?;
        loop {
            let frame = self.frame().await?;
            match frame.get("error") {
                _ if frame.get("method").is_some() => self.notifications.push_back(frame),
                Some(error) => return Some(Err(error.clone())),
                None => return Some(Ok(frame["result"].clone())),
            }
        }
    }

    /// The next notification that fits; others are passed over.
    pub async fn notification(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut passed_over = Vec::new();
        loop {
            let next = match self.notifications.pop_front() {
                Some(next) => Some(next),
                None => tokio::time::timeout(BOUND, self.read())
                    .await
                    .ok()
                    .flatten(),
            };
            match next {
                Some(next) if fits(&next) => return next,
                Some(next) => passed_over.push(next.to_string()),
                None => panic!(
                    "it did not come: {what}; received:\n{}",
                    passed_over.join("\n")
                ),
            }
        }
    }
}

/// The name of an error.
pub fn name(error: &Value) -> &str {
    error["data"]["name"].as_str().unwrap_or_default()
}

/// The socket's path, if there is one.
pub fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    path.symlink_metadata().ok().map(|meta| meta.ino())
}
