//! Providers from the entries of the settings: their kinds, their options, and the account whose requests wait together.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use broker::{Account, GateTiming};
use contract::{Codec, Provider, Spawn};
use proto::record::SessionCreated;
use proto::{ErrorName, Failure};

use crate::settings::{ProviderEntry, Settings, facts};

/// What one kind of provider gives.
pub type OpenedProvider = (Arc<dyn Codec>, Arc<dyn Provider>);

/// The entry of a provider that is not configured any more.
pub fn gone(created: &SessionCreated) -> ProviderEntry {
    ProviderEntry {
        name: created.options.provider().to_owned(),
        kind: created.provider_kind.clone(),
        ..ProviderEntry::default()
    }
}

/// In the place of a provider that is gone: it says nothing, and is never asked.
pub fn silent() -> OpenedProvider {
    replay::open(replay::Cassette::default())
}

/// Whether an entry can be used at all, without asking its vendor or starting its program.
pub fn check(
    entry: &ProviderEntry,
    settings: &Settings,
    procs: &Arc<procs::Procs>,
) -> Result<(), Failure> {
    let model = entry.all_models().into_iter().next().unwrap_or_default();
    open(entry, &model, settings, &means(procs)).map(|_| ())
}

pub fn means(procs: &Arc<procs::Procs>) -> providers::ProviderContext {
    providers::ProviderContext {
        spawn: Arc::clone(procs) as Arc<dyn Spawn>,
    }
}

/// Requests of one key at a time, where its entry says nothing: more than a person's sessions need, and few enough for
/// the vendors' usual limits.
const MAX_CONCURRENT: usize = 16;

pub fn account(entry: &ProviderEntry, settings: &Settings) -> Account {
    let limit = entry.max_concurrent.map(NonZeroU32::get);
    Account {
        name: entry.name.clone(),
        host: host(&entry.base_url),
        max_concurrent: limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(MAX_CONCURRENT),
        bounds: GateTiming {
            base_ms: settings.retry_base_ms,
            cap_ms: settings.retry_cap_ms,
            closed_max_ms: settings.queue_ms,
        },
        patience: Duration::from_millis(settings.queue_ms),
    }
}

/// Host and port of an address, as they are written.
fn host(address: &str) -> String {
    let after = address.split_once("://").map_or(address, |(_, rest)| rest);
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    after[..end].to_ascii_lowercase()
}

/// The kinds of providers, by name. A new kind is one line here, or in `providers`.
pub fn open(
    entry: &ProviderEntry,
    model: &str,
    settings: &Settings,
    means: &providers::ProviderContext,
) -> Result<OpenedProvider, Failure> {
    let wrong = |why: String| {
        Failure::new(
            ErrorName::InvalidConfig,
            format!("The provider `{}` cannot be used: {why}", entry.name),
            format!("Fix it in {}.", entry.origin),
        )
        .with("file", entry.origin.clone())
        .with("key", "providers")
    };
    if entry.kind == "replay" {
        let path = Path::new(&entry.origin)
            .parent()
            .unwrap_or(Path::new("/"))
            .join(model);
        let cassette =
            replay::Cassette::read(&path).map_err(|error| wrong(store::reason(&error)))?;
        return Ok(replay::open(
            cassette.stalls_for(Duration::from_millis(settings.idle_ms)),
        ));
    }
    let facts = facts::of(entry, model);
    let options = providers::ProviderOptions {
        name: entry.name.clone(),
        kind: entry.kind.clone(),
        base_url: entry.base_url.clone(),
        model: model.to_owned(),
        models: entry.all_models(),
        api_key_env: entry.api_key_env.clone(),
        headers: entry.headers.clone().into_iter().collect(),
        extra: members(&entry.extra),
        timeouts: providers::Timeouts {
            connect: Duration::from_millis(settings.connect_ms),
            first_byte: Duration::from_millis(settings.first_byte_ms),
            idle: Duration::from_millis(settings.idle_ms),
            ..providers::Timeouts::default()
        },
        answer_max: settings.answer_max,
        sends_reasoning: entry.sends_reasoning,
        strict_roles: entry.strict_roles,
        server_compaction: entry.server_compaction,
        effort: entry.effort.clone(),
        efforts: facts.efforts,
        max_output_tokens: entry.max_output_tokens,
        vision: facts.vision,
        command: entry.command.clone(),
    };
    providers::open(options, means).map_err(|error| wrong(store::reason(&error)))
}

/// A table as JSON members, without the braces around them.
fn members(table: &toml::Table) -> String {
    let text = serde_json::to_string(table).unwrap_or_default();
    let inner = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    inner.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
