//! The end of the daemon, in two phases: first the sessions stop and are written, then processes, clients and socket go.
//!
//! All of it has one deadline, of which each step gets a part and leaves the rest to the later ones. Called once, by
//! `lifecycle`.

use std::time::Duration;

use session::Supervisor;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::gate::{Gate, ShutdownReason};

/// From the request to the end (docs/contract/10-protocol.md, life of the daemon).
pub const END_MAX: Duration = Duration::from_secs(10);
/// How long turns may take to come to a safe point before a hand-over.
const SAFE_POINT: Duration = Duration::from_secs(5);
/// Sessions get this long to stop running work and to write pending records.
const SESSIONS: Duration = Duration::from_secs(6);
/// The time reserved for the processes if sessions are slow.
const PROCESSES_KEPT: Duration = Duration::from_millis(1_200);
/// From TERM to KILL for processes that are left, and how much of their time that may be.
const GRACE: Duration = Duration::from_secs(1);
/// Until nothing of the processes is left.
const PROCESSES: Duration = Duration::from_secs(3);
/// The time reserved for the clients and the runtime.
const CLIENTS_KEPT: Duration = Duration::from_millis(400);
/// Until clients have their last answers.
const CLIENTS: Duration = Duration::from_secs(2);
/// Work that blocks and does not end (a hung file system) must not keep the process.
pub const RUNTIME_KEPT: Duration = Duration::from_millis(200);

/// How much of the time is left.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    due: Instant,
}

impl Budget {
    pub fn new(all: Duration) -> Self {
        Self {
            due: Instant::now() + all,
        }
    }

    /// A step's part: at most `most`, and `kept` stays for later steps.
    pub fn part(self, most: Duration, kept: Duration) -> Duration {
        let left = self.due.saturating_duration_since(Instant::now());
        left.saturating_sub(kept).min(most)
    }
}

/// Ends everything, at the latest when the budget is used up. If asked to hurry, it waits for nothing that can be left to
/// the next start.
pub async fn end(
    leave: ShutdownReason,
    gate: &Gate,
    supervisor: &Supervisor,
    procs: &procs::Procs,
    budget: Budget,
) {
    tokio::select! {
        () = sessions(leave, gate, supervisor, budget) => {}
        () = gate.hurried() => tracing::warn!("in haste: what did not end is recovered at the next start"),
    }
    let part = budget.part(PROCESSES, CLIENTS_KEPT);
    let grace = tokio::select! {
        biased;
        () = gate.hurried() => Duration::ZERO,
        () = std::future::ready(()) => GRACE.min(part / 2),
    };
    let grace = u64::try_from(grace.as_millis()).unwrap_or(0);
    let gone = async {
        tokio::select! {
            () = procs.shutdown(grace) => {}
            () = gate.hurried() => procs.shutdown(0).await,
        }
    };
    if timeout(part, gone).await.is_err() {
        tracing::error!("processes of tools are left that the kernel does not end");
    }
}

async fn sessions(leave: ShutdownReason, gate: &Gate, supervisor: &Supervisor, budget: Budget) {
    if leave == ShutdownReason::HomeGone {
        // Their logs have no names any more, and their markers may be another home's: nothing is written.
        return;
    }
    let kept = PROCESSES_KEPT + CLIENTS_KEPT;
    if leave == ShutdownReason::HandOver {
        let patience = budget.part(SAFE_POINT, kept);
        let mut asked = gate.asked();
        tokio::select! {
            // Those that are not there by then are stopped, within the rest of the time.
            _ = timeout(budget.part(END_MAX, kept), supervisor.hand_over(patience)) => {}
            // Somebody cannot wait that long.
            _ = asked.wait_for(|leave| *leave >= Some(ShutdownReason::Now)) => {}
        }
    }
    let part = budget.part(SESSIONS, kept);
    if timeout(part, supervisor.shutdown()).await.is_err() {
        tracing::warn!("some sessions did not end in time; they are recovered at the next start");
    }
}

/// Closes the door: clients get the answers that are nearly ready, and the socket goes.
pub async fn close(stop: &CancellationToken, serving: JoinHandle<()>, budget: Budget) {
    stop.cancel();
    let part = budget.part(CLIENTS, RUNTIME_KEPT);
    // Whoever is not served by then learns it by the end of the connection.
    let _ = timeout(part, serving).await;
}

/// Waits for refreshes of logins that are on their way: an answer may hold the only token that still counts.
pub async fn finish_login_refreshes(logins: &mcp::Logins, budget: Budget) {
    let part = budget.part(CLIENTS, RUNTIME_KEPT);
    if timeout(part, logins.refreshes_ended()).await.is_err() {
        tracing::warn!(
            "a refresh of a login to an MCP server is given up: it may have to be done again"
        );
    }
}

/// Ends the process where its orderly end does not come: a thread that hangs must not make a stop last for ever.
pub fn guard() {
    let guard = std::thread::Builder::new().name("end".into());
    let spawned = guard.spawn(|| {
        std::thread::sleep(END_MAX);
        tracing::error!(
            "the end took too long; what was not written is recovered at the next start"
        );
        std::process::exit(1);
    });
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread to guard the end");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_parts_never_come_to_more_than_the_whole() {
        let begun = Instant::now();
        let budget = Budget::new(END_MAX);
        let kept = PROCESSES_KEPT + CLIENTS_KEPT;
        // Each step takes all that it is given.
        tokio::time::sleep(budget.part(SAFE_POINT, kept)).await;
        let sessions = budget.part(SESSIONS, kept);
        // Calls that no hand-over could wait for have their two seconds between TERM and KILL.
        assert!(sessions >= Duration::from_millis(2_300), "{sessions:?}");
        tokio::time::sleep(sessions).await;
        let processes = budget.part(PROCESSES, CLIENTS_KEPT);
        assert!(
            processes >= PROCESSES_KEPT - Duration::from_millis(5),
            "{processes:?}"
        );
        tokio::time::sleep(processes).await;
        let clients = budget.part(CLIENTS, RUNTIME_KEPT);
        assert!(clients > Duration::ZERO);
        tokio::time::sleep(clients).await;
        assert!(begun.elapsed() + RUNTIME_KEPT <= END_MAX + Duration::from_millis(5));
        tokio::time::sleep(END_MAX).await;
        assert_eq!(budget.part(SESSIONS, kept), Duration::ZERO);
    }
}
