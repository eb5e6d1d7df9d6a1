//! `config.*`, `provider.*`, `trust.*`, `doctor.*`: what is configured, and whether it works.

use std::path::Path;
use std::sync::Arc;

use proto::hello::Role;
use proto::params::config as p;
use proto::{ErrorName, Failure};

use crate::daemon::Daemon;
use crate::doctor;
use crate::rpc::peer::Peer;
use crate::settings::trust;

pub async fn check(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::CheckParams,
) -> Result<p::CheckOutput, Failure> {
    let loaded = daemon.settings(params.cwd.as_deref().map(Path::new));
    let held_back = loaded
        .project
        .filter(|project| !project.trusted)
        .map(|project| project.held_back);
    Ok(p::CheckOutput {
        values: loaded.values,
        problems: loaded.problems,
        held_back: held_back.unwrap_or_default(),
    })
}

pub async fn providers(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::CheckParams,
) -> Result<p::ProviderListOutput, Failure> {
    let loaded = daemon.settings(params.cwd.as_deref().map(Path::new));
    let has_key = |entry: &crate::settings::ProviderEntry| {
        entry
            .api_key_env
            .as_ref()
            .is_none_or(|variable| daemon.own_key(variable).is_some())
    };
    let providers = loaded
        .settings
        .providers
        .iter()
        .map(|entry| p::ProviderStatus {
            name: entry.name.clone(),
            kind: entry.kind.clone(),
            base_url: entry.base_url.clone(),
            models: entry.all_models(),
            api_key_env: entry.api_key_env.clone().unwrap_or_default(),
            has_key: has_key(entry),
            origin: entry.origin.clone(),
        });
    Ok(p::ProviderListOutput {
        providers: providers.collect(),
        default_model: crate::wire::default_model(&loaded.settings),
    })
}

pub async fn trust_get(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::TrustGetParams,
) -> Result<p::TrustOutput, Failure> {
    Ok(trust_of(&daemon, &params.cwd))
}

pub async fn trust_set(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::TrustSetParams,
) -> Result<p::TrustOutput, Failure> {
    if peer.descends {
        let text = "A process that a tool has started cannot trust a project.";
        return Err(Failure::new(
            ErrorName::NotAllowed,
            text,
            "Do it from your own terminal.",
        ));
    }
    let now = trust_of(&daemon, &params.cwd);
    let Some(directory) = &now.directory else {
        let text = format!("There is no `reasonix.toml` for `{}`.", params.cwd);
        return Err(Failure::new(
            ErrorName::NotFound,
            text,
            "There is nothing to be trusted.",
        ));
    };
    if params.trusted && now.hash != params.hash {
        let text = "The project's config is not what was shown.";
        return Err(Failure::new(
            ErrorName::Stale,
            text,
            "Look at it again, and trust what you see.",
        ));
    }
    let hash = params.trusted.then_some(now.hash.as_str());
    trust::set(daemon.home.root(), Path::new(directory), hash).map_err(|error| {
        Failure::new(
            ErrorName::Storage,
            format!("It could not be remembered: {error}"),
            "Look at the disk.",
        )
    })?;
    Ok(trust_of(&daemon, &params.cwd))
}

fn trust_of(daemon: &Daemon, cwd: &str) -> p::TrustOutput {
    match daemon.settings(Some(Path::new(cwd))).project {
        Some(project) => p::TrustOutput {
            directory: Some(project.directory.to_string_lossy().into_owned()),
            trusted: project.trusted,
            held_back: project.held_back,
            hash: project.hash,
        },
        None => p::TrustOutput {
            directory: None,
            trusted: true,
            held_back: Vec::new(),
            hash: String::new(),
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
            "`doctor.run` takes the role `drive` to rebuild the index.",
            "Connect with a role that may do it, or leave `rebuild_index` out.",
        ));
    }
    Ok(p::DoctorOutput {
        checks: doctor::run(&daemon, &params).await,
    })
}
