//! Open questions of the sub-agents below a session: whoever has that session open is asked them. The one place for all
//! clients.

use std::collections::HashSet;
use std::time::Duration;

use proto::Pid;
use proto::methods::{InteractionList, ProcessList, ProcessWait};
use proto::params::interaction::{self, Interaction};
use proto::params::process;
use proto::params::session::SessionSummary;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::call::{CallError, Client};

/// How long the daemon waits for a change: less than after what a client is told that it does not answer.
const WAIT_MS: u64 = 5_000;

/// How long after a list the next one is asked for, where sessions change all the time: with sub-agents, and without.
const GAPS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];

/// After a failure of a daemon that answers, it is asked again after this long.
const AGAIN: Duration = Duration::from_secs(5);

/// The pids of the sub-agents below a session, at any depth. `sessions`: by pid; a sub-agent is younger than its parent,
/// so its number is higher.
#[must_use]
pub fn below(sessions: &[SessionSummary], of: Pid) -> HashSet<Pid> {
    let mut found = HashSet::new();
    for session in sessions {
        if session.ppid == of || found.contains(&session.ppid) {
            found.insert(session.pid);
        }
    }
    found
}

/// The first sub-agent below a session that waits for the user.
#[must_use]
pub fn first_asking(sessions: &[SessionSummary], of: Pid) -> Option<Pid> {
    let below = below(sessions, of);
    let mut asking = sessions.iter().filter(|session| is_asking(session));
    let found = asking.find(|session| below.contains(&session.pid));
    found.map(|session| session.pid)
}

/// The open questions of sub-agents below a session, oldest first. `open`: those of all sessions.
#[must_use]
pub fn asked_below<'a>(
    sessions: &[SessionSummary],
    open: &'a [Interaction],
    of: Pid,
) -> Vec<&'a Interaction> {
    let below = below(sessions, of);
    let open = open.iter();
    open.filter(|open| below.contains(&open.session)).collect()
}

/// The open questions of all sessions. None is asked for if none of these sessions has one.
///
/// # Errors
/// The daemon refuses, or is gone.
pub async fn open_questions(
    client: &Client,
    sessions: &[SessionSummary],
) -> Result<Vec<Interaction>, CallError> {
    if !sessions.iter().any(is_asking) {
        return Ok(Vec::new());
    }
    let all = interaction::ListParams::default();
    Ok(client.call::<InteractionList>(&all).await?.interactions)
}

fn is_asking(session: &SessionSummary) -> bool {
    session.pending_interactions > 0
}

/// An open question of a sub-agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentQuestion {
    /// Name of the sub-agent's definition.
    pub agent: String,
    pub interaction: Interaction,
}

/// Watches the open questions of the sub-agents below one session, in a task of its own that ends with this.
#[derive(Debug)]
pub struct AgentQuestions {
    changes: mpsc::Receiver<Vec<AgentQuestion>>,
    task: JoinHandle<()>,
}

impl AgentQuestions {
    /// Begins to watch. It ends by itself when the connection is lost: a daemon that is gone is not started for it.
    #[must_use]
    pub fn watch(client: Client, of: Pid) -> Self {
        let (sender, changes) = mpsc::channel(1);
        let task = tokio::spawn(watch(client, of, sender));
        Self { changes, task }
    }

    /// All that are open, once that has changed. Cancel-safe; never returns after the connection was lost.
    pub async fn changed(&mut self) -> Vec<AgentQuestion> {
        match self.changes.recv().await {
            Some(open) => open,
            None => std::future::pending().await,
        }
    }
}

impl Drop for AgentQuestions {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reports all open questions whenever they have changed, until nobody takes them or the connection is lost.
async fn watch(client: Client, of: Pid, sender: mpsc::Sender<Vec<AgentQuestion>>) {
    let mut reported = Vec::new();
    loop {
        let (change, open, gap) = match list(&client, of).await {
            Ok(listed) => listed,
            Err(CallError::Failure(_) | CallError::Timeout { .. }) => {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            Err(_) => return,
        };
        if open != reported {
            reported.clone_from(&open);
            if sender.send(open).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(gap).await;
        let params = process::WaitParams {
            since: change,
            wait_ms: WAIT_MS,
        };
        // Whatever the answer: the list says how it is now.
        match client.call_if_connected::<ProcessWait>(&params).await {
            Ok(_) => {}
            Err(CallError::Failure(_) | CallError::Timeout { .. }) => {
                tokio::time::sleep(AGAIN).await;
            }
            Err(_) => return,
        }
    }
}

/// The number of the newest change, what is open, and how long to wait before the next list.
async fn list(client: &Client, of: Pid) -> Result<(u64, Vec<AgentQuestion>, Duration), CallError> {
    let params = process::ListParams {
        below: Some(of),
        ..process::ListParams::default()
    };
    let listed = client.call_if_connected::<ProcessList>(&params).await?;
    let sessions = listed.processes;
    let open = match sessions.iter().any(is_asking) {
        true => {
            let all = interaction::ListParams::default();
            let listed = client.call_if_connected::<InteractionList>(&all);
            listed.await?.interactions
        }
        false => Vec::new(),
    };
    let of_agent = |interaction: Interaction| {
        let mut agents = sessions.iter();
        let asks = agents.find(|agent| agent.pid == interaction.session)?;
        Some(AgentQuestion {
            agent: asks.agent.clone().unwrap_or_default(),
            interaction,
        })
    };
    let open = open.into_iter().filter_map(of_agent).collect();
    let gap = match sessions.is_empty() {
        true => GAPS[1],
        false => GAPS[0],
    };
    Ok((listed.change, open, gap))
}
