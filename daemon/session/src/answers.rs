//! What clients want of a session, and when they get their answer.

use proto::outcome::OutcomeKind;
use proto::params::Empty;
use proto::params::approval::{AnswerParams, Decision, Scope};
use proto::params::session::{SessionSummary, Until, WaitOutput, When};
use proto::record::{PromptMoved, PromptQueued, SessionSet};
use proto::state::State;
use proto::{ErrorName, Failure, PromptId, RequestId, Seq};
use turn::Input;
use turn::facts::{Done, content_of_answer, content_of_set};
use turn::input::Resolution;

use crate::actor::Actor;
use crate::always::Answering;
use crate::commands::{Command, Reply};
use crate::hooked::Gated;
use crate::names;
use crate::queue::Edit;
use crate::supervisor;

/// A client that waits.
pub(crate) struct Waiter {
    until: Until,
    reply: Reply<WaitOutput>,
}

impl Waiter {
    pub(crate) fn is_gone(&self) -> bool {
        self.reply.is_closed()
    }
}

impl Actor {
    pub(crate) fn command(&mut self, command: Command) {
        match command {
            Command::Prompt {
                text,
                when,
                request_id,
                by,
                credentials,
                env,
                note,
                reply,
            } => {
                self.keys.put(credentials);
                self.fill_environment(env);
                let prompt = PromptQueued {
                    prompt_id: PromptId::new(),
                    text,
                    steer: when == When::Steer,
                    by,
                    request_id,
                };
                self.gate(Gated::Prompt {
                    prompt,
                    when,
                    note,
                    reply,
                });
            }
            Command::Unqueue { prompt_id, reply } => self.unqueue(prompt_id, reply),
            Command::Edit { params, by, reply } => {
                let edit = Edit {
                    prompt_id: params.prompt_id,
                    text: params.text,
                    steer: params.steer,
                    by,
                    request_id: params.request_id,
                };
                self.gate(Gated::Edit { edit, reply });
            }
            Command::Reorder { params, by, reply } => {
                let moved = PromptMoved {
                    prompt_id: params.prompt_id,
                    position: params.position,
                    by,
                    request_id: params.request_id,
                };
                self.reorder(moved, reply);
            }
            Command::Set { set, reply } => self.set(set, reply),
            Command::Signal {
                signal,
                request_id,
                by,
                reply,
            } => self.signal(signal, request_id, by, reply),
            Command::Close { reply } => self.close(reply),
            Command::Wait { until, reply } => {
                self.waiters.push(Waiter { until, reply });
                self.answer_waiters();
            }
            Command::Answer { params, by, reply } => self.answer(Answering { params, by, reply }),
            Command::Replies { params, by, reply } => self.replies(params, by, reply),
            Command::AnswerPlan { params, by, reply } => self.answer_plan(params, by, reply),
            Command::Join { join, reply } => {
                self.joining.push((join, reply));
                self.answer_joining();
            }
            Command::Lines { from, reply } => {
                let durable = self.journal.index.durable();
                let from = Seq(from.0.max(1));
                let page = (from <= durable).then(|| {
                    let (offset, len) = self.page(from, durable);
                    (
                        std::sync::Arc::clone(&self.journal.file),
                        offset,
                        len,
                        self.fanout.pid,
                    )
                });
                let _ = reply.send(Ok(page));
            }
            Command::Credentials(credentials) => {
                self.keys.fill(credentials);
                self.use_new_key();
            }
            Command::Suspend { now, reply } => {
                self.leaving = true;
                self.begin_suspend(now, reply);
            }
            Command::Standing { reply } => {
                let standing = self.standing();
                let _ = reply.send(Ok(standing));
            }
            Command::Leave(wish) => self.leave_memory(wish),
            Command::ChildKilled { pid, by, reply } => {
                self.child_killed(pid, &by);
                let _ = reply.send(Ok(Empty {}));
            }
            Command::Material { upto, reply } => {
                // Whoever asked may be gone.
                let _ = reply.send(self.material(upto));
            }
            Command::Inspect { part, reply } => {
                let _ = reply.send(self.inspect(part));
            }
            Command::Hooks { reply } => {
                let _ = reply.send(Ok(self.list_hooks()));
            }
            Command::ReloadHooks { reply } => self.reload_hooks(reply),
            Command::Rewind { params, by, reply } => self.begin_rewind(params, by, reply),
            Command::KeepForRewind {
                kept,
                undoes,
                reply,
            } => self.keep_for_rewind(kept, undoes, reply),
            Command::Marks { reply } => {
                let _ = reply.send(Ok(self.marks()));
            }
            Command::Shutdown { reply } => self.begin_shutdown(reply),
        }
    }

    /// Takes in values of the environment that were lost with an earlier life of the daemon: calls from now on see them.
    fn fill_environment(&mut self, env: std::collections::BTreeMap<String, String>) {
        if self.environment.fill(env) {
            let mut bench = crate::call::Bench::clone(&self.bench);
            let whole = self.environment.whole();
            let whole = crate::walls::environment(whole, bench.workspace.temp(), &bench.confine);
            bench.env = std::sync::Arc::new(whole);
            self.bench = std::sync::Arc::new(bench);
        }
    }

    /// Why nothing can be changed, where that is so.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        if let Some(closed) = &self.journal.failed {
            let message = format!("The session is read-only: {}", closed.reason);
            return Some(Failure::new(closed.name(), message, closed.hint()));
        }
        (self.leaving || self.is_closing()).then(supervisor::closing)
    }

    /// What a `request_id` led to, where it was used before: the same content gets the same answer.
    pub(crate) fn repeated(
        &self,
        id: Option<RequestId>,
        content: &str,
    ) -> Option<Result<Done, Failure>> {
        let done = self.machine.facts().requests.get(&id?)?;
        Some(if done.content == content {
            Ok(done.clone())
        } else {
            Err(Failure::new(
                ErrorName::RequestIdReused,
                "This request id was used for something else.",
                "Make a new request id for each wish.",
            ))
        })
    }

    fn set(&mut self, set: SessionSet, reply: Reply<SessionSummary>) {
        let content = format!("set {}", content_of_set(&set));
        let repeated = self.repeated(set.request_id, &content);
        let malformed = name_refusal(&set);
        if let Some(refusal) = self.refusal().or(match &repeated {
            Some(Err(failure)) => Some(failure.clone()),
            Some(Ok(_)) => None,
            None => malformed,
        }) {
            return refuse(reply, refusal);
        }
        if repeated.is_none() {
            self.step(Input::Set(set));
        }
        let seq = self.machine.facts().seq;
        match self.summary() {
            Some(summary) => self.reply_when(seq, reply, summary),
            None => refuse(
                reply,
                Failure::new(ErrorName::Internal, "The session has no first record.", ""),
            ),
        }
    }

    fn close(&mut self, reply: Reply<Empty>) {
        let busy = !self.machine.is_idle();
        let refusal = self.refusal().or_else(|| {
            busy.then(|| {
                let (what, hint) = match self.machine.is_rewinding() {
                    true => (
                        "The session goes back to an earlier turn.",
                        "It takes moments: close it then.",
                    ),
                    false => (
                        "A turn is running.",
                        "Interrupt it first, or send TERM to end both.",
                    ),
                };
                Failure::new(ErrorName::Busy, what, hint)
            })
        });
        if let Some(refusal) = refusal {
            return refuse(reply, refusal);
        }
        self.step(Input::Close { request_id: None });
        self.reply_when(self.machine.facts().seq, reply, Empty {});
    }

    pub(crate) fn answer(&mut self, answer: Answering) {
        let Some(answer) = self.wait_behind(answer) else {
            return;
        };
        let params = &answer.params;
        let content = content_of_answer(&params.approval_id, params.decision);
        match self.repeated(params.request_id, &content) {
            Some(Ok(done)) => return self.reply_when(done.seq, answer.reply, Empty {}),
            Some(Err(failure)) => return refuse(answer.reply, failure),
            None => {}
        }
        if let Some(refusal) = self.refusal().or_else(|| self.answer_refusal(params)) {
            return refuse(answer.reply, refusal);
        }
        if params.decision == Decision::AllowAlways {
            return self.keep_always(answer);
        }
        self.resolve(answer);
    }

    /// Takes an answer that was checked.
    pub(crate) fn resolve(&mut self, answer: Answering) {
        let Answering { params, by, reply } = answer;
        let seq = self.machine.facts().seq.next();
        self.step(Input::Resolved(Box::new(Resolution {
            approval_id: params.approval_id,
            decision: params.decision,
            scope: params.scope,
            note: params.note,
            by,
            unattended: false,
            request_id: params.request_id,
        })));
        self.reply_when(seq, reply, Empty {});
    }

    pub(crate) fn answer_refusal(&self, params: &AnswerParams) -> Option<Failure> {
        let facts = self.machine.facts();
        let Some(open) = facts.pending.get(&params.approval_id) else {
            let first = facts
                .resolved
                .iter()
                .find(|(resolved, _)| resolved.approval_id == params.approval_id);
            return Some(match first {
                Some((resolved, at)) => Failure::new(
                    ErrorName::AlreadyResolved,
                    format!(
                        "{} answered first: {}.",
                        resolved.by,
                        words(resolved.decision)
                    ),
                    "Nothing is left to be done.",
                )
                .with("by", resolved.by.clone())
                .with(
                    "decision",
                    serde_json::to_value(resolved.decision).unwrap_or_default(),
                )
                .with("at", at.to_string()),
                None if facts.asked.keys().any(|id| id.0 == params.approval_id.0) => Failure::new(
                    ErrorName::NotFound,
                    format!("`{}` is a question of the model.", params.approval_id),
                    format!(
                        "`reasonix inbox answer {} …` answers it.",
                        params.approval_id
                    ),
                ),
                None if facts.plans.keys().any(|id| id.0 == params.approval_id.0) => Failure::new(
                    ErrorName::NotFound,
                    format!("`{}` is a plan of the model.", params.approval_id),
                    format!(
                        "`reasonix inbox allow {}` approves it, `reasonix inbox deny {}` sends it back.",
                        params.approval_id, params.approval_id
                    ),
                ),
                None => Failure::new(
                    ErrorName::NotFound,
                    format!("There is no approval `{}`.", params.approval_id),
                    "`reasonix inbox` lists what waits.",
                ),
            });
        };
        if open.shown_hash != params.shown_hash {
            return Some(Failure::new(
                ErrorName::Stale,
                "What was shown is not what waits.",
                "Look at it again, and answer what you see.",
            ));
        }
        let chosen = Scope::chosen(&open.scopes, params.decision, params.scope.as_ref());
        let foreign = match params.decision {
            Decision::AllowSession | Decision::AllowAlways => chosen.is_none(),
            Decision::AllowOnce | Decision::Deny => params
                .scope
                .as_ref()
                .is_some_and(|named| open.scopes.iter().all(|scope| scope.rule != named.rule)),
        };
        foreign.then(|| {
            Failure::new(
                ErrorName::InvalidParams,
                match params.decision {
                    Decision::AllowAlways => "This cannot be allowed always.",
                    _ => "This scope was not offered.",
                },
                "Take one of the scopes of the approval, or allow it once.",
            )
        })
    }

    /// Answers when the record is on disk: acknowledged means durable (I3).
    pub(crate) fn reply_when<T: Send + 'static>(&mut self, seq: Seq, reply: Reply<T>, output: T) {
        let send = move |written: Result<(), Failure>| {
            // The caller may be gone; what it wanted is done all the same.
            let _ = reply.send(written.map(|()| output));
        };
        self.replies.push((seq, Box::new(send)));
        self.answer_held();
    }

    pub(crate) fn answer_held(&mut self) {
        let durable = self.journal.index.durable();
        let failed = self.journal.failed.is_some();
        for (seq, send) in std::mem::take(&mut self.replies) {
            if seq <= durable {
                send(Ok(()));
            } else if failed {
                let refusal = self.refusal();
                send(Err(refusal.unwrap_or_else(|| {
                    Failure::new(ErrorName::Storage, "It could not be written.", "")
                })));
            } else {
                self.replies.push((seq, send));
            }
        }
    }

    pub(crate) fn answer_waiters(&mut self) {
        if self.waiters.is_empty()
            || (self.journal.index.durable() != self.journal.index.last()
                && self.journal.failed.is_none())
        {
            return;
        }
        for waiter in std::mem::take(&mut self.waiters) {
            match self.waited(waiter.until) {
                Some(output) => {
                    let _ = waiter.reply.send(Ok(output));
                }
                None if waiter.reply.is_closed() => {}
                None => self.waiters.push(waiter),
            }
        }
    }

    /// Prompts wait behind a turn that the daemon's end cut off, and nothing happens until a person says more.
    fn waits_for_a_word(&self) -> bool {
        self.machine.is_idle()
            && !self.machine.facts().settings.paused
            && !self.machine.is_suspended()
            && !self.leaving
    }

    fn waited(&self, until: Until) -> Option<WaitOutput> {
        let facts = self.machine.facts();
        let attention = until == Until::Attention
            && facts.state.state == State::Waiting
            && facts.waits_for_person().is_some();
        let rests = self.is_settled() || facts.exited.is_some() || self.waits_for_a_word();
        let done = match until {
            Until::Turn => rests,
            Until::Attention => rests || attention,
            Until::Exit => facts.exited.is_some(),
        };
        let dead = self.journal.failed.is_some();
        if !done && !dead {
            return None;
        }
        let exit_code = match (&facts.exited, &facts.ended) {
            _ if attention => 75,
            _ if dead && !done => proto::outcome::exit_code(OutcomeKind::Failed, None),
            (Some(exited), _) => exited.exit_code,
            (None, Some(ended)) => ended.exit_code(),
            (None, None) => 0,
        };
        Some(WaitOutput {
            done: true,
            attention,
            ended: facts.ended.clone(),
            exited: facts.exited,
            exit_code,
        })
    }
}

pub(crate) fn refuse<T>(reply: Reply<T>, failure: Failure) {
    // A caller that is gone needs no refusal.
    let _ = reply.send(Err(failure));
}

fn words(decision: Decision) -> &'static str {
    match decision {
        Decision::AllowOnce => "allowed once",
        Decision::AllowSession => "allowed for the session",
        Decision::AllowAlways => "allowed always",
        Decision::Deny => "denied",
    }
}

/// The refusal of a change to a name or labels that none may have. An empty name takes the name away.
fn name_refusal(set: &SessionSet) -> Option<Failure> {
    let name = set.name.as_deref().filter(|name| !name.is_empty());
    let labels = set.labels.as_deref().unwrap_or_default();
    let checked = name.map_or(Ok(()), names::check_name);
    checked.and_then(|()| names::check_labels(labels)).err()
}
