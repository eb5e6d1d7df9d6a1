//! The state of a session as a fold over its log. Resuming is this and nothing else.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use proto::item::{CallStatus, Finish, ToolCall, Voice};
use proto::outcome::{Denied, TurnEnded, UsageTotals};
use proto::params::approval::{Approval, Decision, Scope};
use proto::params::session::{Exited, QueuedPrompt};
use proto::record::{ApprovalResolved, SessionCreated, Unattended, Verdict};
use proto::state::{Kind, OnAsk, Posture, State, WaitingFor};
use proto::{ApprovalId, Body, CallId, ItemId, PromptId, Record, RequestId, Seq, Stamp};

use crate::words;

/// Resolved approvals that are remembered, so that a late answer can be told who was first.
const RESOLVED_KEPT: usize = 256;

/// Everything that the log says about a session, less the words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub seq: Seq,
    pub created: Option<SessionCreated>,
    pub created_at: Stamp,
    pub active_at: Stamp,
    pub settings: Settings,
    pub state: Standing,
    pub queue: VecDeque<QueuedPrompt>,
    /// The number of the newest turn; numbers are never used again.
    pub turns: u64,
    pub open: Option<OpenTurn>,
    pub usage: UsageTotals,
    /// Prompt tokens of the newest request.
    pub context_tokens: u64,
    /// Assistant messages in the conversation.
    pub answered: u64,
    /// User messages in the conversation.
    pub spoken: u64,
    /// Approvals that were ever opened: the next one's number.
    pub questions: u64,
    pub pending: BTreeMap<ApprovalId, Approval>,
    pub resolved: VecDeque<(ApprovalResolved, Stamp)>,
    /// What people allowed for the rest of the session.
    pub grants: Vec<Scope>,
    pub ended: Option<TurnEnded>,
    /// A turn has ended, and what the session became of it (at rest, exited) has not been logged yet.
    pub unsettled: bool,
    pub exited: Option<Exited>,
    /// A prompt came after the exit, and the session has not been reopened yet.
    pub woken: bool,
    /// Every call id of the conversation: ids are unique in a session, whatever the vendor does.
    pub call_ids: HashSet<CallId>,
    pub last_line: String,
    /// What was done for which `request_id`, and when.
    pub requests: HashMap<RequestId, Done>,
}

/// State, what for, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub state: State,
    pub waiting_for: Option<WaitingFor>,
    pub cause: String,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            state: State::Idle,
            waiting_for: None,
            cause: String::new(),
        }
    }
}

/// Settings in force: those of the creation, changed by each `session.set`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub kind: Kind,
    pub posture: Posture,
    pub on_ask: Option<OnAsk>,
    pub name: Option<String>,
    pub labels: Vec<String>,
    pub max_steps: u64,
    pub timeout_ms: u64,
}

/// What a `request_id` led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub at: Stamp,
    pub seq: Seq,
    /// What was asked, in a form that can be compared: the record's kind and its content.
    pub content: String,
    /// The prompt that was made, for `session.prompt`.
    pub prompt_id: Option<PromptId>,
}

/// A turn that has started and not ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenTurn {
    pub number: u64,
    pub started_at: Stamp,
    /// Messages so far: the next one's number.
    pub items: u64,
    /// Answers so far.
    pub steps: u64,
    pub tool_calls: u64,
    pub usage: UsageTotals,
    pub text: String,
    pub denied: Vec<Denied>,
    /// A call did what it was asked, and its result stands after the last unattended denial.
    pub ok_since_denial: bool,
    /// The calls of the newest answer.
    pub calls: Vec<OpenCall>,
    /// What was denied in this turn stays denied.
    pub refused: HashSet<(String, String)>,
    /// The newest message is an answer without calls: how it ended. The turn is to be settled by it.
    pub plain_answer: Option<Finish>,
    /// The model has been told to answer in words after an empty answer.
    pub prodded: bool,
    /// The last request of the turn is, or was, without tools.
    pub summing_up: bool,
}

/// A call of the newest answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    pub call: ToolCall,
    pub stage: Stage,
    /// What policy said when it looked last.
    pub read_only: bool,
}

/// How far a call has come, as the log tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing happened yet.
    Open,
    /// A person is asked.
    Asked(ApprovalId),
    /// A person said yes to what was shown; it has not started.
    Approved { shown_hash: String },
    /// It was denied, and never runs; its result, in these words, waits for its place.
    Denied { words: String },
    /// It runs, or ran when the daemon died.
    Started { read_only: bool },
    /// It has its result.
    Closed,
}

impl OpenTurn {
    /// The id of the next message of this turn.
    #[must_use]
    pub fn next_item(&self) -> ItemId {
        ItemId(format!("m{}.{}", self.number, self.items + 1))
    }

    fn stage(&mut self, call: &CallId, stage: Stage) {
        if let Some(open) = self.calls.iter_mut().find(|open| open.call.id == *call) {
            open.stage = stage;
        }
    }
}

impl Facts {
    /// Folds a whole log.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut facts = Self::default();
        for record in records {
            facts.apply(record);
        }
        facts
    }

    /// Takes one record in. Total: a log that another version wrote never panics here.
    pub fn apply(&mut self, record: &Record) {
        self.seq = record.seq;
        self.active_at = record.at;
        match &record.body {
            Body::SessionCreated(created) => self.apply_created(created, record),
            Body::SessionSet(_) => self.apply_set(record),
            Body::SessionState(state) => {
                self.state = Standing {
                    state: state.state,
                    waiting_for: state.waiting_for,
                    cause: state.cause.clone(),
                };
                self.unsettled = false;
            }
            Body::SessionExited(exited) => {
                self.exited = Some(Exited {
                    outcome: exited.outcome,
                    reason: exited.reason,
                    exit_code: exited.exit_code,
                });
                self.state = Standing {
                    state: State::Exited,
                    waiting_for: None,
                    cause: "exit".into(),
                };
                self.unsettled = false;
                self.woken = false;
                self.remember(exited.request_id, record, "exit".into(), None);
            }
            Body::SessionReopened(reopened) => {
                self.exited = None;
                self.woken = false;
                self.state = Standing {
                    state: State::Idle,
                    waiting_for: None,
                    cause: format!("reopened by {}", reopened.by),
                };
            }
            Body::PromptQueued(_) | Body::PromptUnqueued(_) => self.apply_queue(record),
            // The prompt stays in the queue until its message is there: a batch may be torn between the two.
            Body::TurnStarted(_) => {
                self.turns = record.turn.unwrap_or(self.turns + 1);
                self.unsettled = false;
                self.open = Some(OpenTurn {
                    number: self.turns,
                    started_at: record.at,
                    ..OpenTurn::default()
                });
            }
            Body::TurnEnded(ended) => {
                self.open = None;
                self.ended = Some(ended.clone());
                self.unsettled = true;
            }
            Body::User(_) | Body::Assistant(_) | Body::Tool(_) => self.apply_message(&record.body),
            Body::PolicyDecided(decided) => {
                let calls = self.open.iter_mut().flat_map(|open| &mut open.calls);
                for open in calls.filter(|open| open.call.id == decided.call) {
                    open.read_only = decided.read_only;
                }
                let unattended = decided.unattended == Some(Unattended::Denied);
                if unattended {
                    self.nobody_there(
                        &decided.call,
                        &decided.subject,
                        decided.why.as_deref().unwrap_or_default(),
                    );
                }
                if unattended || decided.verdict == Verdict::Deny {
                    self.deny(&decided.call, words::denied_by_policy(decided));
                }
            }
            Body::ToolFinished(_) | Body::Notice(_) | Body::Unknown { .. } => {}
            Body::ToolStarted(started) => {
                if let Some(open) = &mut self.open {
                    open.stage(
                        &started.call,
                        Stage::Started {
                            read_only: started.read_only,
                        },
                    );
                }
            }
            Body::ApprovalRequested(approval) => {
                self.questions += 1;
                self.pending
                    .insert(approval.approval_id.clone(), approval.clone());
                if let Some(open) = &mut self.open {
                    open.stage(&approval.call, Stage::Asked(approval.approval_id.clone()));
                }
            }
            Body::ApprovalResolved(resolved) => self.apply_resolved(resolved, record),
            Body::Usage(usage) => {
                let totals = UsageTotals {
                    requests: 1,
                    prompt_tokens: usage.prompt_tokens,
                    cached_tokens: usage.cached_tokens,
                    output_tokens: usage.output_tokens,
                    reasoning_tokens: usage.reasoning_tokens,
                    cost_micros: usage.cost_micros.unwrap_or(0),
                    unknown_cost_calls: u64::from(usage.cost_micros.is_none()),
                };
                self.usage.add(&totals);
                if usage.reported {
                    self.context_tokens = usage.prompt_tokens + usage.output_tokens;
                }
                if let Some(open) = &mut self.open {
                    open.usage.add(&totals);
                }
            }
        }
    }

    fn apply_created(&mut self, created: &SessionCreated, record: &Record) {
        self.settings = Settings {
            kind: created.kind,
            posture: created.posture,
            on_ask: Some(created.on_ask),
            name: created.name.clone(),
            labels: created.labels.clone(),
            max_steps: created.max_steps,
            timeout_ms: created.timeout_ms,
        };
        self.created_at = record.at;
        self.created = Some(created.clone());
        self.state.cause = "created".into();
    }

    fn apply_set(&mut self, record: &Record) {
        let Body::SessionSet(set) = &record.body else {
            return;
        };
        let settings = &mut self.settings;
        settings.posture = set.posture.unwrap_or(settings.posture);
        settings.on_ask = set.on_ask.or(settings.on_ask);
        settings.kind = set.kind.unwrap_or(settings.kind);
        settings.max_steps = set.max_steps.unwrap_or(settings.max_steps);
        settings.timeout_ms = set.timeout_ms.unwrap_or(settings.timeout_ms);
        if let Some(name) = &set.name {
            settings.name = Some(name.clone()).filter(|name| !name.is_empty());
        }
        if let Some(labels) = &set.labels {
            settings.labels.clone_from(labels);
        }
        self.remember(
            set.request_id,
            record,
            format!("set {}", content_of_set(set)),
            None,
        );
    }

    fn apply_queue(&mut self, record: &Record) {
        match &record.body {
            Body::PromptQueued(prompt) => {
                self.queue.push_back(QueuedPrompt {
                    prompt_id: prompt.prompt_id,
                    text: prompt.text.clone(),
                    steer: prompt.steer,
                    by: prompt.by.clone(),
                });
                self.woken = self.exited.is_some();
                self.last_line = first_line(&prompt.text);
                self.remember(
                    prompt.request_id,
                    record,
                    content_of_prompt(&prompt.text, prompt.steer),
                    Some(prompt.prompt_id),
                );
            }
            Body::PromptUnqueued(prompt) => self
                .queue
                .retain(|queued| queued.prompt_id != prompt.prompt_id),
            _ => {}
        }
    }

    fn apply_message(&mut self, body: &Body) {
        match body {
            Body::User(message) => {
                self.spoken += 1;
                if let Some(id) = message.prompt_id {
                    self.queue.retain(|queued| queued.prompt_id != id);
                }
                if let Some(open) = &mut self.open {
                    open.items += 1;
                    open.calls.clear();
                    open.plain_answer = None;
                    // A person may say the same words; they mean nothing then.
                    let by_daemon = message.voice == Voice::Daemon;
                    open.prodded |= by_daemon && message.text == words::REASONING_ONLY;
                    open.summing_up |= by_daemon && message.text == words::SUM_UP;
                }
            }
            Body::Assistant(message) => {
                self.answered += 1;
                self.call_ids
                    .extend(message.calls.iter().map(|call| call.id.clone()));
                if !message.text.trim().is_empty() {
                    self.last_line = first_line(&message.text);
                }
                if let Some(open) = &mut self.open {
                    open.items += 1;
                    open.steps += 1;
                    open.tool_calls += message.calls.len() as u64;
                    open.text.clone_from(&message.text);
                    open.plain_answer = message.calls.is_empty().then_some(message.finish);
                    open.calls = message
                        .calls
                        .iter()
                        .map(|call| OpenCall {
                            call: call.clone(),
                            stage: Stage::Open,
                            read_only: false,
                        })
                        .collect();
                }
            }
            Body::Tool(message) => {
                if let Some(open) = &mut self.open {
                    open.items += 1;
                    // As the results stand in the conversation, not as they came in.
                    if message.status == CallStatus::Ok {
                        open.ok_since_denial = true;
                    } else if open.denied.iter().any(|denied| denied.call == message.call) {
                        open.ok_since_denial = false;
                    }
                    open.stage(&message.call, Stage::Closed);
                }
            }
            _ => {}
        }
    }

    /// A call was denied, for good: the same call is not asked about again in this turn.
    fn deny(&mut self, call: &CallId, words: String) {
        let Some(open) = &mut self.open else { return };
        if let Some(denied) = open.calls.iter().find(|open| open.call.id == *call) {
            open.refused
                .insert((denied.call.name.clone(), denied.call.arguments.clone()));
        }
        open.stage(call, Stage::Denied { words });
    }

    /// Notes a call that was denied because nobody was there to say yes.
    fn nobody_there(&mut self, call: &CallId, subject: &str, why: &str) {
        let Some(open) = &mut self.open else { return };
        let tool = open
            .calls
            .iter()
            .find(|open| open.call.id == *call)
            .map(|open| open.call.name.clone());
        open.denied.push(Denied {
            call: call.clone(),
            tool: tool.unwrap_or_default(),
            subject: subject.to_owned(),
            why: why.to_owned(),
        });
    }

    fn apply_resolved(&mut self, resolved: &ApprovalResolved, record: &Record) {
        let asked = self.pending.remove(&resolved.approval_id);
        if resolved.unattended
            && let Some(asked) = &asked
        {
            self.nobody_there(
                &resolved.call,
                &asked.subject,
                resolved.note.as_deref().unwrap_or_default(),
            );
        }
        if resolved.decision == Decision::AllowSession
            && let Some(scope) = &resolved.scope
        {
            self.grants.push(scope.clone());
        }
        if resolved.decision == Decision::Deny {
            self.deny(&resolved.call, words::denied_by_answer(resolved));
        } else if let Some(open) = &mut self.open {
            let shown_hash = asked.map(|asked| asked.shown_hash).unwrap_or_default();
            open.stage(&resolved.call, Stage::Approved { shown_hash });
        }
        self.remember(
            resolved.request_id,
            record,
            content_of_answer(&resolved.approval_id, resolved.decision),
            None,
        );
        self.resolved.push_back((resolved.clone(), record.at));
        if self.resolved.len() > RESOLVED_KEPT {
            self.resolved.pop_front();
        }
    }

    fn remember(
        &mut self,
        id: Option<RequestId>,
        record: &Record,
        content: String,
        prompt_id: Option<PromptId>,
    ) {
        /// How long a `request_id` is remembered (contract, chapter 10): 24 hours.
        const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
        let Some(id) = id else { return };
        let at = record.at;
        self.requests.retain(|_, done| at.0 - done.at.0 <= KEPT_MS);
        self.requests.insert(
            id,
            Done {
                at,
                seq: record.seq,
                content,
                prompt_id,
            },
        );
    }
}

/// A prompt in a form that repeats can be compared by.
#[must_use]
pub fn content_of_prompt(text: &str, steer: bool) -> String {
    format!("prompt {steer} {text}")
}

/// An answer to an approval in a form that repeats can be compared by.
#[must_use]
pub fn content_of_answer(id: &ApprovalId, decision: Decision) -> String {
    format!("answer {id} {decision:?}")
}

/// A change of settings in a form that repeats can be compared by.
#[must_use]
pub fn content_of_set(set: &proto::record::SessionSet) -> String {
    let bare = proto::record::SessionSet {
        by: None,
        request_id: None,
        ..set.clone()
    };
    serde_json::to_string(&bare).unwrap_or_default()
}

/// The first line of a text that says something, at most 120 characters.
fn first_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .chars()
        .take(120)
        .collect()
}
