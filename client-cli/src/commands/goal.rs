//! `reasonix goal`: a session works towards a goal by itself, turn after turn; its status, its limits, its end.

use clap::Subcommand;
use client::goal_command::GoalCommand;
use client::transcript::words::{goal_detail, goal_limits, goal_reason};
use proto::budget::Budget;
use proto::hello::Role;
use proto::methods::{GoalChange, GoalStart, GoalStatus, GoalStop};
use proto::outcome::TurnLimit;
use proto::params::goal::{
    ChangeEffect, ChangeOutput, ChangeParams, GoalProgress, StartParams, StatusOutput, StopParams,
};
use proto::params::session::{OneParams, SessionSummary};
use proto::record::{GoalOutcome, GoalReport, ReportStatus};
use proto::state::{State, WaitingFor};

use super::run;
use crate::exit::Error;
use crate::messages::goal::Msg;
use crate::messages::{Thing, language, translated};
use crate::session_options::SessionArgs;
use crate::{output, reach, text};

/// Work towards a goal, turn after turn, until it is reached.
///
/// The session ends each turn with a report and continues until the goal is complete, blocked, stopped or out of turns
/// or budget. A claim that it is complete is checked: the todo list, the evidence, and the check commands. Progress
/// goes to standard error, the last answer to standard output.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Goal; `-` reads standard input.
    text: Vec<String>,
    /// Number of turns after which it ends; 0: no limit [default: the setting `goal.max_turns`].
    #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(0..=u64::MAX, 50))]
    max_turns: Option<u64>,
    /// Shell command that must succeed before the goal counts as complete; repeatable.
    #[arg(long, value_name = "CMD")]
    check: Vec<String>,
    /// Treat the goal as long research: keep a plan, journal and findings in `.reasonix/autoresearch/` [default: decided
    /// from the goal's text].
    #[arg(long, conflicts_with = "simple")]
    research: bool,
    /// Do not treat the goal as long research.
    #[arg(long)]
    simple: bool,
    /// Output: the answer (`text`), one result object (`json`), or one event per line and then the result object
    /// (`jsonl`) [default: text].
    #[arg(long, value_enum, value_name = "FORMAT")]
    output_format: Option<run::Format>,
    /// Same as `--output-format json`.
    #[arg(long, conflicts_with = "output_format")]
    json: bool,
    /// Give the goal to this session: pid, id, or name. It keeps the options given here.
    #[arg(short, long, conflicts_with_all = ["continue_last", "cwd"])]
    session: Option<String>,
    /// Give it to the most recent session of this directory. It keeps the options given here.
    #[arg(short, long = "continue")]
    continue_last: bool,
    #[command(flatten)]
    options: SessionArgs,
    /// Trust the settings of this directory's project (hooks, rules, providers, `.env`) until the run ends
    ///
    /// They are read as they are now and shown on stderr; nothing is stored. They also count for other sessions that
    /// start in the project meanwhile. Use `reasonix trust` to trust them from now on. Only for a new session; not with
    /// `--detach`.
    #[arg(long, conflicts_with_all = ["detach", "session", "continue_last"])]
    trust: bool,
    /// Work in a new git worktree on a new branch and leave your checkout unchanged.
    #[arg(long, conflicts_with_all = ["session", "continue_last"])]
    worktree: bool,
    /// Print the pid of the session and return once the goal is stored.
    #[arg(long)]
    detach: bool,
    /// Work in this directory.
    #[arg(long, value_name = "DIR")]
    cwd: Option<std::path::PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the goal of a session and how far it is.
    Status {
        /// Session: pid, id, or name [default: the most recent one of this directory].
        session: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Change the limits of a goal while it runs, or after one of them has ended it.
    ///
    /// A goal that a limit has ended goes on if the limit is raised. One that has no turn left ends after the running
    /// turn. The budget is that of the session, for its whole life.
    Change(Change),
    /// End the goal of a session and stop the turn that works on it.
    Stop {
        /// Session: pid, id, or name [default: the most recent one of this directory].
        session: Option<String>,
    },
}

/// New limits.
#[derive(Debug, clap::Args)]
struct Change {
    /// Session: pid, id, or name [default: the most recent one of this directory].
    session: Option<String>,
    #[command(flatten)]
    limits: Limits,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The limits that are to change.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct Limits {
    /// Number of turns after which it ends; 0: no limit.
    #[arg(long, alias = "turns", value_name = "N", value_parser = crate::numbers::whole::<u64>(0..=u64::MAX, 50))]
    max_turns: Option<u64>,
    /// Set the limit in US dollars.
    #[arg(long, value_name = "DOLLARS", value_parser = client::amounts::usd)]
    budget_usd: Option<u64>,
    /// Set the limit in tokens, prompts and answers (`100k`, `2M`).
    #[arg(long, value_name = "N", value_parser = client::amounts::count)]
    budget_tokens: Option<u64>,
    /// Set the limit in requests to the model.
    #[arg(long, value_name = "N", value_parser = client::amounts::count)]
    budget_steps: Option<u64>,
    /// Set the limit in minutes of running turns.
    #[arg(long, value_name = "MINUTES", value_parser = client::amounts::minutes)]
    budget_minutes: Option<u64>,
}

/// Does what was asked.
pub async fn run(args: Args) -> Result<u8, Error> {
    match args.what {
        Some(What::Status { session, json }) => status(session, json).await,
        Some(What::Change(asked)) => change(asked).await,
        Some(What::Stop { session }) => stop(session).await,
        None => {
            let goal = run::Goal {
                max_turns: args.max_turns,
                check: args.check,
                research: (args.research || args.simple).then_some(args.research),
            };
            let mut run = run::Args::of_goal(args.text, goal);
            run.output_format = args.output_format;
            run.json = args.json;
            run.session = args.session;
            run.continue_last = args.continue_last;
            run.options = args.options;
            run.trust = args.trust;
            run.worktree = args.worktree;
            run.detach = args.detach;
            run.cwd = args.cwd;
            run::run(run).await
        }
    }
}

/// The session that is meant, or the last one of this directory.
async fn named(client: &client::Client, session: Option<String>) -> Result<String, Error> {
    if let Some(session) = session {
        return Ok(session);
    }
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    let last = reach::last_session(client, &cwd).await?;
    Ok(last.session.to_string())
}

/// Does what `/goal` asks for; returns the lines that answer it.
pub(super) async fn perform(
    client: &client::Client,
    session: String,
    command: GoalCommand,
) -> Result<Vec<String>, Error> {
    let request_id = Some(proto::RequestId::new());
    match command {
        GoalCommand::Show => {
            let params = OneParams {
                session: session.clone(),
            };
            let status = client.call::<GoalStatus>(&params).await?;
            Ok(lines(&status, &client.session(&session).await?))
        }
        GoalCommand::Clear => {
            let params = StopParams {
                session,
                request_id,
            };
            let stopped = client.call::<GoalStop>(&params).await?.stopped;
            Ok(match stopped {
                true => Vec::new(),
                false => vec![say!(Msg::NoGoal).to_owned()],
            })
        }
        GoalCommand::Change { max_turns, budget } => {
            let params = ChangeParams {
                session,
                max_turns,
                budget,
                request_id,
            };
            Ok(change_lines(&client.call::<GoalChange>(&params).await?))
        }
        GoalCommand::Start { text, research } => {
            let params = StartParams {
                session,
                text,
                max_turns: None,
                check: Vec::new(),
                research,
                request_id,
            };
            client.call::<GoalStart>(&params).await?;
            Ok(Vec::new())
        }
    }
}

async fn status(session: Option<String>, json: bool) -> Result<u8, Error> {
    let client = reach::with("goal", |options| options.role = Role::Watch).await?;
    let session = named(&client, session).await?;
    let params = OneParams {
        session: session.clone(),
    };
    let status = client.call::<GoalStatus>(&params).await?;
    if json {
        output::json(&status)?;
        return Ok(0);
    }
    let summary = client.session(&session).await?;
    for line in lines(&status, &summary) {
        output::line(&text::clean(&line))?;
    }
    Ok(0)
}

/// The status of the goal of a session, in words.
fn lines(status: &StatusOutput, session: &SessionSummary) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(goal) = &status.goal {
        lines.push(say!(Msg::Goal, goal.text));
        lines.push(state_words(goal, session));
        if session.queued > 0 {
            lines.push(say!(Msg::QueuedBefore, session.queued));
        }
        if let Some(last) = goal.continued.as_ref().filter(|last| last.number > 1) {
            let why = goal_reason(language(), last.why);
            let detail = goal_detail(language(), last.why, &last.detail);
            lines.push(match detail.as_str() {
                "" => say!(Msg::Continued, why),
                detail => say!(Msg::ContinuedWith, why, detail),
            });
        }
        lines.extend(goal.report.as_ref().map(report_words));
        if goal.stalled > 0 {
            lines.push(say!(Msg::Stalled, goal.stalled));
        }
        if !goal.budget.is_empty() {
            lines.push(limit_words(goal.max_turns, goal.budget));
        }
        lines.extend(goal.research.as_ref().map(|dir| say!(Msg::Research, dir)));
        lines.extend(goal.check.iter().map(|check| say!(Msg::Check, check)));
    } else if let Some(ended) = &status.ended {
        lines.push(say!(Msg::Goal, status.ended_text));
        let outcome = outcome_words(ended.outcome);
        let turns = output::counted(ended.turns, Thing::Turn);
        let reason = translated(&ended.reason);
        lines.push(say!(Msg::Ended, outcome, turns, reason));
        match (status.limit, ended.outcome) {
            (Some(limit), _) => lines.push(say!(Msg::GoesOn, session.pid, limit.option())),
            (None, GoalOutcome::OutOfBudget) => lines.push(say!(Msg::DayBudget, session.pid)),
            (None, _) => {}
        }
    } else {
        lines.push(say!(Msg::NoGoal).to_owned());
    }
    lines
}

/// Its turn, and what keeps that from going on.
fn state_words(goal: &GoalProgress, session: &SessionSummary) -> String {
    let at_work = matches!(session.state, State::Running | State::Waiting);
    let turn = match (goal.turn, goal.max_turns) {
        (0, _) if at_work => say!(Msg::StartsAfter).to_owned(),
        (0, _) => say!(Msg::NoTurn).to_owned(),
        (turn, 0) => say!(Msg::Turn, turn),
        (turn, max) => say!(Msg::TurnOf, turn, max),
    };
    match (session.state, session.waiting_for) {
        (State::Paused, _) => say!(Msg::TurnPaused, turn, session.pid),
        (State::Waiting, Some(WaitingFor::Retry)) => {
            say!(Msg::TurnRetries, turn, translated(&session.cause))
        }
        (State::Waiting, Some(WaitingFor::Restart)) => say!(Msg::TurnRestarts, turn),
        (State::Waiting, _) => say!(Msg::TurnWaits, turn),
        _ if session.pending_interactions > 0 => say!(Msg::TurnWaits, turn),
        _ if session.at_limit == Some(TurnLimit::Time) => {
            say!(Msg::TurnAtLimit, turn, session.pid)
        }
        (State::Running | State::Idle | State::Exited, _) => turn,
    }
}

fn report_words(report: &GoalReport) -> String {
    match report.status {
        ReportStatus::Continue => say!(Msg::ReportedContinue, report.summary),
        ReportStatus::Complete => say!(Msg::ReportedComplete, report.summary),
        ReportStatus::Blocked => say!(Msg::ReportedBlocked, report.summary),
    }
}

fn outcome_words(outcome: GoalOutcome) -> &'static str {
    match outcome {
        GoalOutcome::Complete => say!(Msg::Complete),
        GoalOutcome::Blocked => say!(Msg::Blocked),
        GoalOutcome::Stopped => say!(Msg::Stopped),
        GoalOutcome::OutOfBudget => say!(Msg::OutOfBudget),
        GoalOutcome::OutOfTurns => say!(Msg::OutOfTurns),
        GoalOutcome::Failed => say!(Msg::Failed),
    }
}

async fn change(asked: Change) -> Result<u8, Error> {
    let client = reach::with("goal", |options| options.role = Role::Drive).await?;
    let budget = Budget {
        cost_micros: asked.limits.budget_usd,
        tokens: asked.limits.budget_tokens,
        steps: asked.limits.budget_steps,
        ms: asked.limits.budget_minutes,
    };
    let params = ChangeParams {
        session: named(&client, asked.session).await?,
        max_turns: asked.limits.max_turns,
        budget: (budget != Budget::default()).then_some(budget),
        request_id: Some(proto::RequestId::new()),
    };
    let changed = client.call::<GoalChange>(&params).await?;
    if asked.json {
        output::json(&changed)?;
        return Ok(0);
    }
    for line in change_lines(&changed) {
        output::line(&line)?;
    }
    Ok(0)
}

/// The limits after a change, and what it led to.
fn change_lines(changed: &ChangeOutput) -> Vec<String> {
    let effect = match changed.effect {
        ChangeEffect::Changed => None,
        ChangeEffect::Resumed => Some(say!(Msg::ChangeResumed)),
        ChangeEffect::LastTurn => Some(say!(Msg::ChangeLastTurn)),
        ChangeEffect::Ended => Some(say!(Msg::ChangeEnded)),
    };
    let limits = limit_words(changed.max_turns, changed.budget);
    let effect = effect.map(str::to_owned);
    std::iter::once(limits).chain(effect).collect()
}

/// The limits that hold for a goal.
fn limit_words(max_turns: u64, budget: Budget) -> String {
    let limits = goal_limits(language(), Some(max_turns), Some(budget));
    say!(Msg::Limits, limits)
}

async fn stop(session: Option<String>) -> Result<u8, Error> {
    let client = reach::with("goal", |options| options.role = Role::Drive).await?;
    let session = named(&client, session).await?;
    let params = StopParams {
        session,
        request_id: Some(proto::RequestId::new()),
    };
    let stopped = client.call::<GoalStop>(&params).await?.stopped;
    output::line(match stopped {
        true => say!(Msg::GoalStopped),
        false => say!(Msg::NoGoal),
    })?;
    Ok(0)
}
