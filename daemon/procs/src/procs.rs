//! The handle that the assembly keeps: starts commands, lists them, stops them.
//!
//! Knows nothing of how a command is held together; that is `drive` here and `child` in the helper.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use contract::{Child, Command, STDIN_MAX, Spawn, SpawnError, Strength, Walls};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Pid;
use proto::params::process::ChildProcess;
use tokio::sync::oneshot;

use crate::drive;
use crate::found::Findings;
use crate::mechanism::Mechanism;
use crate::options::Options;
use crate::place::Places;
use crate::spawner::Launcher;
use crate::table::Table;
use crate::wire::Spec;

/// Every process that the daemon has started, and the only way to start one.
///
/// Dropping the last handle without [`Procs::shutdown`] kills everything too, but nobody can wait for it.
pub struct Procs {
    options: Options,
    table: Arc<Table>,
    /// Empty until the thread has found out.
    findings: Findings,
    /// The loopbacks of sessions.
    places: Places,
    /// Shared with starts that have not begun: they must neither keep the thread nor miss its end.
    thread: Arc<Mutex<Option<Thread>>>,
}

struct Thread {
    launcher: Launcher,
    handle: JoinHandle<()>,
}

impl Procs {
    /// Starts the thread that will start everything.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(options: Options) -> io::Result<Arc<Self>> {
        let (found, findings) = Findings::open();
        let places = Places::default();
        let (launcher, handle) = Launcher::start(options.clone(), found, places.clone())?;
        Ok(Arc::new(Self {
            options,
            findings,
            places,
            table: Table::new(),
            thread: Arc::new(Mutex::new(Some(Thread { launcher, handle }))),
        }))
    }

    /// How commands are held together here. Known some milliseconds after the start.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        let found = self.findings.now();
        found.map_or(Mechanism::Looking, |found| found.mechanism)
    }

    /// Waits until it is known how commands are held here: [`Procs::mechanism`] and [`Spawn::strength`] do not
    /// change afterwards.
    pub async fn settled(&self) -> Strength {
        let found = self.findings.settled().await;
        found.map_or(Strength::None, |found| found.mechanism.strength())
    }

    /// The commands that run, oldest first.
    #[must_use]
    pub fn table(&self) -> Vec<ChildProcess> {
        self.table.list()
    }

    /// How many commands run, are being started, or are being cleared away.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table.count(None)
    }

    /// Stops the command in the background that has this number. Whether there was one.
    pub fn stop_number(&self, number: Pid, grace_ms: u64) -> bool {
        self.table.stop_number(number, grace_ms)
    }

    /// Resolves when nothing that the session started is left.
    pub async fn session_gone(&self, session: Pid) {
        self.table.until_none(Some(session)).await;
    }

    /// Starts nothing any more, stops everything, and resolves when it is all gone. May be called again,
    /// with a shorter grace, while the first call still waits.
    pub async fn shutdown(&self, grace_ms: u64) {
        self.table.close();
        self.table.stop(None, grace_ms);
        self.table.until_none(None).await;
        self.places.clear();
        let thread = lock(&self.thread).take();
        if let Some(Thread { launcher, handle }) = thread {
            drop(launcher);
            // The thread ends by itself now; what it came to has nothing to tell.
            let _ = tokio::task::spawn_blocking(move || handle.join()).await;
        }
    }
}

fn lock(thread: &Mutex<Option<Thread>>) -> MutexGuard<'_, Option<Thread>> {
    thread.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spawn for Procs {
    fn strength(&self) -> Strength {
        let found = self.findings.soon();
        found.map_or(Strength::None, |found| found.mechanism.strength())
    }

    fn spawn(
        &self,
        session: Pid,
        command: Command,
    ) -> BoxFuture<'static, Result<Child, SpawnError>> {
        let table = Arc::clone(&self.table);
        let thread = Arc::clone(&self.thread);
        let (title, number) = (command.title.clone(), command.number);
        let walls = command.walls.clone();
        let findings = self.findings.clone();
        let spec = Spec::new(command, &self.options);
        let warden = self.options.warden;
        async move {
            // Not before somebody asks for it: a future that nobody polls must not hold up a shutdown.
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
            if spec
                .stdin
                .as_ref()
                .is_some_and(|text| text.len() > STDIN_MAX)
            {
                let reason = format!("its standard input is longer than {STDIN_MAX} bytes");
                return Err(SpawnError::Start { program, reason });
            }
            let (reply, started) = oneshot::channel();
            // In a task of its own: a caller that goes away must not leave a half-started command.
            tokio::spawn(drive::run(drive::Job {
                wanted: drive::Wanted {
                    launcher,
                    findings,
                    session,
                    walls,
                    spec,
                    warden,
                    program: program.clone(),
                },
                entry,
                reply,
            }));
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
        self.places.forget(session);
    }

    #[cfg(unix)]
    fn clear(&self, walls: &Walls) {
        // Other walls than mounts leave nothing, and then none of it is there.
        if let Ok(plan) = sandbox::Plan::of(walls, &sandbox::Host) {
            sandbox::Stubs::clear(&plan);
        }
    }
}
