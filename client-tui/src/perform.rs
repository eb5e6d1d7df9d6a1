//! Effects that are calls of the daemon, done.

pub mod paths;

use std::path::{Path, PathBuf};

use client::prompt::Prompt;
use client::session::ExportError;
use client::{CallError, Client, DecodedEvent};
use proto::methods::{
    CommandList, ConfigCheck, GoalChange, GoalStart, GoalStatus, GoalStop, HistoryPrompts,
    HistorySearch, HookList, HookReload, InteractionAnswer, InteractionList, McpList, McpResources,
    McpRestart, MemoryForget, MemoryList, MemoryRead, MemoryRestore, MemoryWrite, ProcessKill,
    ProcessList, ProviderList, RulesList, RulesRevoke, SessionCheckpoints, SessionCompact,
    SessionCreate, SessionDelete, SessionEdit, SessionFork, SessionInspect, SessionInterrupt,
    SessionList, SessionPin, SessionReload, SessionReorder, SessionResume, SessionRewind,
    SessionSet, SessionShell, SessionSignal, SessionUnqueue, SkillList, StatsQuery, SymbolList,
    TrustGet, TrustSet,
};
use proto::params::compact::CompactParams;
use proto::params::config::{self, ProviderListParams};
use proto::params::history::ExportFormat;
use proto::params::process::KillParams;
use proto::params::session::{CreateParams, OneParams, QueuedPrompt, UnqueueParams};
use proto::params::{command, interaction, skill};
use proto::{CallId, Seq};

use crate::effect::{Answer, Call, ErrorReport};
use crate::messages::Language;
use crate::messages::edge::Msg;
use crate::model::composer::menu::of_skills;

/// Events that a preview is made of.
const PREVIEW: u64 = 40;

/// Events that are read back at a time.
const PAGE: u64 = 200;

/// Makes a call. `language`: of what a failure says.
pub async fn call(client: &Client, call: Call, language: Language) -> Answer {
    match answer(client, call.clone(), language).await {
        Ok(answer) => answer,
        Err(trouble) => Answer::Failed { call, trouble },
    }
}

async fn answer(client: &Client, call: Call, language: Language) -> Result<Answer, ErrorReport> {
    Ok(match call {
        Call::Create(params) => create(client, *params).await?,
        Call::Interrupt { session, queue } => interrupt(client, session, queue).await?,
        Call::Sessions(params) => Answer::Sessions(client.call::<SessionList>(&params).await?),
        Call::Find(session) => Answer::Found(Box::new(client.session(&session).await?)),
        Call::Models(params) => models(client, params).await?,
        Call::Processes(params) => Answer::Processes(client.call::<ProcessList>(&params).await?),
        Call::Waiting => waiting(client).await?,
        Call::Checkpoints { session, undo } => checkpoints(client, session, undo).await?,
        Call::Rewind(params) => Answer::Rewound {
            output: client.call::<SessionRewind>(&params).await?,
            params,
        },
        Call::Fork(params) => Answer::Forked(client.call::<SessionFork>(&params).await?),
        Call::Inspect(params) => {
            Answer::Inspected(Box::new(client.call::<SessionInspect>(&params).await?))
        }
        Call::Stats(params) => Answer::Stats {
            output: Box::new(client.call::<StatsQuery>(&params).await?),
            params,
        },
        Call::Commands(params) => menu_commands(client, params).await?,
        Call::Symbols(params) => Answer::Symbols(client.call::<SymbolList>(&params).await?),
        Call::Resources(params) => Answer::Resources(client.call::<McpResources>(&params).await?),
        Call::Skills(params) => Answer::Skills(client.call::<SkillList>(&params).await?),
        Call::Search(params) => Answer::Hits(client.call::<HistorySearch>(&params).await?),
        Call::Prompts(params) => Answer::Prompts(client.call::<HistoryPrompts>(&params).await?),
        Call::CustomCommands(params) => {
            Answer::CustomCommands(client.call::<CommandList>(&params).await?)
        }
        Call::Memory(params) => Answer::Memory(client.call::<MemoryList>(&params).await?),
        Call::ReadFact(params) => Answer::Fact(Box::new(client.call::<MemoryRead>(&params).await?)),
        Call::WriteFact(ref params) => done(client.call::<MemoryWrite>(params).await, call)?,
        Call::ForgetFact(ref params) => done(client.call::<MemoryForget>(params).await, call)?,
        Call::RestoreFact(ref params) => done(client.call::<MemoryRestore>(params).await, call)?,
        Call::GoalStatus(params) => {
            Answer::Goal(Box::new(client.call::<GoalStatus>(&params).await?))
        }
        Call::Hooks(params) => Answer::Hooks {
            reloaded: false,
            output: client.call::<HookList>(&params).await?,
        },
        Call::ReloadHooks(params) => Answer::Hooks {
            reloaded: true,
            output: client.call::<HookReload>(&params).await?,
        },
        Call::Servers(params) => Answer::Servers(client.call::<McpList>(&params).await?),
        Call::Delete(params) => Answer::Deleted(client.call::<SessionDelete>(&params).await?),
        Call::Trust { params, unasked } => Answer::Trust {
            output: client.call::<TrustGet>(&params).await?,
            params,
            unasked,
        },
        Call::Rules(params) => Answer::Rules(client.all::<RulesList>(params).await?),
        Call::Revoke(params) => Answer::Revoked {
            output: client.call::<RulesRevoke>(&params).await?,
            rule: params.rule,
        },
        Call::Reload(params) => Answer::Reloaded(client.call::<SessionReload>(&params).await?),
        Call::Compact(params) => compact(client, params).await?,
        Call::Export {
            session,
            file,
            format,
        } => export(client, &session, file, format, language).await?,
        Call::Preview { session } => preview(client, session).await?,
        Call::Earlier { session, before } => earlier(client, session, before).await?,
        Call::Output { session, call } => output(client, session, call).await?,
        Call::Prompt {
            ref params,
            renew,
            takeover,
            ref following,
        } => {
            if takeover {
                client.take_over(&params.session).await?;
            }
            let queued = client.prompt(params.clone(), renew).await?;
            match following.is_empty() {
                true => Answer::Done(call),
                false => Answer::QueuedAgain {
                    prompt: queued.prompt_id,
                    following: following.clone(),
                },
            }
        }
        Call::Shell(ref params) => done(client.call::<SessionShell>(params).await, call)?,
        Call::RestartServer(ref params) => done(client.call::<McpRestart>(params).await, call)?,
        Call::SetTrust(ref params) => done(client.call::<TrustSet>(params).await, call)?,
        Call::StartGoal(ref params) => done(client.call::<GoalStart>(params).await, call)?,
        Call::ChangeGoal(ref params) => done(client.call::<GoalChange>(params).await, call)?,
        Call::StopGoal(ref params) => done(client.call::<GoalStop>(params).await, call)?,
        Call::Pin(ref params) => done(client.call::<SessionPin>(params).await, call)?,
        Call::Signal(ref params) => match client.call::<SessionSignal>(params).await?.delivered {
            true => Answer::Done(call),
            false => Answer::NotDelivered(params.signal),
        },
        Call::ResumeWork(ref params) => done(client.call::<SessionResume>(params).await, call)?,
        Call::Set(params) => {
            let summary = Box::new(client.call::<SessionSet>(&params).await?);
            Answer::Set { params, summary }
        }
        Call::Answer(ref params) => done(client.call::<InteractionAnswer>(params).await, call)?,
        Call::Unqueue { ref params, .. } => {
            done(client.call::<SessionUnqueue>(params).await, call)?
        }
        Call::EditQueued(ref params) => done(client.call::<SessionEdit>(params).await, call)?,
        Call::Reorder(ref params) => done(client.call::<SessionReorder>(params).await, call)?,
        Call::KillProcess(pid) => {
            let params = KillParams { pid };
            done(client.call::<ProcessKill>(&params).await, call)?
        }
    })
}

fn done<T>(result: Result<T, CallError>, call: Call) -> Result<Answer, CallError> {
    result.map(|_| Answer::Done(call))
}

async fn create(client: &Client, params: CreateParams) -> Result<Answer, CallError> {
    let params = CreateParams {
        credentials: client.credentials().await,
        ..params
    };
    Ok(Answer::Created(
        client.call::<SessionCreate>(&params).await?,
    ))
}

/// Takes the prompts back that wait, then stops the turn. One that was sent meanwhile runs, and is stopped with it.
async fn interrupt(
    client: &Client,
    session: String,
    queue: Vec<QueuedPrompt>,
) -> Result<Answer, CallError> {
    let mut taken_back = Vec::new();
    for queued in queue {
        let params = UnqueueParams {
            session: session.clone(),
            prompt_id: queued.prompt_id,
        };
        if client.call::<SessionUnqueue>(&params).await.is_ok() {
            taken_back.push(Prompt {
                text: queued.text,
                untyped: queued.untyped,
            });
        }
    }
    let params = OneParams { session };
    let ran = client.call::<SessionInterrupt>(&params).await?.delivered;
    Ok(Answer::Interrupted {
        session: params.session,
        ran,
        taken_back,
    })
}

async fn models(client: &Client, params: ProviderListParams) -> Result<Answer, CallError> {
    Ok(Answer::Models {
        list: client.call::<ProviderList>(&params).await?,
        keys: client.credentials().await.into_keys().collect(),
    })
}

async fn waiting(client: &Client) -> Result<Answer, CallError> {
    let all = interaction::ListParams::default();
    let listed = client.call::<InteractionList>(&all).await?;
    Ok(Answer::Waiting(listed.interactions))
}

async fn checkpoints(client: &Client, session: String, undo: bool) -> Result<Answer, CallError> {
    let params = OneParams { session };
    let output = client.call::<SessionCheckpoints>(&params).await?;
    Ok(Answer::Checkpoints { undo, output })
}

/// The custom commands and the skills that a directory offers.
async fn menu_commands(client: &Client, params: command::ListParams) -> Result<Answer, CallError> {
    let mut output = client.call::<CommandList>(&params).await?;
    let params = skill::ListParams {
        cwd: params.cwd,
        session: params.session,
    };
    // A daemon of an earlier version has no skills.
    if let Ok(skills) = client.call::<SkillList>(&params).await {
        output.commands.extend(of_skills(skills.skills));
    }
    Ok(Answer::Commands(output))
}

async fn compact(client: &Client, params: CompactParams) -> Result<Answer, CallError> {
    let keyed = CompactParams {
        credentials: client.credentials().await,
        ..params.clone()
    };
    let output = client.call::<SessionCompact>(&keyed).await?;
    Ok(Answer::Compacted { params, output })
}

async fn export(
    client: &Client,
    session: &str,
    file: PathBuf,
    format: ExportFormat,
    language: Language,
) -> Result<Answer, ErrorReport> {
    match client.export_to_file(session, format, &file).await {
        Ok(bytes) => Ok(Answer::Exported { file, bytes }),
        Err(ExportError::Call(error)) => Err(error.into()),
        Err(ExportError::File(error)) => Err(unwritten(&file, &error, language)),
    }
}

/// The last events of a session.
async fn preview(client: &Client, session: String) -> Result<Answer, CallError> {
    let newest = client.session(&session).await?.seq;
    let from = newest.0.saturating_sub(PREVIEW - 1).max(1);
    let events = read(client, &session, Seq(from), PREVIEW).await?;
    Ok(Answer::Preview { session, events })
}

/// The page of events that ends before a record.
async fn earlier(client: &Client, session: String, before: Seq) -> Result<Answer, CallError> {
    let from = before.0.saturating_sub(PAGE).max(1);
    let count = before.0.saturating_sub(from);
    let events = read(client, &session, Seq(from), count).await?;
    Ok(Answer::Earlier { session, events })
}

async fn output(client: &Client, session: String, call: CallId) -> Result<Answer, CallError> {
    let text = client.output(&session, &call).await?;
    Ok(Answer::Output {
        session,
        call,
        text,
    })
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

/// A message on why a session was not written to a file.
fn unwritten(file: &Path, error: &std::io::Error, language: Language) -> ErrorReport {
    let name = client::text::line(&file.display().to_string());
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => ErrorReport::new(
            language.fill(Msg::ExportThere, &[&name]),
            language.say(Msg::ExportThereHint),
        ),
        _ => ErrorReport::new(format!("{name}: {error}"), String::new()),
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

/// The model of a session that names none, as `provider/model`; empty if unknown.
pub async fn default_model(client: &Client, cwd: &Path) -> String {
    let params = config::CheckParams {
        cwd: cwd.to_str().map(str::to_owned),
    };
    let listed = client.call::<ProviderList>(&params).await;
    let default = listed.ok().and_then(|listed| listed.default_model);
    default.unwrap_or_default()
}

#[cfg(test)]
mod tests;
