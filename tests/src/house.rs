//! A home, a project, a daemon and clients of one test.
//!
//! The environment has only the variables named here, and paths are short (a socket's has 107 bytes). When the house
//! is dropped everything in it is stopped; a process that is left fails the test.

mod daemon;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use client::{Client, Options, Paths, Start};
use proto::hello::Role;
use proto::params::session::CreateParams;
use proto::{Pid, RequestId, SessionId};
use rustix::process::Signal;
use tempfile::TempDir;
use testkit::Script;

use crate::log::Log;
use crate::program::{Done, Running, run};
use crate::raw::Raw;
use crate::watchdog::WatchdogGuard;

/// The directories, processes and config of one test.
pub struct House {
    root: TempDir,
    config: Mutex<Config>,
    /// Daemons (or their parents) that this test has started.
    started: Mutex<Vec<Child>>,
    watched: WatchdogGuard,
}

/// The parts of `config.toml`.
#[derive(Default)]
struct Config {
    settings: String,
    providers: String,
}

impl Default for House {
    fn default() -> Self {
        Self::new()
    }
}

impl House {
    /// An empty home and an empty project. Nothing runs.
    ///
    /// # Panics
    /// The disk refuses it.
    #[must_use]
    pub fn new() -> Self {
        Self::below(Path::new("/tmp"))
    }

    /// The same in another directory than `/tmp`: sandboxed commands have a private `/tmp`.
    ///
    /// # Panics
    /// The disk refuses it.
    #[must_use]
    pub fn below(directory: &Path) -> Self {
        let root = tempfile::Builder::new()
            .prefix("rx")
            .tempdir_in(directory)
            .expect("make a place for the test");
        let watched = WatchdogGuard::new(root.path());
        let house = Self {
            root,
            config: Mutex::default(),
            started: Mutex::default(),
            watched,
        };
        for directory in [house.home(), house.project(), house.user_home()] {
            fs::DirBuilder::new()
                .mode(0o700)
                .create(directory)
                .expect("make a directory of the test");
        }
        house
    }

    /// A house whose provider plays a script.
    #[must_use]
    pub fn playing(script: &Script) -> Self {
        let house = Self::new();
        house.cassette(&script.jsonl());
        house
    }

    /// What runs in it takes so much longer than a test may.
    pub fn outlast(&self, time: std::time::Duration) {
        self.watched.extend(time);
    }

    /// The directory that holds everything of the test.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The home of Reasonix.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The project that sessions work in.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The value of `HOME`.
    #[must_use]
    pub fn user_home(&self) -> PathBuf {
        self.root().join("user")
    }

    /// The daemon's socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.home().join("run").join("s")
    }

    /// A file of the home.
    #[must_use]
    pub fn home_file(&self, name: &str) -> PathBuf {
        self.home().join(name)
    }

    /// The text of a file of the project.
    ///
    /// # Panics
    /// It cannot be read.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        let path = self.project().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()))
    }

    /// Puts files into the project: each after a line `//- path`.
    ///
    /// # Panics
    /// The text is wrong, or the disk does not want it.
    pub fn files(&self, text: &str) {
        testkit::fixture::write(&self.project(), text).expect("make the project's files");
    }

    /// Puts settings into `config.toml`, before the providers: tables and keys, as TOML.
    pub fn settings(&self, toml: &str) {
        let mut config = self.config();
        config.settings.push_str(toml);
        config.settings.push('\n');
        self.write_config(&config);
    }

    /// Commands run without a sandbox: nothing replaces an approval, and they reach what their user reaches.
    pub fn turn_off_sandbox(&self) {
        self.settings("[sandbox]\nbash = \"off\"");
    }

    /// A provider `replay` that plays this cassette. A second cassette takes the place of the first.
    ///
    /// # Panics
    /// The disk refuses it.
    pub fn cassette(&self, jsonl: &str) {
        fs::write(self.home_file("cassette.jsonl"), jsonl).expect("write the cassette");
        if !self.config().providers.contains("name = \"replay\"") {
            self.provider("name = \"replay\"\nkind = \"replay\"\nmodel = \"cassette.jsonl\"");
        }
    }

    /// A provider `test` of kind `openai` at this address, with the model `test-model` and no key.
    pub fn provider_config(&self, base_url: &str) {
        self.provider(&format!(
            "name = \"test\"\nkind = \"openai\"\nbase_url = \"{base_url}\"\nmodel = \"test-model\""
        ));
    }

    /// An entry of `[[providers]]`, as TOML.
    pub fn provider(&self, toml: &str) {
        let mut config = self.config();
        config.providers.push_str("[[providers]]\n");
        config.providers.push_str(toml);
        config.providers.push('\n');
        self.write_config(&config);
    }

    /// `config.toml` with this text, whatever was there.
    pub fn config_text(&self, toml: &str) {
        *self.config() = Config {
            settings: toml.to_owned(),
            providers: String::new(),
        };
        self.write_config(&self.config());
    }

    fn config(&self) -> MutexGuard<'_, Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_config(&self, config: &Config) {
        let text = format!("{}\n{}", config.settings, config.providers);
        fs::write(self.home_file("config.toml"), text).expect("write the config");
    }

    /// The environment of every program of this house; everything else is cleared.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        BTreeMap::from([
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("HOME".into(), text(self.user_home())),
            ("REASONIX_HOME".into(), text(self.home())),
            ("REASONIX_SOCKET".into(), text(self.socket())),
            ("REASONIX_DAEMON".into(), text(daemon_program())),
        ])
    }

    /// The environment of a session's tools: nothing of Reasonix in it, and a mark by which the house knows its own.
    #[must_use]
    pub fn tool_environment(&self) -> BTreeMap<String, String> {
        let mut environment = self.environment();
        environment.retain(|name, _| !name.starts_with("REASONIX_"));
        environment.insert(
            "RX_HOUSE".into(),
            self.root().to_string_lossy().into_owned(),
        );
        environment
    }

    /// A program with this house's environment, in the project, with no standard input.
    #[must_use]
    pub fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment())
            .current_dir(self.project())
            .stdin(Stdio::null());
        command
    }

    /// `reasonix` with these arguments, not started.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(&client_program());
        command.args(arguments);
        command
    }

    /// Runs `reasonix` to its end, with no standard input.
    #[must_use]
    pub fn reasonix(&self, arguments: &[&str]) -> Done {
        run(&mut self.command(arguments))
    }

    /// Starts `reasonix`; its standard input is a pipe.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments).stdin(Stdio::piped()))
    }

    /// Runs `reasonix` to its end, with this text on its standard input.
    #[must_use]
    pub fn reasonix_reading(&self, arguments: &[&str], stdin: &str) -> Done {
        let mut running = self.start(arguments);
        running.say(stdin);
        running.hang_up();
        running.done()
    }

    /// A typed client. It never starts a daemon by itself.
    ///
    /// # Panics
    /// No daemon answers.
    pub async fn client(&self, name: &str, role: Role) -> Client {
        let mut options = self.client_options(name);
        options.role = role;
        Client::connect(options)
            .await
            .expect("connect to the daemon")
    }

    /// How a typed client of this house connects.
    #[must_use]
    pub fn client_options(&self, name: &str) -> Options {
        let paths = Paths {
            home: self.home(),
            socket: self.socket(),
            socket_given: true,
        };
        let mut options = Options::new(paths, name);
        options.kind = "test".to_owned();
        options.start = Start::Never;
        options
    }

    /// Runs a future to its end, for tests that are not async themselves.
    ///
    /// # Panics
    /// The system gives no runtime.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(future)
    }

    /// A raw connection on which nothing was said.
    ///
    /// # Panics
    /// Nobody listens.
    #[must_use]
    pub fn raw(&self) -> Raw {
        Raw::connect(&self.socket()).expect("connect to the daemon")
    }

    /// A raw connection on which hello was said.
    ///
    /// # Panics
    /// No daemon answers.
    #[must_use]
    pub fn raw_as(&self, role: Role) -> Raw {
        let mut raw = self.raw();
        raw.hello(role).expect("hello");
        raw
    }

    /// Parameters of a new session in the project, interactive, with this prompt.
    #[must_use]
    pub fn create(&self, prompt: &str) -> CreateParams {
        CreateParams {
            session: SessionId::new(),
            cwd: self.project().to_string_lossy().into_owned(),
            env: self.tool_environment(),
            prompt: Some(prompt.to_owned()),
            request_id: Some(RequestId::new()),
            ..CreateParams::default()
        }
    }

    /// The logs of all sessions, read and checked line by line, by pid.
    ///
    /// # Panics
    /// One is not as `docs/log-format.md` says.
    #[must_use]
    pub fn logs(&self) -> Vec<Log> {
        let directory = fs::read_dir(self.home().join("sessions"))
            .into_iter()
            .flatten()
            .flatten();
        let mut logs: Vec<_> = directory
            .filter_map(|entry| Log::read_existing(&entry.path().join("log.jsonl")))
            .collect();
        logs.sort_by_key(Log::pid);
        logs
    }

    /// The log of one session.
    ///
    /// # Panics
    /// There is none, or it is not as `docs/log-format.md` says.
    #[must_use]
    pub fn log(&self, pid: Pid) -> Log {
        let log = self.logs().into_iter().find(|log| log.pid() == pid);
        log.unwrap_or_else(|| panic!("no session {pid} has a log"))
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let left = self.stop();
        if let Some(left) = &left {
            for process in left {
                process.signal(Signal::KILL);
            }
            self.reap();
        }
        // A test that fails already has its own message; a second panic would only hide it.
        if std::thread::panicking() {
            return;
        }
        if let Some(left) = left {
            panic!("left by the test: {left:#?}");
        }
        let said = fs::read_to_string(self.said()).unwrap_or_default() + &self.daemon_log();
        assert!(
            !said.contains("panicked at"),
            "the daemon has a bug:\n{said}"
        );
    }
}

/// The client's program, as it was just built.
#[must_use]
pub fn client_program() -> PathBuf {
    beside("test-reasonix")
}

/// The daemon's program, as it was just built.
#[must_use]
pub fn daemon_program() -> PathBuf {
    beside("test-reasonixd")
}

/// The daemon's program as a build of the next version, [`NEXT_VERSION`].
#[must_use]
pub fn next_daemon_program() -> PathBuf {
    beside("test-next-reasonixd")
}

/// The version of [`next_daemon_program`]: newer than any that this source has.
pub const NEXT_VERSION: &str = "999.0.0";

/// The example of an MCP server.
#[must_use]
pub fn example_server() -> PathBuf {
    beside("test-plugin-example")
}

/// An MCP server whose faults are its arguments.
#[must_use]
pub fn faulty_server() -> PathBuf {
    beside("test-mcp-server")
}

/// A binary of this crate: cargo puts the tests' own into `deps`, and the crate's one level above.
fn beside(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("the test's own path");
    let found = own
        .ancestors()
        .skip(1)
        .take(2)
        .map(|directory| directory.join(name))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "`{name}` is not beside {}: build it with `cargo test -p tests`",
            own.display()
        )
    })
}
