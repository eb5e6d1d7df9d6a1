//! Changing the configuration: settings, providers, keys. And trying a provider out.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use contract::Secret;
use proto::params::config::{self, KeyState};
use proto::{ErrorName, Failure, Stamp};
use providers::ProbeRequest;

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;
use crate::settings::model_lists::{self, ModelList};
use crate::settings::{Loaded, ProviderEntry, edit, facts, shipped};
use crate::wire;
use session::tasks::blocking;

pub async fn config_set(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: config::SetParams,
) -> Result<config::SetOutput, Failure> {
    let (sessions, forbids) = (Arc::clone(&daemon), forbids(&params.key));
    let mut done: config::SetOutput = blocking(move || {
        let key = edit::key(&params.key)?;
        let file = daemon.home.config();
        edit::set(
            &file,
            key,
            params.value.as_ref(),
            &daemon.user_home,
            &daemon.tools,
        )?;
        let loaded = daemon.settings(params.cwd.as_deref().map(Path::new));
        Ok::<_, Failure>(read_back(&loaded, key.name, &file))
    })
    .await??;
    if forbids {
        done.notices.push(reached(&sessions).await);
    }
    Ok(done)
}

/// Whether a setting forbids something in sessions that run.
fn forbids(key: &str) -> bool {
    let listed = ["deny", "ask", "allow"];
    let list = key.strip_prefix("permissions.");
    let is_listed = list.is_some_and(|list| listed.contains(&list));
    is_listed || key.starts_with("sandbox.") && !is_read_at_start(key)
}

/// Whether a setting is read when the daemon starts, and at no other time.
fn is_read_at_start(key: &str) -> bool {
    let listed = ["sandbox.layer", "sandbox.memory_limit_mb"].contains(&key);
    listed || key.starts_with("daemon.") && key != "daemon.recover"
}

/// Lets the sessions that run follow what the settings forbid now, and says which do.
async fn reached(daemon: &Daemon) -> String {
    let reached = daemon.supervisor.tighten_all().await;
    if reached.is_empty() {
        return "This makes no running session stricter; what it loosens applies to new sessions."
            .to_owned();
    }
    let pids: Vec<_> = reached.iter().map(ToString::to_string).collect();
    format!(
        "Running sessions that follow it from their next call: {}; what it loosens applies to new sessions.",
        pids.join(", ")
    )
}

/// The setting as it is in force, and what keeps the new value from that.
fn read_back(loaded: &Loaded, key: &str, file: &Path) -> config::SetOutput {
    let file = file.display().to_string();
    let value = loaded.values.iter().find(|value| value.key == key).cloned();
    let value = value.unwrap_or_else(|| config::Value {
        key: key.to_owned(),
        value: serde_json::Value::Null,
        origin: "default".to_owned(),
    });
    let mut notices = Vec::new();
    if value.origin != "default" && value.origin != file {
        notices.push(format!(
            "In this directory, {} overrides this value.",
            value.origin
        ));
    }
    if is_read_at_start(key) {
        notices.push("It takes effect after `reasonix daemon restart`.".to_owned());
    }
    let named = format!("`{key}`");
    let about = loaded
        .problems
        .iter()
        .filter(|problem| problem.contains(&named));
    notices.extend(about.cloned());
    config::SetOutput {
        file,
        value,
        notices,
    }
}

pub async fn provider_set(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: config::ProviderSetParams,
) -> Result<config::SetOutput, Failure> {
    blocking(move || {
        let file = daemon.home.config();
        let settings = daemon.settings(None).settings;
        let entry = edit::provider(&file, &params, &|entry| {
            wire::check(entry, &settings, &daemon.procs)
        })?;
        // It counts as it is read, not as it was written.
        let loaded = daemon.settings(None);
        let counts = loaded
            .settings
            .providers
            .iter()
            .any(|known| known.is_same(&entry));
        let mut notices = Vec::new();
        if !counts {
            notices.push(format!(
                "The provider `{}` is not in effect yet.",
                entry.name
            ));
            notices.extend(loaded.problems);
        }
        Ok(config::SetOutput {
            value: config::Value {
                key: format!("providers.{}", entry.name),
                value: serde_json::json!({
                    "name": entry.name,
                    "kind": entry.kind,
                    "base_url": entry.base_url,
                    "models": entry.all_models(),
                    "default": entry.all_models().first(),
                    "api_key_env": entry.api_key_env,
                }),
                origin: file.display().to_string(),
            },
            file: file.display().to_string(),
            notices,
        })
    })
    .await?
}

pub async fn credential_set(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: config::CredentialSetParams,
) -> Result<config::CredentialSetOutput, Failure> {
    let key = params.value.map(Secret::new);
    let (keeper, variable) = (Arc::clone(&daemon), params.variable);
    let (named, kept) = (variable.clone(), key.clone());
    let kept_in = blocking(move || {
        // The user's own matter: no directory has a say.
        let store = keeper.store(&keeper.settings(None));
        store.set(&named, kept.as_ref())
    })
    .await??;
    if let Some(key) = key {
        // Those that wait for a key go on at once. Sessions that are loaded later find it in the store: offering it to
        // them as well would keep it in memory after it is forgotten.
        let key = BTreeMap::from([(variable, key.expose().trim().to_owned())]);
        for handle in daemon.supervisor.handles() {
            handle.credentials(key.clone()).await;
        }
    }
    Ok(config::CredentialSetOutput {
        kept_in: kept_in.to_string(),
    })
}

pub async fn provider_probe(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: config::ProviderProbeParams,
) -> Result<config::ProviderProbeOutput, Failure> {
    let asks = Arc::clone(&daemon);
    match blocking(move || prepared(&asks, params)).await?? {
        Prepared::Ask(probe, mut entry) => {
            let probed = providers::probe(*probe).await;
            if let Some(list) = ModelList::of(&entry.base_url, &probed, Stamp::now()) {
                let name = entry.name.clone();
                entry.list = Some(list.clone());
                blocking(move || model_lists::keep(daemon.home.root(), &name, &list)).await?;
            }
            let output = probe_output(probed);
            Ok(config::ProviderProbeOutput {
                facts: facts::for_clients(&entry, &output.models),
                ..output
            })
        }
        Prepared::Done(output) => Ok(*output),
    }
}

/// The rest of the work for a probe.
pub(super) enum Prepared {
    Ask(Box<ProbeRequest>, Box<ProviderEntry>),
    Done(Box<config::ProviderProbeOutput>),
}

/// Finds out which request to make, and with which key.
pub(super) fn prepared(
    daemon: &Daemon,
    params: config::ProviderProbeParams,
) -> Result<Prepared, Failure> {
    let loaded = daemon.settings(params.cwd.as_deref().map(Path::new));
    let mut entry = probed(&loaded, &params)?;
    let mut own_key = true;
    if let Some(base_url) = params.base_url.filter(|url| *url != entry.base_url) {
        // What belongs to an entry goes to its own address, and to no other.
        own_key = false;
        entry.headers.clear();
        entry.base_url = base_url;
    }
    if let Err(failure) = wire::check(&entry, &loaded.settings, &daemon.procs) {
        return Ok(Prepared::Done(Box::new(without_asking(
            false,
            KeyState::Unknown,
            failure.message,
            failure.hint,
        ))));
    }
    if entry.kind == "replay" {
        let text = "a cassette on this machine, and it is readable".to_owned();
        let known = without_asking(true, KeyState::NotNeeded, text, String::new());
        return Ok(Prepared::Done(Box::new(known)));
    }
    if entry.kind == "command" {
        return Ok(Prepared::Done(Box::new(program(&entry))));
    }
    let given = params
        .key
        .filter(|key| !key.trim().is_empty())
        .map(Secret::new);
    let own = || {
        let variable = entry.api_key_env.as_deref().filter(|_| own_key)?;
        daemon.fallback_keys(&loaded).key(variable)
    };
    let known = Box::new(entry.clone());
    let probe = ProbeRequest {
        model: entry.all_models().into_iter().next().unwrap_or_default(),
        key: given.or_else(own),
        name: entry.name,
        kind: entry.kind,
        base_url: entry.base_url,
        key_env: entry.api_key_env,
        headers: entry.headers.into_iter().collect(),
        connect: Duration::from_millis(loaded.settings.connect_ms),
    };
    Ok(Prepared::Ask(Box::new(probe), known))
}

/// The entry that is meant: configured, shipped, or only an address.
fn probed(loaded: &Loaded, params: &config::ProviderProbeParams) -> Result<ProviderEntry, Failure> {
    let configured = &loaded.settings.providers;
    let shipped = shipped::besides(configured);
    let mut all = configured.iter().chain(&shipped);
    if let Some(entry) = all.clone().find(|entry| entry.name == params.name) {
        return Ok(entry.clone());
    }
    if params.base_url.is_some() {
        let name = if params.name.is_empty() {
            "new"
        } else {
            &params.name
        };
        return Ok(ProviderEntry {
            name: name.chars().filter(|c| !c.is_control()).take(64).collect(),
            kind: crate::settings::shipped::KIND.to_owned(),
            origin: "the call".to_owned(),
            ..ProviderEntry::default()
        });
    }
    let names: Vec<_> = all.by_ref().map(|entry| entry.name.clone()).collect();
    let shown: String = params.name.escape_debug().take(80).collect();
    Err(Failure::new(
        ErrorName::NotFound,
        format!("Unknown provider `{shown}`."),
        format!("Known providers: {}. Or give `base_url`.", names.join(", ")),
    )
    .with("nearest", names))
}

/// A program is not started to ask it: its effects are unknown.
fn program(entry: &ProviderEntry) -> config::ProviderProbeOutput {
    let program = entry.command.first().cloned().unwrap_or_default();
    let is_file = |path: &Path| path.is_file();
    let found = match Path::new(&program).is_absolute() {
        true => is_file(Path::new(&program)),
        false => std::env::var_os("PATH").is_some_and(|all| {
            std::env::split_paths(&all).any(|directory| is_file(&directory.join(&program)))
        }),
    };
    let (text, hint) = match found {
        true => (
            format!("the program `{program}` exists; it starts with the first prompt"),
            String::new(),
        ),
        false => (
            format!("the daemon cannot find the program `{program}`"),
            "check `command`: give an absolute path, or a name on the `PATH` of sessions"
                .to_owned(),
        ),
    };
    let key = match entry.api_key_env {
        Some(_) => KeyState::Unknown,
        None => KeyState::NotNeeded,
    };
    without_asking(found, key, text, hint)
}

fn without_asking(
    reachable: bool,
    key: KeyState,
    text: String,
    hint: String,
) -> config::ProviderProbeOutput {
    config::ProviderProbeOutput {
        host: String::new(),
        reachable,
        key,
        duration_ms: 0,
        models: Vec::new(),
        text,
        hint,
        better_base_url: None,
        facts: Vec::new(),
    }
}

fn probe_output(probed: providers::ProbeResult) -> config::ProviderProbeOutput {
    config::ProviderProbeOutput {
        host: probed.host,
        reachable: probed.reachable,
        key: probed.key,
        duration_ms: u64::try_from(probed.duration.as_millis()).unwrap_or(u64::MAX),
        models: probed.listed.into_iter().map(|model| model.id).collect(),
        text: probed.text,
        hint: probed.hint,
        better_base_url: probed.better_base_url,
        facts: Vec::new(),
    }
}
