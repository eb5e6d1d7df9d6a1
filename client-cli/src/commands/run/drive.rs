//! A run from prompt to end: make or find the session, give it the prompt, watch until its turn is over.

use std::collections::BTreeMap;
use std::time::Duration;

use client::amounts;
use client::transcript::Transcript;
use client::{Client, Follow, Followed, From, Heard, Start};
use proto::budget::Budget;
use proto::live::Sync;
use proto::methods::{SessionGet, SessionInterrupt, SessionPrompt, SessionSet};
use proto::params::plan::Plan;
use proto::params::question::Question;
use proto::params::session::{
    CreateParams, OneParams, PromptParams, SessionSummary, SetParams, When,
};
use proto::state::{Kind, OnAsk};
use proto::{Body, Event, PromptId, RequestId, Seq, SessionId, Stamp};
use serde_json::json;
use tokio::time::Instant;

use super::anew::Anew;
use super::question::{Id, Questions};
use super::report::Report;
use super::{Args, Format, code, left, prompt};
use crate::commands::setup;
use crate::ended::unwritable;
use crate::exit::{self, Error};
use crate::paint::Painter;
use crate::signals::{Arrived, Signals};
use crate::{ended, output, reach, terminal, text};

/// A second Ctrl-C within this time leaves at once.
const TWICE: Duration = Duration::from_secs(2);

/// How long the daemon may take to end a turn whose time is up, or that was told to.
const GRACE: Duration = Duration::from_secs(10);

/// How long a log that cannot be written is waited for.
const BEARS: Duration = ended::BEARS;

/// Lines of a tool's output that progress shows.
const OUTPUT_LINES: usize = 8;

/// Does the run; returns its exit code, having printed its result.
pub async fn drive(args: Args, report: &mut Report) -> Result<u8, Error> {
    let hint = "say what to do: `reasonix run \"fix the failing test\"`";
    let prompt = prompt::gather(&args.prompt, hint)?;
    let cwd = reach::cwd(args.cwd.as_deref())?;
    let cwd = reach::utf8(&cwd)?;
    let interactive = terminal::is_interactive() && !args.detach;
    // From here on, so that an early Ctrl-C does not leave a turn behind that nobody watches.
    let mut signals = Signals::listen()?;
    let connecting = reach::with("run", |options| {
        options.interactive = interactive;
        options.start = Start::Always;
    });
    let client = tokio::select! {
        client = connecting => client?,
        arrived = signals.next() => return leave(arrived, report, args.output_format),
    };
    let mut early = None;
    let given = {
        let giving = async {
            if args.session.is_some() || args.continue_last {
                resume(&client, &args, &cwd, prompt, interactive, report).await
            } else {
                create(&client, &args, cwd, prompt, interactive, report).await
            }
        };
        tokio::pin!(giving);
        loop {
            tokio::select! {
                given = &mut giving => break Some(given?),
                // The first one waits until there is a turn to be stopped; a second one does not.
                arrived = signals.next() => if early.replace(arrived).is_some() {
                    break None;
                }
            }
        }
    };
    let Some(given) = given else {
        return leave(Arrived::Int, report, args.output_format);
    };
    if args.detach {
        detached(report, args.output_format)?;
        return Ok(0);
    }
    let run = Run {
        format: args.output_format,
        park: args.on_ask.map(OnAsk::from) == Some(OnAsk::Park),
        session: given.session,
        prompt_id: given.prompt_id,
        from: given.seq,
        turn: None,
        ended: None,
        questions: interactive.then(Questions::default),
        transcript: Transcript::default(),
        painter: Painter::new(output::colour(&std::io::stderr()), OUTPUT_LINES),
        client,
    };
    let heard = (signals, early);
    let pid = report
        .pid
        .map_or_else(|| given.session.to_string(), |pid| pid.to_string());
    let watched = run.watch(given.follow, heard, args.timeout, report).await;
    let code = watched.map_err(|error| error.of_session(pid))?;
    if args.output_format == Format::Text {
        print_answer(report, code)?;
    }
    report.print(args.output_format)?;
    Ok(code)
}

/// Ends before there is a turn.
fn leave(arrived: Arrived, report: &mut Report, format: Format) -> Result<u8, Error> {
    let code = match arrived {
        Arrived::Int => exit::INTERRUPTED,
        Arrived::Term | Arrived::Hup => exit::TERMINATED,
    };
    report.left(left(code));
    report.print(format)?;
    Ok(code)
}

/// A signal that came early, else the next one. Cancel-safe: what is taken is returned at once.
async fn heard(signals: &mut Signals, early: &mut Option<Arrived>) -> Arrived {
    match early.take() {
        Some(arrived) => arrived,
        None => signals.next().await,
    }
}

/// A prompt that is in the log, and the session's events from there on.
struct Given {
    session: SessionId,
    prompt_id: PromptId,
    /// Events before this one are not of this run.
    seq: Seq,
    follow: Option<Follow>,
}

async fn create(
    client: &Client,
    args: &Args,
    cwd: String,
    prompt: String,
    interactive: bool,
    report: &mut Report,
) -> Result<Given, Error> {
    let own = client::environment::own(&client.hello().await);
    let session = SessionId::new();
    let params = CreateParams {
        session,
        cwd,
        env: own.shared,
        env_held: own.held,
        credentials: client.credentials().await,
        // A person who is to be asked must be attached before the turn begins.
        prompt: (!interactive).then(|| prompt.clone()),
        model: args.model.clone(),
        kind: Kind::Headless,
        posture: args.posture.map(Into::into),
        mode: args.mode().unwrap_or_default(),
        read_only: args.read_only,
        on_ask: Some(args.on_ask.map_or(OnAsk::Sandboxed, Into::into)),
        rules: args.rules(),
        name: args.name.clone(),
        labels: args.label.clone(),
        max_steps: args.max_steps,
        timeout_ms: args.timeout,
        request_id: Some(RequestId::new()),
        budget: args.budget(),
        preset: args.preset.clone(),
        harvest: args.harvest.then_some(true),
        branch: args.branch,
        effort: args.effort.clone(),
    };
    let created = setup::created(client, params, interactive).await?;
    report.session = Some(created.session);
    report.pid = Some(created.pid);
    let follow = if args.detach {
        None
    } else {
        Some(follow(client, session, From::After(Seq(0)), args).await?)
    };
    let prompt_id = match created.prompt_id {
        Some(prompt_id) => prompt_id,
        None => give(client, session, prompt, BTreeMap::new()).await?.0,
    };
    Ok(Given {
        session,
        prompt_id,
        seq: Seq(1),
        follow,
    })
}

async fn resume(
    client: &Client,
    args: &Args,
    cwd: &str,
    prompt: String,
    interactive: bool,
    report: &mut Report,
) -> Result<Given, Error> {
    if args.model.is_some() || args.effort.is_some() {
        return Err(Error::usage(
            "model and effort of a session are not a run's",
            "change them with `reasonix model SESSION`, or start a new session",
        ));
    }
    if !args.rules().is_empty() {
        return Err(Error::usage(
            "rules of a session are fixed when it is made",
            "leave out `--allow`, `--ask` and `--deny`, or start a new session",
        ));
    }
    let summary = match &args.session {
        Some(session) => {
            client
                .call::<SessionGet>(&OneParams {
                    session: session.clone(),
                })
                .await?
        }
        None => reach::last_session(client, cwd).await?,
    };
    report.session = Some(summary.session);
    report.pid = Some(summary.pid);
    if let Some(words) = expired(&summary, Stamp::now()) {
        output::progress(&words);
    }
    let session = summary.session;
    // A session of a person would wait for one; a run's own keeps what it was told.
    let alone = !interactive && summary.kind == Kind::Interactive;
    let on_ask = args
        .on_ask
        .map(Into::into)
        .or(alone.then_some(OnAsk::Sandboxed));
    let labels = (!args.label.is_empty()).then(|| {
        let mut labels = summary.labels.clone();
        labels.extend(
            args.label
                .iter()
                .filter(|label| !summary.labels.contains(label))
                .cloned(),
        );
        labels
    });
    let settings = SetParams {
        session: session.to_string(),
        posture: args.posture.map(Into::into),
        mode: args.mode(),
        read_only: args.read_only.then_some(true),
        on_ask,
        name: args.name.clone(),
        labels,
        max_steps: args.max_steps,
        timeout_ms: args.timeout,
        kind: None,
        model: None,
        effort: None,
        confirm: false,
        request_id: None,
        budget: args.budget(),
        preset: None,
        harvest: None,
        branch: None,
    };
    if settings
        != (SetParams {
            session: session.to_string(),
            ..SetParams::default()
        })
    {
        let params = SetParams {
            request_id: Some(RequestId::new()),
            ..settings.clone()
        };
        client.call::<SessionSet>(&params).await?;
        if let Some(words) = kept(&settings, args.on_ask.is_some(), &summary) {
            output::progress(&words);
        }
    }
    let env = client::environment::lost(client, &session.to_string()).await;
    if interactive {
        let follow = follow(client, session, From::Snapshot { backlog: 0 }, args).await?;
        let (prompt_id, seq) = give(client, session, prompt, env).await?;
        return Ok(Given {
            session,
            prompt_id,
            seq,
            follow: Some(follow),
        });
    }
    let (prompt_id, seq) = give(client, session, prompt, env).await?;
    let before = Seq(seq.0.saturating_sub(1));
    let follow = if args.detach {
        None
    } else {
        Some(follow(client, session, From::After(before), args).await?)
    };
    Ok(Given {
        session,
        prompt_id,
        seq,
        follow,
    })
}

/// What a session may use from now on, in words.
fn budget_words(budget: &Budget) -> String {
    let money = budget.cost_micros.map(|micros| match micros {
        0 => "no budget in money".to_owned(),
        micros => format!("budget {}", amounts::dollars(micros)),
    });
    let tokens = budget.tokens.map(|tokens| match tokens {
        0 => "no budget in tokens".to_owned(),
        tokens => format!("budget {tokens} tokens"),
    });
    let words: Vec<_> = [money, tokens].into_iter().flatten().collect();
    words.join(", ")
}

/// That the vendor's cache has forgotten the conversation, and what that costs.
fn expired(summary: &SessionSummary, now: Stamp) -> Option<String> {
    let (used, ttl) = (summary.cache_used?, summary.cache_ttl_ms?);
    let age = u64::try_from(now.0.saturating_sub(used.0)).unwrap_or(0);
    let cold = summary.cold.as_ref().filter(|_| age > ttl)?;
    let words = cold.words();
    Some(format!(
        "· the vendor's cache has expired; the next prompt: {words}"
    ))
}

/// What the session keeps of this run's options: a line for the person, who may have meant one run only.
/// `asked`: what becomes of questions was asked for, and does not only follow from nobody being here.
fn kept(settings: &SetParams, asked: bool, before: &SessionSummary) -> Option<String> {
    let posture = settings
        .posture
        .filter(|posture| *posture != before.posture);
    // A run's session has been like this from its start.
    let on_ask = settings
        .on_ask
        .filter(|_| asked || before.kind == Kind::Interactive);
    let words: Vec<String> = [
        posture.map(|posture| format!("posture {}", name_of(&posture))),
        settings
            .mode
            .filter(|mode| *mode != before.mode)
            .map(|mode| format!("mode {}", mode.name())),
        settings
            .read_only
            .filter(|only| *only != before.only_reads)
            .map(|_| "read-only".to_owned()),
        on_ask.map(|on_ask| format!("on-ask {}", name_of(&on_ask))),
        settings.max_steps.map(|steps| match steps {
            0 => "no step limit".to_owned(),
            steps => format!("max-steps {steps}"),
        }),
        settings.budget.map(|budget| budget_words(&budget)),
        settings
            .timeout_ms
            .map(|ms| format!("timeout {} s", Duration::from_millis(ms).as_secs_f64())),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| {
        format!(
            "· session {} keeps this from now on: {}",
            before.pid,
            words.join(", ")
        )
    })
}

/// A word as the protocol spells it, which is how the options are spelled.
fn name_of<T: serde::Serialize>(value: &T) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

async fn follow(
    client: &Client,
    session: SessionId,
    from: From,
    args: &Args,
) -> Result<Follow, Error> {
    // Only the event stream shows what has no number; the others show whole messages.
    let ephemeral = args.output_format == Format::Jsonl;
    Ok(client.follow(&session.to_string(), from, ephemeral).await?)
}

/// Gives the prompt. `env`: what the session lost and this process has.
async fn give(
    client: &Client,
    session: SessionId,
    text: String,
    env: BTreeMap<String, String>,
) -> Result<(PromptId, Seq), Error> {
    let params = PromptParams {
        session: session.to_string(),
        text,
        when: When::Queue,
        env,
        credentials: client.credentials().await,
        request_id: Some(RequestId::new()),
    };
    let output = client.call::<SessionPrompt>(&params).await?;
    Ok((output.prompt_id, output.seq))
}

fn detached(report: &Report, format: Format) -> Result<(), Error> {
    let (session, pid) = (report.session, report.pid);
    match format {
        Format::Text => output::line(&pid.map_or_else(String::new, |pid| pid.to_string())),
        Format::Json => output::json(&json!({"session": session, "pid": pid})),
        Format::Jsonl => output::json(&json!({"kind": "result", "session": session, "pid": pid})),
    }
}

/// The answer on standard output; where the run was parked, the session to come back to.
fn print_answer(report: &Report, code: u8) -> Result<(), Error> {
    if code == exit::PARKED {
        let pid = report.pid.map_or_else(String::new, |pid| pid.to_string());
        output::progress("· it waits for a person: `reasonix inbox` shows and answers it");
        return output::line(&pid);
    }
    if report.text.is_empty() {
        return Ok(());
    }
    // A file or program gets the answer byte for byte; a terminal must not obey it.
    let answer = if std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        text::clean(&report.text)
    } else {
        report.text.clone()
    };
    output::line(answer.strip_suffix('\n').unwrap_or(&answer))
}

/// A run that is being watched.
struct Run {
    client: Client,
    format: Format,
    /// Leave when a person is needed.
    park: bool,
    session: SessionId,
    prompt_id: PromptId,
    from: Seq,
    /// The turn that the prompt became.
    turn: Option<u64>,
    /// It has ended, with this code, and hooks are told of it before the run is over.
    ended: Option<u8>,
    questions: Option<Questions>,
    transcript: Transcript,
    painter: Painter,
}

impl Run {
    /// Watches until the turn has ended, or we leave.
    async fn watch(
        mut self,
        follow: Option<Follow>,
        (mut signals, mut early): (Signals, Option<Arrived>),
        timeout: Option<u64>,
        report: &mut Report,
    ) -> Result<u8, Error> {
        let Some(mut follow) = follow else {
            return Ok(0);
        };
        // The daemon ends the turn when its time is up. Should it not, we do not wait for ever.
        let mut limit = timeout.map(|ms| {
            (
                Instant::now() + Duration::from_millis(ms) + GRACE,
                exit::TIMEOUT,
            )
        });
        let mut interrupted: Option<Instant> = None;
        let mut anew = Anew::default();
        follow.bear(BEARS);
        loop {
            tokio::select! {
                heard = follow.heard() => if let Some(mut event) = anew.take(self.hear(heard?))? {
                    if self.is_our_end(&event) && ended::is_untold(&event) {
                        event = ended::told(&self.client, &self.session.to_string(), &event).await?;
                    }
                    if let Some(code) = self.take(&event, report)? {
                        let asked = limit.filter(|(_, asked)| *asked == exit::TERMINATED);
                        return Ok(asked.map_or(code, |(_, asked)| asked));
                    }
                },
                line = typed(&mut self.questions) => if let Some(questions) = &mut self.questions {
                    questions.answer(&self.client, &line).await?;
                },
                arrived = heard(&mut signals, &mut early) => match arrived {
                    Arrived::Hup => {
                        report.left("detached");
                        return Ok(0);
                    }
                    Arrived::Int if interrupted.is_some_and(|at| at.elapsed() < TWICE) => {
                        report.left(left(exit::INTERRUPTED));
                        return Ok(exit::INTERRUPTED);
                    }
                    Arrived::Int => {
                        interrupted = Some(Instant::now());
                        output::progress("\n· interrupting; Ctrl-C again leaves at once, the session stays");
                        self.interrupt();
                    }
                    Arrived::Term => {
                        limit = Some((Instant::now() + TWICE, exit::TERMINATED));
                        self.interrupt();
                    }
                },
                code = reached(limit) => {
                    self.interrupt();
                    if let Some(code) = self.ended {
                        return Ok(code);
                    }
                    // Let the request leave before we do.
                    tokio::task::yield_now().await;
                    report.left(left(code));
                    return Ok(code);
                }
            }
        }
    }

    /// Tells a person why nothing comes; leaves what does.
    fn hear(&mut self, heard: Heard) -> Option<Followed> {
        // A break is of interest to who looks on while it lasts.
        let seen = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let (words, followed) = match heard {
            Heard::Followed(Followed::Event(event)) => return Some(Followed::Event(event)),
            Heard::Followed(Followed::Reconnected) => (
                seen.then(|| "· reconnected".to_owned()),
                Some(Followed::Reconnected),
            ),
            Heard::Lost => (
                seen.then(|| "· connection lost, reconnecting…".to_owned()),
                None,
            ),
            Heard::Unwritable(failure) => (Some(format!("! {}", unwritable(&failure))), None),
        };
        if self.format == Format::Text
            && let Some(words) = words
        {
            output::progress_part(&self.painter.close());
            output::progress(&words);
        }
        followed
    }

    /// Asks for the turn's end; that it came is an event.
    fn interrupt(&self) {
        let client = self.client.clone();
        let params = OneParams {
            session: self.session.to_string(),
        };
        tokio::spawn(async move {
            if let Err(error) = client.call::<SessionInterrupt>(&params).await {
                exit::tell(&error.into(), false);
            }
        });
    }

    /// Whether an event ends the run, whatever it says.
    fn is_our_end(&self, event: &Event) -> bool {
        event.seq.is_some_and(|seq| seq >= self.from)
            && match event.kind.as_str() {
                "turn.ended" => event.turn.is_some() && event.turn == self.turn,
                "session.exited" => true,
                _ => false,
            }
    }

    /// Takes an event; returns the exit code where it ends the run.
    fn take(&mut self, event: &Event, report: &mut Report) -> Result<Option<u8>, Error> {
        if event.seq.is_some_and(|seq| seq < self.from) {
            return Ok(None);
        }
        match self.format {
            Format::Jsonl => output::json(event)?,
            Format::Text => self.show(event),
            Format::Json => {}
        }
        if event.seq.is_none() {
            return Ok(self.pending(event, report));
        }
        let Ok(body) = event.body() else {
            return Ok(None);
        };
        Ok(match body {
            Body::TurnStarted(started) if started.prompt_id == self.prompt_id => {
                self.turn = event.turn;
                None
            }
            Body::TurnEnded(ended) if event.turn.is_some() && event.turn == self.turn => {
                let code = code(ended.exit_code());
                self.ended = ended.hooks.then_some(code);
                report.ended(ended);
                self.ended.is_none().then_some(code)
            }
            Body::SessionExited(exited) => {
                report.exited(&exited);
                Some(self.ended.unwrap_or(code(exited.exit_code)))
            }
            // What follows a turn: its hooks have run.
            Body::SessionState(_) | Body::TurnStarted(_) if self.ended.is_some() => self.ended,
            Body::PromptUnqueued(unqueued) if unqueued.prompt_id == self.prompt_id => {
                output::progress("· somebody took the prompt back before it started");
                report.left(left(exit::INTERRUPTED));
                Some(exit::INTERRUPTED)
            }
            Body::ApprovalRequested(approval) => self.asked(approval, report),
            Body::QuestionAsked(question) => self.asked_for(question, report),
            Body::PlanProposed(plan) => self.proposed(plan, report),
            Body::PlanResolved(resolved) => self.closed(&Id::Plan(resolved.plan_id)),
            Body::ApprovalResolved(resolved) => self.closed(&Id::Approval(resolved.approval_id)),
            Body::QuestionAnswered(answered) => self.closed(&Id::Question(answered.question_id)),
            _ => None,
        })
    }

    /// Questions that were open when we attached.
    fn pending(&mut self, event: &Event, report: &mut Report) -> Option<u8> {
        if event.kind != "sync" {
            return None;
        }
        let sync: Sync = serde_json::from_str(event.data.get()).ok()?;
        let mut pending = sync.pending.into_iter();
        if let Some(code) = pending.find_map(|approval| self.asked(approval, report)) {
            return Some(code);
        }
        let mut questions = sync.questions.into_iter();
        if let Some(code) = questions.find_map(|question| self.asked_for(question, report)) {
            return Some(code);
        }
        let mut plans = sync.plans.into_iter();
        plans.find_map(|plan| self.proposed(plan, report))
    }

    /// The model proposes a plan.
    fn proposed(&mut self, plan: Plan, report: &mut Report) -> Option<u8> {
        if self.park {
            report.left(left(exit::PARKED));
            return Some(exit::PARKED);
        }
        if let Some(questions) = &mut self.questions {
            questions.propose(plan);
        }
        None
    }

    /// The model asks something.
    fn asked_for(&mut self, question: Question, report: &mut Report) -> Option<u8> {
        if self.park {
            report.left(left(exit::PARKED));
            return Some(exit::PARKED);
        }
        if let Some(questions) = &mut self.questions {
            questions.ask_for(question);
        }
        None
    }

    /// A question is closed: the next one is drawn.
    fn closed(&mut self, id: &Id) -> Option<u8> {
        if let Some(questions) = &mut self.questions {
            questions.close(id);
            questions.draw();
        }
        None
    }

    fn asked(
        &mut self,
        approval: proto::params::approval::Approval,
        report: &mut Report,
    ) -> Option<u8> {
        if self.park {
            report.left(left(exit::PARKED));
            return Some(exit::PARKED);
        }
        if let Some(questions) = &mut self.questions {
            questions.ask(approval);
        }
        None
    }

    /// Progress on standard error: all but the prompt, the answer, and questions that are drawn anyway.
    fn show(&mut self, event: &Event) {
        // Beginnings of answers: progress shows whole ones.
        if event.kind == "sync" {
            return;
        }
        let pieces = self.transcript.fold(event);
        let skip = match event.body() {
            Ok(Body::Assistant(message)) => message.calls.is_empty(),
            Ok(Body::User(message)) => message.prompt_id == Some(self.prompt_id),
            Ok(Body::SessionExited(_)) => true,
            Ok(Body::ApprovalRequested(_) | Body::QuestionAsked(_) | Body::PlanProposed(_)) => {
                self.questions.is_some()
            }
            _ => false,
        };
        if !skip {
            for piece in pieces {
                output::progress_part(&self.painter.paint(&piece));
            }
        }
    }
}

/// The next answer, where questions are asked here.
async fn typed(questions: &mut Option<Questions>) -> String {
    match questions {
        Some(questions) => questions.typed().await,
        None => std::future::pending().await,
    }
}

/// When a time is reached: the exit code that goes with it.
async fn reached(limit: Option<(Instant, u8)>) -> u8 {
    match limit {
        Some((at, code)) => {
            tokio::time::sleep_until(at).await;
            code
        }
        None => std::future::pending().await,
    }
}
