//! What starts with the daemon: the goals and MCP servers of `[[autostart]]` (contract, chapter 70).
//!
//! The session of a goal follows from its entry's name, directory and text: a later daemon finds it again, goes on with
//! it if it has not ended, and never starts it twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcp::{Server, ServerConfig, Servers};
use proto::params::config::{Check, CheckLevel};
use proto::params::goal::{StartParams, StopParams};
use proto::params::session::CreateParams;
use proto::state::Kind;
use proto::{Failure, RequestId, SessionId, SessionOptions};
use session::{Client, ProfileChoice, SessionHandle};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use crate::daemon::Daemon;
use crate::gate::AdmissionGuard;
use crate::settings::Loaded;
use crate::settings::autostart::{Autostart, AutostartAction, AutostartEntry, AutostartGoal};
use session::tasks::{self, blocking};

/// How long clients wait for entries that are required. One that takes longer is reported like any other: a client waits
/// 5 s for a daemon.
const REQUIRED_MAX: Duration = Duration::from_secs(3);

/// Name of the client that starts goals.
const CLIENT: &str = "autostart";

/// The outcome of an entry.
struct Outcome {
    entry: AutostartEntry,
    result: Result<(), String>,
}

/// Looks for required entries that cannot start, before anything is recovered or started. Blocks.
///
/// # Errors
/// There is one: its file and line, and why.
pub fn check(loaded: &Loaded, user_home: &Path) -> Result<(), String> {
    if let Some(problem) = loaded.autostart.refused.first() {
        return Err(refusal(problem));
    }
    let required = loaded
        .autostart
        .entries
        .iter()
        .filter(|entry| entry.required);
    for entry in required {
        look(entry, &loaded.servers, user_home).map_err(|why| refusal(&problem(entry, &why)))?;
    }
    Ok(())
}

/// What can be known of an entry without starting it. Blocks.
fn look(entry: &AutostartEntry, servers: &Servers, user_home: &Path) -> Result<(), String> {
    let dir = match &entry.what {
        AutostartAction::Goal(goal) => &goal.dir,
        AutostartAction::Server { name, dir } => {
            configured(servers, name)?;
            dir.as_deref().unwrap_or(user_home)
        }
    };
    match dir.is_dir() {
        true => Ok(()),
        false => Err(format!("the directory `{}` does not exist", dir.display())),
    }
}

/// The server of this name that the user has configured.
fn configured<'a>(servers: &'a Servers, name: &str) -> Result<&'a ServerConfig, String> {
    let mut all = servers.servers.iter();
    let Some(config) = all.find(|config| config.name == name) else {
        let known: Vec<_> = servers.servers.iter().map(|config| &*config.name).collect();
        return Err(match known.as_slice() {
            [] => format!("you have configured no MCP server `{name}`"),
            known => format!(
                "you have configured no MCP server `{name}`, only {}",
                known.join(", ")
            ),
        });
    };
    match (config.enabled, config.shared) {
        (false, _) => Err(format!("the MCP server `{name}` is disabled")),
        (true, false) => Err(format!(
            "the MCP server `{name}` has `shared = false`: each session starts its own"
        )),
        (true, true) => Ok(config),
    }
}

/// An entry that did not start, with its file and line.
fn problem(entry: &AutostartEntry, why: &str) -> String {
    format!(
        "{}: the autostart entry `{}` did not start: {why}",
        entry.place, entry.name
    )
}

/// Why the daemon does not start, and what to do.
fn refusal(problem: &str) -> String {
    format!("{problem}. It is required: correct or remove it, or set `required = false`")
}

/// Starts all entries. Returns once the required ones have started, or after [`REQUIRED_MAX`]; the others go on in the
/// background. The servers are kept running for as long as they are held.
///
/// # Errors
/// A required one did not start: its file and line, and why.
pub async fn begin(daemon: &Arc<Daemon>, loaded: &Loaded) -> Result<Vec<Arc<Server>>, String> {
    let Autostart { entries, .. } = &loaded.autostart;
    // A daemon that is to stop starts nothing new.
    let Ok(guest) = daemon.gate.work() else {
        return Ok(Vec::new());
    };
    let (report, mut reports) = mpsc::unbounded_channel();
    let mut kept = Vec::new();
    let mut goals = Vec::new();
    for entry in entries {
        let (asked, servers) = (entry.clone(), loaded.servers.clone());
        let user_home = daemon.user_home.clone();
        let looked = blocking(move || look(&asked, &servers, &user_home)).await;
        if let Err(why) = looked.map_err(|failure| failure.message).flatten() {
            let (entry, result) = (entry.clone(), Err(why));
            let _ = report.send(Outcome { entry, result });
            continue;
        }
        match &entry.what {
            AutostartAction::Goal(goal) => goals.push((entry.clone(), goal.clone())),
            AutostartAction::Server { name, dir } => {
                let dir = dir.clone().unwrap_or_else(|| daemon.user_home.clone());
                let server = daemon.mcp.server(configured(&loaded.servers, name)?, &dir);
                kept.push(Arc::clone(&server));
                let (entry, report) = (entry.clone(), report.clone());
                tasks::spawn(async move {
                    let result = server.started().await;
                    // Nobody is left to be told: the daemon ends.
                    let _ = report.send(Outcome { entry, result });
                });
            }
        }
    }
    goals.sort_by_key(|(entry, _)| !entry.required);
    tasks::spawn(start_goals(Arc::clone(daemon), goals, guest, report));
    let mut left = entries.iter().filter(|entry| entry.required).count();
    let mut problems = Vec::new();
    let due = tokio::time::Instant::now() + REQUIRED_MAX;
    while left > 0 {
        let Ok(Some(outcome)) = tokio::time::timeout_at(due, reports.recv()).await else {
            break;
        };
        left -= usize::from(outcome.entry.required);
        if let (true, Err(why)) = (outcome.entry.required, &outcome.result) {
            return Err(refusal(&problem(&outcome.entry, why)));
        }
        note(daemon, outcome, &mut problems);
    }
    let weak = Arc::downgrade(daemon);
    tasks::spawn(async move {
        while let Some(outcome) = reports.recv().await {
            let Some(daemon) = weak.upgrade() else { return };
            note(&daemon, outcome, &mut problems);
        }
    });
    Ok(kept)
}

/// Says how an entry started: in the log, and if it did not, in the daemon's status.
fn note(daemon: &Daemon, outcome: Outcome, problems: &mut Vec<String>) {
    let name = &outcome.entry.name;
    match outcome.result {
        Ok(()) => tracing::info!(name, "autostart: started"),
        Err(why) => {
            let problem = problem(&outcome.entry, &why);
            tracing::warn!("{problem}");
            problems.push(format!("{problem}."));
            daemon.problems.set("autostart", Some(problems.join(" ")));
        }
    }
}

/// One after the other, so that their numbers are in the order of the config. The guest keeps the daemon until then.
async fn start_goals(
    daemon: Arc<Daemon>,
    goals: Vec<(AutostartEntry, Box<AutostartGoal>)>,
    _guest: AdmissionGuard,
    report: mpsc::UnboundedSender<Outcome>,
) {
    for (entry, goal) in goals {
        let started = start_goal(&daemon, &entry.name, &goal).await;
        let result = started.map_err(|failure| {
            let whole = format!("{} {}", failure.message, failure.hint);
            whole.trim_end().trim_end_matches('.').to_owned()
        });
        // Nobody is left to be told: the daemon ends.
        let _ = report.send(Outcome { entry, result });
    }
}

/// Starts a goal, unless an earlier daemon did. Then it goes on by itself if it has not ended.
async fn start_goal(daemon: &Arc<Daemon>, name: &str, goal: &AutostartGoal) -> Result<(), Failure> {
    let session = session_of(name, goal);
    let client = Client {
        name: CLIENT.to_owned(),
    };
    let label = format!("{}{name}", session::AUTOSTART_LABEL);
    let params = CreateParams {
        session,
        cwd: goal.dir.to_string_lossy().into_owned(),
        env: environment(daemon).await?,
        options: SessionOptions {
            kind: Some(Kind::Headless),
            labels: Some(vec![label.clone()]),
            ..goal.options.clone()
        },
        ..CreateParams::default()
    };
    let supervisor = &daemon.supervisor;
    supervisor
        .create(params, &client, &ProfileChoice::default())
        .await?;
    for other in supervisor.handles() {
        if other.id() != session && other.summary().labels.contains(&label) {
            stop_goal(&other).await?;
        }
    }
    let params = StartParams {
        session: session.to_string(),
        text: goal.text.clone(),
        max_turns: goal.max_turns,
        check: goal.check.clone(),
        research: None,
        // The same for every daemon: a goal that was started is not started again.
        request_id: Some(RequestId(session.0)),
    };
    let handle = daemon.session(&params.session).await?;
    handle.start_goal(params, client.name).await?;
    Ok(())
}

/// Ends a goal that the entry had before.
async fn stop_goal(session: &SessionHandle) -> Result<(), Failure> {
    if session.summary().goal.is_none() {
        return Ok(());
    }
    let params = StopParams {
        session: session.id().to_string(),
        request_id: None,
    };
    session.stop_goal(params, CLIENT.to_owned()).await?;
    Ok(())
}

/// The session of a goal.
fn session_of(name: &str, goal: &AutostartGoal) -> SessionId {
    let mut hasher = Sha256::new();
    for part in [CLIENT, name, &goal.dir.to_string_lossy(), &goal.text] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    SessionId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// The environment of the tools: the daemon's, without secrets and what is ours.
async fn environment(daemon: &Arc<Daemon>) -> Result<BTreeMap<String, String>, Failure> {
    let asked = Arc::clone(daemon);
    let settings = blocking(move || (asked.key_variables(), asked.settings(None).settings.pass));
    let (keys, pass) = settings.await?;
    let own = |name: &str| name.starts_with("REASONIX_") || name.starts_with("MALLOC_");
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(variables
        .filter(|(name, value)| !own(name) && !proto::held_back(name, value, &keys, &pass))
        .collect())
}

/// What `doctor` says of each entry.
pub async fn checks(daemon: &Daemon, loaded: &Loaded) -> Vec<Check> {
    let mut checks = Vec::new();
    for entry in &loaded.autostart.entries {
        let (level, text, hint) = match &entry.what {
            AutostartAction::Goal(goal) => of_goal(daemon, &entry.name, goal).await,
            AutostartAction::Server { name, dir } => {
                let dir = dir.as_deref().unwrap_or(&daemon.user_home);
                of_server(daemon, &loaded.servers, name, dir)
            }
        };
        checks.push(Check {
            name: format!("autostart {}", entry.name),
            level,
            text: match level {
                CheckLevel::Ok => text,
                CheckLevel::Warning | CheckLevel::Failed => format!("{}: {text}", entry.place),
            },
            hint: hint.to_owned(),
        });
    }
    checks
}

/// What makes an entry start that has not.
const START_AGAIN: &str = "`reasonix daemon restart` tries again.";

async fn of_goal(
    daemon: &Daemon,
    entry: &str,
    goal: &AutostartGoal,
) -> (CheckLevel, String, &'static str) {
    let session = session_of(entry, goal).to_string();
    match daemon.supervisor.summary(&session).await {
        Ok(summary) => {
            let state = match summary.goal {
                Some(_) => "the goal goes on",
                None => "the goal has ended",
            };
            let text = format!("session {}, {state}", summary.pid);
            (CheckLevel::Ok, text, "")
        }
        Err(_) => (CheckLevel::Warning, "not started".to_owned(), START_AGAIN),
    }
}

fn of_server(
    daemon: &Daemon,
    servers: &Servers,
    name: &str,
    dir: &Path,
) -> (CheckLevel, String, &'static str) {
    let config = match configured(servers, name) {
        Ok(config) => config,
        Err(why) => return (CheckLevel::Warning, why, START_AGAIN),
    };
    let Some(server) = daemon.mcp.find(config, dir) else {
        return (CheckLevel::Warning, "not started".to_owned(), START_AGAIN);
    };
    let state = server.state();
    let text = format!("the MCP server `{name}` is {}", state.word());
    match state.reason() {
        None => (CheckLevel::Ok, text, ""),
        Some(reason) => (
            CheckLevel::Warning,
            format!("{text}: {}", contract::scrub(reason)),
            "`reasonix mcp logs NAME` shows its output, `reasonix mcp restart NAME` starts it again.",
        ),
    }
}

#[cfg(test)]
mod tests;
