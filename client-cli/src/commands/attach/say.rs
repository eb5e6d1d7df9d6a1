//! Performs typed commands and prompts.

use client::CallError;
use client::goal_command::GoalCommand;
use proto::hello::Role;
use proto::methods::{SessionInterrupt, SessionShell, SessionSignal};
use proto::params::interaction::ApprovalDecision;
use proto::params::session::{
    OneParams, PromptParams, QueuedPrompt, ShellParams, Signal, SignalParams, When,
};
use proto::state::Mode;
use proto::{RequestId, SessionOptions};

use super::Attached;
use super::input::{ModeChange, TypedLine, help};
use crate::commands::goal;
use crate::commands::queue::{self, Change};
use crate::exit::Error;
use crate::messages::talk::Msg;
use crate::messages::{language, translated};

impl Attached {
    /// Does what a line says.
    pub(super) async fn say(&mut self, said: TypedLine) -> Result<(), Error> {
        if let Some(words) = self.may_not(&said) {
            return self.note(words);
        }
        let result = match said {
            TypedLine::Nothing | TypedLine::Quit => Ok(()),
            TypedLine::Help => {
                let mut lines = help(self.role);
                lines.try_for_each(|line| self.note(line))
            }
            TypedLine::Usage(words) => return self.note(&say!(Msg::Usage, words)),
            TypedLine::Prompt(text) if self.is_answer(&text) => self.reply(&text).await,
            TypedLine::Prompt(text) => match self.decides(&text) {
                Some(decision) => self.answer(None, decision, None).await,
                None => self.prompt(text, When::Queue).await,
            },
            TypedLine::Answer(words) => self.reply(&words).await,
            TypedLine::Clear(sure) => self.clear(sure).await,
            TypedLine::Reload(sure) => self.reload(sure).await,
            TypedLine::Rewind(None) => self.turns().await,
            TypedLine::Rewind(Some((turn, what))) => self.rewind(turn, what).await,
            TypedLine::Undo => self.undo().await,
            TypedLine::Redo => self.redo().await,
            TypedLine::Fork(name) => self.fork(name).await,
            TypedLine::Rename(name) => self.rename(name).await,
            TypedLine::Todos => self.todos(),
            TypedLine::Goal(command) => self.goal(command).await,
            TypedLine::WrongGoal(error) => {
                return self.note(&client::transcript::words::goal_error(language(), &error));
            }
            TypedLine::Export(file) => self.export(&file).await,
            TypedLine::Steer(text) => self.steer(text).await,
            TypedLine::Shell(command) => self.shell(command).await,
            TypedLine::Queue => self.list(),
            TypedLine::Change(change) => self.change(change).await,
            TypedLine::Mode(mode) => self.set_mode(mode).await,
            TypedLine::Pause => self.signal(Signal::Pause, say!(Msg::AlreadyPaused)).await,
            TypedLine::Resume => self.signal(Signal::Resume, say!(Msg::NotPaused)).await,
            TypedLine::Interrupt => self.interrupt().await.map(|_| ()),
            TypedLine::Approve(id) => self.answer(id, ApprovalDecision::AllowOnce, None).await,
            TypedLine::ApproveKeepAsking(id) => self.approve_keep_asking(id).await,
            TypedLine::Deny(words) => {
                let (id, note) = self.split(&words);
                self.answer(id, ApprovalDecision::Deny, note).await
            }
            TypedLine::ChangeCommand(words) => self.change_command(&words).await,
            TypedLine::Unknown(word) => {
                return self.note(&say!(Msg::UnknownCommand, word));
            }
        };
        match result {
            // Words that fit no prompt are a slip, not the end.
            Err(Error::Usage { what, hint }) => {
                self.note(&what)?;
                self.note(&hint)
            }
            // What the daemon refuses is said; the session is still there.
            Err(Error::Call(CallError::Failure(failure))) => {
                if let Some(words) = client::hint::answered_before(&failure) {
                    return self.note(&translated(&words));
                }
                self.note(&translated(&failure.message))?;
                if failure.hint.is_empty() {
                    Ok(())
                } else {
                    let hint = client::hint::typed_in_session(&translated(&failure.hint));
                    // Its list has the words of this mode, too, one of which may have been meant.
                    let hint = hint.replace("`reasonix commands`", "`/help`");
                    self.note(&hint)
                }
            }
            // It is not made twice; the session is followed on.
            Err(error @ Error::Call(CallError::Lost { .. })) => {
                self.note(&translated(&error.to_string()))?;
                self.note(&translated(&error.hint()))
            }
            other => other,
        }
    }

    /// Why this client may not say that; `None` if it may.
    fn may_not(&self, said: &TypedLine) -> Option<&'static str> {
        let needs = match said {
            TypedLine::Nothing
            | TypedLine::Quit
            | TypedLine::Help
            | TypedLine::Queue
            | TypedLine::Todos
            | TypedLine::Export(_)
            | TypedLine::Usage(_)
            | TypedLine::Goal(GoalCommand::Show)
            | TypedLine::WrongGoal(_)
            | TypedLine::Unknown(_) => Role::Watch,
            TypedLine::Prompt(text) if self.is_answer(text) || self.decides(text).is_some() => {
                Role::Approve
            }
            TypedLine::Approve(_)
            | TypedLine::ApproveKeepAsking(_)
            | TypedLine::Deny(_)
            | TypedLine::ChangeCommand(_)
            | TypedLine::Answer(_) => Role::Approve,
            TypedLine::Prompt(_)
            | TypedLine::Steer(_)
            | TypedLine::Shell(_)
            | TypedLine::Change(_)
            | TypedLine::Pause
            | TypedLine::Mode(_)
            | TypedLine::Resume
            | TypedLine::Clear(_)
            | TypedLine::Reload(_)
            | TypedLine::Rewind(_)
            | TypedLine::Undo
            | TypedLine::Redo
            | TypedLine::Fork(_)
            | TypedLine::Rename(_)
            | TypedLine::Goal(_)
            | TypedLine::Interrupt => Role::Drive,
        };
        match self.role {
            role if role >= needs => None,
            Role::Watch => Some(say!(Msg::OnlyWatch)),
            Role::Approve | Role::Drive => Some(say!(Msg::OnlyAnswer)),
        }
    }

    /// The prompts that wait, with their places.
    fn list(&mut self) -> Result<(), Error> {
        let lines: Vec<String> = self.queue.waiting().iter().enumerate().map(line).collect();
        if lines.is_empty() {
            return self.note(say!(Msg::NoneQueued));
        }
        lines.iter().try_for_each(|line| self.note(line))
    }

    /// Words into the running turn; a number is a place in the queue and means the prompt there.
    async fn steer(&mut self, text: String) -> Result<(), Error> {
        if text.parse::<usize>().is_err() {
            return self.prompt(text, When::Steer).await;
        }
        let steered = self.change(Change::Steer { prompt: text }).await;
        steered.map_err(|error| match error {
            Error::Usage { what, .. } => Error::usage(what, say!(Msg::SteerTakes)),
            other => other,
        })
    }

    /// Runs a command of the user in the session.
    async fn shell(&mut self, command: String) -> Result<(), Error> {
        let params = ShellParams {
            session: self.session.clone(),
            command,
            request_id: Some(RequestId::new()),
        };
        self.client.call::<SessionShell>(&params).await?;
        Ok(())
    }

    /// Changes a prompt that waits.
    async fn change(&mut self, change: Change) -> Result<(), Error> {
        let session = self.session.clone();
        match queue::change(&self.client, session, change, self.queue.waiting()).await {
            Err(Error::Usage { what, .. }) => Err(Error::usage(what, say!(Msg::QueueLists))),
            changed => changed.map(drop),
        }
    }

    /// Sends a signal; `idle`: the message if there was nothing to do.
    async fn signal(&mut self, signal: Signal, idle: &str) -> Result<(), Error> {
        let params = SignalParams {
            session: self.session.clone(),
            signal,
            tree: false,
            request_id: Some(RequestId::new()),
        };
        if self.client.call::<SessionSignal>(&params).await?.delivered {
            return Ok(());
        }
        self.note(idle)
    }

    async fn prompt(&mut self, text: String, when: When) -> Result<(), Error> {
        // A run that works towards a goal ends with it, whoever prompts it on the way.
        if self.headless && self.client.session(&self.session).await?.goal.is_none() {
            self.headless = false;
            self.client.take_over(&self.session).await?;
        }
        let renew = std::mem::take(&mut self.unsure);
        let params = PromptParams {
            session: self.session.clone(),
            text,
            when,
            ..PromptParams::default()
        };
        self.client.prompt(params, renew).await?;
        Ok(())
    }

    /// Shows, starts, changes or ends the goal of the session. What becomes of it are events.
    async fn goal(&mut self, command: GoalCommand) -> Result<(), Error> {
        let lines = goal::perform(&self.client, self.session.clone(), command).await?;
        lines.iter().try_for_each(|line| self.note(line))
    }

    /// Takes the session to a mode, or to what only reads.
    async fn set_mode(&mut self, mode: ModeChange) -> Result<(), Error> {
        let mut options = SessionOptions::default();
        match mode {
            ModeChange::Plan => options.mode = Some(Mode::Plan),
            ModeChange::Normal => options.mode = Some(Mode::Normal),
            ModeChange::Safe(safe) => options.read_only = Some(safe),
        }
        self.client.set(&self.session, options).await?;
        Ok(())
    }

    pub(super) async fn interrupt(&self) -> Result<bool, Error> {
        let params = OneParams {
            session: self.session.clone(),
        };
        Ok(self
            .client
            .call::<SessionInterrupt>(&params)
            .await?
            .delivered)
    }
}

/// The notice at the start for a role with fewer permissions.
pub(super) fn lower(role: Role) -> Option<&'static str> {
    match role {
        Role::Watch => Some(say!(Msg::WatchHere)),
        Role::Approve => Some(say!(Msg::AnswerHere)),
        Role::Drive => None,
    }
}

/// A prompt that waits, on a line.
fn line((index, queued): (usize, &QueuedPrompt)) -> String {
    let steer = if queued.steer { say!(Msg::Steers) } else { "" };
    let by = client::transcript::words::who(language(), &queued.by);
    say!(Msg::QueuedRow, index + 1, queued.text, steer, by)
}
