//! Asks the endpoint of a model that sessions use for its list of models, beside everything else, if the list that it gave
//! once is old, or if it is on this machine and nothing else tells the model's context window.
//!
//! Nobody waits for it, and a failure changes nothing: it is tried again ten minutes later at the earliest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use proto::Stamp;
use proto::params::config::ProviderProbeParams;

use super::setting::{Prepared, prepared};
use crate::daemon::Daemon;
use crate::settings::facts;
use crate::settings::model_lists::{self, ModelList};
use session::tasks::{self, blocking};

/// Time between two tries for one provider.
const AGAIN: Duration = Duration::from_secs(600);

/// When a provider of a home was asked last, so that many sessions ask once.
static TRIED: Mutex<BTreeMap<(PathBuf, String), Instant>> = Mutex::new(BTreeMap::new());

/// Refreshes the list of the provider of `model` (`provider/model`). `keys`: those that the client brought.
pub fn refresh(daemon: Arc<Daemon>, cwd: String, model: &str, keys: BTreeMap<String, String>) {
    let Some((name, model)) = model.split_once('/') else {
        return;
    };
    let (name, model) = (name.to_owned(), model.to_owned());
    tasks::spawn(async move {
        let asks = Arc::clone(&daemon);
        let due = blocking(move || due(&asks, cwd, (&name, &model), &keys)).await;
        let Ok(Some(Prepared::Ask(probe, entry))) = due else {
            return;
        };
        let Some(models) = providers::list_models(*probe).await else {
            return;
        };
        let list = ModelList::new(&entry.base_url, models, Stamp::now());
        let kept = move || {
            // Of an endpoint without a list any name is a model: nobody has asked for that here.
            let is_first = model_lists::read(daemon.home.root(), &entry).is_none();
            if !(is_first && list.models.is_empty()) {
                model_lists::keep(daemon.home.root(), &entry.name, &list);
            }
        };
        // What kept it from the disk is in the daemon's log.
        let _ = blocking(kept).await;
    });
}

/// The request to make; `None`: there is no list, it is new, or was asked for a moment ago, or there is no key.
fn due(
    daemon: &Daemon,
    cwd: String,
    (name, model): (&str, &str),
    keys: &BTreeMap<String, String>,
) -> Option<Prepared> {
    let loaded = daemon.settings(Some(Path::new(&cwd)));
    let shipped = crate::settings::shipped::besides(&loaded.settings.providers);
    let mut entries = loaded.settings.providers.iter().chain(&shipped);
    let entry = entries.find(|entry| entry.name == name)?;
    let list = model_lists::read(daemon.home.root(), entry);
    // A server on this machine may say how large its window is, which nobody else knows.
    let lacks_window =
        || providers::is_local(&entry.base_url) && facts::of(entry, model).context_window == 0;
    let is_due = match list {
        Some(list) => list.is_old(Stamp::now()),
        None => lacks_window(),
    };
    if !is_due {
        return None;
    }
    let at = (daemon.home.root().to_path_buf(), name.to_owned());
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    if tried.get(&at).is_some_and(|at| at.elapsed() < AGAIN) {
        return None;
    }
    tried.insert(at, Instant::now());
    drop(tried);
    let params = ProviderProbeParams {
        name: name.to_owned(),
        key: entry
            .api_key_env
            .as_ref()
            .and_then(|variable| keys.get(variable).cloned()),
        cwd: Some(cwd),
        ..ProviderProbeParams::default()
    };
    let needs_key = entry.api_key_env.is_some();
    match prepared(daemon, params) {
        Ok(Prepared::Ask(probe, _)) if needs_key && probe.key.is_none() => None,
        prepared => prepared.ok(),
    }
}
