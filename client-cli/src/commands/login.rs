//! `reasonix login`: a provider's key, and nothing else.

use client::Client;
use proto::methods::ProviderList;
use proto::params::config::{ProviderListOutput, ProviderListParams, ProviderStatus};
use schemars::JsonSchema;
use serde::Serialize;

use super::setup::key::{Key, Search, Source, here, in_environment};
use super::setup::{pick, store};
use crate::exit::Error;
use crate::messages::setup::Msg;
use crate::person::TerminalUser;
use crate::{near, output, reach, terminal, text};

/// Store or remove the key of a provider.
///
/// The key is not shown while you type it, and is checked before it is stored. It replaces an earlier one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Provider of the key [default: that of the default model].
    provider: Option<String>,
    /// Remove the stored key.
    #[arg(long, conflicts_with_all = ["key_stdin", "no_probe"])]
    forget: bool,
    /// Read the key from standard input.
    #[arg(long)]
    key_stdin: bool,
    /// Skip the check of the key, which asks for the list of models and sends a prompt of one token.
    #[arg(long)]
    no_probe: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What was done.
#[derive(Serialize, JsonSchema)]
pub struct LoggedIn {
    provider: String,
    variable: String,
    kept_in: String,
    forgotten: bool,
}

/// Stores or forgets it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let interactive = terminal::is_interactive() && !args.key_stdin;
    let has_source = interactive || args.key_stdin || args.forget;
    if !has_source && args.provider.is_none() {
        return Err(no_terminal());
    }
    let mut person = match interactive && !args.forget {
        true => Some(TerminalUser::new(say!(Msg::Cancelled))?),
        false => None,
    };
    let client = reach::daemon("login").await?;
    let known = client
        .call::<ProviderList>(&ProviderListParams { cwd: here() })
        .await?;
    let provider = chosen(&mut person, known, args.provider.as_deref()).await?;
    if !has_source {
        return Err(no_terminal());
    }
    let variable = provider.api_key_env.clone();
    if variable.is_empty() {
        return Err(Error::usage(
            say!(Msg::NeedsNoKey, provider.name),
            say!(Msg::ModelsLists),
        ));
    }
    let value = match args.forget {
        true => None,
        false => new_key(&client, &provider, &args, &mut person).await?,
    };
    let kept_in = store(&client, &variable, value).await?;
    if in_environment(&variable).is_some() {
        let words = say!(Msg::Overrides, variable);
        output::progress(&text::line(&words));
    }
    let done = LoggedIn {
        provider: provider.name,
        variable,
        kept_in,
        forgotten: args.forget,
    };
    match args.json {
        true => output::json(&done)?,
        false => print_done(&done),
    }
    Ok(0)
}

/// The error without a terminal that could be asked for a key.
fn no_terminal() -> Error {
    Error::usage(say!(Msg::LoginNoTerminal), say!(Msg::LoginNoTerminalHint))
}

/// The key to store, from the source that the arguments name. `None`: it is stored already.
async fn new_key(
    client: &Client,
    provider: &ProviderStatus,
    args: &Args,
    person: &mut Option<TerminalUser>,
) -> Result<Option<String>, Error> {
    let source = match args.key_stdin {
        true => Source::Stdin,
        false => Source::Unsaid,
    };
    let search = Search {
        client,
        provider,
        base_url: None,
        source: &source,
        probe: !args.no_probe,
        keep: false,
        may_move: false,
    };
    let Key { new, .. } = search.find(person).await?;
    Ok(new)
}

fn print_done(done: &LoggedIn) {
    let (provider, kept_in) = (&done.provider, &done.kept_in);
    let words = match done.forgotten {
        true => say!(Msg::KeyRemoved, provider, kept_in),
        false => say!(Msg::KeyStored, provider, kept_in),
    };
    output::progress(&text::line(&words));
}

/// The provider that is named; else that of the default model; else whoever sits there is asked.
async fn chosen(
    person: &mut Option<TerminalUser>,
    known: ProviderListOutput,
    name: Option<&str>,
) -> Result<ProviderStatus, Error> {
    let named = match (name, &known.default_model) {
        (Some(name), _) => Some(name),
        (None, Some(model)) => model.split('/').next(),
        (None, None) => None,
    };
    let found = known
        .providers
        .iter()
        .find(|known| Some(known.name.as_str()) == named);
    match (found, name, person) {
        (Some(provider), _, _) => Ok(provider.clone()),
        (None, Some(name), _) => {
            let names = known.providers.iter().map(|known| known.name.as_str());
            Err(Error::usage(
                say!(Msg::UnknownProvider, name),
                near::hint(name, names, say!(Msg::ListProviders)),
            ))
        }
        (None, None, Some(person)) => {
            let present = known.default_model.as_deref().unwrap_or_default();
            pick::provider(person, &known.providers, present).await
        }
        (None, None, None) => Err(Error::usage(say!(Msg::NoneNamed), say!(Msg::NoneNamedHint))),
    }
}
