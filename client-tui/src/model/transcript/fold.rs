//! What each record and each live event makes of the transcript.

use std::collections::{HashMap, HashSet};

use client::transcript::{extraction_words, pin_words, reset_words};
use proto::hook::HookOutcome;
use proto::item::{CallStatus, Display, Finish, ToolCall, UserMessage, Voice};
use proto::live::{Live, ToolOutput};
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::approval::{Approval, Decision};
use proto::params::question::Question;
use proto::record::{
    ApprovalResolved, CheckpointCreated, ChildExited, ChildKind, ChildSpawned, Level,
    QuestionAnswered, SessionState, ToolBlocked, ToolFinished, ToolStarted,
};
use proto::state::{State, WaitingFor};
use proto::{Body, CallId, Pid, PromptId, QuestionId};

use super::tail::Tail;
use super::{At, Done, Told, Tool, Transcript, What};
use crate::model::Tone;
use crate::render::markdown::Markdown;

/// A completed turn that took less is not told to have ended.
const LONG_MS: u64 = 10_000;

/// Characters that a prompt is known by.
const FIRST_WORDS: usize = 40;

/// What earlier events said and later ones refer to.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The calls that run, by the entries that show them.
    running: HashMap<CallId, (u64, Tail)>,
    /// Tool and subject of calls of this turn: as they were judged, or else as the model wrote them.
    calls: HashMap<CallId, (String, String)>,
    /// Calls of this turn whose denial was told with who said no.
    denied: HashSet<CallId>,
    /// Calls that were questions to a person, whose answers were told.
    answered: HashSet<CallId>,
    /// Why calls of this turn were denied, as far as it was told.
    reasons: HashMap<CallId, String>,
    /// Calls of this turn that the sandbox stopped: what they came to within is told.
    blocked: HashSet<CallId>,
    /// The words of prompts that wait.
    prompts: HashMap<PromptId, String>,
    /// Commands in the background. Calls have a number too, and are shown as calls.
    children: HashMap<Pid, String>,
    /// Questions that are open.
    asked: HashMap<QuestionId, Vec<String>>,
    /// The newest turn of which it was told that its commands are not kept.
    unkept: Option<u64>,
}

impl Known {
    fn calls(&mut self, calls: &[ToolCall]) {
        for call in calls {
            let named = (call.name.clone(), call.subject());
            self.calls.insert(call.id.clone(), named);
        }
    }

    fn approval(&mut self, approval: Approval) {
        self.calls
            .insert(approval.call, (approval.tool, approval.subject));
    }

    fn question(&mut self, question: Question) {
        let asked = question.questions.into_iter().map(|ask| ask.question);
        self.asked.insert(question.question_id, asked.collect());
    }

    fn turn_ended(&mut self) {
        self.calls.clear();
        self.denied.clear();
        self.reasons.clear();
        self.blocked.clear();
    }

    /// How a prompt that waits begins; empty where it is not known.
    fn which(&self, id: PromptId) -> String {
        self.prompts
            .get(&id)
            .map_or_else(String::new, |text| first_words(text))
    }
}

impl Transcript {
    pub(super) fn live(&mut self, live: Live, at: At) {
        match live {
            Live::Text(delta) => self.text(delta, at),
            Live::Reasoning(delta) => self.reasoning(delta, at),
            Live::ToolArgs(delta) => self.calls(&delta.item),
            Live::ToolOutput(output) => self.tool_output(&output),
            Live::Partial(partial) => self.partial(&partial, at),
            Live::Snapshot(snapshot) => {
                let queue = snapshot.queue.into_iter();
                self.known.prompts = queue
                    .map(|queued| (queued.prompt_id, queued.text))
                    .collect();
            }
            Live::Sync(mut sync) => {
                for approval in std::mem::take(&mut sync.pending) {
                    self.known.approval(approval);
                }
                for question in std::mem::take(&mut sync.questions) {
                    self.known.question(question);
                }
                self.synced(*sync, at);
            }
            Live::Status(status) => {
                if let Some(reason) = status["read_only"].as_str() {
                    // What is not in the log never happened: no more of it comes.
                    self.end_all();
                    let reason = reason.to_owned();
                    self.tell(at, Told::ReadOnly { reason });
                }
                let (is_in, of) = (&status["samples_in"], &status["samples"]);
                if let (Some(is_in), Some(of)) = (is_in.as_u64(), of.as_u64()) {
                    self.tell(at, Told::Samples { is_in, of });
                }
            }
            Live::ClientJoined(_) | Live::ClientLeft(_) => {}
        }
    }

    pub(super) fn record(&mut self, body: Body, at: At) {
        match body {
            Body::User(message) => self.user(message, at),
            Body::Assistant(message) => {
                self.known.calls(&message.calls);
                self.assistant(&message, at);
            }
            Body::PolicyDecided(decided) => {
                if !decided.tool.is_empty() {
                    let call = (decided.tool, decided.subject);
                    self.known.calls.insert(decided.call, call);
                }
            }
            Body::ToolStarted(started) => self.tool_started(started, at),
            Body::ToolBlocked(blocked) => self.tool_blocked(blocked),
            Body::ToolFinished(finished) => self.tool_finished(finished, at),
            Body::ApprovalRequested(approval) => self.known.approval(approval),
            Body::ApprovalResolved(resolved) => self.resolved(resolved, at),
            Body::QuestionAsked(question) => self.known.question(question),
            Body::QuestionAnswered(answered) => self.answered(answered, at),
            Body::PlanProposed(plan) => self.proposed(&plan.plan, at),
            Body::TurnStarted(_) => self.end_all(),
            Body::TurnEnded(ended) => self.turn_ended(ended, at),
            Body::ChildSpawned(child) => self.spawned(child, at),
            Body::ChildExited(child) => self.child_exited(child, at),
            Body::CheckpointCreated(checkpoint) => self.checkpoint(checkpoint, at),
            Body::SessionRewound(rewound) => {
                self.push(at, What::Rewound(Box::new(rewound)));
            }
            Body::Notice(notice) => {
                let tone = match notice.level {
                    Level::Info => Tone::Info,
                    Level::Warning => Tone::Warning,
                    Level::Error => Tone::Error,
                };
                let words = notice.text;
                self.push(at, What::Notice { tone, words });
            }
            other => self.session(other, at),
        }
    }

    /// Records of the session and its queue.
    fn session(&mut self, body: Body, at: At) {
        let told = match body {
            Body::SessionCreated(created) => Some(Told::Created {
                pid: created.pid,
                model: created.options.model.unwrap_or_default(),
                cwd: created.cwd,
                origin: created.origin,
            }),
            Body::SessionState(state) => state_told(state),
            Body::SessionSet(set) if set.revoked.is_some() => Some(Told::Revoked {
                by: set.by.unwrap_or_default(),
                rule: set.revoked.unwrap_or_default(),
            }),
            Body::SessionSet(set) => set.paused.map(|paused| match paused {
                true => Told::Paused { by: set.by },
                false => Told::Resumed { by: set.by },
            }),
            Body::SessionExited(exited) => {
                self.end_all();
                Some(Told::Exited {
                    outcome: exited.outcome,
                    reason: exited.reason,
                })
            }
            Body::SessionReopened(reopened) => Some(Told::Reopened { by: reopened.by }),
            Body::SessionSuspended(_) => Some(Told::Suspended),
            Body::CacheReset(reset) => Some(Told::CacheReset {
                reason: reset_words(&reset),
            }),
            Body::ReasoningExtracted(found) => {
                Some(Told::ReasoningExtracted(extraction_words(&found)))
            }
            Body::MessagePinned(pinned) => Some(Told::Pinned(pin_words(&pinned))),
            Body::HookFinished(finished) => {
                // A call that was blocked says so itself.
                let shown = finished.call.is_none() || !finished.blocks();
                let passed = finished.outcome == HookOutcome::Pass;
                (shown && !passed).then(|| Told::Hook(Box::new(finished)))
            }
            Body::PromptQueued(queued) => {
                self.known.prompts.insert(queued.prompt_id, queued.text);
                None
            }
            Body::PromptEdited(edited) => {
                let which = self.known.which(edited.prompt_id);
                let prompts = &mut self.known.prompts;
                prompts.insert(edited.prompt_id, edited.text.clone());
                Some(Told::PromptEdited {
                    by: edited.by,
                    which,
                    text: first_words(&edited.text),
                })
            }
            Body::PromptMoved(moved) => Some(Told::PromptMoved {
                which: self.known.which(moved.prompt_id),
                by: moved.by,
                place: moved.position.saturating_add(1),
            }),
            Body::PromptUnqueued(unqueued) => {
                let which = self.known.which(unqueued.prompt_id);
                self.known.prompts.remove(&unqueued.prompt_id);
                Some(Told::PromptDropped { which })
            }
            // Shown elsewhere, or words for the model.
            _ => None,
        };
        if let Some(told) = told {
            self.tell(at, told);
        }
    }

    /// What the daemon says to the model is not for the person.
    fn user(&mut self, message: UserMessage, at: At) {
        if let Some(id) = message.prompt_id {
            self.known.prompts.remove(&id);
        }
        let steer = match message.voice {
            Voice::Prompt => false,
            Voice::Steer => true,
            Voice::Daemon => return,
        };
        let text = message.text;
        self.push(at, What::User { text, steer });
    }

    fn tool_started(&mut self, started: ToolStarted, at: At) {
        // After a crash a call may start again: it stands there already, and prints anew.
        if let Some((_, tail)) = self.known.running.get_mut(&started.call) {
            *tail = Tail::default();
            return;
        }
        let tool = Tool {
            call: started.call.clone(),
            tool: started.tool,
            subject: started.subject,
            outside: started.outside,
            output: String::new(),
            done: None,
        };
        let id = self.push(at, What::Tool(Box::new(tool)));
        self.known
            .running
            .insert(started.call, (id, Tail::default()));
    }

    fn tool_output(&mut self, output: &ToolOutput) {
        let Some((id, mut tail)) = self.known.running.remove(&output.call) else {
            return;
        };
        if let Some(entry) = self.find(id)
            && let What::Tool(tool) = &mut entry.what
        {
            tail.push(&mut tool.output, output.offset, &output.text);
        }
        self.known.running.insert(output.call.clone(), (id, tail));
    }

    /// A call was stopped: what it came to stands, and a run outside is shown by itself.
    fn tool_blocked(&mut self, blocked: ToolBlocked) {
        let done = Done {
            status: blocked.status,
            duration_ms: blocked.duration_ms,
            display: blocked.display,
            spill: blocked.spill,
            blocked: Some(blocked.reason),
            changed: Vec::new(),
        };
        if let Some((id, _)) = self.known.running.remove(&blocked.call) {
            self.settle_tool(id, done);
            self.known.blocked.insert(blocked.call);
        }
    }

    fn tool_finished(&mut self, finished: ToolFinished, at: At) {
        let call = finished.call;
        if self.known.blocked.remove(&call) && !self.known.running.contains_key(&call) {
            return;
        }
        // Its answers stand there already.
        if self.known.answered.remove(&call) && finished.status == CallStatus::Ok {
            return;
        }
        let mut display = finished.display;
        if let (CallStatus::Denied, Display::Line { text }) = (finished.status, &mut display) {
            let first = text.lines().next().unwrap_or_default().to_owned();
            self.known.reasons.insert(call.clone(), first);
            if self.known.denied.contains(&call) {
                text.clear();
            }
        }
        // Of edits there is the diff.
        let changed = match &display {
            Display::Command { .. } => finished.changed,
            Display::Diff { .. } | Display::Line { .. } => Vec::new(),
        };
        let done = Done {
            status: finished.status,
            duration_ms: finished.duration_ms,
            display,
            spill: finished.spill,
            blocked: None,
            changed,
        };
        let running = self.known.running.remove(&call);
        if let Some((id, _)) = running {
            self.settle_tool(id, done);
            return;
        }
        // It never started: what judged it, or asked, knows what it was.
        let judged = self.known.calls.get(&call).cloned();
        let (tool, subject) = judged.unwrap_or((finished.tool, String::new()));
        let tool = Tool {
            call,
            tool,
            subject,
            outside: false,
            output: String::new(),
            done: Some(done),
        };
        self.push(at, What::Tool(Box::new(tool)));
    }

    fn settle_tool(&mut self, id: u64, done: Done) {
        if let Some(entry) = self.find(id)
            && let What::Tool(tool) = &mut entry.what
        {
            tool.done = Some(done);
        }
    }

    /// A yes for once needs no words: what it allowed follows.
    fn resolved(&mut self, resolved: ApprovalResolved, at: At) {
        match resolved.decision {
            Decision::AllowOnce => return,
            Decision::AllowSession | Decision::AllowAlways => {}
            Decision::Deny => {
                self.known.denied.insert(resolved.call.clone());
            }
        }
        let judged = self.known.calls.get(&resolved.call).cloned();
        let (tool, subject) = judged.unwrap_or_default();
        let what = What::Resolved {
            tool,
            subject,
            resolved,
        };
        self.push(at, what);
    }

    /// A plan is words of the model: it is still there to be read when it has been answered.
    fn proposed(&mut self, plan: &str, at: At) {
        let mut markdown = Markdown::default();
        markdown.push(plan);
        markdown.finish();
        let finish = Some(Finish::ToolCalls);
        self.push(at, What::Answer { markdown, finish });
    }

    fn answered(&mut self, answered: QuestionAnswered, at: At) {
        let asked = self.known.asked.remove(&answered.question_id);
        if !answered.unattended {
            self.known.answered.insert(answered.call);
        }
        let what = What::Answered {
            asked: asked.unwrap_or_default(),
            replies: answered.replies,
            by: match answered.unattended {
                true => String::new(),
                false => answered.by,
            },
        };
        self.push(at, what);
    }

    fn turn_ended(&mut self, mut ended: TurnEnded, at: At) {
        self.end_all();
        let told = &self.known.reasons;
        ended.denied.retain(|denied| {
            let told = told.get(&denied.call).map(String::as_str);
            told.is_none() || told != denied.why.lines().next()
        });
        self.known.turn_ended();
        let quiet = ended.outcome == OutcomeKind::Completed
            && ended.error.is_none()
            && ended.denied.is_empty()
            && ended.duration_ms <= LONG_MS;
        if !quiet {
            self.push(at, What::Ended(Box::new(ended)));
        }
    }

    /// Whatever is live until now is not any more.
    fn end_all(&mut self) {
        self.streams_end();
        let running: Vec<_> = self.known.running.drain().collect();
        for (_, (id, _)) in running {
            let done = Done {
                status: CallStatus::Interrupted,
                duration_ms: 0,
                display: Display::Line {
                    text: String::new(),
                },
                spill: None,
                blocked: None,
                changed: Vec::new(),
            };
            self.settle_tool(id, done);
        }
    }

    fn spawned(&mut self, child: ChildSpawned, at: At) {
        match child.kind {
            ChildKind::Command => {}
            ChildKind::Shell => {
                let command = child.command;
                self.known.children.insert(child.pid, command.clone());
                let what = What::Child {
                    pid: child.pid,
                    command,
                    exited: None,
                };
                self.push(at, what);
            }
        }
    }

    /// Of one that was not seen to begin it is not known whether it was in the background.
    fn child_exited(&mut self, child: ChildExited, at: At) {
        let Some(command) = self.known.children.remove(&child.pid) else {
            return;
        };
        let what = What::Child {
            pid: child.pid,
            command,
            exited: Some(child),
        };
        self.push(at, what);
    }

    /// Nothing, but for what will not be there when it is wanted back: once a turn.
    fn checkpoint(&mut self, checkpoint: CheckpointCreated, at: At) {
        let Some(why) = checkpoint.skipped else {
            return;
        };
        let turn = at.turn.unwrap_or(0);
        if self.known.unkept.replace(turn) != Some(turn) {
            self.tell(at, Told::Unkept { why });
        }
    }
}

/// What a state says that neither the status line nor another entry shows. A wait for the next try is over soon.
fn state_told(state: SessionState) -> Option<Told> {
    match (state.state, state.waiting_for) {
        (State::Waiting, Some(WaitingFor::Credentials)) => {
            Some(Told::Credentials { cause: state.cause })
        }
        _ => None,
    }
}

/// How a text begins: enough to know a prompt by.
fn first_words(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(FIRST_WORDS) {
        Some((at, _)) => format!("{}…", line.split_at(at).0),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}
