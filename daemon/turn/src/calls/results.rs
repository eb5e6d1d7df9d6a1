//! The results of calls: each call is closed as soon as it ends, and results are logged in call order.

use contract::Outcome;
use proto::item::{CallStatus, Display, Image, ToolCall, ToolMessage};
use proto::record::{SessionSet, ToolFinished};
use proto::{Body, CallId};

use crate::facts::CallStage;
use crate::goal;
use crate::loop_detector;
use crate::machine::{CallsInProgress, PendingResult, Phase, Step};
use crate::words;

impl Step<'_> {
    pub(crate) fn call_ended(
        &mut self,
        phase: Phase,
        id: &CallId,
        outcome: Outcome,
        duration_ms: u64,
    ) -> Phase {
        match phase {
            Phase::Calls(mut calls) => {
                if !calls.running.remove(id) {
                    return Phase::Calls(calls);
                }
                self.close_questions(&mut calls, words::CALL_ENDED, |call, _| call == id);
                if let Some(call) = self.open_calls().into_iter().find(|call| call.id == *id) {
                    match self.unsandboxed_run_reason(&call, &outcome) {
                        Some(reason) => self.log_blocked(&call, outcome, reason, duration_ms),
                        None => self.close(&mut calls, &call, outcome, duration_ms),
                    }
                }
                self.proceed(calls)
            }
            Phase::Stopping { reason, calls } => {
                self.ended_while_stopping(reason, calls, id, outcome, duration_ms)
            }
            Phase::Idle
            | Phase::Asking(_)
            | Phase::Planning
            | Phase::Compacting(_)
            | Phase::Held
            | Phase::Rewinding { .. }
            | Phase::Ending { .. } => phase,
        }
    }

    /// Closes a call: shows its result to users at once, and gives it to the model in call order.
    pub fn close(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        outcome: Outcome,
        duration_ms: u64,
    ) {
        let added = self.added_dir(call, &outcome);
        let (mut outcome, duration_ms) = self.merge_blocked_outcome(call, outcome, duration_ms);
        if let Some(dir) = &added {
            outcome.text = words::with_added_dir(&outcome.text, dir);
        }
        let Outcome {
            status,
            text,
            display,
            images,
            spill,
            changed,
            known,
            reported,
            blocked: _,
            quarantined: _,
            skill,
            agent,
        } = outcome;
        let tool = self.resolved_tool(call);
        self.append(Body::ToolFinished(ToolFinished {
            call: call.id.clone(),
            tool,
            status,
            duration_ms,
            display,
            spill: spill.map(|path| path.to_string_lossy().into_owned()),
            changed,
            known,
            reported,
            skill,
            agent,
        }));
        if let Some(dir) = added {
            self.append(Body::SessionSet(SessionSet {
                added_dir: Some(dir),
                ..SessionSet::default()
            }));
        }
        calls.ready.push(PendingResult {
            call: call.id.clone(),
            status,
            text,
            images: images.into_iter().map(|image| image.image).collect(),
        });
        self.write_results(calls);
    }

    /// Logs `tool.finished`, which users see.
    pub fn log_finished(
        &mut self,
        call: &ToolCall,
        status: CallStatus,
        duration_ms: u64,
        display: Display,
        spill: Option<String>,
    ) {
        let tool = self.resolved_tool(call);
        self.append(Body::ToolFinished(ToolFinished {
            call: call.id.clone(),
            tool,
            status,
            duration_ms,
            display,
            spill,
            changed: Vec::new(),
            known: Vec::new(),
            reported: Vec::new(),
            skill: None,
            agent: None,
        }));
    }

    /// Writes each result whose earlier results are all written, so that they are in call order.
    pub(super) fn write_results(&mut self, calls: &mut CallsInProgress) {
        for call in self.open_calls() {
            if self.stage_of(&call.id) == Some(&CallStage::Closed) {
                continue;
            }
            let Some(place) = calls.ready.iter().position(|ready| ready.call == call.id) else {
                return;
            };
            let PendingResult {
                status,
                text,
                images,
                ..
            } = calls.ready.remove(place);
            self.log_result(&call, status, text, images);
        }
    }

    /// Logs `message.tool`, which the model sees.
    pub fn log_result(
        &mut self,
        call: &ToolCall,
        status: CallStatus,
        text: String,
        images: Vec<Image>,
    ) {
        let item = self.next_item();
        let open = self.open_call(&call.id);
        let text = match open.and_then(|open| open.check.as_ref()) {
            Some(_) => goal::words::checked_result(status, &text),
            None => text,
        };
        let user = open.and_then(|open| open.edit.as_deref());
        let text = match user {
            Some(user) => words::changed_command_result(user, &text),
            None => text,
        };
        let mut message = ToolMessage {
            item,
            call: call.id.clone(),
            tool: call.name.clone(),
            status,
            text,
            images,
        };
        let open = self.facts.open.as_ref();
        if open.is_some_and(|open| open.repetitions_with(&message) == loop_detector::WARN_AT) {
            message.text.push_str(words::LOOP_WARNING);
        }
        self.append(Body::Tool(message));
    }

    /// Closes every call that has no result, with this text.
    pub fn refuse_open_calls(&mut self, words: &str) {
        for call in self.open_calls() {
            if self.stage_of(&call.id) != Some(&CallStage::Closed) {
                let outcome = Outcome::refused(words);
                self.log_finished(&call, outcome.status, 0, outcome.display, None);
                self.log_result(&call, outcome.status, outcome.text, Vec::new());
            }
        }
    }
}
