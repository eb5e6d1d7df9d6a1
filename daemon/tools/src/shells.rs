//! The session's commands in the background.
//!
//! Each has a task of its own, its keeper (`keeper`), which owns the command and its output; here is the table that
//! leads to them. A keeper lives as long as its row: when the table goes, with the session's memory, each stops its
//! command. Called by `bash`, `bash_output` and `kill_shell`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contract::{CallContext, Outcome};
use proto::Pid;
use proto::record::{ChildKind, ChildSpawned};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};

use crate::capture::Capture;
use crate::run::RunningCommand;

mod keeper;
mod look;

use keeper::{Keeper, KeeperRequest};
pub(crate) use look::NewOutput;

/// Commands that run at once.
const RUNNING_MAX: usize = 16;
/// Commands that have ended and can still be looked at; the one that ended longest ago is forgotten first.
const ENDED_MAX: usize = 64;
/// Clean text kept of the beginning and of the end of what nobody has looked at yet. More than fits one result.
const END_MAX: usize = 64 * 1024;
/// Questions that may wait for a keeper; whoever asks next waits too.
const INBOX: usize = 8;
/// How long a look may take. A keeper is busy only with its own disk.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// All of one session's, by number.
#[derive(Debug)]
pub(crate) struct Shells {
    rows: Mutex<BTreeMap<Pid, Shell>>,
    slots: Arc<Semaphore>,
}

/// The way to one.
#[derive(Clone, Debug)]
pub(crate) struct Shell {
    title: String,
    keeper: mpsc::Sender<KeeperRequest>,
    /// When it ended.
    ended: watch::Receiver<Option<Instant>>,
}

/// A command that has been started and is to be kept.
pub(crate) struct StartedCommand<'a> {
    pub(crate) number: Pid,
    pub(crate) title: String,
    pub(crate) run: RunningCommand,
    pub(crate) slot: RunningSlot,
    pub(crate) context: &'a CallContext,
}

/// The right to run one more command.
pub(crate) struct RunningSlot(
    #[expect(dead_code, reason = "held until the end")] OwnedSemaphorePermit,
);

impl Default for Shells {
    fn default() -> Self {
        Self {
            rows: Mutex::default(),
            slots: Arc::new(Semaphore::new(RUNNING_MAX)),
        }
    }
}

impl Shells {
    /// The right to start one more.
    ///
    /// # Errors
    /// An outcome that names those that run, when there are as many as there may be.
    pub(crate) fn admit(&self) -> Result<RunningSlot, Outcome> {
        match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(permit) => Ok(RunningSlot(permit)),
            Err(_) => Err(Outcome::failed(format!(
                "{RUNNING_MAX} commands run in the background already, and more may not: {}. Stop one with `kill_shell`",
                list(
                    self.rows()
                        .iter()
                        .filter(|(_, shell)| shell.ended_at().is_none())
                )
            ))),
        }
    }

    /// Keeps a command: reports it to the session, takes its output, and reports its end.
    pub(crate) fn keep(&self, starting: StartedCommand<'_>) {
        let StartedCommand {
            number,
            title,
            run,
            slot,
            context,
        } = starting;
        let (asks, inbox) = mpsc::channel(INBOX);
        let (end, ended) = watch::channel(None);
        // Not the context: with it the keeper would hold the memory that it is to end with.
        let keeper = Keeper {
            number,
            run,
            capture: Capture::new(context.spill_dir.clone(), END_MAX),
            named: false,
            slot,
            inbox,
            ended: end,
            session: Arc::clone(&context.shells),
        };
        context.shells.spawned(ChildSpawned {
            pid: number,
            kind: ChildKind::Shell,
            call: context.call.clone(),
            command: title.clone(),
            user: None,
        });
        let mut rows = self.rows();
        rows.insert(
            number,
            Shell {
                title,
                keeper: asks,
                ended,
            },
        );
        forget_oldest(&mut rows);
        drop(rows);
        tokio::spawn(keeper.keep());
    }

    /// The one of this number.
    ///
    /// # Errors
    /// An outcome that names those that there are.
    pub(crate) fn get(&self, number: Pid) -> Result<Shell, Outcome> {
        let rows = self.rows();
        rows.get(&number).cloned().ok_or_else(|| {
            let known = if rows.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there are {}", list(rows.iter()))
            };
            Outcome::failed(format!(
                "no command in the background is {number}: {known}. They end with the daemon, and with the session"
            ))
        })
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<Pid, Shell>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shell {
    /// The output since the last look. `whole_lines`: an unfinished line is left for later.
    ///
    /// # Errors
    /// An outcome if the command's keeper task does not answer.
    pub(crate) async fn look(&self, whole_lines: bool) -> Result<NewOutput, Outcome> {
        let (reply, look) = oneshot::channel();
        let ask = KeeperRequest::Look { whole_lines, reply };
        let answer = async {
            self.keeper.send(ask).await.ok()?;
            look.await.ok()
        };
        match timeout(LOOK_MAX, answer).await {
            Ok(Some(look)) => Ok(look),
            Ok(None) => Err(Outcome::failed(
                "what kept the command has crashed, a bug in Reasonix; the command is stopped",
            )),
            Err(_) => Err(Outcome::failed(
                "its output cannot be had now: the disk is slow; look again later",
            )),
        }
    }

    /// Stops it: TERM, and soon KILL. Returns whether it was still running.
    pub(crate) async fn stop(&self) -> bool {
        // A keeper that is gone has stopped its command.
        self.ended_at().is_none() && self.keeper.send(KeeperRequest::Stop).await.is_ok()
    }

    /// Returns when it has ended.
    pub(crate) async fn ended(&self) {
        let mut ended = self.ended.clone();
        // An error means that its keeper is gone, and the command with it.
        let _ = ended.wait_for(Option::is_some).await;
    }

    fn ended_at(&self) -> Option<Instant> {
        *self.ended.borrow()
    }
}

/// Numbers, titles and states, for a sentence.
fn list<'a>(rows: impl Iterator<Item = (&'a Pid, &'a Shell)>) -> String {
    let mut text = String::new();
    for (number, shell) in rows {
        let state = match shell.ended_at() {
            Some(_) => "ended",
            None => "runs",
        };
        let comma = if text.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}{number} (`{}`, {state})", shell.title);
    }
    text
}

fn forget_oldest(rows: &mut BTreeMap<Pid, Shell>) {
    let mut ended: Vec<(Instant, Pid)> = rows
        .iter()
        .filter_map(|(number, shell)| Some((shell.ended_at()?, *number)))
        .collect();
    ended.sort_unstable();
    let too_many = ended.len().saturating_sub(ENDED_MAX);
    for (_, number) in ended.into_iter().take(too_many) {
        rows.remove(&number);
    }
}

#[cfg(test)]
mod tests;
