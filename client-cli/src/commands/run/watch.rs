//! A run that is watched: its events, and when it is over.

use std::time::Duration;

use client::transcript::words;
use client::{Client, Content, DecodedEvent, Follow, FollowEvent, FollowUpdate};
use proto::live::Live;
use proto::methods::{GoalStop, SessionInterrupt, SessionUnqueue};
use proto::params::goal::StopParams;
use proto::params::session::{OneParams, UnqueueParams};
use proto::state::OnAsk;
use proto::{Body, PromptId, RequestId, Seq, SessionId};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::goal::{GoalEvent, GoalRun};
use super::interrupts::{ANSWER_MAX, InterruptState, InterruptTarget};
use super::log_change::LogChange;
use super::question::Questions;
use super::report::Report;
use super::{Args, Format, code, left};
use crate::agent_dialogs::{self, AgentChanges, AgentDialogs};
use crate::dialog::Dialog;
use crate::ended::unwritable;
use crate::exit::{self, Error};
use crate::messages::language;
use crate::messages::run::Msg;
use crate::paint::Painter;
use crate::pieces::{Transcript, attached_pieces};
use crate::signals::{OsSignal, Signals};
use crate::{ended, output};

/// How long the daemon may take to end a turn whose time is up, or that was asked to end.
const GRACE: Duration = Duration::from_secs(10);

/// Lines of a tool's output that progress shows.
const OUTPUT_LINES: usize = 8;

/// How long a log that cannot be written is waited for.
pub(super) const UNWRITABLE_TIMEOUT: Duration = ended::UNWRITABLE_TIMEOUT;

/// A run that is being watched.
pub(super) struct Run {
    pub client: Client,
    pub format: Format,
    /// Leave when a person is needed.
    pub park: bool,
    /// The session goes with the run, which does not go on without a terminal.
    pub ephemeral: bool,
    pub session: SessionId,
    /// The newest prompt.
    pub newest: Option<PromptId>,
    /// Events before this one are not of this run.
    pub from: Seq,
    /// Exits before this one were over when the newest prompt came.
    pub asked: Seq,
    /// Prompts that no turn has taken yet.
    pub waiting: Vec<PromptId>,
    /// The one of them that a restart waits with.
    pub restart: Option<PromptId>,
    /// The turn that took the newest of the others, as long as it runs.
    pub turn: Option<u64>,
    /// It was asked to stop: a turn that begins for it is interrupted.
    stopping: bool,
    /// It has ended, with this code, and hooks are notified of it before the run is over.
    pub ended: Option<u8>,
    /// It is over when the goal is.
    goal: Option<GoalRun>,
    pub questions: Option<Questions>,
    /// Questions of the sub-agents below the session: they are the run's own.
    pub agents: AgentDialogs,
    pub transcript: Transcript,
    pub painter: Painter,
}

impl Run {
    /// A run whose events begin at `from`. `asks`: questions are asked at the terminal.
    pub(super) fn new(
        client: Client,
        args: &Args,
        session: SessionId,
        from: Seq,
        asks: bool,
    ) -> Self {
        Self {
            client,
            format: args.format(),
            ephemeral: args.ephemeral,
            park: args.options.options().on_ask == Some(OnAsk::Park),
            session,
            newest: None,
            from,
            asked: from,
            waiting: Vec::new(),
            restart: None,
            turn: None,
            stopping: false,
            ended: None,
            goal: args.goal.is_some().then(GoalRun::default),
            questions: asks.then(Questions::default),
            agents: AgentDialogs::default(),
            transcript: Transcript::default(),
            painter: Painter::new(output::colour(&std::io::stderr()), OUTPUT_LINES),
        }
    }

    /// One more prompt, which is in the log from `seq` on.
    pub(super) fn wait_for(&mut self, prompt: PromptId, seq: Seq) {
        self.newest = Some(prompt);
        self.asked = seq;
        self.waiting.push(prompt);
        if self.stopping {
            drop(self.stop());
        }
    }

    /// Watches until the turn has ended, or we leave.
    pub(super) async fn watch(
        &mut self,
        follow: &mut Follow,
        (signals, early): (&mut Signals, &mut Option<OsSignal>),
        timeout: Option<u64>,
        report: &mut Report,
    ) -> Result<u8, Error> {
        let mut leaving = InterruptState::new(self.ephemeral);
        let mut log_change = LogChange::default();
        follow.wait_while_unwritable(UNWRITABLE_TIMEOUT);
        self.agents.start(&self.client, follow.attached().pid);
        loop {
            tokio::select! {
                heard = follow.heard() => if let Some(mut event) = log_change.take(self.hear(heard?))? {
                    if self.is_our_end(&event) && ended::lacks_outcome(&event) {
                        *event = ended::with_outcome(&self.client, &self.session.to_string(), &event).await?;
                    }
                    let turn = self.turn;
                    if let Some(code) = self.take(*event, report)? {
                        return Ok(leaving.code(code));
                    }
                    // The daemon ends the turn when its time is up. Should it not, we do not wait for ever.
                    if self.turn != turn && leaving.limit.is_none_or(|(_, code)| code == exit::TIMEOUT) {
                        leaving.limit = self.turn.and_then(|_| limit_of_turn(timeout));
                    }
                },
                line = typed(&mut self.questions) => if let Some(questions) = &mut self.questions {
                    questions.answer(&self.client, &line).await?;
                },
                changes = self.agents.changed() => if let Some(code) = self.take_agents(changes, report)? {
                    return Ok(leaving.code(code));
                },
                arrived = heard(signals, early) => match leaving.take(arrived, self.interrupt_target(), report) {
                    Some(code) => return Ok(code),
                    None => drop(self.stop()),
                },
                code = reached(leaving.limit) => {
                    // Let the requests be answered before we leave.
                    let _ = tokio::time::timeout(ANSWER_MAX, self.stop()).await;
                    if let Some(code) = self.ended {
                        return Ok(code);
                    }
                    report.left(left(code));
                    return Ok(code);
                }
            }
        }
    }

    /// Says to a person why nothing comes; leaves what does.
    pub(super) fn hear(&mut self, heard: FollowUpdate) -> Option<FollowEvent> {
        // A break is of interest to who looks on while it lasts.
        let seen = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let (words, followed) = match heard {
            FollowUpdate::FollowEvent(FollowEvent::Event(event)) => {
                return Some(FollowEvent::Event(event));
            }
            FollowUpdate::FollowEvent(FollowEvent::Reconnected) => {
                self.agents.restart(&self.client);
                (
                    seen.then(|| say!(Msg::Reconnected).to_owned()),
                    Some(FollowEvent::Reconnected),
                )
            }
            FollowUpdate::Lost { .. } => (seen.then(|| say!(Msg::Lost).to_owned()), None),
            FollowUpdate::Unwritable(failure) => {
                (Some(format!("! {}", unwritable(&failure))), None)
            }
        };
        if self.format == Format::Text
            && let Some(words) = words
        {
            output::progress_part(&self.painter.close());
            output::progress(&words);
        }
        followed
    }

    /// Whether [`Self::stop`] interrupts a turn, or the wait of a restart.
    fn interrupts(&self) -> bool {
        let is_own = self.turn.is_some() || self.ended.is_some() || self.goal.is_some();
        is_own || self.restart.is_some()
    }

    /// Whether the run's goal waits for the turn of somebody else, or for the end of a pause.
    fn goal_waits(&self) -> bool {
        self.goal.as_ref().is_some_and(GoalRun::waits)
    }

    /// What [`Self::stop`] ends.
    pub(super) fn interrupt_target(&self) -> InterruptTarget {
        if self.goal_waits() {
            return InterruptTarget::WaitingGoal;
        }
        match self.interrupts() || self.waiting.is_empty() {
            true => InterruptTarget::Turn,
            false => InterruptTarget::QueuedPrompt,
        }
    }

    /// Removes this run's waiting prompts or goal, and interrupts the turn that runs for it, or that begins
    /// for it yet: another client's turn goes on. What comes of it are events.
    pub(super) fn stop(&mut self) -> JoinHandle<()> {
        self.stopping = true;
        let client = self.client.clone();
        let session = self.session.to_string();
        let mut waiting = self.waiting.clone();
        // The interrupt ends the wait of a restart.
        waiting.retain(|prompt| self.restart != Some(*prompt));
        let interrupts = self.interrupts();
        let goal_waits = self.goal_waits();
        tokio::spawn(async move {
            if goal_waits {
                let request_id = Some(RequestId::new());
                let params = StopParams {
                    session,
                    request_id,
                };
                if let Err(error) = client.call::<GoalStop>(&params).await {
                    exit::tell(&error.into(), false);
                }
                return;
            }
            for prompt_id in waiting {
                let session = session.clone();
                let params = UnqueueParams { session, prompt_id };
                // One that has started meanwhile is interrupted when its start is heard of.
                let _ = client.call::<SessionUnqueue>(&params).await;
            }
            let params = OneParams { session };
            if interrupts && let Err(error) = client.call::<SessionInterrupt>(&params).await {
                exit::tell(&error.into(), false);
            }
        })
    }

    /// Whether an event ends the run or a turn of it, whatever it says.
    pub(super) fn is_our_end(&self, event: &DecodedEvent) -> bool {
        match event.kind() {
            "turn.ended" => {
                event.turn.is_some() && (event.turn == self.turn || self.goal.is_some())
            }
            "session.exited" => event.seq.is_some_and(|seq| seq >= self.asked) && self.is_busy(),
            _ => false,
        }
    }

    /// Takes an event; returns the exit code if it ends the run.
    pub(super) fn take(
        &mut self,
        event: DecodedEvent,
        report: &mut Report,
    ) -> Result<Option<u8>, Error> {
        if event.seq.is_some_and(|seq| seq < self.from) {
            return Ok(None);
        }
        let turn = self.turn;
        let code = self.take_event(event, report)?;
        if self.stopping && self.turn.is_some() && self.turn != turn {
            drop(self.stop());
        }
        Ok(code)
    }

    fn take_event(
        &mut self,
        event: DecodedEvent,
        report: &mut Report,
    ) -> Result<Option<u8>, Error> {
        match self.format {
            Format::Jsonl => output::json(&event)?,
            Format::Text => self.show(&event),
            Format::Json => {}
        }
        let body = match event.content {
            Content::Durable(body) => body,
            Content::Live(Live::Sync(sync)) => {
                let mut open = Dialog::by_sync(&sync);
                return Ok(open.find_map(|asked| self.asked(asked, report)));
            }
            Content::Live(_) | Content::UnknownLive => return Ok(None),
        };
        let newest = event.seq.is_some_and(|seq| seq >= self.asked);
        Ok(self.take_record(body, event.turn, newest, report))
    }

    /// Takes a record. `newest`: it came after the newest prompt.
    fn take_record(
        &mut self,
        body: Body,
        turn: Option<u64>,
        newest: bool,
        report: &mut Report,
    ) -> Option<u8> {
        if let Body::Notice(notice) = &body {
            report.noticed(notice);
        }
        if let Some(goal) = self.goal.as_mut().filter(|_| newest) {
            match goal.take(&body, turn, report) {
                GoalEvent::Over(code) => return Some(code),
                GoalEvent::Taken => return None,
                GoalEvent::Other => {}
            }
        }
        match body {
            Body::TurnStarted(started) if self.takes_turn(started.prompt_id) => {
                self.turn = turn;
                // The turn before it, whose hooks have run.
                self.ended.take()
            }
            // It joins a turn that runs.
            Body::User(message) if message.prompt_id.is_some_and(|id| self.takes(id)) => {
                self.turn = turn;
                None
            }
            Body::TurnEnded(ended) if turn.is_some() && turn == self.turn => {
                let code = code(ended.exit_code());
                self.turn = None;
                self.ended = (ended.hooks || ended.supervised).then_some(code);
                report.ended(ended);
                self.ended.is_none().then_some(code)
            }
            // The run goes on with another turn.
            Body::SessionRestarted(restarted) if self.ended.is_some() => {
                if let Some(prompt) = restarted.prompt {
                    self.ended = None;
                    self.waiting.push(prompt.prompt_id);
                    self.restart = Some(prompt.prompt_id);
                }
                report.restarted();
                None
            }
            // A session that rests exits between prompts.
            Body::SessionExited(exited) if newest && self.is_busy() => {
                report.exited(&exited);
                Some(self.ended.take().unwrap_or(code(exited.exit_code)))
            }
            // What follows a turn: its hooks have run.
            Body::SessionState(_) | Body::TurnStarted(_) if self.ended.is_some() => {
                self.ended.take()
            }
            // Another prompt takes its place, or the session exits and says why.
            Body::PromptUnqueued(unqueued) if self.restart == Some(unqueued.prompt_id) => None,
            Body::PromptUnqueued(unqueued) if self.takes(unqueued.prompt_id) => {
                output::progress(say!(Msg::PromptRemoved));
                report.left(left(exit::INTERRUPTED));
                Some(exit::INTERRUPTED)
            }
            body => {
                if let Some((id, questions)) = Dialog::closed_by(&body).zip(self.questions.as_mut())
                {
                    questions.close(id);
                    // The next one.
                    questions.draw();
                }
                Dialog::opened_by(&body).and_then(|asked| self.asked(asked, report))
            }
        }
    }

    /// Whether something of this run waits, runs or is about to end.
    pub(super) fn is_busy(&self) -> bool {
        self.turn.is_some() || self.ended.is_some() || !self.waiting.is_empty()
    }

    /// Takes a prompt out of those that wait. False: it is none of them.
    fn takes(&mut self, prompt: PromptId) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| *waiting != prompt);
        self.waiting.len() < before
    }

    /// The same at the start of a turn, which may have another prompt in the place of a restart's.
    fn takes_turn(&mut self, prompt: PromptId) -> bool {
        let restart = self.restart.take();
        self.takes(prompt) || restart.is_some_and(|restart| self.takes(restart))
    }

    /// A person is asked; questions that were open when we attached are, too.
    fn asked(&mut self, asked: Dialog, report: &mut Report) -> Option<u8> {
        if self.park {
            report.left(left(exit::PARKED));
            return Some(exit::PARKED);
        }
        if let Some(questions) = &mut self.questions {
            questions.add(asked);
        }
        None
    }

    /// Takes what has changed about the questions of sub-agents; returns the exit code if it ends the run.
    pub(super) fn take_agents(
        &mut self,
        changes: AgentChanges,
        report: &mut Report,
    ) -> Result<Option<u8>, Error> {
        for closed in &changes.closed {
            let asked = self.questions.as_mut();
            let shown = asked.is_none_or(|questions| questions.close(closed.id()));
            match self.format {
                Format::Jsonl => output::json(&agent_dialogs::closed_event(closed))?,
                // Who answered it here knows.
                Format::Text if shown => {
                    let words = words::agent_answered(language(), closed.interaction.session);
                    output::progress_part(&self.painter.close());
                    output::progress(&format!("· {words}"));
                }
                Format::Text | Format::Json => {}
            }
        }
        let mut code = None;
        for asked in changes.opened {
            match self.format {
                Format::Jsonl => output::json(&agent_dialogs::opened_event(&asked))?,
                Format::Text if self.questions.is_none() => {
                    for piece in asked.pieces() {
                        output::progress_part(&self.painter.paint(&piece));
                    }
                }
                Format::Text | Format::Json => {}
            }
            code = code.or(self.asked(asked, report));
        }
        if let Some(questions) = &mut self.questions {
            // The next one.
            questions.draw();
        }
        Ok(code)
    }

    /// Progress on standard error: all but the prompt's own words, the answer, and questions that are drawn anyway.
    fn show(&mut self, event: &DecodedEvent) {
        // Beginnings of answers: progress shows whole ones.
        if event.kind() == "sync" {
            return;
        }
        let mut pieces = self.transcript.fold(event);
        let skip = match event.body() {
            Some(Body::Assistant(message)) => message.calls.is_empty(),
            // Whoever gave the prompt knows it, but not what was attached to it.
            Some(Body::User(message))
                if message.prompt_id.is_some() && message.prompt_id == self.newest =>
            {
                pieces = attached_pieces(&message.attached);
                false
            }
            // The prompt of this run reopens an exited session.
            Some(Body::SessionExited(_) | Body::SessionReopened(_)) => true,
            Some(Body::InteractionOpened(_)) => self.questions.is_some(),
            _ => false,
        };
        if !skip {
            for piece in pieces {
                output::progress_part(&self.painter.paint(&piece));
            }
        }
    }
}

/// A signal that came early, else the next one. Cancel-safe: a signal that is taken is returned at once.
async fn heard(signals: &mut Signals, early: &mut Option<OsSignal>) -> OsSignal {
    match early.take() {
        Some(arrived) => arrived,
        None => signals.next().await,
    }
}

/// The next answer, where questions are asked here.
async fn typed(questions: &mut Option<Questions>) -> String {
    match questions {
        Some(questions) => questions.typed().await,
        None => std::future::pending().await,
    }
}

/// When a turn that starts now is left, with the exit code that goes with it.
fn limit_of_turn(timeout: Option<u64>) -> Option<(Instant, u8)> {
    let due = |ms| Instant::now() + Duration::from_millis(ms) + GRACE;
    timeout.map(|ms| (due(ms), exit::TIMEOUT))
}

/// When a time is reached: the exit code that goes with it.
pub(super) async fn reached(limit: Option<(Instant, u8)>) -> u8 {
    match limit {
        Some((at, code)) => {
            tokio::time::sleep_until(at).await;
            code
        }
        None => std::future::pending().await,
    }
}
