//! Providers that come with the program: usable once their key is there, without a config.
//!
//! They are in `shipped.toml`; what their models can do and cost is in the catalog. An entry of the config hides the
//! shipped one of the same name. A session that names no model gets a shipped one only if nothing is configured and its
//! key is there. The local ones are never chosen so.

use std::sync::LazyLock;

use proto::{ErrorName, Failure};
use serde::Deserialize;

use super::providers::ProviderEntry;
use super::references::{find, unknown};

/// The kind of an endpoint of which nothing else is said.
pub const KIND: &str = "openai";

/// Where a shipped entry says that it comes from.
pub const ORIGIN: &str = "shipped";

/// Kinds that shipped entries had in earlier versions, by name: their endpoints still take requests of that kind.
const FORMER_KINDS: &[(&str, &str)] = &[("openai", "openai")];

#[derive(Deserialize)]
struct Table {
    providers: Vec<ProviderEntry>,
}

/// All of them, in the order in which they are tried if nothing is configured.
#[must_use]
pub fn all() -> Vec<ProviderEntry> {
    static ENTRIES: LazyLock<Vec<ProviderEntry>> = LazyLock::new(|| {
        let table = toml::from_str::<Table>(include_str!("shipped.toml"));
        // A test reads it, so it can be read.
        let mut entries = table.map_or_else(|_| Vec::new(), |table| table.providers);
        for entry in &mut entries {
            entry.origin = ORIGIN.to_owned();
        }
        entries
    });
    ENTRIES.clone()
}

/// Those whose names the config does not have.
#[must_use]
pub fn besides(configured: &[ProviderEntry]) -> Vec<ProviderEntry> {
    let mut entries = all();
    entries.retain(|entry| configured.iter().all(|known| known.name != entry.name));
    entries
}

/// An entry for a session whose requests are of this kind. A shipped one may have had another kind when the session began.
#[must_use]
pub fn of_kind(entry: ProviderEntry, kind: &str) -> Option<ProviderEntry> {
    let is_former = entry.origin == ORIGIN && FORMER_KINDS.contains(&(&entry.name, kind));
    match entry.kind == kind {
        true => Some(entry),
        false => is_former.then(|| ProviderEntry {
            kind: kind.to_owned(),
            ..entry
        }),
    }
}

/// Finds what a reference means among the configured entries, and then among the shipped ones. A shipped entry takes
/// any model, named as `provider/model`: which there are, its vendor knows.
///
/// # Errors
/// `not_found` with what there is; `ambiguous` with the candidates.
pub fn find_any(
    configured: &[ProviderEntry],
    wanted: &str,
) -> Result<(ProviderEntry, String), Failure> {
    let missed = match find(configured, wanted) {
        Ok((entry, model)) => return Ok((entry.clone(), model)),
        Err(missed) => missed,
    };
    if missed.name != ErrorName::NotFound {
        return Err(missed);
    }
    let shipped = besides(configured);
    if let Some(entry) = shipped.iter().find(|entry| entry.name == wanted)
        && entry.models.is_empty()
    {
        return Err(Failure::new(
            ErrorName::InvalidConfig,
            format!("No model is chosen for the provider `{wanted}`."),
            format!("Give one as `{wanted}/MODEL`, or choose one with `reasonix setup`."),
        ));
    }
    if let Ok((entry, model)) = find(&shipped, wanted) {
        return Ok((entry.clone(), model));
    }
    let any = wanted.split_once('/').and_then(|(name, model)| {
        let entry = shipped.iter().find(|entry| entry.name == name)?;
        (!model.trim().is_empty()).then(|| (entry.clone(), model.to_owned()))
    });
    any.ok_or_else(|| unknown(configured, &shipped, wanted))
}

/// The provider of a session if nothing is configured: the first that has a model chosen and whose key is there.
#[must_use]
pub fn with_key(has_key: &dyn Fn(&str) -> bool) -> Option<ProviderEntry> {
    all().into_iter().find(|entry| {
        let keyed = entry.api_key_env.as_deref().is_some_and(has_key);
        keyed && !entry.models.is_empty()
    })
}

#[cfg(test)]
mod tests;
