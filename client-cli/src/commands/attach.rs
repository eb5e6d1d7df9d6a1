//! `reasonix attach`: follow a session in the terminal interface, or line by line (`--plain`), and talk to it.

mod away;
mod back;
mod events;
mod input;
mod question;
mod say;

use std::collections::VecDeque;
use std::time::Duration;

use client::{
    CallError, Client, DecodedEvent, Follow, FollowEvent, FollowFrom, FollowUpdate, Start,
};
use client_tui::Open;
use proto::hello::Role;
use proto::params::session::{PromptParams, Until, WaitParams, When};
use proto::state::Kind;
use proto::{Pid, Seq, SessionOptions};
use tokio::time::Instant;

use crate::agent_dialogs::{AgentChanges, AgentDialogs};
use crate::commands::setup;
use crate::dialog::Dialog;
use crate::exit::{self, Error};
use crate::interface::{self, NewSessionOptions, ScreenArgs};
use crate::messages::talk::Msg;
use crate::paint::Painter;
use crate::pieces::{Piece, Tone, Transcript};
use crate::session_options::one_of;
use crate::signals::{OsSignal, Signals};
use crate::terminal::{self, Lines, Screen};
use crate::{ended, output, reach, text};

use client::queue::Queue;
use input::TypedLine;

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
    look: ScreenArgs,
    /// Session: pid, id, or name [default: the most recent one of this directory, or a new one].
    session: Option<String>,
    /// What else a new session gets, and the prompt of either.
    #[arg(skip)]
    fresh: NewSessionOptions,
    /// Make no new session where there is none.
    #[arg(skip)]
    only_last: bool,
}

/// The session to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    Named(String),
    New,
    /// The most recent one of this directory.
    Last,
}

impl Args {
    /// Line by line.
    pub fn lines(which: SessionTarget, fresh: NewSessionOptions) -> Self {
        Self {
            plain: false,
            role: None,
            read_only: false,
            new: which == SessionTarget::New,
            only_last: which == SessionTarget::Last,
            model: fresh.options.model.clone(),
            look: ScreenArgs::default(),
            session: match which {
                SessionTarget::Named(session) => Some(session),
                SessionTarget::New | SessionTarget::Last => None,
            },
            fresh,
        }
    }

    /// What a new session gets.
    fn fresh(&mut self) -> NewSessionOptions {
        let fresh = std::mem::take(&mut self.fresh);
        NewSessionOptions {
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
        .follow(&session, FollowFrom::Snapshot { backlog: BACKLOG }, true)
        .await?;
    // A person may wait as long as they like.
    follow.wait_while_unwritable(Duration::MAX);
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
    if let (Some(session), Screen::None) = (&args.session, terminal::screen()) {
        exists(session).await?;
    }
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

/// Refuses a session that does not exist, if a daemon runs that knows it.
async fn exists(session: &str) -> Result<(), Error> {
    let Ok(Some(client)) = reach::running("attach", Role::Watch).await else {
        return Ok(());
    };
    match client.session(session).await {
        Err(unknown @ CallError::Failure(_)) => Err(unknown.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The session of this directory that was active last; `None`: a new one shall be made. Who does not drive makes none, and
/// a client that could not list the sessions does not either.
async fn last(client: &Client, cwd: &str, role: Role) -> Result<Option<String>, Error> {
    match reach::last_if_any(client, cwd).await? {
        Some(last) => Ok(Some(last.session.to_string())),
        None if role != Role::Drive => Err(reach::no_session_error(cwd)),
        None => Ok(None),
    }
}

/// A session of this directory: the one that was active last, or a new one with its prompt. Whether it is new.
async fn here(
    client: &Client,
    new: bool,
    role: Role,
    fresh: NewSessionOptions,
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
    FollowUpdate(Result<FollowUpdate, CallError>),
    Line(Option<String>),
    Agents(AgentChanges),
    OsSignal(OsSignal),
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
                heard = follow.heard() => Next::FollowUpdate(heard),
                // Before all earlier events are on the screen, the user cannot know which session this is and what it asks.
                line = read(&mut lines), if begun => Next::Line(line),
                changes = self.agents.changed(), if begun => Next::Agents(changes),
                arrived = signals.next() => Next::OsSignal(arrived),
                done = finished(&mut ending) => Next::Done(done),
            };
            match next {
                Next::FollowUpdate(heard) => {
                    begun |= is_sync(&heard);
                    self.heard(heard, lines.as_mut()).await?;
                }
                Next::Agents(changes) => self.take_agents(changes)?,
                Next::Line(Some(line)) => match input::parse(&line) {
                    TypedLine::Quit => return self.leave(0),
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
                Next::OsSignal(OsSignal::Hup) => return Ok(0),
                Next::OsSignal(OsSignal::Term) => return self.leave(exit::TERMINATED),
                Next::OsSignal(OsSignal::Int) => {
                    let again = interrupted.is_some_and(|at| at.elapsed() < TWICE);
                    if again || !self.try_interrupt().await? {
                        return self.leave(exit::INTERRUPTED);
                    }
                    interrupted = Some(Instant::now());
                    self.note(say!(Msg::Interrupting))?;
                }
            }
        }
    }

    /// Interrupts the turn. False: nothing runs, or it cannot be interrupted from here.
    async fn try_interrupt(&mut self) -> Result<bool, Error> {
        if self.apart || self.role < Role::Drive {
            return Ok(false);
        }
        match self.interrupt().await {
            // Whether it arrived is not known: events will show.
            Err(Error::Call(CallError::Lost { .. })) => Ok(true),
            delivered => delivered,
        }
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

    /// Leaves; a person sees how to come back.
    fn leave(&mut self, code: u8) -> Result<u8, Error> {
        if terminal::is_interactive() {
            self.note(&say!(Msg::LeftSession, self.pid))?;
        }
        output::part(&self.painter.close())?;
        Ok(code)
    }
}

/// Whether all earlier events have come.
fn is_sync(heard: &Result<FollowUpdate, CallError>) -> bool {
    matches!(heard, Ok(FollowUpdate::FollowEvent(FollowEvent::Event(event))) if event.kind() == "sync")
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
