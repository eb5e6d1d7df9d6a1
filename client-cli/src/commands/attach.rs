//! `reasonix attach --plain`: follow a session line by line, and talk to it.

mod input;

use std::time::Duration;

use client::transcript::{Piece, Transcript, approval_pieces};
use client::{CallError, Client, Follow, Followed, From};
use proto::hello::Role;
use proto::live::{Live, Snapshot};
use proto::methods::{
    ApprovalAnswer, ApprovalList, SessionCreate, SessionGet, SessionInterrupt, SessionPrompt,
    SessionSet, SessionWait,
};
use proto::params::approval::{AnswerParams, Approval, Decision, ListParams};
use proto::params::session::{
    CreateParams, OneParams, PromptParams, SetParams, Until, WaitParams, When,
};
use proto::state::{Kind, OnAsk, WaitingFor};
use proto::{ApprovalId, Body, Event, RequestId, Seq, SessionId};
use tokio::time::Instant;

use crate::exit::{self, Error};
use crate::paint::Painter;
use crate::signals::{Arrived, Signals};
use crate::terminal::{self, Lines};
use crate::{ended, output, reach, text};

use input::Said;

/// A second Ctrl-C within this time leaves at once.
const TWICE: Duration = Duration::from_secs(2);

/// Durable events from before that are shown at first.
const BACKLOG: u64 = 100;

/// Lines of a tool's output that are shown.
const OUTPUT_LINES: usize = 20;

/// Follow a running session, give it prompts, answer its questions.
///
/// Lines that are typed are prompts, but for `/steer TEXT`, `/interrupt`, `/approve [ID]`, `/deny [ID] [NOTE]` and
/// `/quit`, which leaves the session as it is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Line mode, for pipes and simple terminals.
    #[arg(long)]
    plain: bool,
    /// Only watch.
    #[arg(long, conflicts_with = "new")]
    read_only: bool,
    /// Begin a new session in this directory.
    #[arg(long, conflicts_with = "session")]
    new: bool,
    /// Provider name, model, or `provider/model` of the new session.
    #[arg(long, value_name = "MODEL", requires = "new")]
    model: Option<String>,
    /// Pid, id, or name; without it the session of this directory that was active last, or a new one.
    session: Option<String>,
}

/// Attaches, until `/quit`, the end of the input and of what it asked for, or Ctrl-C with nothing running.
pub async fn run(args: Args) -> Result<u8, Error> {
    if !args.plain {
        return Err(Error::usage(
            "the full-screen interface is not in this build",
            "`reasonix attach --plain` follows a session line by line",
        ));
    }
    let client = reach::with("attach", |options| {
        options.interactive = terminal::is_interactive() && !args.read_only;
        options.role = if args.read_only {
            Role::Watch
        } else {
            Role::Drive
        };
    })
    .await?;
    let session = match args.session {
        Some(session) => session,
        None => here(&client, args.new, args.read_only, args.model).await?,
    };
    let follow = client
        .follow(&session, From::Snapshot { backlog: BACKLOG }, true)
        .await?;
    let colour = output::colour(&std::io::stdout());
    let attached = Attached {
        session: follow.attached().session.to_string(),
        client,
        read_only: args.read_only,
        pending: Vec::new(),
        transcript: Transcript::default(),
        painter: Painter::new(colour, OUTPUT_LINES),
        offered: false,
        headless: false,
        titled: false,
    };
    attached.serve(follow).await
}

/// A session of this directory: the one that was active last, or a new one.
async fn here(
    client: &Client,
    new: bool,
    read_only: bool,
    model: Option<String>,
) -> Result<String, Error> {
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    if !new {
        match reach::last_session(client, &cwd, true).await {
            Ok(last) => return Ok(last.session.to_string()),
            Err(error) if read_only => return Err(error),
            Err(_) => {}
        }
    }
    let params = CreateParams {
        session: SessionId::new(),
        cwd,
        env: reach::environment(&client.hello().await.key_variables),
        credentials: client.credentials().await,
        model,
        kind: Kind::Interactive,
        request_id: Some(RequestId::new()),
        ..CreateParams::default()
    };
    let created = client.call::<SessionCreate>(&params).await?;
    Ok(created.session.to_string())
}

/// A session that somebody is attached to.
struct Attached {
    client: Client,
    /// Its id for ever.
    session: String,
    read_only: bool,
    /// Open questions, oldest first.
    pending: Vec<Approval>,
    transcript: Transcript,
    painter: Painter,
    /// Keys were offered to a session that waits for them; once is enough.
    offered: bool,
    /// It is a run's session: whoever prompts it here takes it over.
    headless: bool,
    /// Its title stands on the screen.
    titled: bool,
}

/// What goes on beside the events.
enum Next {
    Followed(Result<Followed, CallError>),
    Line(Option<String>),
    Arrived(Arrived),
    /// All that was asked for has ended, at this record.
    Done(Result<Seq, CallError>),
}

impl Attached {
    async fn serve(mut self, mut follow: Follow) -> Result<u8, Error> {
        let mut signals = Signals::listen()?;
        let mut lines = Some(Lines::start());
        let mut ending: Option<tokio::task::JoinHandle<Result<Seq, CallError>>> = None;
        let mut until: Option<Seq> = None;
        let mut interrupted: Option<Instant> = None;
        let mut begun = false;
        loop {
            if until.is_some_and(|until| follow.last() >= Some(until)) {
                return self.leave(0);
            }
            let next = tokio::select! {
                followed = follow.next() => Next::Followed(followed),
                // Before all that was is on the screen, nobody knows whose session this is and what it asks.
                line = read(&mut lines), if begun => Next::Line(line),
                arrived = signals.next() => Next::Arrived(arrived),
                done = finished(&mut ending) => Next::Done(done),
            };
            match next {
                Next::Followed(Ok(Followed::Event(event))) => {
                    self.take(&event, lines.as_mut()).await?;
                    begun |= event.kind == "sync";
                }
                Next::Followed(Ok(Followed::Reconnected)) => self.note("reconnected")?,
                Next::Followed(Err(error)) => {
                    self.leave(0)?;
                    return Err(error.into());
                }
                Next::Line(Some(line)) => match input::parse(&line) {
                    Said::Quit => return self.leave(0),
                    said => self.say(said).await?,
                },
                Next::Line(None) => {
                    lines = None;
                    ending = Some(tokio::spawn(ended(
                        self.client.clone(),
                        self.session.clone(),
                    )));
                }
                Next::Done(seq) => {
                    ending = None;
                    until = Some(seq?);
                }
                Next::Arrived(Arrived::Hup) => return Ok(0),
                Next::Arrived(Arrived::Term) => return self.leave(exit::TERMINATED),
                Next::Arrived(Arrived::Int) => {
                    let again = interrupted.is_some_and(|at| at.elapsed() < TWICE);
                    if again || self.read_only || !self.interrupt().await? {
                        return self.leave(exit::INTERRUPTED);
                    }
                    interrupted = Some(Instant::now());
                    self.note("interrupting; Ctrl-C again leaves at once, the session stays")?;
                }
            }
        }
    }

    /// Shows an event, and keeps the list of questions.
    async fn take(&mut self, event: &Event, lines: Option<&mut Lines>) -> Result<(), Error> {
        if event.seq.is_none() {
            match Live::decode(&event.kind, event.data.get()) {
                Some(Ok(Live::Snapshot(snapshot))) => self.snapshot(&snapshot).await?,
                Some(Ok(Live::Sync(sync))) => {
                    self.print(event)?;
                    self.sync(&sync.pending, lines)?;
                }
                _ => self.print(event)?,
            }
            return Ok(());
        }
        // The title tells this already.
        if !(self.titled && event.kind == "session.created") {
            self.show(event).await?;
        }
        match event.body() {
            Ok(Body::ApprovalRequested(approval)) => {
                self.pending.push(approval);
                drawn(lines);
            }
            Ok(Body::ApprovalResolved(resolved)) => {
                self.pending
                    .retain(|open| open.approval_id != resolved.approval_id);
            }
            Ok(Body::SessionState(state)) if state.waiting_for == Some(WaitingFor::Credentials) => {
                self.offer().await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints a durable event. An end that does not say how is asked for.
    async fn show(&mut self, event: &Event) -> Result<(), Error> {
        if !ended::is_untold(event) {
            return self.print(event);
        }
        match ended::told(&self.client, &self.session, event).await {
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
        let title = format!(
            "session {} · {} · {}",
            session.pid, session.model, session.cwd
        );
        self.note(&title)?;
        self.titled = true;
        self.headless = session.kind == Kind::Headless;
        if let Some(reason) = &session.read_only {
            self.note(&format!("it can only be read: {reason}"))?;
        }
        for queued in &snapshot.queue {
            self.note(&format!("queued by {}: {}", queued.by, queued.text))?;
        }
        if session.waiting_for == Some(WaitingFor::Credentials) {
            self.offer().await?;
        }
        Ok(())
    }

    /// The open questions as they are now; those that the replay did not show are shown.
    fn sync(&mut self, pending: &[Approval], lines: Option<&mut Lines>) -> Result<(), Error> {
        let known = std::mem::take(&mut self.pending);
        let mut new = false;
        for approval in pending {
            if known
                .iter()
                .all(|open| open.approval_id != approval.approval_id)
            {
                new = true;
                for piece in approval_pieces(approval) {
                    output::part(&self.painter.paint(&piece))?;
                }
            }
        }
        pending.clone_into(&mut self.pending);
        if new {
            drawn(lines);
        }
        Ok(())
    }

    /// Offers this process's keys to a session that lost its own.
    async fn offer(&mut self) -> Result<(), Error> {
        if !self.read_only && !std::mem::replace(&mut self.offered, true) {
            self.client.offer_credentials().await?;
        }
        Ok(())
    }

    /// Does what a line says.
    async fn say(&mut self, said: Said) -> Result<(), Error> {
        if self.read_only {
            return self.note(
                "this client only watches: leave with `/quit`, and attach without `--read-only`",
            );
        }
        let result = match said {
            Said::Nothing | Said::Quit => Ok(()),
            Said::Prompt(text) => self.prompt(text, When::Queue).await,
            Said::Steer(text) => self.prompt(text, When::Steer).await,
            Said::Interrupt => self.interrupt().await.map(|_| ()),
            Said::Approve(id) => self.answer(id, Decision::AllowOnce, None).await,
            Said::Deny(words) => {
                let (id, note) = self.split(&words);
                self.answer(id, Decision::Deny, note).await
            }
            Said::Unknown(word) => {
                return self.note(&format!(
                    "`{word}` is none of `/steer TEXT`, `/interrupt`, `/approve [ID]`, `/deny [ID] [NOTE]`, `/quit`"
                ));
            }
        };
        match result {
            // What the daemon refuses is said; the session is still there.
            Err(Error::Call(CallError::Failure(failure))) => {
                if let Some(words) = exit::answered_before(&failure) {
                    return self.note(&words);
                }
                self.note(&format!("{}: {}", failure.name.as_str(), failure.message))?;
                if failure.hint.is_empty() {
                    Ok(())
                } else {
                    self.note(&failure.hint)
                }
            }
            other => other,
        }
    }

    async fn prompt(&mut self, text: String, when: When) -> Result<(), Error> {
        if std::mem::take(&mut self.headless) {
            // A person is here now: it does not exit after each turn, and its questions wait.
            let params = SetParams {
                session: self.session.clone(),
                kind: Some(Kind::Interactive),
                on_ask: Some(OnAsk::Wait),
                request_id: Some(RequestId::new()),
                ..SetParams::default()
            };
            self.client.call::<SessionSet>(&params).await?;
        }
        let params = PromptParams {
            session: self.session.clone(),
            text,
            when,
            credentials: self.client.credentials().await,
            request_id: Some(RequestId::new()),
        };
        self.client.call::<SessionPrompt>(&params).await?;
        Ok(())
    }

    async fn interrupt(&self) -> Result<bool, Error> {
        let params = OneParams {
            session: self.session.clone(),
        };
        Ok(self
            .client
            .call::<SessionInterrupt>(&params)
            .await?
            .delivered)
    }

    /// The id and the note of `/deny`: a first word that names an open question is the id.
    fn split(&self, words: &str) -> (Option<String>, Option<String>) {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let named = self.pending.iter().any(|open| open.approval_id.0 == first);
        let (id, note) = if named {
            (Some(first.to_owned()), rest.trim())
        } else {
            (None, words)
        };
        (id, Some(note.to_owned()).filter(|note| !note.is_empty()))
    }

    async fn answer(
        &mut self,
        id: Option<String>,
        decision: Decision,
        note: Option<String>,
    ) -> Result<(), Error> {
        let open = match &id {
            None => self.pending.first().cloned(),
            Some(id) => match self.pending.iter().find(|open| open.approval_id.0 == *id) {
                Some(open) => Some(open.clone()),
                // Either way something has been said.
                None => return self.listed(id).await,
            },
        };
        let Some(open) = open else {
            return self.note("there is nothing to answer");
        };
        let params = AnswerParams {
            approval_id: open.approval_id,
            shown_hash: open.shown_hash,
            decision,
            scope: None,
            note,
            request_id: Some(RequestId::new()),
        };
        self.client.call::<ApprovalAnswer>(&params).await?;
        Ok(())
    }

    /// A question that was not shown here: it is shown, and not answered before it was.
    async fn listed(&mut self, id: &str) -> Result<(), Error> {
        let params = ListParams {
            session: Some(self.session.clone()),
        };
        let approvals = self.client.call::<ApprovalList>(&params).await?.approvals;
        match approvals
            .into_iter()
            .find(|open| open.approval_id == ApprovalId(id.to_owned()))
        {
            None => self.note(&format!("there is no open question `{id}`")),
            Some(approval) => {
                for piece in approval_pieces(&approval) {
                    output::part(&self.painter.paint(&piece))?;
                }
                self.pending.push(approval);
                self.note("now it is shown: say it again")
            }
        }
    }

    fn print(&mut self, event: &Event) -> Result<(), Error> {
        for piece in self.transcript.fold(event) {
            output::part(&self.painter.paint(&piece))?;
        }
        Ok(())
    }

    /// A line of our own in the transcript.
    fn note(&mut self, words: &str) -> Result<(), Error> {
        let piece = Piece::Block {
            tone: client::transcript::Tone::Notice,
            text: text::line(words),
        };
        output::part(&self.painter.paint(&piece))
    }

    fn leave(&mut self, code: u8) -> Result<u8, Error> {
        output::part(&self.painter.close())?;
        Ok(code)
    }
}

/// Keys typed before a question was drawn do not count.
fn drawn(lines: Option<&mut Lines>) {
    if let Some(lines) = lines {
        lines.flush();
    }
}

async fn read(lines: &mut Option<Lines>) -> Option<String> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

async fn finished(
    ending: &mut Option<tokio::task::JoinHandle<Result<Seq, CallError>>>,
) -> Result<Seq, CallError> {
    match ending {
        None => std::future::pending().await,
        Some(task) => match task.await {
            Ok(result) => result,
            // It was not cancelled, so it panicked: ours to show.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        },
    }
}

/// Waits until what runs and waits in the queue has ended; tells the newest record then.
async fn ended(client: Client, session: String) -> Result<Seq, CallError> {
    let wait = WaitParams {
        session: session.clone(),
        until: Until::Turn,
        timeout_ms: None,
    };
    client.call::<SessionWait>(&wait).await?;
    Ok(client.call::<SessionGet>(&OneParams { session }).await?.seq)
}
