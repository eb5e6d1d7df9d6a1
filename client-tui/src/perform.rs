//! Effects that are calls of the daemon, done.

use std::path::{Path, PathBuf};

use client::session::ExportError;
use client::{CallError, Client, DecodedEvent};
use proto::Seq;
use proto::methods::{
    ConfigCheck, HookList, HookReload, InteractionAnswer, InteractionList, ProcessKill,
    ProcessList, ProviderList, RulesList, RulesRevoke, SessionCheckpoints, SessionCompact,
    SessionCreate, SessionDelete, SessionEdit, SessionFork, SessionInspect, SessionInterrupt,
    SessionList, SessionPin, SessionReorder, SessionRewind, SessionSet, SessionSignal,
    SessionUnqueue, StatsQuery, TrustGet, TrustSet,
};
use proto::params::compact::CompactParams;
use proto::params::history::ExportFormat;
use proto::params::interaction::Interaction;
use proto::params::process::KillParams;
use proto::params::session::{CreateParams, OneParams, PromptParams};
use proto::params::{config, interaction};

use crate::effect::{Answer, Call, Trouble};
use crate::messages::Language;
use crate::messages::edge::Msg;

/// Events that a preview is made of.
const PREVIEW: u64 = 40;

/// Events that are read back at a time.
const PAGE: u64 = 200;

/// Makes a call.
pub async fn call(client: &Client, call: Call) -> Answer {
    match call {
        Call::Create(params) => create(client, *params).await,
        Call::Prompt {
            params,
            renew,
            takeover,
        } => {
            let prompt = params.text.clone();
            let result = self::prompt(client, params, renew, takeover).await;
            let result = result.map_err(Trouble::from);
            Answer::Prompted { prompt, result }
        }
        Call::Interrupt { session } => {
            let done = asked::<SessionInterrupt>(client, &OneParams { session }).await;
            Answer::Interrupted(done.map(|done| done.delivered))
        }
        Call::Sessions(params) => Answer::Sessions(asked::<SessionList>(client, &params).await),
        Call::Processes(params) => Answer::Processes(asked::<ProcessList>(client, &params).await),
        Call::Waiting => Answer::Waiting(waiting(client).await.map_err(Trouble::from)),
        Call::Checkpoints { session, undo } => {
            let params = OneParams { session };
            let result = asked::<SessionCheckpoints>(client, &params).await;
            Answer::Checkpoints { undo, result }
        }
        Call::Rewind(params) => {
            let result = asked::<SessionRewind>(client, &params).await;
            Answer::Rewound { params, result }
        }
        Call::Fork(params) => Answer::Forked(asked::<SessionFork>(client, &params).await),
        Call::Inspect(params) => {
            Answer::Inspected(asked::<SessionInspect>(client, &params).await.map(Box::new))
        }
        Call::Stats(params) => {
            let result = asked::<StatsQuery>(client, &params).await.map(Box::new);
            Answer::Stats { params, result }
        }
        Call::Hooks(params) => Answer::Hooks {
            reloaded: false,
            result: asked::<HookList>(client, &params).await,
        },
        Call::ReloadHooks(params) => Answer::Hooks {
            reloaded: true,
            result: asked::<HookReload>(client, &params).await,
        },
        Call::Delete(params) => Answer::Deleted(asked::<SessionDelete>(client, &params).await),
        Call::Trust { params, unasked } => {
            let result = asked::<TrustGet>(client, &params).await;
            Answer::Trust {
                params,
                unasked,
                result,
            }
        }
        Call::SetTrust(params) => Answer::TrustSet(asked::<TrustSet>(client, &params).await),
        Call::Rules(params) => {
            Answer::Rules(client.all::<RulesList>(params).await.map_err(Trouble::from))
        }
        Call::Revoke(params) => Answer::Revoked {
            result: asked::<RulesRevoke>(client, &params).await,
            rule: params.rule,
        },
        Call::Compact(params) => {
            let credentials = client.credentials().await;
            let keyed = CompactParams {
                credentials,
                ..params.clone()
            };
            Answer::Compacted {
                result: asked::<SessionCompact>(client, &keyed).await,
                params,
            }
        }
        // Calls whose success is shown by an event.
        Call::Pin(ref params) => done(plain::<SessionPin>(client, params).await, call),
        Call::Signal(ref params) => done(plain::<SessionSignal>(client, params).await, call),
        Call::Set(ref params) => done(plain::<SessionSet>(client, params).await, call),
        Call::Answer(ref params) => done(plain::<InteractionAnswer>(client, params).await, call),
        Call::Unqueue { ref params, .. } => {
            done(plain::<SessionUnqueue>(client, params).await, call)
        }
        Call::EditQueued(ref params) => done(plain::<SessionEdit>(client, params).await, call),
        Call::Reorder(ref params) => done(plain::<SessionReorder>(client, params).await, call),
        Call::KillProcess(pid) => {
            let params = KillParams { pid };
            done(plain::<ProcessKill>(client, &params).await, call)
        }
    }
}

fn done(result: Result<(), Trouble>, what: Call) -> Answer {
    Answer::Done { what, result }
}

async fn plain<M: proto::methods::Method>(
    client: &Client,
    params: &M::Params,
) -> Result<(), Trouble>
where
    M::Params: Sync,
{
    asked::<M>(client, params).await.map(drop)
}

async fn asked<M: proto::methods::Method>(
    client: &Client,
    params: &M::Params,
) -> Result<M::Output, Trouble>
where
    M::Params: Sync,
{
    Ok(client.call::<M>(params).await?)
}

async fn create(client: &Client, params: CreateParams) -> Answer {
    let prompt = params.prompt.clone().unwrap_or_default();
    let params = CreateParams {
        credentials: client.credentials().await,
        ..params
    };
    let result = asked::<SessionCreate>(client, &params).await;
    Answer::Created { prompt, result }
}

async fn prompt(
    client: &Client,
    params: PromptParams,
    renew: bool,
    takeover: bool,
) -> Result<(), CallError> {
    if takeover {
        client.take_over(&params.session).await?;
    }
    client.prompt(params, renew).await.map(drop)
}

async fn waiting(client: &Client) -> Result<Vec<Interaction>, CallError> {
    let all = interaction::ListParams::default();
    let list = client.call::<InteractionList>(&all).await?;
    Ok(list.interactions)
}

/// The last events of a session.
pub async fn preview(client: &Client, session: String) -> Answer {
    let result = async {
        let newest = client.session(&session).await?.seq;
        let from = newest.0.saturating_sub(PREVIEW - 1).max(1);
        read(client, &session, Seq(from), PREVIEW).await
    };
    let result = result.await.map_err(Trouble::from);
    Answer::Preview { session, result }
}

/// Events before one.
pub async fn earlier(client: &Client, session: String, before: Seq) -> Answer {
    let from = before.0.saturating_sub(PAGE).max(1);
    let count = before.0.saturating_sub(from);
    let result = read(client, &session, Seq(from), count).await;
    Answer::Earlier {
        session,
        result: result.map_err(Trouble::from),
    }
}

async fn read(
    client: &Client,
    session: &str,
    from: Seq,
    count: u64,
) -> Result<Vec<DecodedEvent>, CallError> {
    let mut events = Vec::new();
    let taken = client.read(session, from, Some(count), |event| {
        events.push(event);
        Ok::<(), CallError>(())
    });
    taken.await?;
    Ok(events)
}

/// Writes a session to a new file that nobody else may read.
pub async fn export(
    client: &Client,
    session: String,
    file: PathBuf,
    format: ExportFormat,
    language: Language,
) -> Answer {
    let result = client.export_to_file(&session, format, &file).await;
    Answer::Exported(match result {
        Ok(written) => Ok((file, written)),
        Err(ExportError::Call(error)) => Err(error.into()),
        Err(ExportError::File(error)) => Err(unwritten(&file, &error, language)),
    })
}

/// Why a session was not written to a file, for a person.
fn unwritten(file: &Path, error: &std::io::Error, language: Language) -> Trouble {
    let name = client::text::line(&file.display().to_string());
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => Trouble::new(
            language.fill(Msg::ExportThere, &[&name]),
            language.say(Msg::ExportThereHint),
        ),
        _ => Trouble::new(format!("{name}: {error}"), String::new()),
    }
}

/// The settings that a client reads, by name. None where the daemon does not say.
pub async fn settings(client: &Client, cwd: &Path) -> Vec<config::Value> {
    let params = config::CheckParams {
        cwd: cwd.to_str().map(str::to_owned),
    };
    let checked = client.call::<ConfigCheck>(&params).await;
    checked.map_or_else(|_| Vec::new(), |checked| checked.values)
}

/// The model of a session that names none, as `provider/model`; empty where it is not known.
pub async fn default_model(client: &Client, cwd: &Path) -> String {
    let params = config::CheckParams {
        cwd: cwd.to_str().map(str::to_owned),
    };
    let listed = client.call::<ProviderList>(&params).await;
    let default = listed.ok().and_then(|listed| listed.default_model);
    default.unwrap_or_default()
}

/// Names in a directory, those of directories with a slash at the end, sorted. Empty where it cannot be read.
#[must_use]
pub fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .take(NAMES_MAX)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let directory = entry.path().is_dir();
            Some(if directory { format!("{name}/") } else { name })
        })
        .collect();
    names.sort();
    names
}

/// Names that a menu chooses from; of a directory that holds more the rest is not offered.
const NAMES_MAX: usize = 20_000;

#[cfg(test)]
mod tests;
