//! The planner of a session: a session of its own that lasts as long as the conversation, and gets each prompt that is to
//! be planned.
//!
//! Its id follows from its parent, the model and the round, and each of its prompts has an id that follows from the
//! parent's prompt. So a plan that is asked for again after a crash costs nothing again.

use std::sync::Arc;
use std::time::Instant;

use contract::tool::Cancel;
use contract::{AgentTask, PlanRequest};
use knowledge::planner_definition;
use proto::outcome::OutcomeKind;
use proto::params::session::{WaitOutput, When};
use proto::record::{AgentFinished, PlannerFinished, PlanningOutcome, PromptQueued};
use proto::{CallId, Failure, PromptId, RequestId, SessionId};

use super::fallback::Unseen;
use super::life::{AgentWork, Started, why_ended};
use super::order::order;
use super::{client_of, hashed};
use crate::actor::commands::agents::AgentTerms;
use crate::actor::planner::{PLANNER, PLANNER_CALL};
use crate::assembly::agent_models::AgentModels;
use crate::calls::events::CallEvent;
use crate::reporter::Reporter;
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

/// Bytes of a plan. A longer one is cut: it would crowd out the work.
const PLAN_BYTES_MAX: usize = 24 * 1024;

/// A plan that a session waits for.
struct Planning<'a> {
    parent: SessionId,
    session: SessionId,
    request: &'a PlanRequest,
    cancel: Arc<dyn Cancel>,
    reporter: Reporter<CallEvent>,
}

/// The session that plans for another one. Another model is another planner: its prefix would not fit.
fn planner_session(parent: SessionId, request: &PlanRequest) -> SessionId {
    let round = request.round.to_le_bytes();
    let parts = [
        parent.0.as_bytes().as_slice(),
        PLANNER_CALL.as_bytes(),
        &round,
        request.model.as_bytes(),
    ];
    SessionId(hashed(&parts))
}

/// The request id of the planner's prompt for this turn.
fn prompt_request(session: SessionId, request: &PlanRequest) -> RequestId {
    let turn = request.turn.to_le_bytes();
    let prompt = request.prompt_id.map(|id| id.to_string());
    let prompt = prompt.unwrap_or_default();
    RequestId(hashed(&[session.0.as_bytes(), &turn, prompt.as_bytes()]))
}

impl Supervisor {
    /// Has the planner of a session make a plan, and reports what it used.
    pub(super) async fn plan(
        &self,
        (parent, reporter): (SessionId, Reporter<CallEvent>),
        request: &PlanRequest,
        cancel: Arc<dyn Cancel>,
    ) -> PlannerFinished {
        let since = Instant::now();
        let planning = Planning {
            parent,
            session: planner_session(parent, request),
            request,
            cancel,
            reporter,
        };
        let finished = self.run_planner(&planning).await;
        PlannerFinished {
            duration_ms: u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..finished
        }
    }

    async fn run_planner(&self, planning: &Planning<'_>) -> PlannerFinished {
        let request = planning.request;
        let started = match self.start_planner(planning).await {
            Ok(started) => started,
            Err(why) => return request.failed(why),
        };
        // Its parent may have been narrowed since it planned last.
        self.narrow_agents(planning.parent).await;
        let pid = started.handle.pid();
        let ended = tokio::select! {
            ended = self.agent_ended(planning.session, &Unseen) => Some(ended),
            () = planning.cancel.cancelled() => None,
        };
        if ended.is_none() {
            self.stop_agent(planning.session, planning.cancel.grace_ms())
                .await;
        }
        self.exit_agent(planning.session).await;
        planning
            .reporter
            .report(CallEvent::AgentFinished(AgentFinished {
                call: CallId(PLANNER_CALL.to_owned()),
                session: planning.session,
                pid,
                agent: PLANNER.to_owned(),
                spent: self.spent_by_agent(planning.parent, planning.session).await,
                // It only reads: nothing of it is asked.
                denied: Vec::new(),
                blocked: false,
            }));
        let plan = match ended {
            Some(Ok(waited)) => plan_of(&waited),
            Some(Err(failure)) => Err(failure.message),
            None => Err("the turn was stopped".to_owned()),
        };
        let finished = match plan {
            Ok(plan) => PlannerFinished {
                outcome: PlanningOutcome::Planned,
                why: None,
                plan,
                ..request.failed("")
            },
            Err(why) => request.failed(why),
        };
        PlannerFinished {
            session: Some(planning.session),
            pid: Some(pid),
            ..finished
        }
    }

    /// Gives the planner the prompt: a new one, or the one that has planned before. The error says why not.
    async fn start_planner(&self, planning: &Planning<'_>) -> Result<Started, String> {
        let parent = self.load(planning.parent).await.map_err(words)?;
        // The planner must never know of a turn that the parent's log does not have.
        let on_disk = parent
            .ask(|actor, reply| actor.reply_when_durable(reply))
            .await;
        on_disk.map_err(words)?;
        let terms = parent
            .read(|actor| actor.agent_terms())
            .await
            .map_err(words)?;
        let terms = terms.ok_or("the session has no first record")?;
        let above = terms.created.agent.as_ref().map_or(0, |agent| agent.depth);
        if self.exists(planning.session).await.map_err(words)? {
            return self.prompt_planner(planning, &terms, above + 1).await;
        }
        self.create_planner(planning, &terms, above + 1).await
    }

    async fn create_planner(
        &self,
        planning: &Planning<'_>,
        terms: &AgentTerms,
        depth: u32,
    ) -> Result<Started, String> {
        let request = planning.request;
        let work = AgentWork {
            parent: planning.parent,
            call: CallId(PLANNER_CALL.to_owned()),
            task: AgentTask {
                agent: PLANNER.to_owned(),
                prompt: request.task.clone(),
                ..AgentTask::default()
            },
            attempt: 0,
        };
        let (assembly, cwd) = (
            Arc::clone(&self.services.assembly),
            std::path::PathBuf::from(&terms.created.cwd),
        );
        let steps = blocking(move || assembly.planner_max_steps(&cwd)).await;
        let mut definition = planner_definition();
        definition.model = Some(request.model.clone());
        definition.max_steps = Some(steps.map_err(words)?);
        let models = AgentModels::default();
        let made = order(
            &definition,
            terms,
            &models,
            planning.session,
            depth,
            &work.task,
        );
        let mut order = made.map_err(|outcome| outcome.text)?;
        order.params.request_id = Some(prompt_request(planning.session, request));
        let place = tokio::select! {
            place = self.places.take(planning.parent, depth) => place.map_err(words)?,
            () = planning.cancel.cancelled() => return Err("the turn was stopped".to_owned()),
        };
        let created = self
            .create_agent(&work, terms, order, (Arc::new(place), None))
            .await;
        created.map_err(|outcome| outcome.text)
    }

    /// Gives a planner that is there its next prompt; one that has it already is only found.
    async fn prompt_planner(
        &self,
        planning: &Planning<'_>,
        terms: &AgentTerms,
        depth: u32,
    ) -> Result<Started, String> {
        let place = Arc::new(self.places.take_back(planning.parent, depth));
        let prompt = PromptQueued {
            untyped: Vec::new(),
            from: None,
            added: None,
            prompt_id: PromptId::new(),
            text: planning.request.task.clone(),
            steer: false,
            on_ask: None,
            references: None,
            by: client_of(terms.created.pid).name,
            request_id: Some(prompt_request(planning.session, planning.request)),
        };
        loop {
            let handle = self.load(planning.session).await.map_err(words)?;
            let (message, keys) = (prompt.clone(), Arc::clone(&terms.keys));
            let given = handle.change(move |actor, reply| {
                actor.requests.keys().fill_from(&keys);
                actor.prompt(message, When::Queue, Vec::new(), reply);
            });
            match given.await {
                Ok(_) => {
                    return Ok(Started {
                        handle,
                        is_new: false,
                        place,
                    });
                }
                // It may have left memory between the two.
                Err(_) if self.is_gone(&handle) => self.never_when_closing().await,
                Err(failure) => return Err(words(failure)),
            }
        }
    }
}

/// The plan of a planner that has ended its turn, or why there is none.
fn plan_of(waited: &WaitOutput) -> Result<String, String> {
    let Some(ended) = &waited.ended else {
        return Err("the planner gave no answer".to_owned());
    };
    let text = ended.text.trim();
    let usable = matches!(
        ended.outcome,
        // At its limit of steps it has summed up what it found.
        OutcomeKind::Completed | OutcomeKind::MaxSteps
    );
    if !usable {
        return Err(why_ended(ended));
    }
    if text.is_empty() {
        return Err("the planner gave an empty answer".to_owned());
    }
    let end = text.floor_char_boundary(PLAN_BYTES_MAX);
    let cut = if end < text.len() { "\n(cut)" } else { "" };
    Ok(format!("{}{cut}", &text[..end]))
}

/// A failure in one sentence, with what to do.
fn words(failure: Failure) -> String {
    let said = format!("{} {}", failure.message, failure.hint);
    said.trim_end().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proto::outcome::{TurnEnded, UsageTotals};

    use super::*;

    fn waited(outcome: OutcomeKind, text: &str) -> WaitOutput {
        WaitOutput {
            done: true,
            attention: false,
            ended: Some(TurnEnded {
                outcome,
                reason: None,
                text: text.to_owned(),
                error: None,
                usage: UsageTotals::default(),
                tree_usage: None,
                steps: 1,
                tool_calls: 0,
                duration_ms: 1,
                denied: Vec::new(),
                hooks: false,
                supervised: false,
            }),
            exited: None,
            exit_code: 0,
        }
    }

    fn request() -> PlanRequest {
        PlanRequest {
            turn: 1,
            round: 0,
            prompt_id: Some(PromptId::new()),
            task: "Fix it".to_owned(),
            model: "p/m".to_owned(),
        }
    }

    #[test]
    fn only_an_answer_of_a_planner_is_a_plan() {
        let plan = |outcome, text| plan_of(&waited(outcome, text));
        assert_eq!(
            plan(OutcomeKind::Completed, " 1. Look. ").as_deref(),
            Ok("1. Look.")
        );
        assert_eq!(
            plan(OutcomeKind::MaxSteps, "So far.").as_deref(),
            Ok("So far.")
        );
        assert!(plan(OutcomeKind::Completed, "  ").is_err());
        assert!(plan(OutcomeKind::Failed, "1. Look.").is_err());
        assert!(plan(OutcomeKind::BudgetExceeded, "1. Look.").is_err());
        let long = plan(OutcomeKind::Completed, &"ä".repeat(PLAN_BYTES_MAX)).expect("a plan");
        assert!(long.ends_with("ä\n(cut)") && long.len() < PLAN_BYTES_MAX + 10);
    }

    #[test]
    fn same_turn_finds_the_same_planner_and_prompt() {
        let (parent, request) = (SessionId::new(), request());
        let session = planner_session(parent, &request);
        assert_eq!(session, planner_session(parent, &request.clone()));
        let next = PlanRequest {
            turn: 2,
            prompt_id: Some(PromptId::new()),
            ..request.clone()
        };
        assert_eq!(session, planner_session(parent, &next));
        assert_ne!(
            prompt_request(session, &request),
            prompt_request(session, &next)
        );
        for other in [
            PlanRequest {
                round: 1,
                ..request.clone()
            },
            PlanRequest {
                model: "p/n".to_owned(),
                ..request.clone()
            },
        ] {
            assert_ne!(session, planner_session(parent, &other));
        }
        assert_ne!(session, planner_session(SessionId::new(), &request));
    }
}
