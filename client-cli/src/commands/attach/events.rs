//! What the events of a session do here: they are shown, and change what is open and what waits.

use client::queue::Queue;
use client::transcript::words;
use client::{CallError, Content, DecodedEvent, FollowEvent, FollowUpdate};
use proto::Body;
use proto::hello::Role;
use proto::live::{Live, Snapshot, Sync};
use proto::state::{Kind, WaitingFor};

use super::{Attached, away, say};
use crate::agent_dialogs::AgentChanges;
use crate::dialog::Dialog;
use crate::ended;
use crate::exit::Error;
use crate::messages::talk::Msg;
use crate::messages::{language, translated};
use crate::pieces::Tone;
use crate::terminal::Lines;

impl Attached {
    /// Takes an event, or what became of the connection.
    pub(super) async fn heard(
        &mut self,
        heard: Result<FollowUpdate, CallError>,
        lines: Option<&mut Lines>,
    ) -> Result<(), Error> {
        match heard {
            Ok(FollowUpdate::FollowEvent(FollowEvent::Event(event))) => {
                self.take(*event, lines).await
            }
            Ok(FollowUpdate::Lost { .. }) => {
                self.note(say!(Msg::Lost))?;
                self.apart = true;
                Ok(())
            }
            Ok(FollowUpdate::Unwritable(failure)) => {
                self.tell(Tone::Warning, &ended::unwritable(&failure))
            }
            Ok(FollowUpdate::FollowEvent(FollowEvent::Reconnected)) => {
                self.note(say!(Msg::Reconnected))?;
                self.apart = false;
                self.unsure = true;
                self.agents.restart(&self.client);
                Ok(())
            }
            Err(error) => {
                self.leave(0)?;
                Err(error.into())
            }
        }
    }

    /// Shows an event, and keeps the list of questions.
    async fn take(&mut self, event: DecodedEvent, lines: Option<&mut Lines>) -> Result<(), Error> {
        // The title says this already.
        if event.seq.is_none() {
            self.print(&event)?;
        } else if !(self.titled && event.kind() == "session.created") {
            self.show(&event).await?;
        }
        let body = match event.content {
            Content::Durable(body) => body,
            Content::Live(Live::Snapshot(snapshot)) => return self.snapshot(&snapshot).await,
            Content::Live(Live::Sync(sync)) => {
                // Below the earlier entries, where the user looks first.
                for line in std::mem::take(&mut self.away) {
                    self.note(&line)?;
                }
                return self.sync(&sync, lines);
            }
            Content::Live(_) | Content::UnknownLive => return Ok(()),
        };
        if let Some(seq) = event.seq {
            self.queue.fold(seq, &body);
        }
        if let Some(asked) = Dialog::opened_by(&body) {
            self.how_to(&asked)?;
            // Before those of sub-agents: a word answers the session's own question first.
            let of_agents = self.open.iter().position(|open| open.agent.is_some());
            let at = of_agents.unwrap_or(self.open.len());
            self.open.insert(at, asked);
            drawn(lines);
        } else if let Some(id) = Dialog::closed_by(&body) {
            self.open.retain(|open| open.id() != id);
        } else if matches!(&body, Body::SessionState(state) if state.waiting_for == Some(WaitingFor::Credentials))
        {
            self.offer().await?;
        }
        Ok(())
    }

    /// Prints a durable event. An end that does not say how is asked for.
    async fn show(&mut self, event: &DecodedEvent) -> Result<(), Error> {
        if !ended::lacks_outcome(event) {
            return self.print(event);
        }
        match ended::with_outcome(&self.client, &self.session, event).await {
            Ok(event) => self.print(&event),
            Err(error @ (Error::Failed { .. } | Error::Call(CallError::Failure(_)))) => {
                self.note(&error.to_string())
            }
            Err(error) => Err(error),
        }
    }

    /// The state at the moment of attaching.
    async fn snapshot(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        let session = &snapshot.session;
        let origin = session.origin.as_ref();
        let origin = origin.map(|origin| words::origin(language(), origin));
        let origin = origin.map_or_else(String::new, |words| format!(" · {words}"));
        let title = say!(Msg::Title, session.pid, session.model, session.cwd, origin);
        self.note(&title)?;
        if !std::mem::replace(&mut self.titled, true)
            && let Some(words) = say::lower(self.role)
        {
            self.note(words)?;
        }
        self.headless = session.kind == Kind::Headless;
        if let Some(reason) = &session.read_only {
            self.note(&say!(Msg::ReadOnly, translated(reason)))?;
        }
        self.away = away::lines(snapshot);
        for queued in &snapshot.queue {
            let by = words::who(language(), &queued.by);
            self.note(&say!(Msg::QueuedBy, by, queued.text))?;
        }
        self.queue = Queue::new(snapshot.seq, snapshot.queue.clone());
        self.unsure = true;
        if session.waiting_for == Some(WaitingFor::Credentials) {
            self.offer().await?;
        }
        Ok(())
    }

    /// The open questions as they are now; those that the replay did not show are shown.
    fn sync(&mut self, sync: &Sync, lines: Option<&mut Lines>) -> Result<(), Error> {
        let known = std::mem::take(&mut self.open).into_iter();
        let (of_agents, mut known): (Vec<_>, Vec<_>) = known.partition(|open| open.agent.is_some());
        let mut new = false;
        for asked in Dialog::by_sync(sync) {
            match known.iter().position(|known| known.id() == asked.id()) {
                Some(index) => self.open.push(known.remove(index)),
                None => {
                    new = true;
                    self.draw(&asked)?;
                    self.open.push(asked);
                }
            }
        }
        self.open.extend(of_agents);
        if new {
            drawn(lines);
        }
        Ok(())
    }

    /// Takes what has changed about the questions of sub-agents.
    pub(super) fn take_agents(&mut self, changes: AgentChanges) -> Result<(), Error> {
        for closed in &changes.closed {
            self.later.retain(|later| later.id() != closed.id());
            let shown = self.open.len();
            self.open.retain(|open| open.id() != closed.id());
            // Who answered it here knows.
            if self.open.len() < shown {
                let session = closed.interaction.session;
                self.note(&words::agent_answered(language(), session))?;
            }
        }
        let waits = !self.open.is_empty() && !changes.opened.is_empty();
        self.later.extend(changes.opened);
        match waits {
            true => self.note(say!(Msg::AnotherWaits)),
            false => Ok(()),
        }
    }

    /// Shows the next question of a sub-agent, if no other is open: a word must not answer one that is not the last.
    pub(super) fn ask_next(&mut self, lines: Option<&mut Lines>) -> Result<(), Error> {
        if !self.open.is_empty() {
            return Ok(());
        }
        let Some(asked) = self.later.pop_front() else {
            return Ok(());
        };
        self.draw(&asked)?;
        self.open.push(asked);
        drawn(lines);
        Ok(())
    }

    /// Offers this process's keys to a session that lost its own.
    async fn offer(&mut self) -> Result<(), Error> {
        if self.role == Role::Drive && !std::mem::replace(&mut self.offered, true) {
            self.client.offer_credentials().await?;
        }
        Ok(())
    }
}

/// Keys typed before a question was drawn do not count.
fn drawn(lines: Option<&mut Lines>) {
    if let Some(lines) = lines {
        lines.flush();
    }
}
