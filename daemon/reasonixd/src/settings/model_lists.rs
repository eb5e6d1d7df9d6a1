//! The lists of models that endpoints answered, a small file each in the home: `<home>/models/NAME.json`. They may be
//! lost at any time. Written by `provider.probe` and by the refresh in the background; blocks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proto::Stamp;
use proto::params::config::KeyState;
use providers::{ListedModel, ProbeResult};
use serde::{Deserialize, Serialize};

use super::providers::ProviderEntry;
use super::write;

/// How old a list may be before it is asked for again, in milliseconds.
const AGE_MAX_MS: i64 = 24 * 60 * 60 * 1_000;
/// The same of a server on this machine.
const LOCAL_AGE_MAX_MS: i64 = 10 * 60 * 1_000;

/// Largest file that is read, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// What an endpoint answered when it was asked for its models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelList {
    /// The address that answered: the list of another address says nothing about this one.
    pub base_url: String,
    pub at: Stamp,
    /// Empty: the endpoint has no list.
    pub models: Vec<String>,
    /// Context windows of models that the endpoint names one for, in tokens.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub windows: BTreeMap<String, u64>,
    /// All its models are here. False: the endpoint has no list, or a longer one than is read.
    pub complete: bool,
}

impl ModelList {
    /// What a probe found out; `None`: nothing about the list.
    #[must_use]
    pub fn of(base_url: &str, probed: &ProbeResult, now: Stamp) -> Option<Self> {
        let answered = matches!(probed.key, KeyState::Works | KeyState::NotNeeded);
        if !probed.reachable || (probed.listed.is_empty() && !answered) {
            return None;
        }
        Some(Self::new(base_url, probed.listed.clone(), now))
    }

    /// What this address answered just now; no models: it has no list.
    #[must_use]
    pub fn new(base_url: &str, listed: Vec<ListedModel>, now: Stamp) -> Self {
        let windows = listed.iter();
        let windows = windows.filter_map(|model| Some((model.id.clone(), model.context_window?)));
        let windows = windows.collect();
        let models: Vec<_> = listed.into_iter().map(|model| model.id).collect();
        Self {
            windows,
            base_url: base_url.to_owned(),
            at: now,
            complete: (1..providers::MODELS_MAX).contains(&models.len()),
            models,
        }
    }

    /// Whether it is to be asked for again. A clock that was set back counts as well. A server on this machine may have been
    /// started with another model, or a window of another size.
    #[must_use]
    pub fn is_old(&self, now: Stamp) -> bool {
        let age_max_ms = match providers::is_local(&self.base_url) {
            true => LOCAL_AGE_MAX_MS,
            false => AGE_MAX_MS,
        };
        !(0..age_max_ms).contains(&now.0.saturating_sub(self.at.0))
    }
}

/// The kept list of an entry's endpoint. A file that cannot be read counts as absent.
#[must_use]
pub fn read(home: &Path, entry: &ProviderEntry) -> Option<ModelList> {
    let file = file(home, &entry.name)?;
    let small = std::fs::metadata(&file).is_ok_and(|data| data.len() <= FILE_MAX);
    let text = small.then(|| std::fs::read(&file).ok()).flatten()?;
    let list: ModelList = serde_json::from_slice(&text).ok()?;
    (list.base_url == entry.base_url).then_some(list)
}

/// Keeps a list. It may be lost, so a refusal of the disk is not the caller's failure; the reason goes to the daemon's log.
pub fn keep(home: &Path, name: &str, list: &ModelList) {
    let Some(file) = file(home, name) else { return };
    let written = serde_json::to_string(list)
        .map_err(std::io::Error::other)
        .and_then(|text| {
            use std::os::unix::fs::DirBuilderExt as _;
            let mut directory = std::fs::DirBuilder::new();
            directory.recursive(true).mode(0o700);
            directory.create(home.join(DIRECTORY))?;
            write::replace(&file, &text)
        });
    if let Err(error) = written {
        tracing::warn!(provider = name, %error, "its list of models was not kept");
    }
}

const DIRECTORY: &str = "models";

/// The file of a provider; `None`: its name cannot be one of a file.
fn file(home: &Path, name: &str) -> Option<PathBuf> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = !name.is_empty() && name.len() <= 64 && name.chars().all(plain);
    fits.then(|| home.join(DIRECTORY).join(format!("{name}.json")))
}

#[cfg(test)]
mod tests;
