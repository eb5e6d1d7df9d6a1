//! The loop: gather what happened, update, perform, draw once.

mod draw;
mod overview;
mod settings;
mod tasks;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use client::Client;
use futures::FutureExt as _;
use proto::Stamp;
use proto::hello::Role;
use proto::params::config::TrustGetParams;
use proto::params::session::CreateParams;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use crate::effect::{Answer, Call, Effect, ErrorReport, ExitReport};
use crate::event::{Event, Signal};
use crate::input::{Input, Signals};
use crate::model::list::ListOf;
use crate::model::session::Session;
use crate::model::{Dialog, LaunchContext, Link, Model, ViewOptions};
use crate::perform::paths;
use crate::render::Cache;
use crate::screen::Screen;
use crate::terminal::{self, Terminal, TerminalEnvironment, UnbufferedStdout};
use crate::view::transcript::{Below, Printed};
use crate::{clipboard, editor, render, update};
use overview::OverviewRefresh;
use settings::Settings;
use tasks::ours;

/// Shortest time between two frames that only daemon events caused: 30 frames a second.
const FRAME: Duration = Duration::from_millis(33);

/// How often something that moves, moves.
const BEAT: Duration = Duration::from_millis(100);

/// Events that are taken before it is drawn, so that keys are not kept waiting by a flood.
const GATHER: usize = 512;

/// Events that may wait to be taken; the daemon is read no faster.
const WAITING: usize = 1024;

/// How the interface is started.
pub struct Options {
    pub client: Client,
    /// The client's role.
    pub role: Role,
    pub open: Open,
    pub cwd: PathBuf,
    /// A new session, but for its id and keys. Its prompt is sent first.
    pub template: CreateParams,
    /// The whole screen or not, whatever the settings say.
    pub fullscreen: Option<bool>,
}

/// The first screen to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    /// Nothing: the first prompt makes a session.
    New,
    Session(String),
    /// Sessions of this directory, to pick one.
    Pick,
    /// Everything that runs.
    Processes,
}

/// Runs the interface until the user leaves.
///
/// # Errors
/// The terminal cannot be read or written.
pub async fn run(options: Options) -> io::Result<ExitReport> {
    let open = options.open.clone();
    let mut app = App::start(options).await?;
    let left = app.live(open).await;
    match (left, app.finish().await) {
        (Ok(leave), Ok(())) => Ok(leave),
        // The terminal is gone, so nobody would read a report.
        (Err(error), _) | (_, Err(error)) if is_gone(&error) => Ok(ExitReport {
            code: 0,
            words: Vec::new(),
        }),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// Whether writing failed because the terminal is gone.
fn is_gone(error: &io::Error) -> bool {
    // EIO is what a terminal says that was hung up.
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) || terminal::is_gone()
}

struct App {
    client: Client,
    model: Model,
    cache: Cache,
    printed: Printed,
    screen: Screen<UnbufferedStdout>,
    terminal: Terminal,
    surroundings: TerminalEnvironment,
    input: Input,
    signals: Signals,
    sender: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
    /// Who follows the session.
    follower: Option<AbortHandle>,
    /// How often the overview of all sessions is wanted.
    pace: watch::Sender<OverviewRefresh>,
    /// Who keeps the overview.
    watcher: Option<AbortHandle>,
    /// It, and calls on their way.
    tasks: JoinSet<()>,
    /// The end of the transcript when it was drawn last, while it is scrolled.
    below: Option<Below>,
    /// Some settled entries are not printed yet: draw the next frame at once.
    has_unprinted: bool,
    /// Something has changed since it was drawn.
    dirty: bool,
    drawn: Instant,
    beaten: Instant,
}

impl App {
    async fn start(options: Options) -> io::Result<Self> {
        let settings = Settings::read(&options.client, &options.cwd).await;
        let surroundings = TerminalEnvironment::read();
        let look = settings.look(&surroundings, terminal::size()?, options.fullscreen);
        let template = options.template;
        let place = LaunchContext {
            model: template.options.model.clone().unwrap_or(settings.model),
            approval_mode: settings.approval_mode.unwrap_or_default(),
            home: std::env::home_dir(),
            cwd: options.cwd,
            template,
            role: options.role,
        };
        let now = Instant::now();
        // Before the terminal is changed: a signal in between would leave it so.
        let signals = Signals::new()?;
        let terminal = Terminal::enter(terminal::Options {
            wheel: settings.mouse && look.fullscreen,
            plain: surroundings.plain,
        })?;
        let mut screen = terminal.screen(&surroundings)?;
        screen.cover(look.fullscreen);
        let (sender, events) = mpsc::channel(WAITING);
        Ok(Self {
            model: Model::new(look, place, now),
            client: options.client,
            cache: Cache::default(),
            printed: Printed::default(),
            screen,
            terminal,
            surroundings,
            input: Input::terminal(),
            signals,
            sender,
            events,
            follower: None,
            pace: watch::Sender::new(OverviewRefresh::Off),
            watcher: None,
            tasks: JoinSet::new(),
            below: None,
            has_unprinted: false,
            dirty: true,
            drawn: now,
            beaten: now,
        })
    }

    /// Runs until the user leaves.
    async fn live(&mut self, open: Open) -> io::Result<ExitReport> {
        let first = self.first(open);
        let mut left = self.perform(first).await?;
        self.draw()?;
        let watching = overview::watching(
            self.client.clone(),
            self.sender.clone(),
            self.pace.subscribe(),
        );
        self.watcher = Some(self.tasks.spawn(watching));
        // Load the syntax definitions while the user reads.
        std::thread::spawn(render::highlight::warm);
        loop {
            if let Some(leave) = left {
                return Ok(leave);
            }
            let pace = OverviewRefresh::of(&self.model);
            self.pace
                .send_if_modified(|now| std::mem::replace(now, pace) != pace);
            left = self.turn().await?;
        }
    }

    /// Opens the first screen.
    fn first(&mut self, open: Open) -> Vec<Effect> {
        match open {
            // Ask once about held-back project settings, before a session is created.
            Open::New if self.model.place.role == Role::Drive => {
                if let Some(prompt) = self.model.place.template.prompt.take() {
                    self.model.composer.set(&prompt);
                    self.model.sends_draft = true;
                }
                vec![Effect::Call(Call::Trust {
                    params: TrustGetParams {
                        cwd: self.model.place.template.cwd.clone(),
                    },
                    unasked: true,
                })]
            }
            Open::New => Vec::new(),
            Open::Session(session) => update::daemon::go_to(&mut self.model, &session),
            Open::Pick => update::list::open(&mut self.model, ListOf::Sessions { here: true }),
            Open::Processes => {
                self.model.top = true;
                update::list::open(&mut self.model, ListOf::Processes)
            }
        }
    }

    /// Waits for something, takes all that is there, and draws if it is time.
    async fn turn(&mut self) -> io::Result<Option<ExitReport>> {
        let frame = match self.has_unprinted {
            true => self.drawn,
            false => self.drawn + FRAME,
        };
        let wakes = self.wakes();
        let session = self.model.session.as_ref();
        let counts = session.and_then(|session| session.cache_changes_in(Stamp::now()));
        let counted = Instant::now() + Duration::from_millis(counts.unwrap_or_default());
        let mut urgent = false;
        let first = tokio::select! {
            biased;
            () = terminal::panicked() => {
                // The hook has restored the terminal and reported the panic: end as after a panic in a task.
                std::panic::resume_unwind(Box::new("a panic elsewhere"));
            }
            signal = self.signals.next() => {
                urgent = true;
                Some(Event::Signal(signal))
            }
            event = self.input.next() => {
                urgent = true;
                Some(event)
            }
            Some(event) = self.events.recv() => Some(event),
            Some(ended) = self.tasks.join_next() => {
                ours(ended);
                None
            }
            () = until(frame), if self.dirty => None,
            () = until(wakes.unwrap_or(frame)), if wakes.is_some() => {
                self.beaten = Instant::now();
                Some(Event::Tick)
            }
            () = until(counted), if counts.is_some() => {
                self.dirty = true;
                Some(Event::Tick)
            }
        };
        let mut pending = first.or_else(|| self.resized());
        let mut taken = 0;
        while let Some(event) = pending.take() {
            // After a stop of our own all is drawn again already.
            if matches!(event, Event::Signal(Signal::Continue)) && !self.terminal.continued()? {
                break;
            }
            let before = self.by_time();
            let tick = matches!(event, Event::Tick);
            let effects = self.update(event);
            self.dirty |= !tick || self.spins() || before != self.by_time();
            if let Some(leave) = self.perform(effects).await? {
                return Ok(Some(leave));
            }
            taken += 1;
            pending = match taken < GATHER {
                true if urgent => self.urgent().await,
                true => self.events.try_recv().ok(),
                false => None,
            };
            pending = pending.or_else(|| self.resized());
        }
        if self.dirty && (urgent || self.has_unprinted || self.drawn.elapsed() >= FRAME) {
            let before = self.drawn;
            self.draw()?;
            if urgent {
                // The daemon's answer to a key need not wait for the next frame time.
                self.drawn = before;
            }
        }
        Ok(None)
    }

    fn update(&mut self, event: Event) -> Vec<Effect> {
        self.model.clock = Stamp::now();
        update::update(&mut self.model, event, Instant::now())
    }

    /// A key or signal that is there already: those that came while it was drawn are drawn together.
    async fn urgent(&mut self) -> Option<Event> {
        match self.signals.next().now_or_never() {
            Some(signal) => Some(Event::Signal(signal)),
            None => self.input.pending().await,
        }
    }

    /// The terminal's size, if it differs from the size of the last frame. The signal for a resize is sometimes lost
    /// when keys arrive with it.
    fn resized(&self) -> Option<Event> {
        let (columns, rows) = terminal::size().ok()?;
        let drawn = (self.model.look.columns, self.model.look.rows);
        (drawn != (columns, rows)).then_some(Event::Resize(columns, rows))
    }

    /// When something happens by itself, at most once a beat.
    fn wakes(&self) -> Option<Instant> {
        let beat = self.beaten + BEAT;
        if self.spins() {
            return Some(beat);
        }
        let toast = self.model.toast.as_ref().map(|toast| toast.until);
        let due = [
            toast,
            update::list::wakes(&self.model),
            update::interaction::wakes(&self.model),
        ];
        due.into_iter().flatten().min().map(|due| due.max(beat))
    }

    /// What changes with time alone, beside what is animated: whether there is a toast, and the moment that ages of a list
    /// are counted to.
    fn by_time(&self) -> (bool, Option<Stamp>) {
        let at = match &self.model.dialog {
            Some(Dialog::List(list)) => Some(list.at),
            _ => None,
        };
        (self.model.toast.is_some(), at)
    }

    /// Whether anything on the screen is animated. A session that waits for the user is not.
    fn spins(&self) -> bool {
        let model = &self.model;
        matches!(
            model.link,
            Link::Lost(_) | Link::Stopped(_) | Link::Away(_) | Link::Replaying
        ) || model.creating
            || model.session.as_ref().is_some_and(Session::works)
    }

    /// Performs effects. Returns how the interface ends, if it does.
    async fn perform(&mut self, effects: Vec<Effect>) -> io::Result<Option<ExitReport>> {
        for effect in effects {
            match effect {
                Effect::Call(call) => self.call(call),
                Effect::Follow { follow, session } => self.follow(follow, session),
                Effect::Unfollow => self.unfollow(),
                Effect::Leave(leave) => return Ok(Some(leave)),
                Effect::Suspend => self.suspend()?,
                // The frame draws it: what else happens with it is to be known first.
                Effect::Redraw => {
                    self.screen.redraw();
                    self.dirty = true;
                }
                Effect::Reprint => {
                    let ViewOptions { columns, rows, .. } = self.model.look;
                    self.screen.resize(columns, rows);
                    self.screen.outdated();
                    self.dirty = true;
                }
                Effect::Bell => self.bytes(terminal::BELL)?,
                Effect::Title(title) => self.bytes(&terminal::title(&title))?,
                Effect::Notify(words) => {
                    self.bytes(&terminal::notify(&words, self.surroundings.tmux))?;
                }
                Effect::Copy(text) => self.copy(&text).await?,
                Effect::Edit(text) => {
                    let edited = self.edit(&text).await?;
                    self.answer(Answer::Edited(edited)).await?;
                }
                Effect::EditFact(fact) => {
                    let text = self.edit(&fact.content).await?;
                    self.answer(Answer::FactEdited { fact, text }).await?;
                }
                Effect::Directory(directory) => self.spawn(async move {
                    let place = directory.clone();
                    // A disk may be slow: keys are not kept waiting.
                    let names = tokio::task::spawn_blocking(move || paths::names(&place));
                    let names = names.await.unwrap_or_default();
                    Answer::Directory { directory, names }
                }),
                Effect::Tree(root) => self.spawn(async move {
                    let place = root.clone();
                    let paths = tokio::task::spawn_blocking(move || paths::tree(&place));
                    let paths = paths.await.unwrap_or_default();
                    Answer::Tree { root, paths }
                }),
                Effect::OfferKeys => {
                    let client = self.client.clone();
                    // If this fails, the session keeps waiting and shows that it does.
                    self.tasks.spawn(async move {
                        let _ = client.offer_credentials().await;
                    });
                }
            }
        }
        Ok(None)
    }

    /// Writes escape sequences that are not part of a frame. Plain terminals get none.
    fn bytes(&mut self, bytes: &str) -> io::Result<()> {
        match self.surroundings.plain {
            true => Ok(()),
            false => self.screen.out().write_all(bytes.as_bytes()),
        }
    }

    async fn copy(&mut self, text: &str) -> io::Result<()> {
        let terminal = (!self.surroundings.plain).then(|| self.screen.out());
        let result = clipboard::copy(terminal, text, self.model.look.language);
        let characters = text.chars().count();
        self.answer(Answer::Copied { characters, result }).await
    }

    /// Takes an answer at once.
    async fn answer(&mut self, answer: Answer) -> io::Result<()> {
        let follow = self.model.follow;
        let event = Event::Answered { follow, answer };
        let effects = self.update(event);
        self.dirty = true;
        // The effects of a terminal's answer never end the interface.
        Box::pin(self.perform(effects)).await.map(drop)
    }

    /// The terminal is the editor's meanwhile.
    async fn edit(&mut self, text: &str) -> io::Result<Result<String, ErrorReport>> {
        self.input.pause();
        self.leave()?;
        self.terminal.restore();
        let command = editor::command(|name| std::env::var(name).ok());
        let edited = editor::edit(&command, text, self.model.look.language).await;
        // These keys were meant for the editor.
        let mut others = Vec::new();
        while let Some(signal) = self.signals.next().now_or_never() {
            if signal != Signal::Interrupt {
                others.push(signal);
            }
        }
        self.terminal.resume()?;
        self.input.resume();
        for signal in others {
            // There is room: nobody but us sends signals here.
            let _ = self.sender.try_send(Event::Signal(signal));
        }
        self.back()?;
        Ok(edited)
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.leave()?;
        self.terminal.suspend()?;
        self.back()
    }

    /// The terminal is ours again: it may have another size, and show anything.
    fn back(&mut self) -> io::Result<()> {
        let (columns, rows) = terminal::size()?;
        self.model.look.columns = columns;
        self.model.look.rows = rows;
        self.screen.resize(columns, rows);
        // Who had the terminal has it say something else.
        let title = terminal::title(&self.model.title);
        self.bytes(&title)?;
        self.draw()
    }
}

async fn until(moment: Instant) {
    tokio::time::sleep_until(moment.into()).await;
}
