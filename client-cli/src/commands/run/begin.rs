//! How a run begins: its prompt enters a session, a new one or one that goes on.

use std::time::Duration;

use client::messages::transcript::Msg as Transcript;
use client::{Client, Follow, FollowFrom, amounts, transcript};
use proto::budget::Budget;
use proto::methods::{GoalStart, SessionFork};
use proto::params::goal::StartParams;
use proto::params::history::ForkParams;
use proto::params::session::{CreateOutput, CreateParams, PromptParams, SessionSummary, When};
use proto::state::{Kind, OnAsk, State};
use proto::{PromptId, RequestId, Seq, SessionId, SessionOptions, Stamp};

use super::report::Report;
use super::{Args, Format, trust, worktree};
use crate::commands::setup;
use crate::exit::Error;
use crate::messages::goal::Msg as GoalMsg;
use crate::messages::language;
use crate::messages::run::Msg;
use crate::{output, reach, text as words};
use client::prompt::Prompt;

/// A prompt that is in the log, and the session's events from there on.
pub(super) struct StartedPrompt {
    pub session: SessionId,
    pub prompt_id: PromptId,
    /// Events before this one are not of this run.
    pub seq: Seq,
    pub follow: Option<Follow>,
    /// `on_ask` for the turns of this run; absent: that of the session.
    pub on_ask: Option<OnAsk>,
}

/// In a new session.
pub(super) async fn create(
    client: &Client,
    args: &Args,
    cwd: String,
    prompt: Prompt,
    interactive: bool,
    report: &mut Report,
) -> Result<StartedPrompt, Error> {
    // A person who is to be asked must be attached before the turn begins. A short turn could end before the worktree is
    // asked for.
    let later = interactive || args.goal.is_some() || args.worktree;
    let first = (!later).then(|| prompt.clone());
    let created = new(client, args, cwd, first, interactive, report).await?;
    let session = created.session;
    let follow = if args.detach {
        None
    } else {
        Some(follow(client, session, FollowFrom::After(Seq(0)), args).await?)
    };
    let prompt_id = match created.prompt_id {
        Some(prompt_id) => prompt_id,
        None => enter(client, args, session, prompt, false, None).await?.0,
    };
    Ok(StartedPrompt {
        session,
        prompt_id,
        seq: Seq(1),
        follow,
        on_ask: None,
    })
}

/// Makes a session.
async fn new(
    client: &Client,
    args: &Args,
    cwd: String,
    prompt: Option<Prompt>,
    interactive: bool,
    report: &mut Report,
) -> Result<CreateOutput, Error> {
    if args.trust {
        trust::for_the_run(client, &cwd).await?;
    }
    let mut options = args.options.options();
    options.kind = Some(Kind::Headless);
    options.on_ask.get_or_insert(OnAsk::Sandboxed);
    let (prompt, untyped) = match prompt {
        Some(Prompt { text, untyped }) => (Some(text), untyped),
        None => (None, Vec::new()),
    };
    let params = CreateParams {
        prompt,
        untyped,
        profile: args.options.profile()?,
        preset: args.options.preset(),
        ephemeral: args.ephemeral,
        worktree: args.worktree,
        ..client.new_session(cwd, options).await
    };
    let created = setup::created(client, params, interactive).await?;
    report.session = Some(created.session);
    report.pid = Some(created.pid);
    worktree::begin(client, args, report).await?;
    Ok(created)
}

/// A session that is followed, and has no prompt of this run yet.
pub(super) struct OpenedSession {
    pub session: SessionId,
    pub follow: Follow,
    /// Events before this one are not of this run.
    pub seq: Seq,
    /// `on_ask` for the turns of this run; absent: that of the session.
    pub on_ask: Option<OnAsk>,
}

/// Opens a session for somebody who prompts and answers later: a new one, or one that goes on.
pub(super) async fn open(
    client: &Client,
    args: &Args,
    cwd: String,
    report: &mut Report,
) -> Result<OpenedSession, Error> {
    if !args.continues() {
        let session = new(client, args, cwd, None, false, report).await?.session;
        return Ok(OpenedSession {
            session,
            follow: follow(client, session, FollowFrom::After(Seq(0)), args).await?,
            seq: Seq(1),
            on_ask: None,
        });
    }
    let summary = existing(client, args, &cwd, report).await?;
    let session = summary.session;
    let follow = follow(client, session, FollowFrom::Snapshot { backlog: 0 }, args).await?;
    let seq = follow.attached().seq.next();
    Ok(OpenedSession {
        session,
        follow,
        seq,
        on_ask: on_ask(args, &summary),
    })
}

/// Continues an existing session, after applying the options to it.
pub(super) async fn resume(
    client: &Client,
    args: &Args,
    cwd: &str,
    prompt: Prompt,
    interactive: bool,
    report: &mut Report,
) -> Result<StartedPrompt, Error> {
    let summary = existing(client, args, cwd, report).await?;
    let session = summary.session;
    if interactive {
        let follow = follow(client, session, FollowFrom::Snapshot { backlog: 0 }, args).await?;
        let (prompt_id, seq) = enter(client, args, session, prompt, true, None).await?;
        tell_waiting(args, &summary);
        return Ok(StartedPrompt {
            session,
            prompt_id,
            seq,
            follow: Some(follow),
            on_ask: None,
        });
    }
    let on_ask = on_ask(args, &summary);
    let (prompt_id, seq) = enter(client, args, session, prompt, true, on_ask).await?;
    tell_waiting(args, &summary);
    let before = Seq(seq.0.saturating_sub(1));
    let follow = if args.detach {
        None
    } else {
        Some(follow(client, session, FollowFrom::After(before), args).await?)
    };
    Ok(StartedPrompt {
        session,
        prompt_id,
        seq,
        follow,
        on_ask,
    })
}

/// Says what a prompt or goal waits for that was given to a session in this state.
fn tell_waiting(args: &Args, summary: &SessionSummary) {
    let (pid, is_goal) = (summary.pid, args.goal.is_some());
    let words = match summary.state {
        _ if args.detach => return,
        State::Running | State::Waiting if is_goal => say!(GoalMsg::WaitsForTurn, pid),
        State::Running | State::Waiting => say!(Msg::WaitsForTurn, pid),
        State::Paused if is_goal => say!(GoalMsg::WaitsForResume, pid),
        State::Paused => say!(Msg::WaitsForResume, pid),
        State::Idle | State::Exited => return,
    };
    output::progress(&words);
}

/// A user's session would wait for approval, and does so again after this run. A run's own session keeps its setting.
fn on_ask(args: &Args, summary: &SessionSummary) -> Option<OnAsk> {
    let alone = summary.kind == Kind::Interactive && args.options.options().on_ask.is_none();
    alone.then_some(OnAsk::Sandboxed)
}

/// The session that goes on, or a fork of it, with its options changed.
async fn existing(
    client: &Client,
    args: &Args,
    cwd: &str,
    report: &mut Report,
) -> Result<SessionSummary, Error> {
    fits(args)?;
    let mut summary = match &args.session {
        Some(session) => client.session(session).await?,
        None => reach::last_session(client, cwd).await?,
    };
    if args.fork {
        summary = fork(client, &summary, args.ephemeral).await?;
    }
    report.session = Some(summary.session);
    report.pid = Some(summary.pid);
    if args.format() == Format::Text {
        output::progress(&format!("· {}", session_line(&summary)));
    }
    if let Some(words) = expired(&summary, Stamp::now()) {
        output::progress(&words);
    }
    let session = summary.session.to_string();
    if let Some(settings) = changes(args, &summary) {
        client.set(&session, settings.clone()).await?;
        if let Some(words) = kept(&settings, &summary) {
            output::progress(&words);
        }
    }
    Ok(summary)
}

/// The line that a new session shows by itself.
fn session_line(summary: &SessionSummary) -> String {
    let pid = summary.pid.to_string();
    let shown = [summary.model.as_str(), summary.cwd.as_str()].map(words::line);
    language().fill(Transcript::Session, &[&pid, &shown[0], &shown[1]])
}

/// A new session that begins as this one did, up to its last turn.
async fn fork(
    client: &Client,
    of: &SessionSummary,
    ephemeral: bool,
) -> Result<SessionSummary, Error> {
    let fork = SessionId::new();
    let params = ForkParams {
        ephemeral,
        session: of.session.to_string(),
        fork,
        at_turn: None,
        name: None,
        kind: Some(Kind::Headless),
    };
    client.call::<SessionFork>(&params).await?;
    Ok(client.session(&fork.to_string()).await?)
}

/// Refuses options that are not for a session that there is.
fn fits(args: &Args) -> Result<(), Error> {
    let options = args.options.options();
    let of_the_model = options.model.is_some()
        || options.effort.is_some()
        || options.extract_reasoning.is_some()
        || options.samples.is_some()
        || args.options.preset().is_some();
    if of_the_model {
        return Err(Error::usage(
            say!(Msg::RunKeepsModel),
            say!(Msg::RunKeepsModelHint),
        ));
    }
    if options.rules.is_some() {
        return Err(Error::usage(
            say!(Msg::RulesFixed),
            say!(Msg::RulesFixedHint),
        ));
    }
    Ok(())
}

/// What the options change of the session; `None` if they change nothing. Labels are added to those that it has.
fn changes(args: &Args, summary: &SessionSummary) -> Option<SessionOptions> {
    let mut options = args.options.options();
    if let Some(new) = &mut options.labels {
        new.retain(|label| !summary.labels.contains(label));
        new.splice(0..0, summary.labels.iter().cloned());
    }
    (!options.is_empty()).then_some(options)
}

/// What a session may use from now on, in words.
fn budget_words(budget: &Budget) -> String {
    let money = budget.cost_micros.map(|micros| match micros {
        0 => say!(Msg::NoMoneyBudget).to_owned(),
        micros => say!(Msg::MoneyBudget, amounts::dollars(micros)),
    });
    let tokens = budget.tokens.map(|tokens| match tokens {
        0 => say!(Msg::NoTokenBudget).to_owned(),
        tokens => say!(Msg::TokenBudget, tokens),
    });
    let words: Vec<_> = [money, tokens].into_iter().flatten().collect();
    words.join(", ")
}

/// That the provider's cache has forgotten the conversation, and what that costs.
fn expired(summary: &SessionSummary, now: Stamp) -> Option<String> {
    let (used, ttl) = (summary.cache_used?, summary.cache_ttl_ms?);
    let age = u64::try_from(now.0.saturating_sub(used.0)).unwrap_or(0);
    let cold = summary.cold.as_ref().filter(|_| age > ttl)?;
    let words = transcript::words::forecast(language(), cold);
    Some(say!(Msg::CacheExpired, words))
}

/// What the session keeps of this run's options: a line for the person, who may have meant one run only.
fn kept(settings: &SessionOptions, before: &SessionSummary) -> Option<String> {
    let approval_mode = settings
        .approval_mode
        .filter(|approval_mode| *approval_mode != before.approval_mode);
    let words: Vec<String> = [
        approval_mode.map(|approval_mode| say!(Msg::ApprovalMode, approval_mode.as_str())),
        settings
            .mode
            .filter(|mode| *mode != before.mode)
            .map(|mode| say!(Msg::Mode, mode.as_str())),
        settings
            .read_only
            .filter(|only| *only != before.only_reads)
            .map(|_| say!(Msg::ReadOnly).to_owned()),
        settings
            .on_ask
            .map(|on_ask| format!("on-ask {}", on_ask.as_str())),
        settings.max_steps.map(|steps| match steps {
            0 => say!(Msg::NoStepLimit).to_owned(),
            steps => format!("max-steps {steps}"),
        }),
        settings.budget.map(|budget| budget_words(&budget)),
        settings
            .timeout_ms
            .map(|ms| say!(Msg::Timeout, Duration::from_millis(ms).as_secs_f64())),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| say!(Msg::KeepsOptions, before.pid, words.join(", ")))
}

async fn follow(
    client: &Client,
    session: SessionId,
    from: FollowFrom,
    args: &Args,
) -> Result<Follow, Error> {
    // Only the event stream shows events without a number; the others show whole messages.
    let ephemeral = args.format() == Format::Jsonl;
    Ok(client.follow(&session.to_string(), from, ephemeral).await?)
}

/// Gives the prompt, or the goal.
async fn enter(
    client: &Client,
    args: &Args,
    session: SessionId,
    prompt: Prompt,
    renew: bool,
    on_ask: Option<OnAsk>,
) -> Result<(PromptId, Seq), Error> {
    let Some(goal) = &args.goal else {
        return give(client, session, prompt, renew, on_ask).await;
    };
    let params = StartParams {
        session: session.to_string(),
        text: prompt.text,
        max_turns: goal.max_turns,
        check: goal.check.clone(),
        research: goal.research,
        request_id: Some(RequestId::new()),
    };
    let started = client.call::<GoalStart>(&params).await?;
    if let Some(dir) = &started.research {
        output::progress(&words::clean(&say!(GoalMsg::ResearchBegins, dir)));
    }
    Ok((started.goal.prompt(1), started.seq))
}

/// Gives the prompt. `renew`: with variables that the session lost and this process has. `on_ask`: for its turn alone.
pub(super) async fn give(
    client: &Client,
    session: SessionId,
    prompt: Prompt,
    renew: bool,
    on_ask: Option<OnAsk>,
) -> Result<(PromptId, Seq), Error> {
    let output = client
        .prompt(params(session, prompt, When::Queue, on_ask), renew)
        .await?;
    Ok((output.prompt_id, output.seq))
}

/// Parameters of a prompt.
pub(super) fn params(
    session: SessionId,
    prompt: Prompt,
    when: When,
    on_ask: Option<OnAsk>,
) -> PromptParams {
    PromptParams {
        session: session.to_string(),
        text: prompt.text,
        untyped: prompt.untyped,
        when,
        on_ask,
        ..PromptParams::default()
    }
}
