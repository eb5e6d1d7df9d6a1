//! Which provider, which model: by number or by name.

use proto::params::config::ProviderStatus;

use super::key::in_environment;
use crate::exit::Error;
use crate::messages::setup::Msg;
use crate::person::TerminalUser;
use crate::{near, output, text};

/// Models that are listed; of more there is only the number.
const MODELS: usize = 20;

/// The typed choice from a list. Pure.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    Index(usize),
    /// None of them.
    Other(&'a str),
}

/// Reads a number from 1 or a name.
pub fn typed<'a>(line: &'a str, names: &[&str]) -> Typed<'a> {
    if let Ok(number) = line.parse::<usize>()
        && (1..=names.len()).contains(&number)
    {
        return Typed::Index(number - 1);
    }
    let same = |name: &&str| name.eq_ignore_ascii_case(line);
    match names.iter().position(same) {
        Some(index) => Typed::Index(index),
        None => Typed::Other(line),
    }
}

/// The state of a provider's key, in words.
pub fn key_words(provider: &ProviderStatus) -> String {
    let variable = &provider.api_key_env;
    match (variable.is_empty(), provider.has_key) {
        (true, _) => say!(Msg::NoneNeeded).to_owned(),
        (false, _) if in_environment(variable).is_some() => say!(Msg::SetHere, variable),
        (false, true) => match provider.key_from.as_str() {
            "" => say!(Msg::KeyThere).to_owned(),
            "dotenv" => say!(Msg::KeyDotenv).to_owned(),
            from => from.to_owned(),
        },
        (false, false) => say!(Msg::Missing, variable),
    }
}

/// Whether sessions that begin here could use it.
pub fn is_usable(provider: &ProviderStatus) -> bool {
    match provider.api_key_env.is_empty() {
        // A shipped entry without a key is a server on this machine that may not run.
        true => !provider.shipped,
        false => provider.has_key || in_environment(&provider.api_key_env).is_some(),
    }
}

/// Whether a person is asked for the address of an entry: it is their own, or of a server on this machine.
pub fn may_move(provider: &ProviderStatus) -> bool {
    let is_own = !provider.shipped || provider.api_key_env.is_empty();
    is_own && !provider.base_url.is_empty()
}

/// The address of a provider; Enter keeps the present one.
pub async fn url(person: &mut TerminalUser, present: &str) -> Result<String, Error> {
    let prompt = say!(Msg::AskUrlPresent, text::line(present));
    loop {
        let url = person.line(&prompt).await?;
        match url.as_str() {
            "" => return Ok(present.to_owned()),
            url if is_url(url) => return Ok(url.to_owned()),
            _ => output::progress_wrapped(say!(Msg::UrlStartsWarn)),
        }
    }
}

/// Whether it can be the address of an API.
pub fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// The configured provider that `present` (a provider, a model, or both) is of.
fn present_one<'a>(known: &'a [ProviderStatus], present: &str) -> Option<&'a ProviderStatus> {
    let mut own = known.iter().filter(|known| !known.shipped);
    own.find(|known| {
        let model = present.strip_prefix(known.name.as_str());
        let is_named = model.is_some_and(|model| model.is_empty() || model.starts_with('/'));
        is_named || known.models.iter().any(|model| model == present)
    })
}

/// A provider of the list, or an endpoint that is not in it. Enter keeps the one that `present` is of.
pub async fn provider(
    person: &mut TerminalUser,
    known: &[ProviderStatus],
    present: &str,
) -> Result<ProviderStatus, Error> {
    let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0);
    for (index, provider) in known.iter().enumerate() {
        output::progress_wrapped(&say!(
            Msg::ProviderRow,
            format_args!("{:>3}", index + 1),
            format_args!("{:<width$}", text::line(&provider.name)),
            text::line(&provider.base_url),
            text::line(&key_words(provider))
        ));
    }
    output::progress_wrapped(say!(Msg::NewEndpoint));
    let present = present_one(known, present);
    let prompt = match present {
        Some(present) => say!(Msg::AskProviderPresent, text::line(&present.name)),
        None => say!(Msg::AskProvider).to_owned(),
    };
    loop {
        let line = person.line(&prompt).await?;
        match typed(&line, &names) {
            Typed::Index(index) => {
                if let Some(provider) = known.get(index) {
                    return Ok(provider.clone());
                }
            }
            Typed::Other("") => {
                if let Some(present) = present {
                    return Ok(present.clone());
                }
            }
            Typed::Other("new") => return endpoint(person, &names).await,
            Typed::Other(other) => {
                let hint = near::hint(other, names.iter().copied(), say!(Msg::NewAdds));
                let line = say!(Msg::NoSuchProvider, other, hint);
                output::progress_wrapped(&text::line(&line));
            }
        }
    }
}

/// An endpoint that is not in the list.
async fn endpoint(person: &mut TerminalUser, taken: &[&str]) -> Result<ProviderStatus, Error> {
    let name = loop {
        let name = person.line(say!(Msg::AskName)).await?;
        match is_name(&name) {
            true if !taken.contains(&name.as_str()) => break name,
            true => output::progress_wrapped(say!(Msg::NameTaken)),
            false => output::progress_wrapped(say!(Msg::NameLetters)),
        }
    };
    let base_url = loop {
        let url = person.line(say!(Msg::AskUrl)).await?;
        if is_url(&url) {
            break url;
        }
        output::progress_wrapped(say!(Msg::UrlStartsWarn));
    };
    let mut provider = unknown(&name, &base_url);
    if !person.agrees(say!(Msg::AskNeedsKey), true).await? {
        provider.api_key_env = String::new();
    }
    Ok(provider)
}

/// An entry that is not there yet.
pub fn unknown(name: &str, base_url: &str) -> ProviderStatus {
    ProviderStatus {
        name: name.to_owned(),
        kind: String::new(),
        base_url: base_url.to_owned(),
        models: Vec::new(),
        api_key_env: variable(name),
        default: String::new(),
        has_key: false,
        key_from: String::new(),
        shipped: false,
        origin: String::new(),
        listed: Vec::new(),
        listed_at: None,
        facts: Vec::new(),
    }
}

/// The variable that holds the key of a provider of this name.
fn variable(name: &str) -> String {
    let upper = name.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
        _ => '_',
    });
    let upper: String = upper.collect();
    match upper.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("_{upper}_API_KEY"),
        false => format!("{upper}_API_KEY"),
    }
}

/// Whether this can be the name of a provider: it is half of `provider/model`.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c))
}

/// A model of the list, or another one that the person insists on.
pub async fn model(
    person: &mut TerminalUser,
    models: &[String],
    default: Option<&str>,
) -> Result<String, Error> {
    let names: Vec<&str> = models.iter().map(String::as_str).collect();
    for (index, name) in names.iter().take(MODELS).enumerate() {
        output::progress_wrapped(&format!("{:>3}. {}", index + 1, text::line(name)));
    }
    if let Some(more) = names.len().checked_sub(MODELS).filter(|more| *more > 0) {
        output::progress_wrapped(&say!(Msg::MoreNames, more));
    }
    let prompt = match default {
        Some(default) => say!(Msg::AskModelDefault, text::line(default)),
        None => say!(Msg::AskModel).to_owned(),
    };
    loop {
        let line = person.line(&prompt).await?;
        match (typed(&line, &names), default) {
            (Typed::Index(index), _) => {
                if let Some(name) = names.get(index) {
                    return Ok((*name).to_owned());
                }
            }
            (Typed::Other(""), Some(default)) => return Ok(default.to_owned()),
            (Typed::Other(""), None) => {}
            (Typed::Other(other), _) if names.is_empty() => return Ok(other.to_owned()),
            (Typed::Other(other), _) => {
                let hint = near::hint(other, names.iter().copied(), "");
                let line = say!(Msg::NoSuchModel, other, hint);
                output::progress_wrapped(text::line(&line).trim_end());
                if person.agrees(say!(Msg::UseAnyway), false).await? {
                    return Ok(other.to_owned());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
