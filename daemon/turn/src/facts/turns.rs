//! Turns as a fold: they start and end, messages arrive, calls start and are repaired.

use proto::item::{AssistantMessage, CallStatus, Finish, ToolMessage, UserMessage, Voice};
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::record::{CheckpointCreated, ToolStarted};
use proto::state::State;
use proto::{PromptId, Record, Stamp};

use contract::first_line;

use super::{CallStage, Facts, OpenCall, OpenTurn, Planning, UnfinishedRewind};
use crate::words;

impl Facts {
    /// The context of a message without the contents of its references and without the output of users' commands.
    fn context_without_references(&self, message: &UserMessage) -> Option<String> {
        let context = message.context.as_deref()?;
        let references = message.prompt_id.and_then(|id| self.references.get(&id));
        let context = references
            .and_then(|references| context.strip_suffix(&**references))
            .unwrap_or(context)
            .trim_end();
        let context = self
            .user_results()
            .and_then(|results| context.strip_suffix(&*results))
            .unwrap_or(context)
            .trim_end();
        let goal = self.goal.as_ref().map(crate::goal::words::context);
        let context = goal
            .and_then(|goal| context.strip_suffix(&*goal))
            .unwrap_or(context);
        Some(context.trim_end().to_owned()).filter(|context| !context.is_empty())
    }

    /// The prompt stays in the queue until its message is logged: a crash may separate the two records.
    pub(super) fn apply_turn_started(&mut self, prompt: PromptId, record: &Record) {
        self.turns = record.turn.unwrap_or(self.turns + 1);
        self.unsettled = false;
        self.suspended = false;
        self.has_unfinished_rewind = false;
        self.at_limit = None;
        self.end_fallback();
        self.goal_turn_started();
        // A session with an open turn has not exited, even if an edited log lacks the record that reopened it.
        self.exited = None;
        self.woken = false;
        if self.state.state == State::Exited {
            self.state.state = State::Idle;
        }
        // Only an edited log starts a turn within a turn. The calls of the first one must get results before any message.
        let waiting = self.queue.iter().find(|queued| queued.prompt_id == prompt);
        let on_ask = waiting.and_then(|queued| queued.on_ask);
        self.supervised_turn_started(prompt, on_ask);
        let before = self.open.take().map(|open| open.calls).unwrap_or_default();
        self.open = Some(OpenTurn {
            number: self.turns,
            logged_at: record.at,
            prompt_id: Some(prompt),
            on_ask,
            added: self.added.get(&prompt).copied(),
            calls: before
                .into_iter()
                .filter(|open| open.stage != CallStage::Closed)
                .collect(),
            ..OpenTurn::default()
        });
        self.mark_turn(record);
    }

    pub(super) fn apply_turn_ended(&mut self, ended: &TurnEnded) {
        self.suspended = false;
        self.end_fallback();
        if let Some(open) = self.open.as_mut().filter(|open| open.unanswered()) {
            open.over = Some(ended.clone());
            return;
        }
        self.settle_compaction();
        self.note_turn_for_planner(ended);
        self.open = None;
        let created = self.created.as_ref();
        let forked = created.and_then(|created| created.origin.as_ref());
        if self.turns > forked.map_or(0, |origin| origin.turn) {
            self.ran_ms = self.ran_ms.saturating_add(ended.duration_ms);
        }
        self.over_budget = ended.outcome == OutcomeKind::BudgetExceeded;
        self.at_limit = ended.limit();
        self.ended = Some(ended.clone());
        self.cut_off = Some(ended.outcome).filter(|outcome| *outcome != OutcomeKind::Completed);
        // In an edited log the exit may come before the end of its turn.
        self.unsettled = self.exited.is_none();
        self.asked_since = false;
        self.supervised_turn_ended(ended);
        self.goal_turn_ended(ended);
    }

    pub(super) fn apply_user(&mut self, message: &UserMessage) {
        self.spoken += 1;
        self.goal_heard(message);
        if message.voice == Voice::Daemon
            && let Some(reported) = words::parse_reported_permissions(&message.text)
        {
            self.reported_permissions = reported;
            (self.permissions_reported, self.repeat_permissions) = (true, false);
        }
        if self.first_context.is_none() {
            self.first_context = self.context_without_references(message);
        }
        if message.voice == Voice::Prompt {
            self.mark_prompt(&message.text);
            // The log of a fork begins without the record of its first prompt in the queue.
            if self.first_line.is_empty() {
                self.first_line = first_line(&message.text);
            }
        }
        if let Some(from) = message.from {
            self.mark_message(from, &message.text);
        }
        if message.voice != Voice::Daemon {
            self.last_line = first_line(&message.text);
        }
        let skill = message.prompt_id.and_then(|id| self.skills.remove(&id));
        if let Some(id) = message.prompt_id {
            self.drop_queued(id);
            self.user_results.clear();
        }
        if let Some(open) = &mut self.open {
            open.put_skill(skill.as_ref());
            open.items += 1;
            if message.prompt_id.is_some() && message.prompt_id == open.prompt_id {
                // What another session says is not the user's request.
                if message.voice != Voice::Session {
                    open.prompt.clone_from(&message.text);
                }
            } else if message.voice == Voice::Daemon && words::is_plan(&message.text) {
                open.planning = Planning::None;
            }
            open.calls.clear();
            open.plain_answer = None;
            open.cut_off = false;
            // Only the daemon's messages are markers, even if a user sends the same text.
            let by_daemon = message.voice == Voice::Daemon;
            open.empty_answer_retried |= by_daemon && message.text == words::REASONING_ONLY;
            open.invalid_calls += u32::from(by_daemon && words::is_invalid_call(&message.text));
            open.stuck |= by_daemon && message.text == words::STUCK;
            open.summing_up |= open.stuck || by_daemon && message.text == words::SUM_UP;
            if message.voice.is_user() {
                open.reset_loop_detector();
            }
        }
    }

    pub(super) fn apply_answer(
        &mut self,
        message: &AssistantMessage,
        record: &Record,
        going_on_from: bool,
    ) {
        let whole = message.finish != Finish::Interrupted;
        self.answered += u64::from(whole);
        self.call_ids
            .extend(message.calls.iter().map(|call| call.id.clone()));
        if !message.text.trim().is_empty() {
            self.last_line = first_line(&message.text);
        }
        if self.open.is_none() && !message.calls.is_empty() {
            // Only in an edited log: its calls need results, and therefore a turn.
            self.turns = record.turn.unwrap_or(self.turns).max(self.turns);
            self.open = Some(OpenTurn {
                number: self.turns,
                logged_at: record.at,
                ..OpenTurn::default()
            });
        }
        if let Some(open) = &mut self.open {
            open.items += 1;
            open.invalid_calls = 0;
            open.pauses = match message.finish {
                Finish::Paused => open.pauses + 1,
                _ => 0,
            };
            open.cut_off = !whole && going_on_from;
            // An answer that is continued counts as a step only once.
            let steps = u64::from(!open.cut_off);
            open.steps += steps;
            self.steps += steps;
            open.tool_calls += message.calls.len() as u64;
            let begun = std::mem::take(&mut open.begun);
            open.text = begun + &message.text;
            if open.cut_off {
                open.begun.clone_from(&open.text);
            }
            open.plain_answer = message.calls.is_empty().then_some(message.finish);
            open.calls = message.calls.iter().map(OpenCall::new).collect();
        }
    }

    pub(super) fn apply_result(&mut self, message: &ToolMessage, at: Stamp) {
        self.goal_result(message, at);
        if let Some(open) = &mut self.open {
            open.items += 1;
            // Uses the order of results in the conversation, not the order in which calls ended.
            let done = open
                .calls
                .iter()
                .any(|open| open.call.id == message.call && open.stage.did_work());
            if message.status == CallStatus::Ok {
                open.ok_since_denial |= done;
            } else if open.denied.iter().any(|denied| denied.call == message.call) {
                open.ok_since_denial = false;
            }
            open.close(message);
        }
    }

    pub(super) fn apply_started(&mut self, started: &ToolStarted) {
        let read_only = started.read_only;
        let Some(open) = &mut self.open else { return };
        open.stage(&started.call, CallStage::Started { read_only });
        let mut calls = open.calls.iter_mut();
        if let Some(call) = calls.find(|open| open.call.id == started.call) {
            call.kind = started.kind;
            call.subject = first_line(&started.subject);
        }
    }

    /// Notes a checkpoint, made before a call, or before a rewind if the record names no call.
    pub(super) fn apply_checkpoint(&mut self, checkpoint: &CheckpointCreated, record: &Record) {
        if checkpoint.call.is_none() {
            self.has_unfinished_rewind = true;
            let (seq, undoes) = (record.seq, None);
            self.broken_off.push(UnfinishedRewind { seq, undoes });
        }
        if let Some(open) = &mut self.open {
            let paths = checkpoint.files.iter().map(|kept| kept.path.clone());
            open.kept.extend(paths);
            open.tree_kept |= checkpoint.tree.is_some() || checkpoint.skipped.is_some();
        }
    }

    /// Resets the loop detector after a user's answer: calls may be repeated.
    pub(super) fn reset_loop_detector(&mut self) {
        if let Some(open) = &mut self.open {
            open.reset_loop_detector();
        }
    }
}
