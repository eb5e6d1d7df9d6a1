//! What the cache served, and the prefix that it begins with: `session.cache`, `session.prefix`.

use std::path::Path;
use std::sync::Arc;

use proto::params::cache as p;
use proto::record::{Purpose, Rules, SessionCreated};
use proto::{Body, ErrorName, Failure};

use super::Log;
use crate::assembly::setup::{Effort, ProfileChoice};
use crate::context::first_message;
use crate::context::prefix::FrozenPrefix;
use crate::context::prefix_parts::{self as frozen, Measure};
use crate::history::cache_hits::Cached;
use crate::journal::elements;
use crate::supervisor::storage;
use crate::supervisor::workspaces::SessionPlace;
use crate::supervisor::{Supervisor, prefixes};
use crate::tasks::blocking;

/// What the log of a session says of its prefix, and of the requests that began with it.
struct Frozen {
    created: SessionCreated,
    prefix: FrozenPrefix,
    measured: Option<Measure>,
}

impl Supervisor {
    /// See `session.cache`.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn cache(&self, params: &p::CacheParams) -> Result<p::CacheOutput, Failure> {
        let log = self.log_of(&params.session).await?;
        let assembly = Arc::clone(&self.services.assembly);
        let mut cached = Cached::new(params.after, params.limit);
        blocking(move || {
            let frozen = frozen(&log, |record| cached.take(record))?;
            let prefix = &frozen.prefix.prefix;
            let parts = [&prefix.model, &prefix.system, &prefix.tools, &prefix.extra];
            let bytes: usize = parts.iter().map(|part| part.len()).sum();
            // Its present knowledge of the provider: nothing, if that is not configured any more.
            let ttl_ms = assembly
                .resume(&frozen.created)
                .profile
                .model
                .limits
                .cache_ttl_ms;
            Ok(cached.finish(frozen.created.prefix_sha256, bytes as u64, ttl_ms))
        })
        .await?
    }

    /// See `session.prefix`.
    ///
    /// # Errors
    /// As `find`; `invalid_params`: neither or both of session and directory, or no such directory; `storage`; for a new
    /// session as [`crate::Assembly::create`].
    pub async fn prefix(&self, params: p::PrefixParams) -> Result<p::PrefixOutput, Failure> {
        let after = params.after;
        match (params.session, params.cwd) {
            (Some(session), None) => {
                let log = self.log_of(&session).await?;
                let services = self.services.clone();
                blocking(move || {
                    let frozen = frozen(&log, |_| ())?;
                    let provider = frozen.created.options.provider().to_owned();
                    let terms = services.assembly.terms(Path::new(&frozen.created.cwd));
                    Ok(frozen::page(
                        provider,
                        &frozen.prefix,
                        frozen.measured,
                        after,
                        terms.trusted,
                    ))
                })
                .await?
            }
            (None, Some(cwd)) => {
                let services = self.services.clone();
                let (model, keys) = (params.model, params.keys);
                blocking(move || {
                    let cwd = Path::new(&cwd);
                    if !cwd.is_absolute() || !cwd.is_dir() {
                        return Err(invalid(format!(
                            "The directory `{}` does not exist.",
                            cwd.display()
                        )));
                    }
                    let keys: Vec<_> = keys.iter().map(String::as_str).collect();
                    let model = model.as_deref();
                    let mut setup =
                        services
                            .assembly
                            .create(cwd, model, Effort::Configured, &keys)?;
                    let root =
                        first_message::workspace_root(&setup, cwd, &services.assembly.user_home());
                    ProfileChoice::default()
                        .or_enabled(&setup.enabled_tools, &setup.profile.tools)
                        .with_goal_tool(&setup.profile.tools)
                        .apply(&mut setup.profile, &*services.assembly)?;
                    let place = SessionPlace {
                        root: &root,
                        cwd,
                        rules: &Rules::default(),
                    };
                    let (prefix, _) = prefixes::frozen_prefix(&services, &mut setup, place)?;
                    let provider = setup.profile.model.provider_name;
                    Ok(frozen::page(provider, &prefix, None, after, setup.trusted))
                })
                .await?
            }
            (Some(_), Some(_)) | (None, None) => {
                Err(invalid("Give either a session or a directory.".to_owned()))
            }
        }
    }
}

/// Reads the first record, and the measurements after it. `each`: called with the records of requests.
/// Blocks.
fn frozen(log: &Log, mut each: impl FnMut(&proto::Record)) -> Result<Frozen, Failure> {
    let (mut first, mut measured) = (None, None);
    log.read(
        |kind| kind == "session.created" || Cached::reads(kind),
        |record, raw| {
            match &record.body {
                Body::SessionCreated(created) => {
                    let own = raw.own.and_then(|own| FrozenPrefix::read(own.get()));
                    first = own.map(|frozen| (created.clone(), frozen));
                }
                Body::CacheReset(reset) => {
                    // Who is asked from there on is asked with another prefix.
                    if let (Some(wire), Some((created, before))) = (&reset.wire, &mut first) {
                        elements::update_prefix(raw, &mut before.prefix, &mut before.text);
                        created.options.model = Some(wire.full_model());
                        created.options.effort.clone_from(&wire.effort);
                        created.provider_kind.clone_from(&wire.provider_kind);
                        created.prefix_sha256.clone_from(&wire.prefix_sha256);
                    }
                }
                Body::Usage(usage) if usage.purpose == Purpose::Answer => {
                    let measure = Measure {
                        bytes: usage.request_bytes,
                        tokens: usage.prompt_tokens,
                    };
                    if usage.reported && measure.bytes > 0 && measure.tokens > 0 {
                        measured = Some(measure);
                    }
                }
                _ => {}
            }
            each(record);
        },
    )?;
    let (created, prefix) =
        first.ok_or_else(|| storage("the first record of the log is missing".to_owned()))?;
    Ok(Frozen {
        created,
        prefix,
        measured,
    })
}

fn invalid(message: String) -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        message,
        "Give the session's pid, id or name; or the absolute path of a directory.",
    )
}
