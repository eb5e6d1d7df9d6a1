//! All that the interface knows. `update` changes it; `view` reads it. What only the drawing knows the loop writes back:
//! the size after somebody else had the terminal, how far can be scrolled, and that a question was seen
//! ([`Model::shown`]).

pub mod composer;
pub mod confirm;
pub mod goal;
pub mod interaction;
pub mod line;
pub mod list;
pub mod pager;
pub mod seen;
pub mod session;
pub mod transcript;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use client::transcript::Tone;
use proto::hello::Role;
use proto::params::session::{CreateParams, When};
use proto::state::{ApprovalMode, Mode};
use proto::{Pid, Seq, SessionId, SessionOptions, Stamp};

use crate::messages::Language;
use crate::messages::app::Msg;
use crate::messages::dialog::Msg as Title;
use crate::render::{short, wrap};
use crate::theme::Theme;

/// How long a line of ours stands above the composer.
pub const TOAST: Duration = Duration::from_secs(6);

/// Cells of the mark before the greeting.
const GREETING_MARK: usize = 2;

/// Cells of a path in which its end can still be read.
const PATH_MIN: usize = 16;

/// Keys pressed so soon after a question was drawn, or after another key that was not for it, were meant for something
/// else: they do not answer it.
pub const TYPED_AHEAD: Duration = Duration::from_millis(300);

/// The state of the interface.
#[derive(Debug)]
pub struct Model {
    pub look: Look,
    pub place: Place,
    /// What is followed; `None` before the first prompt of a new session.
    pub session: Option<session::Session>,
    pub transcript: transcript::Transcript,
    pub composer: composer::Composer,
    /// What lies over the composer, or over all.
    pub dialog: Option<Dialog>,
    pub link: Link,
    pub toast: Option<Toast>,
    /// The moment of the event that is being handled. Durations only.
    pub now: Instant,
    /// The wall clock at that moment, for ages of what the daemon tells. Whoever hands events in sets it.
    pub clock: Stamp,
    /// When the interface began.
    pub started: Instant,
    /// Whether the terminal's window has the focus; terminals that do not tell are taken to have it.
    pub focused: bool,
    /// When Ctrl-C, or Esc on an empty line, was pressed last: twice means more.
    pub pressed: Option<(Pressed, Instant)>,
    /// The newest record of each session that was seen here: what came since is unread.
    pub seen: HashMap<SessionId, Seq>,
    /// What was chosen and written of questions of sessions that were left.
    pub asking: Vec<(SessionId, Pid, interaction::Asking)>,
    /// Which following is the newest: events of earlier ones are old.
    pub follow: u64,
    /// Rows above the end of the transcript in full screen; 0: it follows what comes.
    pub scroll: usize,
    /// How often the spinner has moved.
    pub beat: u64,
    /// The title of the window as it was set last.
    pub title: String,
    /// The session that is gone to or followed, and what it is called: its id says nothing to a person.
    pub called: Option<(SessionId, String)>,
    /// A prompt is on its way that makes the session.
    pub creating: bool,
    /// A line that may be a custom command, sent before the list of these came; it is sent when it comes.
    pub awaits_commands: Option<(String, When)>,
    /// A command of the user that runs in the session that is being made.
    pub first_command: Option<String>,
    /// The goal that the session which is being created is for.
    pub first_goal: Option<String>,
    /// The draft was given at the start: it is sent as soon as nothing here has to be asked about first.
    pub sends_draft: bool,
    /// What is reported of a session when all that was before is shown.
    pub news: Vec<(Tone, String)>,
    /// It was started to show what runs, and ends with that.
    pub top: bool,
}

/// A key that means more when it is pressed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    Interrupt,
    Back,
}

/// How everything looks, and what of it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub theme: Theme,
    pub language: Language,
    pub columns: u16,
    pub rows: u16,
    /// The alternate screen with our own scrolling, in place of the terminal's scrollback.
    pub fullscreen: bool,
    /// The terminal understands links (OSC 8).
    pub links: bool,
    /// What tools printed is open.
    pub output: bool,
    /// Reasoning is open.
    pub reasoning: bool,
    /// The list of things to do is shown.
    pub todos: bool,
    pub vim: bool,
    /// Bell and notification when it waits or ends while nobody looks.
    pub bell: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            theme: Theme::Dark,
            language: Language::English,
            columns: 80,
            rows: 24,
            fullscreen: false,
            links: false,
            output: false,
            reasoning: false,
            todos: true,
            vim: false,
            bell: true,
        }
    }
}

/// Where the interface was started, and what new sessions are made with.
#[derive(Clone, Debug)]
pub struct Place {
    /// Absolute.
    pub cwd: PathBuf,
    /// Of the person, to write paths short.
    pub home: Option<PathBuf>,
    /// A new session but for its id and prompt: directory, environment, keys, model.
    pub template: CreateParams,
    /// What this client may do.
    pub role: Role,
    /// The approval mode that a new session gets where the template says none.
    pub approval_mode: ApprovalMode,
    /// The model that a new session gets, for the status line; empty where it is not known.
    pub model: String,
}

#[cfg(test)]
impl Place {
    /// A directory, and nothing known beside it: whoever drives, and what the daemon's settings say by default.
    #[must_use]
    pub fn of(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            home: None,
            template: CreateParams::default(),
            role: Role::Drive,
            approval_mode: ApprovalMode::default(),
            model: String::new(),
        }
    }
}

/// The way to the daemon.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// Nothing is followed.
    None,
    /// Attached; what was before is being replayed.
    Replaying,
    Live,
    /// Lost since then, and being made again.
    Lost(Instant),
    /// There is no daemon since then, or it does not answer; it is looked for.
    Away(Instant),
    /// It cannot be followed any more.
    Ended(crate::effect::Trouble),
}

/// A line of ours above the composer, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub tone: Tone,
    pub words: String,
    /// When it goes.
    pub until: Instant,
    pub about: Option<ToastAbout>,
}

/// What a toast reports of a question. It goes early when that is past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToastAbout {
    /// This question was set aside: it goes when the question is open on the screen, or answered.
    SetAside(client::form::ShownInteraction),
    /// A question was answered elsewhere: it goes when another one opens, which it would seem to speak of.
    Answered,
}

/// What lies over the composer, or over all. The composer's draft stays.
#[derive(Debug)]
pub enum Dialog {
    Interaction(interaction::InteractionDialog),
    List(list::ListDialog),
    Pager(pager::Pager),
    Confirm(confirm::Confirm),
}

impl Dialog {
    /// Whether it takes the whole screen.
    #[must_use]
    pub fn covers(&self) -> bool {
        match self {
            Self::Pager(_) => true,
            Self::List(list) => list.covers(),
            Self::Interaction(_) | Self::Confirm(_) => false,
        }
    }
}

impl Model {
    /// The interface at its start: nothing is followed.
    #[must_use]
    pub fn new(look: Look, place: Place, now: Instant) -> Self {
        Self {
            composer: composer::Composer::new(look.vim),
            look,
            place,
            session: None,
            transcript: transcript::Transcript::default(),
            dialog: None,
            link: Link::None,
            toast: None,
            now,
            clock: Stamp::default(),
            started: now,
            focused: true,
            pressed: None,
            seen: HashMap::new(),
            asking: Vec::new(),
            follow: 0,
            scroll: 0,
            beat: 0,
            title: String::new(),
            called: None,
            creating: false,
            awaits_commands: None,
            first_command: None,
            first_goal: None,
            sends_draft: false,
            news: Vec::new(),
            top: false,
        }
    }

    /// The first line of a new session: what this is, and where help is.
    pub fn greet(&mut self) {
        let place = &self.place;
        let cwd = short::path(&place.cwd.to_string_lossy(), place.home.as_deref());
        let cwd = client::text::line(&cwd);
        let version = env!("CARGO_PKG_VERSION");
        let language = self.look.language;
        let words = |cwd: &str| match place.model.as_str() {
            "" => language.fill(Msg::GreetingPlain, &[version, cwd]),
            model => language.fill(Msg::Greeting, &[version, &client::text::line(model), cwd]),
        };
        let row = usize::from(self.look.columns).saturating_sub(GREETING_MARK);
        // On the same row as the rest where enough of it can be read there, else on a row of its own.
        let beside = row.saturating_sub(wrap::width(&words("")));
        let room = if beside < PATH_MIN { row } else { beside };
        let words = words(&short::path_within(&cwd, room));
        self.transcript.say(Tone::Info, words);
    }

    /// A line above the composer, for a while.
    pub fn toast(&mut self, tone: Tone, words: impl Into<String>) {
        self.toast = Some(Toast {
            tone,
            words: words.into(),
            until: self.now + TOAST,
            about: None,
        });
    }

    /// Words of the daemon with the session called as a person knows it.
    #[must_use]
    pub fn calls(&self, words: &str) -> String {
        match &self.called {
            Some((id, name)) => words.replace(&id.to_string(), name),
            None => words.to_owned(),
        }
    }

    /// A failure above the composer, with what to do about it.
    pub fn trouble(&mut self, trouble: &crate::effect::Trouble) {
        let what = self.look.language.translate(&trouble.what);
        let words = match trouble.hint.is_empty() {
            true => what.into_owned(),
            false => format!("{what} · {}", self.look.language.translate(&trouble.hint)),
        };
        // What the daemon says for a shell has a command of its own here.
        let words = words
            .replace("`reasonix models`", "`/model`")
            .replace("`reasonix ls`", "`/sessions`");
        let words = self.calls(&words);
        self.toast(Tone::Error, words);
    }

    /// Asks for a yes or no before something is done.
    pub fn confirm(&mut self, title: Title, words: Vec<String>, then: confirm::Then) {
        let confirm = confirm::Confirm::new(title, words, then, self.now);
        self.dialog = Some(Dialog::Confirm(confirm));
    }

    /// The screen shows what is so now: a question that was not there before counts keys from here on.
    pub fn shown(&mut self, now: Instant) {
        let asked = match &mut self.dialog {
            Some(Dialog::Interaction(dialog)) => (&mut dialog.since, &mut dialog.drawn),
            Some(Dialog::Confirm(dialog)) => (&mut dialog.since, &mut dialog.drawn),
            Some(Dialog::List(_) | Dialog::Pager(_)) | None => return,
        };
        if !std::mem::replace(asked.1, true) {
            *asked.0 = now;
        }
    }

    /// The mode that is in force, or that a new session will get.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.options().mode.unwrap_or_default()
    }

    /// Whether the session, or the one that will be made, changes nothing.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        self.options().read_only.unwrap_or_default()
    }

    /// The approval mode that is in force, or that a new session will get.
    #[must_use]
    pub fn approval_mode(&self) -> ApprovalMode {
        match &self.session {
            Some(session) => session.options.approval_mode.unwrap_or_default(),
            None => {
                let template = self.place.template.options.approval_mode;
                template.unwrap_or(self.place.approval_mode)
            }
        }
    }

    /// The options of the session, or of a new one.
    fn options(&self) -> &SessionOptions {
        let template = &self.place.template.options;
        let session = self.session.as_ref();
        session.map_or(template, |session| &session.options)
    }

    /// What this client may do in the session that it follows.
    #[must_use]
    pub fn role(&self) -> Role {
        self.place.role
    }

    /// Whether it may prompt, stop and change. Where it may not, that is told.
    pub fn may_drive(&mut self) -> bool {
        let may = self.role() == Role::Drive;
        if !may {
            let words = self.look.language.say(Msg::Watching);
            self.toast(Tone::Warning, words);
        }
        may
    }

    /// Whether there is no connection: what would be sent might arrive at any time, or never. Says so, if it is so.
    pub fn is_apart(&mut self, words: Msg) -> bool {
        let apart = matches!(self.link, Link::Lost(_) | Link::Away(_));
        if apart {
            let words = self.look.language.say(words);
            self.toast(Tone::Warning, words);
        }
        apart
    }

    /// Whether it may answer questions at all.
    #[must_use]
    pub fn may_answer(&self) -> bool {
        self.role() >= Role::Approve
    }
}
