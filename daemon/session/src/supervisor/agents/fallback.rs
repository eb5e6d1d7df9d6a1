//! Fallback agents: after a sub-agent has failed, the agent that its definition names works on the same task, once.
//!
//! The session of a fallback follows from the call and the number of the attempt, so a call that is run again after a
//! crash finds every sub-agent that it had.

use contract::tool::{Cancel, Progress};
use contract::{AgentSkill, AgentTask, Outcome};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::CallStatus;
use proto::outcome::{Denied, OutcomeKind, Reason, TurnEnded};
use proto::params::session::{ReadParams, WaitOutput};
use proto::record::{Level, Notice};
use proto::{Body, CallId, Failure, Seq, SessionId};

use super::life::{AgentWork, Started, failed, outcome_of, why_ended};
use crate::supervisor::Supervisor;

/// Sub-agents of one call at most: definitions may change while it runs.
const ATTEMPTS_MAX: u32 = 8;
/// Records in which the task of a sub-agent is looked for.
const FIRST_RECORDS: u64 = 64;

/// How a sub-agent ended.
pub(super) struct AgentEnd {
    pub outcome: Outcome,
    /// Why it failed, if its fallback may work on the task.
    pub failure: Option<String>,
    /// What became of its worktree.
    pub worktree: Option<String>,
    pub denials: Denials,
}

/// Calls of a sub-agent that were denied because no client could approve them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Denials {
    pub denied: Vec<Denied>,
    /// One of them ended its work.
    pub blocked: bool,
}

impl Denials {
    fn of(ended: &TurnEnded) -> Self {
        Self {
            denied: ended.denied.clone(),
            blocked: (ended.outcome, ended.reason) == (OutcomeKind::Blocked, Some(Reason::Denied)),
        }
    }
}

/// A sub-agent of a call that failed, so that its fallback worked.
pub(super) struct FailedAgent {
    pub agent: String,
    pub why: String,
    /// What became of its worktree.
    pub worktree: Option<String>,
}

impl AgentEnd {
    /// Of a sub-agent that could not start.
    pub fn not_started(outcome: Outcome) -> Self {
        let failure = match outcome.status {
            CallStatus::Failed => Some(outcome.text.trim_end_matches('.').to_owned()),
            _ => None,
        };
        Self {
            failure,
            ..Self::without_failure(outcome)
        }
    }

    /// Of one that was stopped, or goes on in the background.
    pub fn without_failure(outcome: Outcome) -> Self {
        Self {
            outcome,
            failure: None,
            worktree: None,
            denials: Denials::default(),
        }
    }

    /// Of one that worked.
    pub fn of(agent: &str, ended: Result<WaitOutput, Failure>) -> Self {
        match ended {
            Ok(waited) => Self {
                failure: waited.ended.as_ref().and_then(failure_of),
                denials: waited.ended.as_ref().map(Denials::of).unwrap_or_default(),
                ..Self::without_failure(outcome_of(agent, &waited))
            },
            Err(failure) => Self::not_started(failed(&failure)),
        }
    }
}

/// Why a turn failed in a way that another agent may not; `None`: it did its work, or was stopped by a user, a denial or
/// a budget, which hold for every agent.
fn failure_of(ended: &TurnEnded) -> Option<String> {
    let fails = match (ended.outcome, ended.reason) {
        (OutcomeKind::Failed | OutcomeKind::ContextFull | OutcomeKind::MaxSteps, _)
        | (OutcomeKind::Blocked, Some(Reason::Loop)) => true,
        (OutcomeKind::Completed, _) => ended.text.trim().is_empty(),
        (
            OutcomeKind::Blocked
            | OutcomeKind::BudgetExceeded
            | OutcomeKind::Interrupted
            | OutcomeKind::Killed,
            _,
        ) => false,
    };
    fails.then(|| why_ended(ended))
}

/// The outcome of a call for the parent's model: it names the agents that failed, and the one that answered.
pub(super) fn with_failures(outcome: Outcome, agent: &str, before: &[FailedAgent]) -> Outcome {
    if before.is_empty() {
        return outcome;
    }
    let mut text = String::new();
    for failed in before {
        let why = failed.why.trim_end_matches('.');
        text.push_str(&format!("The agent `{}` failed: {why}.", failed.agent));
        let worktree = failed.worktree.as_ref();
        text.push_str(&worktree.map_or_else(|| " ".to_owned(), |text| format!("\n{text}\n")));
    }
    text.push_str(&format!(
        "The fallback agent `{agent}` worked on the same task:\n\n{}",
        outcome.text
    ));
    Outcome { text, ..outcome }
}

/// Stops nothing.
pub(super) struct NeverCancelled;

impl Cancel for NeverCancelled {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }
}

/// Nobody sees how far it has come but those who look at its session.
pub(super) struct Unseen;

impl Progress for Unseen {
    fn output(&self, _text: &str) {}
}

impl Supervisor {
    /// The work of the fallback of an agent, as its definition is now. `None`: it has none.
    pub(super) async fn fallback_of(&self, work: &AgentWork) -> Option<AgentWork> {
        if work.attempt + 1 >= ATTEMPTS_MAX {
            return None;
        }
        let parent = self.load(work.parent).await.ok()?;
        let terms = parent.read(|actor| actor.agent_terms()).await.ok()??;
        let (found, _) = self.definitions(&terms).await.ok()?;
        let fallback = found.named(&work.task.agent)?.fallback.clone()?;
        let mut next = work.clone();
        next.attempt += 1;
        next.task.agent = fallback;
        // The model of the agent that failed may be what failed.
        if let Some(skill) = &mut next.task.skill {
            skill.model = None;
        }
        Some(next)
    }

    /// Notifies users of the parent that a fallback works, once.
    pub(super) async fn report_fallback(
        &self,
        work: &AgentWork,
        started: &Started,
        failed_before: &[FailedAgent],
    ) {
        let Some(failed) = failed_before.last().filter(|_| started.is_new) else {
            return;
        };
        let notice = Notice {
            level: Level::Warning,
            text: format!(
                "The agent `{}` failed, so its fallback `{}` works on the task as session {}: {}.",
                failed.agent,
                work.task.agent,
                started.handle.pid(),
                failed.why.trim_end_matches('.')
            ),
        };
        if let Ok(parent) = self.load(work.parent).await {
            // A log that takes no records has no use for it.
            let _ = parent.read(|actor| actor.note(Body::Notice(notice))).await;
        }
    }

    /// The work of a sub-agent in the background, from its log. `None`: its log does not say it.
    pub(super) async fn work_of(
        &self,
        (parent, call): (SessionId, &CallId),
        session: SessionId,
        agent: &str,
    ) -> Option<AgentWork> {
        let handle = self.load(session).await.ok()?;
        let first = ReadParams {
            session: handle.pid().to_string(),
            from_seq: Seq(1),
            limit: FIRST_RECORDS,
        };
        let first = self.read(&first).await.ok()?;
        let prompt = first.events.iter().find_map(|event| match event.body() {
            Ok(Body::PromptQueued(prompt)) => Some(prompt),
            _ => None,
        })?;
        let skill = prompt.references.and_then(|references| {
            let used = references.skill?;
            Some(AgentSkill {
                text: references.text,
                used,
                model: None,
            })
        });
        let attempt = (0..ATTEMPTS_MAX)
            .find(|attempt| super::session_at(parent, call, *attempt) == session)?;
        Some(AgentWork {
            parent,
            call: call.clone(),
            task: AgentTask {
                agent: agent.to_owned(),
                description: String::new(),
                prompt: prompt.text,
                skill,
                background: true,
            },
            attempt,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_is_told_who_failed_and_who_answered() {
        let answer = Outcome::with_status(CallStatus::Ok, "It is blue.");
        let told = with_failures(answer.clone(), "one", &[]);
        assert_eq!(told.text, "It is blue.");
        let before = [FailedAgent {
            agent: "one".to_owned(),
            why: "its model is down.".to_owned(),
            worktree: None,
        }];
        let told = with_failures(answer, "two", &before);
        assert_eq!(
            told.text,
            "The agent `one` failed: its model is down. The fallback agent `two` worked on the same task:\n\nIt is blue."
        );
        assert_eq!(told.status, CallStatus::Ok);
    }
}
