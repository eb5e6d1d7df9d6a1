//! Random behaviour of everything that a session works with: a model, policy, users, tools.

use std::time::Duration;

use contract::provider::{ErrorKind, ProviderError, Reported};
use contract::{CallAction, Outcome};
use proto::budget::{Budget, Spent};
use proto::item::{CallStatus, Finish, ToolCall};
use proto::params::elicitation::ElicitationDecision;
use proto::params::interaction::{
    Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest, PlanDecision,
};
use proto::params::session::When;
use proto::record::{
    AgentFinished, CallEdit, CallReviewed, ChildExited, ChildKind, ChildSpawned, PromptEdited,
    PromptMoved, Purpose, ReasoningExtracted, ReviewVerdict, SessionSet, Usage, UserCommand,
    Verdict,
};
use proto::reset::Pinned;
use proto::state::{Kind, Mode, RestartPolicy};
use proto::{Body, CallId, InteractionId, ItemId, Pid, PromptId, SessionId, SessionOptions};

use super::{Running, Simulation};
use crate::input::{CallQuestion, InteractionResolution, Unattended};
use crate::tests::made::{
    ask, checkpoint, elicitation, elicited, judgement, outcome, prompt_id, reply, todo,
};
use crate::{Answer, Decided, Input, Judgement};

impl Simulation {
    // The model.

    pub(super) fn model(&mut self) {
        if self.outside.request.is_some() {
            if self.outside.gated && (self.peace || !self.chance.once_in(4)) {
                self.outside.gated = false;
                return self.step(Input::RequestSent);
            }
            if !self.outside.gated && !self.peace && self.chance.once_in(5) {
                self.outside.gated = true;
                let (cause, in_ms) = ("full".to_owned(), self.chance.once_in(2).then_some(9));
                let down = self.chance.once_in(3);
                return self.step(Input::RequestWaits { cause, in_ms, down });
            }
        }
        let is_in_flight = self.outside.request.is_some() && !self.outside.gated;
        if is_in_flight && !self.peace && self.chance.once_in(8) {
            let dropped = Box::new(self.answer());
            return self.step(Input::AnswerRestarted { dropped });
        }
        // A request that waits too long for its turn fails.
        let gave_up = std::mem::take(&mut self.outside.gated);
        let Some((_, without_tools)) = self.outside.request.take() else {
            return;
        };
        let breaks = gave_up || !self.peace && self.chance.once_in(4);
        if !breaks && self.outside.summary {
            return self.summary();
        }
        if !breaks {
            let mut answer = self.answer();
            if without_tools && !self.chance.once_in(4) {
                answer.calls.clear();
            }
            return self.step(Input::Answered(Box::new(answer)));
        }
        let kinds = [
            ErrorKind::Transient,
            ErrorKind::Transient,
            ErrorKind::NotRunning,
            ErrorKind::Permanent,
            ErrorKind::InvalidCall,
            ErrorKind::InvalidCall,
            ErrorKind::Credentials,
            ErrorKind::ContextLength,
            ErrorKind::Budget,
        ];
        let kind = self.chance.one_of(&kinds);
        let retry_after = self.chance.once_in(4).then(|| Duration::from_secs(7));
        let error = ProviderError {
            message: "no".into(),
            hint: String::new(),
            kind,
            status: None,
            retry_after,
            of_model: false,
            empty: false,
            window: None,
        };
        let partial = if self.chance.once_in(2) {
            self.answer()
        } else {
            Answer::default()
        };
        let (jitter, key_lost) = (self.chance.part(), self.chance.once_in(2));
        let (summary, before) = (self.outside.summary, self.log.len());
        self.step(Input::Broke {
            error,
            partial: Box::new(partial),
            jitter,
            key_lost,
        });
        if summary {
            self.assert_nothing_logged(before);
        }
    }

    pub(super) fn answer(&mut self) -> Answer {
        let mut answer = Answer {
            finish: Some(Finish::Stop),
            ..Answer::default()
        };
        let kind = if self.peace { 0 } else { self.chance.below(10) };
        answer.reported = (kind % 2 == 0).then_some(Reported {
            prompt_tokens: self.chance.one_of(&[10, 10, 700, 850, 950]),
            output_tokens: 2,
            ..Reported::default()
        });
        match kind {
            0..2 => answer.text = "words".into(),
            2 => answer.text = r#"{"name":"read","arguments":{"path":"9"}}"#.into(),
            3 => answer.reasoning = "thoughts".into(),
            4 => {}
            _ => {
                answer.text = self.chance.one_of(&["", "words"]).into();
                answer.calls = (0..=self.chance.below(5)).map(|_| self.call()).collect();
                answer.finish = Some(Finish::ToolCalls);
            }
        }
        if !self.peace && self.chance.once_in(8) {
            answer.finish = Some(Finish::Length);
            if let Some(last) = answer.calls.last_mut() {
                last.cut = true;
            }
        }
        if !self.peace && self.chance.once_in(30) {
            answer.finish = Some(Finish::ContentFilter);
        }
        answer
    }

    /// A call id from the model: some providers number the calls of every answer from 0.
    fn call(&mut self) -> ToolCall {
        self.calls += 1;
        let id = if self.chance.once_in(3) {
            self.calls % 3
        } else {
            self.calls
        };
        ToolCall {
            id: CallId(format!("c{id}")),
            name: self
                .chance
                .one_of(&["read", "read", "write", "bash", "ask", "plan"])
                .into(),
            arguments: match self.chance.below(10) {
                0 => "{\"path\":\"1".into(),
                path => format!("{{\"path\":\"{}\"}}", path % 4),
            },
            cut: false,
            found: false,
        }
    }

    // Users.

    pub(super) fn people(&mut self) {
        match self.chance.below(20) {
            0..3 => self.prompt(When::Queue),
            3..6 => self.prompt(When::Steer),
            6..8 => {
                let prompt = self.some_prompt();
                self.step(Input::Unqueue(prompt));
            }
            8..11 => self.edit(),
            11..13 => {
                let prompt_id = self.some_prompt();
                let position = self.chance.below(4) as u64;
                self.step(Input::Move(PromptMoved {
                    prompt_id,
                    position,
                    by: "ann".into(),
                    request_id: None,
                }));
            }
            13 | 16 => self.set(),
            14 => self.child(),
            15 => self.pin(),
            18 | 19 => self.goal(),
            _ => self.step(Input::Close { request_id: None }),
        }
    }

    /// Pins or unpins a message. Only the plan of a compaction uses pins.
    fn pin(&mut self) {
        let place = self.chance.below(4);
        if place == 0 {
            self.extracted();
        }
        let pin = Body::MessagePinned(Pinned {
            item: ItemId(format!("m1.{place}")),
            pinned: self.chance.once_in(2),
            by: "ann".into(),
            request_id: None,
        });
        let effects = self.machine.record(pin, self.now);
        self.perform(effects);
    }

    /// Side requests end at any time: their usage, and their results.
    fn extracted(&mut self) {
        let spent = [Purpose::Sample, Purpose::Extraction, Purpose::Server]
            .map(|purpose| Body::Usage(beside(purpose)));
        let found = Body::ReasoningExtracted(ReasoningExtracted {
            item: ItemId("m1.2".into()),
            subgoals: Vec::new(),
            hypotheses: Vec::new(),
            uncertainties: vec!["whether it is so".into()],
            rejected_paths: Vec::new(),
        });
        // A sub-agent reports at any time as well; what it used is in no sum of this session.
        let agent = Body::AgentFinished(AgentFinished {
            call: CallId("c1".into()),
            session: SessionId::new(),
            pid: Pid(9),
            agent: "general".into(),
            spent: Spent::default(),
            denied: Vec::new(),
            blocked: false,
        });
        for body in spent.into_iter().chain([found, agent]) {
            let (context, expected) = {
                let facts = self.machine.facts();
                (facts.context_tokens, facts.cache.clone())
            };
            let effects = self.machine.record(body, self.now);
            let facts = self.machine.facts();
            assert_eq!(
                facts.context_tokens, context,
                "it is no part of the conversation"
            );
            assert_eq!(
                facts.cache, expected,
                "nor of what the cache is expected to hold"
            );
            self.perform(effects);
        }
    }

    /// A queued prompt, or the id of one that is not queued.
    fn some_prompt(&mut self) -> PromptId {
        let waiting: Vec<_> = self.check.queued.iter().map(|queued| queued.id).collect();
        if waiting.is_empty() || self.chance.once_in(8) {
            let any = self.chance.below(9) as u64;
            return prompt_id(any);
        }
        self.chance.one_of(&waiting)
    }

    fn edit(&mut self) {
        let prompt_id = self.some_prompt();
        let text = format!("other words {}", self.chance.below(100));
        let steer = self.chance.once_in(2);
        self.step(Input::Edit(PromptEdited {
            untyped: Vec::new(),
            references: None,
            prompt_id,
            text,
            steer,
            by: "ann".into(),
            request_id: None,
        }));
    }

    fn set(&mut self) {
        let options = SessionOptions {
            kind: self
                .chance
                .once_in(3)
                .then(|| self.chance.one_of(&[Kind::Interactive, Kind::Headless])),
            max_steps: self
                .chance
                .once_in(2)
                .then(|| self.chance.one_of(&[0, 1, 3])),
            timeout_ms: self
                .chance
                .once_in(2)
                .then(|| self.chance.one_of(&[0, 1_000])),
            mode: self
                .chance
                .once_in(2)
                .then(|| self.chance.one_of(&[Mode::Normal, Mode::Plan, Mode::Plan])),
            read_only: self.chance.once_in(4).then(|| self.chance.once_in(4)),
            model: self
                .chance
                .once_in(2)
                .then(|| self.chance.one_of(&["p/m", "p/n", "q/m"]).to_owned()),
            effort: self
                .chance
                .once_in(6)
                .then(|| self.chance.one_of(&["", "high"]).to_owned()),
            budget: self.chance.once_in(3).then(Budget::default),
            restart: (self.chance.once_in(3)).then(|| {
                self.chance
                    .one_of(&[RestartPolicy::Never, RestartPolicy::OnFailure])
            }),
            ..SessionOptions::default()
        };
        let set = SessionSet {
            options,
            // This is not the way to pause a session.
            paused: self.chance.once_in(3).then(|| self.chance.once_in(2)),
            ..SessionSet::default()
        };
        self.step(Input::Set(Box::new(set)));
    }

    /// Ends all commands of users.
    pub(super) fn end_user_commands(&mut self) {
        while let Some(pid) = self.machine.facts().user_command().map(|child| child.pid) {
            self.step(Input::ChildExited(ChildExited {
                pid,
                code: Some(0),
                signal: None,
                cause: None,
                result: None,
            }));
        }
    }

    /// A background command, known or not, starts or ends.
    fn child(&mut self) {
        let pid = Pid(self.chance.below(6) as u64);
        let input = if self.chance.once_in(2) {
            Input::ChildExited(ChildExited {
                pid,
                code: Some(0),
                signal: None,
                cause: None,
                result: None,
            })
        } else {
            Input::ChildSpawned(ChildSpawned {
                pid,
                kind: ChildKind::Shell,
                call: CallId::from("c1"),
                command: "sleep 9".into(),
                // Only at rest, and one at a time.
                user: (self.machine.is_idle() && self.check.user_commands.is_empty()).then(|| {
                    UserCommand {
                        line: "sleep 9".into(),
                        by: "ann".into(),
                        request_id: None,
                    }
                }),
            })
        };
        self.step(input);
    }

    pub(super) fn pause(&mut self) {
        // Pauses are short, because most events are only possible outside them.
        let paused = !self.check.paused || self.chance.once_in(8);
        self.set_paused(paused);
    }

    pub(super) fn set_paused(&mut self, paused: bool) {
        let before = (self.check.paused, self.check.exited, self.log.len());
        let tree = self.chance.once_in(4);
        let reaches_further = paused && tree && !self.machine.facts().tree_paused;
        self.step(Input::Pause {
            paused,
            tree,
            by: "ann".into(),
            request_id: None,
        });
        if before.1 || before.0 == paused && !reaches_further {
            assert_eq!(self.log.len(), before.2, "it changes nothing");
        } else {
            assert_eq!(self.check.paused, paused && !self.check.exited, "it is so");
        }
    }

    // The daemon.

    pub(super) fn suspend(&mut self) {
        if !self.closing {
            self.handing = true;
            let patient = self.chance.once_in(2);
            let asked = self.outside.request.is_some();
            let partial = asked.then(|| Box::new(self.answer()));
            self.step(if patient {
                Input::Suspend
            } else {
                Input::SuspendNow { partial }
            });
        }
    }

    /// Nothing runs any more: the next daemon process takes over, after a clean shutdown.
    pub(super) fn hand_over(&mut self) {
        self.durable = self.log.len() as u64;
        self.crash();
    }

    /// The possible contents of the draft file when the daemon dies.
    pub(super) fn kept(&mut self) -> Option<(ItemId, Answer)> {
        let answer = self
            .outside
            .request
            .clone()
            .filter(|_| !self.outside.summary);
        let asked = answer.map(|(item, _)| item);
        let item = match self.chance.below(4) {
            0 => return None,
            1 => ItemId(format!("m1.{}", self.chance.below(5))),
            _ => asked?,
        };
        let text = self.chance.one_of(&["Once upon", "Once", " \n"]);
        Some((
            item,
            Answer {
                text: text.into(),
                calls: vec![self.call()],
                reported: self.chance.once_in(2).then(Reported::default),
                ..Answer::default()
            },
        ))
    }

    // Policy and users.

    pub(super) fn policy(&mut self) {
        let Some(call) = self.chance.take(&mut self.outside.judging) else {
            return;
        };
        let read_only = match call.name.as_str() {
            "read" => true,
            "write" => false,
            // The call waits beside read-only calls. A writing call would wait alone.
            "ask" | "plan" => !self.chance.once_in(8),
            _ => self.chance.once_in(2),
        };
        if self.planning.once_in(8) {
            let reviewed = Body::CallReviewed(CallReviewed {
                call: call.id.clone(),
                tool: call.name.clone(),
                verdict: ReviewVerdict::Ask,
                reason: "unsure".into(),
                decided: false,
                model: "m".into(),
                duration_ms: 1,
            });
            let effects = self.machine.record(reviewed, self.now);
            self.perform(effects);
        }
        let version = self.chance.below(2);
        let mut judgement = match if self.peace { 0 } else { self.chance.below(10) } {
            0..4 => judgement(&call, Verdict::Allow, Unattended::Wait, read_only, version),
            4..7 => judgement(&call, Verdict::Ask, Unattended::Wait, read_only, version),
            7 => {
                let left = self.chance.one_of(&[
                    Unattended::Allow,
                    Unattended::Deny("nobody was there".into()),
                ]);
                judgement(&call, Verdict::Ask, left, read_only, version)
            }
            8 => judgement(&call, Verdict::Deny, Unattended::Wait, read_only, version),
            _ => Judgement::Refused(Outcome::refused("no such tool")),
        };
        if let Judgement::Decided(Decided {
            action,
            approval,
            shown_hash,
            effective_permissions,
            checkpoint: kept,
            ..
        }) = &mut judgement
        {
            if let Some(why) = self.machine.facts().blocked(&call.id)
                && !self.chance.once_in(20)
            {
                approval.escape = Some(why.to_owned());
                approval.scopes.clear();
                *shown_hash = format!("outside {shown_hash}");
            }
            self.shown.insert(call.id.clone(), shown_hash.clone());
            *effective_permissions = self.machine.facts().effective_permissions();
            // The call was judged before another event.
            effective_permissions.plan_approved ^= self.chance.once_in(20);
            if read_only && !self.peace && self.chance.once_in(6) {
                *action = self.report();
            } else if call.name == "plan" {
                *action = CallAction::PresentPlan(call.arguments.clone());
            } else if call.name == "ask" {
                let count = 1 + self.chance.below(2);
                *action = CallAction::AskUser(vec![ask("Which?"); count]);
            } else if read_only && self.chance.once_in(8) {
                let count = self.chance.below(3);
                let todos = vec![todo(&format!("after {}", call.id)); count];
                *action = CallAction::UpdateTodos(todos);
            } else if !read_only && self.chance.once_in(2) {
                *kept = Some(checkpoint(Some(&call.id), &call.arguments));
            }
        }
        self.step(Input::Judged {
            call: call.id,
            judgement: Box::new(judgement),
        });
    }

    pub(super) fn person_answers(&mut self) {
        let open: Vec<_> = self.check.interactions.values().cloned().collect();
        let interaction = self.chance.one_of(&open);
        let answer = self.answer_to(&interaction);
        self.step(answer);
    }

    /// The user's answer, or the daemon's if no client is attached.
    fn answer_to(&mut self, interaction: &Interaction) -> Input {
        let answer = match &interaction.request {
            InteractionRequest::Approval(_) => self.decision(),
            InteractionRequest::Questions { questions } => {
                let replies = vec![reply("red"); questions.len()];
                (!self.chance.once_in(4)).then_some(InteractionAnswer::Questions { replies })
            }
            InteractionRequest::Plan { .. } => self.plan_decision(),
            InteractionRequest::Elicitation(_) => match self.asking.below(4) {
                0 => None,
                1 => Some(elicited(ElicitationDecision::Decline, None)),
                2 => Some(elicited(ElicitationDecision::Cancel, None)),
                _ => Some(elicited(ElicitationDecision::Accept, Some("Ann"))),
            },
        };
        match &interaction.request {
            InteractionRequest::Approval(approval)
                if self.changes(interaction, answer.as_ref()) =>
            {
                Self::edited(interaction, approval)
            }
            _ => Self::resolution(interaction.interaction_id.clone(), answer),
        }
    }

    /// An answer to an interaction that is not open.
    pub(super) fn late_answer(&mut self, id: InteractionId) -> Input {
        let replies = vec![reply("red")];
        let answer = match self.chance.below(3) {
            0 => self.decision(),
            1 => Some(InteractionAnswer::Questions { replies }),
            _ => self.plan_decision(),
        };
        Self::resolution(id, answer)
    }

    /// Whether the user changes the command instead of allowing it once: every third time.
    fn changes(&self, interaction: &Interaction, answer: Option<&InteractionAnswer>) -> bool {
        let InteractionRequest::Approval(approval) = &interaction.request else {
            return false;
        };
        let once = matches!(
            answer,
            Some(InteractionAnswer::Approval {
                decision: ApprovalDecision::AllowOnce,
                ..
            })
        );
        let number = interaction.interaction_id.0.rsplit('.').next();
        let third = number.and_then(|number| number.parse::<u64>().ok());
        let third = third.is_some_and(|number| number % 3 == 0);
        once && third && !self.peace && approval.escape.is_none()
    }

    /// The user replaces the command.
    fn edited(interaction: &Interaction, approval: &Approval) -> Input {
        let command = format!("edited {}", interaction.interaction_id);
        let answer = InteractionAnswer::Approval {
            decision: ApprovalDecision::AllowOnce,
            scope: None,
            note: None,
            edited_command: Some(command.clone()),
        };
        let edit = CallEdit {
            tool: approval.tool.clone(),
            original: approval.subject.clone(),
            edited: command.clone(),
            command,
        };
        let input = Self::resolution(interaction.interaction_id.clone(), Some(answer));
        match input {
            Input::Resolved(mut resolution) => {
                resolution.edit = Some(edit);
                Input::Resolved(resolution)
            }
            other => other,
        }
    }

    fn resolution(id: InteractionId, answer: Option<InteractionAnswer>) -> Input {
        let unattended = answer.is_none();
        Input::Resolved(Box::new(InteractionResolution {
            interaction_id: id,
            answer,
            edit: None,
            reason: unattended.then(|| "Nobody was there.".into()),
            by: if unattended { "reasonix" } else { "ann" }.into(),
            unattended,
            request_id: None,
        }))
    }

    fn decision(&mut self) -> Option<InteractionAnswer> {
        let choices = [
            ApprovalDecision::AllowOnce,
            ApprovalDecision::AllowOnce,
            ApprovalDecision::AllowSession,
            ApprovalDecision::AllowAlways,
            ApprovalDecision::Deny,
        ];
        let decision = match self.peace {
            true => ApprovalDecision::AllowOnce,
            false => self.chance.one_of(&choices),
        };
        let denied = decision.denies();
        // Half of the denials are of all further calls too. No chance is used up: equal seeds stay equal simulations.
        let decision = match denied && self.log.len().is_multiple_of(2) {
            true => ApprovalDecision::DenyRest,
            false => decision,
        };
        let answer = InteractionAnswer::Approval {
            decision,
            scope: None,
            note: (denied && self.chance.once_in(2)).then(|| "leave it".into()),
            edited_command: None,
        };
        (!denied || !self.chance.once_in(4)).then_some(answer)
    }

    fn plan_decision(&mut self) -> Option<InteractionAnswer> {
        let decision = match self.chance.below(5) {
            0 => return None,
            1 => PlanDecision::Reject,
            2 => PlanDecision::ApproveKeepAsking,
            _ => PlanDecision::Approve,
        };
        let note = self.chance.once_in(2).then(|| "and quickly".into());
        Some(InteractionAnswer::Plan { decision, note })
    }

    // Tools and clocks.

    pub(super) fn start(&mut self, call: ToolCall, writes: bool) {
        if writes {
            let key = self.check.key(&call.id);
            let runs = match self.check.is_outside(&call.id) {
                true => &mut self.let_out,
                false => &mut self.wrote,
            };
            assert!(runs.insert(key), "I4: {} is run a second time", call.id);
        }
        self.outside.running.push(Running {
            call,
            writes,
            cancelled: false,
            asks: None,
        });
    }

    /// Now and then a running call asks the user, or does not need the answer any more.
    pub(super) fn a_call_asks(&mut self) {
        if self.peace || !self.asking.once_in(4) || self.outside.running.is_empty() {
            return;
        }
        let place = self.asking.below(self.outside.running.len());
        let Some(running) = self.outside.running.get_mut(place) else {
            return;
        };
        let call = running.call.id.clone();
        if let Some(number) = running.asks {
            if self.asking.once_in(3) {
                self.step(Input::CallWithdraws { call, number });
            }
            return;
        }
        self.questions += 1;
        let number = self.questions;
        running.asks = Some(number);
        let attended = !self.asking.once_in(6);
        self.step(Input::CallAsks(Box::new(CallQuestion {
            call,
            number,
            question: elicitation(),
            shown_hash: "shown".into(),
            attended,
        })));
    }

    pub(super) fn tool_ends(&mut self) {
        let Some(Running {
            call, cancelled, ..
        }) = self.chance.take(&mut self.outside.running)
        else {
            return;
        };
        let status = match cancelled {
            true => self
                .chance
                .one_of(&[CallStatus::Interrupted, CallStatus::Ok]),
            false => self
                .chance
                .one_of(&[CallStatus::Ok, CallStatus::Ok, CallStatus::Failed]),
        };
        let mut outcome = outcome(status);
        if status == CallStatus::Failed && self.chance.once_in(2) {
            outcome.blocked = Some("it writes outside".into());
        }
        self.step(Input::CallEnded {
            call: call.id,
            outcome: Box::new(outcome),
            duration_ms: 5,
        });
    }

    pub(super) fn retry_due(&mut self) {
        if let Some((item, attempt)) = self.chance.take(&mut self.outside.retries) {
            self.step(Input::RetryDue { item, attempt });
        }
    }
}

fn beside(purpose: Purpose) -> Usage {
    Usage {
        item: ItemId("m1.2".into()),
        provider: "p".into(),
        model: "m".into(),
        purpose,
        step: 1,
        attempt: 1,
        prompt_tokens: 900,
        cached_tokens: 100,
        expected_cached: None,
        output_tokens: 90,
        reasoning_tokens: 0,
        cache_write_tokens: 0,
        reported: true,
        cost_micros: Some(7),
        request_bytes: 9_000,
        first_token_ms: 1,
        duration_ms: 1,
        cache_miss: None,
    }
}
