//! Commands that users run themselves (`session.shell`): taken in, put on disk, run beside the turns, and their end.
//!
//! One at a time, and not in a turn. Prompts that come meanwhile wait for its end: its output belongs to them.

use std::sync::Arc;

use contract::Outcome;
use contract::tool::StoppedBy;
use proto::item::Display;
use proto::params::session::{ShellOutput, ShellParams};
use proto::record::{ChildExited, ChildKind, ChildSpawned, UserCommand, UserCommandResult};
use proto::{CallId, ErrorName, Failure, Pid};
use turn::Input;
use turn::facts::content_of_shell;

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::{self, Reply};
use crate::actor::replies::refuse;
use crate::calls::call::{Printed, Stop};
use crate::calls::state::Running;

/// Bytes of a command. More does not fit the argument of a program.
const LINE_MAX: usize = 64 * 1024;

impl Actor {
    /// See `session.shell`. `pid`: a number for it.
    pub(crate) fn shell(
        &mut self,
        pid: Pid,
        params: ShellParams,
        by: String,
        reply: Reply<ShellOutput>,
    ) {
        let line = params.command.trim().to_owned();
        match self.repeated(params.request_id, &content_of_shell(&line)) {
            Some(Ok(done)) => {
                return self.reply_when(done.seq, reply, ShellOutput { seq: done.seq });
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        let refusal = self
            .refusal()
            .or_else(|| malformed(&line))
            .or_else(|| self.shell_refusal());
        if let Some(refusal) = refusal {
            return refuse(reply, refusal);
        }
        let child = ChildSpawned {
            pid,
            kind: ChildKind::Shell,
            call: CallId(format!("user-{pid}")),
            command: contract::first_line(&line),
            user: Some(UserCommand {
                line,
                by,
                request_id: params.request_id,
            }),
        };
        self.step(Input::ChildSpawned(child.clone()));
        let seq = self.machine.facts().seq;
        self.calls.hold_user_command(seq, child);
        self.start_held();
        self.reply_when(seq, reply, ShellOutput { seq });
    }

    /// Why no user may run a command now.
    fn shell_refusal(&self) -> Option<Failure> {
        let facts = self.machine.facts();
        let busy = |what: &str, hint: &str| Some(Failure::new(ErrorName::Busy, what, hint));
        if facts.exited.is_some() {
            return Some(Failure::new(
                ErrorName::NotAllowed,
                "The session has ended, so it runs no commands.",
                "Send a prompt to open it again.",
            ));
        }
        if facts.user_command().is_some() {
            return busy(
                "Another command of a user is running in this session.",
                "Wait for its end, or interrupt it first.",
            );
        }
        if !self.machine.is_idle() || !facts.queue.is_empty() {
            return busy(
                "The session is working, so no command of a user can run.",
                "Wait until the turn ends, or interrupt it first.",
            );
        }
        self.assembly.user_shell().is_none().then(|| {
            Failure::new(
                ErrorName::Internal,
                "This daemon cannot run commands of users.",
                "",
            )
        })
    }

    /// The start is on disk: it runs.
    pub(crate) fn start_user_command(&mut self, child: &ChildSpawned) {
        let Some((user, shell)) = child.user.as_ref().zip(self.assembly.user_shell()) else {
            return;
        };
        let reporter = inbox::call_reporter(&self.happened);
        let printed = Arc::new(Printed::new(reporter.clone()));
        let stop = Arc::new(Stop::default());
        let task = self.calls.call_environment().start_user_command(
            shell,
            (child.pid, child.call.clone(), user.line.clone()),
            &printed,
            &stop,
            reporter,
        );
        let running = Running {
            printed,
            stop,
            task,
        };
        self.calls.put_running(child.call.clone(), running);
    }

    /// Stops the user's command that runs. Whether one did.
    pub(crate) fn interrupt_user_command(&mut self) -> bool {
        let Some(child) = self.machine.facts().user_command().cloned() else {
            return false;
        };
        match self.calls.running().get(&child.call) {
            Some(running) => running.stop.stop(self.calls.grace_ms(), StoppedBy::User),
            // It waits for the disk, and does not start any more.
            None => {
                self.calls.take_user_command(None);
                self.user_command_ended(
                    child.pid,
                    Outcome::with_status(
                        proto::item::CallStatus::Interrupted,
                        "stopped before the command was started",
                    ),
                    0,
                );
            }
        }
        true
    }

    /// The user's command of this name, if it runs.
    pub(crate) fn user_command_of(&self, call: &CallId) -> Option<Pid> {
        let child = self.machine.facts().user_command()?;
        (child.call == *call).then_some(child.pid)
    }

    /// It has ended, and nothing of it is left.
    pub(crate) fn user_command_ended(&mut self, pid: Pid, outcome: Outcome, duration_ms: u64) {
        let (code, signal) = match &outcome.display {
            Display::Command {
                exit_code, signal, ..
            } => (*exit_code, *signal),
            Display::Line { .. } | Display::Diff { .. } => (None, None),
        };
        let result = UserCommandResult {
            status: outcome.status,
            text: outcome.text,
            display: outcome.display,
            spill: (outcome.spill).map(|path| path.to_string_lossy().into_owned()),
            duration_ms,
        };
        self.child_exited(ChildExited {
            pid,
            code,
            signal,
            cause: None,
            result: Some(Box::new(result)),
        });
    }
}

impl SessionHandle {
    /// Runs a shell command of a user. Answers when its start is on disk.
    ///
    /// # Errors
    /// `busy` in a turn and while another one runs; `not_allowed` after the session's end; `invalid_params`,
    /// `request_id_reused`, `storage`.
    pub async fn shell(&self, params: ShellParams, by: String) -> Result<ShellOutput, Failure> {
        self.check_directory(params.request_id).await?;
        let shells = self.read(|actor| Arc::clone(&actor.calls.call_environment().shells));
        let number = shells.await?.number().await;
        let pid = number.map_err(|reason| {
            let what = format!("The command got no number: {reason}");
            Failure::new(ErrorName::Storage, what, "Check the disk, then try again.")
        })?;
        self.change(move |actor, reply| actor.shell(pid, params, by, reply))
            .await
    }
}

/// The refusal of a line that no shell can be given.
fn malformed(line: &str) -> Option<Failure> {
    let what = match line {
        "" => "The command is empty.",
        line if line.contains('\0') => "The command contains a zero byte.",
        line if line.len() > LINE_MAX => "The command is too long: it may have 64 KiB.",
        _ => return None,
    };
    Some(Failure::new(
        ErrorName::InvalidParams,
        what,
        "Write a shell command.",
    ))
}
