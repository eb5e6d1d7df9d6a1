//! Interactions with the user, as a fold: opened, answered or closed. All code that depends on their kind is here, in
//! exhaustive matches: which answers fit a request, and how an answer changes its call.

use contract::{EffectivePermissions, ElicitationAnswer};
use proto::params::elicitation::ElicitationDecision;
use proto::params::interaction::{
    Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionKind,
    InteractionRequest, PlanDecision, Question, Reply, Scope,
};
use proto::record::InteractionResolved;
use proto::state::{Mode, WaitingFor};
use proto::{ErrorName, Failure, InteractionId, Record};

use super::Facts;
use super::elicitation;
use super::open::{Answerer, CallStage, UserEdit};
use crate::words;

/// How many resolved interactions are remembered, so that the reply to a late answer can name who answered first.
const SETTLED_KEPT: usize = 256;

/// Why an answer does not fit its request; `None`: it fits.
#[must_use]
pub fn answer_refusal(request: &InteractionRequest, answer: &InteractionAnswer) -> Option<Failure> {
    let (why, hint) = match (request, answer) {
        (
            InteractionRequest::Approval(approval),
            InteractionAnswer::Approval {
                decision,
                scope,
                edited_command,
                ..
            },
        ) => match edited_command {
            Some(command) => edit_refusal(approval, *decision, command)?,
            None => (
                scope_refusal(&approval.scopes, *decision, scope.as_ref())?.to_owned(),
                "Choose one of the offered scopes, or allow it once.",
            ),
        },
        (InteractionRequest::Questions { questions }, InteractionAnswer::Questions { replies }) => {
            (
                replies_refusal(questions, replies)?,
                "Choose options by their labels, or write your own answer.",
            )
        }
        (InteractionRequest::Plan { .. }, InteractionAnswer::Plan { .. }) => return None,
        (
            InteractionRequest::Elicitation(asked),
            InteractionAnswer::Elicitation { decision, replies },
        ) => (
            elicitation::refusal(asked, *decision, replies)?,
            "Correct that answer, or decline.",
        ),
        (InteractionRequest::Approval(_), _) => (
            "This is an approval request for a call.".to_owned(),
            "Allow or deny it: `reasonix inbox allow ID`, `reasonix inbox deny ID`.",
        ),
        (InteractionRequest::Questions { .. }, _) => (
            "This is a question from the model.".to_owned(),
            "Answer it: `reasonix inbox answer ID …`.",
        ),
        (InteractionRequest::Plan { .. }, _) => (
            "This is a plan from the model.".to_owned(),
            "Approve it with `reasonix inbox allow ID` (`--keep-asking` keeps asking about calls), or reject it with `reasonix inbox deny ID`.",
        ),
        (InteractionRequest::Elicitation(_), _) => (
            "This is a question from an MCP server.".to_owned(),
            "Answer it with `reasonix inbox answer ID …`, or decline with `reasonix inbox deny ID`.",
        ),
    };
    Some(Failure::new(ErrorName::InvalidParams, why, hint))
}

/// Why a changed command is refused, and a hint; `None`: it is accepted.
fn edit_refusal(
    approval: &Approval,
    decision: ApprovalDecision,
    command: &str,
) -> Option<(String, &'static str)> {
    let (why, hint) = match decision {
        _ if approval.escape.is_some() => (
            "Outside the sandbox only the same command can run: its text cannot be changed.",
            "Deny it, and tell the model which command to run instead.",
        ),
        _ if !approval.editable => (
            "This call has no command that can be changed.",
            "Allow it as it is, or deny it and say what to do instead.",
        ),
        ApprovalDecision::Deny
        | ApprovalDecision::DenyRest
        | ApprovalDecision::AllowSession
        | ApprovalDecision::AllowAlways => (
            "A changed command can only be allowed once.",
            "Send it with `allow_once`.",
        ),
        ApprovalDecision::AllowOnce if command.trim().is_empty() => (
            "The changed command is empty.",
            "Write a command, or deny the call.",
        ),
        ApprovalDecision::AllowOnce if command.contains('\0') => (
            "The changed command contains a zero byte.",
            "Remove it; a command is text.",
        ),
        ApprovalDecision::AllowOnce => return None,
    };
    Some((why.to_owned(), hint))
}

/// Why the scope of an answer is refused: it was not offered. `None`: it was.
fn scope_refusal(
    offered: &[Scope],
    decision: ApprovalDecision,
    named: Option<&Scope>,
) -> Option<&'static str> {
    const NOT_OFFERED: &str = "This scope was not offered.";
    let chosen = Scope::chosen(offered, decision, named).is_some();
    match decision {
        ApprovalDecision::AllowSession => (!chosen).then_some(NOT_OFFERED),
        ApprovalDecision::AllowAlways => (!chosen).then_some("This call cannot always be allowed."),
        ApprovalDecision::AllowOnce | ApprovalDecision::Deny | ApprovalDecision::DenyRest => {
            let known = |named: &Scope| offered.iter().any(|scope| scope.rule == named.rule);
            (!named.is_none_or(known)).then_some(NOT_OFFERED)
        }
    }
}

/// Why replies do not answer these questions; `None`: they do.
fn replies_refusal(questions: &[Question], replies: &[Reply]) -> Option<String> {
    if questions.len() != replies.len() {
        let (asked, replies) = (questions.len(), replies.len());
        return Some(format!(
            "There are {asked} questions, but {replies} answers were given."
        ));
    }
    questions.iter().zip(replies).find_map(|(question, reply)| {
        let header = &question.header;
        let other = reply.other.as_deref().unwrap_or_default();
        if reply.labels.is_empty() && other.trim().is_empty() {
            return Some(format!("There is no answer to `{header}`."));
        }
        if reply.labels.len() > 1 && !question.multi_select {
            return Some(format!("`{header}` takes only one answer."));
        }
        let offered = |label: &String| question.options.iter().any(|it| it.label == *label);
        let unknown = reply.labels.iter().find(|label| !offered(label))?;
        Some(format!("`{header}` has no option `{unknown}`."))
    })
}

/// The rule that an answer adds for all sessions of the workspace.
#[must_use]
pub fn persisted_rule<'a>(
    request: &'a InteractionRequest,
    answer: &InteractionAnswer,
) -> Option<&'a str> {
    let scopes = match request {
        InteractionRequest::Approval(approval) => &approval.scopes,
        InteractionRequest::Questions { .. }
        | InteractionRequest::Plan { .. }
        | InteractionRequest::Elicitation(_) => return None,
    };
    let (decision, scope) = match answer {
        InteractionAnswer::Approval {
            decision, scope, ..
        } => (*decision, scope.as_ref()),
        InteractionAnswer::Questions { .. }
        | InteractionAnswer::Plan { .. }
        | InteractionAnswer::Elicitation { .. } => return None,
    };
    match decision {
        ApprovalDecision::AllowAlways => {
            Scope::chosen(scopes, decision, scope).map(|scope| scope.rule.as_str())
        }
        ApprovalDecision::AllowOnce
        | ApprovalDecision::AllowSession
        | ApprovalDecision::Deny
        | ApprovalDecision::DenyRest => None,
    }
}

/// An answer in the form of its record: with the chosen scope, and without an empty note.
#[must_use]
pub(crate) fn recorded_answer(
    request: &InteractionRequest,
    answer: InteractionAnswer,
) -> InteractionAnswer {
    let said = |note: &String| !note.trim().is_empty();
    match answer {
        InteractionAnswer::Approval {
            decision,
            scope,
            note,
            edited_command,
        } => InteractionAnswer::Approval {
            decision,
            // An unchanged command is a plain approval.
            edited_command: edited_command.filter(|command| changes_command(request, command)),
            scope: match request {
                InteractionRequest::Approval(approval) => {
                    Scope::chosen(&approval.scopes, decision, scope.as_ref()).cloned()
                }
                InteractionRequest::Questions { .. }
                | InteractionRequest::Plan { .. }
                | InteractionRequest::Elicitation(_) => None,
            },
            note: note.filter(said),
        },
        InteractionAnswer::Plan { decision, note } => InteractionAnswer::Plan {
            decision,
            note: note.filter(said),
        },
        InteractionAnswer::Elicitation { decision, replies } => InteractionAnswer::Elicitation {
            // Without an acceptance nothing of it is sent, so nothing is kept.
            replies: match decision {
                ElicitationDecision::Accept => replies,
                ElicitationDecision::Decline | ElicitationDecision::Cancel => Vec::new(),
            },
            decision,
        },
        InteractionAnswer::Questions { replies } => InteractionAnswer::Questions { replies },
    }
}

/// The command with which an answer replaces the shown one, if it differs.
#[must_use]
pub fn edited_command<'a>(
    request: &InteractionRequest,
    answer: &'a InteractionAnswer,
) -> Option<&'a str> {
    let command = match answer {
        InteractionAnswer::Approval { edited_command, .. } => edited_command.as_deref()?,
        InteractionAnswer::Questions { .. }
        | InteractionAnswer::Plan { .. }
        | InteractionAnswer::Elicitation { .. } => return None,
    };
    changes_command(request, command).then_some(command)
}

fn changes_command(request: &InteractionRequest, command: &str) -> bool {
    match request {
        InteractionRequest::Approval(approval) => approval.subject != command,
        InteractionRequest::Questions { .. }
        | InteractionRequest::Plan { .. }
        | InteractionRequest::Elicitation(_) => true,
    }
}

/// An answer as a comparable string.
#[must_use]
pub fn content_of_answer(id: &InteractionId, answer: &InteractionAnswer) -> String {
    match answer {
        InteractionAnswer::Approval {
            decision,
            edited_command: Some(command),
            ..
        } => format!("answer {id} {decision:?} {command}"),
        InteractionAnswer::Approval { decision, .. } => format!("answer {id} {decision:?}"),
        InteractionAnswer::Plan { decision, .. } => format!("answer {id} {decision:?}"),
        InteractionAnswer::Questions { replies } => {
            let said = serde_json::to_string(replies).unwrap_or_default();
            format!("answer {id} {said}")
        }
        InteractionAnswer::Elicitation { decision, replies } => {
            let said = serde_json::to_string(replies).unwrap_or_default();
            format!("answer {id} {decision:?} {said}")
        }
    }
}

/// The answer that a running call gets to its question. `answer`: `None` if the question was closed without one.
#[must_use]
pub(crate) fn elicitation_answer(
    request: &InteractionRequest,
    answer: Option<&InteractionAnswer>,
) -> ElicitationAnswer {
    match (request, answer) {
        (
            InteractionRequest::Elicitation(asked),
            Some(InteractionAnswer::Elicitation { decision, replies }),
        ) => elicitation::answer(asked, *decision, replies),
        _ => ElicitationAnswer::Cancel,
    }
}

/// The text for `Notification` hooks when an interaction opens.
#[must_use]
pub fn notification(request: &InteractionRequest) -> String {
    match request {
        // What a tool of memory was given is private.
        InteractionRequest::Approval(approval) if approval.subject.is_empty() => {
            format!("May `{}` run?", approval.tool)
        }
        InteractionRequest::Approval(approval) => {
            format!("May `{}` run: {}?", approval.tool, approval.subject)
        }
        InteractionRequest::Questions { .. } => "The model has a question.".to_owned(),
        InteractionRequest::Plan { .. } => "The model proposes a plan.".to_owned(),
        InteractionRequest::Elicitation(asked) => {
            format!("The MCP server `{}` has a question.", asked.server)
        }
    }
}

impl Facts {
    /// The session's permissions now, which take precedence over rules.
    #[must_use]
    pub fn effective_permissions(&self) -> EffectivePermissions {
        let mut skills = self.open.iter().flat_map(|open| &open.skills);
        let only_looks = skills.any(|skill| skill.read_only);
        EffectivePermissions {
            mode: self.options.mode.unwrap_or_default(),
            read_only: only_looks || self.options.read_only.unwrap_or_default(),
            plan_approved: self.open.as_ref().is_some_and(|open| open.plan_approved),
        }
    }

    /// The kind of answer that the session waits for; `None`: it does not wait for the user.
    #[must_use]
    pub fn waits_for_person(&self) -> Option<WaitingFor> {
        let open = self.interactions.values();
        let first = open.map(|open| open.request.kind()).min();
        first.map(WaitingFor::Interaction)
    }

    pub(super) fn apply_interaction_opened(&mut self, interaction: &Interaction) {
        self.interactions_opened += 1;
        let id = interaction.interaction_id.clone();
        self.interactions.insert(id.clone(), interaction.clone());
        // A call whose server asks keeps running.
        let waits = interaction.request.kind() != InteractionKind::Elicitation;
        if let Some(open) = self.open.as_mut().filter(|_| waits) {
            open.wait_for_user(&interaction.call, id);
        }
    }

    pub(super) fn apply_interaction_resolved(
        &mut self,
        resolved: &InteractionResolved,
        record: &Record,
    ) {
        if !resolved.unattended {
            self.reset_loop_detector();
        }
        // An interaction that was never opened (only in an edited log) changes and allows nothing.
        if let Some(open) = self.interactions.remove(&resolved.interaction_id) {
            match &open.request {
                InteractionRequest::Approval(approval) => {
                    self.apply_approval(&open, approval, resolved);
                }
                InteractionRequest::Questions { questions } => {
                    self.apply_replies(&open, questions, resolved);
                }
                InteractionRequest::Plan { plan } => self.apply_plan_answer(&open, plan, resolved),
                // The call has the answer, and its result says what it led to.
                InteractionRequest::Elicitation(_) => {}
            }
        }
        let content = resolved
            .answer
            .as_ref()
            .map(|answer| content_of_answer(&resolved.interaction_id, answer));
        let content = content.unwrap_or_default();
        self.remember(resolved.request_id, record, content, None);
        self.settled.push_back((resolved.clone(), record.at));
        if self.settled.len() > SETTLED_KEPT {
            self.settled.pop_front();
        }
    }

    fn apply_approval(
        &mut self,
        open: &Interaction,
        approval: &Approval,
        resolved: &InteractionResolved,
    ) {
        let blocked = self.is_blocked(&open.call);
        let (decision, scope, note) = match &resolved.answer {
            Some(InteractionAnswer::Approval {
                decision,
                scope,
                note,
                ..
            }) => (*decision, scope.as_ref(), note.as_deref()),
            Some(
                InteractionAnswer::Questions { .. }
                | InteractionAnswer::Plan { .. }
                | InteractionAnswer::Elicitation { .. },
            )
            | None => (ApprovalDecision::Deny, None, resolved.reason.as_deref()),
        };
        if resolved.unattended && !blocked {
            let why = note.unwrap_or_default();
            self.note_unattended_denial(&open.call, &approval.subject, why);
        }
        if decision == ApprovalDecision::DenyRest
            && let Some(turn) = &mut self.open
        {
            turn.deny_rest();
        }
        match decision {
            ApprovalDecision::Deny | ApprovalDecision::DenyRest if blocked => {
                let note = note.unwrap_or_default().trim();
                let words = match self.quarantined(&open.call) {
                    [] => words::kept_inside(resolved, note),
                    _ => words::kept_in_quarantine(resolved, note),
                };
                self.keep_inside(&open.call, Some(words));
            }
            ApprovalDecision::Deny | ApprovalDecision::DenyRest => {
                self.supervision.denied |= !resolved.unattended;
                self.deny(&open.call, words::denied_by_answer(resolved, note));
            }
            ApprovalDecision::AllowOnce
            | ApprovalDecision::AllowSession
            | ApprovalDecision::AllowAlways => {
                let granted = decision == ApprovalDecision::AllowSession;
                self.grants.extend(scope.filter(|_| granted).cloned());
                self.note_added_dir(&open.call, approval.adds_dir.as_ref());
                self.allow(open, resolved, blocked);
            }
        }
    }

    /// Applies an approval: of the call as shown, or as the user changed it.
    fn allow(&mut self, open: &Interaction, resolved: &InteractionResolved, blocked: bool) {
        let changed = matches!(
            &resolved.answer,
            Some(InteractionAnswer::Approval {
                edited_command: Some(_),
                ..
            })
        );
        match (&resolved.edit, &mut self.open) {
            (None, _) if !changed => {
                let shown_hash = open.shown_hash.clone();
                self.set_stage(open, CallStage::Approved { shown_hash });
            }
            (Some(edit), Some(turn)) if changed && !blocked => {
                let (by, edit) = (resolved.by.clone(), edit.clone());
                turn.edit_call(&open.call, UserEdit { by, edit });
            }
            // Only in an edited log: an incomplete change allows nothing, and the user is asked again.
            _ if blocked => self.set_stage(open, CallStage::Blocked),
            _ => self.set_stage(open, CallStage::Open),
        }
    }

    fn apply_replies(
        &mut self,
        open: &Interaction,
        questions: &[Question],
        resolved: &InteractionResolved,
    ) {
        let replies: &[Reply] = match &resolved.answer {
            Some(InteractionAnswer::Questions { replies }) => replies,
            Some(
                InteractionAnswer::Approval { .. }
                | InteractionAnswer::Plan { .. }
                | InteractionAnswer::Elicitation { .. },
            )
            | None => &[],
        };
        let by = match (replies.is_empty(), resolved.unattended) {
            (false, _) => Answerer::Person,
            (true, true) => Answerer::Nobody,
            (true, false) => Answerer::Daemon,
        };
        let words = words::answers(by, questions, replies);
        self.set_stage(open, CallStage::Answered { by, words });
    }

    fn apply_plan_answer(
        &mut self,
        open: &Interaction,
        plan: &str,
        resolved: &InteractionResolved,
    ) {
        let (decision, note) = match &resolved.answer {
            Some(InteractionAnswer::Plan { decision, note }) => (Some(*decision), note.as_deref()),
            Some(
                InteractionAnswer::Approval { .. }
                | InteractionAnswer::Questions { .. }
                | InteractionAnswer::Elicitation { .. },
            )
            | None => (None, None),
        };
        let by = match (decision, resolved.unattended) {
            (Some(decision), _) if decision.approves() => Answerer::Person,
            (Some(_), _) | (None, true) => Answerer::No,
            (None, false) => Answerer::Daemon,
        };
        if by == Answerer::Person {
            self.options.mode = Some(Mode::Normal);
            // The call's result reports this to the model.
            self.reported_permissions.mode = Mode::Normal;
            self.plan_in_force = Some(plan.to_owned());
        }
        if resolved.unattended {
            let subject = contract::first_line(plan);
            self.note_unattended_denial(&open.call, &subject, words::PLAN_UNATTENDED);
        }
        if let Some(turn) = &mut self.open {
            if by == Answerer::Person {
                // The latest approval counts: an answer may present several plans.
                turn.plan_approved = decision == Some(PlanDecision::Approve);
            }
            if resolved.unattended {
                turn.unapproved = Some(plan.to_owned());
            }
        }
        let words = words::plan_answered(resolved, decision, note.unwrap_or_default().trim());
        self.set_stage(open, CallStage::Answered { by, words });
    }

    fn set_stage(&mut self, open: &Interaction, stage: CallStage) {
        if let Some(turn) = &mut self.open {
            turn.stage(&open.call, stage);
        }
    }
}
