//! The kinds, by name. A new kind is its module and one line here.

use std::sync::Arc;

use contract::{Codec, Provider, Spawn};

use crate::options::Options;

/// What `open` gives.
pub(crate) type Opened = (Arc<dyn Codec>, Arc<dyn Provider>);

/// What a provider may use of the daemon.
#[derive(Clone)]
pub struct Means {
    /// Starts the programs of the kind `command`.
    pub spawn: Arc<dyn Spawn>,
}

type Open = fn(Options, &Means) -> Result<Opened, OpenError>;

const REGISTRY: &[(&str, Open)] = &[
    ("openai", crate::openai_chat::open),
    ("openai-responses", crate::openai_responses::open),
    ("anthropic", crate::anthropic::open),
    ("command", crate::command::open),
];

/// The names of the kinds that `open` knows.
pub const KINDS: &[&str] = &{
    let mut names = [""; REGISTRY.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = REGISTRY[index].0;
        index += 1;
    }
    names
};

/// Why an entry gives no provider. Names the entry and the key of the config to mend.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("provider `{name}`: kind `{kind}` is not known; known are {}", KINDS.join(", "))]
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
    #[error("provider `{name}`: effort: `{effort}` is not known to its models; they know {valid}")]
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

/// Makes codec and provider for an entry. Connects to nothing, starts nothing.
///
/// # Errors
/// The entry is wrong: an unknown kind, an address, header or extra member that cannot be sent, an effort that its
/// models lack.
pub fn open(options: Options, means: &Means) -> Result<Opened, OpenError> {
    let Some((_, open)) = REGISTRY.iter().find(|(kind, _)| *kind == options.kind) else {
        return Err(OpenError::Kind {
            name: options.name,
            kind: options.kind,
        });
    };
    open(options, means)
}

#[cfg(test)]
mod tests;
