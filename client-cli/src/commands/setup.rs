//! `reasonix setup`: pick a provider, give it a key, pick a model; from then on sessions use it.
//!
//! Asks whoever sits at the terminal for what the flags do not say. All that is changed is changed at the end.

pub mod key;
pub mod pick;

use client::{CallError, Client};
use proto::methods::{CredentialSet, ProviderList, ProviderSet, SessionCreate, TrustGet};
use proto::params::config::{
    CredentialSetParams, ProviderListParams, ProviderSetParams, ProviderStatus, TrustGetParams,
};
use proto::params::session::{CreateOutput, CreateParams};
use proto::{ErrorName, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::exit::Error;
use crate::messages::setup::Msg;
use crate::person::TerminalUser;
use crate::{near, output, reach, terminal, text};

use key::{Search, Source};

/// Said when a person stops it.
const STOPPED: Msg = Msg::Cancelled;

/// Set up a provider: store its key and choose the default model.
///
/// On a terminal it asks for missing options: provider, key (not shown, checked before it is stored), model. Without a
/// terminal `--provider` is required, and an option for the key unless one is set already.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Provider: configured or built in; with `--base-url`, the name of a new one.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Base URL of the API.
    #[arg(long, value_name = "URL", requires = "provider")]
    base_url: Option<String>,
    /// Default model of new sessions.
    #[arg(long, requires = "provider")]
    model: Option<String>,
    /// Read the key from this environment variable when a session starts; store nothing.
    #[arg(long, value_name = "VAR", requires = "provider")]
    key_env: Option<String>,
    /// Read the key from standard input and store it.
    #[arg(long, requires = "provider", conflicts_with = "key_env")]
    key_stdin: bool,
    /// Use no key.
    #[arg(long, requires = "provider", conflicts_with_all = ["key_env", "key_stdin"])]
    no_key: bool,
    /// Skip the check of endpoint and key, which asks for the list of models and sends a prompt of one token.
    #[arg(long, requires = "provider")]
    no_probe: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    fn source(&self) -> Source {
        match &self.key_env {
            Some(name) => Source::Variable(name.clone()),
            None if self.key_stdin => Source::Stdin,
            None if self.no_key => Source::None,
            None => Source::Unsaid,
        }
    }
}

/// What was set up.
#[derive(Serialize, JsonSchema)]
pub struct SetUp {
    provider: String,
    /// What sessions use that name no model.
    model: Option<String>,
    /// The config that was written.
    file: String,
    /// Where a key was stored; absent: none was.
    key_kept_in: Option<String>,
    /// Why it does not count everywhere or at once, in sentences.
    notices: Vec<String>,
}

/// Sets up, with whoever sits there where something is not said.
pub async fn run(args: Args) -> Result<u8, Error> {
    // Standard input is the key, not a person.
    let interactive = terminal::is_interactive() && !args.key_stdin;
    if args.provider.is_none() && !interactive {
        return Err(Error::usage(
            say!(Msg::SetupNoTerminal),
            say!(Msg::SetupNoTerminalHint),
        ));
    }
    if let Some(url) = &args.base_url
        && !pick::is_url(url)
    {
        let what = say!(Msg::NoUrl, url);
        return Err(Error::usage(what, say!(Msg::UrlStarts)));
    }
    let mut person = match interactive {
        true => Some(TerminalUser::new(say!(STOPPED))?),
        false => None,
    };
    let client = reach::daemon("setup").await?;
    let done = set_up(&client, &mut person, &args).await?;
    match args.json {
        true => output::json(&done)?,
        false => done.report(),
    }
    Ok(0)
}

impl SetUp {
    /// Prints what was done, and what can be done now.
    fn report(&self) {
        let model = self.model.as_ref();
        let model = model.map_or_else(String::new, |model| format!("/{model}"));
        output::progress_wrapped(&text::line(&say!(
            Msg::NowUse,
            self.provider,
            model,
            self.file
        )));
        if let Some(kept_in) = &self.key_kept_in {
            output::progress_wrapped(&text::line(&say!(Msg::StoredKey, kept_in)));
        }
        output::progress_wrapped(say!(Msg::NextSteps));
    }
}

/// Creates a session with the keys of this process. If there is no provider yet, sets one up first.
///
/// # Errors
/// The daemon's refusal, if no set-up resolves it or the user declines one.
pub async fn created(
    client: &Client,
    mut params: CreateParams,
    interactive: bool,
) -> Result<CreateOutput, Error> {
    params.credentials = client.credentials().await;
    match client.call::<SessionCreate>(&params).await {
        Err(CallError::Failure(failure)) if params.options.model.is_none() => {
            first(client, failure, interactive).await?;
            params.credentials = client.credentials().await;
            Ok(client.call::<SessionCreate>(&params).await?)
        }
        created => Ok(created?),
    }
}

/// Offers a first set-up to who wanted a session and has no provider. `failure`: what the daemon said to that.
///
/// # Errors
/// Nobody can be asked, or does not want it, or the daemon's no has another reason.
async fn first(client: &Client, failure: Box<Failure>, interactive: bool) -> Result<(), Error> {
    let known = match client
        .call::<ProviderList>(&ProviderListParams { cwd: key::here() })
        .await
    {
        Ok(known) if known.default_model.is_none() => known.providers,
        Ok(_) | Err(_) => return Err(CallError::Failure(failure).into()),
    };
    let problems = failure.details.get("problems");
    let mistaken = problems
        .and_then(Value::as_array)
        .is_some_and(|problems| !problems.is_empty());
    if mistaken
        || known.iter().any(|known| !known.shipped)
        || failure.name != ErrorName::InvalidConfig
    {
        return Err(CallError::Failure(failure).into());
    }
    offered(client, &known, interactive).await
}

/// Before a session is started at a terminal: offers a first set-up if no model could answer.
///
/// # Errors
/// Nobody wants one.
pub async fn before(client: &Client) -> Result<(), Error> {
    let params = ProviderListParams { cwd: key::here() };
    let known = client.call::<ProviderList>(&params).await?;
    let usable = known.default_model.is_some()
        || known.providers.iter().any(|known| !known.shipped)
        || !client.credentials().await.is_empty();
    if usable {
        return Ok(());
    }
    offered(client, &known.providers, true).await
}

/// Asks whether a provider shall be set up, and does it.
async fn offered(
    client: &Client,
    known: &[ProviderStatus],
    interactive: bool,
) -> Result<(), Error> {
    if !interactive {
        return Err(nothing_usable(client, known).await.into());
    }
    let mut person = Some(TerminalUser::new(say!(STOPPED))?);
    let question = say!(Msg::SetUpNow);
    if let Some(person) = &mut person
        && !person.agrees(question, true).await?
    {
        return Err(nothing_usable(client, known).await.into());
    }
    let args = Args {
        provider: None,
        base_url: None,
        model: None,
        key_env: None,
        key_stdin: false,
        no_key: false,
        no_probe: false,
        json: false,
    };
    set_up(client, &mut person, &args).await?.report();
    Ok(())
}

/// What would be enough.
async fn nothing_usable(client: &Client, known: &[ProviderStatus]) -> CallError {
    let variables = known.iter().map(|known| known.api_key_env.as_str());
    let mut variables: Vec<&str> = variables.filter(|name| !name.is_empty()).collect();
    variables.sort_unstable();
    variables.dedup();
    let variables: Vec<String> = variables.iter().map(|name| format!("`{name}`")).collect();
    let hint = match variables.is_empty() {
        true => say!(Msg::ConfigureOne).to_owned(),
        false => say!(Msg::ConfigureOr, variables.join(", ")),
    };
    let cwd = key::here().unwrap_or_default();
    let trust = client.call::<TrustGet>(&TrustGetParams { cwd }).await;
    let hint = match trust {
        Ok(project) if !project.trusted && !project.held_back.is_empty() => {
            say!(Msg::ProjectNoEffect, hint)
        }
        Ok(_) | Err(_) => hint,
    };
    Failure::new(ErrorName::InvalidConfig, say!(Msg::NoProviderYet), hint).into()
}

async fn set_up(
    client: &Client,
    person: &mut Option<TerminalUser>,
    args: &Args,
) -> Result<SetUp, Error> {
    let params = ProviderListParams { cwd: key::here() };
    let list = client.call::<ProviderList>(&params).await?;
    let known = list.providers;
    let present = list.default_model.unwrap_or_default();
    let mut provider = choose(person, &known, &present, args).await?;
    let before = known.iter().find(|known| known.name == provider.name);
    if let (Some(person), Some(before), None) = (&mut *person, before, &args.base_url)
        && pick::may_move(before)
    {
        provider.base_url = pick::url(person, &before.base_url).await?;
    }
    let source = args.source();
    match &source {
        Source::Variable(name) => provider.api_key_env.clone_from(name),
        Source::None => provider.api_key_env.clear(),
        Source::Unsaid | Source::Stdin => {}
    }
    if source == Source::Stdin && provider.api_key_env.is_empty() {
        return Err(Error::usage(
            say!(Msg::NeedsNoKey, provider.name),
            say!(Msg::LeaveKeyStdin),
        ));
    }
    let moved = before.is_none_or(|before| before.base_url != provider.base_url);
    let found = Search {
        client,
        provider: &provider,
        base_url: moved.then_some(provider.base_url.as_str()),
        source: &source,
        probe: !args.no_probe,
        keep: true,
        may_move: true,
    }
    .find(person)
    .await?;
    if let Some(base_url) = found.base_url {
        provider.base_url = base_url;
    }
    let moved = before.is_none_or(|before| before.base_url != provider.base_url);
    let offered = found.probed.map(|probed| probed.models).unwrap_or_default();
    let model = choose_model(person, &provider, &present, &offered, args).await?;
    let listed = !offered.is_empty();
    let changed = changes(before, &provider, model.as_deref(), (moved, listed));
    save(client, &provider, found.new, changed, model).await
}

/// The provider that is meant, with the endpoint that is asked for.
async fn choose(
    person: &mut Option<TerminalUser>,
    known: &[ProviderStatus],
    present: &str,
    args: &Args,
) -> Result<ProviderStatus, Error> {
    let Some(name) = &args.provider else {
        let Some(person) = person else {
            return Err(Error::usage(
                say!(Msg::NoProviderGiven),
                "`--provider NAME`",
            ));
        };
        return pick::provider(person, known, present).await;
    };
    let named = known.iter().find(|known| known.name == *name);
    match (named, &args.base_url) {
        (Some(provider), None) => Ok(provider.clone()),
        (Some(provider), Some(base_url)) => Ok(ProviderStatus {
            base_url: base_url.clone(),
            ..provider.clone()
        }),
        (None, Some(base_url)) if pick::is_name(name) => Ok(pick::unknown(name, base_url)),
        (None, Some(_)) => Err(Error::usage(
            say!(Msg::InvalidName, name),
            say!(Msg::InvalidNameHint),
        )),
        (None, None) => {
            let names = known.iter().map(|known| known.name.as_str());
            Err(Error::usage(
                say!(Msg::UnknownProvider, name),
                near::hint(name, names, say!(Msg::BaseUrlAdds)),
            ))
        }
    }
}

/// The model that is asked for, or chosen, or the one that is there, or the provider's first. `present`: what sessions
/// use that name no model.
async fn choose_model(
    person: &mut Option<TerminalUser>,
    provider: &ProviderStatus,
    present: &str,
    offered: &[String],
    args: &Args,
) -> Result<Option<String>, Error> {
    let models = match offered.is_empty() {
        true => &provider.models,
        false => offered,
    };
    if let Some(model) = &args.model {
        let is_listed = offered.is_empty() || models.contains(model);
        if is_listed || provider.models.contains(model) {
            return Ok(Some(model.clone()));
        }
        let names = models.iter().map(String::as_str);
        return Err(Error::usage(
            say!(Msg::UnknownModel, provider.name, model),
            near::hint(model, names, say!(Msg::UnknownModelHint)),
        ));
    }
    let chosen = present.strip_prefix(provider.name.as_str());
    let configured = chosen
        .and_then(|model| model.strip_prefix('/'))
        .or(Some(provider.default.as_str()))
        .filter(|default| !default.is_empty())
        .or_else(|| provider.models.first().map(String::as_str));
    // The one that is there stays, whether or not the endpoint lists it.
    let default = configured
        .filter(|default| !provider.shipped || models.iter().any(|model| model == default))
        .or_else(|| models.first().map(String::as_str));
    match person {
        Some(person) => pick::model(person, models, default).await.map(Some),
        None if default.is_none() => Err(Error::usage(
            say!(Msg::NoModelGiven, provider.name),
            say!(Msg::NoModelGivenHint),
        )),
        None => Ok(default.map(str::to_owned)),
    }
}

/// The fields of the entry to write: those that differ. A list of the endpoint's (`listed`) is not: the daemon
/// keeps it.
fn changes(
    before: Option<&ProviderStatus>,
    provider: &ProviderStatus,
    model: Option<&str>,
    (moved, listed): (bool, bool),
) -> ProviderSetParams {
    let same_variable = before.is_some_and(|before| before.api_key_env == provider.api_key_env);
    let is_known = model.is_none_or(|model| provider.models.iter().any(|known| known == model));
    let mut models = Vec::new();
    if !is_known && !listed {
        models.clone_from(&provider.models);
        models.extend(model.map(str::to_owned));
    }
    ProviderSetParams {
        name: provider.name.clone(),
        kind: None,
        base_url: moved.then(|| provider.base_url.clone()),
        models,
        default: model.map(str::to_owned),
        api_key_env: (!same_variable).then(|| provider.api_key_env.clone()),
        make_default: true,
    }
}

/// Writes all of it. A key alone changes nothing that sessions do, so it goes first.
async fn save(
    client: &Client,
    provider: &ProviderStatus,
    new: Option<String>,
    changed: ProviderSetParams,
    model: Option<String>,
) -> Result<SetUp, Error> {
    let mut key_kept_in = None;
    if let Some(key) = new {
        key_kept_in = Some(store(client, &provider.api_key_env, Some(key)).await?);
    }
    let written = match client.call::<ProviderSet>(&changed).await {
        Ok(written) => written,
        Err(error) if key_kept_in.is_some() => {
            output::progress_wrapped(say!(Msg::StoredNotChanged));
            return Err(error.into());
        }
        Err(error) => return Err(error.into()),
    };
    Ok(SetUp {
        provider: provider.name.clone(),
        model,
        file: written.file,
        key_kept_in,
        notices: written.notices,
    })
}

/// Stores a key, or forgets it; says where.
pub async fn store(
    client: &Client,
    variable: &str,
    value: Option<String>,
) -> Result<String, Error> {
    let params = CredentialSetParams {
        variable: variable.to_owned(),
        value,
    };
    Ok(client.call::<CredentialSet>(&params).await?.kept_in)
}

#[cfg(test)]
mod tests;
