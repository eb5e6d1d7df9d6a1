//! `config.*`, `provider.*`, `trust.*`, `doctor.*`: the configuration, and whether it works.

use std::path::Path;
use std::sync::Arc;

use proto::hello::Role;
use proto::params::config as p;
use proto::{ErrorName, Failure};

use crate::credentials::FallbackKeys;
use crate::daemon::Daemon;
use crate::doctor;
use crate::rpc::peer::Peer;
use crate::settings::{Loaded, Project, ProviderEntry, facts, is_kind, model_lists, shipped};
use crate::wire;
use session::tasks::blocking;

pub async fn check(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::CheckParams,
) -> Result<p::CheckOutput, Failure> {
    blocking(move || {
        let loaded = daemon.settings(params.cwd.as_deref().map(Path::new));
        let store = daemon.store(&loaded);
        let refused = refused_providers(&daemon, &loaded);
        let prompt_files = wire::unusable_prompt_files(&loaded.settings);
        let held_back = loaded.project.map(|project| project.without_effect());
        let with = |hint: &'static str| move |problem: String| (problem, hint.to_owned());
        let found = loaded.problems.into_iter().map(with(doctor::CONFIG_HINT));
        let prompt_files = prompt_files.into_iter().map(with(doctor::CONFIG_HINT));
        let credentials = store.problem().map(with(doctor::CREDENTIALS_HINT));
        let all = found.chain(refused).chain(prompt_files).chain(credentials);
        let (problems, hints) = all.unzip();
        p::CheckOutput {
            values: loaded.values,
            problems,
            hints,
            held_back: held_back.unwrap_or_default(),
        }
    })
    .await
}

/// What would be refused when an entry is used, with its place, and the hint. A wrong kind is among the problems of reading
/// already.
fn refused_providers(daemon: &Daemon, loaded: &Loaded) -> Vec<(String, String)> {
    let entries = loaded.settings.providers.iter();
    let entries = entries.filter(|entry| is_kind(&entry.kind));
    let refused = entries.filter_map(|entry| {
        let failure = wire::check(entry, &loaded.settings, &daemon.procs).err()?;
        let problem = format!("{}:{}: {}", entry.origin, entry.line, failure.message);
        Some((problem, failure.hint))
    });
    refused.collect()
}

pub async fn providers(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::CheckParams,
) -> Result<p::ProviderListOutput, Failure> {
    blocking(move || {
        let loaded = daemon.settings(params.cwd.as_deref().map(Path::new));
        let own = daemon.fallback_keys(&loaded);
        let configured = &loaded.settings.providers;
        let mut shipped = shipped::besides(configured);
        for entry in &mut shipped {
            entry.list = model_lists::read(daemon.home.root(), entry);
        }
        let all = configured
            .iter()
            .map(|entry| (entry, false))
            .chain(shipped.iter().map(|entry| (entry, true)));
        p::ProviderListOutput {
            providers: all
                .map(|(entry, shipped)| status(entry, shipped, &own))
                .collect(),
            default_model: wire::default_model(&loaded, &|variable| own.has(variable)),
        }
    })
    .await
}

/// The row of an entry.
fn status(entry: &ProviderEntry, shipped: bool, own: &FallbackKeys) -> p::ProviderStatus {
    let key = entry
        .api_key_env
        .as_deref()
        .and_then(|variable| own.get(variable));
    p::ProviderStatus {
        default: entry.all_models().into_iter().next().unwrap_or_default(),
        has_key: entry.api_key_env.is_none() || key.is_some(),
        key_from: key.map_or("", |(_, from)| from.word()).to_owned(),
        shipped,
        name: entry.name.clone(),
        kind: entry.kind.clone(),
        base_url: entry.base_url.clone(),
        models: entry.all_models(),
        api_key_env: entry.api_key_env.clone().unwrap_or_default(),
        origin: entry.origin.clone(),
        facts: facts::for_clients(entry, &[entry.all_models(), entry.listed()].concat()),
        listed: entry.listed(),
        listed_at: entry.list.as_ref().map(|list| list.at),
    }
}

pub async fn trust_get(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::TrustGetParams,
) -> Result<p::TrustOutput, Failure> {
    let cwd = params.cwd.clone();
    let read = Arc::clone(&daemon);
    let trust = blocking(move || trust_of(project_of(&read, &cwd))).await?;
    let instructions = project_instructions(&daemon, &params.cwd).await;
    Ok(p::TrustOutput {
        instructions,
        ..trust
    })
}

pub async fn trust_set(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::TrustSetParams,
) -> Result<p::TrustOutput, Failure> {
    if peer.descends() {
        let text = "A process started by a tool cannot trust a project.";
        return Err(Failure::new(
            ErrorName::NotAllowed,
            text,
            "Do this in your own terminal.",
        ));
    }
    let sessions = Arc::clone(&daemon);
    let is_taken = !params.trusted;
    let done = blocking(move || set_trust(&daemon, &peer, &params)).await??;
    // Removing trust applies to running sessions, too.
    sessions.supervisor.tighten_all().await;
    if is_taken {
        sessions.supervisor.reload_all_hooks().await;
    }
    Ok(done)
}

fn set_trust(
    daemon: &Daemon,
    peer: &Peer,
    params: &p::TrustSetParams,
) -> Result<p::TrustOutput, Failure> {
    let Some(now) = project_of(daemon, &params.cwd) else {
        let text = format!(
            "`{}` has no `reasonix.toml`, no `.mcp.json` with a server, no `.env` with a key, and no hooks.",
            params.cwd
        );
        return Err(Failure::new(
            ErrorName::NotFound,
            text,
            "There is nothing to trust.",
        ));
    };
    if params.trusted && now.hash != params.hash {
        let text = "The project's config has changed since it was shown.";
        return Err(Failure::new(
            ErrorName::Stale,
            text,
            "View it again, then trust it.",
        ));
    }
    if params.connection {
        if !params.trusted {
            let text = "Trust for a connection ends with it: it cannot be taken away.";
            return Err(Failure::new(
                ErrorName::InvalidParams,
                text,
                "Close the connection.",
            ));
        }
        peer.hold_trust(now.directory.clone(), now.trust_for_now(daemon.home.root()));
        return Ok(trust_of(project_of(daemon, &params.cwd)));
    }
    now.set_trust(daemon.home.root(), params.trusted)
        .map_err(|error| {
            Failure::new(
                ErrorName::Storage,
                format!("The decision could not be saved: {error}"),
                "Check the disk. If `trust.json` is malformed, fix it or move it away (then nothing is trusted).",
            )
        })?;
    if !params.trusted {
        daemon.mcp.withdraw_refused();
    }
    Ok(trust_of(project_of(daemon, &params.cwd)))
}

fn project_of(daemon: &Daemon, cwd: &str) -> Option<Project> {
    daemon.settings(Some(Path::new(cwd))).project
}

/// Names of the project's instruction files. Those of a directory that cannot be read are reported elsewhere.
async fn project_instructions(daemon: &Daemon, cwd: &str) -> Vec<String> {
    let found = daemon.supervisor.instructions(Path::new(cwd)).await;
    let files = found.map(|found| found.files).unwrap_or_default();
    let files = files.into_iter().filter(|file| file.is_of_project());
    files.map(|file| file.name).collect()
}

fn trust_of(project: Option<Project>) -> p::TrustOutput {
    match project {
        Some(project) => p::TrustOutput {
            directory: Some(project.directory.to_string_lossy().into_owned()),
            trusted: project.trusted,
            held_back: project.held_back,
            hash: project.hash,
            instructions: Vec::new(),
        },
        None => p::TrustOutput {
            directory: None,
            trusted: true,
            held_back: Vec::new(),
            hash: String::new(),
            instructions: Vec::new(),
        },
    }
}

pub async fn doctor(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::DoctorParams,
) -> Result<p::DoctorOutput, Failure> {
    // Everybody may look; making the index again changes something.
    if params.rebuild_index && peer.role() < Some(Role::Drive) {
        return Err(Failure::new(
            ErrorName::NotAllowed,
            "`doctor.run` needs the role `drive` to rebuild the index.",
            "Connect with that role, or leave out `rebuild_index`.",
        ));
    }
    Ok(p::DoctorOutput {
        checks: doctor::run(&daemon, &params).await,
    })
}
