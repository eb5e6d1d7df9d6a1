//! The handle for the assembly: starts, lists and stops commands.
//!
//! Process management is in `drive`, and in `child` for the helper.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use contract::{Child, Command, Quarantined, STDIN_MAX, SandboxStrength, Spawn, SpawnError, Stdin};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Pid;
use proto::params::process::ChildProcess;
use tokio::sync::{Semaphore, oneshot};

use crate::arrivals::Arrivals;
use crate::drive;
use crate::findings::Findings;
use crate::mechanism::Mechanism;
use crate::memory::MemoryControl;
use crate::options::ProcsOptions;
use crate::places::places;
use crate::session_networks::SessionNetworks;
use crate::spawner::Launcher;
use crate::table::Table;
use crate::wire::CommandSpec;

/// The number under which the daemon's own processes run.
pub(crate) const DAEMON: Pid = Pid(0);

/// All processes started by the daemon, and the only way to start one.
///
/// Dropping the last handle without [`Procs::shutdown`] kills everything too, but nobody can wait
/// for it.
pub struct Procs {
    options: ProcsOptions,
    table: Arc<Table>,
    /// Empty until the probe has finished.
    findings: Findings,
    /// The networks of sessions.
    networks: SessionNetworks,
    arrivals: Arc<Arrivals>,
    /// One for each command of a session that may run now.
    places: Arc<Semaphore>,
    /// Shared with pending starts: they must neither keep the thread alive nor miss its end.
    thread: Arc<Mutex<Option<Thread>>>,
}

struct Thread {
    launcher: Launcher,
    handle: JoinHandle<()>,
}

impl Procs {
    /// Starts the spawner thread.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub fn start(options: ProcsOptions) -> io::Result<Arc<Self>> {
        let (found, findings) = Findings::open();
        let networks = SessionNetworks::default();
        let (launcher, handle) = Launcher::start(options.clone(), found, networks.clone())?;
        Ok(Arc::new(Self {
            arrivals: Arrivals::new(options.quarantine.clone()),
            places: places(options.commands_max),
            options,
            findings,
            networks,
            table: Table::new(),
            thread: Arc::new(Mutex::new(Some(Thread { launcher, handle }))),
        }))
    }

    /// How commands are contained here. Known some milliseconds after the start.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        let found = self.findings.now();
        found.map_or(Mechanism::Looking, |found| found.mechanism)
    }

    /// What limits the memory of commands here. Known when [`Procs::mechanism`] is.
    #[must_use]
    pub fn memory(&self) -> MemoryControl {
        self.findings
            .now()
            .map(|found| found.memory)
            .unwrap_or_default()
    }

    /// Waits for the probe. [`Procs::mechanism`] and [`Spawn::strength`] do not change afterwards.
    pub async fn settled(&self) -> SandboxStrength {
        let found = self.findings.settled().await;
        found.map_or(SandboxStrength::None, |found| found.mechanism.strength())
    }

    /// The running commands, oldest first.
    #[must_use]
    pub fn table(&self) -> Vec<ChildProcess> {
        self.table.list()
    }

    /// Number of commands that run, start or are being cleaned up.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table.count(None)
    }

    /// The same without those of the daemon itself (number 0).
    #[must_use]
    pub fn count_of_sessions(&self) -> usize {
        let own = self.table.count(Some(DAEMON));
        self.table.count(None).saturating_sub(own)
    }

    /// Stops the background command with this number. Returns whether there was one.
    pub fn stop_number(&self, number: Pid, grace_ms: u64) -> bool {
        self.table.stop_number(number, grace_ms)
    }

    /// Resolves when no process of the session is left.
    pub async fn session_gone(&self, session: Pid) {
        self.table.until_none(Some(session)).await;
    }

    /// Refuses new starts, stops everything, and resolves when all processes are gone. It may be
    /// called again with a shorter grace period while the first call waits.
    pub async fn shutdown(&self, grace_ms: u64) {
        self.table.close();
        self.table.stop(None, grace_ms);
        self.table.until_none(None).await;
        self.networks.clear();
        let thread = lock(&self.thread).take();
        if let Some(Thread { launcher, handle }) = thread {
            drop(launcher);
            // The thread now ends by itself. Its result is irrelevant.
            let _ = tokio::task::spawn_blocking(move || handle.join()).await;
        }
    }
}

fn lock(thread: &Mutex<Option<Thread>>) -> MutexGuard<'_, Option<Thread>> {
    thread.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spawn for Procs {
    fn strength(&self) -> SandboxStrength {
        let found = self.findings.soon();
        found.map_or(SandboxStrength::None, |found| found.mechanism.strength())
    }

    fn spawn(
        &self,
        session: Pid,
        command: Command,
    ) -> BoxFuture<'static, Result<Child, SpawnError>> {
        let table = Arc::clone(&self.table);
        let thread = Arc::clone(&self.thread);
        let (title, number) = (command.title.clone(), command.number);
        let sandbox = command.sandbox.clone();
        let findings = self.findings.clone();
        let arrivals = Arc::clone(&self.arrivals);
        let spec = CommandSpec::new(command, &self.options);
        let supervisor = self.options.supervisor;
        let places = (session != DAEMON).then(|| Arc::clone(&self.places));
        async move {
            // Admitted when polled: an unpolled future must not delay a shutdown.
            let entry = table.admit(session, title, number)?;
            let launcher = lock(&thread).as_ref().map(|thread| thread.launcher.clone());
            let launcher = launcher.ok_or(SpawnError::Stopping)?;
            let Some(program) = spec.argv.first().cloned() else {
                let reason = "the command is empty".to_owned();
                return Err(SpawnError::Start {
                    program: String::new(),
                    reason,
                });
            };
            if matches!(&spec.stdin, Stdin::Text(text) if text.len() > STDIN_MAX) {
                let reason = format!("its standard input is longer than {STDIN_MAX} bytes");
                return Err(SpawnError::Start { program, reason });
            }
            let place = match places {
                Some(places) => Some(entry.place(places, &program).await?),
                None => None,
            };
            let (reply, started) = oneshot::channel();
            // A separate task: a caller that goes away must not leave a half-started command.
            let wanted = drive::StartRequest {
                launcher,
                findings,
                arrivals,
                session,
                // The daemon's own run as long as it does.
                in_background: number.is_some() || session == DAEMON,
                sandbox,
                spec,
                supervisor,
                program: program.clone(),
            };
            tokio::spawn(async move {
                drive::run(wanted, entry, reply).await;
                drop(place);
            });
            started.await.unwrap_or_else(|_| {
                let reason = "the task that started it has ended".to_owned();
                Err(SpawnError::Start { program, reason })
            })
        }
        .boxed()
    }

    fn running(&self, session: Pid) -> Vec<ChildProcess> {
        let mut running = self.table.list();
        running.retain(|child| child.session == session);
        running
    }

    fn stop_session(&self, session: Pid, grace_ms: u64) {
        self.table.stop(Some(session), grace_ms);
        self.networks.forget(session);
    }

    fn expect(&self, paths: &[PathBuf]) {
        self.arrivals.expect(paths);
    }

    fn leftovers(&self, session: Pid) -> Vec<Quarantined> {
        self.arrivals.leftovers(session)
    }

    fn put_back(&self, item: &Quarantined) -> Result<(), String> {
        self.arrivals.put_back(item)
    }
}
