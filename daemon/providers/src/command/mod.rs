//! The kind `command`: any program as a provider. It reads one request object from standard input
//! and writes one event per line to standard output (`docs/command-provider.md`).
//!
//! `codec` writes requests, `stream` collects an answer from lines, and `run` owns the process:
//! started through `contract::Spawn`, and killed with its request. Called by the registry.

mod codec;
mod run;
mod stream;

use std::sync::Arc;

use contract::Request;
use contract::provider::{Part, Provider, ProviderError};
use futures::stream::{self as streams, BoxStream, StreamExt};

use crate::extra;
use crate::failure::{EntryInfo, ErrorContext};
use crate::options::{ProviderOptions, Timeouts};
use crate::registry::{OpenError, OpenedProvider, ProviderContext};

/// The name of the kind. The program reads thoughts with this name.
const KIND: &str = "command";

/// Creates codec and provider for an entry of this kind.
pub(crate) fn open(
    options: ProviderOptions,
    means: &ProviderContext,
) -> Result<OpenedProvider, OpenError> {
    if options
        .command
        .first()
        .is_none_or(|program| program.trim().is_empty())
    {
        return Err(OpenError::Key {
            name: options.name,
            key: "command",
            reason: "names no program: use `command = [\"program\", \"argument\"]`".to_owned(),
        });
    }
    let reason = "a `command` provider has no network address";
    extra::unused(!options.base_url.is_empty(), &options, "base_url", reason)?;
    extra::unused(!options.headers.is_empty(), &options, "headers", reason)?;
    let codec = codec::Lines::new(&options)?;
    let program = Program {
        argv: options.command.clone(),
        timeouts: options.timeouts,
        entry: Arc::new(EntryInfo::of(options)),
        means: means.clone(),
    };
    Ok((Arc::new(codec), Arc::new(program)))
}

/// A program as a provider.
struct Program {
    argv: Vec<String>,
    timeouts: Timeouts,
    entry: Arc<EntryInfo>,
    means: ProviderContext,
}

impl Provider for Program {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        let site = ErrorContext {
            entry: self.entry.clone(),
            key: request.key.clone(),
        };
        if let Some(error) = site.lacks_key() {
            return streams::iter([Err(error)]).boxed();
        }
        let run = run::Run::new(
            self.means.spawn.clone(),
            self.argv.clone(),
            self.timeouts,
            site,
            request,
        );
        streams::unfold(run, |mut run| async move {
            let part = run.next().await?;
            Some((part, run))
        })
        .boxed()
    }
}

#[cfg(test)]
mod tests;
