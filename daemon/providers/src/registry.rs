//! The kinds by name. A new kind needs its module and one line here.

use std::sync::Arc;

use contract::{Codec, Provider, Spawn};

use crate::extra;
use crate::options::ProviderOptions;

/// The result of `open`.
pub(crate) type OpenedProvider = (Arc<dyn Codec>, Arc<dyn Provider>);

/// The daemon's services that a provider may use.
#[derive(Clone)]
pub struct ProviderContext {
    /// Starts the programs of the kind `command`.
    pub spawn: Arc<dyn Spawn>,
}

type Open = fn(ProviderOptions, &ProviderContext) -> Result<OpenedProvider, OpenError>;

const REGISTRY: &[(&str, Open)] = &[
    ("openai", crate::openai_chat::open),
    ("openai-responses", crate::openai_responses::open),
    ("anthropic", crate::anthropic::open),
    ("command", crate::command::open),
];

/// The names of all kinds.
pub const KINDS: &[&str] = &{
    let mut names = [""; REGISTRY.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = REGISTRY[index].0;
        index += 1;
    }
    names
};

/// Why an entry is invalid. Names the entry and the config key to fix.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("provider `{name}`: unknown kind `{kind}`; known kinds: {}", KINDS.join(", "))]
    Kind { name: String, kind: String },
    #[error("provider `{name}`: base_url: {reason}")]
    BaseUrl { name: String, reason: String },
    #[error("provider `{name}`: headers: `{header}` {reason}")]
    Header {
        name: String,
        header: String,
        reason: String,
    },
    #[error("provider `{name}`: extra: {reason}")]
    Extra { name: String, reason: String },
    #[error(
        "provider `{name}`: effort: its models do not support `{effort}`; they support {valid}"
    )]
    Effort {
        name: String,
        effort: String,
        valid: String,
    },
    #[error("provider `{name}`: {key}: {reason}")]
    Key {
        name: String,
        key: &'static str,
        reason: String,
    },
}

/// Creates codec and provider for an entry. Opens no connection and starts no program.
///
/// # Errors
/// The entry is invalid: an unknown kind, a URL, header or extra member that cannot be sent, or an
/// unsupported effort.
pub fn open(
    options: ProviderOptions,
    means: &ProviderContext,
) -> Result<OpenedProvider, OpenError> {
    let Some((_, open)) = REGISTRY.iter().find(|(kind, _)| *kind == options.kind) else {
        return Err(OpenError::Kind {
            name: options.name,
            kind: options.kind,
        });
    };
    extra::unused(
        options.strict_roles && options.kind != "openai",
        &options,
        "strict_roles",
        "only requests of the kind `openai` can need it",
    )?;
    extra::unused(
        options.server_compaction && !matches!(&*options.kind, "anthropic" | "openai-responses"),
        &options,
        "server_compaction",
        "only the APIs of the kinds `anthropic` and `openai-responses` have it",
    )?;
    open(options, means)
}

#[cfg(test)]
mod tests;
