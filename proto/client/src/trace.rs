//! What a session did, one line a happening, as a fold over its durable events: the same live and from the log.
//!
//! Pure. Only durable events count, so that two readers of one log see the same lines. Times are those of the records,
//! and never go backwards, but for those of a request and its first token: the record that contains them comes with the
//! answer, and earlier lines report what happened meanwhile. The text is raw: whoever prints it strips control sequences.

mod history;
mod text;
mod what;

use std::collections::{HashMap, HashSet};

use proto::item::{Display, ToolMessage, UserMessage, Voice};
use proto::outcome::TurnEnded;
use proto::record::{PolicyDecided, SessionSet, SessionState, ToolFinished, Usage};
use proto::state::{State, WaitingFor};
use proto::{Body, CallId, InteractionId, ItemId, PromptId, Seq, Stamp};
use schemars::JsonSchema;
use serde::Serialize;

pub use what::{Tokens, What};

use crate::event::DecodedEvent;
use crate::messages::Language;
use crate::messages::trace::Msg;
use crate::transcript::words;
use crate::user_waits::UserWaits;

/// A line of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// The record that says it.
    pub seq: Seq,
    pub turn: Option<u64>,
    /// When it happened, by the system clock; before the line above only for `request` and `first_token`.
    pub at: Stamp,
    /// Milliseconds since its turn began; absent outside turns.
    pub t_ms: Option<u64>,
    #[serde(flatten)]
    pub what: What,
}

/// Characters of a prompt, a subject or an error that a line shows.
const SHOWN: usize = 100;

/// The part of a session's past that its next line needs. Begin with its first event.
#[derive(Debug, Default)]
pub struct Trace {
    /// Of entries that are worded when they are read.
    language: Language,
    last: Stamp,
    began: Option<(u64, Stamp)>,
    prompts: HashMap<PromptId, String>,
    /// Answers by their item, in the order in which they are first heard of.
    numbers: HashMap<ItemId, u64>,
    tools: HashMap<CallId, String>,
    /// When each open interaction was opened.
    asked: HashMap<InteractionId, Stamp>,
    /// Calls whose end was reported.
    ended: HashSet<CallId>,
    /// The waits of the newest turn for the user.
    waits: UserWaits,
}

impl Trace {
    /// A trace that is read in this language.
    #[must_use]
    pub fn in_language(language: Language) -> Self {
        Self {
            language,
            ..Self::default()
        }
    }

    /// The lines that an event adds. Events without a `seq` add none.
    pub fn fold(&mut self, event: &DecodedEvent) -> Vec<Line> {
        let (Some(seq), Some(body)) = (event.seq, event.body()) else {
            return Vec::new();
        };
        if matches!(body, Body::TurnStarted(_))
            && let Some(turn) = event.turn
        {
            self.began = Some((turn, event.at.max(self.last)));
        }
        self.waits.fold(body, event.at);
        self.body(body.clone(), event.at)
            .into_iter()
            .map(|(at, what)| {
                let at = match what {
                    What::Request { .. } | What::FirstToken { .. } => at,
                    _ => at.max(self.last),
                };
                self.last = self.last.max(at);
                Line {
                    seq,
                    turn: event.turn,
                    at,
                    t_ms: self.since(event.turn, at),
                    what,
                }
            })
            .collect()
    }

    /// Milliseconds from the beginning of a turn to a moment in it.
    fn since(&self, turn: Option<u64>, at: Stamp) -> Option<u64> {
        let (began, from) = self.began?;
        (turn == Some(began)).then(|| between(from, at))
    }

    fn body(&mut self, body: Body, at: Stamp) -> Vec<(Stamp, What)> {
        let what = match body {
            Body::SessionCreated(created) => What::Created {
                pid: created.pid,
                model: created.options.model.unwrap_or_default(),
                cwd: created.cwd,
                forked_from: created.origin.map(|origin| (origin.pid, origin.turn)),
            },
            Body::SessionSet(set) => return set_lines(set, at),
            Body::SessionState(state) => return self.state_line(state, at),
            Body::SessionExited(exited) => What::Exited {
                outcome: exited.outcome,
                reason: exited.reason,
                exit_code: exited.exit_code,
            },
            Body::SessionReopened(reopened) => What::Reopened { by: reopened.by },
            Body::SessionSuspended(_) => What::Suspended,
            Body::SessionRestarted(restarted) => What::Restarted {
                number: restarted.number,
                outcome: restarted.outcome,
                reason: self.short(&restarted.reason),
                wait_ms: restarted.wait_ms,
            },
            Body::SessionGaveUp(gave_up) => What::GaveUp {
                reason: gave_up.reason,
                restarts: gave_up.restarts,
                detail: self.short(&gave_up.detail),
            },
            Body::PromptQueued(queued) => {
                let prompt = short(&queued.text);
                self.prompts.insert(queued.prompt_id, prompt.clone());
                What::Queued {
                    prompt,
                    steer: queued.steer,
                    by: queued.by,
                }
            }
            Body::PromptUnqueued(unqueued) => {
                self.requeued(unqueued.prompt_id, self.language.say(Msg::TakenBack))
            }
            Body::PromptEdited(edited) => {
                self.prompts.insert(edited.prompt_id, short(&edited.text));
                let how = self.language.fill(Msg::EditedBy, &[&edited.by]);
                self.requeued(edited.prompt_id, &how)
            }
            Body::PromptMoved(moved) => {
                let place = (moved.position + 1).to_string();
                let how = self.language.fill(Msg::MovedTo, &[&place, &moved.by]);
                self.requeued(moved.prompt_id, &how)
            }
            Body::TurnStarted(started) => What::TurnStart {
                prompt: self.prompt(started.prompt_id),
            },
            Body::TurnEnded(ended) => self.turn_end(ended),
            Body::User(message) => return self.user(message, at),
            Body::Assistant(message) => {
                self.number(&message.item);
                for call in message.calls {
                    self.tools.insert(call.id, call.name);
                }
                return Vec::new();
            }
            Body::Tool(message) => return self.result(message, at),
            Body::PolicyDecided(decided) => self.call(decided),
            Body::CallReviewed(reviewed) => What::Reviewed {
                call: reviewed.call,
                tool: reviewed.tool,
                verdict: reviewed.verdict,
                decided: reviewed.decided,
                reason: short(&reviewed.reason),
                model: reviewed.model,
                duration_ms: reviewed.duration_ms,
            },
            Body::ToolStarted(started) => What::Start {
                call: started.call,
                tool: started.tool,
                subject: short(&started.subject),
                outside: started.outside,
            },
            Body::ToolBlocked(blocked) => What::Blocked {
                call: blocked.call,
                tool: blocked.tool,
                reason: self.language.translate(&blocked.reason).into_owned(),
                duration_ms: blocked.duration_ms,
            },
            Body::ToolFinished(finished) => self.run(finished),
            Body::InteractionOpened(interaction) => {
                self.asked.insert(interaction.interaction_id.clone(), at);
                history::asked(interaction)
            }
            Body::InteractionResolved(resolved) => {
                let asked = self.asked.remove(&resolved.interaction_id);
                let after = asked.map(|asked| between(asked, at));
                history::answered(self.language, resolved, after)
            }
            Body::ChildSpawned(child) => What::ChildSpawned {
                pid: child.pid,
                command: short(&child.command),
            },
            Body::ChildExited(child) => What::ChildExited {
                pid: child.pid,
                code: child.code,
                signal: child.signal,
                cause: child.cause,
            },
            Body::Usage(usage) => return self.usage(&usage, at),
            Body::Notice(notice) => What::Notice {
                level: notice.level,
                text: self.short(&notice.text),
            },
            Body::TodoUpdated(updated) => history::todos(&updated.todos),
            Body::CheckpointCreated(checkpoint) => history::checkpoint(self.language, checkpoint),
            Body::SessionRewound(rewound) => history::rewound(rewound),
            Body::HookFinished(finished) => What::Hook {
                event: finished.event,
                hook: short(&finished.hook),
                outcome: finished.outcome,
                reason: finished.reason.as_deref().map(short),
                duration_ms: finished.duration_ms,
                call: finished.call,
            },
            Body::MessagePinned(pinned) => What::Pinned {
                item: pinned.item.0,
                pinned: pinned.pinned,
                by: pinned.by,
            },
            Body::CacheReset(reset) => What::CacheReset {
                reason: short(&words::reset(self.language, &reset)),
            },
            Body::CallsRepaired(repaired) => What::Repaired { calls: repaired },
            Body::ReasoningExtracted(found) => What::ReasoningExtracted {
                found: short(&words::extraction(self.language, &found)),
            },
            Body::GoalStarted(started) => {
                let by = words::who(self.language, &started.by);
                self.goal(Msg::GoalStarted, &[&by, &short(&started.text)])
            }
            Body::GoalChanged(changed) => {
                let by = words::who(self.language, &changed.by);
                let limits = words::goal_limits(self.language, changed.max_turns, changed.budget);
                self.goal(Msg::GoalChanged, &[&by, &limits])
            }
            Body::GoalContinued(continued) => What::Goal {
                text: short(&words::goal_continued(self.language, &continued)),
            },
            Body::GoalEnded(ended) => What::Goal {
                text: short(&words::goal_ended(self.language, &ended)),
            },
            other => What::Other {
                kind: other.kind().to_owned(),
                data: short(&other.to_json().unwrap_or_default()),
            },
        };
        now(at, what)
    }

    fn goal(&self, message: Msg, values: &[&str]) -> What {
        What::Goal {
            text: self.language.fill(message, values),
        }
    }

    /// Words of the daemon, as [`short`] has them.
    fn short(&self, text: &str) -> String {
        short(&self.language.translate(text))
    }

    fn turn_end(&self, ended: TurnEnded) -> What {
        What::TurnEnd {
            outcome: ended.outcome,
            reason: ended.reason,
            duration_ms: ended.duration_ms,
            waited_ms: self.waits.total(),
            steps: ended.steps,
            tool_calls: ended.tool_calls,
            error: ended.error.map(|failure| self.short(&failure.message)),
        }
    }

    /// Waits that have a separate reason. The others are reported by the lines of what is awaited.
    fn state_line(&self, state: SessionState, at: Stamp) -> Vec<(Stamp, What)> {
        let cause = || self.short(&state.cause);
        match (state.state, state.waiting_for) {
            (State::Waiting, Some(WaitingFor::Retry)) => now(
                at,
                What::Retry {
                    in_ms: state.retry_in_ms,
                    cause: cause(),
                },
            ),
            (State::Waiting, Some(WaitingFor::Credentials)) => {
                now(at, What::WaitsForKey { cause: cause() })
            }
            (State::Waiting, Some(WaitingFor::Interaction(_) | WaitingFor::Restart) | None)
            | (State::Idle | State::Running | State::Paused | State::Exited, _) => Vec::new(),
        }
    }

    fn prompt(&self, id: PromptId) -> String {
        self.prompts.get(&id).cloned().unwrap_or_default()
    }

    fn requeued(&self, id: PromptId, how: &str) -> What {
        What::Requeued {
            how: how.to_owned(),
            prompt: self.prompt(id),
        }
    }

    /// The number of an answer in its session, from 1: as `session.steps` counts them.
    fn number(&mut self, item: &ItemId) -> u64 {
        let next = self.numbers.len() as u64 + 1;
        *self.numbers.entry(item.clone()).or_insert(next)
    }

    fn tool(&self, call: &CallId) -> String {
        self.tools.get(call).cloned().unwrap_or_default()
    }

    /// A prompt that began a turn was reported with the turn; messages in mid-turn are reported here.
    fn user(&self, message: UserMessage, at: Stamp) -> Vec<(Stamp, What)> {
        if message.voice == Voice::Prompt {
            return Vec::new();
        }
        let text = short(&message.text);
        now(
            at,
            What::Told {
                voice: message.voice,
                text,
            },
        )
    }

    /// A result whose call was not reported to have ended: it never ran, or nobody saw its end.
    fn result(&mut self, message: ToolMessage, at: Stamp) -> Vec<(Stamp, What)> {
        if self.ended.remove(&message.call) {
            return Vec::new();
        }
        let text = self.short(&message.text);
        now(
            at,
            What::Result {
                call: message.call,
                tool: message.tool,
                status: message.status,
                text,
            },
        )
    }

    fn call(&mut self, decided: PolicyDecided) -> What {
        // The judged tool is the one that a call leads to, which may be another than it names.
        if !decided.tool.is_empty() {
            self.tools.insert(decided.call.clone(), decided.tool);
        }
        What::Call {
            tool: self.tool(&decided.call),
            call: decided.call,
            subject: short(&decided.subject),
            verdict: decided.verdict,
            unattended: decided.unattended,
            rule: decided.rule,
            layer: decided.layer,
        }
    }

    fn run(&mut self, finished: ToolFinished) -> What {
        self.ended.insert(finished.call.clone());
        let (exit_code, signal) = match finished.display {
            Display::Command {
                exit_code, signal, ..
            } => (exit_code, signal),
            Display::Line { .. } | Display::Diff { .. } => (None, None),
        };
        What::Run {
            call: finished.call,
            tool: finished.tool,
            status: finished.status,
            duration_ms: finished.duration_ms,
            exit_code,
            signal,
        }
    }

    /// One record reports three events: when the request went out, when the first token came, when the answer was
    /// whole.
    fn usage(&mut self, usage: &Usage, at: Stamp) -> Vec<(Stamp, What)> {
        let n = self.number(&usage.item);
        let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        // Counted back from the answer, whose line is not before the one above, and not to before the turn.
        let at = at.max(self.last);
        let turn = self.began.map_or(Stamp(i64::MIN), |(_, began)| began);
        let out = Stamp(at.0.saturating_sub(ms(usage.duration_ms))).max(turn);
        let purpose = usage.purpose;
        let request = What::Request {
            n,
            purpose,
            attempt: usage.attempt,
            bytes: usage.request_bytes,
        };
        let first = What::FirstToken {
            n,
            purpose,
            after_ms: usage.first_token_ms,
        };
        let answer = What::Answer {
            n,
            purpose,
            duration_ms: usage.duration_ms,
            tokens: usage.reported.then_some(Tokens {
                prompt: usage.prompt_tokens,
                cached: usage.cached_tokens,
                output: usage.output_tokens,
                cost_micros: usage.cost_micros,
            }),
        };
        let heard = Stamp(out.0.saturating_add(ms(usage.first_token_ms)));
        vec![(out, request), (heard.min(at), first), (at, answer)]
    }
}

fn now(at: Stamp, what: What) -> Vec<(Stamp, What)> {
    vec![(at, what)]
}

fn between(from: Stamp, to: Stamp) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}

/// A pause or its end, and the other settings that changed, each as `name=value`.
fn set_lines(set: SessionSet, at: Stamp) -> Vec<(Stamp, What)> {
    let by = set.by.clone();
    let mut lines = match set.paused {
        Some(true) => now(at, What::Paused { by: by.clone() }),
        Some(false) => now(at, What::Resumed { by: by.clone() }),
        None => Vec::new(),
    };
    let changes = text::changes(&set);
    if !changes.is_empty() {
        lines.push((at, What::Set { changes, by }));
    }
    lines
}

/// The first line of a text, cut, with an ellipsis where something is left out.
pub(crate) fn short(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
