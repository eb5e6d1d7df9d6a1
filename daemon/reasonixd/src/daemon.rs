//! What handlers share: the home, the sessions, the processes, the settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use contract::Secret;
use proto::hello::DaemonInfo;
use proto::params::daemon::ShutdownMode;
use proto::{ErrorName, Failure, Stamp};
use session::Supervisor;
use store::home::Home;
use tokio::sync::watch;
use uuid::Uuid;

use crate::rpc::Clients;
use crate::settings::{self, Loaded};

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
    pub shutdown: watch::Sender<Option<ShutdownMode>>,
}

impl Daemon {
    /// Who it is.
    pub fn info(&self) -> DaemonInfo {
        DaemonInfo {
            version: proto::VERSION.to_owned(),
            build: build().to_owned(),
            pid: std::process::id(),
            started_at: self.started_at,
            instance: self.instance.to_string(),
        }
    }

    /// The settings in force for a working directory, read anew: files are small, and change under us.
    pub fn settings(&self, cwd: Option<&Path>) -> Loaded {
        settings::load(self.home.root(), cwd, &self.user_home)
    }

    /// A key of the daemon's own environment.
    #[allow(
        clippy::unused_self,
        reason = "a credential store will stand here beside the environment"
    )]
    pub fn own_key(&self, variable: &str) -> Option<Secret> {
        own_key(variable)
    }

    /// The variables that hold the keys of the user's providers.
    pub fn key_variables(&self) -> Vec<String> {
        let mut variables: Vec<_> = self
            .settings(None)
            .settings
            .providers
            .into_iter()
            .filter_map(|entry| entry.api_key_env)
            .collect();
        variables.sort();
        variables.dedup();
        variables
    }

    /// How commands are held here.
    #[allow(clippy::unused_self, reason = "a probe's result will stand here")]
    pub fn confinement(&self) -> String {
        format!(
            "file tools: workspace only; commands: no sandbox, cleaned up by {}",
            procs::mechanism()
        )
    }

    /// A daemon that was asked to stop, at once or when it is idle, takes no new work: else it would never be idle.
    pub fn refuse_when_leaving(&self) -> Result<(), Failure> {
        if self.shutdown.borrow().is_none() {
            return Ok(());
        }
        let text = "The daemon is on its way out.";
        let hint = "It takes no new work; repeat this when it is gone, and a new one starts.";
        Err(Failure::new(ErrorName::ShuttingDown, text, hint).retryable())
    }

    /// Asks the daemon to stop. A harder wish replaces a softer one.
    pub fn ask_shutdown(&self, mode: ShutdownMode) {
        self.shutdown.send_modify(|wanted| {
            if *wanted != Some(ShutdownMode::Now) {
                *wanted = Some(mode);
            }
        });
    }
}

/// A key of the daemon's own environment.
pub fn own_key(variable: &str) -> Option<Secret> {
    std::env::var(variable)
        .ok()
        .filter(|key| !key.trim().is_empty())
        .map(Secret::new)
}

/// Tells builds of one version apart.
fn build() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}
