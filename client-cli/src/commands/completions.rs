//! `reasonix completions`: words for a shell's Tab key.

mod dynamic;

use clap::ValueEnum;
use clap_complete::Shell;
use proto::hello::Role;
use proto::methods::{ProviderList, SessionList};
use proto::params::config::ProviderListParams;
use proto::params::session::{ListParams, SessionSummary};

use super::setup::key::here;
use crate::exit::Error;
use crate::messages::setup::Msg;
use crate::{output, reach, text};

/// Sessions that a shell offers: the newest.
const SESSIONS_MAX: u64 = 100;

/// Print the completion script of a shell.
///
/// For instance `reasonix completions bash > ~/.local/share/bash-completion/completions/reasonix`. The script also
/// completes sessions (number and title) and models, if a daemon is running.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(required_unless_present = "list")]
    shell: Option<Shell>,
    /// Print words of this kind, a line each, with a tab and a description. Called by the script.
    #[arg(long, hide = true, value_enum, value_name = "KIND")]
    list: Option<Completion>,
}

/// What a script asks for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Completion {
    Sessions,
    Models,
}

/// Prints it.
pub async fn run(args: Args) -> Result<u8, Error> {
    if let Some(words) = args.list {
        return list(words).await;
    }
    let Some(shell) = args.shell else {
        return Err(Error::usage(say!(Msg::NoShell), say!(Msg::NoShellHint)));
    };
    let mut script = Vec::new();
    let mut command = crate::command();
    clap_complete::generate(shell, &mut command, "reasonix", &mut script);
    let script = String::from_utf8_lossy(&script);
    output::part(&dynamic::extended(shell, &command, &script))?;
    Ok(0)
}

/// Nothing if no daemon runs: a Tab key starts none.
async fn list(words: Completion) -> Result<u8, Error> {
    let Some(client) = reach::running("completions", Role::Watch).await? else {
        return Ok(0);
    };
    match words {
        Completion::Sessions => {
            let params = ListParams {
                limit: SESSIONS_MAX,
                ..ListParams::default()
            };
            let sessions = client.call::<SessionList>(&params).await?.sessions;
            let mut lines = sessions.iter().flat_map(lines_of);
            lines.try_for_each(|line| output::line(&line))?;
        }
        Completion::Models => {
            let list = ProviderListParams { cwd: here() };
            for provider in client.call::<ProviderList>(&list).await?.providers {
                let mut models = provider.models.iter().chain(&provider.listed);
                models.try_for_each(|model| {
                    output::line(&text::line(&format!("{}/{model}", provider.name)))
                })?;
            }
        }
    }
    Ok(0)
}

/// The number of a session with its title and, if it has a name without blanks, the name.
fn lines_of(session: &SessionSummary) -> Vec<String> {
    let line = |text: &str| text::line(text).replace('\t', " ");
    let pid = session.pid.to_string();
    let mut lines = vec![format!("{pid}\t{}", line(&session.title))];
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(name) = &session.name
        && !name.is_empty()
        && name.chars().all(plain)
    {
        lines.push(format!("{name}\tsession {pid}"));
    }
    lines
}

#[cfg(test)]
mod tests;
