//! What handlers share: the home, the sessions, the processes, the settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use contract::ToolSet;
use proto::hello::DaemonInfo;
use proto::params::daemon::ShutdownMode;
use proto::state::State;
use proto::{ErrorName, Failure, Stamp};
use session::{SessionHandle, Supervisor, tasks};
use store::home::Home;
use uuid::Uuid;

use crate::credentials::{FallbackKeys, Store};
use crate::gate::{AdmissionGuard, Gate, ShutdownReason};
use crate::hold::LockedHome;
use crate::rpc::Clients;
use crate::settings::kept::PermissionFiles;
use crate::settings::{self, DaemonTimeouts, Loaded};
use crate::stop_request;
use crate::version::version;

/// The daemon, as its methods see it.
pub struct Daemon {
    pub home: Arc<Home>,
    pub user_home: PathBuf,
    pub socket: PathBuf,
    pub supervisor: Arc<Supervisor>,
    pub procs: Arc<procs::Procs>,
    pub clients: Clients,
    pub started: Instant,
    pub started_at: Stamp,
    pub instance: Uuid,
    pub gate: Arc<Gate>,
    pub hold: LockedHome,
    /// As they were when the daemon started.
    pub life: DaemonTimeouts,
    pub problems: Problems,
    /// The rules that are always allowed, by workspace.
    pub kept: Arc<PermissionFiles>,
    /// The MCP servers of all sessions.
    pub mcp: Arc<mcp::Pool>,
    /// The logins to them.
    pub mcp_logins: Arc<mcp::Logins>,
    /// The tools that settings and rules may name.
    pub tools: ToolSet,
}

/// Problems of the daemon itself, for `daemon.status`: one sentence a subject, as long as it holds.
#[derive(Default)]
pub struct Problems(Mutex<BTreeMap<&'static str, String>>);

impl Problems {
    /// Sets or clears the problem of a subject. Returns whether that is a change.
    pub fn set(&self, subject: &'static str, wrong: Option<String>) -> bool {
        let mut problems = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = problems.get(subject).cloned();
        let news = before != wrong;
        match wrong {
            Some(wrong) => problems.insert(subject, wrong),
            None => problems.remove(subject),
        };
        news
    }

    /// All of them.
    pub fn list(&self) -> Vec<String> {
        let problems = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        problems.values().cloned().collect()
    }
}

impl Daemon {
    /// Who it is.
    pub fn info(&self) -> DaemonInfo {
        DaemonInfo {
            version: version().to_owned(),
            build: build().to_owned(),
            pid: std::process::id(),
            started_at: self.started_at,
            instance: self.instance.to_string(),
        }
    }

    /// The settings in force for a working directory, read again each time: files are small, and others change them.
    pub fn settings(&self, cwd: Option<&Path>) -> Loaded {
        settings::load(self.home.root(), cwd, &self.user_home, &self.tools)
    }

    /// The keys that sessions of this directory get if no client has brought one.
    pub fn fallback_keys(&self, loaded: &Loaded) -> FallbackKeys {
        FallbackKeys::open(&self.store(loaded), loaded.env_keys.clone())
    }

    /// The session with this id or number, loaded.
    ///
    /// # Errors
    /// As [`Supervisor::find`].
    pub async fn session(&self, session: &str) -> Result<SessionHandle, Failure> {
        self.supervisor.find(session).await
    }

    /// Where keys are kept, as the settings say.
    pub fn store(&self, loaded: &Loaded) -> Store {
        Store::open(self.home.root(), loaded.settings.credentials_store)
    }

    /// The variables that hold the keys of the user's providers. Of those that come with the program, the one that the
    /// user's `default_model`, `agent.fallback_model` and `agent.planner_model` name; all of them if nothing is configured: no key is asked for without need.
    pub fn key_variables(&self) -> Vec<String> {
        let loaded = self.settings(None);
        let configured = &loaded.settings.providers;
        let mut entries = configured.clone();
        if configured.is_empty() && loaded.providers_lost.is_empty() {
            entries.extend(settings::shipped::all());
        }
        let models = [
            &loaded.settings.default_model,
            &loaded.settings.fallback_model,
            &loaded.settings.options.planner_model,
        ];
        for wanted in models.into_iter().flatten() {
            if let Ok((entry, _)) = settings::shipped::find_any(configured, wanted) {
                entries.push(entry);
            }
        }
        let mut variables: Vec<_> = entries
            .into_iter()
            .filter_map(|entry| entry.api_key_env)
            .collect();
        variables.sort();
        variables.dedup();
        variables
    }

    /// How commands are held here.
    pub fn confinement(&self) -> String {
        format!(
            "file tools: workspace only; commands: {}; {}",
            self.procs.mechanism(),
            self.procs.memory()
        )
    }

    /// Asks the daemon to stop. Stored before it is acknowledged, so that no crash on the way undoes it.
    ///
    /// # Errors
    /// `storage`: it cannot be stored. A daemon without a home stops all the same, and so does one that is to stop now.
    pub fn ask_shutdown(&self, mode: ShutdownMode) -> Result<(), Failure> {
        let leave = ShutdownReason::from(mode);
        // Another home's daemon is not the one that is asked.
        let ours = !self.hold.is_lost();
        if ours
            && self.gate.shutdown_reason() < Some(leave)
            && let Err(error) = stop_request::store(&self.home, mode)
        {
            tracing::warn!(%error, "the request to stop could not be stored");
            if mode != ShutdownMode::Now {
                let text = format!("The request to stop could not be stored: {error}");
                let hint = "Check the disk; `now` stops the daemon anyway.";
                return Err(Failure::new(ErrorName::Storage, text, hint));
            }
        }
        self.gate.ask(leave);
        Ok(())
    }

    /// Lets new work in, while there is a home for it and the daemon is not to go.
    ///
    /// # Errors
    /// As [`Gate::work`].
    pub fn admit(&self) -> Result<AdmissionGuard, Failure> {
        if self.hold.is_lost() {
            // Not only at the next look: a file made now would be made in another home, or nowhere.
            self.gate.ask(ShutdownReason::HomeGone);
        }
        self.gate.work()
    }

    /// Runs work to its end, even if the connection that asked for it closes meanwhile.
    ///
    /// # Errors
    /// As [`Self::admit`], and those of the work. `internal`: the work has panicked.
    pub async fn finish<T: Send + 'static, F>(
        self: Arc<Self>,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let guest = self.admit()?;
        let work = work(self);
        let task = tasks::shielded(async move {
            let _guest = guest;
            work.await
        });
        task.await?
    }

    /// Whether anything goes on without a person: turns that run or wait, and commands in the background, which would
    /// end with the daemon.
    pub fn has_running_work(&self) -> bool {
        self.supervisor.is_busy() || self.has_background()
    }

    /// Whether a session that does nothing has prompts: its turn is about to start, or waits for a person.
    pub fn has_queue(&self) -> bool {
        let handles = self.supervisor.handles();
        handles.iter().map(SessionHandle::summary).any(|summary| {
            summary.read_only.is_none() && summary.state == State::Idle && summary.queued > 0
        })
    }

    /// Whether anything is unfinished, also what a person has paused or has still to answer: no daemon leaves that
    /// because nobody is there.
    pub fn has_unfinished_work(&self) -> bool {
        let handles = self.supervisor.handles();
        self.has_background() || handles.iter().any(SessionHandle::is_unfinished)
    }

    /// Whether a command runs in the background, or one is being started or cleared away.
    fn has_background(&self) -> bool {
        // MCP servers of sessions are not counted; `until_asked` counts `[[autostart]]` servers.
        self.procs.count_of_sessions() > 0
    }
}

/// The kind of this build.
fn build() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}
