//! Signals to sessions: what `kill`, `pause` and `resume` share.

use client::{CallError, Client};
use proto::methods::{ProcessKill, ProcessList, SessionSignal};
use proto::params::process::{KillParams, ListParams};
use proto::params::session::{Signal, SignalOutput, SignalParams};
use proto::{ErrorName, Failure, Pid, RequestId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::exit::{self, Error};
use crate::messages::running::Msg;
use crate::output;
use crate::text;

/// What came of it for one session, as `--json` prints it.
#[derive(Serialize, JsonSchema)]
pub struct Sent {
    /// As it was named.
    pub session: String,
    /// Whether there was anything to do.
    pub delivered: bool,
    /// With `--tree`: the sub-agents that were paused or resumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Pid>,
    /// Why it could not be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

impl Sent {
    /// What an answer means for that session.
    pub fn of(session: &str, answer: Result<bool, &Error>) -> Self {
        Self {
            session: session.to_owned(),
            delivered: answer.unwrap_or(false),
            agents: Vec::new(),
            error: answer.err().map(Error::describe),
        }
    }
}

/// Sends it to each, also if one of them does not exist; `tree`: with the sub-agents below it. Returns the exit code:
/// that of the last that failed.
///
/// # Errors
/// `json`, and standard output does not take it.
pub async fn send(
    client: &Client,
    sessions: Vec<String>,
    signal: Signal,
    (tree, json): (bool, bool),
) -> Result<u8, Error> {
    let mut code = 0;
    for session in sessions {
        let params = SignalParams {
            session: session.clone(),
            signal,
            tree,
            request_id: Some(RequestId::new()),
        };
        let answer = delivered(client, &params).await.map_err(Error::from);
        if json {
            let delivered = answer.as_ref().map(|answer| answer.delivered);
            let agents = answer.as_ref().map(|answer| answer.agents.clone());
            output::json(&Sent {
                agents: agents.unwrap_or_default(),
                ..Sent::of(&session, delivered)
            })?;
        }
        match answer {
            Ok(answer) if answer.delivered => done(signal, &session, &answer.agents),
            Ok(_) => {
                let words = nothing(signal, &session);
                output::progress(&format!("{}: {words}", text::line(&session)));
            }
            Err(error) => code = exit::tell(&error, false),
        }
    }
    Ok(code)
}

/// Sends it; a number that is not a session may be that of a command in the background, which can be stopped.
async fn delivered(client: &Client, params: &SignalParams) -> Result<SignalOutput, CallError> {
    let command = |delivered| SignalOutput {
        delivered,
        agents: Vec::new(),
    };
    let refusal = match client.call::<SessionSignal>(params).await {
        Ok(answer) => return Ok(answer),
        Err(CallError::Failure(failure)) if failure.name == ErrorName::NotFound => failure,
        Err(error) => return Err(error),
    };
    let Ok(pid) = params.session.parse().map(Pid) else {
        return Err(CallError::Failure(refusal));
    };
    match params.signal {
        Signal::Int | Signal::Term | Signal::Kill => {
            match client.call::<ProcessKill>(&KillParams { pid }).await {
                Ok(answer) if answer.delivered => Ok(command(true)),
                Ok(_) if is_command(client, pid).await? => Ok(command(false)),
                Ok(_) => Err(neither(pid).into()),
                // It is neither: the failure about sessions is the better answer.
                Err(CallError::Failure(failure))
                    if matches!(
                        failure.name,
                        ErrorName::NotFound | ErrorName::ProtocolMismatch
                    ) =>
                {
                    Err(CallError::Failure(refusal))
                }
                Err(error) => Err(error),
            }
        }
        Signal::Pause | Signal::Resume => Err(match is_command(client, pid).await {
            Ok(true) => only_sessions(pid).into(),
            Ok(false) | Err(_) => CallError::Failure(refusal),
        }),
    }
}

/// Whether a command in the background has this number.
async fn is_command(client: &Client, pid: Pid) -> Result<bool, CallError> {
    let all = ListParams {
        all: true,
        ..ListParams::default()
    };
    let children = client.call::<ProcessList>(&all).await?.children;
    Ok(children.iter().any(|child| child.pid == Some(pid)))
}

fn neither(pid: Pid) -> Failure {
    Failure::new(
        ErrorName::NotFound,
        say!(Msg::NoSuchPid, pid),
        say!(Msg::PsLists),
    )
}

fn only_sessions(pid: Pid) -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        say!(Msg::IsBackground, pid),
        say!(Msg::KillStops, pid),
    )
}

/// Says what holds from now on; stopping prints nothing, like `kill`.
fn done(signal: Signal, session: &str, agents: &[Pid]) {
    let session = text::line(session);
    let pids: Vec<_> = agents.iter().map(ToString::to_string).collect();
    match signal {
        Signal::Int | Signal::Term | Signal::Kill => {}
        Signal::Pause if pids.is_empty() => output::progress(&say!(Msg::Paused, session)),
        Signal::Resume if pids.is_empty() => output::progress(&say!(Msg::Resumed, session)),
        Signal::Pause => output::progress(&say!(Msg::PausedTree, session, pids.join(", "))),
        Signal::Resume => output::progress(&say!(Msg::ResumedTree, session, pids.join(", "))),
    }
}

/// The message if there was nothing to do.
fn nothing(signal: Signal, session: &str) -> String {
    match signal {
        Signal::Int | Signal::Term | Signal::Kill => say!(Msg::NothingToStop).to_owned(),
        Signal::Pause => say!(Msg::AlreadyPaused).to_owned(),
        Signal::Resume => say!(Msg::NotPaused, text::line(session)),
    }
}
