//! Goals that users give a session: started, looked at, changed, stopped. Each is acknowledged when it is on disk.

use std::sync::Arc;

use proto::budget::{Budget, Dimension};
use proto::params::goal::{
    ChangeEffect, ChangeOutput, ChangeParams, StartOutput, StartParams, StatusOutput, StopOutput,
    StopParams,
};
use proto::record::{GoalChanged, GoalCheck, GoalResearch, GoalResumed, GoalStarted};
use proto::{ErrorName, Failure, GoalId, Pid, Record, SessionOptions};
use turn::GoalChangeRefusal;
use turn::Input;
use turn::facts::{content_of_goal, content_of_goal_change, content_of_goal_stop};
use workspace::Workspace;

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::Reply;
use crate::actor::replies::refuse;
use crate::assembly::goals::GoalSettings;
use crate::assembly::setup::Assembly;
use crate::research;
use crate::tasks::{self, blocking};

/// Bytes of a goal's text: it is in each prompt of its turns.
const TEXT_MAX: usize = 16 * 1024;
/// Bytes of the check commands together.
const CHECK_MAX: usize = 16 * 1024;

impl Actor {
    /// What is to be known before a goal starts, for work that blocks.
    pub(crate) fn goal_ground(&self, params: &StartParams) -> Result<GoalGround, Failure> {
        let facts = self.machine.facts();
        let repeated = params
            .request_id
            .is_some_and(|id| facts.requests.contains_key(&id));
        if let Some(refusal) = self.refusal().filter(|_| !repeated) {
            return Err(refusal);
        }
        let options = &facts.options;
        let plans = options.mode.is_some_and(|mode| !mode.is_normal());
        Ok(GoalGround {
            workspace: Arc::clone(&self.calls.call_environment().workspace),
            assembly: Arc::clone(&self.assembly),
            repeated,
            reads_only: plans || options.read_only.unwrap_or_default(),
        })
    }

    /// See `goal.start`. `settings`: those of the session's directory now. `research`: its run, if it is long research.
    pub(crate) fn start_goal(
        &mut self,
        params: StartParams,
        (settings, research): (GoalSettings, Option<GoalResearch>),
        by: String,
        reply: Reply<StartOutput>,
    ) {
        let text = params.text.trim().to_owned();
        match self.repeated(params.request_id, &content_of_goal(&text)) {
            Some(Ok(done)) => {
                let goal = GoalId(done.prompt_id.unwrap_or_default().0);
                let current = self.machine.facts().goal.as_ref();
                let current = current.filter(|current| current.id == goal);
                let run = current.and_then(|goal| goal.research.as_ref());
                let output = StartOutput {
                    goal,
                    seq: done.seq,
                    research: run.map(|run| run.dir.clone()),
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
        let dir = research.as_ref().map(|run| run.dir.clone());
        let before = self.machine.facts().seq;
        self.step(Input::StartGoal(Box::new(GoalStarted {
            goal,
            text,
            max_turns: params.max_turns.unwrap_or(settings.max_turns),
            check,
            research,
            by,
            request_id: params.request_id,
        })));
        let done = params
            .request_id
            .and_then(|id| self.machine.facts().requests.get(&id));
        let seq = done.map_or_else(|| before.next(), |done| done.seq);
        let output = StartOutput {
            goal,
            seq,
            research: dir,
        };
        self.reply_when(seq, reply, output);
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

    /// See `goal.change`.
    pub(crate) fn change_goal(
        &mut self,
        params: ChangeParams,
        by: String,
        reply: Reply<ChangeOutput>,
    ) {
        let content = content_of_goal_change(params.max_turns, params.budget);
        match self.repeated(params.request_id, &content) {
            Some(Ok(done)) => {
                let output = self.changed_goal(false);
                return self.reply_when(done.seq, reply, output);
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        let resumed = match self.check_goal_change(&params) {
            Ok(resumed) => resumed,
            Err(refusal) => return refuse(reply, refusal),
        };
        let resumes = resumed.is_some();
        let facts = self.machine.facts();
        let last = facts.last_goal.as_ref();
        let goal = facts.goal.as_ref().map(|goal| goal.id);
        let goal = goal.or_else(|| last.map(|last| last.ended.goal));
        self.step(Input::ChangeGoal(Box::new(GoalChanged {
            goal: goal.unwrap_or_default(),
            max_turns: params.max_turns,
            budget: params.budget,
            resumed,
            by,
            request_id: params.request_id,
        })));
        let output = self.changed_goal(resumes);
        self.reply_when(self.machine.facts().seq, reply, output);
    }

    /// The goal that the change resumes, if it has ended at a limit; or why the change is refused.
    fn check_goal_change(&self, params: &ChangeParams) -> Result<Option<GoalResumed>, Failure> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let budget = params.budget.filter(|budget| *budget != Budget::default());
        if params.max_turns.is_none() && budget.is_none() {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "No limit of the goal is given.",
                "Name what to change, for example `--max-turns 80` or `--budget-usd 5`.",
            ));
        }
        self.check_budget(&SessionOptions {
            budget,
            ..SessionOptions::default()
        })?;
        let facts = self.machine.facts();
        let pid = facts.created.as_ref().map_or(Pid(0), |created| created.pid);
        let checked = facts.check_goal_change(params.max_turns, budget);
        checked.map_err(|refusal| change_refused(refusal, pid))
    }

    /// The goal after a change of its limits.
    fn changed_goal(&self, resumed: bool) -> ChangeOutput {
        let facts = self.machine.facts();
        let ended = facts
            .last_goal
            .as_ref()
            .and_then(|last| last.goal.as_deref());
        let goal = facts.goal.as_ref().or(ended);
        let (turns, max_turns) = goal.map_or((0, 0), |goal| (goal.turns, goal.max_turns));
        let turn = turns + u64::from(facts.goal.is_some() && facts.open.is_some());
        let effect = match facts.goal.is_some() {
            false => ChangeEffect::Ended,
            true if resumed => ChangeEffect::Resumed,
            true if max_turns > 0 && turn >= max_turns => ChangeEffect::LastTurn,
            true => ChangeEffect::Changed,
        };
        ChangeOutput {
            goal: goal.map_or_else(GoalId::default, |goal| goal.id),
            turn,
            max_turns,
            budget: facts.options.budget.unwrap_or_default(),
            effect,
        }
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

    /// Keeps the state of a research run in its directory, if this record changes it.
    pub(crate) fn keep_research_state(&self, record: &Record) {
        let new = research::state_after(self.machine.facts(), self.id, record);
        let Some((dir, state)) = new else { return };
        let workspace = Arc::clone(&self.calls.call_environment().workspace);
        tasks::spawn_blocking(move || {
            if let Err(error) = research::keep(&workspace, &dir, &state) {
                tracing::warn!(%error, "the state of a research run is not written");
            }
        });
    }
}

impl SessionHandle {
    /// Starts a goal. Answers when it is on disk.
    ///
    /// # Errors
    /// `invalid_params`, `request_id_reused`, `storage`.
    pub async fn start_goal(
        &self,
        params: StartParams,
        by: String,
    ) -> Result<StartOutput, Failure> {
        self.check_directory(params.request_id).await?;
        let asked = params.clone();
        let ground = self.read(move |actor| actor.goal_ground(&asked)).await??;
        let (params, prepared) = blocking(move || {
            let prepared = ground.prepare(&params);
            (params, prepared)
        })
        .await?;
        let prepared = prepared?;
        self.change(move |actor, reply| actor.start_goal(params, prepared, by, reply))
            .await
    }

    /// The goal in progress, and how the last one ended.
    ///
    /// # Errors
    /// The session has left memory.
    pub async fn goal_status(&self) -> Result<StatusOutput, Failure> {
        self.read(|actor| actor.machine.facts().goal_status()).await
    }

    /// Changes the limits of the goal. Answers when that is on disk.
    ///
    /// # Errors
    /// `invalid_params`, `invalid_config`, `request_id_reused`, `storage`.
    pub async fn change_goal(
        &self,
        params: ChangeParams,
        by: String,
    ) -> Result<ChangeOutput, Failure> {
        self.check_directory(params.request_id).await?;
        self.change(move |actor, reply| actor.change_goal(params, by, reply))
            .await
    }

    /// Ends the goal and stops the running turn. Answers when that is on disk.
    ///
    /// # Errors
    /// `request_id_reused`, `storage`.
    pub async fn stop_goal(&self, params: StopParams, by: String) -> Result<StopOutput, Failure> {
        self.change(move |actor, reply| actor.stop_goal(params, by, reply))
            .await
    }
}

/// Where a goal starts.
pub(crate) struct GoalGround {
    pub workspace: Arc<Workspace>,
    pub assembly: Arc<dyn Assembly>,
    /// Its request was carried out before.
    pub repeated: bool,
    pub reads_only: bool,
}

impl GoalGround {
    /// Reads the settings of goals, and begins a run if the goal is long research. Blocks.
    pub(crate) fn prepare(
        &self,
        params: &StartParams,
    ) -> Result<(GoalSettings, Option<GoalResearch>), Failure> {
        let settings = self.assembly.goals(self.workspace.cwd());
        let mut checks = settings.check.clone();
        checks.extend(params.check.iter().cloned());
        let text = params.text.trim();
        // The actor refuses it, and answers a repeated request as before.
        if self.repeated || malformed(text, &checks).is_some() {
            return Ok((settings, None));
        }
        let asked = research::ResearchRequest {
            goal: text,
            checks: &checks,
            research: params.research,
            reads_only: self.reads_only,
        };
        let research = research::begin(&self.workspace, &asked)?;
        Ok((settings, research))
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

/// The refusal of a change of the goal of this session.
fn change_refused(refusal: GoalChangeRefusal, pid: Pid) -> Failure {
    let again = format!("Start one with `reasonix goal -s {pid} \"TEXT\"`.");
    let (what, hint) = match refusal {
        GoalChangeRefusal::NoGoal => ("This session has no goal.".to_owned(), again),
        GoalChangeRefusal::Ended => (
            "The goal has ended, and not because of a limit.".to_owned(),
            again,
        ),
        GoalChangeRefusal::Superseded => (
            "The goal has ended, and the session has had another turn since.".to_owned(),
            again,
        ),
        GoalChangeRefusal::OutOfTurns { turns } => (
            format!("The goal has had its turns ({turns}), and this limit leaves it none."),
            format!(
                "Allow more: `reasonix goal change {pid} --max-turns {}` (0: no limit).",
                turns + 10
            ),
        ),
        GoalChangeRefusal::OutOfBudget { dimension } => {
            let (option, example) = match dimension {
                Dimension::Money => ("--budget-usd", "10"),
                Dimension::Tokens => ("--budget-tokens", "2M"),
                Dimension::Steps => ("--budget-steps", "500"),
                Dimension::Time => ("--budget-minutes", "240"),
            };
            (
                format!("The session has used up its budget (`{option}`): the goal cannot go on."),
                format!(
                    "Raise it, for example `reasonix goal change {pid} {option} {example}` (0: no limit)."
                ),
            )
        }
    };
    Failure::new(ErrorName::InvalidParams, what, hint)
}
