//! From a command to the terminal interface: look for a terminal, connect, set its appearance, and print what is to be
//! reported afterwards.

use client::{CallError, Client, Start};
use client_tui::{Open, Options};
use proto::hello::Role;
use proto::methods::SessionPrefix;
use proto::params::cache::PrefixParams;
use proto::params::profile::ProfileParams;
use proto::params::session::CreateParams;
use proto::state::Kind;
use proto::{ErrorName, Failure, SessionOptions};

use crate::commands::setup;
use crate::exit::Error;
use crate::messages::common::Msg;
use crate::terminal::{self, Screen};
use crate::{output, reach};

/// How the interface shall look, where the settings say something else.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ScreenArgs {
    /// Use the whole screen, with its own scrolling.
    #[arg(long, conflicts_with = "inline")]
    fullscreen: bool,
    /// Draw below the shell's output, even if `tui.fullscreen` is set.
    #[arg(long)]
    inline: bool,
}

impl ScreenArgs {
    /// Whether nothing of it was said.
    pub fn is_empty(&self) -> bool {
        !self.fullscreen && !self.inline
    }

    fn fullscreen(&self) -> Option<bool> {
        match (self.fullscreen, self.inline) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        }
    }
}

/// Connects as the interface does: it says itself that the daemon does not answer. `otherwise`: what to do if there
/// is no terminal.
pub async fn connect(name: &str, role: Role, otherwise: &str) -> Result<Client, Error> {
    if terminal::screen() != Screen::Whole {
        return Err(Error::usage(say!(Msg::NeedTerminal), otherwise));
    }
    let mut options = client::Options::new(client::paths::from_env()?, &reach::called(name));
    options.kind = "tui".to_owned();
    options.role = role;
    options.interactive = role != Role::Watch;
    options.start = Start::Always;
    Ok(Client::connect(options).await?)
}

/// What to open for a session that was named. An unknown session is reported before the screen changes.
pub async fn named(client: &Client, session: String) -> Result<Open, Error> {
    let found = client.session(&session).await?;
    Ok(Open::Session(found.session.to_string()))
}

/// Options of a session that is created there.
#[derive(Debug, Default)]
pub struct NewSessionOptions {
    /// What the model is given to read and may do.
    pub profile: ProfileParams,
    /// The first prompt, which is sent at once.
    pub prompt: Option<String>,
    pub preset: Option<String>,
    pub options: SessionOptions,
}

impl NewSessionOptions {
    /// The parameters of a new session in this directory.
    pub async fn params(self, client: &Client, cwd: String) -> CreateParams {
        let options = SessionOptions {
            kind: Some(Kind::Interactive),
            ..self.options
        };
        CreateParams {
            prompt: self.prompt,
            preset: self.preset,
            profile: self.profile,
            ..client.new_session(cwd, options).await
        }
    }

    /// Refuses a model that does not exist, before a screen opens from which no prompt could be sent.
    ///
    /// # Errors
    /// As `session.create`, with the nearest names. Any other problem is left to the first prompt.
    async fn check_model(&self, client: &Client, cwd: String) -> Result<(), Error> {
        let Some(model) = &self.options.model else {
            return Ok(());
        };
        let params = PrefixParams {
            cwd: Some(cwd),
            model: Some(model.clone()),
            keys: client.credentials().await.into_keys().collect(),
            ..PrefixParams::default()
        };
        let is_model =
            |failure: &Failure| matches!(failure.name, ErrorName::NotFound | ErrorName::Ambiguous);
        match client.call::<SessionPrefix>(&params).await {
            Err(CallError::Failure(failure)) if is_model(&failure) => {
                Err(CallError::Failure(failure).into())
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// Runs it; returns the exit code. Before a new session it is looked whether anything could answer it.
pub async fn run(
    client: Client,
    role: Role,
    open: Open,
    fresh: NewSessionOptions,
    look: &ScreenArgs,
) -> Result<u8, Error> {
    let cwd = reach::cwd(None)?;
    if open == Open::New {
        setup::before(&client).await?;
        fresh.check_model(&client, reach::utf8(&cwd)?).await?;
    }
    let hello = client.hello().await;
    let template = fresh.params(&client, reach::utf8(&cwd)?).await;
    let options = Options {
        // A process of the daemon's own gets less than it asks for.
        role: hello.role.min(role),
        client,
        open,
        cwd,
        template,
        fullscreen: look.fullscreen(),
    };
    let leave = client_tui::run(options)
        .await
        .map_err(|source| Error::io(say!(Msg::DoDraw), source))?;
    for line in &leave.words {
        output::line(line)?;
    }
    Ok(leave.code)
}
