//! What each record and each live event makes of the transcript.

use proto::hook::HookOutcome;
use proto::item::{Finish, UserMessage, Voice};
use proto::live::{Live, Snapshot};
use proto::outcome::TurnEnded;
use proto::params::interaction::Interaction;
use proto::record::{
    CheckpointCreated, ContinueReason, InteractionResolved, Level, ReviewVerdict, SessionSet,
    SessionState, Todo,
};
use proto::state::{State, WaitingFor};
use proto::{Body, Seq};
use serde_json::Value;

use super::{AnswerText, At, EntryKind, Status, Tone, Transcript};
use crate::form::kinds::{self, CallOutcome};
use crate::prompt::Prompt;

impl<T: AnswerText> Transcript<T> {
    pub(super) fn live(&mut self, live: &Live, at: At) {
        match live {
            Live::Text(delta) => self.text(delta.clone(), at),
            Live::Reasoning(delta) => self.reasoning(delta.clone(), at),
            Live::ToolArgs(delta) => self.calls(&delta.item),
            Live::ToolOutput(output) => self.tool_output(output),
            Live::Partial(partial) => self.partial(partial, at),
            Live::Snapshot(snapshot) => self.snapshot(snapshot),
            Live::Sync(sync) => {
                for interaction in &sync.interactions {
                    self.known.opened(interaction);
                }
                self.synced(sync.live.clone(), at);
                if let Some((_, todos)) = self.known.held.take() {
                    self.todos_updated(&todos, at);
                }
            }
            Live::Status(status) => self.stream_status(status, at),
            Live::ClientJoined(client) => {
                let name = client.name.clone();
                self.tell(at, Status::Joined { name });
            }
            Live::ClientLeft(client) => {
                let name = client.name.clone();
                self.tell(at, Status::Left { name });
            }
        }
    }

    /// The state at the moment of attaching. The log may be another one now: its records are new.
    fn snapshot(&mut self, snapshot: &Snapshot) {
        let queue = snapshot.queue.iter();
        self.known.prompts = queue
            .map(|queued| {
                let prompt = Prompt {
                    text: queued.text.clone(),
                    untyped: queued.untyped.clone(),
                };
                (queued.prompt_id, prompt)
            })
            .collect();
        self.known.held = Some((snapshot.seq, snapshot.todos.clone()));
        self.newest = Seq::default();
    }

    fn stream_status(&mut self, status: &Value, at: At) {
        if let Some(behind) = status["behind"].as_u64() {
            self.tell(at, Status::Behind(behind));
        }
        let (is_in, of) = (&status["samples_in"], &status["samples"]);
        if let (Some(is_in), Some(of)) = (is_in.as_u64(), of.as_u64()) {
            self.tell(at, Status::Samples { is_in, of });
        }
        if let Some(reason) = status["read_only"].as_str() {
            // Anything that is not in the log never happened: no more of it comes.
            self.end_all();
            let reason = reason.to_owned();
            self.tell(at, Status::ReadOnly { reason });
        }
    }

    pub(super) fn record(&mut self, body: &Body, at: At) {
        match body {
            Body::User(message) => self.user(message, at),
            Body::Assistant(message) => {
                self.known.calls(&message.calls);
                self.assistant(message, at);
            }
            Body::PolicyDecided(decided) if !decided.tool.is_empty() => {
                let call = (decided.tool.clone(), decided.subject.clone());
                self.known.calls.insert(decided.call.clone(), call);
            }
            Body::ToolStarted(started) => self.tool_started(started, at),
            Body::ToolBlocked(blocked) => self.tool_blocked(blocked),
            Body::ToolFinished(finished) => self.tool_finished(finished, at),
            Body::InteractionOpened(interaction) => self.opened(interaction, at),
            Body::InteractionResolved(resolved) => self.resolved(resolved, at),
            Body::TodoUpdated(updated) => {
                // What a snapshot had is older than this.
                self.known.held.take_if(|held| at.seq > Some(held.0));
                self.todos_updated(&updated.todos, at);
            }
            Body::GoalStarted(started) => {
                let by = started.by.clone();
                let text = started.text.lines().next().unwrap_or_default().to_owned();
                let research = started.research.as_ref().map(|run| run.dir.clone());
                self.tell(at, Status::GoalStarted { by, text, research });
            }
            Body::GoalChanged(changed) => self.tell(at, Status::GoalChanged(changed.clone())),
            // The first turn follows from the start, and shows its text.
            Body::GoalContinued(continued) if continued.why != ContinueReason::Started => {
                self.tell(at, Status::GoalContinued(continued.clone()));
            }
            Body::GoalEnded(ended) => self.tell(at, Status::GoalEnded(ended.clone())),
            Body::TurnStarted(_) => self.end_all(),
            Body::TurnEnded(ended) => self.turn_ended(ended, at),
            Body::ChildSpawned(child) => self.spawned(child, at),
            Body::ChildExited(child) => self.child_exited(child, at),
            Body::CheckpointCreated(checkpoint) => self.checkpoint(checkpoint, at),
            Body::SessionRewound(rewound) => {
                if let Some(todos) = &rewound.todos {
                    self.known.held.take_if(|held| at.seq > Some(held.0));
                    self.known.todos.clone_from(todos);
                }
                self.push(at, EntryKind::Rewound(Box::new(rewound.clone())));
            }
            Body::Notice(notice) => {
                let tone = match notice.level {
                    Level::Info => Tone::Info,
                    Level::Warning => Tone::Warning,
                    Level::Error => Tone::Error,
                };
                let words = notice.text.clone();
                self.push(at, EntryKind::Notice { tone, words });
            }
            other => self.session(other, at),
        }
    }

    /// Records of the session and its queue.
    fn session(&mut self, body: &Body, at: At) {
        let status = match body {
            Body::SessionCreated(created) => Status::Created {
                pid: created.pid,
                model: created.options.model.clone().unwrap_or_default(),
                cwd: created.cwd.clone(),
                instructions: created.instructions.clone(),
                origin: created.origin.clone(),
            },
            Body::SessionState(state) => match waits(state) {
                Some(status) => status,
                None => return,
            },
            Body::SessionSet(set) => return self.session_set(set, at),
            Body::SessionExited(exited) => {
                self.end_all();
                Status::Exited {
                    outcome: exited.outcome,
                    reason: exited.reason,
                }
            }
            Body::SessionReopened(reopened) => Status::Reopened {
                by: reopened.by.clone(),
            },
            Body::SessionSuspended(_) => Status::Suspended,
            Body::SessionRestarted(restarted) => Status::Restarted(restarted.clone()),
            Body::SessionGaveUp(gave_up) => Status::GaveUp(gave_up.clone()),
            // The result of a call that was denied has the reviewer's words.
            Body::CallReviewed(reviewed)
                if reviewed.decided && reviewed.verdict == ReviewVerdict::Deny =>
            {
                return;
            }
            Body::CallReviewed(reviewed) => Status::Reviewed(reviewed.clone()),
            Body::CacheReset(reset) => Status::CacheReset(reset.clone()),
            Body::ReasoningExtracted(found) => Status::ReasoningExtracted(found.clone()),
            Body::PlannerStarted(started) => Status::Planning {
                model: started.model.clone(),
            },
            // Why there is none is said by a notice.
            Body::PlannerFinished(finished) if !finished.plan.is_empty() => Status::Planned {
                pid: finished.pid,
                plan: finished.plan.clone(),
                duration_ms: finished.duration_ms,
            },
            Body::MessagePinned(pinned) => Status::Pinned(pinned.clone()),
            Body::HookFinished(finished) => {
                // A call that was blocked says so itself.
                let shown = finished.call.is_none() || !finished.blocks();
                if !shown || finished.outcome == HookOutcome::Pass {
                    return;
                }
                Status::Hook(finished.clone())
            }
            other => return self.queue(other, at),
        };
        self.tell(at, status);
    }

    /// Records of the prompts that wait.
    fn queue(&mut self, body: &Body, at: At) {
        let status = match body {
            Body::PromptQueued(queued) => {
                let prompt = Prompt {
                    text: queued.text.clone(),
                    untyped: queued.untyped.clone(),
                };
                self.known.prompts.insert(queued.prompt_id, prompt);
                return;
            }
            Body::PromptEdited(edited) => {
                let which = self.known.which(edited.prompt_id);
                let text = edited.text.clone();
                let known = self.known.prompts.get(&edited.prompt_id);
                let is_same = known.is_some_and(|known| known.text == text);
                let prompt = Prompt {
                    text: text.clone(),
                    untyped: edited.untyped.clone(),
                };
                self.known.prompts.insert(edited.prompt_id, prompt);
                let by = edited.by.clone();
                match is_same && edited.steer {
                    true => Status::PromptSteers { which },
                    false => Status::PromptEdited { by, which, text },
                }
            }
            Body::PromptMoved(moved) if self.known.quiet.remove(&moved.prompt_id) => return,
            Body::PromptMoved(moved) => Status::PromptMoved {
                which: self.known.which(moved.prompt_id),
                by: moved.by.clone(),
                place: moved.position.saturating_add(1),
            },
            Body::PromptUnqueued(unqueued) => {
                let which = self.known.which(unqueued.prompt_id);
                self.known.prompts.remove(&unqueued.prompt_id);
                if self.known.quiet.remove(&unqueued.prompt_id) {
                    return;
                }
                Status::PromptDropped { which }
            }
            // Shown elsewhere, or words for the model.
            _ => return,
        };
        self.tell(at, status);
    }

    fn session_set(&mut self, set: &SessionSet, at: At) {
        let by = || set.by.clone();
        if let Some(rule) = set.revoked.clone() {
            let by = by().unwrap_or_default();
            return self.tell(at, Status::Revoked { by, rule });
        }
        match set.paused {
            Some(true) => self.tell(at, Status::Paused { by: by() }),
            Some(false) => self.tell(at, Status::Resumed { by: by() }),
            None => {}
        }
        if let Some(mode) = set.options.mode {
            self.tell(at, Status::Mode { mode, by: by() });
        }
        if let Some(dir) = set.added_dir.clone() {
            self.tell(at, Status::AddedDir { dir });
        }
        if let Some(only) = set.options.read_only {
            self.tell(at, Status::OnlyReads { only, by: by() });
        }
    }

    /// What the daemon says to the model is not for the person.
    fn user(&mut self, message: &UserMessage, at: At) {
        let waited = message.prompt_id.as_ref();
        let waited = waited.and_then(|id| self.known.prompts.remove(id));
        let steer = match message.voice {
            Voice::Prompt => false,
            Voice::Steer | Voice::Session => true,
            Voice::Daemon => return,
        };
        let attached = message.attached.clone();
        let kind = EntryKind::User {
            text: message.text.clone(),
            untyped: waited.map(|prompt| prompt.untyped).unwrap_or_default(),
            steer,
            from: message.from,
            attached,
        };
        self.push(at, kind);
    }

    /// A plan is words of the model: it is still there to be read when it has been answered.
    fn opened(&mut self, interaction: &Interaction, at: At) {
        self.known.opened(interaction);
        let Some(words) = kinds::words_of_model(interaction) else {
            self.push(at, EntryKind::Interaction(Box::new(interaction.clone())));
            return;
        };
        let mut text = T::default();
        text.push(words);
        text.finish();
        let kind = EntryKind::Answer {
            text,
            finish: Some(Finish::ToolCalls),
            plan: Some(interaction.interaction_id.clone()),
        };
        self.push(at, kind);
    }

    fn resolved(&mut self, resolved: &InteractionResolved, at: At) {
        let asked = self.known.asked(resolved);
        let call = resolved.call.clone();
        if let Some(edit) = &resolved.edit {
            let changed = (edit.tool.clone(), edit.command.clone());
            self.known.calls.insert(call.clone(), changed);
        }
        match asked.call_outcome(resolved) {
            CallOutcome::Denied => self.known.denied.insert(call),
            CallOutcome::Answered => self.known.answered.insert(call),
            CallOutcome::Other => false,
        };
        let resolved = Box::new(resolved.clone());
        self.push(at, EntryKind::Resolved { asked, resolved });
    }

    fn todos_updated(&mut self, todos: &[Todo], at: At) {
        if self.known.todos != todos {
            self.known.todos = todos.to_vec();
            self.push(at, EntryKind::Todos(todos.to_vec()));
        }
    }

    fn turn_ended(&mut self, ended: &TurnEnded, at: At) {
        self.end_all();
        let reasons = std::mem::take(&mut self.known.reasons);
        let explained = ended.denied.iter().filter(|denied| {
            let reason = reasons.get(&denied.call).map(String::as_str);
            reason.is_some() && reason == denied.why.lines().next()
        });
        let explained = explained.map(|denied| denied.call.clone()).collect();
        self.known.calls.clear();
        self.known.denied.clear();
        self.known.blocked.clear();
        let mut ended = Box::new(ended.clone());
        ended.duration_ms = ended.duration_ms.saturating_sub(self.known.waits.total());
        self.push(at, EntryKind::Ended { ended, explained });
    }

    /// Nothing, but for what will not be there when it is wanted back: once a turn.
    fn checkpoint(&mut self, checkpoint: &CheckpointCreated, at: At) {
        let Some(why) = checkpoint.skipped.clone() else {
            return;
        };
        let turn = at.turn.unwrap_or(0);
        if self.known.unkept.replace(turn) != Some(turn) {
            self.tell(at, Status::Unkept { why });
        }
    }
}

/// A wait that no other entry shows.
fn waits(state: &SessionState) -> Option<Status> {
    let cause = state.cause.clone();
    match (state.state, state.waiting_for) {
        (State::Waiting, Some(WaitingFor::Retry)) => Some(Status::Retry {
            in_ms: state.retry_in_ms,
            cause,
        }),
        (State::Waiting, Some(WaitingFor::Credentials)) => Some(Status::Credentials { cause }),
        // The question itself is shown, and the restart says how long it waits.
        (State::Waiting, Some(WaitingFor::Interaction(_) | WaitingFor::Restart) | None)
        | (State::Idle | State::Running | State::Paused | State::Exited, _) => None,
    }
}
