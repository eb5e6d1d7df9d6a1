//! The results of probing this machine. Probed once; every start waits for them.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::mechanism::Mechanism;
use crate::memory::MemoryControl;

/// Probing takes some ten milliseconds, or several of its time limits if something hangs.
const PATIENCE: Duration = Duration::from_secs(15);

/// The probe's results.
#[derive(Clone, Debug)]
pub(crate) struct ProbeResults {
    pub mechanism: Mechanism,
    pub sandbox: SandboxBackend,
    pub memory: MemoryControl,
}

impl ProbeResults {
    /// What was found, without what limits memory.
    pub fn new(mechanism: Mechanism, sandbox: SandboxBackend) -> Self {
        Self {
            mechanism,
            sandbox,
            memory: MemoryControl::default(),
        }
    }
}

/// The backend of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SandboxBackend {
    /// Mounts and namespaces.
    Mounts {
        /// The commands of a session share a loopback. Otherwise each has its own.
        shared: bool,
        /// A broker makes their connections.
        brokered: bool,
    },
    /// A profile that another program applies before it becomes the command: macOS.
    Seatbelt,
    /// Only Landlock and seccomp.
    Landlock { brokered: bool },
    /// None: a sandboxed command does not start. The reason, as a text for the user.
    Not(String),
}

/// Receives the results from the probing thread.
#[derive(Clone)]
pub(crate) struct Findings(watch::Receiver<Option<ProbeResults>>);

impl Findings {
    /// Creates the channel for the results.
    pub fn open() -> (watch::Sender<Option<ProbeResults>>, Self) {
        let (sender, receiver) = watch::channel(None);
        (sender, Self(receiver))
    }

    /// The results so far.
    pub fn now(&self) -> Option<ProbeResults> {
        self.0.borrow().clone()
    }

    /// Blocks until the results are known, up to a limit.
    pub fn soon(&self) -> Option<ProbeResults> {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.now();
            if found.is_some() || Instant::now() >= end {
                return found;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for the results. `None` if the thread ended without any.
    pub async fn settled(&self) -> Option<ProbeResults> {
        let mut receiver = self.0.clone();
        let found = receiver.wait_for(Option::is_some).await.ok()?;
        found.clone()
    }
}
