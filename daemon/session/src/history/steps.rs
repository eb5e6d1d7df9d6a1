//! The steps of a session, folded from its records: each answer of the model, its usage, and the calls it led to.
//!
//! Pure. Whoever reads the log feeds it.

use std::collections::HashMap;

use proto::params::interaction::InteractionRequest;
use proto::params::session::{Step, StepCall, StepsOutput};
use proto::record::Usage;
use proto::{Body, CallId, InteractionId, Record, Stamp};

/// Steps of a page where the caller does not say.
const PAGE: u64 = 200;
/// Steps of a page at most.
const PAGE_MAX: u64 = 1_000;
/// A page ends before it has more bytes than this, so that it fits a frame.
const PAGE_BYTES: usize = 512 * 1024;
/// Characters that are shown of what a call works on.
const SUBJECT_MAX: usize = 1_000;

/// Which steps are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepFilter {
    pub turn: Option<u64>,
    pub after: u64,
    /// 0: as many as a page has.
    pub limit: u64,
}

/// The fold.
#[derive(Default)]
pub struct Steps {
    wanted: StepFilter,
    /// Answers so far.
    count: u64,
    /// The newest answer; its calls may still get their ends.
    open: Option<Step>,
    /// What its calls work on by their arguments: shown if nobody judged them.
    named: HashMap<String, String>,
    /// Interactions of its calls that wait for the user.
    asked: HashMap<InteractionId, (CallId, Stamp)>,
    /// The usage of the next answer: its record precedes the answer.
    usage: Option<Usage>,
    done: Vec<Step>,
    bytes: usize,
    more: bool,
}

impl Steps {
    pub fn new(wanted: StepFilter) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Whether records of this kind say anything about steps: others need not be read.
    pub fn reads(kind: &str) -> bool {
        matches!(
            kind,
            "message.assistant"
                | "message.tool"
                | "usage"
                | "tool.started"
                | "tool.finished"
                | "policy.decided"
                | "interaction.opened"
                | "interaction.resolved"
        )
    }

    /// Takes the next record in.
    pub fn take(&mut self, record: &Record) {
        match &record.body {
            Body::Assistant(message) => {
                self.close();
                self.count += 1;
                let named = message.calls.iter();
                self.named = named
                    .map(|call| (call.id.0.clone(), call.subject()))
                    .collect();
                let calls = message.calls.iter().map(|call| StepCall {
                    call: call.id.0.clone(),
                    tool: call.name.clone(),
                    ..StepCall::default()
                });
                let mut step = Step {
                    n: self.count,
                    turn: record.turn.unwrap_or(0),
                    seq: record.seq,
                    at: record.at,
                    attempts: 1,
                    text: contract::first_line(&message.text),
                    calls: calls.collect(),
                    ..Step::default()
                };
                if let Some(usage) = self.usage.take().filter(|usage| usage.item == message.item) {
                    took(&mut step, &usage);
                }
                self.open = Some(step);
                self.usage = None;
            }
            // Of the try that counts: the last one before the answer.
            Body::Usage(usage) => self.usage = Some(usage.clone()),
            Body::PolicyDecided(decided) => self.subject(&decided.call, &decided.subject),
            Body::ToolStarted(started) => self.subject(&started.call, &started.subject),
            Body::ToolFinished(finished) => {
                if let Some(call) = self.call(&finished.call) {
                    call.status = Some(finished.status);
                    call.duration_ms = finished.duration_ms;
                }
            }
            Body::Tool(message) => {
                // A call that never ran has a result and no end.
                if let Some(call) = self.call(&message.call) {
                    call.status.get_or_insert(message.status);
                }
            }
            Body::InteractionOpened(open) => {
                match &open.request {
                    InteractionRequest::Approval(approval) => {
                        self.subject(&open.call, &approval.subject);
                    }
                    InteractionRequest::Questions { .. }
                    | InteractionRequest::Plan { .. }
                    | InteractionRequest::Elicitation(_) => {}
                }
                let asked = (open.call.clone(), record.at);
                self.asked.insert(open.interaction_id.clone(), asked);
            }
            Body::InteractionResolved(resolved) => {
                let Some((call, since)) = self.asked.remove(&resolved.interaction_id) else {
                    return;
                };
                let took = u64::try_from(record.at.0 - since.0).unwrap_or(0);
                if let Some(call) = self.call(&call) {
                    call.asked_ms += took;
                }
            }
            _ => {}
        }
    }

    /// The page.
    pub fn finish(mut self) -> StepsOutput {
        self.close();
        let next = self.done.last().map(|step| step.n).filter(|_| self.more);
        StepsOutput {
            steps: self.done,
            next,
        }
    }

    fn call(&mut self, id: &CallId) -> Option<&mut StepCall> {
        let calls = &mut self.open.as_mut()?.calls;
        calls.iter_mut().find(|call| call.call == id.0)
    }

    fn subject(&mut self, id: &CallId, subject: &str) {
        if let Some(call) = self.call(id)
            && call.subject.is_empty()
        {
            call.subject = subject.chars().take(SUBJECT_MAX).collect();
        }
    }

    /// The newest answer has all its ends: it joins the page, if it is requested and fits.
    fn close(&mut self) {
        self.asked.clear();
        let named = std::mem::take(&mut self.named);
        let Some(mut step) = self.open.take() else {
            return;
        };
        for call in step.calls.iter_mut().filter(|call| call.subject.is_empty()) {
            let subject = named.get(&call.call).map_or("", String::as_str);
            call.subject = subject.chars().take(SUBJECT_MAX).collect();
        }
        let StepFilter { turn, after, limit } = self.wanted;
        if self.more || step.n <= after || turn.is_some_and(|turn| turn != step.turn) {
            return;
        }
        let limit = match limit {
            0 => PAGE,
            limit => limit.min(PAGE_MAX),
        };
        let bytes = serde_json::to_string(&step).map_or(0, |text| text.len());
        let full = self.done.len() as u64 >= limit
            || (!self.done.is_empty() && self.bytes + bytes > PAGE_BYTES);
        if full {
            self.more = true;
            return;
        }
        self.bytes += bytes;
        self.done.push(step);
    }
}

fn took(step: &mut Step, usage: &Usage) {
    step.attempts = usage.attempt;
    step.request_bytes = usage.request_bytes;
    step.first_token_ms = usage.first_token_ms;
    step.duration_ms = usage.duration_ms;
    step.prompt_tokens = usage.prompt_tokens;
    step.cached_tokens = usage.cached_tokens;
    step.output_tokens = usage.output_tokens;
}

#[cfg(test)]
mod tests;
