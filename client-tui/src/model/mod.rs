//! The interface's state. `update` changes it; `view` reads it. The loop writes back what only drawing can tell:
//! the size after another program used the terminal, the scroll limit, and that a question was shown
//! ([`Model::shown`]).

pub mod composer;
pub mod confirm;
pub mod goal;
pub mod interaction;
pub mod line;
pub mod list;
pub mod overview;
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

/// How long a toast stays above the composer.
pub const TOAST: Duration = Duration::from_secs(6);

/// Maximum number of instruction files that the greeting names.
const GREETING_FILES: usize = 3;
/// Cells of the mark before the greeting.
const GREETING_MARK: usize = 2;

/// Cells of a path in which its end can still be read.
const PATH_MIN: usize = 16;

/// Keys pressed this soon after a question was drawn, or after a stray key, were meant for something
/// else: they do not answer it.
pub const TYPED_AHEAD: Duration = Duration::from_millis(300);

/// The state of the interface.
#[derive(Debug)]
pub struct Model {
    pub look: ViewOptions,
    pub place: LaunchContext,
    /// The followed session; `None` before the first prompt of a new session.
    pub session: Option<session::Session>,
    /// All sessions at work, as the daemon last said.
    pub overview: overview::Overview,
    pub transcript: transcript::Transcript,
    pub composer: composer::Composer,
    /// The dialog over the composer, or over the whole screen.
    pub dialog: Option<Dialog>,
    pub link: Link,
    pub toast: Option<Toast>,
    /// The moment of the event that is being handled. Durations only.
    pub now: Instant,
    /// The wall clock at that moment, for ages of the daemon's data. Set by whoever passes events in.
    pub clock: Stamp,
    /// When the interface started.
    pub started: Instant,
    /// Whether the terminal's window has the focus. Terminals that do not report it count as focused.
    pub focused: bool,
    /// The last press of Ctrl-C, or of Esc on an empty line: a second press does more.
    pub pressed: Option<(DoublePressKey, Instant)>,
    /// The newest record shown here of each session: later ones are unread.
    pub seen: HashMap<SessionId, Seq>,
    /// Choices and text of open questions in sessions that were left.
    pub asking: Vec<(SessionId, Pid, interaction::Asking)>,
    /// Number of the newest subscription: events of earlier ones are stale.
    pub follow: u64,
    /// Rows above the end of the transcript in full screen; 0: follow new output.
    pub scroll: usize,
    /// How often the spinner has moved.
    pub beat: u64,
    /// The last title set for the window.
    pub title: String,
    /// The session being switched to or followed, and its display name: its id means nothing to a user.
    pub called: Option<(SessionId, String)>,
    /// A prompt that creates the session has been sent.
    pub creating: bool,
    /// A line that may be a custom command, submitted before their list arrived; it is sent when the list arrives.
    pub awaits_commands: Option<(String, When)>,
    /// A user's command to run in the session that is being created.
    pub first_command: Option<String>,
    /// The goal that the session which is being created is for.
    pub first_goal: Option<String>,
    /// The draft was given on the command line: send it as soon as no question is open.
    pub sends_draft: bool,
    /// Notices about the session to show after its replay.
    pub news: Vec<(Tone, String)>,
    /// Started by `top`: shows running sessions, and exits with that view.
    pub top: bool,
}

/// A key that does more when it is pressed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoublePressKey {
    Interrupt,
    Back,
}

/// How everything looks, and which parts are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewOptions {
    pub theme: Theme,
    /// The theme that fits the terminal, as far as it is known: `/theme auto`.
    pub auto_theme: Theme,
    pub language: Language,
    pub columns: u16,
    pub rows: u16,
    /// The alternate screen with our own scrolling, in place of the terminal's scrollback.
    pub fullscreen: bool,
    /// The terminal understands links (OSC 8).
    pub links: bool,
    /// Output of tools is unfolded.
    pub output: bool,
    /// Reasoning is unfolded.
    pub reasoning: bool,
    /// The todo list is shown.
    pub todos: bool,
    pub vim: bool,
    /// Ring and notify when the session waits or ends while the window is unfocused.
    pub bell: bool,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            theme: Theme::Dark,
            auto_theme: Theme::Dark,
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
pub struct LaunchContext {
    /// The absolute path of the directory.
    pub cwd: PathBuf,
    /// The user's home directory, to shorten paths.
    pub home: Option<PathBuf>,
    /// Template of a new session, without id and prompt: directory, environment, keys, model.
    pub template: CreateParams,
    /// The client's role.
    pub role: Role,
    /// The approval mode of a new session if the template has none.
    pub approval_mode: ApprovalMode,
    /// The model that a new session gets, for the status line; empty if unknown.
    pub model: String,
}

#[cfg(test)]
impl LaunchContext {
    /// A directory with default settings and the role `Drive`.
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

/// The connection to the session.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// Nothing is followed.
    None,
    /// Attached; earlier events are being replayed.
    Replaying,
    Live,
    /// Lost since then, and being restored.
    Lost(Instant),
    /// The same, since the daemon was stopped; it may be started again.
    Stopped(Instant),
    /// Since then there is no daemon, or it does not answer; the client keeps looking for it.
    Away(Instant),
    /// The session can no longer be followed.
    Ended(crate::effect::ErrorReport),
}

/// A temporary notice above the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub tone: Tone,
    pub words: String,
    /// When it expires.
    pub until: Instant,
    pub about: Option<ToastAbout>,
}

/// The question that a toast is about. The toast goes early when that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToastAbout {
    /// This question was postponed: the notice goes when the question is on the screen again, or answered.
    SetAside(client::form::ShownInteraction),
    /// A question was answered elsewhere: the notice goes when another question opens, to avoid confusion.
    Answered,
    /// The question on the screen was not read to its end: the notice goes when it is.
    Unread,
}

/// A dialog over the composer, or over the whole screen. The composer's draft stays.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one is open at a time")]
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
    pub fn new(look: ViewOptions, place: LaunchContext, now: Instant) -> Self {
        Self {
            composer: composer::Composer::new(look.vim),
            look,
            place,
            session: None,
            overview: overview::Overview::default(),
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

    /// The first line of a new session: the program's name and version, the project's instruction files, and how to get
    /// help.
    pub fn greet(&mut self, instructions: &[String]) {
        let place = &self.place;
        let cwd = short::path(&place.cwd.to_string_lossy(), place.home.as_deref());
        let cwd = client::text::line(&cwd);
        let version = env!("CARGO_PKG_VERSION");
        let language = self.look.language;
        let named = instructions.iter().take(GREETING_FILES);
        let named = named.map(|name| format!(" · {}", client::text::line(name)));
        let mut files: String = named.collect();
        if instructions.len() > GREETING_FILES {
            files.push_str(" …");
        }
        let words = |cwd: &str| match place.model.as_str() {
            "" => language.fill(Msg::GreetingPlain, &[version, cwd, &files]),
            model => {
                let model = client::text::line(model);
                language.fill(Msg::Greeting, &[version, &model, cwd, &files])
            }
        };
        let row = usize::from(self.look.columns).saturating_sub(GREETING_MARK);
        // On the same row as the rest if enough of it is readable there, else on a separate row.
        let beside = row.saturating_sub(wrap::width(&words("")));
        let room = if beside < PATH_MIN { row } else { beside };
        let words = words(&short::path_within(&cwd, room));
        self.transcript.say(Tone::Info, words);
    }

    /// Shows a temporary notice above the composer.
    pub fn toast(&mut self, tone: Tone, words: impl Into<String>) {
        self.toast = Some(Toast {
            tone,
            words: words.into(),
            until: self.now + TOAST,
            about: None,
        });
    }

    /// A message of the daemon, with the session's id replaced by its display name.
    #[must_use]
    pub fn calls(&self, words: &str) -> String {
        match &self.called {
            Some((id, name)) => words.replace(&id.to_string(), name),
            None => words.to_owned(),
        }
    }

    /// Shows a failure above the composer, with its hint.
    pub fn trouble(&mut self, trouble: &crate::effect::ErrorReport) {
        let what = self.look.language.translate(&trouble.what);
        let words = match trouble.hint.is_empty() {
            true => what.into_owned(),
            false => format!("{what} · {}", self.look.language.translate(&trouble.hint)),
        };
        // Commands that the daemon suggests for a shell have equivalents here.
        let words = client::hint::typed_in_session(&words)
            .replace("`reasonix commands`", "`/commands`")
            .replace("`reasonix models`", "`/model`")
            .replace("`reasonix ls`", "`/sessions`");
        let words = self.calls(&words);
        self.toast(Tone::Error, words);
    }

    /// Asks for a yes or no before something is done.
    pub fn confirm(&mut self, title: Title, words: Vec<String>, then: confirm::ConfirmedAction) {
        let confirm = confirm::Confirm::new(title, words, then, self.now);
        self.dialog = Some(Dialog::Confirm(confirm));
    }

    /// A frame was drawn: a question that has just appeared counts keys from here on.
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

    /// The effective mode, or the one of a new session.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.options().mode.unwrap_or_default()
    }

    /// Whether the session, or a new one, is read-only.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        self.options().read_only.unwrap_or_default()
    }

    /// The effective approval mode, or the one of a new session.
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

    /// The client's role in the followed session.
    #[must_use]
    pub fn role(&self) -> Role {
        self.place.role
    }

    /// Whether the client may prompt, stop and change the session. If not, shows a notice.
    pub fn may_drive(&mut self) -> bool {
        let may = self.role() == Role::Drive;
        if !may {
            let words = self.look.language.say(Msg::Watching);
            self.toast(Tone::Warning, words);
        }
        may
    }

    /// Whether there is no connection: a message sent now might arrive at any time, or never. If so, shows a notice.
    pub fn is_apart(&mut self, words: Msg) -> bool {
        let apart = matches!(self.link, Link::Lost(_) | Link::Stopped(_) | Link::Away(_));
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
