//! A run that lines of standard input drive: they prompt, answer and interrupt; events and replies go to standard output.
//!
//! A line is sent when the one before it has its reply. Meanwhile events wait, so that a reply comes before the events
//! of its prompt.

use std::collections::BTreeMap;
use std::pin::Pin;

use client::{Client, DecodedEvent, Follow, FollowFrom, Start};
use proto::live::Live;
use proto::methods::SessionInterrupt;
use proto::params::interaction::Interaction;
use proto::params::session::{OneParams, When};
use proto::state::OnAsk;
use proto::{Body, InteractionId, PromptId, Seq, SessionId};
use serde_json::{Value, json};

use super::begin::{self, OpenedSession};
use super::drive::leave;
use super::input::{self, BadLine, Input, InputCommand, NumberedLine};
use super::interrupts::InterruptState;
use super::log_change::LogChange;
use super::report::Report;
use super::watch::{Run, UNWRITABLE_TIMEOUT, reached};
use super::{Args, left, worktree};
use crate::agent_dialogs::AgentChanges;
use crate::dialog::{self, Dialog};
use crate::exit::{self, Error};
use crate::messages::run::Msg;
use crate::signals::{OsSignal, Signals};
use crate::{ended, output, reach};
use client::prompt::Prompt;

/// Does the run; returns its exit code, having printed its result.
pub(super) async fn drive(args: Args, report: &mut Report) -> Result<u8, Error> {
    let first = (!args.prompt.is_empty()).then(|| args.prompt.join(" "));
    if args.prompt.iter().any(|word| word == "-") {
        return Err(Error::usage(
            say!(Msg::LinesAndDash),
            say!(Msg::LinesAndDashHint),
        ));
    }
    let cwd = reach::cwd(args.cwd.as_deref())?;
    let cwd = reach::utf8(&cwd)?;
    let mut signals = Signals::listen()?;
    let client = tokio::select! {
        client = connect(true) => client?,
        arrived = signals.next() => return leave(arrived, report, args.format()),
    };
    let mut input = Input::start(first);
    let opening = open(&client, &args, cwd, &mut input, report);
    let opened = tokio::select! {
        opened = opening => Some(opened?),
        _ = signals.next() => None,
    };
    let Some((opened, first)) = opened else {
        return leave(OsSignal::Int, report, args.format());
    };
    let pid = report
        .pid
        .map_or_else(|| opened.session.to_string(), |pid| pid.to_string());
    let mut run = Run::new(client, &args, opened.session, opened.seq, false);
    let driven = Driven {
        parks: std::mem::take(&mut run.park),
        run,
        follow: opened.follow,
        on_ask: opened.on_ask,
        input,
        open: BTreeMap::new(),
        calling: None,
        code: None,
        log_change: LogChange::default(),
    };
    let client = driven.run.client.clone();
    let code = driven.watch(first, &mut signals, report).await;
    let code = code.map_err(|error| error.of_session(pid))?;
    worktree::end(&client, &args, code, report).await?;
    report.print(args.format())?;
    Ok(code)
}

/// Connects. `answers`: as somebody who can be asked.
async fn connect(answers: bool) -> Result<Client, Error> {
    reach::with("run", |options| {
        options.interactive = answers;
        options.start = Start::Always;
    })
    .await
}

/// Opens the session: one that goes on at once, a new one with its first prompt, which is returned.
async fn open(
    client: &Client,
    args: &Args,
    cwd: String,
    input: &mut Input,
    report: &mut Report,
) -> Result<(OpenedSession, Option<NumberedLine>), Error> {
    if args.continues() {
        return Ok((begin::open(client, args, cwd, report).await?, None));
    }
    loop {
        let Some(line) = input.next().await else {
            return Err(no_prompt());
        };
        let refused = match &line.wanted {
            Ok(InputCommand::Prompt { .. }) => {
                let opened = begin::open(client, args, cwd, report).await?;
                return Ok((opened, Some(line)));
            }
            Ok(InputCommand::Answer { .. } | InputCommand::Interrupt) => {
                &BadLine::new("there is no session yet", "send a prompt first")
            }
            Err(bad) => bad,
        };
        reply_error(line.number, &refused.error())?;
    }
}

fn no_prompt() -> Error {
    Error::usage(
        say!(Msg::LinesWithoutPrompt),
        say!(Msg::LinesWithoutPromptHint),
    )
}

impl BadLine {
    fn error(&self) -> Error {
        Error::usage(self.message.clone(), self.hint.clone())
    }
}

fn reply_error(line: u64, error: &Error) -> Result<(), Error> {
    output::json(&json!({"kind": "error", "line": line, "error": error.describe()}))?;
    output::flush()
}

/// What became of a line.
struct Reply {
    line: u64,
    result: Result<Accepted, Error>,
}

enum Accepted {
    Prompt {
        prompt_id: PromptId,
        position: u64,
        seq: Seq,
    },
    Other,
}

/// A call to the daemon.
type Call = Pin<Box<dyn Future<Output = Result<Accepted, Error>>>>;

/// The same, with its line.
type Calling = Pin<Box<dyn Future<Output = Reply>>>;

/// The run in progress.
struct Driven {
    run: Run,
    follow: Follow,
    on_ask: Option<OnAsk>,
    input: Input,
    /// Questions that events have shown and nobody has answered.
    open: BTreeMap<InteractionId, Interaction>,
    /// The line that is being sent.
    calling: Option<Calling>,
    /// The exit code of the newest turn that has ended.
    code: Option<u8>,
    /// Leave when a person is needed, from the end of the input on: before, lines answer.
    parks: bool,
    log_change: LogChange,
}

impl Driven {
    /// Drives until the input has ended and nothing of it waits or runs, or we leave.
    async fn watch(
        mut self,
        first: Option<NumberedLine>,
        signals: &mut Signals,
        report: &mut Report,
    ) -> Result<u8, Error> {
        let mut leaving = InterruptState::new(self.run.ephemeral);
        self.follow.wait_while_unwritable(UNWRITABLE_TIMEOUT);
        let pid = self.follow.attached().pid;
        self.run.agents.start(&self.run.client, pid);
        if let Some(line) = first {
            self.send(line)?;
        }
        loop {
            if let Some(code) = self.is_over(report)? {
                return Ok(leaving.code(code));
            }
            let idle = self.calling.is_none();
            tokio::select! {
                reply = answered(&mut self.calling) => self.replied(reply)?,
                heard = self.follow.heard(), if idle => {
                    let followed = self.run.hear(heard?);
                    if let Some(event) = self.log_change.take(followed)? {
                        self.take(*event, report).await?;
                    }
                }
                changes = self.run.agents.changed(), if idle => self.take_agents(changes, report)?,
                line = self.input.next(), if idle => match line {
                    Some(line) => self.send(line)?,
                    None => self.leave_alone().await?,
                },
                arrived = signals.next() => match leaving.take(arrived, self.run.interrupt_target(), report) {
                    Some(code) => return Ok(code),
                    None => self.stop(leaving.code(exit::INTERRUPTED), report),
                },
                code = reached(leaving.limit) => {
                    report.left(left(code));
                    return Ok(code);
                }
            }
        }
    }

    /// The exit code, if nothing more can come.
    fn is_over(&self, report: &Report) -> Result<Option<u8>, Error> {
        if self.code == Some(exit::PARKED) {
            return Ok(self.code);
        }
        if self.calling.is_some() || !self.input.has_ended() {
            return Ok(None);
        }
        let code = self.code.map_or_else(|| Err(no_prompt()), Ok);
        if !self.run.is_busy() {
            return code.map(Some);
        }
        // A prompt that waits for a budget does not move.
        let stuck = self.run.turn.is_none() && self.run.ended.is_none();
        if stuck && report.is_out_of_budget() {
            output::progress(say!(Msg::QueueStays));
            return code.map(Some);
        }
        Ok(None)
    }

    /// No line comes any more, so that nobody answers here: notifies the daemon, which decides interactions as for a run
    /// without a client.
    async fn leave_alone(&mut self) -> Result<(), Error> {
        if !self.run.is_busy() {
            return Ok(());
        }
        let client = connect(false).await?;
        let session = self.run.session.to_string();
        let from = match self.follow.last() {
            Some(seq) => FollowFrom::After(seq),
            None => FollowFrom::After(self.run.from),
        };
        let mut follow = client.follow(&session, from, true).await?;
        follow.wait_while_unwritable(UNWRITABLE_TIMEOUT);
        self.log_change = LogChange::default();
        // The old one goes last: the session is followed all the time.
        self.follow = follow;
        self.run.agents.restart(&client);
        self.run.client = client;
        self.run.park = self.parks;
        Ok(())
    }

    /// Interrupts, and takes back queued prompts. With nothing to interrupt the run is over, with this code.
    fn stop(&mut self, code: u8, report: &mut Report) {
        self.input.close();
        if !self.run.is_busy() {
            report.left(left(code));
            self.code = Some(code);
        }
        drop(self.run.stop());
    }

    /// Takes an event.
    async fn take(&mut self, mut event: DecodedEvent, report: &mut Report) -> Result<(), Error> {
        if self.run.is_our_end(&event) && ended::lacks_outcome(&event) {
            let session = self.run.session.to_string();
            event = ended::with_outcome(&self.run.client, &session, &event).await?;
        }
        match (event.body(), event.live()) {
            (Some(Body::InteractionOpened(opened)), _) => {
                self.open
                    .insert(opened.interaction_id.clone(), opened.clone());
            }
            (Some(Body::InteractionResolved(resolved)), _) => {
                self.open.remove(&resolved.interaction_id);
            }
            (_, Some(Live::Sync(sync))) => {
                let shown = sync.interactions.iter();
                let shown = shown.map(|shown| (shown.interaction_id.clone(), shown.clone()));
                // Those of sub-agents are not in it.
                let own = event.session;
                self.open.retain(|_, open| open.session != own);
                self.open.extend(shown);
            }
            _ => {}
        }
        if let Some(code) = self.run.take(event, report)? {
            self.code = Some(code);
        }
        output::flush()
    }

    /// Takes what has changed about the questions of sub-agents: lines answer them as the run's own.
    fn take_agents(&mut self, changes: AgentChanges, report: &mut Report) -> Result<(), Error> {
        for closed in &changes.closed {
            self.open.remove(closed.id());
        }
        for opened in &changes.opened {
            let asked = opened.interaction.clone();
            self.open.insert(opened.id().clone(), asked);
        }
        if let Some(code) = self.run.take_agents(changes, report)? {
            self.code = Some(code);
        }
        output::flush()
    }

    /// Starts to send a line.
    fn send(&mut self, line: NumberedLine) -> Result<(), Error> {
        let (number, wanted) = (line.number, line.wanted);
        let prepared = wanted.and_then(|wanted| self.call(wanted));
        match prepared {
            Ok(call) => {
                self.calling = Some(Box::pin(async move {
                    Reply {
                        line: number,
                        result: call.await,
                    }
                }));
                Ok(())
            }
            Err(bad) => reply_error(number, &bad.error()),
        }
    }

    /// The call that a line makes.
    fn call(&self, wanted: InputCommand) -> Result<Call, BadLine> {
        let client = self.run.client.clone();
        let session: SessionId = self.run.session;
        Ok(match wanted {
            InputCommand::Prompt { text, steer } => {
                let when = if steer { When::Steer } else { When::Queue };
                let params = begin::params(session, Prompt::typed(text), when, self.on_ask);
                Box::pin(async move {
                    let given = client.prompt(params, true).await?;
                    Ok(Accepted::Prompt {
                        prompt_id: given.prompt_id,
                        position: given.position,
                        seq: given.seq,
                    })
                })
            }
            InputCommand::Answer { id, answer } => {
                let Some(interaction) = self.open.get(&id) else {
                    return Err(BadLine::new(
                        format!("no question `{id}` is open"),
                        "`interaction.opened` events have the ids; another client may have answered it",
                    ));
                };
                let answer = input::answer(answer, interaction.request.kind().as_str())?;
                let params = Dialog::new(interaction.clone()).params(answer);
                Box::pin(async move {
                    dialog::send(&client, &params).await?;
                    Ok(Accepted::Other)
                })
            }
            InputCommand::Interrupt => {
                let session = session.to_string();
                Box::pin(async move {
                    client
                        .call::<SessionInterrupt>(&OneParams { session })
                        .await?;
                    Ok(Accepted::Other)
                })
            }
        })
    }

    /// Prints what became of a line.
    fn replied(&mut self, reply: Reply) -> Result<(), Error> {
        self.calling = None;
        let line = reply.line;
        let mut accepted: Value = json!({"kind": "accepted", "line": line});
        match reply.result {
            Ok(Accepted::Prompt {
                prompt_id,
                position,
                seq,
            }) => {
                self.run.wait_for(prompt_id, seq);
                accepted["prompt_id"] = json!(prompt_id);
                accepted["position"] = json!(position);
            }
            Ok(Accepted::Other) => {}
            Err(error) => return reply_error(line, &error),
        }
        output::json(&accepted)?;
        output::flush()
    }
}

/// The reply to the line that is being sent, if one is.
async fn answered(calling: &mut Option<Calling>) -> Reply {
    match calling {
        Some(calling) => calling.await,
        None => std::future::pending().await,
    }
}
