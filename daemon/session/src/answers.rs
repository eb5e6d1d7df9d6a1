//! What clients want of a session, and when they get their answer.

use proto::live::{Away, Snapshot, Sync};
use proto::outcome::OutcomeKind;
use proto::params::Empty;
use proto::params::approval::AnswerParams;
use proto::params::session::{SessionSummary, Until, WaitOutput, When};
use proto::record::{PromptMoved, PromptQueued, SessionSet};
use proto::state::{Kind, OnAsk, State};
use proto::{ErrorName, Failure, PromptId, RequestId, Seq, Stamp};
use turn::Input;
use turn::facts::{Done, content_of_answer, content_of_set};
use turn::input::Resolution;

use crate::actor::Actor;
use crate::commands::{Command, Reply};
use crate::fanout::{Join, Joined, Start, stale_cursor};
use crate::names;
use crate::queue::Edit;

/// Bytes of log that a subscriber who is behind reads at once.
const PAGE_BYTES: usize = 512 * 1024;

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
                self.prompt(prompt, when, reply);
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
                self.edit(edit, reply);
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
            Command::Answer { params, by, reply } => self.answer(params, by, reply),
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
            Command::Suspend { reply } => {
                self.leaving = true;
                self.begin_suspend(reply);
            }
            Command::Leave(wish) => self.leave_memory(wish),
            Command::Material { upto, reply } => {
                // Whoever asked may be gone.
                let _ = reply.send(self.material(upto));
            }
            Command::Inspect { part, reply } => {
                let _ = reply.send(self.inspect(part));
            }
            Command::Shutdown { reply } => self.begin_shutdown(reply),
        }
    }

    /// Takes in values of the environment that were lost with an earlier life of the daemon: calls from now on see them.
    fn fill_environment(&mut self, env: std::collections::BTreeMap<String, String>) {
        if self.environment.fill(env) {
            let mut bench = crate::call::Bench::clone(&self.bench);
            bench.env = std::sync::Arc::new(self.environment.whole());
            self.bench = std::sync::Arc::new(bench);
        }
    }

    /// Why nothing can be changed, where that is so.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        if let Some(closed) = &self.journal.failed {
            let message = format!("The session is read-only: {}", closed.reason);
            return Some(Failure::new(closed.name(), message, closed.hint()));
        }
        (self.leaving || self.closing.is_some()).then(|| {
            Failure::new(
                ErrorName::ShuttingDown,
                "The daemon is stopping.",
                "Start it again, and repeat this.",
            )
            .retryable()
        })
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
                Failure::new(
                    ErrorName::Busy,
                    "A turn is running.",
                    "Interrupt it first, or send TERM to end both.",
                )
            })
        });
        if let Some(refusal) = refusal {
            return refuse(reply, refusal);
        }
        self.step(Input::Close { request_id: None });
        self.reply_when(self.machine.facts().seq, reply, Empty {});
    }

    fn answer(&mut self, params: AnswerParams, by: String, reply: Reply<Empty>) {
        let content = content_of_answer(&params.approval_id, params.decision);
        match self.repeated(params.request_id, &content) {
            Some(Ok(done)) => return self.reply_when(done.seq, reply, Empty {}),
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        if let Some(refusal) = self.refusal().or_else(|| self.answer_refusal(&params)) {
            return refuse(reply, refusal);
        }
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

    fn answer_refusal(&self, params: &AnswerParams) -> Option<Failure> {
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
        let foreign = params
            .scope
            .as_ref()
            .is_some_and(|scope| !open.scopes.contains(scope));
        let nothing = params.decision == proto::params::approval::Decision::AllowSession
            && open.scopes.is_empty();
        (foreign || nothing).then(|| {
            Failure::new(
                ErrorName::InvalidParams,
                "This scope was not offered.",
                "Take one of the scopes of the approval, or allow it once.",
            )
        })
    }

    /// Lets those in who wait to follow. A snapshot shows only what is durable: it waits for the disk.
    pub(crate) fn answer_joining(&mut self) {
        let settled = self.journal.index.durable() == self.journal.index.last()
            || self.journal.failed.is_some();
        for (join, reply) in std::mem::take(&mut self.joining) {
            if !settled && matches!(join.next, Start::Snapshot { .. }) {
                self.joining.push((join, reply));
                continue;
            }
            if let Err(Ok(Joined::Log { subscriber, .. } | Joined::Live { subscriber, .. })) =
                reply.send(self.join(join))
            {
                // Gone while it waited: nobody else will say so.
                self.leave(subscriber);
            }
        }
    }

    fn join(&mut self, join: Join) -> Result<Joined, Failure> {
        if self.fanout.is_cut(join.subscriber)
            && let Some(refusal) = self.refusal()
        {
            return Err(refusal);
        }
        let durable = self.journal.index.durable();
        let (after, at) = (self.journal.index.last(), Stamp::now());
        let (next, wants_snapshot) = match join.next {
            Start::At { next, epoch } => {
                if next.0 > durable.0 + 1 || epoch.is_some_and(|epoch| epoch != self.epoch) {
                    return Err(stale_cursor(self.epoch, durable));
                }
                (Seq(next.0.max(1)), false)
            }
            Start::Snapshot { backlog } => {
                (Seq((durable.0 + 1).saturating_sub(backlog).max(1)), true)
            }
        };
        let watched = self.fanout.watched();
        let away = self.absence.tell(self.waits()).filter(|_| !watched);
        let subscriber = if self.fanout.knows(join.subscriber) {
            join.subscriber
        } else {
            let subscriber = self.fanout.enter(join.follower, after, at);
            self.came(watched);
            // Who is there is known as soon as they are.
            self.tell_seen();
            subscriber
        };
        let snapshot = if wants_snapshot {
            self.snapshot(at, away)
        } else {
            None
        };
        let behind = (durable.0 + 1).saturating_sub(next.0);
        let told = self
            .fanout
            .tell_behind(subscriber, join.ephemeral, at, behind);
        if next <= durable {
            let (offset, len) = self.page(next, durable);
            let file = std::sync::Arc::clone(&self.journal.file);
            let pid = self.fanout.pid;
            return Ok(Joined::Log {
                subscriber,
                file,
                offset,
                len,
                first: told.into_iter().chain(snapshot).collect(),
                pid,
                next,
            });
        }
        self.show_growth();
        self.fanout.release(durable);
        let gather = self.gather.as_ref();
        let live =
            gather.and_then(|gather| self.fanout.in_progress(&gather.item, &gather.answer.text));
        let shown = |id| self.asked_at.get(id).is_none_or(|seq| *seq <= durable);
        let pending = self.machine.facts().pending.values();
        let pending = pending
            .filter(|open| shown(&open.approval_id))
            .cloned()
            .collect();
        let sync = Sync {
            seq: durable,
            epoch: self.epoch,
            live: live.into_iter().collect(),
            pending,
        };
        let mut joined = self.fanout.go_live(subscriber, join.ephemeral, at, sync);
        if let (Joined::Live { first, .. }, Some(snapshot)) = (&mut joined, snapshot) {
            first.insert(0, snapshot);
        }
        Ok(joined)
    }

    fn snapshot(&self, at: Stamp, away: Option<Away>) -> Option<crate::fanout::Published> {
        let facts = self.machine.facts();
        let session = self.summary()?;
        let seq = self.journal.index.durable();
        let queue = facts.queue.iter().cloned().collect();
        self.fanout.snapshot(
            at,
            Snapshot {
                seq,
                epoch: self.epoch,
                session,
                queue,
                away,
            },
        )
    }

    /// The bytes of the file that hold the records from `next` on: a page, at least one record.
    pub(crate) fn page(&self, next: Seq, durable: Seq) -> (u64, usize) {
        let place = |seq: Seq| match self.journal.index.line(seq) {
            Some(store::log::Where::Disk { offset, len }) => Some((offset, len + 1)),
            Some(store::log::Where::Memory { .. }) | None => None,
        };
        let Some((start, mut len)) = place(next) else {
            return (0, 0);
        };
        let mut seq = next.next();
        while seq <= durable {
            match place(seq) {
                Some((_, more)) if len + more <= PAGE_BYTES => len += more,
                _ => break,
            }
            seq = seq.next();
        }
        (start, len)
    }

    /// A follower has gone. Where it was the last who could answer, a headless run does not wait for nobody.
    pub(crate) fn leave(&mut self, subscriber: u64) {
        let (attended, watched) = (self.fanout.attended(), self.fanout.watched());
        let after = self.journal.index.last();
        self.fanout.leave(subscriber, after, Stamp::now());
        self.went(watched);
        let facts = self.machine.facts();
        let forsaken = attended
            && !self.fanout.attended()
            && facts.settings.kind == Kind::Headless
            && matches!(facts.settings.on_ask, Some(OnAsk::Sandboxed | OnAsk::Allow));
        if forsaken {
            for approval_id in facts.pending.keys().cloned().collect::<Vec<_>>() {
                self.step(Input::Resolved(Box::new(Resolution {
                    approval_id,
                    decision: proto::params::approval::Decision::Deny,
                    scope: None,
                    note: Some("Denied: the last person who could have answered has left. Allow it with a rule (`--allow`), or with `--on-ask wait`.".into()),
                    by: "reasonix".into(),
                    unattended: true,
                    request_id: None,
                })));
            }
        }
        self.settle();
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

    fn waited(&self, until: Until) -> Option<WaitOutput> {
        let facts = self.machine.facts();
        let attention = until == Until::Attention
            && facts.state.state == State::Waiting
            && !facts.pending.is_empty();
        let rests = self.is_settled() || facts.exited.is_some();
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

fn words(decision: proto::params::approval::Decision) -> &'static str {
    match decision {
        proto::params::approval::Decision::AllowOnce => "allowed once",
        proto::params::approval::Decision::AllowSession => "allowed for the session",
        proto::params::approval::Decision::Deny => "denied",
    }
}

/// The refusal of a change to a name or labels that none may have. An empty name takes the name away.
fn name_refusal(set: &SessionSet) -> Option<Failure> {
    let name = set.name.as_deref().filter(|name| !name.is_empty());
    let labels = set.labels.as_deref().unwrap_or_default();
    let checked = name.map_or(Ok(()), names::check_name);
    checked.and_then(|()| names::check_labels(labels)).err()
}
