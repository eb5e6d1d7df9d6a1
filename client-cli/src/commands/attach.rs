//! `reasonix attach`: follow a session in the terminal interface, or line by line (`--plain`), and talk to it.

mod away;
mod back;
mod input;
mod question;
mod say;

use std::collections::VecDeque;
use std::time::Duration;

use client::transcript::words;
use client::{CallError, Client, Content, DecodedEvent, Follow, Followed, From, Heard, Start};
use client_tui::Open;
use proto::hello::Role;
use proto::live::{Live, Snapshot, Sync};
use proto::params::session::{PromptParams, Until, WaitParams, When};
use proto::state::{Kind, WaitingFor};
use proto::{Body, Pid, Seq, SessionOptions};
use tokio::time::Instant;

use crate::agent_dialogs::{AgentChanges, AgentDialogs};
use crate::commands::setup;
use crate::dialog::Dialog;
use crate::exit::{self, Error};
use crate::interface::{self, Fresh, Look};
use crate::messages::language;
use crate::messages::talk::Msg;
use crate::messages::translated;
use crate::paint::Painter;
use crate::pieces::{Piece, Tone, Transcript};
use crate::session_options::one_of;
use crate::signals::{Arrived, Signals};
use crate::terminal::{self, Lines, Screen};
use crate::{ended, output, reach, text};

use client::queue::Queue;
use input::Said;

/// A second Ctrl-C within this time leaves at once.
const TWICE: Duration = Duration::from_secs(2);

/// Durable events from before that are shown at first.
const BACKLOG: u64 = 100;

/// Lines of a tool's output that are shown.
const OUTPUT_LINES: usize = 20;

/// Open an existing session: follow it, prompt it, answer it.
///
/// With `--plain`, each line you type is a prompt, except commands: `/steer TEXT`, `/steer N`, `/queue`, `/edit N
/// TEXT`, `/move N M`, `/drop N`, `/pause`, `/resume`, `/interrupt`, `/approve [ID]`, `/deny [ID] [NOTE]`, `/answer
/// TEXT`, `/goal [TEXT]`, `/todos`, `/undo`, `/redo`, `/rewind [N]`, `/clear`, `/reload`, `/fork [NAME]`, `/rename
/// NAME`, `/export FILE`, `/help`, and `/quit`, which leaves the session running. `!COMMAND` runs a shell command
/// yourself, outside the sandbox; the model sees it with the next prompt. While the model asks a question, a line that
/// starts with a digit answers it: `2`, `1,3`, `2: and why`. On attaching, it lists what happened since you left.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use plain lines, for pipes and simple terminals.
    #[arg(long)]
    plain: bool,
    /// Rights of this client [default: drive].
    #[arg(long, value_name = "ROLE", value_parser = one_of!(Role))]
    role: Option<Role>,
    /// Watch only; same as `--role watch`.
    #[arg(long, conflicts_with_all = ["new", "role"])]
    read_only: bool,
    /// Start a new session in this directory.
    #[arg(long, conflicts_with = "session")]
    new: bool,
    /// Model of the new session: a provider, a model, or `provider/model`.
    #[arg(long, value_name = "MODEL", requires = "new")]
    model: Option<String>,
    #[command(flatten)]
    look: Look,
    /// Session: pid, id, or name [default: the most recent one of this directory, or a new one].
    session: Option<String>,
    /// What else a new session gets, and the prompt of either.
    #[arg(skip)]
    fresh: Fresh,
    /// Make no new session where there is none.
    #[arg(skip)]
    only_last: bool,
}

/// The session to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    Named(String),
    New,
    /// The most recent one of this directory.
    Last,
}

impl Args {
    /// Line by line.
    pub fn lines(which: Which, fresh: Fresh) -> Self {
        Self {
            plain: false,
            role: None,
            read_only: false,
            new: which == Which::New,
            only_last: which == Which::Last,
            model: fresh.options.model.clone(),
            look: Look::default(),
            session: match which {
                Which::Named(session) => Some(session),
                Which::New | Which::Last => None,
            },
            fresh,
        }
    }

    /// What a new session gets.
    fn fresh(&mut self) -> Fresh {
        let fresh = std::mem::take(&mut self.fresh);
        Fresh {
            options: SessionOptions {
                model: self.model.take(),
                ..fresh.options
            },
            ..fresh
        }
    }

    fn role(&self) -> Role {
        match self.read_only {
            true => Role::Watch,
            false => self.role.unwrap_or(Role::Drive),
        }
    }
}

/// Attaches, until `/quit`, the end of the input and of its prompts, or Ctrl-C with nothing running.
pub async fn run(mut args: Args) -> Result<u8, Error> {
    let role = args.role();
    if args.new && role != Role::Drive {
        return Err(Error::usage(
            say!(Msg::NewNeedsDrive),
            say!(Msg::NewNeedsDriveHint),
        ));
    }
    if !args.plain && terminal::screen() != Screen::Lines {
        return whole(args, role).await;
    }
    if !args.plain {
        output::progress(say!(Msg::LineMode));
    }
    let client = reach::with("attach", |options| {
        options.interactive = terminal::is_interactive() && role != Role::Watch;
        options.role = role;
        options.start = Start::Always;
    })
    .await?;
    // A process of the daemon's own gets less than it asks for.
    let role = client.hello().await.role.min(role);
    let fresh = args.fresh();
    let prompt = fresh.prompt.clone();
    let (session, is_new) = match args.session {
        Some(session) => (session, false),
        None if args.only_last => {
            let cwd = reach::utf8(&reach::cwd(None)?)?;
            let last = reach::last_session(&client, &cwd).await?;
            (last.session.to_string(), false)
        }
        None => here(&client, args.new, role, fresh).await?,
    };
    let mut follow = client
        .follow(&session, From::Snapshot { backlog: BACKLOG }, true)
        .await?;
    // A person may wait as long as they like.
    follow.bear(Duration::MAX);
    // What happened before is known by now, and is not what this prompt begins.
    if let (Some(text), false) = (prompt, is_new) {
        prompt_next(&client, &session, &text).await?;
    }
    let pid = follow.attached().pid;
    let colour = output::colour(&std::io::stdout());
    let attached = Attached {
        session: follow.attached().session.to_string(),
        pid,
        client,
        role,
        open: Vec::new(),
        later: VecDeque::new(),
        agents: AgentDialogs::default(),
        queue: Queue::default(),
        away: Vec::new(),
        unsure: false,
        apart: false,
        transcript: Transcript::default(),
        painter: Painter::new(colour, OUTPUT_LINES),
        offered: false,
        headless: false,
        titled: false,
    };
    let served = attached.serve(follow).await;
    served.map_err(|error| error.of_session(pid))
}

/// Gives a session the next prompt of whoever opens it; a run's session is theirs from then on.
async fn prompt_next(client: &Client, session: &str, text: &str) -> Result<(), Error> {
    if client.session(session).await?.kind == Kind::Headless {
        client.take_over(session).await?;
    }
    let params = PromptParams {
        session: session.to_owned(),
        text: text.to_owned(),
        when: When::Queue,
        ..PromptParams::default()
    };
    client.prompt(params, true).await?;
    Ok(())
}

/// The same in the terminal interface.
async fn whole(mut args: Args, role: Role) -> Result<u8, Error> {
    let otherwise = say!(Msg::AttachPlain);
    let client = interface::connect("reasonix attach", role, otherwise).await?;
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    let fresh = args.fresh();
    let open = match args.session {
        Some(session) => interface::named(&client, session).await?,
        None if args.new => Open::New,
        None => match last(&client, &cwd, role).await? {
            Some(session) => Open::Session(session),
            None => Open::New,
        },
    };
    interface::run(client, role, open, fresh, &args.look).await
}

/// The session of this directory that was active last; `None`: a new one shall be made. Who does not drive makes none, and
/// a client that could not list the sessions does not either.
async fn last(client: &Client, cwd: &str, role: Role) -> Result<Option<String>, Error> {
    match reach::last_if_any(client, cwd).await? {
        Some(last) => Ok(Some(last.session.to_string())),
        None if role != Role::Drive => Err(reach::none_yet(cwd)),
        None => Ok(None),
    }
}

/// A session of this directory: the one that was active last, or a new one with its prompt. Whether it is new.
async fn here(
    client: &Client,
    new: bool,
    role: Role,
    fresh: Fresh,
) -> Result<(String, bool), Error> {
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    if !new && let Some(session) = last(client, &cwd, role).await? {
        return Ok((session, false));
    }
    let params = fresh.params(client, cwd).await;
    let created = setup::created(client, params, terminal::is_interactive()).await?;
    Ok((created.session.to_string(), true))
}

/// A session that somebody is attached to.
struct Attached {
    client: Client,
    /// Its id for ever.
    session: String,
    pid: Pid,
    role: Role,
    /// What a person is asked, all of it shown: first the one that a word answers.
    open: Vec<Dialog>,
    /// Questions of sub-agents that are shown when none is open.
    later: VecDeque<Dialog>,
    /// Questions of the sub-agents below the session: they are asked here too.
    agents: AgentDialogs,
    /// Prompts that wait.
    queue: Queue,
    /// The summary of what happened while nobody was there, until it is shown.
    away: Vec<String>,
    /// The daemon may have had another life since the last prompt, and the session's environment lost something with
    /// it: what this process has of that goes with the next prompt.
    unsure: bool,
    /// There is no connection: nothing can be asked for.
    apart: bool,
    transcript: Transcript,
    painter: Painter,
    /// Keys were offered to a session that waits for them; once is enough.
    offered: bool,
    /// It is a run's session: whoever prompts it here takes it over.
    headless: bool,
    /// Its title is on the screen.
    titled: bool,
}

/// What goes on beside the events.
enum Next {
    Heard(Result<Heard, CallError>),
    Line(Option<String>),
    Agents(AgentChanges),
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
        self.agents.start(&self.client, follow.attached().pid);
        loop {
            if until.is_some_and(|until| follow.last() >= Some(until)) {
                return self.leave(0);
            }
            self.ask_next(lines.as_mut())?;
            let next = tokio::select! {
                heard = follow.heard() => Next::Heard(heard),
                // Before all earlier events are on the screen, the user cannot know which session this is and what it asks.
                line = read(&mut lines), if begun => Next::Line(line),
                changes = self.agents.changed(), if begun => Next::Agents(changes),
                arrived = signals.next() => Next::Arrived(arrived),
                done = finished(&mut ending) => Next::Done(done),
            };
            match next {
                Next::Heard(Ok(Heard::Followed(Followed::Event(event)))) => {
                    begun |= event.kind() == "sync";
                    self.take(*event, lines.as_mut()).await?;
                }
                Next::Heard(Ok(Heard::Lost)) => {
                    self.note(say!(Msg::Lost))?;
                    self.apart = true;
                }
                Next::Heard(Ok(Heard::Unwritable(failure))) => {
                    self.tell(Tone::Warning, &ended::unwritable(&failure))?;
                }
                Next::Heard(Ok(Heard::Followed(Followed::Reconnected))) => {
                    self.note(say!(Msg::Reconnected))?;
                    self.apart = false;
                    self.unsure = true;
                    self.agents.restart(&self.client);
                }
                Next::Heard(Err(error)) => {
                    self.leave(0)?;
                    return Err(error.into());
                }
                Next::Agents(changes) => self.take_agents(changes)?,
                Next::Line(Some(line)) => match input::parse(&line) {
                    Said::Quit => return self.leave(0),
                    said => self.say(said).await?,
                },
                Next::Line(None) if terminal::is_interactive() => return self.leave(0),
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
                    if again || self.apart || self.role < Role::Drive {
                        return self.leave(exit::INTERRUPTED);
                    }
                    let runs = match self.interrupt().await {
                        // Whether it arrived is not known: events will show.
                        Err(Error::Call(CallError::Lost { .. })) => true,
                        delivered => delivered?,
                    };
                    if !runs {
                        return self.leave(exit::INTERRUPTED);
                    }
                    interrupted = Some(Instant::now());
                    self.note(say!(Msg::Interrupting))?;
                }
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
    fn take_agents(&mut self, changes: AgentChanges) -> Result<(), Error> {
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
    fn ask_next(&mut self, lines: Option<&mut Lines>) -> Result<(), Error> {
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

    fn print(&mut self, event: &DecodedEvent) -> Result<(), Error> {
        for piece in self.transcript.fold(event) {
            output::part(&self.painter.paint(&piece))?;
        }
        Ok(())
    }

    /// A line of our own in the transcript.
    fn note(&mut self, words: &str) -> Result<(), Error> {
        self.tell(Tone::Notice, words)
    }

    fn tell(&mut self, tone: Tone, words: &str) -> Result<(), Error> {
        let piece = Piece::Block {
            tone,
            text: text::line(words),
        };
        output::part(&self.painter.paint(&piece))
    }

    /// Leaves; a person is told how to come back.
    fn leave(&mut self, code: u8) -> Result<u8, Error> {
        if terminal::is_interactive() {
            self.note(&say!(Msg::LeftSession, self.pid))?;
        }
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

/// Waits until the running and queued turns have ended; returns the newest record then.
async fn ended(client: Client, session: String) -> Result<Seq, CallError> {
    let wait = WaitParams {
        session: session.clone(),
        until: Until::Turn,
        timeout_ms: None,
    };
    ended::wait(&client, &wait, Duration::MAX).await?;
    Ok(client.session(&session).await?.seq)
}
