//! A provider's key: its source, and whether the provider takes it. Never printed.

use std::io::Read;

use client::Client;
use proto::methods::ProviderProbe;
use proto::params::config::{KeyState, ProviderProbeOutput, ProviderProbeParams, ProviderStatus};

use super::pick;
use crate::exit::Error;
use crate::messages::setup::Msg;
use crate::messages::translated;
use crate::person::TerminalUser;
use crate::{output, reach, text};

/// More than any key has, in bytes.
const KEY_MAX: u64 = 16 * 1024;

/// Where the key is to come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It was not said: whoever sits there is asked; else what there is must do.
    Unsaid,
    /// The variable of this name, whenever a session begins. Nothing is stored.
    Variable(String),
    /// Standard input, now.
    Stdin,
    /// None is needed.
    None,
}

/// The key that was found.
pub struct Key {
    /// To be stored; absent: what there is stays.
    pub new: Option<String>,
    /// What the provider said; absent: it was not asked.
    pub probed: Option<ProviderProbeOutput>,
    /// Another address than the given one, where the API was found; a person agreed to it.
    pub base_url: Option<String>,
}

/// Whose key it is, and how it is looked for.
pub struct Search<'a> {
    pub client: &'a Client,
    pub provider: &'a ProviderStatus,
    /// An endpoint that is not configured yet.
    pub base_url: Option<&'a str>,
    pub source: &'a Source,
    /// Ask the provider.
    pub probe: bool,
    /// A key that is there already is as good as a new one.
    pub keep: bool,
    /// Another address of the endpoint may be used, if the API is there.
    pub may_move: bool,
}

/// What the answer of a provider says of a key.
enum Judgement {
    /// It can be used, in words.
    Fine(String),
    /// It cannot be used, in words.
    Problem(String),
    /// Nothing answered.
    NoAnswer,
}

impl Search<'_> {
    /// Finds a key that works, or that the person wants to keep all the same.
    ///
    /// # Errors
    /// There is none, or the provider does not take it, and nobody can be asked for another.
    pub async fn find(&self, person: &mut Option<TerminalUser>) -> Result<Key, Error> {
        let mut new = self.first(person).await?;
        if !self.probe {
            return Ok(Key {
                new,
                probed: None,
                base_url: None,
            });
        }
        announce_cost();
        let mut base_url = None;
        loop {
            let address = base_url.as_deref().or(self.base_url);
            let probed = self.probed(new.as_deref(), address, person).await?;
            if let Some(better) = self.better_address(&probed, person).await? {
                base_url = Some(better);
                continue;
            }
            match self.judge(&probed, address, new.as_deref()) {
                Judgement::Fine(words) => output::progress_wrapped(&words),
                Judgement::NoAnswer => {
                    if let Some(other) = self.unreachable(&probed, address, person).await? {
                        base_url = Some(other);
                        continue;
                    }
                }
                Judgement::Problem(problem) => {
                    new = Some(self.another(problem, &probed, person).await?);
                    continue;
                }
            }
            return Ok(Key {
                new,
                probed: Some(probed),
                base_url,
            });
        }
    }

    /// Another address than the given one, where the API was found, if it may be used.
    async fn better_address(
        &self,
        probed: &ProviderProbeOutput,
        person: &mut Option<TerminalUser>,
    ) -> Result<Option<String>, Error> {
        let Some(better) = probed.better_base_url.clone().filter(|_| self.may_move) else {
            return Ok(None);
        };
        output::progress_wrapped(&format!("! {}", answer(probed)));
        let agreed = uses_address(person, &better).await?;
        Ok(agreed.then_some(better))
    }

    fn judge(
        &self,
        probed: &ProviderProbeOutput,
        address: Option<&str>,
        new: Option<&str>,
    ) -> Judgement {
        match (probed.key, probed.reachable) {
            (_, false) => Judgement::NoAnswer,
            (KeyState::Works | KeyState::NotNeeded | KeyState::Unknown, true) => {
                Judgement::Fine(format!("· {}", answer(probed)))
            }
            // The daemon sends a key that it has to the address that it has it for, and to no other.
            (KeyState::Missing, true) if address.is_some() && self.keeps_present_key(new) => {
                Judgement::Fine(say!(Msg::KeySentLater, text::line(&probed.host)))
            }
            (KeyState::Wrong | KeyState::Missing, true) => Judgement::Problem(answer(probed)),
        }
    }

    /// Asks for another key than the one with this problem.
    ///
    /// # Errors
    /// Nobody can be asked.
    async fn another(
        &self,
        problem: String,
        probed: &ProviderProbeOutput,
        person: &mut Option<TerminalUser>,
    ) -> Result<String, Error> {
        match (self.source, person) {
            (Source::Unsaid, Some(person)) => {
                output::progress_wrapped(&format!("! {problem}"));
                self.ask(person, false).await
            }
            (Source::Variable(name), _) if probed.key == KeyState::Missing => Err(Error::Failed {
                what: say!(Msg::NeedsKey, self.provider.name),
                hint: say!(Msg::PassKey, name),
            }),
            _ => Err(Error::Failed {
                what: problem,
                hint: match probed.hint.is_empty() {
                    true => say!(Msg::CheckKey).to_owned(),
                    false => translated(&probed.hint).into_owned(),
                },
            }),
        }
    }

    /// The first key to be tried; `None`: the present one, or none.
    async fn first(&self, person: &mut Option<TerminalUser>) -> Result<Option<String>, Error> {
        let variable = &self.provider.api_key_env;
        match self.source {
            Source::None => Ok(None),
            Source::Variable(name) => {
                if in_environment(name).is_none() {
                    output::progress_wrapped(&say!(Msg::NotSetHere, text::line(name)));
                }
                Ok(None)
            }
            Source::Stdin => read_stdin().map(Some),
            Source::Unsaid if variable.is_empty() => Ok(None),
            Source::Unsaid => {
                let there = self.there().filter(|_| self.keep);
                match (person, there) {
                    (Some(person), there) => {
                        if let Some(words) = &there {
                            output::progress_wrapped(&text::line(&format!("· {words}")));
                        }
                        let key = self.ask(person, there.is_some()).await?;
                        Ok(Some(key).filter(|key| !key.is_empty()))
                    }
                    (None, Some(_)) => Ok(None),
                    (None, None) => Err(Error::usage(
                        say!(Msg::NeedsKey, self.provider.name),
                        say!(Msg::PassKey, variable),
                    )),
                }
            }
        }
    }

    /// Whether the daemon's own key stays.
    fn keeps_present_key(&self, new: Option<&str>) -> bool {
        let keeps = self.keep && *self.source == Source::Unsaid;
        keeps && new.is_none() && self.provider.has_key
    }

    /// A key that is there already, in words.
    fn there(&self) -> Option<String> {
        let variable = &self.provider.api_key_env;
        if in_environment(variable).is_some() {
            return Some(say!(Msg::IsSetHere, variable));
        }
        let from = match self.provider.key_from.as_str() {
            "stored" => say!(Msg::KeyIsStored),
            "dotenv" => say!(Msg::DotenvHas),
            _ => say!(Msg::DaemonHas),
        };
        self.provider.has_key.then(|| from.to_owned())
    }

    async fn ask(&self, person: &mut TerminalUser, may_keep: bool) -> Result<String, Error> {
        let prompt = match may_keep {
            true => say!(Msg::AskKeyKeep),
            false => say!(Msg::AskKey),
        };
        loop {
            let key = person.hidden(prompt).await?;
            if key.is_empty() && may_keep {
                return Ok(key);
            }
            match looks_like_one(&key) {
                Ok(()) => return Ok(key),
                Err(why) => output::progress_wrapped(&format!("! {why}")),
            }
        }
    }

    async fn probed(
        &self,
        new: Option<&str>,
        base_url: Option<&str>,
        person: &mut Option<TerminalUser>,
    ) -> Result<ProviderProbeOutput, Error> {
        let variable = match self.source {
            Source::Variable(name) => name,
            _ => &self.provider.api_key_env,
        };
        let key = match new {
            Some(key) => Some(key.to_owned()),
            None if *self.source == Source::None => None,
            None => in_environment(variable),
        };
        let params = ProviderProbeParams {
            name: self.provider.name.clone(),
            base_url: base_url.map(str::to_owned),
            key,
            cwd: here(),
        };
        let probing = self.client.call::<ProviderProbe>(&params);
        match person {
            Some(person) => person.wait(probing).await,
            None => Ok(probing.await?),
        }
    }

    /// Nothing answers: a person may keep it all the same, or give another address, which is returned.
    async fn unreachable(
        &self,
        probed: &ProviderProbeOutput,
        address: Option<&str>,
        person: &mut Option<TerminalUser>,
    ) -> Result<Option<String>, Error> {
        let words = match address {
            Some(address) => format!("{}: {}", text::line(address), answer(probed)),
            None => answer(probed),
        };
        let Some(person) = person else {
            return Err(Error::Failed {
                what: words,
                hint: match probed.hint.as_str() {
                    "" => say!(Msg::NoProbe).to_owned(),
                    hint => say!(Msg::HintNoProbe, translated(hint)),
                },
            });
        };
        output::progress_wrapped(&format!("! {words}"));
        if !probed.hint.is_empty() {
            output::progress_wrapped(&format!("  {}", text::line(&translated(&probed.hint))));
        }
        if person.agrees(say!(Msg::KeepAnyway), false).await? {
            return Ok(None);
        }
        if let Some(address) = address.filter(|_| self.may_move) {
            return Ok(Some(pick::url(person, address).await?));
        }
        Err(Error::Failed {
            what: say!(Msg::NothingChanged).to_owned(),
            hint: say!(Msg::SetupAgain).to_owned(),
        })
    }
}

/// Whether to use another address than the given one, where the API was found: asks on a terminal, prints a notice in a script.
async fn uses_address(person: &mut Option<TerminalUser>, better: &str) -> Result<bool, Error> {
    match person {
        Some(person) => {
            let question = say!(Msg::UseAddress, text::line(better));
            person.agrees(&question, true).await
        }
        None => {
            output::progress_wrapped(&say!(Msg::UsesAddress, text::line(better)));
            Ok(true)
        }
    }
}

/// What the provider said, on a line: host, time, and whether the key works. If it does not, in the daemon's words.
pub fn answer(probed: &ProviderProbeOutput) -> String {
    let host = match probed.host.as_str() {
        "" => String::new(),
        host => format!("{host}: "),
    };
    let key = match probed.key {
        KeyState::Works => say!(Msg::KeyWorks),
        KeyState::Wrong => say!(Msg::KeyRejected),
        KeyState::Missing => say!(Msg::KeyMissing),
        KeyState::NotNeeded => say!(Msg::KeyNotNeeded),
        KeyState::Unknown => say!(Msg::KeyUnchecked),
    };
    let fine = probed.reachable && matches!(probed.key, KeyState::Works | KeyState::NotNeeded);
    text::line(&match (fine || probed.text.is_empty(), probed.reachable) {
        (true, true) => say!(Msg::AnsweredIn, host, probed.duration_ms, key),
        (true, false) => say!(Msg::NoAnswer, host),
        (false, _) => translated(&probed.text).into_owned(),
    })
}

/// Says before endpoints are checked what that may cost.
pub fn announce_cost() {
    output::progress_wrapped(say!(Msg::CheckCosts));
}

/// Asks a provider whether it is there, with the key that this process has for it, else with the daemon's.
///
/// # Errors
/// The daemon is gone, or does not know the provider.
pub async fn probed(
    client: &Client,
    provider: &ProviderStatus,
) -> Result<ProviderProbeOutput, Error> {
    let params = ProviderProbeParams {
        name: provider.name.clone(),
        key: in_environment(&provider.api_key_env),
        cwd: here(),
        ..ProviderProbeParams::default()
    };
    Ok(client.call::<ProviderProbe>(&params).await?)
}

/// The value that this process has for a variable.
pub fn in_environment(variable: &str) -> Option<String> {
    // An empty name, or one with `=` in it, is not a variable; asking for it would be a mistake of ours.
    if variable.is_empty() || variable.contains(['=', '\0']) {
        return None;
    }
    std::env::var(variable)
        .ok()
        .filter(|value| !value.is_empty())
}

/// The working directory, as the daemon knows projects; absent if there is none.
pub fn here() -> Option<String> {
    reach::cwd(None).and_then(|cwd| reach::utf8(&cwd)).ok()
}

fn read_stdin() -> Result<String, Error> {
    let mut key = String::new();
    std::io::stdin()
        .lock()
        .take(KEY_MAX)
        .read_to_string(&mut key)
        .map_err(|source| Error::io(say!(Msg::DoKeyStdin), source))?;
    let key = key.trim();
    looks_like_one(key).map_err(|why| Error::usage(say!(Msg::OnStdin, why), say!(Msg::OnlyKey)))?;
    Ok(key.to_owned())
}

/// Characters that no key contains suggest something else in the clipboard.
fn looks_like_one(key: &str) -> Result<(), &'static str> {
    if key.is_empty() {
        return Err(say!(Msg::NoKeyTyped));
    }
    if !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err(say!(Msg::NotAKey));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
