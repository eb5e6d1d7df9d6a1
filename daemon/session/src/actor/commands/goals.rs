//! Goals that users give a session: started, looked at, stopped. Each is acknowledged when it is on disk.

use proto::params::goal::{StartOutput, StartParams, StopOutput, StopParams};
use proto::record::{GoalCheck, GoalStarted};
use proto::{ErrorName, Failure, GoalId};
use turn::Input;
use turn::facts::{content_of_goal, content_of_goal_stop};

use crate::actor::Actor;
use crate::actor::inbox::Reply;
use crate::actor::replies::refuse;
use crate::assembly::goals::GoalSettings;

/// Bytes of a goal's text: it is in each prompt of its turns.
const TEXT_MAX: usize = 16 * 1024;
/// Bytes of the check commands together.
const CHECK_MAX: usize = 16 * 1024;

impl Actor {
    /// See `goal.start`. `settings`: those of the session's directory now.
    pub(crate) fn start_goal(
        &mut self,
        params: StartParams,
        settings: GoalSettings,
        by: String,
        reply: Reply<StartOutput>,
    ) {
        let text = params.text.trim().to_owned();
        match self.repeated(params.request_id, &content_of_goal(&text)) {
            Some(Ok(done)) => {
                let goal = GoalId(done.prompt_id.unwrap_or_default().0);
                let output = StartOutput {
                    goal,
                    seq: done.seq,
                };
                return self.reply_when(done.seq, reply, output);
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        let mut commands = settings.check;
        commands.extend(params.check);
        if let Some(refusal) = self.refusal().or_else(|| malformed(&text, &commands)) {
            return refuse(reply, refusal);
        }
        let check = match self.goal_check(commands) {
            Ok(check) => check,
            Err(refusal) => return refuse(reply, refusal),
        };
        let goal = GoalId::new();
        let before = self.machine.facts().seq;
        self.step(Input::StartGoal(Box::new(GoalStarted {
            goal,
            text,
            max_turns: params.max_turns.unwrap_or(settings.max_turns),
            check,
            by,
            request_id: params.request_id,
        })));
        let done = params
            .request_id
            .and_then(|id| self.machine.facts().requests.get(&id));
        let seq = done.map_or_else(|| before.next(), |done| done.seq);
        self.reply_when(seq, reply, StartOutput { goal, seq });
    }

    /// The call that runs the check commands; `None`: there are none.
    fn goal_check(&self, commands: Vec<String>) -> Result<Option<GoalCheck>, Failure> {
        if commands.is_empty() {
            return Ok(None);
        }
        let environment = self.calls.call_environment();
        let shell = self.assembly.user_shell();
        let check = shell.and_then(|shell| {
            let call = shell.check_call(&commands, environment.workspace.cwd())?;
            environment.tools.get(&call.tool)?;
            Some(GoalCheck {
                commands,
                tool: call.tool,
                arguments: call.arguments,
            })
        });
        let none = || {
            Failure::new(
                ErrorName::InvalidParams,
                "The goal has check commands, and this session has no tool that runs commands.",
                "Start the goal without them, or in a session with the tool for commands.",
            )
        };
        check.map(Some).ok_or_else(none)
    }

    /// See `goal.stop`.
    pub(crate) fn stop_goal(&mut self, params: StopParams, by: String, reply: Reply<StopOutput>) {
        match self.repeated(params.request_id, &content_of_goal_stop()) {
            Some(Ok(done)) => {
                return self.reply_when(done.seq, reply, StopOutput { stopped: true });
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        if let Some(refusal) = self.refusal() {
            return refuse(reply, refusal);
        }
        let stopped = self.machine.facts().goal.is_some();
        let partial = self.partial();
        self.step(Input::StopGoal {
            by,
            request_id: params.request_id,
            partial,
        });
        let seq = self.machine.facts().seq;
        self.reply_when(seq, reply, StopOutput { stopped });
    }
}

/// The refusal of a goal that says nothing, or too much.
fn malformed(text: &str, commands: &[String]) -> Option<Failure> {
    let bytes: usize = commands.iter().map(String::len).sum();
    let (what, hint) = if text.is_empty() {
        ("The goal is empty.", "Describe what is to be reached.")
    } else if text.len() > TEXT_MAX {
        (
            "The goal is too long: it may have 16 KiB.",
            "Put details into a file, and name it in the goal.",
        )
    } else if commands
        .iter()
        .any(|one| one.trim().is_empty() || one.contains('\0'))
    {
        (
            "A check command of the goal is empty or contains a zero byte.",
            "Write a shell command.",
        )
    } else if bytes > CHECK_MAX {
        (
            "The check commands of the goal are too long: together they may have 16 KiB.",
            "Put them into a script, and run that.",
        )
    } else {
        return None;
    };
    Some(Failure::new(ErrorName::InvalidParams, what, hint))
}
